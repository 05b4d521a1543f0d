//! A filter whose family is only known when its file is opened.

use super::{
    Body, Persist,
    error::OpenError,
    fields::{Fields, ParamsWriter},
    head::Head,
};
use crate::{
    bloom::{
        blocked::BlockedBloom, classic::Bloom, counting::CountingBloom, scalable::ScalableBloom,
        split_block::SplitBlockBloom,
    },
    bulk::Source,
    cuckoo::Cuckoo,
    filter::Filter,
    fuse::BinaryFuse,
    hash::{Digest, Hasher},
    stats::{Family, Stats},
    store::{Heap, Line, Store},
    window::Window,
};
use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

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
    /// Bits anywhere.
    Bloom(Bloom<S>),
    /// Parquet's.
    SplitBlockBloom(SplitBlockBloom<S>),
    /// A chain.
    ScalableBloom(ScalableBloom<S>),
    /// Counters instead of bits.
    CountingBloom(CountingBloom<S>),
    /// Generations that forget.
    Window(Window<S>),
    /// Fingerprints, which can be removed.
    Cuckoo(Cuckoo<S>),
    /// Built once, small.
    BinaryFuse(BinaryFuse<S>),
}

/// Does the same with whatever filter it is.
macro_rules! each {
    ($any:expr, $filter:ident => $call:expr) => {
        match $any {
            AnyFilter::BlockedBloom($filter) => $call,
            AnyFilter::Bloom($filter) => $call,
            AnyFilter::SplitBlockBloom($filter) => $call,
            AnyFilter::ScalableBloom($filter) => $call,
            AnyFilter::CountingBloom($filter) => $call,
            AnyFilter::Window($filter) => $call,
            AnyFilter::Cuckoo($filter) => $call,
            AnyFilter::BinaryFuse($filter) => $call,
        }
    };
}

impl<S: Store> AnyFilter<S> {
    /// Its size and shape in words.
    pub fn shape(&self) -> String {
        match self {
            Self::BlockedBloom(filter) => filter.params().to_string(),
            Self::Bloom(filter) => filter.params().to_string(),
            Self::SplitBlockBloom(filter) => filter.params().to_string(),
            Self::CountingBloom(filter) => filter.params().to_string(),
            Self::Window(filter) => filter.params().to_string(),
            Self::Cuckoo(filter) => filter.params().to_string(),
            Self::BinaryFuse(filter) => filter.params().to_string(),
            Self::ScalableBloom(filter) => format!("a chain of {}", filter.links()),
        }
    }
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

    fn answer_source(&self, source: impl Source, answers: &mut [bool]) {
        each!(self, filter => filter.answer_source(source, answers));
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
            Family::Bloom => Bloom::from_parts(head, params, body).map(Self::Bloom),
            Family::SplitBlockBloom => {
                SplitBlockBloom::from_parts(head, params, body).map(Self::SplitBlockBloom)
            }
            Family::ScalableBloom => ScalableBloom::from_parts(head, params, body).map(Self::ScalableBloom),
            Family::CountingBloom => CountingBloom::from_parts(head, params, body).map(Self::CountingBloom),
            Family::Window => Window::from_parts(head, params, body).map(Self::Window),
            Family::Cuckoo => Cuckoo::from_parts(head, params, body).map(Self::Cuckoo),
            Family::BinaryFuse => BinaryFuse::from_parts(head, params, body).map(Self::BinaryFuse),
            // Exact sets and counts answer other questions than "is it in the set?" of any key.
            other @ (Family::Bitmap | Family::TwoBitMap | Family::CountMin | Family::TopK) => {
                Err(OpenError::Family { wanted: "membership", found: other.name() })
            }
        }
    }
}
