//! How evenly a filter is filled: how many of its lines, or buckets, hold so much.

use crate::{
    cuckoo::Cuckoo,
    format::AnyFilter,
    store::{Line, Store},
};
use alloc::{vec, vec::Vec};

/// How many parts of a filter are how full.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Histogram {
    /// What is counted: "lines" of 512 bits, or "buckets".
    pub parts: &'static str,
    /// What fills them: "bits" or "slots".
    pub unit: &'static str,
    /// At place i, how many parts hold i units.
    pub counts: Vec<u64>,
}

impl<S: Store> AnyFilter<S> {
    /// How evenly the filter is filled. Reads all of it. None for a family whose bits are all in use from the start.
    pub fn histogram(&self) -> Option<Histogram> {
        match self {
            Self::BlockedBloom(filter) => Some(of_lines(filter.lines())),
            Self::Bloom(filter) => Some(of_lines(filter.lines())),
            Self::SplitBlockBloom(filter) => Some(of_lines(filter.lines())),
            Self::CountingBloom(filter) => Some(of_counters(filter.lines())),
            Self::Window(filter) => Some(of_lines(filter.lines())),
            Self::Cuckoo(filter) => Some(of_buckets(filter)),
            Self::ScalableBloom(_) | Self::BinaryFuse(_) => None,
        }
    }
}

fn of_lines(lines: &[Line]) -> Histogram {
    let mut counts = vec![0; Line::BITS as usize + 1];
    lines.iter().for_each(|line| counts[line.ones() as usize] += 1);
    Histogram { parts: "lines", unit: "bits", counts }
}

fn of_counters(lines: &[Line]) -> Histogram {
    let mut counts = vec![0; 129];
    for line in lines {
        let used = |word: &u64| {
            let any = word | word >> 1;
            ((any | any >> 2) & 0x1111_1111_1111_1111).count_ones() as usize
        };
        counts[line.0.iter().map(used).sum::<usize>()] += 1;
    }
    Histogram { parts: "lines", unit: "counters", counts }
}

fn of_buckets<S: Store>(filter: &Cuckoo<S>) -> Histogram {
    Histogram { parts: "buckets", unit: "slots", counts: filter.bucket_loads() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CountingBloom, Filter, bloom::blocked::BlockedBloom, filter::Insert};

    #[test]
    fn every_part_is_counted_once_and_every_unit_too() {
        let keys: Vec<u64> = (0..5_000).collect();
        let mut blocked = BlockedBloom::builder().items(10_000).fpp(0.01).seed(1).build().unwrap();
        blocked.insert_many(&keys);
        let mut counting = CountingBloom::builder().items(10_000).fpp(0.01).seed(1).build().unwrap();
        counting.insert_many(&keys);
        let mut cuckoo = Cuckoo::builder().items(10_000).fpp(0.01).seed(1).build().unwrap();
        cuckoo.insert_many(&keys).unwrap();
        let buckets = cuckoo.params().buckets();
        let any = [
            (AnyFilter::BlockedBloom(blocked), 512.0),
            (AnyFilter::CountingBloom(counting), 128.0),
            (AnyFilter::Cuckoo(cuckoo), 4.0),
        ];
        for (filter, units) in any {
            let Histogram { counts, parts, .. } = filter.histogram().unwrap();
            let total: u64 = counts.iter().sum();
            let used: u64 = counts.iter().enumerate().map(|(units, count)| units as u64 * count).sum();
            let fill = used as f64 / (total as f64 * units);
            assert!((fill - filter.stats().fill).abs() < 1e-9, "{parts}: {fill} {}", filter.stats());
            if parts == "buckets" {
                assert_eq!(total, buckets);
            }
        }
    }
}
