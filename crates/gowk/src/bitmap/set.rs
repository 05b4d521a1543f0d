//! What an exact set of integers can do, whether it is flat, mapped or Roaring.

use crate::error::OutOfRange;
use alloc::{vec, vec::Vec};
use core::ops::Range;

/// An exact set of ids out of a range. What it says is so: `contains`, not `may_contain`.
///
/// ```
/// use gowk::{Bitmap, IntegerSet, IntegerSetMut};
///
/// let mut checked_in = Bitmap::new(5_000_000_000..5_100_000_000)?;     // 100 million users, 12.5 MB
/// checked_in.insert_many(&[5_000_000_007u64, 5_000_000_011, 5_099_999_999])?;
/// assert!(checked_in.contains(5_000_000_011));
/// assert_eq!(checked_in.rank(5_000_000_011), 1);                       // one id is smaller
/// assert_eq!(checked_in.count_in(5_000_000_000..5_000_000_100), 2);
/// assert_eq!(checked_in.iter().last(), Some(5_099_999_999));
/// assert!(!checked_in.contains(3));                                    // outside the range: not in the set
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait IntegerSet {
    /// The ids that the set has a place for.
    fn range(&self) -> Range<u64>;

    /// Whether the id is in the set.
    fn contains(&self, id: u64) -> bool;

    /// As [`contains_many`](Self::contains_many), into memory of the caller.
    ///
    /// # Panics
    /// If there are not as many answers as ids.
    fn contains_many_into<T: Copy + Into<u64>>(&self, ids: &[T], answers: &mut [bool]);

    /// How many ids of this range are in the set.
    fn count_in(&self, range: Range<u64>) -> u64;

    /// The id with `n` smaller ones in the set; with 0 it is the smallest.
    fn select(&self, n: u64) -> Option<u64>;

    /// The ids in the set, in ascending order.
    fn iter(&self) -> impl Iterator<Item = u64> + '_;

    /// The memory that the set takes, without that of an allocator.
    fn size_in_bytes(&self) -> usize;

    /// How many ids are in the set. A flat set counts its bits: about a millisecond for 100 million ids.
    fn len(&self) -> u64 {
        self.count_in(self.range())
    }

    /// Whether no id is in the set.
    fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// How many ids in the set are smaller.
    fn rank(&self, id: u64) -> u64 {
        self.count_in(self.range().start..id)
    }

    /// Whether each of these ids is in the set. Faster than one by one where the set is larger than the cache.
    fn contains_many<T: Copy + Into<u64>>(&self, ids: &[T]) -> Vec<bool> {
        let mut answers = vec![false; ids.len()];
        self.contains_many_into(ids, &mut answers);
        answers
    }
}

/// An exact set of ids that can be changed.
pub trait IntegerSetMut: IntegerSet {
    /// Puts an id into the set; true if it was not there before.
    fn insert(&mut self, id: u64) -> Result<bool, OutOfRange>;

    /// Takes an id out of the set; true if it was there. An id outside the range never was.
    fn remove(&mut self, id: u64) -> bool;

    /// Puts them all in, or none if one of them is outside the range. Faster than one by one.
    fn insert_many<T: Copy + Into<u64>>(&mut self, ids: &[T]) -> Result<(), OutOfRange>;

    /// Forgets all ids.
    fn clear(&mut self);
}
