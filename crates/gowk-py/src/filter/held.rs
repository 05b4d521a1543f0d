//! The filter inside a Python object: on the heap, in a mapped file, or another system's.

use crate::{
    column::Run,
    error::{OrRaise, Raised, ReadOnlyException},
    hash::Hash,
};
use gowk::{
    AnyFilter, BlockedBloom, Digest, Filter as _, Insert, Inserted, Key, Persist, Removed, Stats,
    format::{ChangeError, foreign::Foreign},
    store::{Line, Mapped, Store},
};
use pyo3::prelude::*;

/// A filter, wherever its bits are.
pub(crate) enum Held {
    Heap(AnyFilter),
    Mapped(AnyFilter<Mapped>),
    Foreign(Foreign),
}

/// Does the same wherever the bits are.
macro_rules! each {
    ($held:expr, $filter:ident => $call:expr) => {
        match $held {
            Held::Heap($filter) => $call,
            Held::Mapped($filter) => $call,
            Held::Foreign($filter) => $call,
        }
    };
}

impl Held {
    /// Whether the key may be in it; the hash is the filter's.
    pub(crate) fn may_contain<K: Key + ?Sized>(&self, hash: &Hash, key: &K) -> bool {
        self.may_contain_digest(key.digest(hash))
    }

    fn may_contain_digest(&self, digest: Digest) -> bool {
        each!(self, filter => filter.may_contain_digest(digest))
    }

    /// Whether each of these keys may be in it; the hash is the filter's.
    pub(crate) fn answer_run(&self, hash: &Hash, run: Run<'_>, answers: &mut [bool]) {
        match self {
            Self::Heap(AnyFilter::BlockedBloom(filter)) => answer_run(filter, run, answers),
            Self::Mapped(AnyFilter::BlockedBloom(filter)) => answer_run(filter, run, answers),
            _ => each!(self, filter => filter.may_contain_many_into(&run.digests(hash), answers)),
        }
    }

    /// Puts the key in; the hash is the filter's.
    pub(crate) fn insert<K: Key + ?Sized>(&mut self, hash: &Hash, key: &K) -> Result<Inserted, Raised> {
        self.insert_digest(key.digest(hash)).map_err(Raised::by)
    }

    fn insert_digest(&mut self, digest: Digest) -> PyResult<Inserted> {
        if let Self::Foreign(filter) = self {
            // Whether it was new is what the filter said before.
            let seen = filter.may_contain_digest(digest);
            filter.insert_from(std::iter::once(digest)).or_raise()?;
            return Ok(if seen { Inserted::MaybeSeen } else { Inserted::New });
        }
        Ok(match self.heap()? {
            AnyFilter::BlockedBloom(filter) => filter.insert_digest(digest),
            AnyFilter::Bloom(filter) => filter.insert_digest(digest),
            AnyFilter::SplitBlockBloom(filter) => filter.insert_digest(digest),
            AnyFilter::ScalableBloom(filter) => filter.insert_digest(digest),
            AnyFilter::CountingBloom(filter) => filter.insert_digest(digest),
            AnyFilter::Window(filter) => filter.insert_digest(digest),
            AnyFilter::Cuckoo(filter) => return filter.insert_digest(digest).or_raise(),
            other => {
                return Err(ChangeError::CannotInsert { family: other.stats().family }).or_raise();
            }
        })
    }

    /// Puts these keys in; the hash is the filter's.
    pub(crate) fn insert_run(&mut self, hash: &Hash, run: Run<'_>) -> PyResult<()> {
        match (&mut *self, run) {
            (Self::Heap(AnyFilter::BlockedBloom(filter)), Run::Words(keys)) => filter.insert_many(keys),
            (Self::Heap(AnyFilter::BlockedBloom(filter)), Run::Bytes(keys)) => filter.insert_many(keys),
            _ => return self.insert_from(&run.digests(hash)),
        }
        Ok(())
    }

    pub(crate) fn insert_from(&mut self, digests: &[Digest]) -> PyResult<()> {
        match self {
            Self::Foreign(filter) => filter.insert_from(digests.iter().copied()).or_raise(),
            _ => self.heap()?.insert_many(digests).or_raise(),
        }
    }

    pub(crate) fn remove(&mut self, digest: Digest) -> PyResult<Removed> {
        self.heap()?.remove_digest(digest).or_raise()
    }

    pub(crate) fn union(&mut self, other: &Self) -> PyResult<()> {
        match (self, other) {
            (Self::Foreign(ours), Self::Foreign(theirs)) => gowk::Merge::union(ours, theirs).or_raise(),
            (ours, Self::Heap(theirs)) => ours.heap()?.union(theirs).or_raise(),
            (ours, Self::Mapped(theirs)) => ours.heap()?.union(theirs).or_raise(),
            (_, Self::Foreign(theirs)) => Err(foreign_and_own(theirs)),
        }
    }

    pub(crate) fn intersect(&mut self, other: &Self) -> PyResult<()> {
        match (self, other) {
            (ours, Self::Heap(theirs)) => ours.heap()?.intersect(theirs).or_raise(),
            (ours, Self::Mapped(theirs)) => ours.heap()?.intersect(theirs).or_raise(),
            (_, Self::Foreign(theirs)) => Err(foreign_and_own(theirs)),
        }
    }

    /// The filter, to be changed.
    pub(crate) fn heap(&mut self) -> PyResult<&mut AnyFilter> {
        match self {
            Self::Heap(filter) => Ok(filter),
            Self::Mapped(_) => Err(ReadOnlyException::new_err(
                "the filter is a mapped file, which is only read; change a copy of it, from gowk.load(path) or filter.copy()",
            )),
            Self::Foreign(filter) => Err(foreign_and_own(filter)),
        }
    }

    /// On the heap, whatever this is.
    pub(crate) fn copy(&self) -> PyResult<Self> {
        Ok(match self {
            Self::Heap(filter) => Self::Heap(clone(filter)),
            Self::Mapped(filter) => Self::Heap(to_heap(filter)?),
            Self::Foreign(filter) => Self::Foreign(filter.clone()),
        })
    }

    pub(crate) fn stats(&self) -> Stats {
        each!(self, filter => filter.stats())
    }

    pub(crate) fn size_in_bytes(&self) -> usize {
        each!(self, filter => filter.size_in_bytes())
    }

    /// Whether no key has come; does not read further than the first that has.
    pub(crate) fn is_empty(&self) -> bool {
        let blank = |sections: Vec<&[Line]>| sections.into_iter().flatten().all(|line| *line == Line::ZERO);
        match self {
            Self::Heap(AnyFilter::BinaryFuse(filter)) => filter.is_empty(),
            Self::Mapped(AnyFilter::BinaryFuse(filter)) => filter.is_empty(),
            Self::Heap(filter) => blank(filter.sections()),
            Self::Mapped(filter) => blank(filter.sections()),
            Self::Foreign(filter) => filter.stats().fill == 0.0,
        }
    }
}

/// The filter of the default family hashes keys as it goes. For the others digests do: each kind of keys is minutes of compiling.
fn answer_run(filter: &BlockedBloom<impl Store>, run: Run<'_>, answers: &mut [bool]) {
    match run {
        Run::Words(keys) => filter.may_contain_many_into(keys, answers),
        Run::Bytes(keys) => filter.may_contain_many_into(keys, answers),
        Run::Digests(digests) => filter.may_contain_many_into(digests, answers),
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Heap(a), Self::Heap(b)) => same(a, b),
            (Self::Heap(a), Self::Mapped(b)) => same(a, b),
            (Self::Mapped(a), Self::Heap(b)) => same(a, b),
            (Self::Mapped(a), Self::Mapped(b)) => same(a, b),
            (Self::Foreign(a), Self::Foreign(b)) => match (a.to_bytes(), b.to_bytes()) {
                (Some(a_bytes), Some(b_bytes)) => a.format() == b.format() && a_bytes == b_bytes,
                _ => false,
            },
            _ => false,
        }
    }
}

fn foreign_and_own(filter: &Foreign) -> PyErr {
    pyo3::exceptions::PyTypeError::new_err(format!(
        "filters of {} and of gowk cannot do this, as they hash differently",
        filter.format()
    ))
}

fn same<A: Store, B: Store>(a: &AnyFilter<A>, b: &AnyFilter<B>) -> bool {
    use AnyFilter::{
        BinaryFuse, BlockedBloom, Bloom, CountingBloom, Cuckoo, ScalableBloom, SplitBlockBloom, Window,
    };
    match (a, b) {
        (BlockedBloom(a), BlockedBloom(b)) => a == b,
        (Bloom(a), Bloom(b)) => a == b,
        (SplitBlockBloom(a), SplitBlockBloom(b)) => a == b,
        (ScalableBloom(a), ScalableBloom(b)) => a == b,
        (CountingBloom(a), CountingBloom(b)) => a == b,
        (Window(a), Window(b)) => a == b,
        (Cuckoo(a), Cuckoo(b)) => a == b,
        (BinaryFuse(a), BinaryFuse(b)) => a == b,
        _ => false,
    }
}

fn clone(filter: &AnyFilter) -> AnyFilter {
    match filter {
        AnyFilter::BlockedBloom(filter) => AnyFilter::BlockedBloom(filter.clone()),
        AnyFilter::Bloom(filter) => AnyFilter::Bloom(filter.clone()),
        AnyFilter::SplitBlockBloom(filter) => AnyFilter::SplitBlockBloom(filter.clone()),
        AnyFilter::ScalableBloom(filter) => AnyFilter::ScalableBloom(filter.clone()),
        AnyFilter::CountingBloom(filter) => AnyFilter::CountingBloom(filter.clone()),
        AnyFilter::Window(filter) => AnyFilter::Window(filter.clone()),
        AnyFilter::Cuckoo(filter) => AnyFilter::Cuckoo(filter.clone()),
        AnyFilter::BinaryFuse(filter) => AnyFilter::BinaryFuse(filter.clone()),
        _ => unreachable!("these are all families"),
    }
}

fn to_heap(filter: &AnyFilter<Mapped>) -> PyResult<AnyFilter> {
    Ok(match filter {
        AnyFilter::BlockedBloom(filter) => AnyFilter::BlockedBloom(filter.to_heap().or_raise()?),
        AnyFilter::Bloom(filter) => AnyFilter::Bloom(filter.to_heap().or_raise()?),
        AnyFilter::CountingBloom(filter) => AnyFilter::CountingBloom(filter.to_heap().or_raise()?),
        AnyFilter::Window(filter) => AnyFilter::Window(filter.to_heap().or_raise()?),
        AnyFilter::Cuckoo(filter) => AnyFilter::Cuckoo(filter.to_heap().or_raise()?),
        AnyFilter::BinaryFuse(filter) => AnyFilter::BinaryFuse(filter.to_heap().or_raise()?),
        other => AnyFilter::from_bytes(&other.to_bytes()).or_raise()?,
    })
}
