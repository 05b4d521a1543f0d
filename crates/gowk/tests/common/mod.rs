//! Keys of every awkward kind, and bounds for what chance may do to a count.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses its part")]

use gowk::{Digest, Filter};
use std::ops::RangeInclusive;

/// Where a count of hits in `trials` of chance `p` must lie: six standard deviations and six to either side.
pub fn binomial_band(trials: u64, p: f64) -> RangeInclusive<u64> {
    let p = p.min(1.0);
    let mean = trials as f64 * p;
    let width = 6.0 * (mean * (1.0 - p)).sqrt() + 6.0;
    ((mean - width).max(0.0) as u64)..=((mean + width) as u64)
}

/// A bijection that scatters.
pub fn scatter(i: u64) -> u64 {
    let z = (i ^ (i >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The kinds of key that users have, each an endless stream without repeats.
#[derive(Clone, Copy, Debug)]
pub enum Keys {
    Sequential,
    Strided(u64),
    Scattered,
    RandomBytes,
    SharedPrefix,
    Digests,
}

impl Keys {
    pub const ALL: [Self; 7] = [
        Self::Sequential,
        Self::Strided(1 << 20),
        Self::Strided(1 << 44),
        Self::Scattered,
        Self::RandomBytes,
        Self::SharedPrefix,
        Self::Digests,
    ];

    /// The digest of key number `i` as this filter sees it.
    pub fn digest(self, filter: &impl Filter, i: u64) -> Digest {
        let hasher = filter.hasher();
        match self {
            Self::Sequential => hasher.digest(&i),
            Self::Strided(step) => hasher.digest(&i.wrapping_mul(step).wrapping_add(i / (u64::MAX / step))),
            Self::Scattered => hasher.digest(&scatter(i)),
            Self::RandomBytes => {
                let (a, b) = (scatter(i).to_le_bytes(), scatter(!i).to_le_bytes());
                let bytes = [a, b].concat();
                hasher.digest(&bytes[..9 + (i % 8) as usize])
            }
            Self::SharedPrefix => hasher.digest(&format!("https://example.org/items/{i}")),
            Self::Digests => Digest::from(scatter(i)),
        }
    }
}

/// How many of `trials` keys that were never inserted (those from `from` on) are answered "maybe".
pub fn false_positives(filter: &impl Filter, keys: Keys, from: u64, trials: u64) -> u64 {
    let mut answers = vec![false; 1 << 14];
    let mut hits = 0;
    let mut at = from;
    while at < from + trials {
        let end = (at + answers.len() as u64).min(from + trials);
        let part = &mut answers[..(end - at) as usize];
        filter.answer((at..end).map(|i| keys.digest(filter, i)), part);
        hits += part.iter().filter(|answer| **answer).count() as u64;
        at = end;
    }
    hits
}
