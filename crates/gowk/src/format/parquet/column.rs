//! The filters of one column: one for each row group, asked together.

use crate::{
    bloom::split_block::SplitBlockBloom,
    error::MergeError,
    filter::{Filter, Insert, Merge},
    hash::{Digest, Hasher, Key, foreign::Xxh64},
    stats::{Family, Stats},
};
use alloc::{string::String, vec, vec::Vec};

/// How a column's values are stored, which is what its filter hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Physical {
    /// 4 bytes, little-endian.
    Int32,
    /// 8 bytes, little-endian.
    Int64,
    /// 4 bytes, little-endian.
    Float,
    /// 8 bytes, little-endian.
    Double,
    /// Themselves; text is UTF-8.
    Bytes,
    /// Nobody said, or one that has no plain form here.
    Unknown,
}

impl Physical {
    /// Its name in Parquet.
    pub fn name(self) -> &'static str {
        match self {
            Self::Int32 => "INT32",
            Self::Int64 => "INT64",
            Self::Float => "FLOAT",
            Self::Double => "DOUBLE",
            Self::Bytes => "BYTE_ARRAY",
            Self::Unknown => "unknown",
        }
    }
}

/// The filters of a column, of all its row groups: a value may be in the column if any of them says so.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnFilters {
    column: Option<String>,
    physical: Physical,
    hasher: Hasher,
    /// At least one.
    filters: Vec<SplitBlockBloom>,
}

impl ColumnFilters {
    #[cfg(feature = "parquet")]
    pub(super) fn new(column: String, physical: Physical, filters: Vec<SplitBlockBloom>) -> Self {
        Self { column: Some(column), physical, hasher: super::hasher(), filters }
    }

    /// The column, where the filters come out of a file.
    pub fn column(&self) -> Option<&str> {
        self.column.as_deref()
    }

    /// How its values are stored.
    pub fn physical(&self) -> Physical {
        self.physical
    }

    /// The filters, one for each row group that has one.
    pub fn filters(&self) -> &[SplitBlockBloom] {
        &self.filters
    }

    /// Puts values into the last row group.
    pub fn insert_from(&mut self, digests: impl Iterator<Item = Digest>) {
        self.filters.last_mut().expect("a column has a filter").insert_from(digests);
    }

    /// The one filter, if there is but one row group.
    pub fn single(&self) -> Option<&SplitBlockBloom> {
        match &self.filters[..] {
            [filter] => Some(filter),
            _ => None,
        }
    }
}

impl From<SplitBlockBloom> for ColumnFilters {
    /// A filter of which nobody says what column it was.
    fn from(filter: SplitBlockBloom) -> Self {
        let hasher = *filter.hasher();
        Self { column: None, physical: Physical::Unknown, hasher, filters: vec![filter] }
    }
}

impl Filter for ColumnFilters {
    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    fn may_contain_digest(&self, digest: Digest) -> bool {
        self.filters.iter().any(|filter| filter.may_contain_digest(digest))
    }

    fn may_contain_many_into<K: Key>(&self, keys: &[K], answers: &mut [bool]) {
        assert_eq!(keys.len(), answers.len(), "one answer for each key");
        self.answer(keys.iter().map(|key| key.digest(&Xxh64)), answers);
    }

    fn answer(&self, digests: impl Iterator<Item = Digest>, answers: &mut [bool]) {
        if let [filter] = &self.filters[..] {
            return filter.answer(digests, answers);
        }
        let digests: Vec<Digest> = digests.take(answers.len()).collect();
        let answers = &mut answers[..digests.len()];
        let mut one = vec![false; digests.len()];
        answers.fill(false);
        for filter in &self.filters {
            filter.answer(digests.iter().copied(), &mut one);
            answers.iter_mut().zip(&one).for_each(|(all, one)| *all |= one);
        }
    }

    fn stats(&self) -> Stats {
        let parts: Vec<Stats> = self.filters.iter().map(Filter::stats).collect();
        let bits: u64 = parts.iter().map(|part| part.bits).sum();
        let all_miss =
            |rate: fn(&Stats) -> f64| 1.0 - parts.iter().map(|part| 1.0 - rate(part)).product::<f64>();
        Stats {
            family: Family::SplitBlockBloom,
            items: parts.iter().map(|part| part.items).sum(),
            fpp: all_miss(|part| part.fpp),
            bits,
            fill: parts.iter().map(|part| part.fill * part.bits as f64).sum::<f64>() / bits as f64,
            estimated_items: parts.iter().map(|part| part.estimated_items).sum(),
            fpp_now: all_miss(|part| part.fpp_now),
        }
    }

    fn size_in_bytes(&self) -> usize {
        self.filters.iter().map(Filter::size_in_bytes).sum()
    }
}

impl Merge for ColumnFilters {
    /// Filters of one size become one, others stand side by side, as those of several row groups do.
    fn union(&mut self, other: &Self) -> Result<(), MergeError> {
        if let ([ours], [theirs]) = (&mut self.filters[..], &other.filters[..])
            && ours.params().blocks() == theirs.params().blocks()
        {
            return ours.union(theirs);
        }
        self.filters.extend_from_slice(&other.filters);
        Ok(())
    }
}
