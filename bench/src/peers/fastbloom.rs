//! fastbloom: the classic Bloom filter, one hash stretched to k positions; a plain and an atomic type.

use std::hash::{BuildHasher, Hash};

use fastbloom::{AtomicBloomFilter, BloomFilter, DefaultHasher};
use foldhash::fast::RandomState;

use super::{ATOMIC, Ask, DEFAULT, Grow, Lookup, Row};

impl<K: Hash, S: BuildHasher> Lookup<K> for BloomFilter<S> {
    fn may_contain(&self, key: &K) -> bool {
        self.contains(key)
    }
}

impl<K: Hash, S: BuildHasher + Default> Grow<K> for BloomFilter<S> {
    fn empty(ask: Ask) -> Self {
        BloomFilter::with_false_pos(ask.fpp).hasher(S::default()).expected_items(ask.items)
    }

    fn insert(&mut self, key: &K) {
        self.insert(key);
    }
}

impl<K: Hash, S: BuildHasher> Lookup<K> for AtomicBloomFilter<S> {
    fn may_contain(&self, key: &K) -> bool {
        self.contains(key)
    }
}

impl<K: Hash, S: BuildHasher + Default> Grow<K> for AtomicBloomFilter<S> {
    fn empty(ask: Ask) -> Self {
        AtomicBloomFilter::with_false_pos(ask.fpp).hasher(S::default()).expected_items(ask.items)
    }

    fn insert(&mut self, key: &K) {
        // By path: `self.insert` would be this very function, because the crate's takes `&self`.
        Self::insert(self, key);
    }
}

/// The row that the targets ask for by name.
pub(crate) const FOLDHASH: &str = "fastbloom + foldhash";

pub(super) fn rows<'k, K: Hash + 'k>() -> Vec<Row<'k, K>> {
    vec![
        Row::growing::<BloomFilter<DefaultHasher>>("fastbloom"),
        Row::growing::<BloomFilter<RandomState>>(FOLDHASH),
        Row::growing::<AtomicBloomFilter<RandomState>>("fastbloom atomic + foldhash")
            .against(&[ATOMIC, DEFAULT]),
    ]
}
