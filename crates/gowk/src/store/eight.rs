//! The blocks of eight keys: found together, and worked on some keys later.

use super::{
    Fetch, Line,
    non_empty::{Blocks, BlocksMut},
};
use crate::{
    range::{MOST_SHORT, scale_short},
    simd::EIGHT,
};

/// Lines of eight keys to read.
pub(crate) trait LinesOfEight {
    /// A line of a key.
    fn line(&self, key: usize, line: usize) -> &Line;
}

/// Lines of eight keys to write, one after the other, as two of them may be one.
pub(crate) trait LinesOfEightMut {
    /// A line of a key.
    fn line(&mut self, key: usize, line: usize) -> &mut Line;
}

/// A memory in which eight numbers name lines: found together, and read some keys later.
pub(crate) trait LinesFor {
    /// Where they begin.
    type Found: Copy + OfTheFirst;
    /// Finds them.
    fn eight(&self, numbers: &[u64; EIGHT]) -> Self::Found;
    /// Asks for all of them.
    fn fetch_eight(&self, found: &Self::Found, by: Fetch);
    /// The lines themselves.
    ///
    /// # Panics
    /// If they were found in a larger memory, and one of them is not there.
    fn of_eight<'a>(&'a self, found: &'a Self::Found) -> impl LinesOfEight;
}

/// As [`LinesFor`], to write.
pub(crate) trait LinesForMut {
    /// Where they begin.
    type Found: Copy + OfTheFirst;
    /// The same memory, to find lines in and to ask for them.
    fn to_read(&self) -> impl LinesFor<Found = Self::Found>;
    /// As of [`LinesFor`].
    fn of_eight<'a>(&'a mut self, found: &'a Self::Found) -> impl LinesOfEightMut;
}

/// What there is of eight numbers.
pub(crate) trait OfTheFirst {
    /// With that of the first number for all but so many.
    fn of_the_first(self, numbers: usize) -> Self;
}

/// Where the blocks of eight numbers begin, in bytes, so that an address is one addition away. Whole blocks lie between them.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Eight<const L: usize>([u64; EIGHT]);

impl<const L: usize> Eight<L> {
    /// # Panics
    /// If one of them begins behind the last of so many blocks, of which there is one at least.
    #[inline(always)]
    fn see_that_they_are_among(&self, blocks: usize) {
        see_that_none_is_behind(((blocks - 1) * L * Line::BYTES) as u64, &self.0);
    }
}

impl<const L: usize> OfTheFirst for Eight<L> {
    #[inline(always)]
    fn of_the_first(self, numbers: usize) -> Self {
        Self(of_the_first(self.0, numbers))
    }
}

/// The first word in place of all but so many.
#[inline(always)]
pub(crate) fn of_the_first(mut words: [u64; EIGHT], keys: usize) -> [u64; EIGHT] {
    for i in keys..EIGHT {
        words[i] = words[0];
    }
    words
}

/// # Panics
/// If one of these bytes lies behind the last that may be begun at.
#[inline(always)]
pub(super) fn see_that_none_is_behind(last: u64, starts: &[u64; EIGHT]) {
    let mut beyond = false;
    for &start in starts {
        beyond |= start > last;
    }
    assert!(!beyond, "inside this memory");
}

/// Whether every one of so many lines in blocks of `L` has a block whose number has 32 bits, so that eight can be looked for at once.
#[inline(always)]
pub(crate) fn are_short<const L: usize>(lines: usize) -> bool {
    (lines / L) as u64 <= MOST_SHORT
}

impl<const L: usize> LinesFor for Blocks<'_, L> {
    type Found = Eight<L>;

    /// Number n names block n B / 2^64 of B, as everywhere. The caller has asked whether they [are short](are_short).
    #[inline(always)]
    fn eight(&self, numbers: &[u64; EIGHT]) -> Eight<L> {
        // Of a number of 32 bits there are not more.
        let blocks = (self.blocks.len() as u64).min(MOST_SHORT);
        let mut starts = [0; EIGHT];
        for i in 0..EIGHT {
            starts[i] = scale_short(numbers[i], blocks) * (L * Line::BYTES) as u64;
        }
        Eight(starts)
    }

    #[inline(always)]
    fn fetch_eight(&self, eight: &Eight<L>, by: Fetch) {
        for &start in &eight.0 {
            for line in 0..L {
                by.byte(self.blocks.as_flattened(), start as usize + line * Line::BYTES);
            }
        }
    }

    #[inline(always)]
    fn of_eight<'a>(&'a self, eight: &'a Eight<L>) -> impl LinesOfEight {
        eight.see_that_they_are_among(self.blocks.len());
        EightBlocks { blocks: self.blocks, starts: &eight.0 }
    }
}

impl<const L: usize> LinesForMut for BlocksMut<'_, L> {
    type Found = Eight<L>;

    #[inline(always)]
    fn to_read(&self) -> impl LinesFor<Found = Eight<L>> {
        self.as_ref()
    }

    #[inline(always)]
    fn of_eight<'a>(&'a mut self, eight: &'a Eight<L>) -> impl LinesOfEightMut {
        eight.see_that_they_are_among(self.blocks.len());
        EightBlocksMut { blocks: self.blocks, starts: &eight.0 }
    }
}

/// Eight blocks to read.
#[derive(Clone, Copy)]
struct EightBlocks<'a, const L: usize> {
    blocks: &'a [[Line; L]],
    starts: &'a [u64; EIGHT],
}

impl<const L: usize> LinesOfEight for EightBlocks<'_, L> {
    #[inline(always)]
    fn line(&self, key: usize, line: usize) -> &Line {
        // SAFETY: starts are multiples of a block's size, and at most that of the last block, as was seen when this was made.
        let block = unsafe { &*self.blocks.as_ptr().byte_add(self.starts[key] as usize) };
        &block[line]
    }
}

/// Eight blocks to write.
struct EightBlocksMut<'a, const L: usize> {
    blocks: &'a mut [[Line; L]],
    starts: &'a [u64; EIGHT],
}

impl<const L: usize> LinesOfEightMut for EightBlocksMut<'_, L> {
    #[inline(always)]
    fn line(&mut self, key: usize, line: usize) -> &mut Line {
        // SAFETY: as in `EightBlocks::line`.
        let block = unsafe { &mut *self.blocks.as_mut_ptr().byte_add(self.starts[key] as usize) };
        &mut block[line]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn agree<const L: usize>(lines: usize, numbers: [u64; EIGHT]) -> Result<(), TestCaseError> {
        let mut memory = vec![Line::ZERO; lines];
        let blocks = Blocks::<L>::new(&memory, Fetch::SOON);
        let eight = blocks.eight(&numbers);
        for (i, &number) in numbers.iter().enumerate() {
            for line in 0..L {
                let expected = &raw const blocks.block(number)[line];
                prop_assert!(core::ptr::eq(blocks.of_eight(&eight).line(i, line), expected));
            }
        }
        let mut blocks = BlocksMut::<L>::new(&mut memory, Fetch::SOON);
        for (i, &number) in numbers.iter().enumerate() {
            let expected = &raw const blocks.block(number)[L - 1];
            prop_assert!(core::ptr::eq(blocks.of_eight(&eight).line(i, L - 1), expected));
            let first = &raw const blocks.block(numbers[0])[0];
            let eight = blocks.as_ref().eight(&numbers).of_the_first(i);
            prop_assert!(i == 0 || core::ptr::eq(blocks.of_eight(&eight).line(i, 0), first));
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn eight_blocks_are_those_of_each_number(lines in 2usize..2000, mut numbers: [u64; EIGHT]) {
            numbers[6..].copy_from_slice(&[0, u64::MAX]);
            agree::<1>(lines, numbers)?;
            agree::<2>(lines, numbers)?;
        }
    }

    #[test]
    #[should_panic(expected = "inside this memory")]
    fn blocks_of_a_larger_memory_are_refused() {
        let (large, small) = ([Line::ZERO; 5], [Line::ZERO; 4]);
        let eight = Blocks::<1>::new(&large, Fetch::SOON).eight(&[0, 0, 0, u64::MAX, 0, 0, 0, 0]);
        Blocks::<1>::new(&small, Fetch::SOON).of_eight(&eight);
    }
}
