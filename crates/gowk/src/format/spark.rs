//! Spark's `org.apache.spark.util.sketch.BloomFilter`, versions 1 and 2, sized as Spark sizes it.
//!
//! ```text
//! version 1                                version 2, the default since Spark 4.1          big-endian
//! byte 0   i32 1                           byte 0   i32 2
//!      4   probes k, i32                        4   probes k, i32
//!      8   number of words, i32                 8   seed, i32
//!     12   the words                           12   number of words, i32
//!                                              16   the words
//! ```
//!
//! Bit i is bit i mod 64 of word i / 64, out of 64 * words in all.
//!
//! **Keys**: `putLong`, to which all integer types of Spark widen, is `7i64` (8 bytes, little-endian); `putString` is UTF-8 text;
//! `putBinary` the bytes themselves. Integers are 8 bytes in gowk, so `7i32` is the same key as Spark's int 7.
//!
//! **Walks**: version 1 steps in 32 bits (h1 + i h2), so that filters of millions of keys lose their rate (SPARK-47547); version 2
//! in 64 bits, from h1 (2^31 - 1) on. gowk writes version 2 unless told otherwise.

use super::foreign::{
    Format,
    bloom::{ForeignBloom, MOST_PROBES, Maker, Walk},
    error::ForeignError,
    fields::Fields,
    file::Headed,
    modulus::Modulus,
    sizing::{checked, java_bits, java_probes, promise_of},
};
use crate::{
    error::{MergeError, ParamsError},
    hash::{Digest, HashId, Hasher, Seed, foreign::SparkMurmur3},
    params::Promise,
};
use alloc::vec::Vec;

/// A filter of Spark's.
///
/// ```
/// use gowk::{Filter, Insert, format::spark::{SparkBloom, Version}};
///
/// let mut seen = SparkBloom::create(1_000, 0.03, Version::V2 { seed: 0 })?;   // df.stat.bloomFilter("id", 1000, 0.03)
/// seen.insert(&42i64);
/// let again = SparkBloom::from_bytes(&seen.to_bytes())?;
/// assert!(again.may_contain(&42i64) && !again.may_contain("heron"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type SparkBloom<B = Vec<u8>> = ForeignBloom<Spark, B>;

/// The version of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// All Sparks from 2.0 on; steps in 32 bits.
    V1,
    /// From Spark 4.1 on; steps in 64 bits, and has a seed.
    V2 {
        /// What the hash is seeded with; 0 in Spark, unless told otherwise.
        seed: i32,
    },
}

impl Version {
    /// Its number in the file.
    pub fn number(self) -> i32 {
        match self {
            Self::V1 => 1,
            Self::V2 { .. } => 2,
        }
    }

    fn seed(self) -> i32 {
        match self {
            Self::V1 => 0,
            Self::V2 { seed } => seed,
        }
    }
}

/// The shape of a filter of Spark's.
#[derive(Clone, Debug)]
pub struct Spark {
    version: Version,
    probes: u32,
    modulus: Modulus,
    promise: Promise,
}

/// The rate of a filter that Spark was not told one for.
pub const DEFAULT_FPP: f64 = 0.03;

impl Spark {
    /// The shape that Spark gives a filter for so many keys at this rate.
    pub fn sized(items: u64, fpp: f64, version: Version) -> Result<Self, ParamsError> {
        let promise = checked(items, fpp)?;
        let bits = java_bits(promise.items, fpp);
        let probes = java_probes(bits, promise.items) as u64;
        Self::with_shape(bits, probes, version).map(|shape| Self { promise, ..shape })
    }

    /// A filter of at least so many bits, and so many probes. Spark has at most 2^31 - 1 words.
    pub fn with_shape(bits: u64, probes: u64, version: Version) -> Result<Self, ParamsError> {
        let range = |what, value, most| match (1..=most).contains(&value) {
            true => Ok(()),
            false => Err(ParamsError::OutOfRange { what, value, least: 1, most }),
        };
        range("bits", bits, 64 * i32::MAX as u64)?;
        range("probes", probes, MOST_PROBES.into())?;
        Ok(Self::of_words(version, probes as u32, bits.div_ceil(64)))
    }

    fn of_words(version: Version, probes: u32, words: u64) -> Self {
        Self { version, probes, modulus: Modulus::new(64 * words), promise: promise_of(64 * words, probes) }
    }

    /// The version, and the seed.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Spark's `bitSize`.
    pub fn bit_size(&self) -> u64 {
        self.modulus.get()
    }
}

impl SparkBloom {
    /// Spark's `BloomFilter.create(expectedNumItems, fpp)`.
    pub fn create(items: u64, fpp: f64, version: Version) -> Result<Self, ParamsError> {
        Self::empty(Spark::sized(items, fpp, version)?)
    }
}

impl Maker for Spark {
    const FORMAT: Format = Format::Spark;
    const FLIP: usize = 7;
    type Hash = SparkMurmur3;

    #[inline(always)]
    fn hash(&self) -> SparkMurmur3 {
        SparkMurmur3 { seed: self.version.seed() }
    }

    fn hasher(&self) -> Hasher {
        Hasher::with_id(HashId::SparkMurmur3, Seed::from(u64::from(self.version.seed().cast_unsigned())))
    }

    #[inline(always)]
    fn bits(&self) -> u64 {
        self.modulus.get()
    }

    #[inline(always)]
    fn probes(&self) -> u32 {
        self.probes
    }

    fn promise(&self) -> Promise {
        self.promise
    }

    #[inline(always)]
    fn walk(&self, digest: Digest) -> Walk {
        match self.version {
            Version::V1 => Walk { x: digest.h1, y: digest.h2 },
            Version::V2 { .. } => {
                let (h1, h2) = (i64::from(digest.h1 as i32), i64::from(digest.h2 as i32));
                Walk { x: (h1 * i64::from(i32::MAX)) as u64, y: h2 as u64 }
            }
        }
    }

    #[inline(always)]
    fn next(&self, walk: &mut Walk) -> u64 {
        let x = match self.version {
            Version::V1 => super::foreign::step32(walk),
            Version::V2 { .. } => {
                walk.x = walk.x.wrapping_add(walk.y);
                // Negative numbers are flipped to be asked, and go on unflipped.
                walk.x ^ (walk.x.cast_signed() >> 63) as u64
            }
        };
        self.modulus.of(x)
    }

    fn fits(&self, other: &Self) -> Result<(), MergeError> {
        let number = |shape: &Self| shape.version.number() as u64;
        MergeError::unless_same("version", number(self), number(other))?;
        MergeError::unless_same("probes", self.probes.into(), other.probes.into())?;
        MergeError::unless_same("bits", self.bits(), other.bits())
    }
}

impl Headed for Spark {
    fn parse(bytes: &[u8]) -> Result<(Self, usize), ForeignError> {
        let mut fields = Fields::new(Format::Spark, bytes);
        let version = fields.be_i32("the version")?;
        if !(1..=2).contains(&version) {
            let found = version.into();
            return Err(ForeignError::Version { format: Format::Spark, offset: 0, found, known: "1 and 2" });
        }
        let probes = fields.be_i32("the number of hash functions")?;
        if !(1..=MOST_PROBES as i32).contains(&probes) {
            return Err(fields.wrong("the number of hash functions", 4, probes, "it must be from 1 to 255"));
        }
        let version = match version {
            1 => Version::V1,
            _ => Version::V2 { seed: fields.be_i32("the seed")? },
        };
        let words = fields.be_i32("the number of words")?;
        if words < 1 {
            return Err(fields.wrong("the number of words", 4, words, "it must be above 0"));
        }
        Ok((Self::of_words(version, probes as u32, words as u64), fields.read()))
    }

    #[expect(clippy::big_endian_bytes, reason = "Java writes its numbers so")]
    fn head(&self) -> Vec<u8> {
        let mut head = Vec::new();
        let mut field = |number: i32| head.extend_from_slice(&number.to_be_bytes());
        field(self.version.number());
        field(self.probes as i32);
        if let Version::V2 { seed } = self.version {
            field(seed);
        }
        field((self.bits() / 64) as i32);
        head
    }
}
