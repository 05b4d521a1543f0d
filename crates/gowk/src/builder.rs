//! One builder for all families that are sized by a promise.

use crate::{
    error::ParamsError,
    hash::{HashId, Hasher, Seed},
};
use core::marker::PhantomData;

/// A family that can be made empty, from parameters and a hasher.
pub trait Build: Sized {
    /// What sizes it.
    type Params;

    /// The smallest that keeps the rate.
    fn params_for_fpp(items: u64, fpp: f64) -> Result<Self::Params, ParamsError>;

    /// The best of this size.
    fn params_for_bits(bits: u64, items: u64) -> Result<Self::Params, ParamsError>;

    /// An empty filter.
    fn with_params(params: Self::Params, hasher: Hasher) -> Result<Self, ParamsError>;
}

/// Describes a filter in words: how many keys, which rate, which seed.
///
/// ```
/// use gowk::{BlockedBloom, Filter};
///
/// let by_rate = BlockedBloom::builder().items(1_000_000).fpp(0.001).build()?;
/// let by_size = BlockedBloom::builder().items(1_000_000).bits(16_000_000).build()?;
/// let again = BlockedBloom::builder().items(1_000_000).seed(7).hardened().build()?;   // fixed seed, SipHash, 1 %
/// assert!(by_rate.size_in_bytes() < by_size.size_in_bytes());
/// # Ok::<(), gowk::ParamsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder<F> {
    items: Option<u64>,
    bits: Option<u64>,
    fpp: Option<f64>,
    seed: Option<Seed>,
    hash: HashId,
    family: PhantomData<F>,
}

/// The rate of a filter that was not told one.
pub const DEFAULT_FPP: f64 = 0.01;

impl<F> Default for Builder<F> {
    fn default() -> Self {
        Self { items: None, bits: None, fpp: None, seed: None, hash: HashId::Rapid, family: PhantomData }
    }
}

impl<F: Build> Builder<F> {
    /// How many different keys will come.
    #[must_use]
    pub fn items(self, items: u64) -> Self {
        Self { items: Some(items), ..self }
    }

    /// The false-positive rate to keep with that many keys inside; 0.01 unless said.
    #[must_use]
    pub fn fpp(self, fpp: f64) -> Self {
        Self { fpp: Some(fpp), ..self }
    }

    /// A size in bits, instead of a rate.
    #[must_use]
    pub fn bits(self, bits: u64) -> Self {
        Self { bits: Some(bits), ..self }
    }

    /// A fixed seed: the same keys give the same bytes, and filters of the same seed can be merged. Random unless said;
    /// whoever knows the seed can prepare keys that are false positives.
    #[must_use]
    pub fn seed(self, seed: impl Into<Seed>) -> Self {
        Self { seed: Some(seed.into()), ..self }
    }

    /// SipHash-1-3 instead of the default hash: for keys that an adversary chooses. Costs 10 to 20 ns a key.
    #[must_use]
    pub fn hardened(self) -> Self {
        Self { hash: HashId::Sip13, ..self }
    }

    /// The hash and seed of another filter, so that the two can be merged.
    #[must_use]
    pub fn hasher(self, hasher: &Hasher) -> Self {
        Self { seed: Some(hasher.seed()), hash: hasher.id(), ..self }
    }

    /// What the filter will be, without making it.
    pub fn params(&self) -> Result<F::Params, ParamsError> {
        match (self.items, self.bits) {
            (Some(items), None) => F::params_for_fpp(items, self.fpp.unwrap_or(DEFAULT_FPP)),
            (Some(items), Some(bits)) => F::params_for_bits(bits, items),
            (None, _) => Err(ParamsError::Unsized),
        }
    }

    /// The empty filter.
    pub fn build(&self) -> Result<F, ParamsError> {
        F::with_params(self.params()?, self.make_hasher()?)
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
