//! The Bloom filter of DCSO (`bloom` in Go, `flor` in Python, `fleur` in C), in which hashlookup gives out its hashes.
//!
//! ```text
//! byte 0   flags, u64; the low byte is the version, 1                                  little-endian
//!      8   n, u64: the keys that it was made for
//!     16   p, f64: the rate
//!     24   k, u64: the probes
//!     32   m, u64: the bits
//!     40   N, u64: the keys inside, as counted
//!     48   ceil(m / 64) words; bit i is bit i mod 64 of word i / 64
//!      .   whatever the owner likes, to the end
//! ```
//!
//! **Keys** are bytes; hashlookup's are SHA-1 as 40 upper-case hex digits, in text. Integers are 8 bytes, little-endian, as
//! everywhere in gowk. Files are often gzipped: [`Foreign::open`](super::foreign::Foreign::open) unpacks them.

use super::foreign::{
    Format,
    bloom::{ForeignBloom, MOST_PROBES, Maker, Walk},
    error::ForeignError,
    fields::Fields,
    file::Headed,
    modulus::Modulus,
    sizing::{checked, ln},
};
use crate::{
    error::{MergeError, ParamsError},
    hash::{Digest, HashId, Hasher, Seed, foreign::Fnv1},
    params::{Promise, checked_items},
};
use alloc::vec::Vec;
use core::f64::consts::LN_2;
use libm::ceil;

/// A filter of DCSO's.
///
/// ```
/// use gowk::{Filter, Insert, format::dcso::DcsoBloom};
///
/// let mut known = DcsoBloom::create(500, 0.001)?;
/// known.insert("DA39A3EE5E6B4B0D3255BFEF95601890AFD80709");
/// known.set_data(br#"{"source":"mine"}"#.to_vec());
/// let again = DcsoBloom::from_bytes(&known.to_bytes())?;
/// assert!(again.may_contain("DA39A3EE5E6B4B0D3255BFEF95601890AFD80709"));
/// assert_eq!((again.maker().inserted(), again.maker().data()), (1, &br#"{"source":"mine"}"#[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type DcsoBloom<B = Vec<u8>> = ForeignBloom<Dcso, B>;

/// The shape of a filter of DCSO's, its count, and what its owner wrote behind it.
#[derive(Clone, Debug)]
pub struct Dcso {
    promise: Promise,
    probes: u32,
    modulus: Modulus,
    inserted: u64,
    data: Vec<u8>,
}

/// What each step multiplies by.
const STEP: u64 = 18_446_744_073_709_550_147;

impl Dcso {
    /// The shape that DCSO gives a filter for so many keys at this rate.
    pub fn sized(items: u64, fpp: f64) -> Result<Self, ParamsError> {
        let promise = checked(checked_items(items)?, fpp)?;
        let bits = -ceil(items as f64 * ln(fpp) / (LN_2 * LN_2));
        let probes = ceil(LN_2 * bits / items as f64);
        if bits < 1.0 || bits > isize::MAX as f64 {
            return Err(ParamsError::TooLarge { bytes: (bits / 8.0) as u128 });
        }
        if !(1.0..=f64::from(MOST_PROBES)).contains(&probes) {
            let (value, most) = (probes as u64, MOST_PROBES.into());
            return Err(ParamsError::OutOfRange { what: "probes", value, least: 1, most });
        }
        Ok(Self {
            promise,
            probes: probes as u32,
            modulus: Modulus::new(bits as u64),
            inserted: 0,
            data: Vec::new(),
        })
    }

    /// How many keys have come that were not seen before.
    pub fn inserted(&self) -> u64 {
        self.inserted
    }

    /// What stands behind the bits: whatever the owner likes.
    pub fn data(&self) -> &[u8] {
        &self.data
    }
}

impl DcsoBloom {
    /// An empty filter for so many keys at this rate, as DCSO makes it.
    pub fn create(items: u64, fpp: f64) -> Result<Self, ParamsError> {
        Self::empty(Dcso::sized(items, fpp)?)
    }
}

impl<B> DcsoBloom<B> {
    /// Writes something of one's own behind the bits.
    pub fn set_data(&mut self, data: Vec<u8>) {
        self.maker_mut().data = data;
    }
}

impl Maker for Dcso {
    const FORMAT: Format = Format::Dcso;
    const FLIP: usize = 0;
    type Hash = Fnv1;

    #[inline(always)]
    fn hash(&self) -> Fnv1 {
        Fnv1
    }

    fn hasher(&self) -> Hasher {
        Hasher::with_id(HashId::Fnv1, Seed::from(0))
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
        Walk { x: digest.h1, y: 0 }
    }

    #[inline(always)]
    fn next(&self, walk: &mut Walk) -> u64 {
        walk.x = Fnv1::reduce(walk.x.wrapping_mul(STEP));
        self.modulus.of(walk.x)
    }

    fn fits(&self, other: &Self) -> Result<(), MergeError> {
        MergeError::unless_same("probes", self.probes.into(), other.probes.into())?;
        MergeError::unless_same("bits", self.bits(), other.bits())
    }

    fn count(&mut self, new: u64) {
        self.inserted = self.inserted.saturating_add(new);
    }

    fn counted(&self) -> u64 {
        self.inserted
    }
}

impl Headed for Dcso {
    const HAS_TAIL: bool = true;

    fn parse(bytes: &[u8]) -> Result<(Self, usize), ForeignError> {
        let mut fields = Fields::new(Format::Dcso, bytes);
        let flags = fields.le_u64("the flags")?;
        if flags != 1 {
            let found = flags.into();
            return Err(ForeignError::Version { format: Format::Dcso, offset: 0, found, known: "1" });
        }
        let items = fields.le_u64("the capacity n")?;
        let fpp = fields.le_rate("the rate p")?;
        let probes = fields.le_u64("the number of probes k")?;
        if !(1..=u64::from(MOST_PROBES)).contains(&probes) {
            return Err(fields.wrong("the number of probes k", 8, probes, "it must be from 1 to 255"));
        }
        let bits = fields.le_u64("the number of bits m")?;
        if bits == 0 || bits > isize::MAX as u64 {
            return Err(fields.wrong("the number of bits m", 8, bits, "it must be from 1 to 2^63 - 1"));
        }
        let inserted = fields.le_u64("the number of keys N")?;
        let promise = Promise { items, fpp };
        let modulus = Modulus::new(bits);
        Ok((Self { promise, probes: probes as u32, modulus, inserted, data: Vec::new() }, fields.read()))
    }

    fn head(&self) -> Vec<u8> {
        let Self { promise, probes, modulus, inserted, .. } = self;
        [1, promise.items, promise.fpp.to_bits(), u64::from(*probes), modulus.get(), *inserted]
            .iter()
            .flat_map(|field| field.to_le_bytes())
            .collect()
    }

    fn tail(&self) -> &[u8] {
        &self.data
    }

    fn set_tail(&mut self, tail: Vec<u8>) {
        self.data = tail;
    }

    fn is_plausible(&self) -> bool {
        let Promise { items, fpp } = self.promise;
        Self::sized(items, fpp).is_ok_and(|shape| shape.fits(self).is_ok())
    }
}
