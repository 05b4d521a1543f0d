#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code)]

extern crate alloc;

pub mod bitmap;
pub mod bloom;
mod builder;
mod bulk;
pub mod cuckoo;
pub mod curves;
mod error;
mod filter;
pub mod format;
pub mod fuse;
#[cfg(feature = "std")]
pub mod guard;
pub mod hash;
mod histogram;
mod params;
mod plan;
mod range;
#[allow(unsafe_code, reason = "intrinsics; one of the two doors")]
mod simd;
pub mod sketch;
mod stats;
#[allow(unsafe_code, reason = "maps, huge pages and casts between views of memory; the other door")]
pub mod store;
#[cfg(feature = "std")]
mod sync;
#[cfg(test)]
mod testing;
mod unwinding;
pub mod window;

#[cfg(feature = "roaring")]
pub use bitmap::RoaringSet;
pub use bitmap::{Bitmap, IdSet, IntegerSet, IntegerSetMut, Seen, TwoBitMap};
pub use bloom::blocked::{AtomicBlockedBloom, BlockedBloom, BlockedParams, FoldingBuilder};
pub use bloom::classic::{Bloom, BloomParams, Scheme};
pub use bloom::counting::{CountingBloom, CountingParams};
pub use bloom::scalable::{ScalableBloom, ScalableParams};
pub use bloom::split_block::{SplitBlockBloom, SplitBlockParams};
pub use builder::{Build, Builder, DEFAULT_FPP};
pub use cuckoo::{Cuckoo, CuckooParams};
pub use error::{Full, MergeError, OutOfRange, ParamsError};
pub use filter::{Filter, Insert, Inserted, Merge, Remove, Removed};
pub use format::{AnyFilter, OpenError, Persist};
pub use fuse::{BinaryFuse, FuseBuilder, FuseParams};
#[cfg(feature = "std")]
pub use guard::Guard;
pub use hash::{Digest, HashId, Hasher, Key, KeyHash, Seed};
pub use histogram::Histogram;
pub use params::{LEAST_FPP, Promise};
pub use plan::{Choice, Costs, Needs};
#[doc(hidden)] // for the jobs, which may hold no unsafe code
pub use simd::bytes;
pub use sketch::{
    count_min::{CountMin, CountMinParams},
    top_k::{Heavy, TopK, TopKParams},
};
pub use stats::{Family, Stats};
pub use window::{Window, WindowParams};
