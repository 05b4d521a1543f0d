//! The filter that LevelDB's policy `leveldb.BuiltinBloomFilter2` makes for the keys of a block, and stores in its tables.
//!
//! ```text
//! byte 0   the bits; bit i is bit i mod 8 of byte i / 8
//!   last   probes k, u8; from 31 on it is something else, not this
//! ```
//!
//! There is no head and no magic number, so that a filter is only told by where it was found. The bits are `keys * bits_per_key`, 64 at least,
//! in whole bytes; k is 0.69 times the bits a key, from 1 to 30.
//!
//! **Keys** are bytes. **Walks** double the one 32-bit hash by rotation: from h on, each step adds h rotated right by 17.

use super::foreign::{
    Format,
    bloom::{ForeignBloom, Maker, Walk},
    error::ForeignError,
    modulus::Modulus,
    sizing::{checked, ln, promise_of},
};
use crate::{
    error::{MergeError, ParamsError},
    hash::{Digest, HashId, Hasher, Seed, foreign::LevelDb as LevelDbHash},
    params::Promise,
};
use alloc::vec::Vec;
use core::f64::consts::LN_2;
use libm::ceil;

/// A filter of LevelDB's.
///
/// ```
/// use gowk::{Filter, Insert, format::leveldb::LevelDbBloom};
///
/// let mut block = LevelDbBloom::create(100, 10)?;             // NewBloomFilterPolicy(10), of 100 keys
/// block.insert("heron");
/// let again = LevelDbBloom::from_bytes(&block.to_bytes())?;
/// assert!(again.may_contain("heron") && !again.may_contain("stork"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type LevelDbBloom<B = Vec<u8>> = ForeignBloom<LevelDb, B>;

/// The shape of a filter of LevelDB's.
#[derive(Clone, Debug)]
pub struct LevelDb {
    probes: u32,
    modulus: Modulus,
    promise: Promise,
}

/// More probes than these mean another kind of filter.
const MOST_PROBES: u32 = 30;
/// Fewer bits than these would be full at once.
const LEAST_BITS: u64 = 64;

impl LevelDb {
    /// The shape that LevelDB's policy gives a filter of so many keys.
    pub fn sized(keys: u64, bits_per_key: u32) -> Result<Self, ParamsError> {
        let bits = keys.checked_mul(bits_per_key.into()).filter(|bits| isize::try_from(*bits).is_ok());
        let bits =
            bits.ok_or(ParamsError::TooLarge { bytes: u128::from(keys) * u128::from(bits_per_key) / 8 })?;
        let probes = (f64::from(bits_per_key) * 0.69) as u32;
        Ok(Self::of_bytes(bits.max(LEAST_BITS).div_ceil(8), probes.clamp(1, MOST_PROBES)))
    }

    /// The bits a key for this rate, which LevelDB leaves to its users: 10 for 1 %.
    pub fn bits_per_key(fpp: f64) -> Result<u32, ParamsError> {
        let fpp = checked(1, fpp)?.fpp;
        Ok(ceil(-ln(fpp) / (LN_2 * LN_2)) as u32)
    }

    fn of_bytes(bytes: u64, probes: u32) -> Self {
        Self { probes, modulus: Modulus::new(8 * bytes), promise: promise_of(8 * bytes, probes) }
    }

    /// The shape of the filter in these bytes, whose last one says the probes.
    fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), ForeignError> {
        let format = Format::LevelDb;
        let Some((probes, bits)) = bytes.split_last().filter(|(_, bits)| !bits.is_empty()) else {
            let found = bytes.len() as u64;
            return Err(ForeignError::Cut { format, field: "the bits", offset: 0, needed: 2, found });
        };
        match u32::from(*probes) {
            probes @ 1..=MOST_PROBES => Ok((Self::of_bytes(bits.len() as u64, probes), bits)),
            probes => Err(ForeignError::Field {
                format,
                field: "the probes",
                offset: bits.len() as u64,
                value: probes.into(),
                why: "a filter of this kind has from 1 to 30",
            }),
        }
    }
}

impl LevelDbBloom {
    /// An empty filter for so many keys, as LevelDB's policy makes it.
    pub fn create(keys: u64, bits_per_key: u32) -> Result<Self, ParamsError> {
        Self::empty(LevelDb::sized(keys, bits_per_key)?)
    }

    /// The filter in these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ForeignError> {
        LevelDbBloom::view(bytes).map(|filter| filter.to_heap())
    }
}

impl<'a> LevelDbBloom<&'a [u8]> {
    /// The filter in these bytes, where they lie.
    pub fn view(bytes: &'a [u8]) -> Result<Self, ForeignError> {
        let (shape, bits) = LevelDb::parse(bytes)?;
        Ok(Self::over(shape, bits))
    }
}

#[cfg(feature = "std")]
impl LevelDbBloom<crate::store::MappedBytes> {
    pub(crate) fn of_map(map: &crate::store::MappedBytes) -> Result<Self, ForeignError> {
        let (shape, bits) = LevelDb::parse(map.as_ref())?;
        Ok(Self::over(shape, map.slice(0..bits.len())))
    }
}

impl<B: AsRef<[u8]>> LevelDbBloom<B> {
    /// The filter as LevelDB's policy writes it.
    pub fn to_bytes(&self) -> Vec<u8> {
        [self.bytes(), &[self.maker().probes as u8]].concat()
    }
}

impl Maker for LevelDb {
    const FORMAT: Format = Format::LevelDb;
    const FLIP: usize = 0;
    type Hash = LevelDbHash;

    #[inline(always)]
    fn hash(&self) -> LevelDbHash {
        LevelDbHash
    }

    fn hasher(&self) -> Hasher {
        Hasher::with_id(HashId::LevelDb, Seed::from(0))
    }

    #[inline(always)]
    fn bits(&self) -> u64 {
        self.modulus.get()
    }

    fn bytes(&self) -> u64 {
        self.bits() / 8
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
        Walk { x: digest.h1, y: (digest.h1 as u32).rotate_right(17).into() }
    }

    #[inline(always)]
    fn next(&self, walk: &mut Walk) -> u64 {
        let bit = self.modulus.of(walk.x);
        walk.x = (walk.x as u32).wrapping_add(walk.y as u32).into();
        bit
    }

    fn fits(&self, other: &Self) -> Result<(), MergeError> {
        MergeError::unless_same("probes", self.probes.into(), other.probes.into())?;
        MergeError::unless_same("bits", self.bits(), other.bits())
    }
}
