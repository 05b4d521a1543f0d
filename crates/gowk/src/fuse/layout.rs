//! From a digest to its slots and its fingerprint. Pure; knows no memory.

use crate::{
    hash::Digest,
    store::{Bytes, Chain, Found, FoundEight, Slots},
};

/// Where keys lie in a chain of segments: in as many neighbouring ones as a key has slots, the last of them at one of `range`
/// places after the first segments, so that the chain may end anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) chain: Chain,
    /// Chooses all slots but the last. A build that gets stuck takes another.
    pub(super) multiplier: u64,
}

impl Layout {
    /// # Panics
    /// If the chain is longer than `FuseParams` allow.
    pub(super) fn new(range: u64, log: u32, multiplier: u64) -> Self {
        Self { chain: Chain::new(range, log), multiplier }
    }

    /// The slots of a segment, as a power of two.
    #[inline(always)]
    pub(super) fn log(self) -> u32 {
        self.chain.log()
    }

    /// The slots of a key, rising.
    #[inline(always)]
    pub(super) fn slots<const K: usize>(self, h1: u64) -> [u64; K] {
        self.find(h1, Bytes).get()
    }

    /// The slots of a key, to be read.
    #[inline(always)]
    pub(super) fn find<const K: usize>(self, h1: u64, width: impl Slots) -> Found<K> {
        self.chain.slots(h1, self.moves(h1), width)
    }

    /// Where the slots of a key are in their segments; the last is not asked for.
    ///
    /// The segments grow with the digest, whatever the multiplier: sorted digests are sorted by segment. Within all but the
    /// last the slot is moved to where the middle bits of a product say, which depend on the low bits of the digest: a word, and from which bit on.
    /// That is a constant, which a processor without BMI2 shifts by in half the instructions.
    #[inline(always)]
    pub(super) fn moves<const K: usize>(self, h1: u64) -> [(u64, u32); K] {
        let word = h1.wrapping_mul(self.multiplier);
        core::array::from_fn(|j| match j {
            0 => (word, 36),
            1 => (word, 16),
            _ => (word.wrapping_mul(Digest::SPREAD), 36),
        })
    }

    /// Whether eight keys can be looked for at once.
    pub(super) fn is_short(self) -> bool {
        self.chain.is_short()
    }

    /// The slots of eight keys, to be read.
    #[inline(always)]
    pub(super) fn find_eight<const K: usize>(self, hashes: &[u64; 8], width: impl Slots) -> FoundEight<K> {
        let mut moves = [[0; 8]; K];
        for i in 0..8 {
            let moved = self.moves::<K>(hashes[i]);
            for j in 0..K {
                moves[j][i] = moved[j].0 >> moved[j].1;
            }
        }
        self.chain.eight(hashes, &moves, width)
    }

    /// The segment of a key's first slot.
    #[inline(always)]
    pub(super) fn start(self, h1: u64) -> usize {
        (self.chain.place(h1) >> self.log()) as usize
    }

    /// The segments in which a first slot may be.
    pub(super) fn starts(self) -> usize {
        self.chain.range().div_ceil(1 << self.log()) as usize
    }
}

/// The low `width` bits. Of a digest they are the fingerprint: the first slot comes from its high bits.
#[inline(always)]
pub(super) fn mask(width: u32) -> u64 {
    (1 << width) - 1
}

/// Multiplier number `attempt`: odd, its bits well mixed (the finalizer of `SplitMix64`). Files keep the multiplier itself.
pub(super) fn multiplier(attempt: u32) -> u64 {
    let z = (u64::from(attempt) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) | 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::key;
    use proptest::prelude::*;

    #[test]
    fn all_slots_of_a_segment_are_reached_alike() {
        let layout = Layout::new(3 << 10, 10, multiplier(0));
        let trials = 3_000_000;
        let mut hits = [[0u32; 1 << 10]; 4];
        for i in 0..trials {
            for (hits, slot) in hits.iter_mut().zip(layout.slots::<4>(key(i))) {
                hits[slot as usize % (1 << 10)] += 1;
            }
        }
        let expected = trials as f64 / 1_024.0;
        for (j, hits) in hits.iter().enumerate() {
            for (offset, &hit) in hits.iter().enumerate() {
                let off = (f64::from(hit) - expected).abs() / expected.sqrt();
                assert!(off < 6.5, "offset {offset} of slot {j} was hit {hit} times, expected {expected}");
            }
        }
    }

    proptest! {
        #[test]
        fn slots_lie_in_neighbouring_segments(h1: u64, range in 1u64..1 << 40, log in 1u32..28, attempt: u32) {
            let layout = Layout::new(range, log, multiplier(attempt));
            let start = layout.start(h1);
            prop_assert!(start < layout.starts());
            let (three, four) = (layout.slots::<3>(h1), layout.slots::<4>(h1));
            for (j, slot) in three.iter().enumerate() {
                prop_assert_eq!((slot >> log) as usize, start + j);
            }
            for (j, slot) in four.iter().enumerate() {
                prop_assert_eq!((slot >> log) as usize, start + j);
            }
            prop_assert!(three[2] < range + (2 << log));
            prop_assert!(four[3] < range + (3 << log));
        }

        #[test]
        fn a_larger_digest_never_starts_earlier(a: u64, b: u64, range in 1u64..1 << 40, log in 1u32..28) {
            let layout = Layout::new(range, log, 1);
            prop_assert!(layout.start(a.min(b)) <= layout.start(a.max(b)));
        }
    }
}
