//! Lines that a number names, and others near them: places for keys that have bits in more than one line.
//!
//! Number n names line n L / 2^64 of L, as everywhere; from there some more bits count on to a line at most [`NEAR`] behind, past the
//! last one to the first. An addition finds it, where a line anywhere takes a wide multiplication.

use super::Line;

/// How far lines may be apart. Part of the file format.
pub(crate) const NEAR: u64 = 1024;

/// The lines of a filter, at least one, as numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearby {
    lines: u64,
    /// One less than a power of two that is at most the number of lines, so that counting on goes past the end but once.
    mask: u64,
}

impl Nearby {
    /// # Panics
    /// If there are no lines.
    pub(crate) fn new(lines: usize) -> Self {
        assert!(lines > 0, "at least one line");
        Self { lines: lines as u64, mask: near(lines as u64) - 1 }
    }

    /// The line that a number names.
    #[inline(always)]
    pub(crate) fn line(self, n: u64) -> usize {
        let line = ((u128::from(n) * u128::from(self.lines)) >> 64) as usize;
        // SAFETY: n < 2^64, so n L / 2^64 < L, as `new` saw that L > 0. Said to the compiler, which need not ask then whether counting on
        // by nothing goes past the end: the first line of a key's first round is the one that is named.
        unsafe { core::hint::assert_unchecked((line as u64) < self.lines) };
        line
    }

    /// The line that the low bits of `by` count on to from `line`, which is one of ours.
    #[inline(always)]
    pub(crate) fn beside(self, line: usize, by: u64) -> usize {
        let at = line as u64 + (by & self.mask);
        // Subtracted first and chosen then: a move instead of a branch.
        let past = at.wrapping_sub(self.lines);
        (if at < self.lines { at } else { past }) as usize
    }
}

/// How many lines are near a line of so many.
pub(crate) fn near(lines: u64) -> u64 {
    NEAR.min(1 << lines.ilog2())
}

/// Lines to read by [`Nearby`] numbers.
#[derive(Clone, Copy)]
pub(crate) struct NearbyLines<'a> {
    lines: &'a [Line],
    by: Nearby,
}

impl<'a> NearbyLines<'a> {
    /// # Panics
    /// If there are not as many lines as there are numbers.
    #[inline(always)]
    pub(crate) fn new(lines: &'a [Line], by: Nearby) -> Self {
        assert!(lines.len() as u64 == by.lines, "as many lines as numbers");
        Self { lines, by }
    }

    /// Three lines beside the one that a number names.
    #[inline(always)]
    pub(crate) fn three(self, n: u64, by: [u64; 3]) -> [&'a Line; 3] {
        let line = self.by.line(n);
        let [a, b, c] =
            [self.by.beside(line, by[0]), self.by.beside(line, by[1]), self.by.beside(line, by[2])];
        debug_assert!([a, b, c].iter().all(|at| *at < self.lines.len()));
        // SAFETY: with L the number of our lines, which is not 0: n < 2^64, so it names line n L / 2^64 < L; counting on
        // by less than L from there stays below 2 L, and from L on L is taken away.
        unsafe { [self.lines.get_unchecked(a), self.lines.get_unchecked(b), self.lines.get_unchecked(c)] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_on_stays_inside_and_goes_round() {
        for lines in [1usize, 2, 3, 1023, 1024, 1025, 5000] {
            let nearby = Nearby::new(lines);
            for line in [0, lines / 2, lines - 1] {
                for by in [0, 1, 2, 1023, 1024, u64::MAX] {
                    let by_less = by % near(lines as u64);
                    assert_eq!(nearby.beside(line, by), (line + by_less as usize) % lines);
                }
            }
            assert_eq!((nearby.line(0), nearby.line(u64::MAX)), (0, lines - 1));
        }
    }

    #[test]
    fn three_lines_are_those_of_the_numbers() {
        let memory = vec![Line::ZERO; 1500];
        let (nearby, lines) = (Nearby::new(1500), NearbyLines::new(&memory, Nearby::new(1500)));
        for n in (0..1000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)) {
            let first = nearby.line(n);
            let expected = [first, nearby.beside(first, n), nearby.beside(first, n >> 10)];
            let got = lines.three(n, [0, n, n >> 10]);
            assert!(got.iter().zip(expected).all(|(line, at)| core::ptr::eq(*line, &raw const memory[at])));
        }
    }
}
