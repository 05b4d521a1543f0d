//! How large a fuse filter must be. Pure functions of numbers.

use super::{layout::Layout, peel::WINDOW};
use crate::{
    error::ParamsError,
    params::{Promise, checked_fpp, checked_items},
    store::{Line, MOST_LOG, addressable},
};
use core::fmt;
use libm::{ceil, ldexp, log, pow, sqrt};

/// The slots of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Arity {
    /// Three: the quicker.
    #[default]
    Three = 3,
    /// Four: 5 % smaller, a third more memory to read for each lookup.
    Four = 4,
}

impl Arity {
    /// The arity of so many slots.
    pub fn from_slots(slots: u8) -> Option<Self> {
        [Self::Three, Self::Four].into_iter().find(|arity| *arity as u8 == slots)
    }

    /// The slots of a key.
    pub fn slots(self) -> u64 {
        self as u64
    }
}

/// The widest fingerprint.
pub const MOST_WIDTH: u32 = 32;

/// From this many keys for each slot of a window on, a chain is peeled from both ends at once, by two threads if there are two.
/// With fewer the second window, and what it takes to bring the fronts together, would weigh more than 23 bits a key.
const TWO_FRONTS_FROM: u64 = 28;

/// The size and shape of a binary fuse filter.
///
/// ```
/// use gowk::FuseParams;
/// let params = FuseParams::for_fpp(1_000_000, 0.01)?;
/// assert_eq!(params.width(), 7);
/// assert_eq!(params.fpp(), 1.0 / 128.0);            // the next power of two below the rate asked for
/// assert!(params.bits_per_key() < 7.9);
/// # Ok::<(), gowk::ParamsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FuseParams {
    arity: Arity,
    width: u32,
    range: u64,
    log: u32,
    promise: Promise,
}

impl FuseParams {
    /// The smallest three-wise filter that keeps `fpp` with `items` keys in it.
    pub fn for_fpp(items: u64, fpp: f64) -> Result<Self, ParamsError> {
        Self::for_width(items, width_for(fpp)?, Arity::Three)
            .map(|params| params.with_promise(Promise { items, fpp }))
    }

    /// The filter of the widest fingerprints that takes at most `bits` bits for `items` keys; of one bit if none does.
    pub fn for_bits(bits: u64, items: u64) -> Result<Self, ParamsError> {
        let narrow = Self::for_width(items, 1, Arity::Three)?;
        let width = (bits / narrow.slots()).clamp(1, MOST_WIDTH.into()) as u32;
        let params = Self::for_width(items, width, Arity::Three)?;
        // The rounding to lines may be what does not fit.
        if params.bits() > bits && width > 1 {
            Self::for_width(items, width - 1, Arity::Three)
        } else {
            Ok(params)
        }
    }

    /// The filter of fingerprints of `width` bits with `arity` slots a key.
    pub fn for_width(items: u64, width: u32, arity: Arity) -> Result<Self, ParamsError> {
        let (range, log) = shape(checked_items(items)?, arity);
        Self::with_shape(arity, width, range, log, items)
    }

    /// A filter of just this shape, for files and for those who compare: `range` places for a key's last slot, segments of
    /// 2^`log` slots.
    pub fn with_shape(
        arity: Arity,
        width: u32,
        range: u64,
        log: u32,
        items: u64,
    ) -> Result<Self, ParamsError> {
        let items = checked_items(items)?;
        let in_range = |what, value: u64, least, most| {
            if (least..=most).contains(&value) {
                Ok(())
            } else {
                Err(ParamsError::OutOfRange { what, value, least, most })
            }
        };
        in_range("the width of a fingerprint", width.into(), 1, MOST_WIDTH.into())?;
        in_range("the size of a segment", log.into(), 1, MOST_LOG.into())?;
        in_range("the range of the chain", range, 1, 1 << 40)?;
        let params =
            Self { arity, width, range, log, promise: Promise { items, fpp: ldexp(1.0, -(width as i32)) } };
        addressable(params.lines()).map(|_| params)
    }

    /// The same filter with the promise as the caller or a file states it.
    pub(crate) fn with_promise(self, promise: Promise) -> Self {
        Self { promise, ..self }
    }

    /// The filter for an attempt after so many have failed.
    pub(super) fn enlarged(self, failed: u32) -> Self {
        let more = pow(1.04, f64::from(failed.saturating_sub(2)));
        Self { range: ceil(self.range as f64 * more) as u64 + u64::from(failed), ..self }
    }

    /// Where the keys lie.
    pub(super) fn layout(self, multiplier: u64) -> Layout {
        Layout::new(self.range, self.log, multiplier)
    }

    /// The slots of a key.
    pub fn arity(&self) -> Arity {
        self.arity
    }

    /// The bits of a fingerprint.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The places at which a key's last slot may be.
    pub fn range(&self) -> u64 {
        self.range
    }

    /// The slots of a segment, as a power of two.
    pub fn segment_log(&self) -> u32 {
        self.log
    }

    /// What was promised.
    pub fn promise(&self) -> Promise {
        self.promise
    }

    /// The rate that it keeps: one in 2^width, however many keys.
    pub fn fpp(&self) -> f64 {
        ldexp(1.0, -(self.width as i32))
    }

    /// The slots in all.
    pub fn slots(&self) -> u64 {
        self.range + ((self.arity.slots() - 1) << self.log)
    }

    /// The lines in all. Fingerprints are read a word at a time, so the last has a word behind it.
    pub fn lines(&self) -> u64 {
        let bits = u128::from(self.slots()) * u128::from(self.width) + 64;
        bits.div_ceil(u128::from(Line::BITS)) as u64
    }

    /// The size in bits.
    pub fn bits(&self) -> u64 {
        self.lines() * Line::BITS
    }

    /// The size in bits over the keys promised.
    pub fn bits_per_key(&self) -> f64 {
        self.bits() as f64 / self.promise.items as f64
    }

    /// The segments in which a key's first slot may be.
    fn starts(&self) -> u64 {
        self.range.div_ceil(1 << self.log)
    }

    /// The slots that a front has in work.
    fn window(&self) -> u64 {
        let segments = self.starts() + self.arity.slots() - 1;
        segments.min(WINDOW as u64).next_power_of_two() << self.log
    }

    /// The bytes of the digests and of the gaps that the fronts need.
    pub(super) fn digest_bytes(&self) -> u64 {
        let fronts = 1 + u64::from(self.two_fronts());
        8 * (self.promise.items + fronts * self.window().min(self.promise.items))
    }

    /// The most memory that a build takes at any time, in bytes: the digests, and either the windows or the slots.
    pub fn build_bytes(&self) -> u64 {
        let fronts = 1 + u64::from(self.two_fronts());
        let window = self.window();
        let digests = self.digest_bytes();
        // A window has nine bytes a slot. Where two fronts meet there are two more, and the keys between.
        let peeling = if fronts == 1 { 13 * window } else { 56 * window };
        let writing = self.lines() * Line::BYTES as u64 + self.slots() / 8 + 16 * window * (fronts - 1);
        digests + peeling.max(writing) + 16 * self.starts()
    }

    /// Whether the chain is peeled from both ends.
    pub(super) fn two_fronts(&self) -> bool {
        // Threads write to words of their own, so segments must have whole words.
        self.log >= 6 && self.promise.items >= TWO_FRONTS_FROM * self.window()
    }
}

impl fmt::Display for FuseParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} slots of {} bits, {} slots a key", self.slots(), self.width, self.arity.slots())
    }
}

/// The least width that keeps a rate.
pub(super) fn width_for(fpp: f64) -> Result<u32, ParamsError> {
    let fpp = checked_fpp(fpp)?;
    let least = ldexp(1.0, -(MOST_WIDTH as i32));
    (1..=MOST_WIDTH)
        .find(|&width| ldexp(1.0, -(width as i32)) <= fpp)
        .ok_or(ParamsError::FppTooSmall { asked: fpp, least })
}

/// Range and segment for so many keys: the fewest slots. Half a percent more is taken for segments half as long, which stay
/// nearer to the processor.
fn shape(items: u64, arity: Arity) -> (u64, u32) {
    let more = arity.slots() - 1;
    let slots = |&(range, log): &(u64, u32)| range.saturating_add(more << log);
    let shapes = || (1..=MOST_LOG).map(|log| (range_for(items as f64, log, arity), log));
    let least = shapes().map(|shape| slots(&shape)).min().unwrap_or(u64::MAX);
    let near = least.saturating_add(least / 200);
    shapes().find(|shape| slots(shape) <= near).unwrap_or((u64::MAX, MOST_LOG))
}

/// The range with which segments of this size peel at the first attempt, five times in six. More than any shape can have if
/// they hardly would.
fn range_for(n: f64, log: u32, arity: Arity) -> u64 {
    let segment = ldexp(1.0, log as i32);
    let single = single_range(n, (arity.slots() - 1) as f64 * segment / n, arity);
    let chain = chain_range(n, segment, arity);
    let range = single.unwrap_or(f64::INFINITY).min(chain.unwrap_or(f64::INFINITY));
    if range < 1e18 { ceil(range).max(1.0) as u64 } else { u64::MAX }
}

/// The range of a chain of many segments.
///
/// The keys that a slot of a long chain can bear have a limit [Walzer 2021]. Segments fill unevenly, so it must be kept off by
/// something like 1 over the square root of their size, and the more the longer the chain, in which the front has more
/// chances to get stuck. Measured on chains of 16 to 1,000 segments of 2^8 to 2^15 slots.
fn chain_range(n: f64, segment: f64, arity: Arity) -> Option<f64> {
    let (limit, base, slope) = match arity {
        Arity::Three => (0.918, -0.1, 0.37),
        Arity::Four => (0.9768, 0.2, 0.33),
    };
    let starts = n / segment;
    // Two keys that share all slots cannot be peeled: pairs, over the choices that segments leave.
    let alike = match arity {
        Arity::Three => n / (2.25 * segment * segment),
        Arity::Four => n / (2.15 * segment * segment * segment),
    };
    (starts >= 16.0 && alike < 0.06).then(|| n / (limit - (base + slope * log(starts)) / sqrt(segment)))
}

/// The range of a few keys, with one or two starts: what an xor filter needs, in unequal parts. `share` is what the other
/// segments have, in slots a key.
fn single_range(n: f64, share: f64, arity: Arity) -> Option<f64> {
    // Measured at some thousand keys: (share, range), in slots a key.
    const THREE: [(f64, f64); 7] =
        [(0.50, 0.84), (0.585, 0.70), (0.683, 0.59), (0.731, 0.53), (0.82, 0.41), (1.024, 0.26), (1.4, 0.15)];
    const FOUR: [(f64, f64); 6] =
        [(0.70, 0.66), (0.768, 0.58), (0.96, 0.36), (1.024, 0.29), (1.097, 0.23), (1.4, 0.05)];
    let points: &[(f64, f64)] = match arity {
        Arity::Three => &THREE,
        Arity::Four => &FOUR,
    };
    let range = points.windows(2).find(|pair| (pair[0].0..=pair[1].0).contains(&share)).map(|pair| {
        let (low, high) = (pair[0], pair[1]);
        low.1 + (high.1 - low.1) * (share - low.0) / (high.0 - low.0)
    });
    // So few keys that segments of two slots are too long for the table.
    let range = range.or((n < 8.0 && share > 1.0).then_some(0.1));
    range.map(|range| range * n + 1.2 * sqrt(n) + 6.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn doc_table_is_true() {
        for (items, three, four) in [
            (100, 1.46, 1.50),
            (1_000, 1.33, 1.39),
            (10_000, 1.25, 1.20),
            (100_000, 1.17, 1.11),
            (1_000_000, 1.128, 1.070),
            (10_000_000, 1.114, 1.048),
            (100_000_000, 1.103, 1.037),
        ] {
            for (arity, factor) in [(Arity::Three, three), (Arity::Four, four)] {
                let params = FuseParams::for_width(items, 8, arity).unwrap();
                let got = params.slots() as f64 / items as f64;
                let close = if items < 1_000_000 { 0.006 } else { 0.0006 };
                assert!(
                    (got - factor).abs() < close,
                    "{items} keys, {arity:?}: {got} slots a key, not {factor}"
                );
            }
        }
    }

    #[test]
    fn a_million_keys_take_what_was_promised() {
        for (items, fpp, most) in
            [(1_000_000, 0.01, 7.9), (1_000_000, 1.0 / 256.0, 9.04), (10_000_000, 0.001, 11.3)]
        {
            let params = FuseParams::for_fpp(items, fpp).unwrap();
            assert!(params.bits_per_key() <= most, "{params}: {}", params.bits_per_key());
            assert!(
                params.build_bytes() * 8 <= 87 * items,
                "{params}: {} bytes to build",
                params.build_bytes()
            );
        }
    }

    #[test]
    fn the_width_is_the_least_that_keeps_the_rate() {
        for (fpp, width) in
            [(0.9, 1), (0.5, 1), (0.49, 2), (0.01, 7), (1.0 / 256.0, 8), (0.0039, 9), (2.4e-10, 32)]
        {
            assert_eq!(width_for(fpp), Ok(width), "for {fpp}");
        }
        assert!(matches!(width_for(2e-10), Err(ParamsError::FppTooSmall { .. })));
        assert!(matches!(width_for(0.0), Err(ParamsError::Fpp { .. })));
    }

    #[test]
    fn shapes_that_cannot_be_are_refused() {
        for (width, range, log) in
            [(0, 10, 5), (33, 10, 5), (8, 0, 5), (8, u64::MAX, 5), (8, 10, 0), (8, 10, 28)]
        {
            assert!(
                FuseParams::with_shape(Arity::Three, width, range, log, 10).is_err(),
                "{width} {range} {log}"
            );
        }
        assert!(FuseParams::for_fpp(0, 0.01).is_err());
        assert!(FuseParams::for_fpp(u64::MAX, 0.01).is_err());
    }

    proptest! {
        #[test]
        fn more_keys_never_take_less_by_more_than_the_choice_of_segments(items in 1u64..1 << 33) {
            for arity in [Arity::Three, Arity::Four] {
                let slots = |items| FuseParams::for_width(items, 1, arity).unwrap().slots() as f64;
                prop_assert!(slots(items + items / 10 + 1) >= slots(items) * 0.99);
                prop_assert!(slots(items) / items as f64 >= 1.0 / 0.977);
            }
        }

        #[test]
        fn the_size_for_bits_fits_and_the_next_does_not(items in 1u64..10_000_000, width in 1u64..32) {
            let bits = items * width + 10_000;
            let params = FuseParams::for_bits(bits, items).unwrap();
            prop_assert!(params.bits() <= bits || params.width() == 1);
            if params.width() < MOST_WIDTH {
                prop_assert!(FuseParams::for_width(items, params.width() + 1, Arity::Three).unwrap().bits() > bits);
            }
        }
    }
}
