//! The locks that threads meet at: those of the standard library, or loom's, which takes them in every order that there is.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p gowk --test loom` does that.

#[cfg(loom)]
pub(crate) use loom::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
#[cfg(not(loom))]
pub(crate) use std::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
