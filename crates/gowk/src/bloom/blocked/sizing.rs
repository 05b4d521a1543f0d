//! How large a blocked filter must be, and what it keeps at any filling. Pure functions of numbers.

use super::layout::pattern;
use crate::{
    bloom::mixture::mean_over_blocks,
    error::ParamsError,
    hash::Digest,
    params::{Promise, checked_fpp, checked_items, keys_for_empty, least, textbook_bits},
    store::{Line, addressable},
};
use alloc::vec::Vec;
use core::fmt;
use libm::{fabs, log2};

/// Below this rate a block is two lines. Here one line takes 13.8 bits a key and a pair 13.4; at 1 % it is 9.93 and 9.77.
/// One line is quicker by a third, so the pair has to be worth a few percent of the bits.
pub const PAIR_BELOW: f64 = 0.002;

/// Below this rate a block is four lines. Here a pair takes 20.7 bits a key and four lines 19.9; at 0.1 % it is 14.99 and
/// 14.88.
pub const QUAD_BELOW: f64 = 0.0001;

/// The lanes of a line.
const LANES: u32 = 8;

/// How many neighbouring lines a key touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Span {
    /// One line of 64 bytes.
    Line = 1,
    /// Two lines.
    Pair = 2,
    /// Four lines.
    Quad = 4,
}

impl Span {
    /// The span that serves a rate best.
    pub fn for_fpp(fpp: f64) -> Self {
        match fpp {
            _ if fpp < QUAD_BELOW => Self::Quad,
            _ if fpp < PAIR_BELOW => Self::Pair,
            _ => Self::Line,
        }
    }

    /// The span of so many lines.
    pub fn from_lines(lines: u8) -> Option<Self> {
        [Self::Line, Self::Pair, Self::Quad].into_iter().find(|span| *span as u8 == lines)
    }

    /// The lines of a block.
    pub fn lines(self) -> u64 {
        self as u64
    }
}

/// Runs the code with `$lines` as the constant number of lines of a block.
macro_rules! by_span {
    ($span:expr, $lines:ident => $call:expr) => {
        match $span {
            $crate::bloom::blocked::Span::Line => {
                const $lines: usize = 1;
                $call
            }
            $crate::bloom::blocked::Span::Pair => {
                const $lines: usize = 2;
                $call
            }
            $crate::bloom::blocked::Span::Quad => {
                const $lines: usize = 4;
                $call
            }
        }
    };
}
pub(crate) use by_span;

/// The size and shape of a blocked Bloom filter.
///
/// ```
/// use gowk::BlockedParams;
/// let params = BlockedParams::for_fpp(1_000_000, 0.01)?;
/// assert!(params.bits_per_key() < 10.0);
/// assert!(params.fpp_at(1_000_000) <= 0.01);
/// assert!(params.items_at(0.02) > 1_150_000);       // how many keys until 2 %?
/// # Ok::<(), gowk::ParamsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockedParams {
    blocks: u64,
    span: Span,
    lanes: u32,
    promise: Promise,
}

impl BlockedParams {
    /// The smallest filter that keeps `fpp` with `items` keys in it.
    pub fn for_fpp(items: u64, fpp: f64) -> Result<Self, ParamsError> {
        let promise = Promise { items: checked_items(items)?, fpp: checked_fpp(fpp)? };
        let span = Span::for_fpp(fpp);
        // Far more than any rate on offer needs, and less than overflows a count of bits.
        let most = items.saturating_mul(4).min(u64::MAX >> 12) + 1;
        let (blocks, kept, lanes) = fewest_blocks(promise, span, most, |lanes| {
            let mut rate = Rate::new(span, lanes);
            move |blocks| rate.at(items, blocks)
        });
        let params = Self { blocks, span, lanes, promise };
        if kept > fpp {
            return Err(ParamsError::TooLarge { bytes: u128::from(params.lines()) * Line::BYTES as u128 });
        }
        addressable(params.lines()).map(|_| params)
    }

    /// The fewest blocks of this shape that keep `fpp` with `items` keys in them: for those to whom a bit costs something else
    /// than memory, as in a filter whose bits are set over a network.
    pub fn for_fpp_shaped(items: u64, fpp: f64, span: Span, lanes: u32) -> Result<Self, ParamsError> {
        let promise = Promise { items: checked_items(items)?, fpp: checked_fpp(fpp)? };
        Self::with_shape(1, span, lanes, items)?;
        let most = items.saturating_mul(4).min(u64::MAX >> 12) + 1;
        let mut rate = Rate::new(span, lanes);
        let blocks = least(likely_blocks(promise, span), 1, most, |blocks| rate.at(items, blocks) <= fpp);
        if rate.at(items, blocks) > fpp {
            return Err(ParamsError::TooLarge { bytes: u128::from(blocks) * u128::from(64 * span.lines()) });
        }
        let params = Self { blocks, span, lanes, promise };
        addressable(params.lines()).map(|_| params)
    }

    /// The best filter of at most `bits` bits (but at least one block) for `items` keys; its promise is the rate it keeps.
    pub fn for_bits(bits: u64, items: u64) -> Result<Self, ParamsError> {
        let items = checked_items(items)?;
        let best = |span: Span| {
            let blocks = (bits / (Line::BITS * span.lines())).max(1);
            let (fpp, _, lanes) = best_lanes(|lanes| (Rate::new(span, lanes).at(items, blocks), 0.0));
            Self { blocks, span, lanes, promise: Promise { items, fpp } }
        };
        let line = best(Span::Line);
        let wanted = Span::for_fpp(line.promise.fpp);
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
        let fpp = Rate::new(span, lanes).at(items, blocks);
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

    /// The bits that a key sets in each line of its block.
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// The bits that a key sets.
    pub fn probes(&self) -> u32 {
        self.lanes * self.span.lines() as u32
    }

    /// The bits that the key of this digest has, counted over all lines of the filter.
    pub fn positions(&self, digest: Digest) -> Vec<u64> {
        super::layout::positions(digest, self.blocks, self.span, self.lanes)
    }

    /// What was promised.
    pub fn promise(&self) -> Promise {
        self.promise
    }

    /// The lines in all.
    pub fn lines(&self) -> u64 {
        self.blocks * self.span.lines()
    }

    /// The size in bits.
    pub fn bits(&self) -> u64 {
        self.lines() * Line::BITS
    }

    /// The size in bits over the keys promised.
    pub fn bits_per_key(&self) -> f64 {
        self.bits() as f64 / self.promise.items as f64
    }

    /// The false-positive rate with `items` keys inside.
    pub fn fpp_at(&self, items: u64) -> f64 {
        Rate::new(self.span, self.lanes).at(items, self.blocks)
    }

    /// How many keys it takes before the rate rises above `fpp`.
    pub fn items_at(&self, fpp: f64) -> u64 {
        let mut rate = Rate::new(self.span, self.lanes);
        // With 4096 keys a line every bit is set, for all that floating point can tell.
        let most = self.lines().saturating_mul(4096);
        least(self.promise.items, 1, most, |items| rate.at(items, self.blocks) > fpp) - 1
    }

    /// How many keys have come, judging by the part of the bits that are set.
    pub fn items_for_fill(&self, fill: f64) -> f64 {
        // Each key leaves a given bit alone with probability 1 - K / (512 N).
        let chance = f64::from(self.lanes) / (Line::BITS as f64 * self.blocks as f64);
        let empty = (1.0 - fill).max(0.5 / self.bits() as f64);
        keys_for_empty(empty, chance)
    }

    /// The same shape over fewer blocks.
    pub(super) fn folded(self, factor: u64) -> Self {
        Self { blocks: self.blocks / factor, ..self }
    }
}

impl fmt::Display for BlockedParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = Line::BITS * self.span.lines();
        write!(f, "{} blocks of {bits} bits, {} bits a key", self.blocks, self.probes())
    }
}

/// About as many blocks as it takes to keep a promise.
fn likely_blocks(promise: Promise, span: Span) -> u64 {
    (textbook_bits(promise.items, promise.fpp) / (Line::BITS * span.lines()) as f64) as u64
}

/// The fewest blocks that keep a promise, at most `most`, with the rate that they keep and the lanes by which they do; of `rate` one
/// gets, for a number of lanes, the rate by the number of blocks.
///
/// From the number of lanes that is best without blocks it is tried in both directions for as long as it gets better. That is a valley:
/// with few lanes a stranger is found by chance, with many the line is full.
pub(crate) fn fewest_blocks<R: FnMut(u64) -> f64>(
    promise: Promise,
    span: Span,
    most: u64,
    rate: impl Fn(u32) -> R,
) -> (u64, f64, u32) {
    let fewest = |lanes: u32, guess: u64, most: u64| {
        let mut rate = rate(lanes);
        let blocks = least(guess, 1, most, |blocks| rate(blocks) <= promise.fpp);
        (blocks, rate(blocks), lanes)
    };
    let cost = |found: (u64, f64, u32)| (found.1 > promise.fpp, found.0, found.1);
    let likely = (-log2(promise.fpp) / span.lines() as f64) as u32;
    let first = likely.clamp(1, LANES);
    let mut best = fewest(first, likely_blocks(promise, span), most);
    let mut improve = |lanes: u32| {
        let found = fewest(lanes, best.0, best.0);
        let better = cost(found) < cost(best);
        if better {
            best = found;
        }
        better
    };
    let _ = (1..first).rev().all(&mut improve);
    let _ = (first + 1..=LANES).all(&mut improve);
    best
}

/// The number of lanes for which `cost` is least.
pub(crate) fn best_lanes<C: PartialOrd + Copy>(mut cost: impl FnMut(u32) -> (C, f64)) -> (C, f64, u32) {
    let mut best: Option<(C, f64, u32)> = None;
    for lanes in 1..=LANES {
        let (first, second) = cost(lanes);
        if best.is_none_or(|best| (first, second) < (best.0, best.1)) {
            best = Some((first, second, lanes));
        }
    }
    best.expect("eight candidates are not none")
}

/// The rate of one shape as a function of its filling; remembers what it has summed.
pub(crate) struct Rate {
    lines: i32,
    /// (coefficient, g, g^i) of each distinct g(T): F(i) is the sum of coefficient * g^i.
    terms: Vec<(f64, f64, f64)>,
    /// F(0), F(1), ...
    by_keys: Vec<f64>,
}

impl Rate {
    pub(crate) fn new(span: Span, lanes: u32) -> Self {
        Self::with_slots(span, lanes, 64)
    }

    /// As [`new`](Self::new), for lanes that have other than 64 places.
    pub(crate) fn with_slots(span: Span, lanes: u32, slots: u32) -> Self {
        Self { lines: span.lines() as i32, terms: terms(lanes, slots), by_keys: Vec::new() }
    }

    /// The chance that a block with `keys` keys in it covers another.
    fn block(&mut self, keys: u64) -> f64 {
        while self.by_keys.len() as u64 <= keys {
            self.by_keys.push(self.terms.iter().map(|(c, _, power)| c * power).sum::<f64>().max(0.0));
            for (_, g, power) in &mut self.terms {
                // Rounded off before it becomes so small that processors multiply it in microcode.
                *power = if *power > 1e-60 { *power * *g } else { 0.0 };
            }
        }
        let line = self.by_keys[keys as usize];
        match self.lines {
            1 => line,
            2 => line * line,
            _ => line * line * line * line,
        }
    }

    /// The mean of [`block`](Self::block) over the keys that blocks hold.
    pub(crate) fn at(&mut self, items: u64, blocks: u64) -> f64 {
        mean_over_blocks(items, blocks, |keys| self.block(keys))
    }
}

/// The terms of F for keys of `lanes` lanes of `slots` places, those of equal g gathered.
fn terms(lanes: u32, slots: u32) -> Vec<(f64, f64, f64)> {
    let mut missed = [1.0; 9];
    for i in 1..9 {
        missed[i] = missed[i - 1] * (1.0 - 1.0 / f64::from(slots));
    }
    let mut terms: Vec<(f64, f64, f64)> = Vec::new();
    for subset in (0..=u8::MAX).filter(|subset| subset & !pattern(lanes, 0) == 0) {
        let overlap = |start| (subset & pattern(lanes, start)).count_ones() as usize;
        let g = (0..8).map(|start| missed[overlap(start)]).sum::<f64>() / 8.0;
        let sign = if subset.count_ones() % 2 == 0 { 1.0 } else { -1.0 };
        match terms.iter_mut().find(|(_, other, _)| fabs(other - g) < 1e-12) {
            Some((coefficient, ..)) => *coefficient += sign,
            None => terms.push((sign, g, 1.0)),
        }
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;
    use libm::pow;
    use proptest::prelude::*;

    #[test]
    fn doc_table_is_true() {
        for (fpp, span, lanes, bits) in [
            (0.1, Span::Line, 3, 4.84),
            (0.01, Span::Line, 6, 9.93),
            (0.003, Span::Line, 8, 12.82),
            (0.001, Span::Pair, 5, 14.99),
            (1.0 / 65536.0, Span::Quad, 4, 24.42),
            (1e-9, Span::Quad, 6, 52.07),
        ] {
            let params = BlockedParams::for_fpp(1_000_000, fpp).unwrap();
            assert_eq!((params.span(), params.lanes()), (span, lanes), "at {fpp}");
            assert!(fabs(params.bits_per_key() - bits) < 0.006, "{} bits at {fpp}", params.bits_per_key());
        }
    }

    #[test]
    fn a_given_shape_is_sized_as_the_best_one_is() {
        for (items, fpp) in [(1, 0.5), (1_000, 0.01), (1_000_000, 0.001), (77_777, 1e-6)] {
            let best = BlockedParams::for_fpp(items, fpp).unwrap();
            let shaped = BlockedParams::for_fpp_shaped(items, fpp, best.span(), best.lanes()).unwrap();
            assert_eq!(shaped, best);
            let fewer = BlockedParams::for_fpp_shaped(items, fpp, best.span(), best.lanes().max(2) - 1);
            assert!(fewer.is_err() || fewer.unwrap().bits() >= best.bits());
        }
        assert!(BlockedParams::for_fpp_shaped(0, 0.01, Span::Line, 6).is_err());
        assert!(BlockedParams::for_fpp_shaped(1, 0.01, Span::Line, 9).is_err());
        // One bit in one line does not keep a rate of 10^-12 at any size.
        let most = BlockedParams::for_fpp_shaped(1_000_000, 1e-12, Span::Line, 1);
        assert!(matches!(most, Err(ParamsError::TooLarge { .. })), "{most:?}");
    }

    #[test]
    fn one_key_gets_one_block() {
        for fpp in [0.9, 0.01, 1e-12] {
            assert_eq!(BlockedParams::for_fpp(1, fpp).unwrap().blocks(), 1);
        }
    }

    #[test]
    fn sizes_beyond_the_address_space_are_refused() {
        assert!(matches!(BlockedParams::for_fpp(u64::MAX, 0.01), Err(ParamsError::TooLarge { .. })));
        assert!(BlockedParams::for_bits(u64::MAX, 1 << 62).is_ok());
        assert!(BlockedParams::with_shape(u64::MAX, Span::Line, 6, 1).is_err());
        assert!(BlockedParams::with_shape(1, Span::Line, 9, 1).is_err());
    }

    #[test]
    fn fill_and_items_are_inverses() {
        let params = BlockedParams::for_fpp(10_000, 0.001).unwrap();
        for items in [0.0f64, 1.0, 5_000.0, 10_000.0, 30_000.0] {
            let miss = f64::from(params.lanes()) / (512.0 * params.blocks() as f64);
            let fill = 1.0 - pow(1.0 - miss, items);
            assert!(fabs(params.items_for_fill(fill) - items) < 1e-3 + 1e-6 * items);
        }
    }

    #[test]
    fn no_other_number_of_lanes_takes_fewer_blocks() {
        let rates = (1..40).map(|i| pow(2.0, -f64::from(i) / 1.01)).chain([0.99, 0.9, 0.7, 0.3, 0.01, 0.001]);
        for (fpp, items) in rates.flat_map(|fpp| [1, 2, 10, 300, 20_000, 3_000_000].map(|items| (fpp, items)))
        {
            let span = Span::for_fpp(fpp);
            let params = BlockedParams::for_fpp(items, fpp).unwrap();
            let chosen = (params.blocks(), params.fpp_at(items));
            for lanes in 1..=LANES {
                let mut rate = Rate::new(span, lanes);
                let fewer = params.blocks() - 1;
                assert!(
                    fewer == 0 || rate.at(items, fewer) > fpp,
                    "{items} keys at {fpp}: {lanes} lanes, {fewer} blocks"
                );
                let kept = rate.at(items, params.blocks());
                assert!(
                    kept > fpp || kept >= chosen.1,
                    "{items} keys at {fpp}: {lanes} lanes keep {kept}, not {}",
                    chosen.1
                );
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_size_for_a_rate_is_the_least_that_keeps_it(items in 1u64..2_000_000, bits in 1.0f64..39.0) {
            let fpp = pow(2.0, -bits);
            let params = BlockedParams::for_fpp(items, fpp).unwrap();
            prop_assert!(params.fpp_at(items) <= fpp);
            if params.blocks() > 1 {
                let smaller = BlockedParams::with_shape(params.blocks() - 1, params.span(), params.lanes(), items).unwrap();
                prop_assert!(smaller.fpp_at(items) > fpp);
            }
        }

        #[test]
        fn items_at_is_the_inverse_of_fpp_at(items in 1u64..1_000_000, bits in 1.0f64..20.0, ask in 1.0f64..20.0) {
            let params = BlockedParams::for_fpp(items, pow(2.0, -bits)).unwrap();
            let fpp = pow(2.0, -ask);
            let most = params.items_at(fpp);
            prop_assert!(most == 0 || params.fpp_at(most) <= fpp);
            prop_assert!(params.fpp_at(most + 1) > fpp);
        }

        #[test]
        fn more_bits_never_raise_the_rate_by_more_than_a_change_of_span(items in 1u64..100_000, bits in 512u64..4_000_000) {
            let small = BlockedParams::for_bits(bits, items).unwrap().promise().fpp;
            let large = BlockedParams::for_bits(bits + 4096, items).unwrap().promise().fpp;
            prop_assert!(large <= small * 1.001, "{small} with {bits} bits, {large} with more");
        }
    }
}
