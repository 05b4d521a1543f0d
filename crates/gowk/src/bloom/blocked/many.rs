//! Many keys, their lines fetched ahead.

use super::{
    filter::{BlockedBloom, covers, set},
    layout::{keep, kept, words},
    sizing::by_span,
};
use crate::{
    bulk::{Ahead, Source, Stages},
    hash::Digest,
    simd::{Machine, Task, Windows},
    store::{Blocks, BlocksMut, Fetch, Line, Store, StoreMut},
};

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
        by_span!(params.span(), L => {
            let questions = Answering { machine, windows, blocks: Blocks::<L>::new(store.lines(), fetch) };
            self.source.answered(ahead::<L>(store.lines()), questions, self.answers);
        });
    }
}

struct Answering<'a, M, const L: usize> {
    machine: M,
    windows: &'a Windows,
    blocks: Blocks<'a, L>,
}

impl<M: Machine, const L: usize> Stages for Answering<'_, M, L> {
    type Item = Digest;
    type Place = [u64; L];
    type Answer = bool;

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> [u64; L] {
        self.blocks.fetch(digest.h1);
        keep(digest)
    }

    #[inline(always)]
    fn act(&mut self, place: [u64; L]) -> bool {
        let digest = kept(place);
        covers(self.machine, self.blocks.block(digest.h1), words(digest), self.windows)
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
        by_span!(params.span(), L => {
            let ahead = ahead::<L>(store.lines());
            let stages = Setting { machine, windows, blocks: BlocksMut::<L>::new(store.lines_mut(), fetch) };
            self.source.staged(ahead, stages);
        });
    }
}

struct Setting<'a, M, const L: usize> {
    machine: M,
    windows: &'a Windows,
    blocks: BlocksMut<'a, L>,
}

impl<M: Machine, const L: usize> Stages for Setting<'_, M, L> {
    type Item = Digest;
    type Place = [u64; L];
    type Answer = ();

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> [u64; L] {
        self.blocks.prefetch(digest.h1);
        keep(digest)
    }

    #[inline(always)]
    fn act(&mut self, place: [u64; L]) {
        let digest = kept(place);
        set(self.machine, self.blocks.block(digest.h1), words(digest), self.windows);
    }
}
