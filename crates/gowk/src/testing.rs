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

/// The bytes with a field changed and the checksums of head and body put right again, as an adversary would.
pub(crate) fn forged(bytes: &[u8], offset: usize, field: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[offset..offset + field.len()].copy_from_slice(field);
    let params = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let body = (128 + params).next_multiple_of(64);
    let sum = xxhash_rust::xxh3::xxh3_64(&bytes[body..]);
    bytes[104..112].copy_from_slice(&sum.to_le_bytes());
    let sum = xxhash_rust::xxh3::xxh3_64(&[&bytes[..120], &bytes[128..128 + params]].concat());
    bytes[120..128].copy_from_slice(&sum.to_le_bytes());
    bytes
}
