//! `BF.*`: Bloom filters.

mod add;
mod dump;
mod exists;
mod info;
mod merge;
mod options;
mod shard;

pub(crate) use add::{add, insert, madd, reserve};
pub(crate) use dump::{dump, load, loadchunk, scandump};
pub(crate) use exists::{exists, mexists};
pub(crate) use info::{card, debug, info};
pub(crate) use merge::{clear, merge};
pub(crate) use shard::{shardadd, shardask};
