#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code)]

extern crate alloc;

pub mod bloom;
mod builder;
mod bulk;
mod error;
mod filter;
pub mod format;
pub mod fuse;
pub mod hash;
mod params;
#[allow(unsafe_code, reason = "intrinsics; one of the two doors")]
mod simd;
mod stats;
#[allow(unsafe_code, reason = "maps, huge pages and casts between views of memory; the other door")]
pub mod store;
#[cfg(test)]
mod testing;

pub use bloom::blocked::{AtomicBlockedBloom, BlockedBloom, BlockedParams, FoldingBuilder};
pub use builder::{Build, Builder, DEFAULT_FPP};
pub use error::{Full, MergeError, ParamsError};
pub use fuse::{BinaryFuse, FuseBuilder, FuseParams};
pub use format::{AnyFilter, OpenError, Persist};
pub use filter::{Filter, Insert, Inserted, Merge, Remove, Removed};
pub use hash::{Digest, HashId, Hasher, Key, Seed};
pub use params::{LEAST_FPP, Promise};
pub use stats::{Family, Stats};
