//! hashbrown with foldhash: an exact set. What a filter saves is measured against it.
//!
//! It holds the keys themselves: integers whole, byte strings as a slice into memory that the bench owns, so text rows
//! show 16 bytes a key and not the text.

use std::hash::Hash;

use foldhash::fast::RandomState;
use hashbrown::HashSet;

use super::{Ask, BITMAP, DEFAULT, Grow, Lookup, Row};

impl<K: Eq + Hash> Lookup<K> for HashSet<K, RandomState> {
    fn may_contain(&self, key: &K) -> bool {
        self.contains(key)
    }
}

impl<K: Copy + Eq + Hash> Grow<K> for HashSet<K, RandomState> {
    fn empty(ask: Ask) -> Self {
        Self::with_capacity_and_hasher(ask.items, RandomState::default())
    }

    fn insert(&mut self, key: &K) {
        self.insert(*key);
    }
}

pub(super) fn rows<'k, K: Copy + Eq + Hash + 'k>() -> Vec<Row<'k, K>> {
    vec![
        Row::growing::<HashSet<K, RandomState>>("hashbrown + foldhash")
            .against(&[BITMAP, DEFAULT])
            .up_to(10_000_000, "too large: gigabytes of keys"),
    ]
}
