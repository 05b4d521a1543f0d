//! growable-bloom-filter: a chain of partitioned Bloom filters. It is told the right number of keys, so one link does.

use std::hash::Hash;

use growable_bloom_filter::GrowableBloom;

use super::{Ask, DEFAULT, Grow, Lookup, Row, SCALABLE};

impl<K: Hash> Lookup<K> for GrowableBloom {
    fn may_contain(&self, key: &K) -> bool {
        self.contains(key)
    }
}

impl<K: Hash> Grow<K> for GrowableBloom {
    fn empty(ask: Ask) -> Self {
        Self::new(ask.fpp, ask.items)
    }

    fn insert(&mut self, key: &K) {
        self.insert(key);
    }
}

pub(super) fn rows<'k, K: Hash + 'k>() -> Vec<Row<'k, K>> {
    vec![
        Row::growing::<GrowableBloom>("growable-bloom-filter")
            .against(&[SCALABLE, DEFAULT])
            .up_to(10_000_000, "too slow: a minute a round"),
    ]
}
