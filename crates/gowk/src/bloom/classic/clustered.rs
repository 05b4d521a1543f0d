//! From a digest to lines near each other, and a word that chooses bits in them: gowk's own schemes. Pure; knows no memory.
//!
//! k bits anywhere are k cache misses, and no fetching ahead hides that a core can only ask for so many lines in a
//! nanosecond. So a key's bits come by threes and fours: up to ten of them are one *round*, which shares a word and up to three lines.
//!
//! ```text
//! 7 bits:   line A . . # # . # . # . .      line B . # . . . # # .
//! 10 bits:  line A . . # # . # . # . .      line B . # . . . # # .      line C . # # . # . . .
//! ```
//!
//! Bits that share a line make lines differ in how full they are, which costs a little rate. The lanes are chosen for it to be
//! the least: two lanes that a key uses together are as often as can be a different distance apart than any other two, so
//! that few keys of a line agree in both. 3.4 % of the rate is left at seven bits and 4.6 % at ten, that is half a percent of the
//! space, where one line for all seven costs 4 %. [`excess`] says how much it is. Twos and threes, as the schemes before had them, cost a
//! third of that, and one line more.
//!
//! The lines lie near each other ([`Nearby`]), which makes them quick to find.

use super::layout::Scheme;
use crate::{
    bloom::blocked::line_fpp,
    hash::Digest,
    simd::{Shares, Windows, portable},
    store::{Line, Nearby, near},
};
use libm::{exp, expm1, pow};

/// The most lines of a round.
pub(super) const LINES: usize = 3;

/// The lanes that a line uses, as a set of bits, for each line of a round; all rotated alike.
type Pattern = [u8; LINES];

/// Of rounds of 1 to 3 lanes in one line. Part of the file format.
const IN_ONE: [Pattern; 3] = [[0b0000_0001, 0, 0], [0b0000_0011, 0, 0], [0b0000_1011, 0, 0]];

/// Of rounds of 1 to 7 lanes in two lines. Part of the file format.
const IN_TWO: [Pattern; 7] = [
    [0b0000_0001, 0, 0],
    [0b0000_0001, 0b0000_0010, 0],
    [0b0000_0011, 0b0000_0100, 0],
    [0b0000_0011, 0b0001_0100, 0],
    [0b0000_1011, 0b0100_0100, 0],
    [0b0000_1011, 0b0110_0100, 0],
    [0b0001_0111, 0b0110_1000, 0],
];

/// Of rounds of 1 to 10 lanes in three lines. Part of the file format.
const IN_THREE: [Pattern; 10] = [
    [0b0000_0001, 0, 0],
    [0b0000_0001, 0b0000_0010, 0],
    [0b0000_0001, 0b0000_0010, 0b0000_0100],
    [0b0000_0011, 0b0000_0100, 0b0000_1000],
    [0b0000_0011, 0b0001_0100, 0b0000_1000],
    [0b0000_0011, 0b0001_0100, 0b0100_1000],
    [0b0000_1011, 0b0100_0100, 0b0011_0000],
    [0b0000_1011, 0b1011_0000, 0b0100_0100],
    // A line has eight lanes: the third has some of those that the others have.
    [0b1100_0001, 0b0011_0010, 0b0100_1001],
    [0b1100_1001, 0b0011_0100, 0b0101_0001],
];

/// How a round of so many lanes shares its lines.
fn pattern(lines: usize, lanes: u32) -> Pattern {
    let patterns: &[Pattern] = match lines {
        1 => &IN_ONE,
        2 => &IN_TWO,
        _ => &IN_THREE,
    };
    patterns[lanes as usize - 1]
}

/// The same as windows.
#[inline(always)]
pub(crate) fn shares(lines: usize, lanes: u32) -> &'static Shares {
    static ONE: [Shares; IN_ONE.len()] = windows_of(IN_ONE);
    static TWO: [Shares; IN_TWO.len()] = windows_of(IN_TWO);
    static THREE: [Shares; IN_THREE.len()] = windows_of(IN_THREE);
    let shares: &[Shares] = match lines {
        1 => &ONE,
        2 => &TWO,
        _ => &THREE,
    };
    &shares[lanes as usize - 1]
}

const fn windows_of<const COUNT: usize>(patterns: [Pattern; COUNT]) -> [Shares; COUNT] {
    let mut all = [Shares {
        each: [Windows::EMPTY; LINES],
        all: Windows::EMPTY,
        masks: [Windows::EMPTY; LINES - 1],
        apart: false,
    }; COUNT];
    let mut i = 0;
    while i < COUNT * LINES * 8 * 8 {
        let (lanes, line, start, lane) = (i / (LINES * 64), i / 64 % LINES, i / 8 % 8, i % 8);
        let [first, second, third] = patterns[lanes];
        let apart = (first | second) & third != 0;
        let used = (patterns[lanes][line].rotate_left(start as u32) >> lane) as u32 & 1;
        all[lanes].each[line].0[start].0[lane] = used;
        all[lanes].apart = apart;
        if !apart || line < LINES - 1 {
            all[lanes].all.0[start].0[lane] |= used;
        }
        if line > 0 {
            all[lanes].masks[line - 1].0[start].0[lane] = used.wrapping_neg();
        }
        i += 1;
    }
    all
}

/// How the probes of a key are dealt out to rounds: as evenly as can be, the longer ones first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounds {
    pub(super) count: u32,
    /// Of each round.
    pub(super) lines: usize,
    longer: u32,
    lanes: u32,
    /// Whether what `h1` has left over counts on to the lines of the first round, as [`Scheme::Fewest`] has it, or `h2`, as before.
    pub(super) by_rest: bool,
    /// Of the first two rounds, at hand.
    pub(super) shares: [&'static Shares; 2],
}

impl Rounds {
    pub(super) fn new(scheme: Scheme, probes: u32) -> Self {
        let count = match scheme {
            Scheme::Fewest if probes as usize <= IN_THREE.len() => 1,
            _ => probes.div_ceil(8).max(1),
        };
        let (lanes, longer) = (probes / count, probes % count);
        let lines = match (scheme, probes.div_ceil(count)) {
            // No more than seven bits in two lines. But of many rounds the excess is that of all of them, squared.
            (Scheme::Fewest, longest) if count <= 2 => (2 * longest).div_ceil(7) as usize,
            (Scheme::Paired, ..=5) => 2,
            _ => LINES,
        };
        let of = |round: u32| shares(lines, lanes + u32::from(round < longer));
        Self { count, lines, longer, lanes, by_rest: scheme == Scheme::Fewest, shares: [of(0), of(1)] }
    }

    /// How many lines all rounds have.
    #[inline(always)]
    pub(super) fn all_lines(self) -> usize {
        self.count as usize * self.lines
    }

    /// How many lanes a round has.
    #[inline(always)]
    fn lanes(self, round: u32) -> u32 {
        self.lanes + u32::from(round < self.longer)
    }

    /// What a digest says of the first round, among these lines.
    #[inline(always)]
    pub(super) fn first(self, digest: Digest, nearby: Nearby) -> Mark {
        Mark::first(digest, if self.by_rest { nearby.rest(digest.h1) } else { digest.h2 })
    }

    /// The windows of a round.
    #[inline(always)]
    pub(super) fn shares(self, round: u32) -> &'static Shares {
        shares(self.lines, self.lanes(round))
    }
}

impl Rounds {
    /// The chance that a key that is in none of these lines is covered by those that it draws. Each line is drawn alike, and
    /// for each of a round's lines by itself.
    pub(super) fn measured_fpp(self, lines: &[Line]) -> f64 {
        let mean = |windows: &Windows| {
            lines.iter().map(|line| line_fpp(line, windows)).sum::<f64>() / lines.len() as f64
        };
        let of = |round: u32| self.shares(round).each[..self.lines].iter().map(mean).product::<f64>();
        let power = |round: u32, times: u32| if times == 0 { 1.0 } else { pow(of(round), times.into()) };
        power(0, self.longer) * power(self.longer, self.count - self.longer)
    }
}

/// What a digest says of a round: the word, and what counts on to each line from the one that `h1` names, in 64ths of a line; nothing does
/// where it is that one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) word: u32,
    pub(super) by: [Option<u64>; LINES],
}

impl Mark {
    /// How far what counts on is shifted, to the second line and to the third.
    pub(super) const STEPS: [u32; 2] = [48, 38];

    /// Of the first round, which most keys have only.
    #[inline(always)]
    fn first(digest: Digest, steps: u64) -> Self {
        let [second, third] = Self::STEPS;
        Self { word: digest.h1 as u32, by: [None, Some(steps >> second), Some(steps >> third)] }
    }

    /// Of a round behind it. Of its product the top three times ten bits name lines, and 32 below them are the word.
    #[inline(always)]
    fn other(product: u64) -> Self {
        Self {
            word: (product >> 2) as u32,
            by: [Some(product >> 28), Some(product >> 48), Some(product >> 38)],
        }
    }

    /// Of the first `R` rounds of [`Scheme::Fewest`].
    #[inline(always)]
    pub(super) fn all<const R: usize>(digest: Digest, nearby: Nearby) -> [Self; R] {
        let mut marks = [Self::first(digest, nearby.rest(digest.h1)); R];
        let mut product = digest.h2;
        for mark in &mut marks[1..] {
            product = product.wrapping_mul(Digest::SPREAD);
            *mark = Self::other(product);
        }
        marks
    }
}

/// The marks of a key behind the first.
#[inline(always)]
pub(super) fn other_marks(digest: Digest, rounds: Rounds) -> OtherMarks {
    OtherMarks { product: digest.h2, left: rounds.count - 1 }
}

/// See [`other_marks`].
pub(super) struct OtherMarks {
    product: u64,
    left: u32,
}

impl Iterator for OtherMarks {
    type Item = Mark;

    #[inline(always)]
    fn next(&mut self) -> Option<Mark> {
        self.left = self.left.checked_sub(1)?;
        self.product = self.product.wrapping_mul(Digest::SPREAD);
        Some(Mark::other(self.product))
    }
}

/// For each round of a key its mark, and where its lines begin, in bytes.
fn all_rounds(nearby: Nearby, digest: Digest, rounds: Rounds) -> impl Iterator<Item = (Mark, [u64; LINES])> {
    let marks = core::iter::once(rounds.first(digest, nearby)).chain(other_marks(digest, rounds));
    marks.map(move |mark| (mark, mark.by.map(|by| nearby.from(digest.h1, by))))
}

/// The position of probe number `probe` of a key among all bits of a filter.
pub(super) fn position(digest: Digest, lines: u64, rounds: Rounds, probe: u32) -> u64 {
    let mut left = probe;
    for (number, (mark, starts)) in (0..).zip(all_rounds(Nearby::new(lines as usize), digest, rounds)) {
        for (start, windows) in starts.into_iter().zip(&rounds.shares(number).each) {
            let mask = portable::mask(mark.word, windows);
            for bit in (0..Line::BITS).filter(|bit| mask.0[(bit / 64) as usize] >> (bit % 64) & 1 == 1) {
                if left == 0 {
                    return start * 8 + bit;
                }
                left -= 1;
            }
        }
    }
    unreachable!("a key has as many bits as probes")
}

/// By how much of itself the rate is higher than with bits anywhere, at `x` bits for each bit of the filter.
///
/// The chance that two bits of a stranger are both set is the square of the fill, and the covariance of the fills of their
/// two lanes, which comes of keys that use both: so sum over all pairs of a stranger's bits the expected number of such
/// keys. Pairs in one line meet keys whose round has lanes that far apart, pairs in two lines meet keys that have drawn the
/// same two lines.
pub(super) fn excess(items: f64, lines: f64, rounds: Rounds, x: f64) -> f64 {
    let mut apart = [0.0; 5];
    let mut within = 0.0;
    for round in 0..rounds.count {
        for pattern in pattern(rounds.lines, rounds.lanes(round)) {
            for lane in 0..8 {
                for other in lane + 1..8 {
                    if pattern >> lane & pattern >> other & 1 == 1 {
                        apart[(other - lane).min(8 - (other - lane))] += 1.0;
                        within += 1.0;
                    }
                }
            }
        }
    }
    let k = f64::from(rounds.lanes * rounds.count + rounds.longer);
    let pairs = k * (k - 1.0) / 2.0;
    // Of eight rotations one brings a pair to a given place; two, if it lies opposite itself.
    let same = (apart.iter().map(|n| n * n).sum::<f64>() + apart[4] * apart[4]) / 8.0;
    let two = (pairs - within) * (pairs - within) / 64.0 / near(lines as u64) as f64;
    let chance = pairs * k * k / 64.0 / lines;
    let keys = items / lines * (same + two - chance);
    let slope = exp(-x) / (64.0 * -expm1(-x));
    slope * slope * keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn lanes_of_a_round_are_its_own_and_as_many_as_asked() {
        for (lanes, patterns) in (1..).zip(IN_THREE).chain((1..).zip(IN_TWO)).chain((1..).zip(IN_ONE)) {
            let [first, second, third] = patterns;
            assert_eq!(patterns.iter().map(|pattern| pattern.count_ones()).sum::<u32>(), lanes);
            assert_eq!(first & second, 0);
            assert_eq!((first | second) & third != 0, lanes > 8);
        }
    }

    #[test]
    fn probes_are_dealt_out_without_remainder() {
        for (probes, scheme) in
            (1..=64).flat_map(|k| [Scheme::Clustered, Scheme::Paired, Scheme::Fewest].map(|s| (k, s)))
        {
            let rounds = Rounds::new(scheme, probes);
            let lines = match (scheme, probes) {
                (Scheme::Fewest, 1..=3) => 1,
                (Scheme::Fewest, 4..=7 | 11..=14) | (Scheme::Paired, 1..=5 | 9..=10) => 2,
                _ => 3,
            };
            assert_eq!(rounds.lines, lines, "{scheme:?}, {probes} probes");
            let lanes: Vec<u32> = (0..rounds.count).map(|round| rounds.lanes(round)).collect();
            assert_eq!(lanes.iter().sum::<u32>(), probes);
            let most = if scheme == Scheme::Fewest && rounds.count == 1 { 10 } else { 8 };
            assert!(lanes.iter().all(|lanes| (1..=most).contains(lanes)), "{lanes:?}");
        }
    }

    #[test]
    fn lines_stay_inside_and_reach_both_ends() {
        for lines in [1usize, 2, 3, 1023, 1024, 1025, 1 << 33] {
            let nearby = Nearby::new(lines);
            let mut seen = HashSet::new();
            for h1 in [0, 1, u64::MAX, u64::MAX - 1, 1 << 63] {
                for h2 in [0, u64::MAX, 1 << 54, 1 << 44, 0x0123_4567_89ab_cdef] {
                    let digest = Digest { h1, h2 };
                    seen.extend(
                        all_rounds(nearby, digest, Rounds::new(Scheme::Fewest, 64))
                            .flat_map(|(_, starts)| starts),
                    );
                }
            }
            let last = 64 * (lines as u64 - 1);
            assert!(seen.iter().all(|start| *start <= last && start % 64 == 0), "{lines} lines");
            assert!(seen.contains(&0) && seen.contains(&last), "{lines} lines");
        }
    }
}
