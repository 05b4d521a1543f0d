//! What is done to the counters of one line. Plain loops over eight lanes, which the compiler turns into vectors where
//! the processor has shifts by lane.

use crate::{
    simd::{SALTS, Windows},
    store::Line,
};

/// The most that a counter tells: this often, or more.
pub const TOP: u32 = 15;

/// The counters of a lane.
pub(super) const SLOTS: u32 = 16;
/// The counters of a line.
pub(super) const LINE_COUNTERS: u64 = 128;

/// The lowest bit of every counter of a word.
const ONES: u64 = 0x1111_1111_1111_1111;
/// The counters of a word that have even numbers.
const EVEN: u64 = 0x0f0f_0f0f_0f0f_0f0f;

/// Where a key's counters are in a line: for each lane, how far up, and 1 if the lane is used.
#[derive(Clone, Copy)]
pub(super) struct Places {
    shifts: [u32; 8],
    used: [u32; 8],
}

impl Places {
    #[inline(always)]
    pub(super) fn new(word: u32, windows: &Windows) -> Self {
        Self {
            shifts: SALTS.0.map(|salt| (word.wrapping_mul(salt) >> 28) * 4),
            used: windows.0[(word >> 5) as usize & 7].0,
        }
    }

    /// The numbers of the key's counters in the line.
    pub(super) fn counters(self) -> impl Iterator<Item = u64> {
        let lanes = self.used.into_iter().zip(self.shifts).enumerate().filter(|(_, (used, _))| *used == 1);
        lanes.map(|(lane, (_, shift))| lane as u64 * u64::from(SLOTS) + u64::from(shift / 4))
    }

    /// One in each of the key's counters that is not at the top, 0 elsewhere; and the same for those at 0.
    #[inline(always)]
    fn steps(&self, line: &Line) -> (Line, u64) {
        let (mut steps, mut fresh) = (Line::ZERO, 0);
        for lane in 0..8 {
            let count = line.0[lane] >> self.shifts[lane] & 15;
            let used = u64::from(self.used[lane]);
            steps.0[lane] = (used & u64::from(count != 15)) << self.shifts[lane];
            fresh |= used & u64::from(count == 0);
        }
        (steps, fresh)
    }

    /// Whether all of the key's counters are above 0.
    #[inline(always)]
    pub(super) fn all_count(&self, line: &Line) -> bool {
        let mut missing = 0;
        for lane in 0..8 {
            let count = line.0[lane] >> self.shifts[lane] & 15;
            missing |= u64::from(self.used[lane]) & u64::from(count == 0);
        }
        missing == 0
    }

    /// The least of the key's counters.
    #[inline(always)]
    pub(super) fn least(&self, line: &Line) -> u32 {
        let mut least = TOP;
        for lane in 0..8 {
            let count = (line.0[lane] >> self.shifts[lane]) as u32 & 15;
            // A lane that is not the key's says the most.
            least = least.min(count | ((self.used[lane] ^ 1) * TOP));
        }
        least
    }

    /// Counts the key once more; true if one of its counters was 0 before.
    #[inline(always)]
    pub(super) fn add(&self, line: &mut Line) -> bool {
        let (steps, fresh) = self.steps(line);
        line.0.iter_mut().zip(steps.0).for_each(|(word, step)| *word += step);
        fresh != 0
    }

    /// Counts the key once less. All of its counters must be above 0; those at the top stay there.
    #[inline(always)]
    pub(super) fn take(&self, line: &mut Line) {
        let (steps, _) = self.steps(line);
        line.0.iter_mut().zip(steps.0).for_each(|(word, step)| *word -= step);
    }
}

/// Adds the counters of another line, up to the top.
#[inline(always)]
pub(super) fn merge(to: &mut Line, from: &Line) {
    // Every second counter with room for a carry above it, which then fills the counter.
    let add = |a: u64, b: u64| {
        let sum = (a & EVEN) + (b & EVEN);
        (sum | ((sum >> 4 & ONES & EVEN) * 15)) & EVEN
    };
    for (a, &b) in to.0.iter_mut().zip(&from.0) {
        *a = add(*a, b) | add(*a >> 4, b >> 4) << 4;
    }
}

/// How many counters of a word are not 0.
pub(super) fn nonzero(word: u64) -> u32 {
    ((word | word >> 1 | word >> 2 | word >> 3) & ONES).count_ones()
}

/// How many counters of a word are at the top.
pub(super) fn at_top(word: u64) -> u32 {
    (word & word >> 1 & word >> 2 & word >> 3 & ONES).count_ones()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bloom::blocked::windows;
    use proptest::prelude::*;

    fn counters(line: &Line) -> Vec<u64> {
        line.0.iter().flat_map(|word| (0..16).map(move |i| word >> (4 * i) & 15)).collect()
    }

    proptest! {
        #[test]
        fn a_key_has_one_counter_in_each_of_its_lanes(word: u32, lanes in 1u32..=8) {
            let mut line = Line::ZERO;
            prop_assert!(Places::new(word, windows(lanes)).add(&mut line));
            prop_assert_eq!(line.0.iter().filter(|word| **word != 0).count() as u32, lanes);
            prop_assert_eq!(counters(&line).iter().sum::<u64>(), u64::from(lanes));
        }

        #[test]
        fn add_then_take_changes_only_counters_at_the_top(words: [u64; 8], word: u32, lanes in 1u32..=8) {
            let before = Line(words);
            let mut line = before;
            let places = Places::new(word, windows(lanes));
            let fresh = places.add(&mut line);
            prop_assert_eq!(fresh, !places.all_count(&before));
            prop_assert_eq!(fresh, places.least(&before) == 0);
            prop_assert_eq!(places.least(&line), (places.least(&before) + 1).min(TOP));
            places.take(&mut line);
            for (now, then) in counters(&line).into_iter().zip(counters(&before)) {
                // 14 went to the top, and stays there.
                prop_assert!(now == then || (then == 14 && now == 15));
            }
        }

        #[test]
        fn merging_adds_counter_by_counter_up_to_the_top(a: [u64; 8], b: [u64; 8]) {
            let (mut sum, b) = (Line(a), Line(b));
            merge(&mut sum, &b);
            for ((sum, a), b) in counters(&sum).into_iter().zip(counters(&Line(a))).zip(counters(&b)) {
                prop_assert_eq!(sum, (a + b).min(15));
            }
        }

        #[test]
        fn counters_are_told_apart_by_their_ends(word: u64) {
            let of = |test: fn(u64) -> bool| (0..16).filter(|i| test(word >> (4 * i) & 15)).count() as u32;
            prop_assert_eq!(nonzero(word), of(|count| count != 0));
            prop_assert_eq!(at_top(word), of(|count| count == 15));
        }
    }

    #[test]
    fn all_counters_of_a_line_are_reached_alike() {
        for lanes in [1, 3, 6, 8] {
            let trials = 1_000_000u32;
            let mut hits = [0u32; 128];
            for i in 0..trials {
                let word = (u64::from(i).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 29) as u32;
                let mut line = Line::ZERO;
                Places::new(word, windows(lanes)).add(&mut line);
                for (counter, hit) in hits.iter_mut().enumerate() {
                    *hit += (line.0[counter / 16] >> (4 * (counter % 16)) & 1) as u32;
                }
            }
            let expected = f64::from(trials * lanes) / 128.0;
            for (counter, &hit) in hits.iter().enumerate() {
                let off = (f64::from(hit) - expected).abs() / expected.sqrt();
                assert!(
                    off < 8.0,
                    "{lanes} lanes: counter {counter} was reached {hit} times, expected {expected}"
                );
            }
        }
    }
}
