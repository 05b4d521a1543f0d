//! Changes to a filter whose family is only known when its file is opened. What a family cannot do is an error here, as there is no
//! type to say it.

use super::any::AnyFilter;
use crate::{
    error::{Full, MergeError},
    filter::{Filter, Insert, Merge, Remove, Removed},
    hash::{Digest, Key},
    stats::Family,
    store::Store,
};
use core::fmt;

/// A change that a filter did not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeError {
    /// The family is built once.
    CannotInsert {
        /// Which.
        family: Family,
    },
    /// The family keeps no trace of single keys.
    CannotRemove {
        /// Which.
        family: Family,
    },
    /// The family cannot be merged in this way.
    CannotMerge {
        /// Which.
        family: Family,
        /// "union" or "intersection".
        what: &'static str,
    },
    /// There is no room.
    Full(Full),
    /// The filters do not fit each other.
    Merge(MergeError),
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CannotInsert { family } => write!(
                f,
                "a {family} filter is built once and takes no more keys; build it again, or take a family that does"
            ),
            Self::CannotRemove { family } => write!(
                f,
                "a {family} filter cannot forget a single key; build a cuckoo or counting bloom filter of the keys"
            ),
            Self::CannotMerge { family, what } => {
                write!(f, "there is no {what} of {family} filters; build one of all the keys")
            }
            Self::Full(full) => full.fmt(f),
            Self::Merge(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ChangeError {}

/// The same call on whichever family it is; an error if that takes no keys, or no more.
macro_rules! each_that_takes_keys {
    ($any:expr, $filter:ident => $call:expr) => {
        match $any {
            AnyFilter::BlockedBloom($filter) => $call,
            AnyFilter::Bloom($filter) => $call,
            AnyFilter::SplitBlockBloom($filter) => $call,
            AnyFilter::ScalableBloom($filter) => $call,
            AnyFilter::CountingBloom($filter) => $call,
            AnyFilter::Window($filter) => $call,
            AnyFilter::Cuckoo($filter) => $call.map_err(ChangeError::Full)?,
            AnyFilter::BinaryFuse(_) => return Err(ChangeError::CannotInsert { family: Family::BinaryFuse }),
        }
    };
}

impl AnyFilter {
    fn family(&self) -> Family {
        match self {
            Self::BlockedBloom(_) => Family::BlockedBloom,
            Self::Bloom(_) => Family::Bloom,
            Self::SplitBlockBloom(_) => Family::SplitBlockBloom,
            Self::ScalableBloom(_) => Family::ScalableBloom,
            Self::CountingBloom(_) => Family::CountingBloom,
            Self::Window(_) => Family::Window,
            Self::Cuckoo(_) => Family::Cuckoo,
            Self::BinaryFuse(_) => Family::BinaryFuse,
        }
    }

    /// Puts them all in. Where one does not fit, those before it are in and the rest are not.
    pub fn insert_from(&mut self, digests: impl Iterator<Item = Digest>) -> Result<(), ChangeError> {
        each_that_takes_keys!(self, filter => filter.insert_from(digests));
        Ok(())
    }

    /// Puts many keys (or [`Digest`]s) into the set. Where one does not fit, those before it are in and the rest are not.
    pub fn insert_many<K: Key>(&mut self, keys: &[K]) -> Result<(), ChangeError> {
        each_that_takes_keys!(self, filter => filter.insert_many(keys));
        Ok(())
    }

    /// Takes the key of this digest out. Only what was inserted: see [`Remove`].
    pub fn remove_digest(&mut self, digest: Digest) -> Result<Removed, ChangeError> {
        match self {
            Self::CountingBloom(filter) => Ok(filter.remove_digest(digest)),
            Self::Cuckoo(filter) => Ok(filter.remove_digest(digest)),
            other => Err(ChangeError::CannotRemove { family: other.family() }),
        }
    }

    /// Takes in all keys of the other. On an error nothing has changed.
    pub fn union<S: Store>(&mut self, other: &AnyFilter<S>) -> Result<(), ChangeError> {
        match (&mut *self, other) {
            (Self::BlockedBloom(ours), AnyFilter::BlockedBloom(theirs)) => ours.union(theirs),
            (Self::Bloom(ours), AnyFilter::Bloom(theirs)) => ours.union(theirs),
            (Self::SplitBlockBloom(ours), AnyFilter::SplitBlockBloom(theirs)) => ours.union(theirs),
            (Self::CountingBloom(ours), AnyFilter::CountingBloom(theirs)) => ours.union(theirs),
            (Self::Window(ours), AnyFilter::Window(theirs)) => ours.union(theirs),
            (Self::Cuckoo(ours), AnyFilter::Cuckoo(theirs)) => ours.union(theirs),
            (Self::ScalableBloom(_) | Self::BinaryFuse(_), _) => {
                return Err(ChangeError::CannotMerge { family: self.family(), what: "union" });
            }
            (ours, theirs) => Err(different(ours, theirs)),
        }
        .map_err(ChangeError::Merge)
    }

    /// Keeps what both may hold: at least every key that is in both. On an error nothing has changed.
    pub fn intersect<S: Store>(&mut self, other: &AnyFilter<S>) -> Result<(), ChangeError> {
        match (&mut *self, other) {
            (Self::BlockedBloom(ours), AnyFilter::BlockedBloom(theirs)) => ours.intersect(theirs),
            (Self::Bloom(ours), AnyFilter::Bloom(theirs)) => ours.intersect(theirs),
            (ours @ (Self::BlockedBloom(_) | Self::Bloom(_)), theirs) => Err(different(ours, theirs)),
            _ => return Err(ChangeError::CannotMerge { family: self.family(), what: "intersection" }),
        }
        .map_err(ChangeError::Merge)
    }
}

fn different<S: Store>(ours: &AnyFilter, theirs: &AnyFilter<S>) -> MergeError {
    MergeError::Family { ours: ours.family().name(), theirs: theirs.stats().family.name() }
}
