//! What a filter is to be: how many keys, which rate, how large its shards. Pure.
//!
//! # The shape
//!
//! A bit costs a server time, not only memory: `BITFIELD` parses four words to set one. A block read by `GETRANGE`, on the other
//! hand, costs nearly the same whether it has one line or four. So the shape is not the smallest one but the one with the **fewest bits
//! a key** among those at most [`SPARE`] larger than the smallest. Asserted by `tests::doc_table_is_true`, at a million keys:
//!
//! | rate | lines | bits a key sets | bits/key | smallest |
//! |---|---|---|---|---|
//! | 10 % | 1 | 3 | 4.84 | 4.84 |
//! | 1 % | 1 | 5 | 10.12 | 9.77 |
//! | 0.1 % | 4 | 8 | 14.92 | 14.88 |
//! | 10^-6 | 4 | 16 | 31.55 | 31.40 |
//!
//! # The shards
//!
//! A shard is a run of neighbouring blocks of **one** filter. So nothing is to be said about the spread of keys over shards: the rate
//! is the mean over all blocks of the whole, which is what the filter was sized by, wherever they lie.
//!
//! The size of a shard is that of the allocation it fills, less 64 bytes for the header of the string and its guard: a string of
//! 65,536 bytes would take 81,920. By default it is the largest power of two from 16 KB to 512 KB that gives [`SHARDS`] shards or more:
//! small enough to move between nodes in a millisecond and to spread evenly (76 shards over three masters are 25, 25 and 26), large
//! enough that 100 billion keys are 240,000 shards and that a batch brings several keys to each.

use crate::error::Error;
use gowk::{
    BlockedParams, CountingParams, HashId, Hasher, ParamsError, Seed, bloom::blocked::Span, store::Line,
};

/// How much larger than the smallest shape one with fewer bits a key may be.
pub const SPARE: f64 = 0.05;
/// How many shards a filter has at least, if they are not to be smaller than 16 KB.
pub const SHARDS: u64 = 64;
/// What a shard takes, from and to.
const SHARD_BYTES: (u64, u64) = (4 << 10, 1 << 20);
const DEFAULT_SHARD_BYTES: (u64, u64) = (16 << 10, 512 << 10);
/// What a string takes beside its bits.
const SHARD_HEAD: u64 = 64;

/// Describes a filter that is to be created, or that a caller expects.
///
/// ```
/// use gowk_redis::Spec;
/// let spec = Spec::new(100_000_000, 0.01).shard_bytes(256 << 10);
/// ```
#[derive(Clone, Debug)]
pub struct Spec {
    pub(crate) items: u64,
    pub(crate) fpp: f64,
    pub(crate) seed: Option<Seed>,
    pub(crate) hash: HashId,
    pub(crate) shard_bytes: Option<u64>,
    pub(crate) allow_eviction: bool,
}

impl Spec {
    /// A filter for `items` different keys at the rate `fpp`.
    pub fn new(items: u64, fpp: f64) -> Self {
        Self { items, fpp, seed: None, hash: HashId::Rapid, shard_bytes: None, allow_eviction: false }
    }

    /// A fixed seed, so that filters of the same size can be merged. Random unless said.
    #[must_use]
    pub fn seed(self, seed: impl Into<Seed>) -> Self {
        Self { seed: Some(seed.into()), ..self }
    }

    /// SipHash-1-3 instead of the default hash: for keys that an adversary chooses.
    #[must_use]
    pub fn hardened(self) -> Self {
        Self { hash: HashId::Sip13, ..self }
    }

    /// The hash and seed of another filter, so that the two can be merged.
    #[must_use]
    pub fn hasher(self, hasher: &Hasher) -> Self {
        Self { seed: Some(hasher.seed()), hash: hasher.id(), ..self }
    }

    /// What a shard takes on a server, from 4 KB to 1 MB; see [the page](crate::spec) for what it is unless said.
    #[must_use]
    pub fn shard_bytes(self, bytes: u64) -> Self {
        Self { shard_bytes: Some(bytes), ..self }
    }

    /// Creates the filter even where servers throw keys away when memory is short. A shard that was thrown away is noticed, and keys
    /// in it are errors from then on, not denied.
    #[must_use]
    pub fn allow_eviction(self, allow: bool) -> Self {
        Self { allow_eviction: allow, ..self }
    }

    pub(crate) fn make_hasher(&self) -> Hasher {
        Hasher::with_id(self.hash, self.seed.unwrap_or_else(Seed::random))
    }

    /// The shape with the fewest bits a key among those that are hardly larger than the smallest.
    pub(crate) fn bloom(&self) -> Result<BlockedParams, Error> {
        // What is wrong with the numbers is found out here.
        let best = BlockedParams::for_fpp(self.items, self.fpp)?;
        let shapes: Vec<BlockedParams> = [Span::Line, Span::Pair, Span::Quad]
            .into_iter()
            .flat_map(|span| (1..=8).map(move |lanes| (span, lanes)))
            // Fewer than half of the bits of the best are never near it in size, and are slow to find that out.
            .filter(|(span, lanes)| {
                (span.lines() as u32 * lanes).abs_diff(best.probes()) <= best.probes().div_ceil(2)
            })
            .filter_map(|(span, lanes)| BlockedParams::for_fpp_shaped(self.items, self.fpp, span, lanes).ok())
            .collect();
        let least = shapes.iter().map(BlockedParams::bits).fold(best.bits(), u64::min) as f64;
        let near = shapes.into_iter().filter(|shape| shape.bits() as f64 <= least * (1.0 + SPARE));
        Ok(near.min_by_key(|shape| (shape.probes(), shape.bits())).unwrap_or(best))
    }

    pub(crate) fn counting(&self) -> Result<CountingParams, Error> {
        Ok(CountingParams::for_fpp(self.items, self.fpp)?)
    }

    /// The blocks of a shard, for a filter of so many lines in blocks of so many.
    pub(crate) fn shard_blocks(&self, lines: u64, span: Span) -> Result<u64, Error> {
        let bytes = match self.shard_bytes {
            Some(bytes) if !(SHARD_BYTES.0..=SHARD_BYTES.1).contains(&bytes) => {
                let (least, most) = SHARD_BYTES;
                return Err(ParamsError::OutOfRange {
                    what: "the size of a shard",
                    value: bytes,
                    least,
                    most,
                }
                .into());
            }
            Some(bytes) => bytes,
            None => {
                let even = lines * Line::BYTES as u64 / SHARDS;
                let (least, most) = DEFAULT_SHARD_BYTES;
                1 << even.clamp(least, most).ilog2()
            }
        };
        Ok((bytes - SHARD_HEAD) / (Line::BYTES as u64 * span.lines()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doc_table_is_true() {
        for (fpp, lines, probes, bits) in
            [(0.1, 1, 3, 4.84), (0.01, 1, 5, 10.12), (0.001, 4, 8, 14.92), (1e-6, 4, 16, 31.55)]
        {
            let params = Spec::new(1_000_000, fpp).bloom().unwrap();
            assert_eq!((params.span().lines(), params.probes()), (lines, probes), "at {fpp}");
            assert!((params.bits_per_key() - bits).abs() < 0.006, "{} at {fpp}", params.bits_per_key());
            assert!(params.fpp_at(1_000_000) <= fpp);
        }
    }

    #[test]
    fn shards_fill_their_allocations_and_are_many() {
        for (items, bytes) in [
            (1_000u64, 16u64 << 10),
            (1_000_000, 16 << 10),
            (10_000_000, 128 << 10),
            (100_000_000_000, 512 << 10),
        ] {
            let spec = Spec::new(items, 0.01);
            let params = spec.bloom().unwrap();
            let blocks = spec.shard_blocks(params.lines(), params.span()).unwrap();
            assert_eq!(blocks * 64 * params.span().lines(), bytes - 64, "for {items} keys");
            if items >= 1_000_000 {
                assert!(params.blocks().div_ceil(blocks) >= SHARDS);
            }
        }
    }

    #[test]
    fn numbers_that_cannot_be_are_refused() {
        assert!(matches!(Spec::new(0, 0.01).bloom(), Err(Error::Params(ParamsError::NoItems))));
        assert!(matches!(Spec::new(1, 1.5).bloom(), Err(Error::Params(ParamsError::Fpp { .. }))));
        let spec = Spec::new(1_000, 0.01).shard_bytes(1 << 21);
        assert!(matches!(
            spec.shard_blocks(100, Span::Line),
            Err(Error::Params(ParamsError::OutOfRange { .. }))
        ));
        for fpp in [0.9, 0.5, 1e-9, 1e-12] {
            assert!(Spec::new(10, fpp).bloom().is_ok(), "{fpp}");
        }
    }
}
