//! How many bits and probes a classic filter needs, and what it keeps at any filling. Pure functions of numbers.

use super::{
    clustered::{Rounds, excess},
    layout::Scheme,
};
use crate::{
    error::ParamsError,
    params::{Promise, checked_fpp, checked_items, keys_for_empty, least, textbook_bits},
    store::{Line, addressable},
};
use core::{f64::consts::LN_2, fmt};
use libm::{ceil, exp, expm1, floor, log, log1p, pow, round};

/// The size and shape of a classic Bloom filter.
///
/// ```
/// use gowk::BloomParams;
/// let params = BloomParams::for_fpp(1_000_000, 0.01)?;
/// assert_eq!((params.bits(), params.probes()), (9_637_376, 7));       // 9,585,059 by the textbook
/// assert_eq!(params.items_at(0.02), 1_161_264);                       // how many keys until 2 %?
/// # Ok::<(), gowk::ParamsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BloomParams {
    bits: u64,
    probes: u32,
    scheme: Scheme,
    promise: Promise,
}

/// How far the rate may be off by rounding the number of probes, and by lines that are fuller than others.
const TOLERANCE: f64 = 1.012;

/// The most probes that a filter may have: 2^-64 needs no more.
pub(crate) const MOST_PROBES: u32 = 64;

impl BloomParams {
    /// The textbook size, m = -n ln p / (ln 2)^2 with k = (m/n) ln 2 rounded.
    ///
    /// Where rounding k breaks the rate by more than half a percent, which it does above 20 %, it is the fewest bits that
    /// keep it with a whole number of probes. A few lines more where it takes them to keep the rate within 1.2 percent, though
    /// bits share lines. Rounded up to whole lines of 512 bits.
    pub fn for_fpp(items: u64, fpp: f64) -> Result<Self, ParamsError> {
        let promise = Promise { items: checked_items(items)?, fpp: checked_fpp(fpp)? };
        let n = items as f64;
        let bits = ceil(textbook_bits(items, fpp));
        let probes = round(bits / n * LN_2).max(1.0);
        let kept = pow(-expm1(-probes * n / bits), probes);
        let (bits, probes) = if kept <= 1.005 * fpp {
            (bits, probes)
        } else {
            // m = -kn / ln(1 - p^(1/k)) for the whole k on either side of the real one.
            let real = -log(fpp) / LN_2;
            let size = |k: f64| (ceil(-k * n / log1p(-pow(fpp, 1.0 / k))), k);
            let (low, high) = (size(floor(real).max(1.0)), size(ceil(real).max(1.0)));
            if low.0 <= high.0 { low } else { high }
        };
        if bits > (isize::MAX as f64) * 8.0 {
            return Err(ParamsError::TooLarge { bytes: (bits / 8.0) as u128 });
        }
        if bits < Line::BITS as f64 {
            return Self::for_bits(Line::BITS, items).map(|params| params.with_promise(promise));
        }
        let scheme = Scheme::default();
        let bits = (bits as u64).next_multiple_of(scheme.granule());
        let mut params = Self { bits, probes: probes as u32, scheme, promise };
        // What bits that share lines cost: a few lines in ten thousand, where it shows at all.
        while params.fpp_at(items) > TOLERANCE * fpp {
            params.bits += (params.bits >> 13).next_multiple_of(scheme.granule());
        }
        addressable(params.lines()).map(|_| params)
    }

    /// The best number of probes for `items` keys in `bits` bits; the promise is the rate that it keeps.
    pub fn for_bits(bits: u64, items: u64) -> Result<Self, ParamsError> {
        checked_items(items)?;
        let scheme = Scheme::default();
        let bits = bits.max(Line::BITS) / scheme.granule() * scheme.granule();
        let real = bits as f64 / items as f64 * LN_2;
        let shape = |k: f64| Self::with_shape(bits, k.clamp(1.0, 32.0) as u32, scheme, items);
        let (low, high) = (shape(floor(real))?, shape(ceil(real))?);
        Ok(if low.promise.fpp <= high.promise.fpp { low } else { high })
    }

    /// A filter of just this shape, for files and for those who compare. The promise is what it keeps for `items` keys. The
    /// scheme says what the bits must be a multiple of: 512 for gowk's own, 1 for RedisBloom's.
    pub fn with_shape(bits: u64, probes: u32, scheme: Scheme, items: u64) -> Result<Self, ParamsError> {
        let items = checked_items(items)?;
        let granule = scheme.granule();
        if bits == 0 || !bits.is_multiple_of(granule) {
            return Err(ParamsError::Granule { what: "bits", value: bits, granule });
        }
        if !(1..=MOST_PROBES).contains(&probes) {
            let most = MOST_PROBES.into();
            return Err(ParamsError::OutOfRange { what: "probes", value: probes.into(), least: 1, most });
        }
        let mut params = Self { bits, probes, scheme, promise: Promise { items, fpp: 1.0 } };
        params.promise.fpp = params.fpp_at(items);
        addressable(params.lines()).map(|_| params)
    }

    /// As [`with_shape`](Self::with_shape), with the promise as a file states it.
    pub(crate) fn with_promise(self, promise: Promise) -> Self {
        Self { promise, ..self }
    }

    /// The bits, m.
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// The bits that a key sets, k.
    pub fn probes(&self) -> u32 {
        self.probes
    }

    /// How a digest names bits.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// What was promised.
    pub fn promise(&self) -> Promise {
        self.promise
    }

    /// In how many lines a key's bits are, at most.
    pub fn lines_a_key(&self) -> u32 {
        match self.scheme {
            Scheme::Enhanced | Scheme::Double => self.probes,
            Scheme::Clustered | Scheme::Paired | Scheme::Fewest => {
                let rounds = Rounds::new(self.scheme, self.probes);
                self.probes.min(rounds.lines as u32 * rounds.count)
            }
        }
    }

    /// The lines that hold the bits.
    pub fn lines(&self) -> u64 {
        self.bits.div_ceil(Line::BITS)
    }

    /// The size in bits over the keys promised.
    pub fn bits_per_key(&self) -> f64 {
        self.bits as f64 / self.promise.items as f64
    }

    /// The false-positive rate with `items` keys inside, by the usual formula.
    pub fn fpp_at(&self, items: u64) -> f64 {
        let k = f64::from(self.probes);
        let x = k * items as f64 / self.bits as f64;
        (pow(-expm1(-x), k) * self.unevenness(items, x)).min(1.0)
    }

    /// By what factor the rate is higher because bits share lines.
    fn unevenness(&self, items: u64, x: f64) -> f64 {
        match self.scheme {
            Scheme::Enhanced | Scheme::Double => 1.0,
            Scheme::Clustered | Scheme::Paired | Scheme::Fewest if items == 0 => 1.0,
            Scheme::Clustered | Scheme::Paired | Scheme::Fewest => {
                let rounds = Rounds::new(self.scheme, self.probes);
                // In two or three lines the bits of a key are spread more evenly than chance would have them, and the rate is lower. How
                // much is known for small differences only; one less a large number would be no rate.
                (1.0 + excess(items as f64, self.lines() as f64, rounds, x)).max(0.5)
            }
        }
    }

    /// The false-positive rate with `items` keys inside, with the spread of the number of set bits taken into account.
    pub fn exact_fpp_at(&self, items: u64) -> f64 {
        let (m, k) = (self.bits as f64, f64::from(self.probes));
        let draws = k * items as f64;
        let one_empty = exp(draws * log1p(-1.0 / m));
        let two_empty = if self.bits > 1 { exp(draws * log1p(-2.0 / m)) } else { 0.0 };
        let fill = 1.0 - one_empty;
        // Var(X) / m^2 for the number X of set bits.
        let variance = (two_empty - one_empty * one_empty) + (one_empty - two_empty) / m;
        let spread = 1.0 + k * (k - 1.0) / 2.0 * variance / (fill * fill).max(f64::MIN_POSITIVE);
        (pow(fill, k) * spread * self.unevenness(items, draws / m)).min(1.0)
    }

    /// How many keys it takes before the rate rises above `fpp`.
    pub fn items_at(&self, fpp: f64) -> u64 {
        let most = self.bits.saturating_mul(64);
        least(self.promise.items, 1, most, |items| self.fpp_at(items) > fpp) - 1
    }

    /// How many keys have come, judging by the part of the bits that are set.
    pub fn items_for_fill(&self, fill: f64) -> f64 {
        let m = self.bits as f64;
        let empty = (1.0 - fill).max(0.5 / m);
        if self.bits == 1 {
            return fill;
        }
        keys_for_empty(empty, 1.0 / m) / f64::from(self.probes)
    }
}

impl fmt::Display for BloomParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bits, {} probes", self.bits, self.probes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn doc_table_is_true() {
        for (fpp, bits, probes) in
            [(0.01, 9_637_376, 7), (0.001, 14_447_616, 10), (1.0 / 65536.0, 23_138_816, 16)]
        {
            let params = BloomParams::for_fpp(1_000_000, fpp).unwrap();
            assert_eq!((params.bits(), params.probes()), (bits, probes));
        }
    }

    #[test]
    fn the_two_formulas_meet_for_many_keys_and_part_for_few() {
        let many = BloomParams::for_fpp(1_000_000, 0.01).unwrap();
        assert!((many.exact_fpp_at(1_000_000) / many.fpp_at(1_000_000) - 1.0).abs() < 1e-4);
        let few = BloomParams::with_shape(96, 7, Scheme::Double, 10).unwrap();
        assert!(few.exact_fpp_at(10) > 1.01 * few.fpp_at(10));
    }

    #[test]
    fn sizes_that_make_no_sense_are_refused() {
        assert!(BloomParams::with_shape(0, 7, Scheme::Enhanced, 1).is_err());
        assert!(BloomParams::with_shape(65, 7, Scheme::Enhanced, 1).is_err());
        assert!(BloomParams::with_shape(64, 7, Scheme::Clustered, 1).is_err());
        assert!(BloomParams::with_shape(64, 0, Scheme::Enhanced, 1).is_err());
        assert!(BloomParams::with_shape(64, 65, Scheme::Enhanced, 1).is_err());
        assert!(matches!(BloomParams::for_fpp(u64::MAX, 1e-9), Err(ParamsError::TooLarge { .. })));
        assert!(BloomParams::for_fpp(1 << 40, 0.01).unwrap().bits() > 1 << 43);
    }

    #[test]
    fn the_rate_of_the_smallest_filters_is_a_rate() {
        for scheme in [Scheme::Clustered, Scheme::Paired, Scheme::Fewest] {
            for (lines, probes) in (1..=12).flat_map(|lines| (1..=64).map(move |probes| (lines, probes))) {
                for items in [1, 2, 5, 13, 40, 200, 5_000] {
                    let params = BloomParams::with_shape(512 * lines, probes, scheme, items).unwrap();
                    let rates = [params.fpp_at(items), params.exact_fpp_at(items), params.promise().fpp];
                    assert!(
                        rates.iter().all(|rate| *rate > 0.0 && *rate <= 1.0),
                        "{params}, {items} keys: {rates:?}"
                    );
                }
            }
        }
        // Two lines at once, where one is just too small.
        let params = BloomParams::for_fpp(13, pow(2.0, -27.341_978_269_709_67)).unwrap();
        assert_eq!(params.lines(), 2);
    }

    proptest! {
        #[test]
        fn the_size_for_a_rate_keeps_it(items in 1u64..10_000_000, bits in 0.05f64..39.0) {
            let fpp = pow(2.0, -bits);
            let params = BloomParams::for_fpp(items, fpp).unwrap();
            prop_assert!(params.fpp_at(items) <= TOLERANCE * fpp, "{params}: {}", params.fpp_at(items));
            // Of few lines one more is a step.
            prop_assert!(items < 1_000 || params.bits() == Line::BITS || params.fpp_at(items) >= 0.8 * fpp, "{params}: {}", params.fpp_at(items));
        }

        #[test]
        fn items_at_is_the_inverse_of_fpp_at(items in 1u64..1_000_000, bits in 1.0f64..20.0, ask in 1.0f64..20.0) {
            let params = BloomParams::for_fpp(items, pow(2.0, -bits)).unwrap();
            let fpp = pow(2.0, -ask);
            let most = params.items_at(fpp);
            prop_assert!(most == 0 || params.fpp_at(most) <= fpp);
            prop_assert!(params.fpp_at(most + 1) > fpp);
        }

        #[test]
        fn fill_and_items_are_inverses(items in 0u64..20_000, bits in 1.0f64..20.0) {
            let params = BloomParams::for_fpp(10_000, pow(2.0, -bits)).unwrap();
            let fill = -expm1(f64::from(params.probes()) * items as f64 * log1p(-1.0 / params.bits() as f64));
            prop_assert!((params.items_for_fill(fill) - items as f64).abs() < 1e-3 + 1e-6 * items as f64);
        }
    }
}
