//! Buckets of packed tags: how they are read, compared and written. Knows bits; does not know keys.
//!
//! Bucket i is the bits from `i * B * width` on, its slots one after another, the used ones first; 0 is an empty slot. So
//! a bucket is a number, the fuller of two buckets is the greater number, and one load reads all of it: of 8 bytes up to
//! a width of 16 bits, of 16 bytes above.

#[cfg(target_endian = "little")]
use crate::store::bytes_mut;
use crate::store::{Fetch, Line};

/// A bucket as a number.
pub(super) trait Word: Copy {
    fn read(lines: &[Line], bit: u64) -> Self;
    fn of(wide: u128) -> Self;
    /// Whether one of the lanes is equal to the tag, for lanes that begin at the bits of `ones` and end at those of `highs`.
    fn has(self, tag: u64, ones: Self, highs: Self) -> bool;
    fn and(self, mask: Self) -> Self;
    fn less(self, other: Self) -> bool;
    fn lane(self, shift: u32, width: u32) -> u64;
    fn is_zero_from(self, shift: u32) -> bool;
}

macro_rules! word {
    ($type:ty, $bytes:literal) => {
        impl Word for $type {
            #[inline(always)]
            fn read(lines: &[Line], bit: u64) -> Self {
                #[cfg(target_endian = "little")]
                {
                    let at = (bit / 8) as usize;
                    let bytes =
                        crate::store::bytes(lines)[at..at + $bytes].first_chunk().expect("so many bytes");
                    <$type>::from_le_bytes(*bytes) >> (bit % 8)
                }
                #[cfg(not(target_endian = "little"))]
                {
                    let words = &crate::store::words(lines)[(bit / 64) as usize..];
                    let word = |i: usize| u128::from(words.get(i).copied().unwrap_or(0));
                    let low = (word(0) | word(1) << 64) >> (bit % 64);
                    (low | if bit % 64 == 0 { 0 } else { word(2) << (128 - bit % 64) }) as $type
                }
            }
            #[inline(always)]
            fn of(wide: u128) -> Self {
                wide as Self
            }
            #[inline(always)]
            fn has(self, tag: u64, ones: Self, highs: Self) -> bool {
                // A lane is zero where the tags are equal. Subtracting 1 from each lane sets the top bit of the first zero
                // lane; it sets those of lanes above it wrongly at times, but only then.
                let differ = self ^ ones.wrapping_mul(tag.into());
                differ.wrapping_sub(ones) & !differ & highs != 0
            }
            #[inline(always)]
            fn and(self, mask: Self) -> Self {
                self & mask
            }
            #[inline(always)]
            fn less(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn lane(self, shift: u32, width: u32) -> u64 {
                (self >> shift) as u64 & ((1 << width) - 1)
            }
            #[inline(always)]
            fn is_zero_from(self, shift: u32) -> bool {
                self >> shift == 0
            }
        }
    };
}

word!(u64, 8);
word!(u128, 16);

/// The shape of a bucket of `B` lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes {
    pub(super) width: u32,
    ones: u128,
    highs: u128,
    mask: u128,
}

impl Lanes {
    pub(super) fn new(slots: u32, width: u32) -> Self {
        let ones = (0..slots).fold(0, |ones, slot| ones | 1 << (slot * width));
        let mask = if slots * width == 128 { u128::MAX } else { (1 << (slots * width)) - 1 };
        Self { width, ones, highs: ones << (width - 1), mask }
    }

    /// Whether 8 bytes hold a bucket of this shape wherever in its first byte it begins.
    pub(super) fn narrow(slots: u32, width: u32) -> bool {
        let bits = slots * width;
        let most_shift = 8 - (1 << bits.trailing_zeros().min(3));
        bits + most_shift <= 64
    }

    /// Where lanes begin and end, of a bucket that is one word.
    pub(super) fn narrow_masks(&self) -> (u64, u64) {
        (self.ones as u64, self.highs as u64)
    }

    /// The first bit of a bucket.
    #[inline(always)]
    pub(super) fn bit<const B: usize>(&self, bucket: u64) -> u64 {
        bucket * (B as u64 * u64::from(self.width))
    }

    /// As [`bit`](Self::bit), of a bucket whose number has 32 bits.
    #[inline(always)]
    pub(super) fn short_bit<const B: usize>(&self, bucket: u64) -> u64 {
        u64::from(bucket as u32) * u64::from(B as u32 * self.width)
    }

    /// Asks for a bucket: every ninth time its eight bytes lie in two lines of the cache.
    #[inline(always)]
    pub(super) fn fetch<const B: usize>(&self, by: Fetch, lines: &[Line], bucket: u64) {
        let byte = (self.bit::<B>(bucket) / 8) as usize;
        by.byte(lines, byte);
        by.byte(lines, byte + 7);
    }

    /// The bucket, and above it whatever follows.
    #[inline(always)]
    pub(super) fn peek<const B: usize, W: Word>(&self, lines: &[Line], bucket: u64) -> W {
        W::read(lines, self.bit::<B>(bucket))
    }

    /// The bucket and nothing else.
    #[inline(always)]
    pub(super) fn read<const B: usize, W: Word>(&self, lines: &[Line], bucket: u64) -> W {
        self.peek::<B, W>(lines, bucket).and(W::of(self.mask))
    }

    /// Whether one of the slots holds the tag. What follows the bucket does not matter.
    #[inline(always)]
    pub(super) fn has<W: Word>(&self, bucket: W, tag: u64) -> bool {
        bucket.has(tag, W::of(self.ones), W::of(self.highs))
    }

    /// Whether no slot is empty.
    #[inline(always)]
    pub(super) fn full<const B: usize, W: Word>(&self, bucket: W) -> bool {
        !bucket.is_zero_from((B as u32 - 1) * self.width)
    }

    /// How many slots are used, which is also the first empty one.
    #[inline(always)]
    pub(super) fn used<const B: usize, W: Word>(&self, bucket: W) -> usize {
        (0..B).map(|slot| usize::from(!bucket.is_zero_from(slot as u32 * self.width))).sum()
    }

    /// What a slot holds.
    #[inline(always)]
    pub(super) fn tag<W: Word>(&self, bucket: W, slot: usize) -> u64 {
        bucket.lane(slot as u32 * self.width, self.width)
    }

    /// How many slots hold the tag.
    pub(super) fn count<const B: usize, W: Word>(&self, bucket: W, tag: u64) -> u64 {
        (0..B).map(|slot| u64::from(self.tag(bucket, slot) == tag)).sum()
    }

    /// Writes a tag into a slot.
    #[inline(always)]
    pub(super) fn write<const B: usize>(&self, lines: &mut [Line], bucket: u64, slot: usize, tag: u64) {
        let bit = self.bit::<B>(bucket) + slot as u64 * u64::from(self.width);
        let mask = (1u64 << self.width) - 1;
        // Eight bytes from the byte where it begins: 32 bits fit behind any seven. Two words would take a branch on where the
        // slot is, which is known only when memory has answered.
        #[cfg(target_endian = "little")]
        {
            let (at, shift) = ((bit / 8) as usize, bit % 8);
            let bytes = bytes_mut(lines)[at..at + 8].first_chunk_mut().expect("so many bytes");
            *bytes = (u64::from_le_bytes(*bytes) & !(mask << shift) | tag << shift).to_le_bytes();
        }
        #[cfg(not(target_endian = "little"))]
        {
            let (at, shift) = ((bit / 64) as usize, (bit % 64) as u32);
            let words = crate::store::words_mut(lines);
            words[at] = words[at] & !(mask << shift) | tag << shift;
            if shift + self.width > 64 {
                let done = 64 - shift;
                words[at + 1] = words[at + 1] & !(mask >> done) | tag >> done;
            }
        }
    }

    /// Empties a slot; the last used one takes its place.
    pub(super) fn take<const B: usize, W: Word>(&self, lines: &mut [Line], bucket: u64, slot: usize) {
        let value = self.read::<B, W>(lines, bucket);
        let last = self.used::<B, W>(value).saturating_sub(1);
        self.write::<B>(lines, bucket, slot, self.tag(value, last));
        self.write::<B>(lines, bucket, last, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn behaves_like_an_array<const B: usize, W: Word>(width: u32, writes: &[(u64, usize, u64)]) {
        let lanes = Lanes::new(B as u32, width);
        let mut lines = vec![Line::ZERO; (50 * 4 * 32 + 128usize).div_ceil(512)];
        let mut model = [[0u64; B]; 50];
        for &(bucket, slot, tag) in writes {
            let (slot, tag) = (slot % B, tag & ((1 << width) - 1));
            lanes.write::<B>(&mut lines, bucket, slot, tag);
            model[bucket as usize][slot] = tag;
        }
        for (bucket, slots) in model.iter().enumerate() {
            let value: W = lanes.read::<B, W>(&lines, bucket as u64);
            for (slot, tag) in slots.iter().enumerate() {
                assert_eq!(lanes.tag(value, slot), *tag);
            }
            for &(_, _, tag) in writes {
                let tag = tag & ((1 << width) - 1);
                let peeked: W = lanes.peek::<B, W>(&lines, bucket as u64);
                assert_eq!(lanes.has(peeked, tag), slots.contains(&tag), "{tag} among {slots:?}");
                assert_eq!(
                    lanes.count::<B, W>(value, tag),
                    slots.iter().filter(|slot| **slot == tag).count() as u64
                );
            }
            assert_eq!(lanes.full::<B, W>(value), slots[B - 1] != 0);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn packed_buckets_behave_like_arrays(writes in prop::collection::vec((0u64..50, 0usize..4, any::<u64>()), 1..300)) {
            for width in 4..=32 {
                // Few values, so that equal ones meet.
                let writes: Vec<_> = writes.iter().map(|&(b, s, t)| (b, s, if t % 2 == 0 { t >> 1 & 3 } else { t })).collect();
                behaves_like_an_array::<4, u128>(width, &writes);
                behaves_like_an_array::<2, u128>(width, &writes);
                behaves_like_an_array::<1, u64>(width, &writes);
                if Lanes::narrow(4, width) {
                    behaves_like_an_array::<4, u64>(width, &writes);
                }
                if Lanes::narrow(2, width) {
                    behaves_like_an_array::<2, u64>(width, &writes);
                }
            }
        }
    }

    #[test]
    fn eight_bytes_are_enough_up_to_sixteen_bits() {
        for width in 4..=32 {
            assert_eq!(Lanes::narrow(4, width), width <= 16);
            assert!(Lanes::narrow(1, width));
        }
    }

    #[test]
    fn taking_a_slot_keeps_the_used_ones_in_front() {
        let lanes = Lanes::new(4, 13);
        let mut lines = [Line::ZERO; 2];
        for slot in 0..4 {
            lanes.write::<4>(&mut lines, 3, slot, 10 + slot as u64);
        }
        lanes.take::<4, u64>(&mut lines, 3, 1);
        let value: u64 = lanes.read::<4, u64>(&lines, 3);
        assert_eq!([0, 1, 2, 3].map(|slot| lanes.tag(value, slot)), [10, 13, 12, 0]);
        assert_eq!(lanes.used::<4, u64>(value), 3);
    }
}
