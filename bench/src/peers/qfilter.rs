//! qfilter: a rank-and-select quotient filter, which can delete and merge.

use std::hash::Hash;

use qfilter::Filter;

use super::{Ask, CUCKOO, DEFAULT, Grow, Lookup, Row};

impl<K: Hash> Lookup<K> for Filter {
    fn may_contain(&self, key: &K) -> bool {
        self.contains(key)
    }
}

impl<K: Hash> Grow<K> for Filter {
    fn empty(ask: Ask) -> Self {
        Self::new(ask.items as u64, ask.fpp).expect("the capacity is far below 2^59")
    }

    fn insert(&mut self, key: &K) {
        self.insert(key).expect("the filter was made for as many keys");
    }
}

pub(super) fn rows<'k, K: Hash + 'k>() -> Vec<Row<'k, K>> {
    vec![Row::growing::<Filter>("qfilter").against(&[CUCKOO, DEFAULT])]
}
