//! From a digest to its slots and its fingerprint. Pure; knows no memory.

use crate::hash::Digest;

/// Where keys lie in a chain of segments of 2^`log` slots: in as many neighbouring segments as a key has slots, the last
/// of them at one of `range` places after the first segments, so that the chain may end anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) range: u64,
    pub(super) log: u32,
    /// Chooses all slots but the last. A build that gets stuck takes another.
    pub(super) multiplier: u64,
}

/// The segment of a key's first slot, and where in their segments its slots are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place<const K: usize> {
    pub(super) start: usize,
    pub(super) offsets: [usize; K],
}

impl Layout {
    /// The slots of a key, rising.
    ///
    /// The segments grow with the digest, whatever the multiplier: sorted digests are sorted by segment. Within all but the
    /// last the slot is moved to where the high bits of a product say, which depend on the low bits of the digest too.
    #[inline(always)]
    pub(super) fn slots<const K: usize>(self, h1: u64) -> [u64; K] {
        let place = ((u128::from(h1) * u128::from(self.range)) >> 64) as u64;
        let word = h1.wrapping_mul(self.multiplier);
        let down = 64 - self.log;
        core::array::from_fn(|j| {
            let slot = place + ((j as u64) << self.log);
            match j {
                _ if j == K - 1 => slot,
                0 => slot ^ (word >> down),
                1 => slot ^ (word << self.log >> down),
                _ => slot ^ (word.wrapping_mul(Digest::SPREAD) >> down),
            }
        })
    }

    /// The slots, as a segment and offsets.
    #[inline(always)]
    pub(super) fn place<const K: usize>(self, h1: u64) -> Place<K> {
        let slots = self.slots::<K>(h1);
        let mask = (1 << self.log) - 1;
        Place { start: (slots[0] >> self.log) as usize, offsets: slots.map(|slot| (slot & mask) as usize) }
    }

    /// The segment of a key's first slot.
    #[inline(always)]
    pub(super) fn start(self, h1: u64) -> usize {
        ((u128::from(h1) * u128::from(self.range)) >> 64 >> self.log) as usize
    }

    /// The segments in which a first slot may be.
    pub(super) fn starts(self) -> usize {
        self.range.div_ceil(1 << self.log) as usize
    }
}

impl<const K: usize> Place<K> {
    /// The place as seen from the other end of the chain.
    #[inline(always)]
    pub(super) fn mirrored(self, starts: usize) -> Self {
        Self { start: starts - 1 - self.start, offsets: core::array::from_fn(|j| self.offsets[K - 1 - j]) }
    }
}

/// The low `width` bits. Of a digest they are the fingerprint: the first slot comes from its high bits.
#[inline(always)]
pub(super) fn mask(width: u32) -> u64 {
    (1 << width) - 1
}

/// Multiplier number `attempt`: odd, its bits well mixed (the finalizer of SplitMix64). Files keep the multiplier itself.
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
        let layout = Layout { range: 3 << 10, log: 10, multiplier: multiplier(0) };
        let trials = 3_000_000;
        let mut hits = [[0u32; 1 << 10]; 4];
        for i in 0..trials {
            let place = layout.place::<4>(key(i));
            (0..4).for_each(|j| hits[j][place.offsets[j]] += 1);
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
            let layout = Layout { range, log, multiplier: multiplier(attempt) };
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
            let layout = Layout { range, log, multiplier: 1 };
            prop_assert!(layout.start(a.min(b)) <= layout.start(a.max(b)));
        }

        #[test]
        fn the_mirror_of_the_mirror_is_the_place(h1: u64, range in 1u64..1 << 40, log in 1u32..28) {
            let layout = Layout { range, log, multiplier: multiplier(0) };
            let place = layout.place::<3>(h1);
            prop_assert_eq!(place.mirrored(layout.starts()).mirrored(layout.starts()), place);
        }
    }
}
