//! Roaring, of the `roaring` crate, as one of our integer sets.

use super::set::{IntegerSet, IntegerSetMut};
use crate::{
    error::{MergeError, OutOfRange, ParamsError},
    filter::Merge,
};
use alloc::vec::Vec;
use core::ops::Range;
use roaring::RoaringTreemap;

/// A Roaring set: sorted arrays, bitmaps or runs, for each stretch of 65,536 ids what takes least. For ids that lie far apart.
///
/// The set has a range, as [`Bitmap`](crate::Bitmap) has, so that the two can stand for each other. Its bytes are those of
/// Roaring's portable format for 64 bits, which C, Java and Go read as well.
#[derive(Clone, Debug, PartialEq)]
pub struct RoaringSet {
    range: Range<u64>,
    map: RoaringTreemap,
}

impl RoaringSet {
    /// An empty set of ids from `range`.
    pub fn new(range: Range<u64>) -> Result<Self, ParamsError> {
        if range.is_empty() {
            return Err(ParamsError::NoItems);
        }
        Ok(Self { range, map: RoaringTreemap::new() })
    }

    /// The set of ids of a range that come in ascending order without repeats.
    pub(super) fn of_sorted(range: Range<u64>, ids: impl IntoIterator<Item = u64>) -> Self {
        Self { range, map: RoaringTreemap::from_sorted_iter(ids).expect("ascending ids") }
    }

    /// A set of the `roaring` crate, as one of ids from `range`.
    pub fn from_treemap(range: Range<u64>, map: RoaringTreemap) -> Result<Self, OutOfRange> {
        let set = Self { range, map };
        set.check_ends(&set.map)?;
        Ok(set)
    }

    /// The set as the `roaring` crate has it.
    pub fn as_treemap(&self) -> &RoaringTreemap {
        &self.map
    }

    /// The set as the `roaring` crate has it.
    pub fn into_treemap(self) -> RoaringTreemap {
        self.map
    }

    /// Finds runs, which take less where ids follow each other; true if there were any. Worth a call when the set is complete.
    pub fn optimize(&mut self) -> bool {
        self.map.optimize()
    }

    /// Writes the set in Roaring's portable format.
    #[cfg(feature = "std")]
    pub fn serialize_into(&self, output: impl std::io::Write) -> std::io::Result<()> {
        self.map.serialize_into(output)
    }

    /// Reads a set in Roaring's portable format, of ids from `range`.
    #[cfg(feature = "std")]
    pub fn deserialize_from(range: Range<u64>, input: impl std::io::Read) -> std::io::Result<Self> {
        let map = RoaringTreemap::deserialize_from(input)?;
        Self::from_treemap(range, map)
            .map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidData, error))
    }

    /// And: keeps the ids that are also in the other.
    pub fn intersect(&mut self, other: &Self) {
        self.map &= &other.map;
    }

    /// And-not: takes out the ids that are in the other.
    pub fn subtract(&mut self, other: &Self) {
        self.map -= &other.map;
    }

    /// Xor: keeps the ids that are in just one of the two. Those of the other must lie in the range of this one.
    pub fn xor(&mut self, other: &Self) -> Result<(), MergeError> {
        self.check_ends(&other.map).map_err(MergeError::OutOfRange)?;
        self.map ^= &other.map;
        Ok(())
    }

    /// Keeps the ids of which `keep` is true.
    pub fn retain(&mut self, keep: impl FnMut(u64) -> bool) {
        self.map.retain(keep);
    }

    /// An error if a map holds an id outside our range.
    fn check_ends(&self, map: &RoaringTreemap) -> Result<(), OutOfRange> {
        map.min().into_iter().chain(map.max()).try_for_each(|id| self.check(id))
    }

    fn check(&self, id: u64) -> Result<(), OutOfRange> {
        let Range { start, end } = self.range;
        if id >= start && id < end { Ok(()) } else { Err(OutOfRange { id, start, end }) }
    }
}

impl Merge for RoaringSet {
    /// Or: all ids of either. Those of the other must lie in the range of this one.
    fn union(&mut self, other: &Self) -> Result<(), MergeError> {
        self.check_ends(&other.map).map_err(MergeError::OutOfRange)?;
        self.map |= &other.map;
        Ok(())
    }
}

impl IntegerSet for RoaringSet {
    fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    #[inline(always)]
    fn contains(&self, id: u64) -> bool {
        self.map.contains(id)
    }

    fn contains_many_into<T: Copy + Into<u64>>(&self, ids: &[T], answers: &mut [bool]) {
        assert_eq!(ids.len(), answers.len(), "one answer for each id");
        for (answer, &id) in answers.iter_mut().zip(ids) {
            *answer = self.map.contains(id.into());
        }
    }

    fn count_in(&self, range: Range<u64>) -> u64 {
        if range.is_empty() { 0 } else { self.map.range_cardinality(range) }
    }

    fn select(&self, n: u64) -> Option<u64> {
        self.map.select(n)
    }

    fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.map.iter()
    }

    /// What the containers hold; memory that they keep for growth is not known to us.
    fn size_in_bytes(&self) -> usize {
        let bytes = |bitmap: &roaring::RoaringBitmap| {
            let stats = bitmap.statistics();
            let arrays = 2 * u64::from(stats.n_values_array_containers);
            let bitmaps = 8192 * u64::from(stats.n_bitset_containers);
            let heads = CONTAINER * u64::from(stats.n_containers);
            (arrays + bitmaps + stats.n_bytes_run_containers + heads) as usize
        };
        self.map.bitmaps().map(|(_, bitmap)| bytes(bitmap)).sum()
    }

    fn len(&self) -> u64 {
        self.map.len()
    }

    fn is_empty(&self) -> bool {
        self.map.is_empty()
    }
}

/// What the `roaring` crate keeps of a stretch of 65,536 ids beside its contents.
const CONTAINER: u64 = 40;

impl IntegerSetMut for RoaringSet {
    fn insert(&mut self, id: u64) -> Result<bool, OutOfRange> {
        self.check(id)?;
        Ok(self.map.insert(id))
    }

    fn remove(&mut self, id: u64) -> bool {
        self.map.remove(id)
    }

    /// Sorts a copy first: an insert into the middle of an array moves what is behind it, and sorted ids only append.
    fn insert_many<T: Copy + Into<u64>>(&mut self, ids: &[T]) -> Result<(), OutOfRange> {
        let mut ids: Vec<u64> = ids.iter().map(|&id| id.into()).collect();
        ids.iter().try_for_each(|id| self.check(*id))?;
        ids.sort_unstable();
        ids.dedup();
        self.map |= Self::of_sorted(self.range(), ids).map;
        Ok(())
    }

    fn clear(&mut self) {
        self.map.clear();
    }
}

/// The ids of a flat set.
impl<S: crate::store::Store> From<&super::flat::Bitmap<S>> for RoaringSet {
    fn from(flat: &super::flat::Bitmap<S>) -> Self {
        Self::of_sorted(flat.range(), flat.iter())
    }
}

impl TryFrom<&RoaringSet> for super::flat::Bitmap {
    type Error = ParamsError;

    /// The same ids in a flat set.
    fn try_from(set: &RoaringSet) -> Result<Self, ParamsError> {
        let mut flat = Self::new(set.range())?;
        for id in set.iter() {
            flat.insert(id).expect("the range is the same");
        }
        Ok(flat)
    }
}
