//! Streams as they are met with: few keys come often, many come once.

use crate::testing::key;

/// Keys `0..keys`, key number i with a chance in proportion to 1 / (i + 1)^skew.
pub(crate) struct Zipf {
    sums: Vec<f64>,
}

impl Zipf {
    pub(crate) fn new(keys: u64, skew: f64) -> Self {
        let mut sum = 0.0;
        let add = |i: u64| {
            sum += (i as f64).powf(-skew);
            sum
        };
        Self { sums: (1..=keys).map(add).collect() }
    }

    /// A stream of so many, the same for the same seed.
    pub(crate) fn stream(&self, seed: u64, len: u64) -> impl Iterator<Item = u64> + '_ {
        let all = self.sums[self.sums.len() - 1];
        (0..len).map(move |i| {
            let uniform = (key(i ^ seed.rotate_left(32)) >> 11) as f64 / (1u64 << 53) as f64;
            self.sums.partition_point(|sum| *sum <= uniform * all) as u64
        })
    }

    /// How often each key comes in a stream.
    pub(crate) fn counts(&self, stream: impl Iterator<Item = u64>) -> Vec<u64> {
        let mut counts = vec![0; self.sums.len()];
        stream.for_each(|key| counts[key as usize] += 1);
        counts
    }
}
