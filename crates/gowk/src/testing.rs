//! What the tests of all families share: bounds for counts, and keys of every kind.

use core::ops::RangeInclusive;

/// Where a count of hits in `trials` of chance `p` must lie: six standard deviations and six to either side, so that a sound
/// filter fails once in many millions of runs, and one that is off by a few percent fails.
pub(crate) fn binomial_band(trials: u64, p: f64) -> RangeInclusive<u64> {
    let mean = trials as f64 * p;
    let width = 6.0 * (mean * (1.0 - p)).sqrt() + 6.0;
    ((mean - width).max(0.0) as u64)..=((mean + width) as u64)
}

/// Key number `i` of an endless stream without repeats, well mixed: even numbers are for inserting, odd ones for asking.
pub(crate) fn key(i: u64) -> u64 {
    let z = (i ^ (i >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Keys that were inserted.
pub(crate) fn members(n: u64) -> impl Iterator<Item = u64> + Clone {
    (0..n).map(|i| key(2 * i))
}

/// Keys that were not.
pub(crate) fn strangers(n: u64) -> impl Iterator<Item = u64> + Clone {
    (0..n).map(|i| key(2 * i + 1))
}
