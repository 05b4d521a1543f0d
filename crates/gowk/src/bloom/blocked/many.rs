//! Many keys, their lines fetched ahead.

use super::{
    filter::{BlockedBloom, set},
    layout::{Kept, by_kept, words},
    sizing::by_span,
};
use crate::{
    bulk::{Ahead, Source, Stages},
    hash::Digest,
    simd::{Machine, Task, Windows},
    store::{Blocks, BlocksMut, Fetch, Line, Store, StoreMut},
};
use core::marker::PhantomData;

/// How many keys are between the prefetch and the use, with `L` lines each.
#[inline(always)]
fn ahead<const L: usize>(lines: &[Line]) -> Ahead<128> {
    Ahead::of(L, size_of_val(lines))
}

pub(super) struct Answer<'a, S, I> {
    pub(super) filter: &'a BlockedBloom<S>,
    pub(super) source: I,
    pub(super) answers: &'a mut [bool],
}

impl<S: Store, I: Source> Task for Answer<'_, S, I> {
    type Output = ();

    #[inline(always)]
    fn run(self, machine: impl Machine) {
        match Fetch::of(size_of_val(self.filter.lines())) {
            Fetch::SOON => self.fetched(machine, Fetch::SOON),
            far => self.fetched(machine, far),
        }
    }
}

impl<S: Store, I: Source> Answer<'_, S, I> {
    #[inline(always)]
    fn fetched(self, machine: impl Machine, fetch: Fetch) {
        let BlockedBloom { params, windows, store, .. } = self.filter;
        by_span!(params.span(), L => by_kept!(I, L, Place => {
            let blocks = Blocks::<L>::new(store.lines(), fetch);
            let questions = Answering { machine, windows, blocks, kept: PhantomData::<Place> };
            self.source.answered(ahead::<L>(store.lines()), questions, self.answers);
        }));
    }
}

struct Answering<'a, M, P, const L: usize> {
    machine: M,
    windows: &'a Windows,
    blocks: Blocks<'a, L>,
    kept: PhantomData<P>,
}

impl<M: Machine, P: Kept, const L: usize> Stages for Answering<'_, M, P, L> {
    type Item = Digest;
    type Place = P;
    type Answer = bool;

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> P {
        self.blocks.fetch(digest.h1);
        P::keep(digest)
    }

    #[inline(always)]
    fn act(&mut self, place: P) -> bool {
        let digest = place.digest();
        self.machine.covers_block(self.blocks.block(digest.h1), words(digest), self.windows)
    }
}

pub(super) struct SetAll<'a, S, I> {
    pub(super) filter: &'a mut BlockedBloom<S>,
    pub(super) source: I,
}

impl<S: StoreMut, I: Source> Task for SetAll<'_, S, I> {
    type Output = ();

    #[inline(always)]
    fn run(self, machine: impl Machine) {
        match Fetch::of(size_of_val(self.filter.lines())) {
            Fetch::SOON => self.fetched(machine, Fetch::SOON),
            far => self.fetched(machine, far),
        }
    }
}

impl<S: StoreMut, I: Source> SetAll<'_, S, I> {
    #[inline(always)]
    fn fetched(self, machine: impl Machine, fetch: Fetch) {
        let BlockedBloom { params, windows, store, .. } = self.filter;
        by_span!(params.span(), L => by_kept!(I, L, Place => {
            let ahead = ahead::<L>(store.lines());
            let blocks = BlocksMut::<L>::new(store.lines_mut(), fetch);
            self.source.staged(ahead, Setting { machine, windows, blocks, kept: PhantomData::<Place> });
        }));
    }
}

struct Setting<'a, M, P, const L: usize> {
    machine: M,
    windows: &'a Windows,
    blocks: BlocksMut<'a, L>,
    kept: PhantomData<P>,
}

impl<M: Machine, P: Kept, const L: usize> Stages for Setting<'_, M, P, L> {
    type Item = Digest;
    type Place = P;
    type Answer = ();

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> P {
        self.blocks.prefetch(digest.h1);
        P::keep(digest)
    }

    #[inline(always)]
    fn act(&mut self, place: P) {
        let digest = place.digest();
        set(self.machine, self.blocks.block(digest.h1), words(digest), self.windows);
    }
}
