//! LevelDB's 32-bit hash, as its filter policy seeds it.

use super::{Digest, KeyHash, partial};

/// LevelDB's hash with the seed of its Bloom filter.
#[derive(Clone, Copy, Debug, Default)]
pub struct LevelDb;

const M: u32 = 0xc6a4_a793;
const SEED: u32 = 0xbc9f_1d34;

impl KeyHash for LevelDb {
    #[inline]
    fn bytes(&self, bytes: &[u8]) -> Digest {
        let (words, tail) = bytes.as_chunks::<4>();
        let mut h = SEED ^ (bytes.len() as u32).wrapping_mul(M);
        for word in words {
            h = h.wrapping_add(u32::from_le_bytes(*word)).wrapping_mul(M);
            h ^= h >> 16;
        }
        if !tail.is_empty() {
            h = h.wrapping_add(partial(tail) as u32).wrapping_mul(M);
            h ^= h >> 24;
        }
        Digest { h1: h.into(), h2: 0 }
    }

    #[inline(always)]
    fn word(&self, word: u64) -> Digest {
        self.bytes(&word.to_le_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of LevelDB's own test, which seeds with 0xbc9f1d34 as well.
    #[test]
    fn the_hash_is_leveldbs() {
        let hash = |bytes: &[u8]| LevelDb.bytes(bytes).h1;
        assert_eq!(hash(b""), 0xbc9f_1d34);
        assert_eq!(hash(&[0x62]), 0xef13_45c4);
        assert_eq!(hash(&[0xc3, 0x97]), 0x5b66_3814);
        assert_eq!(hash(&[0xe2, 0x99, 0xa5]), 0x323c_078f);
        assert_eq!(hash(&[0xe1, 0x80, 0xb9, 0x32]), 0xed21_633a);
    }
}
