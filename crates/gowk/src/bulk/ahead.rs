//! How far ahead a bulk call asks for memory.

use crate::store::is_far;

/// How many keys are between the prefetch and the use: a power of two from 8 to `MOST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ahead<const MOST: usize>(usize);

/// How many lines of near memory are on their way at once, and of how many keys. Two lines of a key, in 18 MB of a third-level cache, take
/// 7.9 ns on an Ice Lake with 64 keys, and 9.2 with 32.
const NEAR_LINES: usize = 128;
const NEAR_KEYS: usize = 64;

/// And of far memory. One core of a Zen 5 keeps more than a hundred on their way: with 256 asked for it takes 4.0 ns for two lines of a
/// key in 190 MB, with 64 it takes 7.2. A processor with room for twenty waits for those and loses nothing. They fill 16 KiB of the first-level
/// cache, which has at least 32; where all is near, a longer ring is only longer.
const FAR_LINES: usize = 256;

/// How many keys of one line may be on their way; twice as many were no quicker.
const FAR_KEYS: usize = 128;

impl<const MOST: usize> Ahead<MOST> {
    /// For keys that have to do with so many lines each, of a memory of so many bytes.
    #[inline(always)]
    pub(crate) fn of(lines: usize, bytes: usize) -> Self {
        const { assert!(MOST.is_power_of_two() && MOST >= 8) };
        let keys = match is_far(bytes) {
            false => (NEAR_LINES / lines.max(1)).next_power_of_two().min(NEAR_KEYS),
            // Rounded down: half as many again do not fit.
            true => 1 << (FAR_LINES / lines.max(1)).max(1).ilog2().min(FAR_KEYS.ilog2()),
        };
        Self(keys.clamp(8, MOST))
    }

    #[inline(always)]
    pub(super) fn keys(self) -> usize {
        self.0
    }

    /// Which of `MOST` places the key of this number has, `N` keys counting as one.
    #[inline(always)]
    pub(super) fn slot<const N: usize>(self, number: usize) -> usize {
        // The remainder changes nothing and shows the compiler that there is such a place.
        (number & (self.0 / N - 1)) % (MOST / N)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_memory_is_asked_for_sooner() {
        let of = |lines, bytes| Ahead::<128>::of(lines, bytes).keys();
        assert_eq!([1, 2, 3, 4, 6, 9].map(|lines| of(lines, 0)), [64, 64, 64, 32, 32, 16]);
        assert_eq!([1, 2, 3, 4, 6, 9].map(|lines| of(lines, usize::MAX)), [128, 128, 64, 64, 32, 16]);
        assert_eq!(Ahead::<16>::of(2, usize::MAX).keys(), 16);
        assert_eq!((of(0, 0), of(1000, 0), of(1000, usize::MAX)), (64, 8, 8));
    }

    #[test]
    fn places_go_round() {
        let ahead = Ahead::<128>::of(4, 0);
        assert!((0..80).map(|i| ahead.slot::<1>(i)).eq((0..80).map(|i| i % 32)));
        assert!((0..80).map(|i| ahead.slot::<4>(i)).eq((0..80).map(|i| i % 8)));
    }
}
