//! One bit for each id of a range.

use super::{
    layout::{Fields, Picked},
    ranks::Ranks,
    set::{IntegerSet, IntegerSetMut},
};
use crate::{
    bulk::{Ahead, pipeline},
    error::{OutOfRange, ParamsError},
    simd::{Isa, Machine, Task},
    store::{Heap, Line, Store, StoreMut, prefetch, words, words_mut},
};
use core::{cell::RefCell, fmt, ops::Range};

/// A flat bitmap: one bit for each id of a range, whether it is in the set or not.
///
/// The set for ids that lie close: check-ins, answered questions, allocated numbers. A read is one load and a shift, at any
/// filling. See [the module page](crate::bitmap) for when Roaring takes less, and [`IdSet`](crate::IdSet) for the choice
/// between the two.
#[derive(Clone)]
pub struct Bitmap<S = Heap> {
    pub(super) fields: Fields<0>,
    pub(super) store: S,
}

impl Bitmap {
    /// An empty set of ids from `range`.
    pub fn new(range: Range<u64>) -> Result<Self, ParamsError> {
        let fields = Fields::new(range)?;
        Ok(Self { fields, store: Heap::zeroed(fields.lines())? })
    }
}

impl<S: Store> Bitmap<S> {
    /// The bits.
    pub fn lines(&self) -> &[Line] {
        self.store.lines()
    }

    #[inline(always)]
    pub(super) fn words(&self) -> &[u64] {
        words(self.store.lines())
    }

    /// The same set in memory of its own, ready for changes.
    pub fn to_heap(&self) -> Result<Bitmap, ParamsError> {
        Ok(Bitmap { fields: self.fields, store: Heap::copy_of(self.lines())? })
    }

    /// The ids of this range that are in the set, in ascending order.
    pub fn iter_in(&self, range: Range<u64>) -> impl Iterator<Item = u64> + '_ {
        Picked::new(self.fields, self.words(), &self.fields.clip(range), |word| word)
    }

    /// Counts the bits once, so that [`rank`](Ranks::rank) and [`select`](Ranks::select) take a constant time from then on.
    pub fn ranks(&self) -> Ranks<'_, S> {
        Ranks::new(self)
    }
}

impl<S: Store> IntegerSet for Bitmap<S> {
    fn range(&self) -> Range<u64> {
        self.fields.range()
    }

    #[inline(always)]
    fn contains(&self, id: u64) -> bool {
        self.words().get(self.fields.word(id)).is_some_and(|word| word >> (id % 64) & 1 == 1)
    }

    /// A plain loop: a read is so short that the processor has dozens of them in flight by itself. The ring of prefetches that
    /// serves the filters takes 2.7 ns an id where this takes 0.8, and is no faster at 128 MiB.
    fn contains_many_into<T: Copy + Into<u64>>(&self, ids: &[T], answers: &mut [bool]) {
        assert_eq!(ids.len(), answers.len(), "one answer for each id");
        for (answer, &id) in answers.iter_mut().zip(ids) {
            *answer = self.contains(id.into());
        }
    }

    fn count_in(&self, range: Range<u64>) -> u64 {
        let range = self.fields.clip(range);
        if range.is_empty() {
            return 0;
        }
        let (first, last) = (self.fields.word(range.start), self.fields.word(range.end - 1));
        ones_between(&self.words()[first..=last], (range.start % 64) as u32, ((range.end - 1) % 64) as u32)
    }

    fn select(&self, n: u64) -> Option<u64> {
        let (line, n) = Isa::best().run(FindLine { lines: self.lines(), n })?;
        let words = &self.lines()[line].0;
        Some(self.fields.origin() + line as u64 * Line::BITS + select_in(words, n)?)
    }

    fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.iter_in(self.fields.range())
    }

    fn size_in_bytes(&self) -> usize {
        size_of_val(self.lines())
    }

    fn is_empty(&self) -> bool {
        self.words().iter().all(|word| *word == 0)
    }
}

impl<S: StoreMut> IntegerSetMut for Bitmap<S> {
    #[inline(always)]
    fn insert(&mut self, id: u64) -> Result<bool, OutOfRange> {
        let at = self.fields.word(self.fields.check(id)?);
        let word = &mut words_mut(self.store.lines_mut())[at];
        let new = *word >> (id % 64) & 1 == 0;
        *word |= 1 << (id % 64);
        Ok(new)
    }

    #[inline(always)]
    fn remove(&mut self, id: u64) -> bool {
        let at = self.fields.word(id);
        let Some(word) = words_mut(self.store.lines_mut()).get_mut(at) else { return false };
        let was = *word >> (id % 64) & 1 == 1;
        *word &= !(1 << (id % 64));
        was
    }

    fn insert_many<T: Copy + Into<u64>>(&mut self, ids: &[T]) -> Result<(), OutOfRange> {
        self.fields.check_all(ids)?;
        let fields = self.fields;
        let ahead = Ahead::of(1, size_of_val(self.store.lines()));
        let words = RefCell::new(words_mut(self.store.lines_mut()));
        pipeline(
            ids.iter().map(|&id| id.into()),
            ahead,
            |id: u64| {
                let at = fields.word(id);
                prefetch(&words.borrow()[at]);
                (at, id as u32 % 64)
            },
            |(at, bit)| words.borrow_mut()[at] |= 1 << bit,
        );
        Ok(())
    }

    fn clear(&mut self) {
        self.store.lines_mut().fill(Line::ZERO);
    }
}

impl<S: StoreMut> Bitmap<S> {
    /// Puts all ids of a range into the set, or none if one of them is outside.
    pub fn insert_range(&mut self, range: Range<u64>) -> Result<(), OutOfRange> {
        if !range.is_empty() {
            self.fields.check(range.start)?;
            self.fields.check(range.end - 1)?;
            self.each_word_in(range, |word, mask| *word |= mask);
        }
        Ok(())
    }

    /// Takes all ids of a range out of the set.
    pub fn remove_range(&mut self, range: Range<u64>) {
        let range = self.fields.clip(range);
        if !range.is_empty() {
            self.each_word_in(range, |word, mask| *word &= !mask);
        }
    }

    /// Hands each word that holds ids of the range to `act`, with the bits of those ids. The range is not empty and inside.
    fn each_word_in(&mut self, range: Range<u64>, act: impl Fn(&mut u64, u64)) {
        let (first, last) = (self.fields.word(range.start), self.fields.word(range.end - 1));
        for (i, word) in words_mut(self.store.lines_mut())[first..=last].iter_mut().enumerate() {
            let from = if i == 0 { !0 << (range.start % 64) } else { !0 };
            let to = if first + i == last { !0 >> (63 - (range.end - 1) % 64) } else { !0 };
            act(word, from & to);
        }
    }
}

impl<S: Store, O: Store> PartialEq<Bitmap<O>> for Bitmap<S> {
    /// Same range, same ids.
    fn eq(&self, other: &Bitmap<O>) -> bool {
        self.fields == other.fields && self.lines() == other.lines()
    }
}

impl<S: Store> Eq for Bitmap<S> {}

impl<S> fmt::Debug for Bitmap<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bitmap").field("range", &self.fields.range()).finish_non_exhaustive()
    }
}

/// The bits set in a run of words, from bit `from` of the first to bit `to` of the last, both included.
pub(super) fn ones_between(words: &[u64], from: u32, to: u32) -> u64 {
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return 0 };
    let before = (first & !(!0 << from)).count_ones();
    let after = (last & !(!0 >> (63 - to))).count_ones();
    Isa::best().run(Ones(words)) - u64::from(before) - u64::from(after)
}

/// Which bit of a line is set and has `n` set ones below it.
pub(super) fn select_in(words: &[u64; 8], mut n: u64) -> Option<u64> {
    for (i, mut word) in words.iter().copied().enumerate() {
        let ones = u64::from(word.count_ones());
        if n < ones {
            (0..n).for_each(|_| word &= word - 1);
            return Some(64 * i as u64 + u64::from(word.trailing_zeros()));
        }
        n -= ones;
    }
    None
}

/// Counts bits, with the instruction for it where there is one.
struct Ones<'a>(&'a [u64]);

impl Task for Ones<'_> {
    type Output = u64;

    #[inline(always)]
    fn run(self, _: impl Machine) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

/// The line with the set bit number `n`, and its number in that line.
struct FindLine<'a> {
    lines: &'a [Line],
    n: u64,
}

impl Task for FindLine<'_> {
    type Output = Option<(usize, u64)>;

    #[inline(always)]
    fn run(self, _: impl Machine) -> Self::Output {
        let mut n = self.n;
        self.lines.iter().enumerate().find_map(|(i, line)| {
            let ones = u64::from(line.ones());
            if n < ones {
                return Some((i, n));
            }
            n -= ones;
            None
        })
    }
}
