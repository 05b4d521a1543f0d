//! Murmur3_x86_32 as `org.apache.spark.util.sketch` has it, which is not quite the one of Appleby: each byte of the tail is
//! mixed in as a word of its own, with its sign.

use super::{Digest, KeyHash};

/// Spark's hash under a filter's seed, and once more with the first hash as the seed.
#[derive(Clone, Copy, Debug, Default)]
pub struct SparkMurmur3 {
    /// The seed of the filter; 0 in version 1.
    pub seed: i32,
}

#[inline(always)]
fn mixed(k: u32) -> u32 {
    k.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593)
}

#[inline(always)]
fn mix(h: u32, k: u32) -> u32 {
    (h ^ mixed(k)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
}

#[inline(always)]
fn finish(h: u32, len: u32) -> u32 {
    let h = h ^ len;
    let h = (h ^ h >> 16).wrapping_mul(0x85eb_ca6b);
    let h = (h ^ h >> 13).wrapping_mul(0xc2b2_ae35);
    h ^ h >> 16
}

#[inline(always)]
fn hash(bytes: &[u8], seed: u32) -> u32 {
    let (words, tail) = bytes.as_chunks::<4>();
    let mut h = seed;
    for word in words {
        h = mix(h, u32::from_le_bytes(*word));
    }
    for byte in tail {
        h = mix(h, byte.cast_signed() as u32);
    }
    finish(h, bytes.len() as u32)
}

impl KeyHash for SparkMurmur3 {
    #[inline]
    fn bytes(&self, bytes: &[u8]) -> Digest {
        let h1 = hash(bytes, self.seed as u32);
        Digest { h1: h1.into(), h2: hash(bytes, h1).into() }
    }

    #[inline(always)]
    fn word(&self, word: u64) -> Digest {
        self.bytes(&word.to_le_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of `golden/verify_java_formats.py`, whose answers are Spark's.
    #[test]
    fn the_hash_is_pinned() {
        let cases: [(&[u8], i32, u64, u64); 5] = [
            (b"", 0, 0, 0),
            (b"gowk", 0, 0x3d10_1c36, 0xb74f_4f5d),
            (b"seven\x80\xff", 7, 0x936f_b921, 0x162b_4fb8),
            (b"gowk", -123_456_789, 0x5f56_3ab3, 0xdfbc_669a),
            (b"\x2a\0\0\0\0\0\0\0", 1, 0x6450_b234, 0x1f59_60e3),
        ];
        for (key, seed, h1, h2) in cases {
            assert_eq!(SparkMurmur3 { seed }.bytes(key), Digest { h1, h2 }, "{key:?} under {seed}");
        }
    }
}
