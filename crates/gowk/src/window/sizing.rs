//! How large a window must be, and what it keeps. Pure functions of numbers.

use crate::{
    bloom::blocked::{BlockedParams, Rate, Span, best_lanes, fewest_blocks},
    error::ParamsError,
    params::{Promise, checked_fpp, checked_items, least},
    store::{Line, addressable},
};
use core::{fmt, ops::RangeInclusive};
use libm::{ceil, expm1, log1p};

/// The generations of a window that was not told how many: old keys stay at most a seventh of a window too long.
pub const GENERATIONS: u32 = 8;

/// How many generations a window may have.
const POSSIBLE: RangeInclusive<u32> = 2..=32;

/// Below this rate each generation has two lines of a block. Here one line takes 22.6 bits a key and a pair 20.7; at 1 %
/// it is 16.9 and 16.3.
pub const PAIR_BELOW: f64 = 0.002;

/// Below this rate each generation has four lines of a block. Here a pair takes 47.2 bits a key and four lines 41.9.
pub const QUAD_BELOW: f64 = 1e-6;

/// The lines that serve a rate best.
fn span_for(fpp: f64) -> Span {
    match fpp {
        _ if fpp < QUAD_BELOW => Span::Quad,
        _ if fpp < PAIR_BELOW => Span::Pair,
        _ => Span::Line,
    }
}

/// The size and shape of a window.
///
/// ```
/// use gowk::WindowParams;
/// let params = WindowParams::for_fpp(1_000_000, 0.01)?;
/// assert!(params.bits_per_key() < 17.0);
/// assert!(params.fpp_at(1_000_000) <= 0.01);
/// # Ok::<(), gowk::ParamsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowParams {
    blocks: u64,
    span: Span,
    lanes: u32,
    generations: u32,
    promise: Promise,
}

impl WindowParams {
    /// The smallest window over `items` keys that keeps `fpp`, of [`GENERATIONS`].
    pub fn for_fpp(items: u64, fpp: f64) -> Result<Self, ParamsError> {
        Self::for_generations(GENERATIONS, items, fpp)
    }

    /// As [`for_fpp`](Self::for_fpp), of so many generations: more forget sooner and cost more time, fewer the reverse.
    pub fn for_generations(generations: u32, items: u64, fpp: f64) -> Result<Self, ParamsError> {
        let promise = Promise { items: checked_items(items)?, fpp: checked_fpp(fpp)? };
        let generations = checked_generations(generations)?;
        let span = span_for(fpp);
        // Far more than any rate on offer needs, and less than overflows a count of bits.
        let most = items.saturating_mul(4).min(u64::MAX >> 18) + 1;
        let (blocks, kept, lanes) = fewest_blocks(promise, span, most, |lanes| {
            let mut rate = WindowRate::new(span, lanes, generations);
            move |blocks| rate.at(items, blocks)
        });
        let params = Self { blocks, span, lanes, generations, promise };
        if kept > fpp {
            return Err(ParamsError::TooLarge { bytes: u128::from(params.lines()) * Line::BYTES as u128 });
        }
        addressable(params.lines()).map(|_| params)
    }

    /// The best window of at most `bits` bits (but at least one block) over `items` keys; its promise is the rate it keeps.
    pub fn for_bits(bits: u64, items: u64) -> Result<Self, ParamsError> {
        let items = checked_items(items)?;
        let best = |span: Span| {
            let blocks = (bits / (Line::BITS * span.lines() * u64::from(GENERATIONS))).max(1);
            let rate = |lanes| WindowRate::new(span, lanes, GENERATIONS).at(items, blocks);
            let (fpp, _, lanes) = best_lanes(|lanes| (rate(lanes), 0.0));
            Self { blocks, span, lanes, generations: GENERATIONS, promise: Promise { items, fpp } }
        };
        let line = best(Span::Line);
        let wanted = span_for(line.promise.fpp);
        let least = wanted.lines() * Line::BITS * u64::from(GENERATIONS);
        let params = if wanted == Span::Line || bits < least { line } else { best(wanted) };
        addressable(params.lines()).map(|_| params)
    }

    /// A window of just this shape, for files and for those who compare. The promise is what it keeps for `items` keys.
    pub fn with_shape(
        blocks: u64,
        span: Span,
        lanes: u32,
        generations: u32,
        items: u64,
    ) -> Result<Self, ParamsError> {
        let items = checked_items(items)?;
        let generations = checked_generations(generations)?;
        if !(1..=8).contains(&lanes) {
            return Err(ParamsError::OutOfRange { what: "lanes", value: lanes.into(), least: 1, most: 8 });
        }
        let most = (isize::MAX as u64) / (Line::BYTES as u64 * span.lines() * u64::from(generations));
        if !(1..=most).contains(&blocks) {
            return Err(ParamsError::OutOfRange { what: "blocks", value: blocks, least: 1, most });
        }
        let fpp = WindowRate::new(span, lanes, generations).at(items, blocks);
        Ok(Self { blocks, span, lanes, generations, promise: Promise { items, fpp } })
    }

    /// As [`with_shape`](Self::with_shape), with the promise as a file states it.
    pub(super) fn with_promise(self, promise: Promise) -> Self {
        Self { promise, ..self }
    }

    /// The blocks.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The lines that each generation has in a block.
    pub fn span(&self) -> Span {
        self.span
    }

    /// The bits that a key sets in each line.
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// The generations.
    pub fn generations(&self) -> u32 {
        self.generations
    }

    /// What was promised: the rate, with the keys of a window inside.
    pub fn promise(&self) -> Promise {
        self.promise
    }

    /// The lines in all.
    pub fn lines(&self) -> u64 {
        self.blocks * self.span.lines() * u64::from(self.generations)
    }

    /// The size in bits.
    pub fn bits(&self) -> u64 {
        self.lines() * Line::BITS
    }

    /// The size in bits over the keys of a window.
    pub fn bits_per_key(&self) -> f64 {
        self.bits() as f64 / self.promise.items as f64
    }

    /// The false-positive rate of a window over `items` keys that has run for at least as long as it remembers.
    pub fn fpp_at(&self, items: u64) -> f64 {
        WindowRate::new(self.span, self.lanes, self.generations).at(items, self.blocks)
    }

    /// Over how many keys the window may go before the rate rises above `fpp`.
    pub fn items_at(&self, fpp: f64) -> u64 {
        let mut rate = WindowRate::new(self.span, self.lanes, self.generations);
        // With 4096 keys a line every bit is set, for all that floating point can tell.
        let most = self.lines().saturating_mul(4096);
        least(self.promise.items, 1, most, |items| rate.at(items, self.blocks) > fpp) - 1
    }

    /// One generation of some of the blocks, as a filter of its own.
    pub(super) fn generation(&self, blocks: u64) -> Option<BlockedParams> {
        BlockedParams::with_shape(blocks, self.span, self.lanes, 1).ok()
    }
}

fn checked_generations(generations: u32) -> Result<u32, ParamsError> {
    let (least, most) = (u64::from(*POSSIBLE.start()), u64::from(*POSSIBLE.end()));
    if POSSIBLE.contains(&generations) {
        return Ok(generations);
    }
    Err(ParamsError::OutOfRange { what: "generations", value: generations.into(), least, most })
}

impl fmt::Display for WindowParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { blocks, span, lanes, generations, .. } = self;
        let (bits, probes) = (Line::BITS * span.lines(), u64::from(*lanes) * span.lines());
        write!(f, "{generations} generations of {blocks} blocks of {bits} bits, {probes} bits a key")
    }
}

/// The rate of one shape as a function of the keys of its window.
struct WindowRate {
    one: Rate,
    generations: u32,
}

/// Nodes and weights of Gauss and Legendre on [0, 1], exact for polynomials up to degree 15.
const GAUSS: [(f64, f64); 8] = [
    (0.019_855_071_751_231_9, 0.050_614_268_145_188_1),
    (0.101_666_761_293_186_6, 0.111_190_517_226_687_2),
    (0.237_233_795_041_835_5, 0.156_853_322_938_943_6),
    (0.408_282_678_752_175_1, 0.181_341_891_689_181),
    (0.591_717_321_247_825, 0.181_341_891_689_181),
    (0.762_766_204_958_164_5, 0.156_853_322_938_943_6),
    (0.898_333_238_706_813_4, 0.111_190_517_226_687_2),
    (0.980_144_928_248_768_1, 0.050_614_268_145_188_1),
];

impl WindowRate {
    fn new(span: Span, lanes: u32, generations: u32) -> Self {
        Self { one: Rate::new(span, lanes), generations }
    }

    fn at(&mut self, items: u64, blocks: u64) -> f64 {
        let complete = f64::from(self.generations - 1);
        let quota = items.div_ceil(u64::from(self.generations - 1));
        let full = self.one.at(quota, blocks);
        let young = self.youngest(quota, blocks, full);
        -expm1(complete * log1p(-full) + log1p(-young))
    }

    /// The mean over the blocks of the rate of the youngest generation, at the worst moment: the block that turns next is
    /// full, the one after it lacks a step of it, and so on.
    fn youngest(&mut self, quota: u64, blocks: u64, full: f64) -> f64 {
        if blocks <= 64 {
            let filled =
                |steps: u64| (u128::from(quota) * u128::from(steps)).div_ceil(u128::from(blocks)) as u64;
            return (1..=blocks).map(|steps| self.one.at(filled(steps), blocks)).sum::<f64>() / blocks as f64;
        }
        // The same sum as an integral, and half of its last step.
        let mean: f64 =
            GAUSS.iter().map(|(x, weight)| weight * self.one.at(ceil(x * quota as f64) as u64, blocks)).sum();
        mean + full / (2.0 * blocks as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use libm::fabs;
    use proptest::prelude::*;

    #[test]
    fn doc_table_is_true() {
        for (fpp, span, lanes, bits, bytes) in [
            (0.1, Span::Line, 6, 10.36, 512),
            (0.01, Span::Line, 8, 16.89, 512),
            (0.001, Span::Pair, 6, 22.61, 1024),
            (1.0 / 65536.0, Span::Pair, 8, 36.04, 1024),
        ] {
            let params = WindowParams::for_fpp(1_000_000, fpp).unwrap();
            assert_eq!((params.span(), params.lanes()), (span, lanes), "at {fpp}");
            assert!(fabs(params.bits_per_key() - bits) < 0.006, "{} bits at {fpp}", params.bits_per_key());
            assert_eq!(params.lines() * 64 / params.blocks(), bytes);
        }
    }

    #[test]
    fn more_lines_pay_below_the_thresholds() {
        let bits = |span: Span, fpp: f64| {
            let blocks = |lanes| {
                let mut rate = WindowRate::new(span, lanes, GENERATIONS);
                least(1, 1, 1 << 22, |blocks| rate.at(1_000_000, blocks) <= fpp)
            };
            ((1..=8).map(blocks).min().unwrap() * span.lines() * u64::from(GENERATIONS) * Line::BITS) as f64
                / 1e6
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
        assert_eq!(got, ["16.9", "16.3", "22.6", "20.7", "47.2", "41.9"]);
    }

    #[test]
    fn few_and_many_generations_take_about_the_same_space() {
        for generations in 5..=12 {
            let params = WindowParams::for_generations(generations, 1_000_000, 0.01).unwrap();
            assert!(params.bits_per_key() < 17.5, "{} bits with {generations}", params.bits_per_key());
        }
    }

    #[test]
    fn blocks_that_turn_one_by_one_take_2_percent_less_than_all_at_once() {
        let (items, fpp) = (1_000_000u64, 0.01);
        let together = |lanes| {
            let mut one = Rate::new(Span::Line, lanes);
            least(1, 1, 1 << 22, |blocks| -expm1(8.0 * log1p(-one.at(items.div_ceil(7), blocks))) <= fpp)
        };
        let together = (1..=8).map(together).min().unwrap() as f64;
        let saved = 1.0 - WindowParams::for_fpp(items, fpp).unwrap().blocks() as f64 / together;
        assert!((0.015..0.025).contains(&saved), "{saved}");
    }

    #[test]
    fn gauss_is_the_mean_of_many_steps() {
        let mut rate = WindowRate::new(Span::Pair, 6, 8);
        let (quota, blocks) = (100_000, 3_000);
        let full = rate.one.at(quota, blocks);
        let steps: f64 = (1..=blocks).map(|i| rate.one.at((quota * i).div_ceil(blocks), blocks)).sum::<f64>()
            / blocks as f64;
        let young = rate.youngest(quota, blocks, full);
        assert!(fabs(young / steps - 1.0) < 1e-3, "{young} to {steps}");
    }

    #[test]
    fn sizes_and_shapes_out_of_range_are_refused() {
        assert!(matches!(WindowParams::for_fpp(u64::MAX, 0.01), Err(ParamsError::TooLarge { .. })));
        assert!(matches!(WindowParams::for_fpp(0, 0.01), Err(ParamsError::NoItems)));
        for generations in [0, 1, 33] {
            assert!(matches!(
                WindowParams::for_generations(generations, 100, 0.01),
                Err(ParamsError::OutOfRange { what: "generations", .. })
            ));
        }
        assert!(WindowParams::with_shape(u64::MAX, Span::Line, 6, 8, 1).is_err());
        assert!(WindowParams::with_shape(1, Span::Line, 9, 8, 1).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn the_size_for_a_rate_is_the_least_that_keeps_it(
            items in 1u64..2_000_000, bits in 1.0f64..39.0, generations in 2u32..=32,
        ) {
            let fpp = libm::pow(2.0, -bits);
            let params = WindowParams::for_generations(generations, items, fpp).unwrap();
            prop_assert!(params.fpp_at(items) <= fpp);
            if params.blocks() > 1 {
                let blocks = params.blocks() - 1;
                let smaller = WindowParams::with_shape(blocks, params.span(), params.lanes(), generations, items).unwrap();
                prop_assert!(smaller.fpp_at(items) > fpp);
            }
        }

        #[test]
        fn items_at_is_the_inverse_of_fpp_at(items in 1u64..1_000_000, bits in 1.0f64..20.0, ask in 1.0f64..20.0) {
            let params = WindowParams::for_fpp(items, libm::pow(2.0, -bits)).unwrap();
            let fpp = libm::pow(2.0, -ask);
            let most = params.items_at(fpp);
            prop_assert!(most == 0 || params.fpp_at(most) <= fpp);
            prop_assert!(params.fpp_at(most + 1) > fpp);
        }

        #[test]
        fn a_size_keeps_the_rate_that_it_promises(items in 1u64..100_000, bits in 512u64..8_000_000) {
            let params = WindowParams::for_bits(bits, items).unwrap();
            prop_assert!(params.bits() <= bits.max(8 * 512));
            prop_assert!(fabs(params.promise().fpp - params.fpp_at(items)) < 1e-12);
        }
    }
}
