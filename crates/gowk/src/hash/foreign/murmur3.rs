//! MurmurHash3_x64_128 [Appleby 2011], with seed 0.

use super::{Digest, KeyHash, partial};

/// MurmurHash3 for 64-bit machines, 128 bits, seed 0: Guava's `Hashing.murmur3_128()`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Murmur3X64;

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

#[inline(always)]
fn mix1(k: u64) -> u64 {
    k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

#[inline(always)]
fn mix2(k: u64) -> u64 {
    k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

#[inline(always)]
fn finish(mut k: u64) -> u64 {
    k = (k ^ k >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    k = (k ^ k >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    k ^ k >> 33
}

/// The last up to 15 bytes as two words, and the length.
#[inline(always)]
fn digest(mut h1: u64, mut h2: u64, low: u64, high: u64, len: u64) -> Digest {
    // A word of zeros mixes to zero, so an empty tail needs no question.
    h2 ^= mix2(high);
    h1 ^= mix1(low);
    h1 ^= len;
    h2 ^= len;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    h1 = finish(h1);
    h2 = finish(h2);
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    Digest { h1, h2 }
}

impl KeyHash for Murmur3X64 {
    #[inline]
    fn bytes(&self, bytes: &[u8]) -> Digest {
        let (blocks, tail) = bytes.as_chunks::<16>();
        let (mut h1, mut h2) = (0u64, 0u64);
        for block in blocks {
            let (low, high) = block.split_at(8);
            h1 ^= mix1(partial(low));
            h1 = h1.rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52dc_e729);
            h2 ^= mix2(partial(high));
            h2 = h2.rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5ab5);
        }
        let (low, high) = tail.split_at(tail.len().min(8));
        digest(h1, h2, partial(low), partial(high), bytes.len() as u64)
    }

    #[inline(always)]
    fn word(&self, word: u64) -> Digest {
        digest(0, 0, word, 0, 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of `golden/verify_java_formats.py`, whose answers are Guava's.
    #[test]
    fn the_hash_is_pinned() {
        let cases: [(&[u8], u64, u64); 5] = [
            (b"", 0, 0),
            (b"g", 0xbc5d_b79a_f8a6_9ada, 0xfd71_b1b1_2da0_3362),
            (b"gowk", 0x19c6_61dd_d0b9_e4dc, 0x16f6_2ad3_5384_02f9),
            (b"sixteen bytes...", 0x68cb_0ad8_aa3a_1e62, 0xa52c_158b_14d8_3a8e),
            (b"the quick brown fox jumps over \xff\xfe", 0xcdf9_927b_26ff_6252, 0x6997_6bee_fcf0_b7e7),
        ];
        for (key, h1, h2) in cases {
            assert_eq!(Murmur3X64.bytes(key), Digest { h1, h2 }, "{key:?}");
        }
    }
}
