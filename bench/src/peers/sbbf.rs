//! sbbf-rs-safe: Parquet's split block filter. It takes hashes, so the caller brings foldhash and the size.

use std::hash::{BuildHasher, Hash};

use foldhash::fast::RandomState;

use super::{Ask, Grow, Lookup, Row};

/// The filter with the hash that its user has to bring.
struct SplitBlock {
    filter: sbbf_rs_safe::Filter,
    hash: RandomState,
}

impl<K: Hash> Lookup<K> for SplitBlock {
    fn may_contain(&self, key: &K) -> bool {
        self.filter.contains_hash(self.hash.hash_one(key))
    }
}

impl<K: Hash> Grow<K> for SplitBlock {
    fn empty(ask: Ask) -> Self {
        // The crate takes whole bits per key, and 10.5 are needed: one "key" of one bit for each bit it shall have.
        let bits = (bits_per_key(ask.fpp) * ask.items as f64).ceil();
        Self { filter: sbbf_rs_safe::Filter::new(1, bits as usize), hash: RandomState::default() }
    }

    fn insert(&mut self, key: &K) {
        self.filter.insert_hash(self.hash.hash_one(key));
    }
}

/// The smallest size that keeps the rate: the crate leaves this to its user.
fn bits_per_key(fpp: f64) -> f64 {
    let (mut low, mut high) = (1.0, 128.0);
    while high - low > 1e-3 {
        let middle = f64::midpoint(low, high);
        if split_block_fpp(middle) > fpp {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// A block of 8 words of 32 bits gets a Poisson number of keys, each of which sets one bit in every word.
fn split_block_fpp(bits_per_key: f64) -> f64 {
    let mean = 256.0 / bits_per_key;
    let mut weight = (-mean).exp();
    let mut fpp = 0.0;
    for keys in 1..2000 {
        weight *= mean / f64::from(keys);
        fpp += weight * (1.0 - (31.0f64 / 32.0).powi(keys)).powi(8);
    }
    fpp
}

/// The row that the targets ask for by name.
pub(crate) const NAME: &str = "sbbf-rs-safe + foldhash";

pub(super) fn rows<'k, K: Hash + 'k>() -> Vec<Row<'k, K>> {
    vec![Row::growing::<SplitBlock>(NAME)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_agree_with_the_published_ones() {
        assert!((bits_per_key(0.01) - 10.53).abs() < 0.01);
        assert!((bits_per_key(0.001) - 16.89).abs() < 0.01);
    }
}
