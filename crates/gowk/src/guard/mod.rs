//! A filter in front of something dear: a disk, a database, a network.
//!
//! A [`Guard`] asks its filter first, and goes to the dear thing only for a "maybe". With C1 the cost of a lookup that the
//! filter stops, C2 that of one that goes all the way, and P2 the rate of false positives, a key that is not there costs
//!
//! ```text
//! without the guard:  C2 - C1
//! with it:            (1 - P2) C1 + P2 C2  =  C1 + P2 (C2 - C1)
//! ```
//!
//! P2 (C2 - C1) is the price of the filter's errors. A key that is there costs C1 more than before. The guard counts what
//! comes, so that [`Guard::stats`] tells the rate as it was, and [`Tally::saved`] what that was worth. How it went before a
//! store on disk: `cargo run --release -p gowk --example guarded_store`.
//!
//! # No key is denied
//!
//! A "surely not" of the guard ends the matter, so a key that the store has must never get one. The caller and the guard
//! share the work, by the order of two steps:
//!
//! | the caller | in this order | why |
//! |---|---|---|
//! | adds a key | write it to the store, then [`insert`](Guard::insert), then tell others | a rebuild that starts between the two reads the key from the store; one that started before has it in its log |
//! | deletes a key | delete it from the store, then [`forget`](Guard::forget) | the filter keeps the trace, which is at worst a lookup in vain |
//! | ... from a filter that can [`Remove`](crate::Remove) | [`remove`](Guard::remove), then delete it from the store | a rebuild that starts between the two still reads the key: again a lookup in vain, and no trace is removed twice |
//!
//! A filter that is full, or that was built once and takes no key at all, loses nothing either: the guard keeps the digests
//! that did not fit in an exact set beside the filter, 16 bytes and more each, until the next rebuild.
//! (A [`Window`](crate::Window) forgets by itself; put it before a store only if the store forgets sooner.)
//!
//! # Rebuilding while serving
//!
//! [`Guard::rebuild`] builds a new filter from the keys of the store, without a lock: lookups and inserts go on, with the
//! old filter. Inserts are written to a log as well. The log is replayed into the new filter, again without a lock while it is
//! long, and its last few keys under the lock, which then swaps the filters. It needs the memory of both filters, and 16
//! bytes for each key that is inserted meanwhile.
//!
//! # Locks
//!
//! One `RwLock` around the filter. A lookup holds it for reading while it asks the filter, and never during the dear lookup.
//! An insert holds it for writing, and a swap while it replays the last of the log: at most 1024 inserts, unless they come
//! faster than they can be replayed. So readers do wait for writers, but never for the building of a filter. All readers write
//! to the lock's word and to a counter: where many cores do nothing but ask, those two cache lines are the limit, not the
//! filter. What stands behind a guard should be slower than that.
//!
//! # Which types can be shared
//!
//! | type | `&` from many threads | inserts |
//! |---|---|---|
//! | every filter, bitmap and sketch of this crate | yes, all are `Send + Sync`: reading takes no lock and changes nothing | through `&mut`: one thread, or a lock of the caller's |
//! | ... over [`Mapped`](crate::store::Mapped) | yes; processes share the memory, too | none: the file is read only |
//! | [`AtomicBlockedBloom`](crate::AtomicBlockedBloom) | yes | through `&`, by atomic *or*, without a lock; a key whose insert has returned is never denied by a thread that knows of it |
//! | [`Guard`] of any of the filters | yes | through `&`, under the lock described above |
//!
//! `tests/threads.rs` holds this, the first line at compile time; `tests/loom.rs` takes the locks of a guard in every order that
//! its threads may.

mod gate;
mod tally;
#[cfg(test)]
mod tests;

pub use gate::{Guard, Pass, RebuildError, Stale};
pub use tally::{Saved, Tally};
