//! Flat or Roaring, by a rule, behind one type.

use super::{
    flat::Bitmap,
    set::{IntegerSet, IntegerSetMut},
};
#[cfg(feature = "roaring")]
use super::{layout::Fields, roaring::RoaringSet};
use crate::{
    error::{MergeError, OutOfRange, ParamsError},
    filter::Merge,
};
use core::ops::Range;

/// From one id in this many on a flat set is chosen: 12.5 bytes an id, for reads at least five times as fast.
pub const FLAT_FROM_ONE_IN: u64 = 100;

/// Up to so many ids a flat set is chosen whatever their count: 64 KiB, which stay in the second-level cache.
pub const FLAT_UP_TO: u64 = 1 << 19;

/// The two ways to keep an exact set of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// [`Bitmap`]: a bit for each id of the range.
    Flat,
    /// [`RoaringSet`](crate::RoaringSet): compressed, for ids far apart.
    Roaring,
}

impl Form {
    /// The form for `count` ids, spread over `range`.
    ///
    /// Flat from one id in a hundred on, and for small ranges. The [module page](crate::bitmap) gives the measurements. Ids
    /// that come in clusters take less in Roaring than the rule knows; who has such takes [`IdSet::Roaring`] at any count.
    ///
    /// ```
    /// use gowk::bitmap::Form;
    /// assert_eq!(Form::for_range(&(0..100_000_000), 30_000_000), Form::Flat);
    /// assert_eq!(Form::for_range(&(0..100_000_000), 10_000), Form::Roaring);
    /// assert_eq!(Form::for_range(&(0..100_000), 10), Form::Flat);
    /// ```
    pub fn for_range(range: &Range<u64>, count: u64) -> Self {
        let ids = range.end.saturating_sub(range.start);
        if ids <= FLAT_UP_TO || count >= ids / FLAT_FROM_ONE_IN { Self::Flat } else { Self::Roaring }
    }
}

/// An exact set of integers, flat or Roaring.
///
/// ```
/// use gowk::{IdSet, IntegerSet, IntegerSetMut, Merge};
///
/// let mut monday = IdSet::for_range(0..10_000_000, 2_000_000)?;      // a fifth: flat
/// let mut vips = IdSet::for_range(0..10_000_000, 500)?;              // a handful: Roaring
/// monday.insert_many(&[1u32, 5, 9])?;
/// vips.insert_many(&[5u32, 6])?;
/// vips.intersect(&monday);
/// assert_eq!(vips.iter().collect::<Vec<_>>(), [5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum IdSet {
    /// A bit for each id of the range.
    Flat(Bitmap),
    /// Compressed.
    #[cfg(feature = "roaring")]
    Roaring(RoaringSet),
}

/// Does the same with whichever it is.
macro_rules! each {
    ($ids:expr, $set:ident => $call:expr) => {
        match $ids {
            IdSet::Flat($set) => $call,
            #[cfg(feature = "roaring")]
            IdSet::Roaring($set) => $call,
        }
    };
}

impl IdSet {
    /// An empty set for about `count` ids, spread over `range`, in the form that [`Form::for_range`] gives. Built without
    /// the `roaring` feature it is flat.
    ///
    /// The count only chooses: more ids, or fewer, are kept as well.
    pub fn for_range(range: Range<u64>, count: u64) -> Result<Self, ParamsError> {
        #[cfg(feature = "roaring")]
        // A range that no machine can lay out flat is one for Roaring, however many ids are promised.
        if Form::for_range(&range, count) == Form::Roaring
            || matches!(Fields::<0>::new(range.clone()), Err(ParamsError::TooLarge { .. }))
        {
            return RoaringSet::new(range).map(Self::Roaring);
        }
        let _ = count;
        Bitmap::new(range).map(Self::Flat)
    }

    /// Which of the two it is.
    pub fn form(&self) -> Form {
        match self {
            Self::Flat(_) => Form::Flat,
            #[cfg(feature = "roaring")]
            Self::Roaring(_) => Form::Roaring,
        }
    }

    /// And: keeps the ids that are also in the other.
    pub fn intersect(&mut self, other: &Self) {
        match (self, other) {
            (Self::Flat(ours), Self::Flat(theirs)) => ours.intersect(theirs),
            #[cfg(feature = "roaring")]
            (Self::Roaring(ours), Self::Roaring(theirs)) => ours.intersect(theirs),
            #[cfg(feature = "roaring")]
            (Self::Roaring(ours), Self::Flat(theirs)) => ours.retain(|id| theirs.contains(id)),
            // Few ids are in both, so the form of the few takes over.
            #[cfg(feature = "roaring")]
            (ours, Self::Roaring(theirs)) => {
                let both = theirs.iter().filter(|id| ours.contains(*id));
                *ours = Self::Roaring(RoaringSet::of_sorted(ours.range(), both));
            }
        }
    }

    /// And-not: takes out the ids that are in the other.
    pub fn subtract(&mut self, other: &Self) {
        match (self, other) {
            (Self::Flat(ours), Self::Flat(theirs)) => ours.subtract(theirs),
            #[cfg(feature = "roaring")]
            (Self::Roaring(ours), Self::Roaring(theirs)) => ours.subtract(theirs),
            #[cfg(feature = "roaring")]
            (Self::Roaring(ours), Self::Flat(theirs)) => ours.retain(|id| !theirs.contains(id)),
            #[cfg(feature = "roaring")]
            (Self::Flat(ours), Self::Roaring(theirs)) => theirs.iter().for_each(|id| {
                ours.remove(id);
            }),
        }
    }

    /// Xor: keeps the ids that are in just one of the two. Those of the other must lie in the range of this one.
    pub fn xor(&mut self, other: &Self) -> Result<(), MergeError> {
        match (self, other) {
            (Self::Flat(ours), Self::Flat(theirs)) => ours.xor(theirs),
            #[cfg(feature = "roaring")]
            (Self::Roaring(ours), Self::Roaring(theirs)) => ours.xor(theirs),
            #[cfg(feature = "roaring")]
            (Self::Roaring(ours), Self::Flat(theirs)) => ours.xor(&RoaringSet::from(theirs)),
            #[cfg(feature = "roaring")]
            (Self::Flat(ours), Self::Roaring(theirs)) => {
                has_room(ours, theirs)?;
                for id in theirs.iter() {
                    if !ours.remove(id) {
                        ours.insert(id).map_err(MergeError::OutOfRange)?;
                    }
                }
                Ok(())
            }
        }
    }
}

impl Merge for IdSet {
    /// Or: all ids of either. Those of the other must lie in the range of this one. The form stays what it was.
    fn union(&mut self, other: &Self) -> Result<(), MergeError> {
        match (self, other) {
            (Self::Flat(ours), Self::Flat(theirs)) => ours.union(theirs),
            #[cfg(feature = "roaring")]
            (Self::Roaring(ours), Self::Roaring(theirs)) => ours.union(theirs),
            #[cfg(feature = "roaring")]
            (Self::Roaring(ours), Self::Flat(theirs)) => ours.union(&RoaringSet::from(theirs)),
            #[cfg(feature = "roaring")]
            (Self::Flat(ours), Self::Roaring(theirs)) => {
                has_room(ours, theirs)?;
                theirs.iter().try_for_each(|id| ours.insert(id).map(|_| ()).map_err(MergeError::OutOfRange))
            }
        }
    }
}

/// An error if Roaring holds an id that the flat set has no place for; asked before anything changes.
#[cfg(feature = "roaring")]
fn has_room(ours: &Bitmap, theirs: &RoaringSet) -> Result<(), MergeError> {
    let ends = [theirs.as_treemap().min(), theirs.as_treemap().max()];
    ends.into_iter()
        .flatten()
        .try_for_each(|id| ours.fields.check(id).map(|_| ()).map_err(MergeError::OutOfRange))
}

impl IntegerSet for IdSet {
    fn range(&self) -> Range<u64> {
        each!(self, set => set.range())
    }

    #[inline]
    fn contains(&self, id: u64) -> bool {
        each!(self, set => set.contains(id))
    }

    fn contains_many_into<T: Copy + Into<u64>>(&self, ids: &[T], answers: &mut [bool]) {
        each!(self, set => set.contains_many_into(ids, answers));
    }

    fn count_in(&self, range: Range<u64>) -> u64 {
        each!(self, set => set.count_in(range))
    }

    fn select(&self, n: u64) -> Option<u64> {
        each!(self, set => set.select(n))
    }

    fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        match self {
            #[cfg(not(feature = "roaring"))]
            Self::Flat(set) => set.iter(),
            #[cfg(feature = "roaring")]
            Self::Flat(set) => Either::Flat(set.iter()),
            #[cfg(feature = "roaring")]
            Self::Roaring(set) => Either::Roaring(set.iter()),
        }
    }

    fn size_in_bytes(&self) -> usize {
        each!(self, set => set.size_in_bytes())
    }

    fn len(&self) -> u64 {
        each!(self, set => set.len())
    }

    fn is_empty(&self) -> bool {
        each!(self, set => set.is_empty())
    }
}

impl IntegerSetMut for IdSet {
    #[inline]
    fn insert(&mut self, id: u64) -> Result<bool, OutOfRange> {
        each!(self, set => set.insert(id))
    }

    #[inline]
    fn remove(&mut self, id: u64) -> bool {
        each!(self, set => set.remove(id))
    }

    fn insert_many<T: Copy + Into<u64>>(&mut self, ids: &[T]) -> Result<(), OutOfRange> {
        each!(self, set => set.insert_many(ids))
    }

    fn clear(&mut self) {
        each!(self, set => set.clear());
    }
}

/// The ids of whichever it is.
#[cfg(feature = "roaring")]
enum Either<F, R> {
    Flat(F),
    Roaring(R),
}

#[cfg(feature = "roaring")]
impl<F: Iterator<Item = u64>, R: Iterator<Item = u64>> Iterator for Either<F, R> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        match self {
            Self::Flat(ids) => ids.next(),
            Self::Roaring(ids) => ids.next(),
        }
    }
}
