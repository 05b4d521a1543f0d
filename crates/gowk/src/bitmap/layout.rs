//! Where the field of an id lies: which ids, how many to a line, counted from where. Pure; knows no memory.

use crate::{
    error::{OutOfRange, ParamsError},
    store::{Line, addressable},
};
use core::ops::Range;

/// The ids from `start` up to `end`, which is not one of them, with a field of `1 << SHIFT` bits for each.
///
/// Fields are laid as if the ids began at 0 and the lines before the first one in use were left out. So an id has the same
/// place in its line whatever the range is, and two maps of different ranges are combined line by line, without shifts. It
/// costs at most one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fields<const SHIFT: u32> {
    start: u64,
    end: u64,
}

impl<const SHIFT: u32> Fields<SHIFT> {
    /// How many ids share a word.
    pub(super) const PER_WORD: u64 = 64 >> SHIFT;
    /// How many ids share a line.
    pub(super) const PER_LINE: u64 = Line::BITS >> SHIFT;

    /// A field for each id of the range, which must have one and fit into the address space.
    pub(super) fn new(range: Range<u64>) -> Result<Self, ParamsError> {
        let fields = Self { start: range.start, end: range.end };
        if range.is_empty() {
            return Err(ParamsError::NoItems);
        }
        addressable(fields.lines()).map(|_| fields)
    }

    /// The ids.
    pub(super) fn range(self) -> Range<u64> {
        self.start..self.end
    }

    /// How many ids there are.
    pub(super) fn ids(self) -> u64 {
        self.end - self.start
    }

    /// The number of the first line, if line 0 begins with id 0.
    #[inline(always)]
    pub(super) fn first_line(self) -> u64 {
        self.start / Self::PER_LINE
    }

    /// How many lines there are.
    pub(super) fn lines(self) -> u64 {
        (self.end - 1) / Self::PER_LINE - self.first_line() + 1
    }

    /// The id of the first field of the first line; it may lie before the range.
    pub(super) fn origin(self) -> u64 {
        self.first_line() * Self::PER_LINE
    }

    /// The word of an id. For an id outside the range it is a word outside the map, or one of the fields that are
    /// always zero in the first and in the last line: a reader needs no other check than that of the word.
    #[inline(always)]
    pub(super) fn word(self, id: u64) -> usize {
        let word = (id / Self::PER_WORD).wrapping_sub(self.first_line() * (Self::PER_LINE / Self::PER_WORD));
        usize::try_from(word).unwrap_or(usize::MAX)
    }

    /// The lowest bit of an id's field in its word.
    #[inline(always)]
    pub(super) fn bit(id: u64) -> u32 {
        ((id % Self::PER_WORD) as u32) << SHIFT
    }

    /// The id, if it is one of the range.
    #[inline(always)]
    pub(super) fn check(self, id: u64) -> Result<u64, OutOfRange> {
        let Self { start, end } = self;
        if id.wrapping_sub(start) < end - start { Ok(id) } else { Err(OutOfRange { id, start, end }) }
    }

    /// All of the ids, if they are of the range; else the first that is not. A pass of its own, so that a bulk call does all
    /// of its work or none.
    pub(super) fn check_all<T: Copy + Into<u64>>(self, ids: &[T]) -> Result<(), OutOfRange> {
        let outside = ids
            .iter()
            .fold(false, |any, &id| any | (id.into().wrapping_sub(self.start) >= self.end - self.start));
        if outside { ids.iter().try_for_each(|&id| self.check(id.into()).map(|_| ())) } else { Ok(()) }
    }

    /// The part of a range that lies inside.
    pub(super) fn clip(self, range: Range<u64>) -> Range<u64> {
        let start = range.start.max(self.start);
        start..range.end.min(self.end).max(start)
    }

    /// Whether the fields of the first and the last line that are outside the range are zero.
    pub(super) fn edges_are_clear(self, words: &[u64]) -> bool {
        let (Some(first), Some(last)) = (words.first_chunk::<8>(), words.last_chunk::<8>()) else {
            return false;
        };
        let clear = |line: &[u64; 8], origin: u64, outside: &dyn Fn(u64) -> bool| {
            (0..Self::PER_LINE).all(|i| {
                let field = line[(i / Self::PER_WORD) as usize] >> Self::bit(i) & ((1 << (1 << SHIFT)) - 1);
                field == 0 || !outside(origin + i)
            })
        };
        let last_origin = (self.end - 1) / Self::PER_LINE * Self::PER_LINE;
        clear(first, self.origin(), &|id| id < self.start) && clear(last, last_origin, &|id| id >= self.end)
    }
}

/// The ids of the fields that `pick` leaves a bit of, in ascending order.
#[derive(Clone, Debug)]
pub(super) struct Picked<'a, const SHIFT: u32, P> {
    words: core::slice::Iter<'a, u64>,
    pick: P,
    left: u64,
    origin: u64,
    end: u64,
}

impl<'a, const SHIFT: u32, P: Fn(u64) -> u64> Picked<'a, SHIFT, P> {
    /// Of the ids in `range`, which lies inside the fields.
    pub(super) fn new(fields: Fields<SHIFT>, words: &'a [u64], range: &Range<u64>, pick: P) -> Self {
        let per_word = Fields::<SHIFT>::PER_WORD;
        let origin = range.start / per_word * per_word;
        let mut words = words.get(fields.word(range.start)..).unwrap_or_default().iter();
        let first = if range.is_empty() { 0 } else { words.next().copied().unwrap_or(0) };
        let left = pick(first) >> Fields::<SHIFT>::bit(range.start) << Fields::<SHIFT>::bit(range.start);
        Self { words, pick, left, origin, end: range.end }
    }
}

impl<const SHIFT: u32, P: Fn(u64) -> u64> Iterator for Picked<'_, SHIFT, P> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        while self.left == 0 {
            // Written so that a range which ends at the last u64 does not overflow, and so that a further call ends as well.
            if self.end.saturating_sub(self.origin) <= Fields::<SHIFT>::PER_WORD {
                return None;
            }
            self.origin += Fields::<SHIFT>::PER_WORD;
            self.left = (self.pick)(*self.words.next()?);
        }
        let id = self.origin + u64::from(self.left.trailing_zeros() >> SHIFT);
        self.left &= self.left - 1;
        if id < self.end {
            Some(id)
        } else {
            self.left = 0;
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_takes_the_lines_it_touches() {
        let lines = |range| Fields::<0>::new(range).map(Fields::lines);
        assert_eq!(lines(0..1), Ok(1));
        assert_eq!(lines(0..512), Ok(1));
        assert_eq!(lines(0..513), Ok(2));
        assert_eq!(lines(511..513), Ok(2));
        assert_eq!(lines(5_000_000_000..5_000_000_001), Ok(1));
        assert_eq!(lines(0..100_000_000), Ok(195_313)); // 12.5 MB
        assert_eq!(Fields::<1>::new(0..1 << 32).map(Fields::lines), Ok(1 << 24)); // 1 GiB
    }

    #[test]
    fn an_empty_range_and_one_too_large_are_refused() {
        assert_eq!(Fields::<0>::new(7..7), Err(ParamsError::NoItems));
        assert_eq!(Fields::<1>::new(Range { start: 7, end: 3 }), Err(ParamsError::NoItems));
        #[cfg(target_pointer_width = "32")]
        assert!(matches!(Fields::<0>::new(0..u64::MAX), Err(ParamsError::TooLarge { .. })));
    }

    #[test]
    fn ids_outside_are_named() {
        let fields = Fields::<0>::new(10..20).unwrap();
        assert_eq!(fields.check(10), Ok(10));
        assert_eq!(fields.check(19), Ok(19));
        for id in [9, 20, 0, u64::MAX] {
            assert_eq!(fields.check(id), Err(OutOfRange { id, start: 10, end: 20 }));
        }
        assert_eq!(fields.check_all(&[12u32, 30, 40]), Err(OutOfRange { id: 30, start: 10, end: 20 }));
        assert_eq!(fields.check_all(&[12u32, 13]), Ok(()));
    }
}
