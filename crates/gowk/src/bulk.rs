//! A ring of memory that is on its way: what every bulk call is made of.

use crate::hash::Digest;

/// How many keys are between the prefetch and the use. The memory of one core answers 20 to 40 lines at once; 64 keys keep
/// it busy and still fit, with their lines, into a first-level cache of 32 KiB.
const AHEAD: usize = 64;

/// What a bulk call does with each digest.
///
/// A trait and not two closures: the methods are `#[inline(always)]`, as everything must be that is to be compiled for the
/// instruction set of a [`Task`](crate::simd::Task); a closure is a function of its own, compiled for any machine.
pub(crate) trait Stages {
    /// Where the key goes.
    type Place: Copy;
    /// Finds the place and asks for the memory there.
    fn fetch(&self, digest: Digest) -> Self::Place;
    /// Does the work, some keys later.
    fn act(&mut self, place: Self::Place);
}

/// Runs `fetch` on each digest and `act` on its place some keys later; both in order.
///
/// A ring beats batches, which fetch 64 lines, then work on 64: with a ring memory is never idle (5.2 ns a key to 6.1 at ten
/// million keys).
#[inline(always)]
pub(crate) fn staged<S: Stages>(mut digests: impl Iterator<Item = Digest>, mut stages: S) {
    let Some(first) = digests.next() else { return };
    let mut ring = [stages.fetch(first); AHEAD];
    let mut filled = 1;
    while filled < AHEAD {
        let Some(digest) = digests.next() else { break };
        ring[filled] = stages.fetch(digest);
        filled += 1;
    }
    let mut next = 0;
    for digest in digests {
        let slot = &mut ring[next % AHEAD];
        stages.act(*slot);
        *slot = stages.fetch(digest);
        next += 1;
    }
    for i in next..next + filled {
        stages.act(ring[i % AHEAD]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[derive(Default)]
    struct Seen(Vec<u64>);

    impl Stages for &mut Seen {
        type Place = u64;

        fn fetch(&self, digest: Digest) -> u64 {
            digest.h1
        }

        fn act(&mut self, place: u64) {
            self.0.push(place);
        }
    }

    #[test]
    fn every_place_is_acted_on_once_and_in_order() {
        for n in [0, 1, 2, AHEAD - 1, AHEAD, AHEAD + 1, 3 * AHEAD + 7] {
            let mut seen = Seen::default();
            staged((0..n as u64).map(Digest::from), &mut seen);
            assert_eq!(seen.0, (0..n as u64).collect::<Vec<_>>());
        }
    }
}
