//! Many keys, eight at a time, their lines fetched ahead: as `blocked/eight.rs`, of lines that are near each other.

use super::{
    clustered::{Mark, Rounds},
    rounds::{Layout, Shape},
};
use crate::{
    bloom::eight::{Asking, Setting},
    bulk::{MANY, Source, grouped},
    simd::{Arithmetic, Avx512, EightTask, Isa, Sets},
    store::{Line, NearbyLines, NearbyLinesMut, Stepping, are_short},
};
use alloc::vec;

/// What works on the keys of this source by eight, if anything does: of one round, in no more lines than have numbers of 32 bits.
#[inline(always)]
pub(super) fn by_eight<I: Source>(isa: Isa, layout: &Layout, lines: &[Line], source: &I) -> Option<Avx512> {
    let fits = lines_of_the_round(layout).is_some() && are_short::<1>(lines.len());
    if I::MAY_COME_BY_EIGHT && fits && source.come_by_eight() >= MANY { isa.avx512() } else { None }
}

/// How many lines the one round has, if there is just one.
fn lines_of_the_round(layout: &Layout) -> Option<usize> {
    match layout.shape? {
        Shape::OneOfOne => Some(1),
        Shape::OneOfTwo => Some(2),
        Shape::OneOfThree | Shape::OneOfTwoAndOne => Some(3),
        Shape::TwoOfTwo | Shape::TwoOfThree => None,
    }
}

/// Runs the code with `$lines` as the number of lines of the one round.
macro_rules! by_lines {
    ($layout:expr, $lines:ident => $call:expr) => {
        by_lines!(@ $layout, $lines, $call, 1 2 3)
    };
    (@ $layout:expr, $lines:ident, $call:expr, $($n:literal)*) => {
        match lines_of_the_round($layout) {
            $(Some($n) => {
                const $lines: usize = $n;
                $call
            })*
            _ => unreachable!("it was asked for by eight"),
        }
    };
}

pub(super) struct Answer<'a, I> {
    pub(super) lines: &'a [Line],
    pub(super) layout: Layout,
    pub(super) by: Avx512,
    pub(super) source: I,
    pub(super) answers: &'a mut [bool],
}

impl<I: Source> EightTask for Answer<'_, I> {
    #[inline(always)]
    fn run(self, arithmetic: impl Arithmetic) {
        let Self { lines, layout, by, source, answers } = self;
        let (hashes, bytes) = (source.hashes::<_, true>(arithmetic), size_of_val(lines));
        let lines = NearbyLines::new(lines, layout.nearby);
        by_lines!(&layout, N => {
            let memory = Stepping::<_, N> { lines, steps: Mark::STEPS };
            grouped(hashes, N, bytes, Asking::<_, N, false> { memory, by, sets: sets(layout.rounds) }, answers);
        });
    }
}

pub(super) struct PutAll<'a, I> {
    pub(super) lines: &'a mut [Line],
    pub(super) layout: Layout,
    pub(super) by: Avx512,
    pub(super) source: I,
}

impl<I: Source> EightTask for PutAll<'_, I> {
    #[inline(always)]
    fn run(self, arithmetic: impl Arithmetic) {
        let Self { lines, layout, by, source } = self;
        // Answers without a size: nothing is allocated.
        let mut answers = vec![(); source.come_by_eight()];
        let (hashes, bytes) = (source.hashes::<_, true>(arithmetic), size_of_val(lines));
        let lines = NearbyLinesMut::new(lines, layout.nearby);
        by_lines!(&layout, N => {
            let memory = Stepping::<_, N> { lines, steps: Mark::STEPS };
            grouped(hashes, N, bytes, Setting::<_, N, false> { memory, by, sets: sets(layout.rounds) }, &mut answers);
        });
    }
}

/// The lanes of each line.
fn sets<const N: usize>(rounds: Rounds) -> [Sets; N] {
    core::array::from_fn(|line| Sets::of(&rounds.shares[0].each[line]))
}
