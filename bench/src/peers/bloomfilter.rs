//! bloomfilter: the classic Bloom filter over two keyed `SipHashes`.

use std::hash::Hash;

use bloomfilter::Bloom;

use super::{Ask, Grow, Lookup, Row};

impl<K: Hash> Lookup<K> for Bloom<K> {
    fn may_contain(&self, key: &K) -> bool {
        self.check(key)
    }
}

impl<K: Hash> Grow<K> for Bloom<K> {
    fn empty(ask: Ask) -> Self {
        Self::new_for_fp_rate(ask.items, ask.fpp).expect("the rate is between 0 and 1")
    }

    fn insert(&mut self, key: &K) {
        self.set(key);
    }
}

pub(super) fn rows<'k, K: Hash + 'k>() -> Vec<Row<'k, K>> {
    vec![Row::growing::<Bloom<K>>("bloomfilter").up_to(10_000_000, "too slow: half a minute a round")]
}
