//! A filter whose family is only known when its file is opened.

use super::{Body, error::OpenError, fields::{Fields, ParamsWriter}, head::Head, Persist};
use crate::{
    bloom::blocked::BlockedBloom,
    filter::Filter,
    fuse::BinaryFuse,
    hash::{Digest, Hasher},
    stats::{Family, Stats},
    store::{Heap, Line, Store},
};
use alloc::vec::Vec;

/// A filter of any family.
///
/// ```
/// use gowk::{AnyFilter, BlockedBloom, Filter, Insert, Persist};
///
/// let mut seen = BlockedBloom::builder().items(10).build()?;
/// seen.insert("gowk");
/// let any = AnyFilter::from_bytes(&seen.to_bytes())?;
/// assert!(any.may_contain("gowk"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum AnyFilter<S = Heap> {
    /// One or a few cache lines a key.
    BlockedBloom(BlockedBloom<S>),
    /// Built once, small.
    BinaryFuse(BinaryFuse<S>),
}

/// Does the same with whatever filter it is.
macro_rules! each {
    ($any:expr, $filter:ident => $call:expr) => {
        match $any {
            AnyFilter::BlockedBloom($filter) => $call,
            AnyFilter::BinaryFuse($filter) => $call,
        }
    };
}

impl<S: Store> Filter for AnyFilter<S> {
    fn hasher(&self) -> &Hasher {
        each!(self, filter => filter.hasher())
    }

    fn may_contain_digest(&self, digest: Digest) -> bool {
        each!(self, filter => filter.may_contain_digest(digest))
    }

    fn answer(&self, digests: impl Iterator<Item = Digest>, answers: &mut [bool]) {
        each!(self, filter => filter.answer(digests, answers));
    }

    fn stats(&self) -> Stats {
        each!(self, filter => filter.stats())
    }

    fn size_in_bytes(&self) -> usize {
        each!(self, filter => filter.size_in_bytes())
    }
}

impl<S: Body> Persist for AnyFilter<S> {
    type Store = S;

    fn head(&self) -> Head {
        each!(self, filter => filter.head())
    }

    fn write_params(&self, params: &mut ParamsWriter) {
        each!(self, filter => filter.write_params(params));
    }

    fn sections(&self) -> Vec<&[Line]> {
        each!(self, filter => filter.sections())
    }

    fn from_parts(head: &Head, params: Fields<'_>, body: S) -> Result<Self, OpenError> {
        match head.family {
            Family::BlockedBloom => BlockedBloom::from_parts(head, params, body).map(Self::BlockedBloom),
            Family::BinaryFuse => BinaryFuse::from_parts(head, params, body).map(Self::BinaryFuse),
            other => Err(OpenError::UnknownFamily { tag: other as u16 }),
        }
    }
}
