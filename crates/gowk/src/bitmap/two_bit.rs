//! Two bits for each value of a range: never, once, more often.

use super::layout::{Fields, Picked};
use crate::{
    bulk::{Ahead, pipeline},
    error::{MergeError, OutOfRange, ParamsError},
    filter::Merge,
    simd::{Isa, Machine, Task},
    store::{Heap, Line, Store, StoreMut, prefetch, words, words_mut},
};
use core::{cell::RefCell, fmt, ops::Range};

/// The low bit of every field: what a value has that was seen once.
const ONCE: u64 = 0x5555_5555_5555_5555;

/// How often a value has been seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Seen {
    /// Not at all.
    Never,
    /// One time.
    Once,
    /// Two times or more.
    More,
}

/// How many values of a range have been seen how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenCounts {
    /// Not at all.
    pub never: u64,
    /// One time.
    pub once: u64,
    /// Two times or more.
    pub more: u64,
}

/// Which values of a range occur never, once, or more often: two bits each, exact.
///
/// All 2^32 values take 1 GiB. Where that is too much, the range is done in parts, one pass over the data each:
///
/// ```
/// use gowk::{Seen, TwoBitMap};
///
/// let data = [7u32, 3_000_000_000, 7, 9, 3_000_000_001];
/// let mut once = Vec::new();
/// for part in [0..1u64 << 31, 1 << 31..1 << 32] {
///     # let part = if part.start == 0 { 0..100 } else { 3_000_000_000..3_000_000_100 };
///     let mut seen = TwoBitMap::new(part)?;       // 512 MiB
///     seen.add_those_inside(&data);
///     once.extend(seen.once());
/// }
/// assert_eq!(once, [9, 3_000_000_000, 3_000_000_001]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct TwoBitMap<S = Heap> {
    pub(super) fields: Fields<1>,
    pub(super) store: S,
}

impl TwoBitMap {
    /// A map of the values in `range`, none of them seen.
    pub fn new(range: Range<u64>) -> Result<Self, ParamsError> {
        let fields = Fields::new(range)?;
        Ok(Self { fields, store: Heap::zeroed(fields.lines())? })
    }
}

impl<S: Store> TwoBitMap<S> {
    /// The values that the map has a place for.
    pub fn range(&self) -> Range<u64> {
        self.fields.range()
    }

    /// The bits.
    pub fn lines(&self) -> &[Line] {
        self.store.lines()
    }

    #[inline(always)]
    pub(super) fn words(&self) -> &[u64] {
        words(self.store.lines())
    }

    /// The same map in memory of its own, ready for more.
    pub fn to_heap(&self) -> Result<TwoBitMap, ParamsError> {
        Ok(TwoBitMap { fields: self.fields, store: Heap::copy_of(self.lines())? })
    }

    /// How often a value has been seen; never, if it is outside the range.
    #[inline(always)]
    pub fn state(&self, value: u64) -> Seen {
        let word = self.words().get(self.fields.word(value)).copied().unwrap_or(0);
        state_of(word >> Fields::<1>::bit(value))
    }

    /// The values that were seen once, in ascending order.
    pub fn once(&self) -> impl Iterator<Item = u64> + '_ {
        Picked::new(self.fields, self.words(), &self.fields.range(), once)
    }

    /// Those of [`once`](Self::once) that are in `range`.
    pub fn once_in(&self, range: Range<u64>) -> impl Iterator<Item = u64> + '_ {
        Picked::new(self.fields, self.words(), &self.fields.clip(range), once)
    }

    /// The values that were seen more than once, in ascending order.
    pub fn more(&self) -> impl Iterator<Item = u64> + '_ {
        Picked::new(self.fields, self.words(), &self.fields.range(), more)
    }

    /// How many values have been seen how often. Reads the whole map.
    pub fn counts(&self) -> SeenCounts {
        let (once, more) = Isa::best().run(Count(self.words()));
        SeenCounts { never: self.fields.ids() - once - more, once, more }
    }

    /// The memory that the bits take.
    pub fn size_in_bytes(&self) -> usize {
        size_of_val(self.lines())
    }
}

impl<S: StoreMut> TwoBitMap<S> {
    /// Counts a value; tells how often it had been seen before.
    #[inline(always)]
    pub fn add(&mut self, value: u64) -> Result<Seen, OutOfRange> {
        let at = self.fields.word(self.fields.check(value)?);
        let word = &mut words_mut(self.store.lines_mut())[at];
        let bit = Fields::<1>::bit(value);
        let before = state_of(*word >> bit);
        add_at(word, bit);
        Ok(before)
    }

    /// Counts them all, or none if one of them is outside the range. Faster than one by one.
    pub fn add_many<T: Copy + Into<u64>>(&mut self, values: &[T]) -> Result<(), OutOfRange> {
        self.fields.check_all(values)?;
        self.add_checked(values.iter().map(|&value| value.into()));
        Ok(())
    }

    /// Counts those of the values that are in the range, and leaves the rest to a pass of their own; how many it counted.
    pub fn add_those_inside<T: Copy + Into<u64>>(&mut self, values: &[T]) -> u64 {
        let fields = self.fields;
        let mut inside = 0;
        self.add_checked(
            values.iter().filter_map(|&value| fields.check(value.into()).ok()).inspect(|_| inside += 1),
        );
        inside
    }

    fn add_checked(&mut self, values: impl Iterator<Item = u64>) {
        let fields = self.fields;
        let ahead = Ahead::of(1, size_of_val(self.store.lines()));
        let words = RefCell::new(words_mut(self.store.lines_mut()));
        pipeline(
            values,
            ahead,
            |value| {
                let at = fields.word(value);
                prefetch(&words.borrow()[at]);
                (at, Fields::<1>::bit(value))
            },
            |(at, bit)| add_at(&mut words.borrow_mut()[at], bit),
        );
    }

    /// Forgets all values.
    pub fn clear(&mut self) {
        self.store.lines_mut().fill(Line::ZERO);
    }
}

impl<S: StoreMut, O: Store> Merge<TwoBitMap<O>> for TwoBitMap<S> {
    /// As if all that the other has seen had been seen here. Both must be of the same range.
    fn union(&mut self, other: &TwoBitMap<O>) -> Result<(), MergeError> {
        MergeError::unless_same("the start of the range", self.range().start, other.range().start)?;
        MergeError::unless_same("the end of the range", self.range().end, other.range().end)?;
        for (ours, &theirs) in words_mut(self.store.lines_mut()).iter_mut().zip(other.words()) {
            let more = more(*ours) | more(theirs) | (once(*ours) & once(theirs));
            let once = (once(*ours) | once(theirs)) & !more;
            *ours = more << 1 | once;
        }
        Ok(())
    }
}

impl<S: Store, O: Store> PartialEq<TwoBitMap<O>> for TwoBitMap<S> {
    /// Same range, same states.
    fn eq(&self, other: &TwoBitMap<O>) -> bool {
        self.fields == other.fields && self.lines() == other.lines()
    }
}

impl<S: Store> Eq for TwoBitMap<S> {}

impl<S> fmt::Debug for TwoBitMap<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TwoBitMap").field("range", &self.fields.range()).finish_non_exhaustive()
    }
}

/// The state in the low two bits: 00 never, 01 once, 10 more. A map writes no 11; a file that has one is read as more.
#[inline(always)]
fn state_of(field: u64) -> Seen {
    match field & 3 {
        0 => Seen::Never,
        1 => Seen::Once,
        _ => Seen::More,
    }
}

/// 00 to 01 to 10, and no further: adds one unless the high bit says that there is nothing left to add. No branch.
#[inline(always)]
fn add_at(word: &mut u64, bit: u32) {
    *word += (!*word >> (bit + 1) & 1) << bit;
}

/// The low bit of each field that was seen once.
#[inline(always)]
fn once(word: u64) -> u64 {
    word & !(word >> 1) & ONCE
}

/// The low bit of each field that was seen more than once.
#[inline(always)]
fn more(word: u64) -> u64 {
    word >> 1 & ONCE
}

struct Count<'a>(&'a [u64]);

impl Task for Count<'_> {
    type Output = (u64, u64);

    #[inline(always)]
    fn run(self, _: impl Machine) -> (u64, u64) {
        self.0.iter().fold((0, 0), |(ones, mores), &word| {
            (ones + u64::from(once(word).count_ones()), mores + u64::from(more(word).count_ones()))
        })
    }
}
