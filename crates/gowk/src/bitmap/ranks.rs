//! Counts of the bits before every few lines, so that a rank need not count them again.

use super::{
    flat::{Bitmap, ones_between, select_in},
    set::IntegerSet,
};
use crate::{
    simd::{Isa, Machine, Task},
    store::{Line, Store, ones},
};
use alloc::vec::Vec;
use core::ops::Range;

/// How many lines share a count: the counts take 3.1 % of the bitmap, and a rank reads at most four lines.
const STRIDE: usize = 4;

/// A bitmap and the counts that make [`rank`](Self::rank) and [`select`](Self::select) quick. While it is there the bitmap
/// cannot change, so the counts are right.
///
/// ```
/// use gowk::{Bitmap, IntegerSetMut};
///
/// let mut answered = Bitmap::new(0..1_000_000)?;
/// answered.insert_range(500..600)?;
/// let ranks = answered.ranks();
/// assert_eq!(ranks.rank(550), 50);
/// assert_eq!(ranks.select(50), Some(550));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Ranks<'a, S> {
    bitmap: &'a Bitmap<S>,
    /// The bits before each stride, and in the end of all.
    before: Vec<u64>,
}

impl<'a, S: Store> Ranks<'a, S> {
    pub(super) fn new(bitmap: &'a Bitmap<S>) -> Self {
        Self { bitmap, before: Isa::best().run(Sum(bitmap.lines())) }
    }

    /// How many ids in the set are smaller.
    pub fn rank(&self, id: u64) -> u64 {
        let range = self.bitmap.range();
        if id <= range.start {
            return 0;
        }
        if id >= range.end {
            return self.len();
        }
        let word = self.bitmap.fields.word(id);
        let stride = word / (8 * STRIDE);
        let within = &self.bitmap.words()[stride * 8 * STRIDE..=word];
        let above = within[within.len() - 1] >> (id % 64);
        self.before[stride] + ones_between(within, 0, 63) - u64::from(above.count_ones())
    }

    /// The id with `n` smaller ones in the set.
    pub fn select(&self, mut n: u64) -> Option<u64> {
        if n >= self.len() {
            return None;
        }
        let stride = self.before.partition_point(|before| *before <= n) - 1;
        n -= self.before[stride];
        let first = stride * STRIDE;
        for (i, line) in self.bitmap.lines()[first..].iter().enumerate() {
            let here = u64::from(line.ones());
            if n < here {
                return Some(
                    self.bitmap.fields.origin() + (first + i) as u64 * Line::BITS + select_in(&line.0, n)?,
                );
            }
            n -= here;
        }
        None
    }

    /// How many ids of this range are in the set.
    pub fn count_in(&self, range: Range<u64>) -> u64 {
        if range.is_empty() { 0 } else { self.rank(range.end) - self.rank(range.start) }
    }

    /// How many ids are in the set.
    pub fn len(&self) -> u64 {
        self.before.last().copied().unwrap_or(0)
    }

    /// Whether no id is in the set.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

struct Sum<'a>(&'a [Line]);

impl Task for Sum<'_> {
    type Output = Vec<u64>;

    #[inline(always)]
    fn run(self, _: impl Machine) -> Vec<u64> {
        let mut before = Vec::with_capacity(self.0.len().div_ceil(STRIDE) + 1);
        let mut sum = 0;
        before.push(0);
        for stride in self.0.chunks(STRIDE) {
            sum += ones(stride);
            before.push(sum);
        }
        before
    }
}
