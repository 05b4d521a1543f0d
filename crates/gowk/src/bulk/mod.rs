//! Bulk calls: memory is asked for some keys before it is used, so that many lines are on their way at once.

mod ahead;
mod groups;
mod hashes;
mod ring;
mod source;

pub(crate) use ahead::Ahead;
pub(crate) use groups::{GROUP, Groups, MANY, first, grouped};
pub(crate) use hashes::Hashes;
pub(crate) use ring::Ring;
pub(crate) use source::{Keys, Source, Stream, texts_come_by_eight};

use core::marker::PhantomData;

/// What a bulk call does with each digest.
///
/// A trait and not two closures: the methods are `#[inline(always)]`, as everything must be that is to be compiled for the
/// instruction set of a [`Task`](crate::simd::Task); a closure is a function of its own, compiled for any machine.
pub trait Stages {
    /// What comes in: a digest, or an integer where integers are not hashed.
    type Item;
    /// Where it goes.
    type Place: Copy;
    /// What comes out.
    type Answer;
    /// Finds the place and asks for the memory there.
    fn fetch(&mut self, item: Self::Item) -> Self::Place;
    /// Does the work, some keys later.
    fn act(&mut self, place: Self::Place) -> Self::Answer;
}

/// Runs `fetch` on each item and `act` on its place so many items later; both in order.
///
/// A ring beats batches, which fetch 64 lines, then work on 64: with a ring memory is never idle (5.2 ns a key to 6.1 at ten
/// million keys).
#[inline(always)]
pub(crate) fn staged<const MOST: usize, S: Stages<Answer = ()>>(
    mut items: impl Iterator<Item = S::Item>,
    ahead: Ahead<MOST>,
    mut stages: S,
) {
    let Some(first) = items.next() else { return };
    let mut ring = [stages.fetch(first); MOST];
    let mut filled = 1;
    while filled < ahead.keys() {
        let Some(item) = items.next() else { break };
        ring[filled] = stages.fetch(item);
        filled += 1;
    }
    let mut next = 0;
    if filled == ahead.keys() {
        for item in items {
            let slot = &mut ring[ahead.slot::<1>(next)];
            stages.act(*slot);
            *slot = stages.fetch(item);
            next += 1;
        }
    }
    for i in next..next + filled {
        stages.act(ring[ahead.slot::<1>(i)]);
    }
}

/// As [`staged`], by two closures: for code that no instruction set makes faster.
#[inline(always)]
pub(crate) fn pipeline<I, P: Copy>(
    items: impl Iterator<Item = I>,
    ahead: Ahead<128>,
    fetch: impl FnMut(I) -> P,
    act: impl FnMut(P),
) {
    staged(items, ahead, Closures { fetch, act, item: PhantomData });
}

struct Closures<F, A, I> {
    fetch: F,
    act: A,
    item: PhantomData<I>,
}

impl<I, P: Copy, F: FnMut(I) -> P, A: FnMut(P)> Stages for Closures<F, A, I> {
    type Item = I;
    type Place = P;
    type Answer = ();

    #[inline(always)]
    fn fetch(&mut self, item: I) -> P {
        (self.fetch)(item)
    }

    #[inline(always)]
    fn act(&mut self, place: P) {
        (self.act)(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn every_place_is_acted_on_once_and_in_order() {
        for ahead in [Ahead::of(1, 0), Ahead::of(1, usize::MAX), Ahead::of(100, 0)] {
            let keys = ahead.keys();
            for n in [0, 1, 2, keys - 1, keys, keys + 1, 3 * keys + 7] {
                let mut seen = Vec::new();
                pipeline(0..n, ahead, |i| i, |i| seen.push(i));
                assert_eq!(seen, (0..n).collect::<Vec<_>>());
            }
        }
    }
}
