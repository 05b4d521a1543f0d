//! The hashes of other systems, each as its maker wrote it, to the bit.
//!
//! They are public and (but for Spark's) without a seed, so whoever chooses the keys can choose the false positives: they are
//! here for files that exist, not for new filters.
//!
//! | hash | made by | its digest |
//! |---|---|---|
//! | [`Murmur3X64`] | Guava | h1, h2: the two halves of MurmurHash3_x64_128, seed 0 |
//! | [`SparkMurmur3`] | Spark | h1: Murmur3_x86_32 under the filter's seed; h2: the same under seed h1; 32 bits each |
//! | [`Murmur2Twice`] | RedisBloom, `BF` | h1: MurmurHash64A under a fixed seed; h2: the same under seed h1 |
//! | [`Murmur2`] | RedisBloom, `CF` | h1: MurmurHash64A, seed 0 |
//! | [`Xxh64`] | Parquet | h1: XXH64, seed 0 |
//! | [`Fnv1`] | DCSO | h1: FNV-1 of 64 bits, modulo the largest prime below 2^64 |
//! | [`LevelDb`] | LevelDB | h1: its own 32-bit hash |

mod fnv;
mod leveldb;
mod murmur2;
mod murmur3;
mod spark;

pub use fnv::Fnv1;
pub use leveldb::LevelDb;
pub use murmur2::{Murmur2, Murmur2Twice};
pub use murmur3::Murmur3X64;
pub use spark::SparkMurmur3;

use super::{Digest, KeyHash};

/// XXH64 with seed 0, as Parquet has it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Xxh64;

impl KeyHash for Xxh64 {
    #[inline(always)]
    fn bytes(&self, bytes: &[u8]) -> Digest {
        Digest::from(xxhash_rust::xxh64::xxh64(bytes, 0))
    }

    #[inline(always)]
    fn word(&self, word: u64) -> Digest {
        self.bytes(&word.to_le_bytes())
    }
}

/// Up to eight bytes as the low bytes of a word.
#[inline(always)]
fn partial(bytes: &[u8]) -> u64 {
    let byte = |at: usize| u64::from(bytes[at]) << (8 * at);
    match bytes.len() {
        0 => 0,
        // One, two or three bytes: the first, the middle one and the last are all there are.
        len @ 1..4 => byte(0) | byte(len / 2) | byte(len - 1),
        // Two reads that overlap where there are fewer than eight.
        len => {
            let half =
                |at: usize| u64::from(u32::from_le_bytes(*bytes[at..].first_chunk().expect("four bytes")));
            half(0) | half(len - 4) << (8 * (len - 4))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn part_of_a_word_is_its_low_bytes() {
        let bytes = [0x91, 0x82, 0x73, 0xf4, 0x55, 0x46, 0x37, 0xe8];
        for len in 0..=8 {
            let mut word = [0; 8];
            word[..len].copy_from_slice(&bytes[..len]);
            assert_eq!(partial(&bytes[..len]), u64::from_le_bytes(word), "{len} bytes");
        }
    }

    proptest! {
        #[test]
        fn an_integer_is_its_eight_bytes(key: u64, seed: i32) {
            let bytes = key.to_le_bytes();
            prop_assert_eq!(Murmur3X64.word(key), Murmur3X64.bytes(&bytes));
            prop_assert_eq!(SparkMurmur3 { seed }.word(key), SparkMurmur3 { seed }.bytes(&bytes));
            prop_assert_eq!(Murmur2Twice.word(key), Murmur2Twice.bytes(&bytes));
            prop_assert_eq!(Murmur2.word(key), Murmur2.bytes(&bytes));
            prop_assert_eq!(Fnv1.word(key), Fnv1.bytes(&bytes));
            prop_assert_eq!(LevelDb.word(key), LevelDb.bytes(&bytes));
        }
    }
}
