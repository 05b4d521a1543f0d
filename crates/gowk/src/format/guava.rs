//! Guava's `BloomFilter`, as `writeTo` writes it and `readFrom` reads it, sized as Guava sizes it.
//!
//! ```text
//! byte 0   strategy: 0 MURMUR128_MITZ_32, 1 MURMUR128_MITZ_64        big-endian
//!      1   probes k, 1..255
//!      2   number of longs, i32
//!      6   the longs; bit i is bit i mod 64 of long i / 64, out of 64 * longs in all
//! ```
//!
//! **Keys** are what Guava's funnels feed to the hash:
//!
//! | funnel | bytes | here |
//! |---|---|---|
//! | `integerFunnel()` | 4, little-endian | `7i32.to_le_bytes()`, or [`Int(7)`](super::foreign::keys::Int) |
//! | `longFunnel()` | 8, little-endian | `7i64`: integers are 8 bytes in gowk |
//! | `stringFunnel(UTF_8)` | UTF-8 | `"text"` |
//! | `unencodedCharsFunnel()` | UTF-16, little-endian | [`Utf16("text")`](super::foreign::keys::Utf16) |
//! | `byteArrayFunnel()` | themselves | `b"bytes"` |
//!
//! **Sizes**: m = -n ln p / (ln 2)^2 bits cut to a whole number and then rounded up to longs; k = (m / n) ln 2 rounded, until
//! Guava 33.3, and -log2 p rounded since 33.4. The two differ for a handful of keys only ([`ProbeRule`]).
//!
//! A file does not say for how many keys it was made: [`Stats`](crate::Stats) then has the number that its shape is best for.

use super::foreign::{
    Format,
    bloom::{ForeignBloom, MOST_PROBES, Maker, Walk},
    error::ForeignError,
    fields::Fields,
    file::Headed,
    modulus::Modulus,
    sizing::{checked, java_bits, java_probes, ln, promise_of},
};
use crate::{
    error::{MergeError, ParamsError},
    hash::{Digest, HashId, Hasher, Seed, foreign::Murmur3X64},
    params::Promise,
};
use alloc::vec::Vec;
use core::f64::consts::LN_2;

/// A filter of Guava's.
///
/// ```
/// use gowk::{Filter, Insert, format::{foreign::keys::Int, guava::GuavaBloom}};
///
/// let mut seen = GuavaBloom::create(1_000_000, 0.01)?;       // BloomFilter.create(Funnels.integerFunnel(), 1_000_000, 0.01)
/// seen.insert_many(&(0..1_000_000).map(Int).collect::<Vec<_>>());
/// assert!(seen.may_contain(&Int(42)));
///
/// let bytes = seen.to_bytes();                               // what writeTo would have written
/// let again = GuavaBloom::from_bytes(&bytes)?;
/// assert_eq!(again.maker().bit_size(), 9_585_088);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type GuavaBloom<B = Vec<u8>> = ForeignBloom<Guava, B>;

/// How a digest names bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Strategy {
    /// `MURMUR128_MITZ_32`, of files written before Guava 17: 32-bit steps, so no more than 2^31 bits are used.
    Mitz32 = 0,
    /// `MURMUR128_MITZ_64`, the default.
    #[default]
    Mitz64 = 1,
}

impl Strategy {
    /// Its name in Guava.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mitz32 => "MURMUR128_MITZ_32",
            Self::Mitz64 => "MURMUR128_MITZ_64",
        }
    }
}

/// How many probes a filter gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ProbeRule {
    /// (m / n) ln 2, of Guava up to 33.3.
    BitsPerKey,
    /// -log2 p, of Guava from 33.4 on.
    #[default]
    Rate,
}

/// The shape of a filter of Guava's.
#[derive(Clone, Debug)]
pub struct Guava {
    strategy: Strategy,
    probes: u32,
    modulus: Modulus,
    promise: Promise,
}

impl Guava {
    /// The shape that Guava gives a filter for so many keys at this rate.
    ///
    /// ```
    /// use gowk::format::guava::{Guava, ProbeRule, Strategy};
    ///
    /// let shape = Guava::sized(1_000_000, 0.01, Strategy::Mitz64, ProbeRule::Rate)?;
    /// assert_eq!(Guava::optimal_bits(1_000_000, 0.01), 9_585_058);
    /// assert_eq!(shape.bit_size(), 9_585_088);
    /// # Ok::<(), gowk::ParamsError>(())
    /// ```
    pub fn sized(items: u64, fpp: f64, strategy: Strategy, rule: ProbeRule) -> Result<Self, ParamsError> {
        let promise = checked(items, fpp)?;
        let bits = Self::optimal_bits(promise.items, fpp);
        let probes = match rule {
            ProbeRule::BitsPerKey => java_probes(bits, promise.items),
            ProbeRule::Rate => libm::round(-ln(fpp) / LN_2).max(1.0),
        };
        Self::with_shape(bits, probes as u64, strategy).map(|shape| Self { promise, ..shape })
    }

    /// A filter of at least so many bits, and so many probes. Guava has at most 2^31 - 1 longs.
    pub fn with_shape(bits: u64, probes: u64, strategy: Strategy) -> Result<Self, ParamsError> {
        let range = |what, value, most| match (1..=most).contains(&value) {
            true => Ok(()),
            false => Err(ParamsError::OutOfRange { what, value, least: 1, most }),
        };
        range("bits", bits, 64 * i32::MAX as u64)?;
        range("probes", probes, MOST_PROBES.into())?;
        Ok(Self::of_longs(strategy, probes as u32, bits.div_ceil(64)))
    }

    fn of_longs(strategy: Strategy, probes: u32, longs: u64) -> Self {
        Self { strategy, probes, modulus: Modulus::new(64 * longs), promise: promise_of(64 * longs, probes) }
    }

    /// Guava's `optimalNumOfBits`: before it is rounded up to longs.
    pub fn optimal_bits(items: u64, fpp: f64) -> u64 {
        java_bits(items, fpp)
    }

    /// How a digest names bits.
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// Guava's `bitSize`.
    pub fn bit_size(&self) -> u64 {
        self.modulus.get()
    }
}

impl GuavaBloom {
    /// Guava's `BloomFilter.create(funnel, expectedInsertions, fpp)`, of the newest Guava.
    pub fn create(items: u64, fpp: f64) -> Result<Self, ParamsError> {
        Self::empty(Guava::sized(items, fpp, Strategy::default(), ProbeRule::default())?)
    }
}

impl<B: AsRef<[u8]>> GuavaBloom<B> {
    /// Guava's `expectedFpp()`.
    pub fn expected_fpp(&self) -> f64 {
        libm::pow(self.fill(), self.maker().probes.into())
    }

    /// Guava's `approximateElementCount()`.
    pub fn approximate_element_count(&self) -> u64 {
        let bits = self.maker().bit_size() as f64;
        libm::floor(-libm::log1p(-self.fill()) * bits / f64::from(self.maker().probes) + 0.5) as u64
    }
}

impl Maker for Guava {
    const FORMAT: Format = Format::Guava;
    const FLIP: usize = 7;
    type Hash = Murmur3X64;

    #[inline(always)]
    fn hash(&self) -> Murmur3X64 {
        Murmur3X64
    }

    fn hasher(&self) -> Hasher {
        Hasher::with_id(HashId::Murmur3X64, Seed::from(0))
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
        match self.strategy {
            Strategy::Mitz64 => Walk { x: digest.h1, y: digest.h2 },
            Strategy::Mitz32 => Walk { x: digest.h1 & u64::from(u32::MAX), y: digest.h1 >> 32 },
        }
    }

    #[inline(always)]
    fn next(&self, walk: &mut Walk) -> u64 {
        match self.strategy {
            Strategy::Mitz64 => {
                let bit = self.modulus.of(walk.x & (u64::MAX >> 1));
                walk.x = walk.x.wrapping_add(walk.y);
                bit
            }
            Strategy::Mitz32 => self.modulus.of(super::foreign::step32(walk)),
        }
    }

    fn fits(&self, other: &Self) -> Result<(), MergeError> {
        MergeError::unless_same("strategy", self.strategy as u64, other.strategy as u64)?;
        MergeError::unless_same("probes", self.probes.into(), other.probes.into())?;
        MergeError::unless_same("bits", self.bits(), other.bits())
    }
}

impl Headed for Guava {
    fn parse(bytes: &[u8]) -> Result<(Self, usize), ForeignError> {
        let mut fields = Fields::new(Format::Guava, bytes);
        let strategy = match fields.u8("the strategy")? {
            0 => Strategy::Mitz32,
            1 => Strategy::Mitz64,
            other => return Err(fields.wrong("the strategy", 1, other, "0 and 1 are known")),
        };
        let probes = fields.u8("the number of hash functions")?;
        if probes == 0 {
            return Err(fields.wrong("the number of hash functions", 1, probes, "it must be from 1 to 255"));
        }
        let longs = fields.be_i32("the number of longs")?;
        if longs < 1 {
            return Err(fields.wrong("the number of longs", 4, longs, "it must be above 0"));
        }
        Ok((Self::of_longs(strategy, probes.into(), longs as u64), fields.read()))
    }

    #[expect(clippy::big_endian_bytes, reason = "Java writes its numbers so")]
    fn head(&self) -> Vec<u8> {
        let longs = (self.bits() / 64) as i32;
        [&[self.strategy as u8, self.probes as u8][..], &longs.to_be_bytes()].concat()
    }
}
