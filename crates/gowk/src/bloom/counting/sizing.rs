//! How large a counting filter must be, and what it keeps at any filling. Pure functions of numbers.

use super::counters::{LINE_COUNTERS, Places, SLOTS};
use crate::{
    bloom::blocked::{Rate, Span, best_lanes, block_of, by_span, fewest_blocks, windows, words},
    error::ParamsError,
    hash::Digest,
    params::{Promise, checked_fpp, checked_items, keys_for_empty, least},
    store::{Line, addressable},
};
use alloc::vec::Vec;
use core::fmt;

/// Below this rate a block is two lines. Here one line takes 52.6 bits a key and a pair 48.6; at 1 % it is 43.7 and 41.0.
pub const PAIR_BELOW: f64 = 0.005;

/// Below this rate a block is four lines. Here a pair takes 76.3 bits a key and four lines 70.7.
pub const QUAD_BELOW: f64 = 0.0005;

/// The lines that serve a rate best.
fn span_for(fpp: f64) -> Span {
    match fpp {
        _ if fpp < QUAD_BELOW => Span::Quad,
        _ if fpp < PAIR_BELOW => Span::Pair,
        _ => Span::Line,
    }
}

/// The size and shape of a counting Bloom filter.
///
/// ```
/// use gowk::CountingParams;
/// let params = CountingParams::for_fpp(1_000_000, 0.01)?;
/// assert!(params.bits_per_key() < 44.0);
/// assert!(params.fpp_at(1_000_000) <= 0.01);
/// assert!(params.items_at(0.02) > 1_150_000);       // how many keys until 2 %?
/// # Ok::<(), gowk::ParamsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountingParams {
    blocks: u64,
    span: Span,
    lanes: u32,
    promise: Promise,
}

impl CountingParams {
    /// The smallest filter that keeps `fpp` with `items` different keys in it.
    pub fn for_fpp(items: u64, fpp: f64) -> Result<Self, ParamsError> {
        let promise = Promise { items: checked_items(items)?, fpp: checked_fpp(fpp)? };
        let span = span_for(fpp);
        // Far more than any rate on offer needs, and less than overflows a count of bits.
        let most = items.saturating_mul(8).min(u64::MAX >> 12) + 1;
        let (blocks, kept, lanes) = fewest_blocks(promise, span, most, |lanes| {
            let mut rate = rate(span, lanes);
            move |blocks| rate.at(items, blocks)
        });
        let params = Self { blocks, span, lanes, promise };
        if kept > fpp {
            return Err(ParamsError::TooLarge { bytes: u128::from(params.lines()) * Line::BYTES as u128 });
        }
        addressable(params.lines()).map(|_| params)
    }

    /// The best filter of at most `bits` bits (but at least one block) for `items` different keys; its promise is the rate
    /// it keeps.
    pub fn for_bits(bits: u64, items: u64) -> Result<Self, ParamsError> {
        let items = checked_items(items)?;
        let best = |span: Span| {
            let blocks = (bits / (Line::BITS * span.lines())).max(1);
            let (fpp, _, lanes) = best_lanes(|lanes| (rate(span, lanes).at(items, blocks), 0.0));
            Self { blocks, span, lanes, promise: Promise { items, fpp } }
        };
        let line = best(Span::Line);
        let wanted = span_for(line.promise.fpp);
        let params =
            if wanted == Span::Line || bits < wanted.lines() * Line::BITS { line } else { best(wanted) };
        addressable(params.lines()).map(|_| params)
    }

    /// A filter of just this shape, for files and for those who compare. The promise is what it keeps for `items` keys.
    pub fn with_shape(blocks: u64, span: Span, lanes: u32, items: u64) -> Result<Self, ParamsError> {
        let items = checked_items(items)?;
        if !(1..=8).contains(&lanes) {
            return Err(ParamsError::OutOfRange { what: "lanes", value: lanes.into(), least: 1, most: 8 });
        }
        let most = (isize::MAX as u64) / (Line::BYTES as u64 * span.lines());
        if !(1..=most).contains(&blocks) {
            return Err(ParamsError::OutOfRange { what: "blocks", value: blocks, least: 1, most });
        }
        let fpp = rate(span, lanes).at(items, blocks);
        Ok(Self { blocks, span, lanes, promise: Promise { items, fpp } })
    }

    /// As [`with_shape`](Self::with_shape), with the promise as a file states it.
    #[must_use]
    pub fn with_promise(self, promise: Promise) -> Self {
        Self { promise, ..self }
    }

    /// The blocks.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The lines of a block.
    pub fn span(&self) -> Span {
        self.span
    }

    /// The counters that a key has in each line of its block.
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// The counters that a key has.
    pub fn probes(&self) -> u32 {
        self.lanes * self.span.lines() as u32
    }

    /// The counters that the key of this digest has, counted over all lines of the filter.
    pub fn positions(&self, digest: Digest) -> Vec<u64> {
        let lanes = windows(self.lanes);
        by_span!(self.span, L => {
            let first = block_of(digest, self.blocks as usize) as u64 * L as u64;
            let counters = |(line, word): (usize, u32)| {
                let start = (first + line as u64) * LINE_COUNTERS;
                Places::new(word, lanes).counters().map(move |counter| start + counter)
            };
            words::<L>(digest).into_iter().enumerate().flat_map(counters).collect()
        })
    }

    /// What was promised.
    pub fn promise(&self) -> Promise {
        self.promise
    }

    /// The lines in all.
    pub fn lines(&self) -> u64 {
        self.blocks * self.span.lines()
    }

    /// The counters in all.
    pub fn counters(&self) -> u64 {
        self.lines() * LINE_COUNTERS
    }

    /// The size in bits.
    pub fn bits(&self) -> u64 {
        self.lines() * Line::BITS
    }

    /// The size in bits over the keys promised.
    pub fn bits_per_key(&self) -> f64 {
        self.bits() as f64 / self.promise.items as f64
    }

    /// The false-positive rate with `items` different keys inside.
    pub fn fpp_at(&self, items: u64) -> f64 {
        rate(self.span, self.lanes).at(items, self.blocks)
    }

    /// How many different keys it takes before the rate rises above `fpp`.
    pub fn items_at(&self, fpp: f64) -> u64 {
        let mut rate = rate(self.span, self.lanes);
        // With 4096 keys a line no counter is 0, for all that floating point can tell.
        let most = self.lines().saturating_mul(4096);
        least(self.promise.items, 1, most, |items| rate.at(items, self.blocks) > fpp) - 1
    }

    /// How many different keys are inside, judging by the part of the counters that are not 0.
    pub fn items_for_fill(&self, fill: f64) -> f64 {
        // Each key leaves a given counter alone with probability 1 - K / (128 N).
        let chance = f64::from(self.lanes) / (LINE_COUNTERS as f64 * self.blocks as f64);
        let empty = (1.0 - fill).max(0.5 / self.counters() as f64);
        keys_for_empty(empty, chance)
    }
}

/// The rate of a shape as a function of its filling.
fn rate(span: Span, lanes: u32) -> Rate {
    Rate::with_slots(span, lanes, SLOTS)
}

impl fmt::Display for CountingParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counters = LINE_COUNTERS * self.span.lines();
        write!(f, "{} blocks of {counters} counters, {} counters a key", self.blocks, self.probes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use libm::fabs;
    use proptest::prelude::*;

    #[test]
    fn doc_table_is_true() {
        for (fpp, span, lanes, bits) in [
            (0.1, Span::Line, 3, 19.71),
            (0.01, Span::Line, 6, 43.72),
            (0.003, Span::Pair, 4, 54.03),
            (0.001, Span::Pair, 4, 67.22),
            (1.0 / 65536.0, Span::Quad, 3, 113.94),
        ] {
            let params = CountingParams::for_fpp(1_000_000, fpp).unwrap();
            assert_eq!((params.span(), params.lanes()), (span, lanes), "at {fpp}");
            assert!(fabs(params.bits_per_key() - bits) < 0.006, "{} bits at {fpp}", params.bits_per_key());
        }
    }

    #[test]
    fn more_lines_pay_below_the_thresholds() {
        let bits = |span: Span, fpp: f64| {
            let blocks = |lanes| {
                let mut rate = rate(span, lanes);
                least(1, 1, 1 << 22, |blocks| rate.at(1_000_000, blocks) <= fpp)
            };
            ((1..=8).map(blocks).min().unwrap() * span.lines() * Line::BITS) as f64 / 1e6
        };
        let asked = [
            (0.01, Span::Line),
            (0.01, Span::Pair),
            (PAIR_BELOW, Span::Line),
            (PAIR_BELOW, Span::Pair),
            (QUAD_BELOW, Span::Pair),
            (QUAD_BELOW, Span::Quad),
        ];
        let got = asked.map(|(fpp, span)| format!("{:.1}", bits(span, fpp)));
        assert_eq!(got, ["43.7", "41.0", "52.6", "48.6", "76.3", "70.7"]);
    }

    #[test]
    fn every_rate_on_offer_has_a_size() {
        for fpp in [0.9, 0.01, 1e-6, 1e-12] {
            for items in [1, 10, 1_000_000] {
                assert!(CountingParams::for_fpp(items, fpp).unwrap().fpp_at(items) <= fpp);
            }
        }
    }

    #[test]
    fn sizes_beyond_the_address_space_are_refused() {
        assert!(matches!(CountingParams::for_fpp(u64::MAX, 0.01), Err(ParamsError::TooLarge { .. })));
        assert!(CountingParams::with_shape(u64::MAX, Span::Line, 6, 1).is_err());
        assert!(CountingParams::with_shape(1, Span::Line, 9, 1).is_err());
        assert!(CountingParams::with_shape(1, Span::Line, 0, 1).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_size_for_a_rate_is_the_least_that_keeps_it(items in 1u64..2_000_000, bits in 1.0f64..39.0) {
            let fpp = libm::pow(2.0, -bits);
            let params = CountingParams::for_fpp(items, fpp).unwrap();
            prop_assert!(params.fpp_at(items) <= fpp);
            if params.blocks() > 1 {
                let smaller = CountingParams::with_shape(params.blocks() - 1, params.span(), params.lanes(), items).unwrap();
                prop_assert!(smaller.fpp_at(items) > fpp);
            }
        }

        #[test]
        fn items_at_is_the_inverse_of_fpp_at(items in 1u64..1_000_000, bits in 1.0f64..20.0, ask in 1.0f64..20.0) {
            let params = CountingParams::for_fpp(items, libm::pow(2.0, -bits)).unwrap();
            let fpp = libm::pow(2.0, -ask);
            let most = params.items_at(fpp);
            prop_assert!(most == 0 || params.fpp_at(most) <= fpp);
            prop_assert!(params.fpp_at(most + 1) > fpp);
        }

        #[test]
        fn a_size_keeps_the_rate_that_it_promises(items in 1u64..100_000, bits in 512u64..8_000_000) {
            let params = CountingParams::for_bits(bits, items).unwrap();
            prop_assert!(params.bits() <= bits.max(512));
            prop_assert!(fabs(params.promise().fpp - params.fpp_at(items)) < 1e-12);
        }
    }
}
