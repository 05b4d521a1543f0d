//! What is compiled once for each instruction set: asking and inserting, one key or many.

use super::{
    ask::ask,
    filter::{Cuckoo, by_shape},
    sizing::Shape,
    slots::Lanes,
};
use crate::{
    bulk::{Ahead, Source, pipeline},
    error::Full,
    filter::Inserted,
    hash::{Digest, Key},
    simd::{Arithmetic, EightTask, Machine, Task},
    store::{Fetch, Store},
};
use core::cell::{Cell, RefCell};

pub(super) struct Holds<'a, S, K: ?Sized> {
    pub(super) filter: &'a Cuckoo<S>,
    pub(super) key: &'a K,
}

impl<S: Store, K: Key + ?Sized> Task for Holds<'_, S, K> {
    type Output = bool;

    #[inline(always)]
    fn run(self, _: impl Machine) -> bool {
        let digest = self.filter.hasher.digest(self.key);
        if self.filter.common {
            self.filter.holds::<2, 4, u64>(&self.filter.layout.spot(digest))
        } else {
            self.filter.holds_uncommon(digest)
        }
    }
}

pub(super) struct Answer<'a, S, I> {
    pub(super) filter: &'a Cuckoo<S>,
    pub(super) source: I,
    pub(super) answers: &'a mut [bool],
}

impl<S: Store, I: Source> EightTask for Answer<'_, S, I> {
    #[inline(always)]
    fn run(self, arithmetic: impl Arithmetic) {
        let filter = self.filter;
        if filter.common {
            return ask(arithmetic, filter.layout, &filter.lanes, filter.lines(), self.source, self.answers);
        }
        let digests = self.source.digests().take(self.answers.len());
        let mut answers = self.answers.iter_mut();
        let bytes = size_of_val(filter.lines());
        let by = Fetch::of(bytes);
        by_shape!(filter.params, D, B, W => pipeline(digests, Ahead::of(D, bytes), |digest| filter.fetch::<D, B>(by, digest), |spot| {
            if let Some(answer) = answers.next() {
                *answer = filter.holds::<D, B, W>(&spot);
            }
        }));
    }
}

pub(super) struct Add<'a, K: ?Sized> {
    pub(super) filter: &'a mut Cuckoo,
    pub(super) key: &'a K,
}

impl<K: Key + ?Sized> Task for Add<'_, K> {
    type Output = Result<Inserted, Full>;

    #[inline(always)]
    fn run(self, _: impl Machine) -> Self::Output {
        let digest = self.filter.hasher.digest(self.key);
        if self.filter.common {
            self.filter.add::<2, 4, u64>(&self.filter.layout.spot(digest))
        } else {
            self.filter.add_uncommon(digest)
        }
    }
}

impl Cuckoo {
    /// The insert for shapes other than the common one.
    #[inline(never)]
    fn add_uncommon(&mut self, digest: Digest) -> Result<Inserted, Full> {
        by_shape!(self.params, D, B, W => self.add::<D, B, W>(&self.layout.spot::<D>(digest)))
    }
}

pub(super) struct AddAll<'a, I> {
    pub(super) filter: &'a mut Cuckoo,
    pub(super) digests: I,
}

impl<I: Iterator<Item = Digest>> Task for AddAll<'_, I> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run(self, _: impl Machine) -> Self::Output {
        let full = Cell::new(None);
        let digests = self.digests.take_while(|_| full.get().is_none());
        let (params, bytes) = (self.filter.params, size_of_val(self.filter.lines()));
        let (filter, by) = (RefCell::new(self.filter), Fetch::of(bytes));
        // A filter that grows meanwhile has narrower buckets, which the same word holds.
        by_shape!(params, D, B, W => pipeline(
            digests,
            Ahead::of(D, bytes),
            |digest| filter.borrow().fetch::<D, B>(by, digest),
            |spot| {
                if full.get().is_none() {
                    full.set(filter.borrow_mut().add::<D, B, W>(&spot).err());
                }
            },
        ));
        full.get().map_or(Ok(()), Err)
    }
}
