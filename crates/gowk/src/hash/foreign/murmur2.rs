//! MurmurHash64A [Appleby 2008], as RedisBloom uses it.

use super::{Digest, KeyHash, partial};

const M: u64 = 0xc6a4_a793_5bd1_e995;

#[inline(always)]
fn mixed(k: u64) -> u64 {
    let k = k.wrapping_mul(M);
    (k ^ k >> 47).wrapping_mul(M)
}

#[inline(always)]
fn finish(h: u64) -> u64 {
    let h = (h ^ h >> 47).wrapping_mul(M);
    h ^ h >> 47
}

#[inline(always)]
fn murmur64a(bytes: &[u8], seed: u64) -> u64 {
    let (words, tail) = bytes.as_chunks::<8>();
    let mut h = seed ^ (bytes.len() as u64).wrapping_mul(M);
    for word in words {
        h = (h ^ mixed(u64::from_le_bytes(*word))).wrapping_mul(M);
    }
    if !tail.is_empty() {
        h = (h ^ partial(tail)).wrapping_mul(M);
    }
    finish(h)
}

/// MurmurHash64A with seed 0, as RedisBloom's cuckoo filter takes it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Murmur2;

impl KeyHash for Murmur2 {
    #[inline]
    fn bytes(&self, bytes: &[u8]) -> Digest {
        Digest::from(murmur64a(bytes, 0))
    }

    #[inline(always)]
    fn word(&self, word: u64) -> Digest {
        self.bytes(&word.to_le_bytes())
    }
}

/// MurmurHash64A, and once more with the first hash as the seed, as RedisBloom's Bloom filter takes it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Murmur2Twice;

impl KeyHash for Murmur2Twice {
    #[inline]
    fn bytes(&self, bytes: &[u8]) -> Digest {
        let h1 = murmur64a(bytes, M);
        Digest { h1, h2: murmur64a(bytes, h1) }
    }

    #[inline(always)]
    fn word(&self, word: u64) -> Digest {
        self.bytes(&word.to_le_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of `golden/redis/redis_golden.py`, whose answers are RedisBloom's.
    #[test]
    fn the_hash_is_pinned() {
        let cases: [(&[u8], u64, u64, u64); 4] = [
            (b"", 0, 0x1ab1_1ea5_a7b2_c56e, 0xbbdd_cb5a_b56d_d547),
            (b"gowk", 0x91f9_43a2_625f_d032, 0x4b28_e632_397b_c32b, 0xbe52_f92e_ec18_3a63),
            (b"8 bytes.", 0xba57_08b4_b6b1_516d, 0x083f_eede_7177_ccd8, 0xb1c9_8954_5313_4823),
            (
                b"the quick brown fox \xff\xfe",
                0xba3b_8b00_157f_bac0,
                0x5b3f_631b_8c3a_6a62,
                0x7e31_bf1c_2c04_852c,
            ),
        ];
        for (key, once, h1, h2) in cases {
            assert_eq!(Murmur2.bytes(key).h1, once, "{key:?}");
            assert_eq!(Murmur2Twice.bytes(key), Digest { h1, h2 }, "{key:?}");
        }
    }
}
