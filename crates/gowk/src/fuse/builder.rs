//! Says what a fuse filter shall be, and builds it.

use super::{
    build::build,
    filter::BinaryFuse,
    sizing::{Arity, FuseParams, width_for},
};
use crate::{
    builder::DEFAULT_FPP,
    error::ParamsError,
    hash::{HashId, Hasher, Key, Seed},
    params::Promise,
    store::advise_huge,
};
use alloc::vec::Vec;

/// Describes a fuse filter in words, then builds it from all its keys at once.
///
/// ```
/// use gowk::{BinaryFuse, Filter, fuse::Arity};
///
/// let keys: Vec<u64> = (0..10_000).map(|i| i * i).collect();
/// let quick = BinaryFuse::builder().fpp(0.01).build_from(&keys)?;
/// let small = BinaryFuse::builder().fpp(0.01).arity(Arity::Four).build_from(&keys)?;
/// let exact_width = BinaryFuse::builder().width(12).build_from(keys.iter().map(|key| key + 1))?;
/// assert!(quick.may_contain_many(&keys).iter().all(|maybe| *maybe));
/// # Ok::<(), gowk::ParamsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct FuseBuilder {
    fpp: f64,
    width: Option<u32>,
    arity: Arity,
    seed: Option<Seed>,
    hash: HashId,
    threads: usize,
}

impl Default for FuseBuilder {
    fn default() -> Self {
        Self {
            fpp: DEFAULT_FPP,
            width: None,
            arity: Arity::Three,
            seed: None,
            hash: HashId::Rapid,
            threads: 2,
        }
    }
}

impl FuseBuilder {
    /// The false-positive rate to keep; 0.01 unless said. Fingerprints have whole bits, so what is kept is the next power of
    /// two below: 1/128 for 1 %.
    #[must_use]
    pub fn fpp(self, fpp: f64) -> Self {
        Self { fpp, width: None, ..self }
    }

    /// The bits of a fingerprint, 1 to 32, instead of a rate.
    #[must_use]
    pub fn width(self, bits: u32) -> Self {
        Self { width: Some(bits), ..self }
    }

    /// The slots of a key: three unless said, which is quicker; four make it 5 % smaller.
    #[must_use]
    pub fn arity(self, arity: Arity) -> Self {
        Self { arity, ..self }
    }

    /// A fixed seed: the same keys in the same order give the same bytes, in one version of gowk; another may write them in another
    /// way. Random unless said; whoever knows the seed can prepare keys that are false positives.
    #[must_use]
    pub fn seed(self, seed: impl Into<Seed>) -> Self {
        Self { seed: Some(seed.into()), ..self }
    }

    /// SipHash-1-3 instead of the default hash: for keys that an adversary chooses.
    #[must_use]
    pub fn hardened(self) -> Self {
        Self { hash: HashId::Sip13, ..self }
    }

    /// The hash and seed of another filter, or of digests that are already made.
    #[must_use]
    pub fn hasher(self, hasher: &Hasher) -> Self {
        Self { seed: Some(hasher.seed()), hash: hasher.id(), ..self }
    }

    /// The most threads that may work on the build of a large filter: two unless said, more are not used. The bytes do not
    /// depend on it.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// What the filter of so many different keys will be, without making it.
    pub fn params(&self, items: u64) -> Result<FuseParams, ParamsError> {
        let width = self.width.map_or_else(|| width_for(self.fpp), Ok)?;
        let params = FuseParams::for_width(items.max(1), width, self.arity)?;
        let fpp = if self.width.is_some() { params.fpp() } else { self.fpp };
        Ok(params.with_promise(Promise { items: items.max(1), fpp }))
    }

    /// The filter of these keys (or digests), in any order. Repeats do not matter, apart from the time they take.
    ///
    /// Takes 64 bits a key while it builds, and for large sets 10 to 22 more; [`FuseParams::build_bytes`] says how many at most.
    /// An iterator that does not know its length may take twice that.
    pub fn build_from<I>(&self, keys: I) -> Result<BinaryFuse, ParamsError>
    where
        I: IntoIterator<Item: Key>,
    {
        let hasher = self.make_hasher()?;
        let keys = keys.into_iter();
        let expected = keys.size_hint().0;
        // The digests, and behind them the room that peeling will ask for: no second allocation, no copy.
        let bytes = self.params(expected as u64)?.digest_bytes();
        let mut digests = Vec::new();
        digests.try_reserve_exact((bytes / 8) as usize).map_err(|_| ParamsError::OutOfMemory { bytes })?;
        advise_huge(&mut digests);
        digests.extend(keys.map(|key| hasher.digest(&key).h1));

        let built = build(digests, self.threads, |items| self.params(items))?;
        let layout = built.params.layout(built.multiplier);
        Ok(BinaryFuse::over(built.params, layout, built.keys, hasher, built.slots))
    }

    /// The hasher that the filter will have; draws a new seed each time, unless one was fixed.
    pub fn make_hasher(&self) -> Result<Hasher, ParamsError> {
        #[cfg(feature = "std")]
        let seed = self.seed.unwrap_or_else(Seed::random);
        #[cfg(not(feature = "std"))]
        let seed = self.seed.ok_or(ParamsError::NoSeed)?;
        Ok(Hasher::with_id(self.hash, seed))
    }
}
