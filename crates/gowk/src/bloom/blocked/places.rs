//! Where a key's bits are, as numbers: for filters whose bits lie somewhere else than in memory.

use super::{
    layout::{windows, words},
    sizing::BlockedParams,
};
use crate::{hash::Digest, simd::portable::mask, store::Line};

impl BlockedParams {
    /// The block of a key.
    pub fn block(&self, digest: Digest) -> u64 {
        ((u128::from(digest.h1) * u128::from(self.blocks())) >> 64) as u64
    }

    /// The bits of a key in its block, rising: bit b is bit b % 8 of byte b / 8, as a file has them.
    ///
    /// ```
    /// use gowk::{BlockedBloom, BlockedParams, Build, Hasher, Insert};
    ///
    /// let params = BlockedParams::for_fpp(1_000, 0.01)?;
    /// let mut filter = BlockedBloom::with_params(params, Hasher::new(1))?;
    /// let digest = Hasher::new(1).digest("gowk");
    /// filter.insert(&digest);
    /// let block = &filter.lines()[params.block(digest) as usize].to_le_bytes();      // one line a block at 1 %
    /// assert!(params.bits_in_block(digest).all(|bit| block[bit as usize / 8] >> (bit % 8) & 1 == 1));
    /// assert!(params.covers(block, digest));
    /// # Ok::<(), gowk::ParamsError>(())
    /// ```
    pub fn bits_in_block(&self, digest: Digest) -> impl Iterator<Item = u32> {
        self.masks(digest).enumerate().flat_map(|(line, mask)| {
            let words = mask.0.into_iter().enumerate();
            words.flat_map(move |(word, bits)| {
                Ones(bits).map(move |bit| (512 * line + 64 * word) as u32 + bit)
            })
        })
    }

    /// Whether these bytes of a key's block have all of its bits. Fewer bytes than a block have none.
    pub fn covers(&self, block: &[u8], digest: Digest) -> bool {
        let (lines, _) = block.as_chunks::<{ Line::BYTES }>();
        lines.len() >= self.span() as usize
            && lines.iter().zip(self.masks(digest)).all(|(line, mask)| {
                let line = Line::from_le_bytes(line);
                line.0.iter().zip(mask.0).all(|(have, want)| have & want == want)
            })
    }

    /// Sets the bits of a key in these bytes of its block; true if one of them was not set before. Fewer bytes than a block stay as they
    /// are.
    pub fn set_in_block(&self, block: &mut [u8], digest: Digest) -> bool {
        let (lines, _) = block.as_chunks_mut::<{ Line::BYTES }>();
        if lines.len() < self.span() as usize {
            return false;
        }
        let mut new = false;
        for (bytes, mask) in lines.iter_mut().zip(self.masks(digest)) {
            let mut line = Line::from_le_bytes(bytes);
            for (have, want) in line.0.iter_mut().zip(mask.0) {
                new |= *have & want != want;
                *have |= want;
            }
            *bytes = line.to_le_bytes();
        }
        new
    }

    /// The bits of a key in each line of its block.
    fn masks(&self, digest: Digest) -> impl Iterator<Item = Line> {
        let windows = windows(self.lanes());
        words::<4>(digest).into_iter().take(self.span() as usize).map(move |word| mask(word, windows))
    }
}

/// The numbers of the bits that are set, rising.
struct Ones(u64);

impl Iterator for Ones {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let bit = self.0.trailing_zeros();
        self.0 &= self.0.wrapping_sub(1);
        (bit < 64).then_some(bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockedBloom, Build, Hasher, Insert, bloom::blocked::Span};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_where_an_insert_sets_bits(h1: u64, blocks in 1u64..50, lanes in 1u32..=8, span in 0usize..3) {
            let span = [Span::Line, Span::Pair, Span::Quad][span];
            let params = BlockedParams::with_shape(blocks, span, lanes, 10).unwrap();
            let digest = Digest::from(h1);
            let mut filter = BlockedBloom::with_params(params, Hasher::new(1)).unwrap();
            filter.insert_digest(digest);
            let bytes: Vec<u8> = filter.lines().iter().flat_map(|line| line.to_le_bytes()).collect();
            let start = 512 * span as u64 * params.block(digest);
            let expected: Vec<u64> =
                (0..8 * bytes.len() as u64).filter(|bit| bytes[*bit as usize / 8] >> (bit % 8) & 1 == 1).collect();
            let places: Vec<u64> = params.bits_in_block(digest).map(|bit| start + u64::from(bit)).collect();
            prop_assert_eq!(&places, &expected);
            prop_assert_eq!(places.len() as u32, params.probes());

            let block = &bytes[start as usize / 8..][..64 * span as usize];
            prop_assert!(params.covers(block, digest));
            prop_assert!(!params.covers(&block[..block.len() - 1], digest));
            let mut without = block.to_vec();
            let bit = places[h1 as usize % places.len()] - start;
            without[bit as usize / 8] &= !(1 << (bit % 8));
            prop_assert!(!params.covers(&without, digest));

            let mut set = without.clone();
            prop_assert!(!params.set_in_block(&mut set[1..], digest) && set == without);
            prop_assert!(params.set_in_block(&mut set, digest) && set == block);
            prop_assert!(!params.set_in_block(&mut set, digest) && set == block);
        }
    }
}
