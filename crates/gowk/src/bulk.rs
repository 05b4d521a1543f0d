//! A ring of memory that is on its way: what every bulk call is made of.

use core::marker::PhantomData;

/// How many keys are between the prefetch and the use. The memory of one core answers 20 to 40 lines at once; 64 keys keep
/// it busy and still fit, with their lines, into a first-level cache of 32 KiB.
const AHEAD: usize = 64;

/// What a bulk call does with each digest.
///
/// A trait and not two closures: the methods are `#[inline(always)]`, as everything must be that is to be compiled for the
/// instruction set of a [`Task`](crate::simd::Task); a closure is a function of its own, compiled for any machine.
pub(crate) trait Stages {
    /// What comes in: a digest, or an integer where integers are not hashed.
    type Item;
    /// Where it goes.
    type Place: Copy;
    /// Finds the place and asks for the memory there.
    fn fetch(&mut self, item: Self::Item) -> Self::Place;
    /// Does the work, some keys later.
    fn act(&mut self, place: Self::Place);
}

/// Runs `fetch` on each digest and `act` on its place some keys later; both in order.
///
/// A ring beats batches, which fetch 64 lines, then work on 64: with a ring memory is never idle (5.2 ns a key to 6.1 at ten
/// million keys).
///
/// `act` is called in one place only, and must stay so: the compiler then puts it there, where the instruction set of the
/// task is known. Called from two places it may become a function of its own, each intrinsic in it a call: ten times slower.
#[inline(always)]
pub(crate) fn staged<S: Stages>(items: impl Iterator<Item = S::Item>, stages: S) {
    staged_by::<AHEAD, S>(items, stages);
}

/// As [`staged`], so many keys ahead: fewer, where each has several lines.
#[inline(always)]
pub(crate) fn staged_by<const AHEAD: usize, S: Stages>(
    mut items: impl Iterator<Item = S::Item>,
    mut stages: S,
) {
    let Some(first) = items.next() else { return };
    let mut ring = [stages.fetch(first); AHEAD];
    let mut filled = 1;
    while filled < AHEAD {
        let Some(item) = items.next() else { break };
        ring[filled] = stages.fetch(item);
        filled += 1;
    }
    let mut next = 0;
    for item in items {
        let slot = &mut ring[next % AHEAD];
        stages.act(*slot);
        *slot = stages.fetch(item);
        next += 1;
    }
    for i in next..next + filled {
        stages.act(ring[i % AHEAD]);
    }
}

/// As [`staged`], by two closures: for code that no instruction set makes faster.
#[inline(always)]
pub(crate) fn pipeline<I, P: Copy>(
    items: impl Iterator<Item = I>,
    fetch: impl FnMut(I) -> P,
    act: impl FnMut(P),
) {
    staged(items, Closures { fetch, act, item: PhantomData });
}

struct Closures<F, A, I> {
    fetch: F,
    act: A,
    item: PhantomData<I>,
}

impl<I, P: Copy, F: FnMut(I) -> P, A: FnMut(P)> Stages for Closures<F, A, I> {
    type Item = I;
    type Place = P;

    #[inline(always)]
    fn fetch(&mut self, item: I) -> P {
        (self.fetch)(item)
    }

    #[inline(always)]
    fn act(&mut self, place: P) {
        (self.act)(place);
    }
}

/// The ring by itself, of a length of one's own: for blocks of many lines, of which fewer fit into the cache, and for work
/// so large that the compiler would not put a closure of it where its instruction set is known.
pub(crate) struct Ring<P, const AHEAD: usize> {
    places: [P; AHEAD],
    pushed: usize,
    popped: usize,
}

impl<P: Copy + Default, const AHEAD: usize> Ring<P, AHEAD> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { places: [P::default(); AHEAD], pushed: 0, popped: 0 }
    }

    /// Takes in a place whose memory is on its way; gives the oldest, if there are `AHEAD` younger ones.
    #[inline(always)]
    pub(crate) fn push(&mut self, place: P) -> Option<P> {
        let oldest = if self.pushed - self.popped == AHEAD { self.pop() } else { None };
        self.places[self.pushed % AHEAD] = place;
        self.pushed += 1;
        oldest
    }

    /// The oldest, when no more come.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<P> {
        (self.popped < self.pushed).then(|| {
            self.popped += 1;
            self.places[(self.popped - 1) % AHEAD]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn every_place_is_acted_on_once_and_in_order() {
        for n in [0, 1, 2, AHEAD - 1, AHEAD, AHEAD + 1, 3 * AHEAD + 7] {
            let mut seen = Vec::new();
            pipeline(0..n, |i| i, |i| seen.push(i));
            assert_eq!(seen, (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_ring_gives_back_every_place_once_and_in_order() {
        for n in [0, 1, 7, 8, 9, 100] {
            let (mut ring, mut seen) = (Ring::<usize, 8>::new(), Vec::new());
            for i in 0..n {
                seen.extend(ring.push(i));
                assert_eq!(seen.len(), (i + 1usize).saturating_sub(8));
            }
            while let Some(i) = ring.pop() {
                seen.push(i);
            }
            assert_eq!(seen, (0..n).collect::<Vec<_>>());
        }
    }
}
