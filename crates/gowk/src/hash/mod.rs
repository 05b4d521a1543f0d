//! From a key to its [`Digest`]: once per key, the same in every process, version and machine.
//!
//! Everything after this folder speaks `Digest`, so the hash decides three promises at once.
//!
//! **Stable.** Keys are bytes ([`Key`]), never `std::hash::Hash`, whose output is not portable. A hash has a name and a
//! number ([`HashId`]) that go into the file header, and vectors that pin it in the tests; it is never changed, only
//! joined by a new one.
//!
//! **Keyed.** With a public hash an attacker who may choose keys fills a 1 % Bloom filter to 7.7 %, or prepares keys
//! that are all answered "maybe" [Gerbet, Kumar, Lauradoux 2015]. A seed that is only added in at the start does not
//! help where a collision inside the function survives every seed, as it does in the Murmur family and in wyhash with its
//! public multipliers. So the default hash draws all its multipliers from the seed, and every filter draws a fresh
//! 128-bit [`Seed`] unless told otherwise.
//!
//! **Cheap.** One key costs two wide multiplications.
//!
//! | hash | secret | u64 key | 16..24 bytes | for |
//! |---|---|---|---|---|
//! | [`HashId::Rapid`] (default) | 64-bit seed and 7 secret words, expanded from the [`Seed`] | 9 instructions | about 20 | everything |
//! | [`HashId::Sip13`] ([`Hasher::hardened`]) | 128-bit key | about 60 | about 90 | keys chosen by an adversary who sees answers |
//!
//! Why rapidhash v3 and not XXH3 with a secret: on 8-byte keys XXH3 only xors the secret into the key before public
//! multiplications, so differences between keys survive it; rapidhash multiplies by the secret. It is also shorter
//! (9 instructions to 16), and a lookup that misses the cache is paid by the instruction: fewer of them, more lookups in
//! flight. Neither is a cryptographic function; where an attacker can observe answers at length, take `Sip13`.

pub mod foreign;
mod key;
mod rapid;
mod seed;

pub use key::Key;
pub(crate) use rapid::{Rapid, RapidBy, TextSecrets, WordSecrets};
pub use seed::Seed;

use crate::{error::MergeError, unwinding};
use core::hash::Hasher as _;
use siphasher::sip::SipHasher13;

/// What a filter knows of a key: two 64-bit words.
///
/// gowk's own layouts need only `h1`, which is why [`Digest::from`] a `u64` loses nothing; `h2` is there for schemes of
/// other systems (Guava, RedisBloom) that hash twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Digest {
    /// The hash.
    pub h1: u64,
    /// A second word; for gowk's own hashes a fixed function of the first.
    pub h2: u64,
}

impl Digest {
    /// The multiplier that makes further words of a digest, chosen by the spectral test, so that products by its powers are
    /// as good as independent [Steele, Vigna 2022]. Part of the file format.
    pub(crate) const SPREAD: u64 = 0xd134_2543_de82_ef95;
}

impl From<u64> for Digest {
    /// The digest of a key that the caller has hashed: all 64 bits must be well mixed.
    ///
    /// An integer that was *not* hashed belongs into `insert(&n)`, not here.
    #[inline(always)]
    fn from(h1: u64) -> Self {
        // The shift keeps h2 from being a multiple of h1, which schemes that add the two would notice.
        Self { h1, h2: (h1 ^ (h1 >> 32)).wrapping_mul(Self::SPREAD) }
    }
}

/// The number by which a file names its hash. Appended to, never changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum HashId {
    /// rapidhash v3, its seed and secrets expanded from the filter's [`Seed`].
    Rapid = 1,
    /// SipHash-1-3, keyed with the filter's [`Seed`].
    Sip13 = 2,
    /// [`foreign::Murmur3X64`], of Guava.
    Murmur3X64 = 16,
    /// [`foreign::SparkMurmur3`]; the low 32 bits of the [`Seed`] are Spark's.
    SparkMurmur3 = 17,
    /// [`foreign::Murmur2Twice`], of RedisBloom's Bloom filters.
    Murmur2Twice = 18,
    /// [`foreign::Murmur2`], of RedisBloom's cuckoo filters.
    Murmur2 = 19,
    /// [`foreign::Xxh64`], of Parquet.
    Xxh64 = 20,
    /// [`foreign::Fnv1`], of DCSO.
    Fnv1 = 21,
    /// [`foreign::LevelDb`].
    LevelDb = 22,
}

impl HashId {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Rapid,
        Self::Sip13,
        Self::Murmur3X64,
        Self::SparkMurmur3,
        Self::Murmur2Twice,
        Self::Murmur2,
        Self::Xxh64,
        Self::Fnv1,
        Self::LevelDb,
    ];

    /// The hash of this number, if this version knows it.
    pub fn from_tag(tag: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|id| *id as u8 == tag)
    }

    /// Whether it is another system's: public, unseeded, and only for files of that system.
    pub fn is_foreign(self) -> bool {
        self as u8 >= Self::Murmur3X64 as u8
    }

    /// The name under which humans meet it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rapid => "rapidhash-v3",
            Self::Sip13 => "siphash-1-3",
            Self::Murmur3X64 => "murmur3-x64-128",
            Self::SparkMurmur3 => "murmur3-x86-32 of Spark",
            Self::Murmur2Twice => "murmurhash64a, twice",
            Self::Murmur2 => "murmurhash64a",
            Self::Xxh64 => "xxh64",
            Self::Fnv1 => "fnv-1",
            Self::LevelDb => "leveldb",
        }
    }
}

/// A hash function that keys are fed to.
pub trait KeyHash {
    /// Whether the second word of every digest is the one that [`Digest::from`] makes of the first. Bulk calls then keep half of each.
    const IS_ONE_WORD: bool = false;

    /// The digest of a key's bytes.
    fn bytes(&self, bytes: &[u8]) -> Digest;

    /// The digest of the 8 little-endian bytes of an integer; the same as [`bytes`](Self::bytes) of them.
    fn word(&self, word: u64) -> Digest;

    /// What makes the first words of digests of integers, if this is the default hash: bulk calls then hash eight at once.
    #[doc(hidden)]
    #[inline(always)]
    fn word_secrets(&self) -> Option<&WordSecrets> {
        None
    }

    /// And of text.
    #[doc(hidden)]
    #[inline(always)]
    fn text_secrets(&self) -> Option<TextSecrets> {
        None
    }
}

/// No hash: of an integer it gives the integer.
pub(crate) struct Unhashed;

impl KeyHash for Unhashed {
    #[inline(always)]
    fn bytes(&self, _: &[u8]) -> Digest {
        Digest::default()
    }

    #[inline(always)]
    fn word(&self, word: u64) -> Digest {
        Digest { h1: word, h2: 0 }
    }
}

/// Turns keys into digests: a named hash and its seed.
///
/// Filters whose hashers are equal give every key the same digest, which is what merging them asks for.
#[derive(Clone, Copy)]
pub struct Hasher {
    id: HashId,
    seed: Seed,
    rapid: Rapid,
}

impl Hasher {
    /// The default hash under this seed.
    pub fn new(seed: impl Into<Seed>) -> Self {
        Self::with_id(HashId::Rapid, seed.into())
    }

    /// SipHash-1-3 under this seed: for keys that come from an adversary.
    pub fn hardened(seed: impl Into<Seed>) -> Self {
        Self::with_id(HashId::Sip13, seed.into())
    }

    /// The hash of this number under this seed, as a file header names them.
    pub fn with_id(id: HashId, seed: Seed) -> Self {
        Self { id, seed, rapid: Rapid::new(seed) }
    }

    /// Which hash it is.
    pub fn id(&self) -> HashId {
        self.id
    }

    /// The seed, which is the secret: whoever has it can prepare keys.
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// Whether the other gives every key the same digest; the error names what differs.
    pub fn fits(&self, other: &Self) -> Result<(), MergeError> {
        match () {
            () if self.id != other.id => {
                Err(MergeError::Hash { ours: self.id.name(), theirs: other.id.name() })
            }
            () if self.seed != other.seed => Err(MergeError::Seed),
            () => Ok(()),
        }
    }

    /// The digest of a key.
    #[inline(always)]
    pub fn digest<K: Key + ?Sized>(&self, key: &K) -> Digest {
        key.digest(self)
    }

    /// The digest of a key's bytes.
    #[inline(always)]
    pub fn bytes(&self, bytes: &[u8]) -> Digest {
        KeyHash::bytes(self, bytes)
    }

    /// The digest of the 8 little-endian bytes of an integer; the same as [`bytes`](Self::bytes) of them, but shorter.
    #[inline(always)]
    pub fn word(&self, word: u64) -> Digest {
        KeyHash::word(self, word)
    }

    /// The default hash, if that is what this hasher does: for code that asks once and then hashes many keys.
    #[inline(always)]
    pub(crate) fn as_rapid(&self) -> Option<&Rapid> {
        (self.id == HashId::Rapid).then_some(&self.rapid)
    }

    /// The default hash under this hasher's seed, whatever it does. The caller has asked [`as_rapid`](Self::as_rapid).
    #[inline(always)]
    pub(crate) fn rapid(&self) -> &Rapid {
        &self.rapid
    }

    /// All hashes but the default one, which is to be short where it is used.
    #[inline(never)]
    fn other(&self, bytes: &[u8]) -> Digest {
        match self.id {
            HashId::Rapid => self.rapid.bytes(bytes),
            HashId::Sip13 => {
                let mut sip = SipHasher13::new_with_key(&self.seed.to_bytes());
                sip.write(bytes);
                Digest::from(sip.finish())
            }
            HashId::Murmur3X64 => foreign::Murmur3X64.bytes(bytes),
            HashId::SparkMurmur3 => self.spark().bytes(bytes),
            HashId::Murmur2Twice => foreign::Murmur2Twice.bytes(bytes),
            HashId::Murmur2 => foreign::Murmur2.bytes(bytes),
            HashId::Xxh64 => foreign::Xxh64.bytes(bytes),
            HashId::Fnv1 => foreign::Fnv1.bytes(bytes),
            HashId::LevelDb => foreign::LevelDb.bytes(bytes),
        }
    }

    /// Spark's hash under this hasher's seed, whatever it does.
    pub(crate) fn spark(&self) -> foreign::SparkMurmur3 {
        let seed = self.seed.to_bytes();
        foreign::SparkMurmur3 { seed: i32::from_le_bytes([seed[0], seed[1], seed[2], seed[3]]) }
    }
}

impl KeyHash for Hasher {
    #[inline(always)]
    fn bytes(&self, bytes: &[u8]) -> Digest {
        match self.id {
            HashId::Rapid => self.rapid.bytes(bytes),
            _ => unwinding::never(|| self.other(bytes)),
        }
    }

    #[inline(always)]
    fn word(&self, word: u64) -> Digest {
        match self.id {
            HashId::Rapid => self.rapid.word(word),
            _ => unwinding::never(|| self.other(&word.to_le_bytes())),
        }
    }
}

impl PartialEq for Hasher {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.seed == other.seed
    }
}

impl Eq for Hasher {}

/// The seed is a secret and stays out of logs.
impl core::fmt::Debug for Hasher {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Hasher({}, seed hidden)", self.id.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Digests of version 1, for ever. The same numbers come out of `golden/gowk-v1/check.py`, which shares no code with us.
    #[test]
    fn the_default_hash_is_pinned() {
        let hasher = Hasher::new(42);
        assert_eq!(hasher.bytes(b"").h1, 0xc123_7abc_0b51_c35f);
        assert_eq!(hasher.bytes(b"g").h1, 0x5e9a_06e3_46dd_0aac);
        assert_eq!(hasher.bytes(b"gowk").h1, 0x9ba4_b8d4_b268_e2b0);
        assert_eq!(hasher.bytes(b"phone:+44 20 7946 0958").h1, 0xd6cd_e4a9_d9d8_fb73);
        assert_eq!(hasher.word(42).h1, 0xbb8e_e0c8_f097_6002);
    }

    #[test]
    fn the_hardened_hash_is_siphash_1_3() {
        // Of the standard library's own SipHash-1-3, which has an all-zero key.
        let mut std = std::hash::DefaultHasher::new();
        std.write(b"an independent implementation");
        let ours = Hasher::hardened(Seed::from_bytes([0; 16]));
        assert_eq!(ours.bytes(b"an independent implementation").h1, std.finish());
        // The empty message under the key 00 01 .. 0f, as published.
        let ours = Hasher::hardened(Seed::from_bytes(core::array::from_fn(|i| i as u8)));
        assert_eq!(ours.bytes(b"").h1, 0xabac_0158_050f_c4dc);
    }

    #[test]
    fn every_hash_has_a_number_of_its_own() {
        for id in HashId::ALL {
            assert_eq!(HashId::from_tag(id as u8), Some(id));
        }
        assert_eq!(HashId::from_tag(0), None);
        assert!(!HashId::Sip13.is_foreign() && HashId::Murmur3X64.is_foreign());
    }

    #[test]
    fn a_hasher_of_another_system_is_its_hash() {
        let hasher = |id| Hasher::with_id(id, Seed::from(u64::from((-7i32).cast_unsigned())));
        let key = b"http://example.org/\xff";
        for (id, digest) in [
            (HashId::Murmur3X64, foreign::Murmur3X64.bytes(key)),
            (HashId::SparkMurmur3, foreign::SparkMurmur3 { seed: -7 }.bytes(key)),
            (HashId::Murmur2Twice, foreign::Murmur2Twice.bytes(key)),
            (HashId::Murmur2, foreign::Murmur2.bytes(key)),
            (HashId::Xxh64, foreign::Xxh64.bytes(key)),
            (HashId::Fnv1, foreign::Fnv1.bytes(key)),
            (HashId::LevelDb, foreign::LevelDb.bytes(key)),
        ] {
            assert_eq!(hasher(id).bytes(key), digest, "{}", id.name());
        }
    }

    #[test]
    fn seeds_change_every_digest() {
        let digests: Vec<u64> = (0..64).map(|seed| Hasher::new(seed).bytes(b"key").h1).collect();
        let mut unique = digests.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), digests.len());
    }

    #[test]
    fn debug_keeps_the_seed_secret() {
        let text = format!("{:?}", Hasher::new(123_456_789));
        assert!(!text.contains("123456789"), "{text}");
    }

    proptest! {
        #[test]
        fn an_integer_is_its_eight_bytes(key: u64, seed: u64) {
            for hasher in [Hasher::new(seed), Hasher::hardened(seed)] {
                prop_assert_eq!(hasher.word(key), hasher.bytes(&key.to_le_bytes()));
            }
        }
    }
}
