//! How large a cuckoo filter must be, and what it keeps at any filling. Pure functions of numbers.

use super::layout::MOST_PRINT;
use crate::{
    error::ParamsError,
    params::{Promise, checked_fpp, checked_items, keys_for_empty, least},
    store::{Line, addressable},
};
use core::fmt;
use libm::{exp, expm1, log1p, sqrt};

/// The bits of a fingerprint, at least.
pub const LEAST_WIDTH: u32 = 4;

/// The bits of a fingerprint, at most: four of them are read by two loads.
pub const MOST_WIDTH: u32 = 32;

/// Candidate buckets of a key, and slots of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Shape {
    /// Two buckets of four slots: the default, and the one to use.
    #[default]
    TwoByFour,
    /// Two buckets of two slots.
    TwoByTwo,
    /// Two single slots: the first cuckoo hash table.
    TwoByOne,
    /// Three single slots.
    ThreeByOne,
    /// Four single slots.
    FourByOne,
    /// Four buckets of two slots.
    FourByTwo,
}

impl Shape {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::TwoByFour, Self::TwoByTwo, Self::TwoByOne, Self::ThreeByOne, Self::FourByOne, Self::FourByTwo];

    /// The buckets that a key may be in.
    pub fn candidates(self) -> u64 {
        match self {
            Self::TwoByFour | Self::TwoByTwo | Self::TwoByOne => 2,
            Self::ThreeByOne => 3,
            Self::FourByOne | Self::FourByTwo => 4,
        }
    }

    /// The slots of a bucket.
    pub fn slots(self) -> u64 {
        match self {
            Self::TwoByFour => 4,
            Self::TwoByTwo | Self::FourByTwo => 2,
            Self::TwoByOne | Self::ThreeByOne | Self::FourByOne => 1,
        }
    }

    /// The shape of these numbers.
    pub fn from_numbers(candidates: u64, slots: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|shape| (shape.candidates(), shape.slots()) == (candidates, slots))
    }

    /// The part of a large table's slots that are used when the keys that it was made for are in. Below what the table of
    /// [the module page](super) reaches before its first refusal, so that there is none; more would cost kicks.
    pub fn load(self) -> f64 {
        match self {
            Self::TwoByFour => 0.96,
            Self::TwoByTwo => 0.86,
            Self::TwoByOne => 0.25,
            Self::ThreeByOne => 0.87,
            Self::FourByOne => 0.94,
            Self::FourByTwo => 0.98,
        }
    }

    /// How many bits of a fingerprint of this width choose the other buckets; the others are spare, one at least. With 7 bits two
    /// buckets of four slots fill as well as with 16. Single slots need many different partners: three keys with the same two
    /// places are one too many.
    fn print_bits(self, width: u32) -> u32 {
        let most = if self.slots() == 1 { MOST_PRINT } else { 7 };
        (width - 1).clamp(LEAST_WIDTH, most)
    }

    /// Buckets come in multiples of this: from three candidates on, each has a part of the table.
    fn parts(self) -> u64 {
        if self.candidates() == 2 { 1 } else { self.candidates() }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {}", self.candidates(), self.slots())
    }
}

/// The size and shape of a cuckoo filter.
///
/// ```
/// use gowk::CuckooParams;
/// let params = CuckooParams::for_fpp(1_000_000, 0.01)?;
/// assert_eq!(params.width(), 10);                        // bits of a fingerprint
/// assert!(params.bits_per_key() <= 10.5);
/// assert!(params.fpp_at(1_000_000) <= 0.01);
///
/// // A thousand keys now, up to a million later: it doubles as they come, and keeps 1 % to the last.
/// let growing = CuckooParams::growing(1_000, 1_000_000, 0.01)?;
/// assert!(growing.bits() < 25_000);
/// # Ok::<(), gowk::ParamsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CuckooParams {
    shape: Shape,
    buckets: u64,
    print_bits: u32,
    spare_bits: u32,
    promise: Promise,
}

impl CuckooParams {
    /// The smallest filter that keeps `fpp` with `items` keys in it.
    pub fn for_fpp(items: u64, fpp: f64) -> Result<Self, ParamsError> {
        Self::for_shape(Shape::default(), items, fpp)
    }

    /// As [`for_fpp`](Self::for_fpp), with other numbers of candidate buckets and slots: for those who compare.
    pub fn for_shape(shape: Shape, items: u64, fpp: f64) -> Result<Self, ParamsError> {
        let promise = Promise { items: checked_items(items)?, fpp: checked_fpp(fpp)? };
        let buckets = buckets_for(shape, items)?;
        Self::narrowest(shape, buckets, promise)
    }

    /// A filter that is small at first and doubles by itself whenever it is full. Made for `start` keys, it keeps `fpp` until
    /// there are `most`.
    ///
    /// Each doubling that is still to come costs a bit a key at the start, and none at the end.
    pub fn growing(start: u64, most: u64, fpp: f64) -> Result<Self, ParamsError> {
        let promise = Promise { items: checked_items(most)?.max(start), fpp: checked_fpp(fpp)? };
        let shape = Shape::default();
        let (buckets, last) =
            (buckets_for(shape, checked_items(start)?)?, buckets_for(shape, promise.items)?);
        let doublings = last.div_ceil(buckets).next_power_of_two().ilog2();
        let params = Self::narrowest(shape, buckets, promise)?;
        // Where the rate asks for so few bits that they would run out before the doublings do.
        let spare_bits = params.spare_bits.max(doublings);
        Self { spare_bits, ..params }.checked()
    }

    /// The least width that keeps the promise.
    fn narrowest(shape: Shape, buckets: u64, promise: Promise) -> Result<Self, ParamsError> {
        let of_width = |width: u32| {
            let print_bits = shape.print_bits(width);
            Self { shape, buckets, print_bits, spare_bits: width - print_bits, promise }
        };
        let keeps = |width: &u32| of_width(*width).fpp_at(promise.items) <= promise.fpp;
        // A small table may be unlucky, and needs a spare bit to double by then.
        let least = if promise.items < 10_000 { LEAST_WIDTH + 1 } else { LEAST_WIDTH };
        let width = (least..=40).find(keeps).unwrap_or(41);
        of_width(width).checked()
    }

    /// The best filter of at most `bits` bits for `items` keys; its promise is the rate it keeps.
    pub fn for_bits(bits: u64, items: u64) -> Result<Self, ParamsError> {
        let shape = Shape::default();
        let buckets = buckets_for(shape, checked_items(items)?)?;
        let per_width = buckets * shape.slots();
        let width = (bits / per_width).min(MOST_WIDTH.into()) as u32;
        if width < LEAST_WIDTH {
            let least = per_width.saturating_mul(LEAST_WIDTH.into());
            return Err(ParamsError::OutOfRange {
                what: "the size in bits",
                value: bits,
                least,
                most: u64::MAX,
            });
        }
        let print_bits = shape.print_bits(width);
        Self::with_shape(shape, buckets, print_bits, width - print_bits, items)
    }

    /// A filter of just this shape, for files and for those who compare. A fingerprint has `print_bits + spare_bits` bits;
    /// the spare ones can be given to the number of the bucket when the filter grows. The promise is what it keeps for
    /// `items` keys.
    pub fn with_shape(
        shape: Shape,
        buckets: u64,
        print_bits: u32,
        spare_bits: u32,
        items: u64,
    ) -> Result<Self, ParamsError> {
        let promise = Promise { items: checked_items(items)?, fpp: 1.0 };
        let params = Self { shape, buckets, print_bits, spare_bits, promise }.checked()?;
        Ok(params.with_promise(Promise { items, fpp: params.fpp_at(items) }))
    }

    /// Holds every number against its range.
    fn checked(self) -> Result<Self, ParamsError> {
        let within = |what, value: u64, least: u64, most: u64| {
            let fits = (least..=most).contains(&value);
            if fits { Ok(()) } else { Err(ParamsError::OutOfRange { what, value, least, most }) }
        };
        within("the bits of a print", self.print_bits.into(), LEAST_WIDTH.into(), MOST_PRINT.into())?;
        let width = u64::from(self.print_bits) + u64::from(self.spare_bits);
        within("the bits of a fingerprint", width, LEAST_WIDTH.into(), MOST_WIDTH.into())?;
        // Place and print are cut out of one 64-bit hash.
        let most = u64::MAX >> (width + 1);
        within("the number of buckets", self.buckets, self.shape.parts(), most)?;
        if !self.buckets.is_multiple_of(self.shape.parts()) {
            let what = "the remainder of the buckets by the candidates";
            return within(what, self.buckets % self.shape.parts(), 0, 0).map(|()| self);
        }
        let lines = u128::from(self.slots()) * u128::from(width) / u128::from(Line::BITS) + 2;
        addressable(u64::try_from(lines).unwrap_or(u64::MAX)).map(|_| self)
    }

    /// The same shape with another promise.
    pub(super) fn with_promise(self, promise: Promise) -> Self {
        Self { promise, ..self }
    }

    /// The parameters of a table twice as large, one bit of each tag now in the number of the bucket; if there is one. The grid
    /// stays, so the rate of a number of keys stays.
    pub(super) fn doubled(self) -> Option<Self> {
        let spare_bits = self.spare_bits.checked_sub(1)?;
        Some(Self { buckets: self.buckets * 2, spare_bits, ..self })
    }

    /// The parameters of a table smaller by a factor of 2^`times`, if there is one.
    pub(super) fn halved(self, times: u32) -> Option<Self> {
        let parts = self.buckets / self.shape.parts();
        let fits = parts.trailing_zeros() >= times && self.width() + times <= MOST_WIDTH;
        fits.then_some(Self { buckets: self.buckets >> times, spare_bits: self.spare_bits + times, ..self })
    }

    /// Candidate buckets and slots.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The buckets.
    pub fn buckets(&self) -> u64 {
        self.buckets
    }

    /// The slots in all.
    pub fn slots(&self) -> u64 {
        self.buckets * self.shape.slots()
    }

    /// The bits of a fingerprint as it lies in a slot.
    pub fn width(&self) -> u32 {
        self.print_bits + self.spare_bits
    }

    /// Those of them that choose the other bucket, and stay when the filter grows.
    pub fn print_bits(&self) -> u32 {
        self.print_bits
    }

    /// Those of them that can still be given to the number of the bucket: how often the filter can double.
    pub fn spare_bits(&self) -> u32 {
        self.spare_bits
    }

    /// The places that keys are told apart by: the same however often the filter has grown or shrunk.
    pub(super) fn grid(&self) -> u64 {
        self.buckets << self.spare_bits
    }

    /// What was promised.
    pub fn promise(&self) -> Promise {
        self.promise
    }

    /// The lines of the slots. The load that reads the last bucket may reach 16 bytes on.
    pub fn lines(&self) -> u64 {
        (self.slots() * u64::from(self.width()) + 128).div_ceil(Line::BITS)
    }

    /// The size in bits.
    pub fn bits(&self) -> u64 {
        self.lines() * Line::BITS
    }

    /// The size in bits over the keys promised.
    pub fn bits_per_key(&self) -> f64 {
        self.bits() as f64 / self.promise.items as f64
    }

    /// How many different keys the table is made to hold, as it is now.
    pub fn capacity(&self) -> u64 {
        capacity(self.shape, self.buckets)
    }

    /// The false-positive rate with `items` different keys inside.
    pub fn fpp_at(&self, items: u64) -> f64 {
        // A key of print f is met by each of n keys with probability D p(f) / grid. Print 1 is twice as likely as others.
        let prints = f64::from(1u32 << self.print_bits);
        let meets = |likely: f64| {
            let one = self.shape.candidates() as f64 * likely / prints / self.grid() as f64;
            if one >= 1.0 { f64::from(items > 0) } else { -expm1(items as f64 * log1p(-one)) }
        };
        (2.0 * meets(2.0) + (prints - 2.0) * meets(1.0)) / prints
    }

    /// How many different keys it takes before the rate rises above `fpp`. May be more than the table can hold.
    pub fn items_at(&self, fpp: f64) -> u64 {
        let most = self.classes() as u64;
        least(self.promise.items, 1, most.saturating_mul(64), |items| self.fpp_at(items) > fpp) - 1
    }

    /// How many different keys there are, of the number of classes that they fall into.
    pub(super) fn items_for_classes(&self, classes: u64) -> f64 {
        let all = self.classes();
        let empty = (1.0 - classes as f64 / all).max(0.5 / all);
        keys_for_empty(empty, 1.0 / all)
    }

    /// The rate when this many classes of keys are there.
    pub(super) fn fpp_of_classes(&self, classes: u64) -> f64 {
        let prints = f64::from(1u32 << self.print_bits);
        (classes as f64 / self.classes() * (1.0 + 2.0 / prints)).min(1.0)
    }

    /// How many classes of keys it can tell apart.
    fn classes(&self) -> f64 {
        self.grid() as f64 / self.shape.candidates() as f64 * f64::from(1u32 << self.print_bits)
    }

    /// How many keys of one class get slots; the others are counted. Different keys share a class with about the probability of
    /// a false positive: the limit is where the counted ones no longer cost space.
    pub(super) fn stack_limit(&self) -> u64 {
        let mean = self.capacity() as f64 / self.classes();
        let mut beyond = exp(-mean);
        let most = self.shape.candidates() * self.shape.slots();
        for limit in 1..most {
            beyond *= mean / (limit + 1) as f64;
            if limit > 1 && beyond < 2e-4 {
                return limit;
            }
        }
        most
    }
}

impl fmt::Display for CuckooParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} buckets of {} slots of {} bits", self.buckets, self.shape.slots(), self.width())
    }
}

/// How many keys fit into so many buckets, as a rule: of tables for 5 to 100 keys one in some ten thousand has to double, of larger
/// ones none was seen to.
fn capacity(shape: Shape, buckets: u64) -> u64 {
    // Small tables fill less evenly: a deviation of the order of the root of the slots.
    let slots = buckets as f64 * shape.slots() as f64;
    let even = slots * shape.load();
    (even - SLACK * sqrt(slots) - 1.0).max(0.0) as u64
}

/// Slots left free for the root of all slots.
const SLACK: f64 = 2.5;

/// The least buckets for so many keys, a multiple of a power of two where that costs under a thousandth: so often can the table
/// be halved.
fn buckets_for(shape: Shape, items: u64) -> Result<u64, ParamsError> {
    let most = u64::MAX >> 10;
    let guess = items / shape.slots();
    let buckets = least(guess, shape.parts().max(2), most, |buckets| capacity(shape, buckets) >= items);
    if buckets == most {
        return Err(ParamsError::TooLarge { bytes: u128::from(items) / 2 });
    }
    let step = shape.parts() << (buckets / shape.parts() / 1024).max(1).ilog2();
    Ok(buckets.next_multiple_of(step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn doc_table_is_true() {
        for (fpp, width, bits, kept) in [
            (0.1, 7, 7.31, 0.0598),
            (0.01, 10, 10.45, 0.0076),
            (0.001, 13, 13.58, 0.00095),
            (1.0 / 65536.0, 19, 19.85, 1.48e-5),
            (1e-8, 30, 31.33, 7.2e-9),
        ] {
            let params = CuckooParams::for_fpp(1_000_000, fpp).unwrap();
            assert_eq!(params.width(), width, "at {fpp}");
            assert!((params.bits_per_key() - bits).abs() < 0.006, "{} bits at {fpp}", params.bits_per_key());
            let rate = params.fpp_at(1_000_000);
            assert!((rate / kept - 1.0).abs() < 0.01, "{rate} at {fpp}");
        }
    }

    #[test]
    fn one_percent_takes_ten_and_a_half_bits_at_most() {
        for items in [1_000_000, 10_000_000, 100_000_000] {
            let params = CuckooParams::for_fpp(items, 0.01).unwrap();
            assert!(params.bits_per_key() <= 10.5, "{} for {items}", params.bits_per_key());
            assert!(items as f64 / params.slots() as f64 >= 0.95);
        }
    }

    #[test]
    fn sizes_beyond_the_address_space_are_refused() {
        for items in [u64::MAX, 1 << 60, 1 << 57] {
            assert!(CuckooParams::for_fpp(items, 1e-8).is_err(), "{items}");
            assert!(CuckooParams::growing(1, items, 1e-8).is_err(), "{items}");
        }
        assert!(CuckooParams::with_shape(Shape::TwoByFour, u64::MAX, 7, 3, 1).is_err());
        assert!(CuckooParams::with_shape(Shape::TwoByFour, 0, 7, 3, 1).is_err());
        assert!(CuckooParams::with_shape(Shape::ThreeByOne, 4, 7, 3, 1).is_err());
        assert!(CuckooParams::with_shape(Shape::TwoByFour, 4, 3, 3, 1).is_err());
        assert!(CuckooParams::with_shape(Shape::TwoByFour, 4, 17, 0, 1).is_err());
        assert!(CuckooParams::with_shape(Shape::TwoByFour, 4, 16, 17, 1).is_err());
        assert!(CuckooParams::for_fpp(0, 0.1).is_err());
        assert!(CuckooParams::for_bits(1000, 1000).is_err());
    }

    #[test]
    fn a_rate_that_32_bits_cannot_keep_is_refused() {
        assert!(matches!(
            CuckooParams::for_fpp(1_000_000, 1e-10),
            Err(ParamsError::OutOfRange { what: "the bits of a fingerprint", .. })
        ));
    }

    proptest! {
        #[test]
        fn the_width_for_a_rate_is_the_least_that_keeps_it(items in 1u64..2_000_000, bits in 1.0f64..28.0) {
            let fpp = libm::pow(2.0, -bits);
            let params = CuckooParams::for_fpp(items, fpp).unwrap();
            prop_assert!(params.fpp_at(items) <= fpp);
            prop_assert!(params.capacity() >= items);
            if params.width() > 9 {
                let narrower = CuckooParams { spare_bits: params.spare_bits - 1, ..params };
                prop_assert!(narrower.fpp_at(items) > fpp);
            }
        }

        #[test]
        fn items_at_is_the_inverse_of_fpp_at(items in 1u64..1_000_000, bits in 1.0f64..20.0, ask in 1.0f64..20.0) {
            let params = CuckooParams::for_fpp(items, libm::pow(2.0, -bits)).unwrap();
            let fpp = libm::pow(2.0, -ask);
            let most = params.items_at(fpp);
            prop_assert!(most == 0 || params.fpp_at(most) <= fpp);
            prop_assert!(params.fpp_at(most + 1) > fpp);
        }

        #[test]
        fn a_size_in_bits_is_kept(items in 100u64..1_000_000, each in 6u64..30) {
            let params = CuckooParams::for_bits(items * each, items).unwrap();
            prop_assert!(params.bits() <= items * each + 1024, "{} of {}", params.bits(), items * each);
            prop_assert!(params.capacity() >= items);
        }

        #[test]
        fn growing_and_shrinking_change_no_rate(items in 1u64..1_000_000, bits in 7.0f64..20.0) {
            let params = CuckooParams::for_fpp(items, libm::pow(2.0, -bits)).unwrap();
            let grown = params.doubled().unwrap();
            prop_assert_eq!(grown.fpp_at(items).to_bits(), params.fpp_at(items).to_bits());
            prop_assert_eq!(grown.halved(1), Some(params));
            prop_assert!(grown.capacity() >= 2 * params.capacity());
        }

        #[test]
        fn a_growing_filter_keeps_its_rate_to_the_last(start in 1u64..10_000, most in 1u64..10_000_000, bits in 1.0f64..10.0) {
            let fpp = libm::pow(2.0, -bits);
            let params = CuckooParams::growing(start, most, fpp).unwrap();
            prop_assert!(params.fpp_at(most.max(start)) <= fpp);
            prop_assert!(capacity(params.shape, params.buckets << params.spare_bits) >= most);
        }
    }
}
