//! Lines that a number names, and others near them: places for keys that have bits in more than one line.
//!
//! Number n names line n L / 2^64 of L, as everywhere; from there some more bits count on to a line at most [`NEAR`] behind, past the
//! last one to the first. An addition finds it, where a line anywhere takes a wide multiplication.

use super::{
    Fetch, Line,
    eight::{
        LinesFor, LinesForMut, LinesOfEight, LinesOfEightMut, OfTheFirst, of_the_first,
        see_that_none_is_behind,
    },
};
use crate::{range::scale_short, simd::EIGHT};

/// How far lines may be apart. Part of the file format.
pub(crate) const NEAR: u64 = 1024;

/// The lines of a filter, at least one, as the bytes that they begin at: what an address is made of without a shift.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearby {
    lines: u64,
    /// All of them in bytes.
    bytes: u64,
    /// Minus `bytes`. By its own name: said as a difference, the compiler makes two instructions more of it.
    less: u64,
    /// One line less than a power of two that is at most the number of lines, so that counting on goes past the end but once. In bytes.
    mask: u64,
}

impl Nearby {
    /// # Panics
    /// If there are no lines, or more than memory can hold.
    pub(crate) fn new(lines: usize) -> Self {
        assert!(lines > 0 && lines <= isize::MAX as usize / Line::BYTES, "at least one line");
        let lines = lines as u64;
        let bytes = lines * BYTES;
        Self { lines, bytes, less: bytes.wrapping_neg(), mask: (near(lines) - 1) * BYTES }
    }

    /// Where the line begins that a number names.
    #[inline(always)]
    pub(crate) fn line(self, n: u64) -> u64 {
        ((u128::from(n) * u128::from(self.lines)) >> 64) as u64 * BYTES
    }

    /// What of a number does not name its line, in the high bits: as good as any, and found with the line.
    #[inline(always)]
    pub(crate) fn rest(self, n: u64) -> u64 {
        n.wrapping_mul(self.lines)
    }

    /// Where the line begins that the low bits of `by` count on to, from one of ours that begins at `start`. A line is 64: of `by` the
    /// lowest six bits do not count.
    #[inline(always)]
    pub(crate) fn beside(self, start: u64, by: u64) -> u64 {
        let at = start + (by & self.mask);
        // Less all bytes it is the lesser of the two only from there on; else it is below zero, and so a large number.
        at.min(at.wrapping_add(self.less))
    }

    /// Where the line begins that `by` counts on to from the one that a number names; without it, that one, which is four instructions
    /// less.
    #[inline(always)]
    pub(crate) fn from(self, n: u64, by: Option<u64>) -> u64 {
        match by {
            None => self.line(n),
            Some(by) => self.beside(self.line(n), by),
        }
    }
}

const BYTES: u64 = Line::BYTES as u64;

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

    /// How they are numbered.
    #[inline(always)]
    pub(crate) fn nearby(self) -> Nearby {
        self.by
    }

    /// The line that `by` counts on to from the one that a number names; without it, that one.
    #[inline(always)]
    pub(crate) fn line(self, n: u64, by: Option<u64>) -> &'a Line {
        let at = self.by.from(n, by);
        debug_assert!(at < self.by.bytes);
        // SAFETY: with L the number of our lines, which is not 0: n < 2^64, so it names line n L / 2^64 < L; counting on by less than L from
        // there stays below 2 L, and from L on L is taken away. All in whole lines, as `beside` counts by them.
        unsafe { &*self.lines.as_ptr().byte_add(at as usize) }
    }

    /// The lines that the first `N` count on to from the one that a number names.
    #[inline(always)]
    pub(crate) fn some<const N: usize>(self, n: u64, by: [Option<u64>; 3]) -> [&'a Line; N] {
        let mut some = [self.line(n, by[0]); N];
        for i in 1..N {
            some[i] = self.line(n, by[i]);
        }
        some
    }
}

/// As [`NearbyLines`], to write.
pub(crate) struct NearbyLinesMut<'a> {
    lines: &'a mut [Line],
    by: Nearby,
}

impl<'a> NearbyLinesMut<'a> {
    /// # Panics
    /// If there are not as many lines as there are numbers.
    #[inline(always)]
    pub(crate) fn new(lines: &'a mut [Line], by: Nearby) -> Self {
        assert!(lines.len() as u64 == by.lines, "as many lines as numbers");
        Self { lines, by }
    }

    /// To read.
    #[inline(always)]
    pub(crate) fn as_ref(&self) -> NearbyLines<'_> {
        NearbyLines { lines: self.lines, by: self.by }
    }

    /// The line that `by` counts on to from the one that a number names; without it, that one.
    #[inline(always)]
    pub(crate) fn line(&mut self, n: u64, by: Option<u64>) -> &mut Line {
        let at = self.by.from(n, by);
        debug_assert!(at < self.by.bytes);
        // SAFETY: as in `NearbyLines::line`.
        unsafe { &mut *self.lines.as_mut_ptr().byte_add(at as usize) }
    }

    /// Where the lines begin that the first `N` count on to, in bytes.
    #[inline(always)]
    pub(crate) fn starts<const N: usize>(&self, n: u64, by: [Option<u64>; 3]) -> [u64; N] {
        let mut starts = [self.by.from(n, by[0]); N];
        for i in 1..N {
            starts[i] = self.by.from(n, by[i]);
        }
        starts
    }

    /// The line that begins at this byte.
    #[inline(always)]
    pub(crate) fn at(&mut self, start: u64) -> &mut Line {
        &mut self.lines[start as usize / Line::BYTES]
    }
}

/// Where the lines of eight numbers begin, in bytes: `N` of each, whole lines from each other.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct EightNear<const N: usize>([[u64; EIGHT]; N]);

impl<const N: usize> OfTheFirst for EightNear<N> {
    #[inline(always)]
    fn of_the_first(mut self, numbers: usize) -> Self {
        for starts in &mut self.0 {
            *starts = of_the_first(*starts, numbers);
        }
        self
    }
}

/// Lines of which a number names `N`: its own, and those that what it has [left over](Nearby::rest) counts on to, shifted by each of the steps.
pub(crate) struct Stepping<M, const N: usize> {
    pub(crate) lines: M,
    pub(crate) steps: [u32; 2],
}

/// Of no more lines than have numbers of 32 bits.
impl<const N: usize> LinesFor for Stepping<NearbyLines<'_>, N> {
    type Found = EightNear<N>;

    #[inline(always)]
    fn eight(&self, numbers: &[u64; EIGHT]) -> EightNear<N> {
        let by = self.lines.by;
        let mut starts = [[0; EIGHT]; N];
        for i in 0..EIGHT {
            starts[0][i] = scale_short(numbers[i], by.lines) * BYTES;
        }
        for line in 1..N {
            for i in 0..EIGHT {
                starts[line][i] = by.beside(starts[0][i], by.rest(numbers[i]) >> self.steps[line - 1]);
            }
        }
        EightNear(starts)
    }

    #[inline(always)]
    fn fetch_eight(&self, eight: &EightNear<N>, by: Fetch) {
        for starts in &eight.0 {
            for &start in starts {
                by.byte(self.lines.lines, start as usize);
            }
        }
    }

    #[inline(always)]
    fn of_eight<'a>(&'a self, eight: &'a EightNear<N>) -> impl LinesOfEight {
        for starts in &eight.0 {
            see_that_none_is_behind(self.lines.by.bytes - BYTES, starts);
        }
        EightNearby { lines: self.lines.lines, starts: &eight.0 }
    }
}

impl<const N: usize> LinesForMut for Stepping<NearbyLinesMut<'_>, N> {
    type Found = EightNear<N>;

    #[inline(always)]
    fn to_read(&self) -> impl LinesFor<Found = EightNear<N>> {
        Stepping { lines: self.lines.as_ref(), steps: self.steps }
    }

    #[inline(always)]
    fn of_eight<'a>(&'a mut self, eight: &'a EightNear<N>) -> impl LinesOfEightMut {
        for starts in &eight.0 {
            see_that_none_is_behind(self.lines.by.bytes - BYTES, starts);
        }
        EightNearbyMut { lines: self.lines.lines, starts: &eight.0 }
    }
}

/// `N` lines of eight numbers each, to read.
struct EightNearby<'a, const N: usize> {
    lines: &'a [Line],
    starts: &'a [[u64; EIGHT]; N],
}

impl<const N: usize> LinesOfEight for EightNearby<'_, N> {
    #[inline(always)]
    fn line(&self, key: usize, line: usize) -> &Line {
        // SAFETY: starts are multiples of a line's size, and at most that of the last line, as was seen when this was made.
        unsafe { &*self.lines.as_ptr().byte_add(self.starts[line][key] as usize) }
    }
}

/// As [`EightNearby`], to write.
struct EightNearbyMut<'a, const N: usize> {
    lines: &'a mut [Line],
    starts: &'a [[u64; EIGHT]; N],
}

impl<const N: usize> LinesOfEightMut for EightNearbyMut<'_, N> {
    #[inline(always)]
    fn line(&mut self, key: usize, line: usize) -> &mut Line {
        // SAFETY: as in `EightNearby::line`.
        unsafe { &mut *self.lines.as_mut_ptr().byte_add(self.starts[line][key] as usize) }
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
                for by in [0, 1, 63, 64, 127, 128, 1023 << 6, 1024 << 6, u64::MAX] {
                    let by_less = by / 64 % near(lines as u64);
                    let expected = (line + by_less as usize) % lines;
                    assert_eq!(nearby.beside(line as u64 * 64, by), expected as u64 * 64);
                }
            }
            assert_eq!((nearby.line(0), nearby.line(u64::MAX)), (0, (lines - 1) as u64 * 64));
        }
    }

    #[test]
    fn eight_lines_are_those_of_each_number() {
        for count in [1usize, 2, 3, 1023, 1025, 5000] {
            let mut memory = vec![Line::ZERO; count];
            let nearby = Nearby::new(count);
            for i in 0..100u64 {
                let numbers = core::array::from_fn(|j| {
                    (8 * i + j as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_sub(j as u64 / 7)
                });
                let lines = NearbyLines::new(&memory, nearby);
                let stepping = Stepping::<_, 3> { lines, steps: [48, 38] };
                let eight = stepping.eight(&numbers);
                for (j, &n) in numbers.iter().enumerate() {
                    let rest = nearby.rest(n);
                    for (line, by) in [None, Some(rest >> 48), Some(rest >> 38)].into_iter().enumerate() {
                        assert!(core::ptr::eq(stepping.of_eight(&eight).line(j, line), lines.line(n, by)));
                    }
                }
                let start = eight.of_the_first(3).0[2][7] as usize / 64;
                let lines = NearbyLinesMut::new(&mut memory, nearby);
                Stepping::<_, 3> { lines, steps: [48, 38] }.of_eight(&eight).line(0, 2).0[0] = i;
                assert_eq!(memory[start].0[0], i);
            }
        }
    }

    #[test]
    #[should_panic(expected = "inside this memory")]
    fn lines_of_a_larger_memory_are_refused() {
        let (large, small) = ([Line::ZERO; 5], [Line::ZERO; 4]);
        let of = |lines, count| Stepping::<_, 1> {
            lines: NearbyLines::new(lines, Nearby::new(count)),
            steps: [48, 38],
        };
        let eight = of(&large, 5).eight(&[0, 0, u64::MAX, 0, 0, 0, 0, 0]);
        of(&small, 4).of_eight(&eight);
    }

    #[test]
    fn lines_are_those_of_the_numbers() {
        let mut memory = vec![Line::ZERO; 1500];
        let (nearby, lines) = (Nearby::new(1500), NearbyLines::new(&memory, Nearby::new(1500)));
        for n in (0..1000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)) {
            let first = nearby.line(n);
            let expected = [first, nearby.beside(first, n), nearby.beside(first, n >> 10)];
            let got = lines.some::<3>(n, [None, Some(n), Some(n >> 10)]);
            let is = |line: &Line, at: u64| core::ptr::eq(line, &raw const memory[at as usize / 64]);
            assert!(got.iter().zip(expected).all(|(line, at)| at.is_multiple_of(64) && is(line, at)));
        }
        let at = nearby.beside(nearby.line(u64::MAX), 5 << 6) as usize / 64;
        NearbyLinesMut::new(&mut memory, nearby).line(u64::MAX, Some(5 << 6)).0[3] = 7;
        assert_eq!(memory[at].0[3], 7);
    }
}
