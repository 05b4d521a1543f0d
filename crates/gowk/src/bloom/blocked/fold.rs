//! Fewer blocks from more, bit for bit; and a builder that starts large and ends as small as the keys allow.

use super::{filter::BlockedBloom, sizing::BlockedParams};
use crate::{
    builder::Build,
    bulk::Source,
    error::{Full, ParamsError},
    filter::{Filter, Insert, Inserted},
    hash::{Digest, Hasher},
    params::Promise,
    stats::Stats,
    store::Line,
};
use alloc::vec::Vec;

impl BlockedBloom {
    /// Makes the filter `factor` times smaller: just the filter that the same keys would have made at that size.
    ///
    /// The factor must divide the number of blocks. The rate rises as if the keys had been too many from the start; the
    /// promise in [`params`](Self::params) stays what it was, and [`stats`](Filter::stats) tells what is.
    pub fn fold(&mut self, factor: u64) -> Result<(), ParamsError> {
        let blocks = self.params.blocks();
        if factor == 0 || !blocks.is_multiple_of(factor) {
            return Err(ParamsError::Fold { blocks, factor });
        }
        if factor == 1 {
            return Ok(());
        }
        let span = self.params.span() as usize;
        let lines = self.store.lines_mut();
        for to in 0..(blocks / factor) as usize {
            for offset in 0..span {
                let mut folded = Line::ZERO;
                for from in to * factor as usize..(to + 1) * factor as usize {
                    folded.or(&lines[from * span + offset]);
                }
                lines[to * span + offset] = folded;
            }
        }
        self.params = self.params.folded(factor);
        self.store.truncate(self.params.lines() as usize);
        Ok(())
    }

    /// Folds down to the fewest blocks that keep the promised rate for the keys that have come. The promise is then for that many
    /// keys. A filter of [`BlockedParams::foldable`] has many sizes to fold to.
    pub fn fold_to_fit(&mut self) {
        let Promise { items: most, fpp } = self.params.promise();
        let items = libm::ceil(self.stats().estimated_items).max(1.0) as u64;
        // As many as were promised, as far as an estimate can tell.
        let items = if items.abs_diff(most) < most.div_ceil(50) { most } else { items };
        let keeps = |factor: &u64| self.params.folded(*factor).fpp_at(items) <= fpp;
        let factor = divisors(self.params.blocks()).into_iter().rev().find(keeps).unwrap_or(1);
        self.fold(factor).expect("a divisor divides");
        self.params = self.params.with_promise(Promise { items, fpp });
    }
}

impl BlockedParams {
    /// As [`for_fpp`](Self::for_fpp), at most a hundredth larger, with many divisors to fold by: for when fewer keys may come than
    /// `items`, as lines may be repeats of each other. Small filters start with 5040 blocks whatever their keys.
    pub fn foldable(items: u64, fpp: f64) -> Result<Self, ParamsError> {
        let exact = Self::for_fpp(items, fpp)?;
        let granule = [DIVISIBLE, 720, 60].into_iter().find(|granule| exact.blocks() >= 100 * granule);
        let blocks = exact.blocks().next_multiple_of(granule.unwrap_or(DIVISIBLE));
        Ok(Self::with_shape(blocks, exact.span(), exact.lanes(), items)?.with_promise(Promise { items, fpp }))
    }
}

/// Builds a filter for keys whose number is not known: starts with room for the most that may come, and folds down to the
/// fewest blocks that keep the rate for those that did.
///
/// ```
/// use gowk::{Filter, FoldingBuilder, Hasher, Insert, Seed};
///
/// let mut builder = FoldingBuilder::new(10_000_000, 0.01, Hasher::new(Seed::random()))?;
/// for key in 0..50_000u64 {
///     builder.insert(&key);
/// }
/// let filter = builder.finish();
/// assert!(filter.size_in_bytes() < 80_000);       // not the 12 MB it began with
/// assert!(filter.stats().fpp_now < 0.0103);
/// # Ok::<(), gowk::ParamsError>(())
/// ```
#[derive(Debug)]
pub struct FoldingBuilder {
    filter: BlockedBloom,
}

/// The starting size is a multiple of this, which has 60 divisors: the more divisors, the more sizes to fold to.
const DIVISIBLE: u64 = 5040;

impl FoldingBuilder {
    /// Room for at most `items` keys, at the rate `fpp` whatever their number.
    ///
    /// A fold is by a whole factor, so the result is within one step of the smallest: with a tenth of `items` the filter is
    /// at most 10/9 of what it could be, with nearly all of them at most twice.
    pub fn new(items: u64, fpp: f64, hasher: Hasher) -> Result<Self, ParamsError> {
        let exact = BlockedParams::for_fpp(items, fpp)?;
        let blocks = divisible(exact.blocks());
        let params = BlockedParams::with_shape(blocks, exact.span(), exact.lanes(), items)?
            .with_promise(Promise { items, fpp });
        Ok(Self { filter: BlockedBloom::with_params(params, hasher)? })
    }

    /// The smallest filter that keeps the rate for the keys that came; its promise is for that many.
    pub fn finish(mut self) -> BlockedBloom {
        self.filter.fold_to_fit();
        self.filter
    }
}

impl Filter for FoldingBuilder {
    fn hasher(&self) -> &Hasher {
        self.filter.hasher()
    }

    fn may_contain_digest(&self, digest: Digest) -> bool {
        self.filter.may_contain_digest(digest)
    }

    fn answer(&self, digests: impl Iterator<Item = Digest>, answers: &mut [bool]) {
        self.filter.answer(digests, answers);
    }

    fn answer_source(&self, source: impl Source, answers: &mut [bool]) {
        self.filter.answer_source(source, answers);
    }

    fn stats(&self) -> Stats {
        self.filter.stats()
    }

    fn size_in_bytes(&self) -> usize {
        self.filter.size_in_bytes()
    }
}

impl Insert for FoldingBuilder {
    type Outcome<T> = T;

    fn settled<T>(outcome: T) -> Result<T, Full> {
        Ok(outcome)
    }

    fn insert_digest(&mut self, digest: Digest) -> Inserted {
        self.filter.insert_digest(digest)
    }

    fn insert_from(&mut self, digests: impl Iterator<Item = Digest>) {
        self.filter.insert_from(digests);
    }

    fn insert_source(&mut self, source: impl Source) {
        self.filter.insert_source(source);
    }
}

/// The next number of blocks with many divisors: a multiple of 5040, and of as many twos as cost less than an eighth more.
fn divisible(blocks: u64) -> u64 {
    let twos = (blocks / (8 * DIVISIBLE)).checked_ilog2().unwrap_or(0);
    blocks.next_multiple_of(DIVISIBLE << twos)
}

/// All divisors of `n`, rising.
fn divisors(n: u64) -> Vec<u64> {
    let mut low: Vec<u64> = (1..=n.isqrt()).filter(|d| n.is_multiple_of(*d)).collect();
    let high: Vec<u64> = low.iter().rev().map(|d| n / d).filter(|d| d * d > n).collect();
    low.extend(high);
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bloom::blocked::Span;
    use proptest::prelude::*;

    fn filter(blocks: u64, span: Span, keys: &[u64]) -> BlockedBloom {
        let params = BlockedParams::with_shape(blocks, span, 6, 100).unwrap();
        let mut filter = BlockedBloom::with_params(params, Hasher::new(1)).unwrap();
        filter.insert_many(keys);
        filter
    }

    #[test]
    fn divisors_are_all_divisors() {
        for n in [1, 2, 36, 37, 5040, 5041] {
            assert_eq!(divisors(n), (1..=n).filter(|d| n % d == 0).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_foldable_size_is_hardly_larger_and_folds_to_the_keys_that_came() {
        for items in [1, 1_000, 100_000, 1_000_000, 50_000_000] {
            let exact = BlockedParams::for_fpp(items, 0.01).unwrap();
            let foldable = BlockedParams::foldable(items, 0.01).unwrap();
            assert!(foldable.blocks() <= (exact.blocks() + exact.blocks() / 100 + 1).max(2 * DIVISIBLE));
            assert_eq!(foldable.promise(), exact.promise());
        }
        // Every line came twenty times.
        let params = BlockedParams::foldable(1_000_000, 0.01).unwrap();
        let mut filter = BlockedBloom::with_params(params, Hasher::new(1)).unwrap();
        filter.insert_many(&(0..50_000u64).collect::<Vec<_>>());
        filter.fold_to_fit();
        let exact = BlockedParams::for_fpp(50_000, 0.01).unwrap();
        assert!(filter.params().bits() < exact.bits() * 6 / 5, "{} {exact}", filter.params());
        assert!(filter.stats().fpp_now < 0.0103 && filter.stats().items.abs_diff(50_000) < 1_000);
    }

    #[test]
    fn refuses_a_factor_that_does_not_divide() {
        let mut filter = filter(74, Span::Line, &[1]);
        for factor in [0, 3, 75] {
            assert_eq!(filter.fold(factor), Err(ParamsError::Fold { blocks: 74, factor }));
        }
    }

    #[test]
    fn the_builder_keeps_the_rate_for_any_number_of_keys() {
        for keys in [0u64, 1, 100, 10_000, 99_000, 100_000] {
            for fpp in [0.01, 0.0005] {
                let mut builder = FoldingBuilder::new(100_000, fpp, Hasher::new(3)).unwrap();
                builder.insert_from((0..keys).map(|key| Hasher::new(3).digest(&key)));
                let filter = builder.finish();
                let exact = BlockedParams::for_fpp(keys.max(1), fpp).unwrap();
                assert!((0..keys).all(|key| filter.may_contain(&key)));
                assert!(filter.stats().fpp_now <= 1.05 * fpp, "{} at {keys} keys", filter.stats());
                assert!(
                    filter.params().blocks() <= 2 * exact.blocks() + 10,
                    "{} for {keys} keys",
                    filter.params()
                );
                if (100..=10_000).contains(&keys) {
                    assert!(
                        filter.params().blocks() * 5 <= exact.blocks() * 6 + 5,
                        "{} for {keys} keys",
                        filter.params()
                    );
                }
            }
        }
    }

    proptest! {
        #[test]
        fn folding_is_building_at_the_smaller_size(
            keys in proptest::collection::vec(any::<u64>(), 0..300), small in 1u64..40, factor in 1u64..9, pair: bool
        ) {
            let span = if pair { Span::Pair } else { Span::Line };
            let mut folded = filter(small * factor, span, &keys);
            folded.fold(factor).unwrap();
            prop_assert!(folded == filter(small, span, &keys));
        }
    }
}
