//! Where a key's counters are, as numbers: for filters whose counters lie somewhere else than in memory.

use super::{counters::Places, sizing::CountingParams};
use crate::{
    bloom::blocked::{windows, words},
    hash::Digest,
};

impl CountingParams {
    /// The block of a key.
    pub fn block(&self, digest: Digest) -> u64 {
        ((u128::from(digest.h1) * u128::from(self.blocks())) >> 64) as u64
    }

    /// The counters of a key in its block, rising: counter c is the low half of byte c / 2 if c is even, the high half if it is odd,
    /// as a file has them.
    pub fn counters_in_block(&self, digest: Digest) -> impl Iterator<Item = u32> {
        let windows = windows(self.lanes());
        let lines = words::<4>(digest).into_iter().take(self.span() as usize).enumerate();
        lines.flat_map(move |(line, word)| {
            Places::new(word, windows).counters().map(move |counter| 128 * line as u32 + counter as u32)
        })
    }

    /// The least of a key's counters, of the bytes of its block: how often it has come, or more. Fewer bytes than a block say 0.
    pub fn count(&self, block: &[u8], digest: Digest) -> u32 {
        let counter =
            |c: u32| block.get(c as usize / 2).map_or(0, |byte| u32::from(byte >> (4 * (c % 2)) & 15));
        self.counters_in_block(digest).map(counter).min().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Build, CountingBloom, Hasher, Insert, bloom::blocked::Span};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_where_an_insert_counts(h1: u64, blocks in 1u64..50, lanes in 1u32..=8, span in 0usize..3) {
            let span = [Span::Line, Span::Pair, Span::Quad][span];
            let params = CountingParams::with_shape(blocks, span, lanes, 10).unwrap();
            let digest = Digest::from(h1);
            let mut filter = CountingBloom::with_params(params, Hasher::new(1)).unwrap();
            filter.insert_digest(digest);
            filter.insert_digest(digest);
            let bytes: Vec<u8> = filter.lines().iter().flat_map(|line| line.to_le_bytes()).collect();
            let start = 128 * span as u64 * params.block(digest);
            let expected: Vec<u64> = (0..2 * bytes.len() as u64)
                .filter(|counter| bytes[*counter as usize / 2] >> (4 * (counter % 2)) & 15 == 2)
                .collect();
            let places: Vec<u64> = params.counters_in_block(digest).map(|c| start + u64::from(c)).collect();
            prop_assert_eq!(&places, &expected);
            let block = &bytes[start as usize / 2..][..64 * span as usize];
            prop_assert_eq!(params.count(block, digest), 2);
            prop_assert_eq!(params.count(&[], digest), 0);
        }
    }
}
