//! Lines of which there is at least one, so that a number can name one of them without a question.
//!
//! Number n names line n L / 2^64 of L: all alike often, and always one that is there, as n < 2^64. Only with no lines at
//! all is there none to name; that is seen to once, and each lookup is three instructions shorter.

use super::{Fetch, Heap, Line, Store, StoreMut};
use crate::simd::Bmi2;

use core::marker::PhantomData;

#[inline(always)]
fn spread(n: u64, over: usize) -> usize {
    ((u128::from(n) * over as u128) >> 64) as usize
}

/// One of the lines of a store, as how many bytes it lies behind the first: an address in two parts, which a processor adds up while
/// it reads.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    first: *const Line,
    byte: u64,
    lines: PhantomData<&'a [Line]>,
}

impl Place<'_> {
    /// Where the first line is, and how many bytes behind it this one, which is there to be read.
    #[inline(always)]
    pub(crate) fn parts(self) -> (*const Line, u64) {
        (self.first, self.byte)
    }
}

/// As [`Place`], to write.
pub(crate) struct PlaceMut<'a> {
    first: *mut Line,
    byte: u64,
    lines: PhantomData<&'a mut [Line]>,
}

impl PlaceMut<'_> {
    /// Where the first line is, and how many bytes behind it this one, which is there to be written.
    #[inline(always)]
    pub(crate) fn parts(self) -> (*mut Line, u64) {
        (self.first, self.byte)
    }
}

/// A store with at least one line.
#[derive(Clone, Debug)]
pub(crate) struct NonEmpty<S>(S);

impl<S: Store> NonEmpty<S> {
    /// # Panics
    /// If it has none.
    pub(crate) fn new(store: S) -> Self {
        assert!(!store.lines().is_empty(), "at least one line");
        Self(store)
    }

    #[inline(always)]
    pub(crate) fn lines(&self) -> &[Line] {
        self.0.lines()
    }

    /// The line that a number names, as its place.
    #[inline(always)]
    pub(crate) fn place(&self, n: u64, by: Bmi2) -> Place<'_> {
        let lines = self.0.lines();
        // As in `spread`, so that it is below the number of lines, which is not 0.
        let (_, at) = by.widening_mul(n, lines.len() as u64);
        Place { first: lines.as_ptr(), byte: at * Line::BYTES as u64, lines: PhantomData }
    }

    /// The two lines of the block that a number names, as their places, if there are two lines.
    #[inline(always)]
    pub(crate) fn pair(&self, n: u64, by: Bmi2) -> Option<[Place<'_>; 2]> {
        let (blocks, _) = self.0.lines().as_chunks::<2>();
        if blocks.is_empty() {
            return None;
        }
        // As in `place`: below the number of blocks, so that both of its lines are there.
        let (_, at) = by.widening_mul(n, blocks.len() as u64);
        let (first, byte) = (blocks.as_ptr().cast(), at * 2 * Line::BYTES as u64);
        Some([byte, byte + Line::BYTES as u64].map(|byte| Place { first, byte, lines: PhantomData }))
    }

    pub(crate) fn into_inner(self) -> S {
        self.0
    }
}

impl<S: StoreMut> NonEmpty<S> {
    #[inline(always)]
    pub(crate) fn lines_mut(&mut self) -> &mut [Line] {
        self.0.lines_mut()
    }

    /// As [`place`](Self::place), to write.
    #[inline(always)]
    pub(crate) fn place_mut(&mut self, n: u64, by: Bmi2) -> PlaceMut<'_> {
        let lines = self.0.lines_mut();
        let (_, at) = by.widening_mul(n, lines.len() as u64);
        PlaceMut { first: lines.as_mut_ptr(), byte: at * Line::BYTES as u64, lines: PhantomData }
    }

    /// As [`pair`](Self::pair), to write: two lines, each its own.
    #[inline(always)]
    pub(crate) fn pair_mut(&mut self, n: u64, by: Bmi2) -> Option<[PlaceMut<'_>; 2]> {
        let (blocks, _) = self.0.lines_mut().as_chunks_mut::<2>();
        if blocks.is_empty() {
            return None;
        }
        let (_, at) = by.widening_mul(n, blocks.len() as u64);
        let (first, byte) = (blocks.as_mut_ptr().cast(), at * 2 * Line::BYTES as u64);
        Some([byte, byte + Line::BYTES as u64].map(|byte| PlaceMut { first, byte, lines: PhantomData }))
    }
}

impl NonEmpty<Heap> {
    /// Keeps the first `lines` lines and gives the rest back.
    ///
    /// # Panics
    /// If none is to be kept.
    pub(crate) fn truncate(&mut self, lines: usize) {
        assert!(lines > 0, "at least one line");
        self.0.truncate(lines);
    }
}

/// Blocks of `L` lines, at least one block.
#[derive(Clone, Copy)]
pub(crate) struct Blocks<'a, const L: usize> {
    pub(super) blocks: &'a [[Line; L]],
    fetch: Fetch,
}

impl<'a, const L: usize> Blocks<'a, L> {
    /// # Panics
    /// If there are fewer than `L` lines.
    #[inline(always)]
    pub(crate) fn new(lines: &'a [Line], fetch: Fetch) -> Self {
        let (blocks, _) = lines.as_chunks();
        assert!(!blocks.is_empty(), "at least one block");
        Self { blocks, fetch }
    }

    /// The block that a number names.
    #[inline(always)]
    pub(crate) fn block(self, n: u64) -> &'a [Line; L] {
        // SAFETY: as in `NonEmpty::block`; `new` saw that there is a block.
        unsafe { self.blocks.get_unchecked(spread(n, self.blocks.len())) }
    }

    /// The block that a number names, its lines on their way.
    #[inline(always)]
    pub(crate) fn fetch(self, n: u64) -> &'a [Line; L] {
        let block = self.block(n);
        self.fetch.block(block);
        block
    }
}

/// As [`Blocks`], to write.
pub(crate) struct BlocksMut<'a, const L: usize> {
    pub(super) blocks: &'a mut [[Line; L]],
    fetch: Fetch,
}

impl<'a, const L: usize> BlocksMut<'a, L> {
    /// # Panics
    /// If there are fewer than `L` lines.
    #[inline(always)]
    pub(crate) fn new(lines: &'a mut [Line], fetch: Fetch) -> Self {
        let (blocks, _) = lines.as_chunks_mut();
        assert!(!blocks.is_empty(), "at least one block");
        Self { blocks, fetch }
    }

    /// The block that a number names.
    #[inline(always)]
    pub(crate) fn block(&mut self, n: u64) -> &mut [Line; L] {
        let at = spread(n, self.blocks.len());
        // SAFETY: as in `NonEmpty::block`; `new` saw that there is a block.
        unsafe { self.blocks.get_unchecked_mut(at) }
    }

    /// Asks for the lines of the block that a number names.
    #[inline(always)]
    pub(crate) fn prefetch(&self, n: u64) {
        self.as_ref().fetch(n);
    }

    /// To read.
    #[inline(always)]
    pub(crate) fn as_ref(&self) -> Blocks<'_, L> {
        Blocks { blocks: self.blocks, fetch: self.fetch }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Isa;

    const GREATEST: u64 = u64::MAX;

    #[test]
    fn the_least_and_the_greatest_number_name_the_first_and_the_last_block() {
        fn check<const L: usize>(count: u64, last: usize) {
            let mut store = NonEmpty::new(Heap::zeroed(count).unwrap());
            let blocks = Blocks::<L>::new(store.lines(), Fetch::SOON);
            assert!(core::ptr::eq(blocks.block(0), store.lines().as_ptr().cast()));
            assert!(core::ptr::eq(blocks.fetch(GREATEST), (&raw const store.lines()[last]).cast()));
            let mut blocks = BlocksMut::<L>::new(store.lines_mut(), Fetch::SOON);
            blocks.prefetch(GREATEST);
            blocks.block(GREATEST)[L - 1].0[1] = 9;
            assert_eq!(store.lines()[last + L - 1].0[1], 9);
        }
        for (count, last) in [(1, 0), (2, 1), (3, 2), (100, 99)] {
            check::<1>(count, last);
        }
        for (count, last) in [(2, 0), (3, 0), (4, 2), (101, 98)] {
            check::<2>(count, last);
        }
    }

    /// The places that assembly works on are the blocks that others see.
    #[test]
    fn places_are_where_blocks_are() {
        let Some(by) = Isa::best().bmi2() else { return };
        let mut store = NonEmpty::new(Heap::zeroed(101).unwrap());
        let first = store.lines().as_ptr();
        for n in
            [0, 1, GREATEST / 101, GREATEST / 101 + 1, GREATEST / 3, GREATEST / 2 + 1, GREATEST - 1, GREATEST]
        {
            let byte = |line: *const Line| line.addr() - first.addr();
            let line = byte(Blocks::<1>::new(store.lines(), Fetch::SOON).block(n).as_ptr()) as u64;
            let pair = byte(Blocks::<2>::new(store.lines(), Fetch::SOON).block(n).as_ptr()) as u64;
            assert_eq!(store.place(n, by).parts(), (first, line));
            assert_eq!(store.place_mut(n, by).parts(), (first.cast_mut(), line));
            assert_eq!(store.pair(n, by).unwrap().map(Place::parts), [(first, pair), (first, pair + 64)]);
            let both = [(first.cast_mut(), pair), (first.cast_mut(), pair + 64)];
            assert_eq!(store.pair_mut(n, by).unwrap().map(PlaceMut::parts), both);
        }
    }

    #[test]
    #[should_panic(expected = "at least one block")]
    fn half_a_pair_is_none() {
        Blocks::<2>::new(Heap::zeroed(1).unwrap().lines(), Fetch::SOON);
    }

    #[test]
    fn of_one_line_there_is_no_pair() {
        let mut store = NonEmpty::new(Heap::zeroed(1).unwrap());
        if let Some(by) = Isa::best().bmi2() {
            assert!(store.pair(u64::MAX, by).is_none() && store.pair_mut(0, by).is_none());
        }
    }

    #[test]
    #[should_panic(expected = "at least one line")]
    fn no_lines_are_refused() {
        NonEmpty::new(Heap::zeroed(0).unwrap());
    }
}
