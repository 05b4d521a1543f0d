//! gowk's own rows. A family that can be built from `items` and `fpp` gets its row by one line in [`rows`].

use gowk::{AtomicBlockedBloom, BlockedBloom, Build, Builder, Filter, Insert, Key};

use super::{ATOMIC, Ask, DEFAULT, Grow, InsertMany, Lookup, LookupMany, Row};

fn empty<F: Build>(ask: Ask) -> F {
    let builder = Builder::default().items(ask.items as u64).fpp(ask.fpp).seed(ask.seed);
    builder.build().expect("the command line let only sound numbers through")
}

/// Any of our families, through the traits that they share.
struct Ours<F>(F);

impl<K: Key, F: Filter> Lookup<K> for Ours<F> {
    fn may_contain(&self, key: &K) -> bool {
        self.0.may_contain(key)
    }
}

impl<K: Key, F: Filter> LookupMany<K> for Ours<F> {
    fn may_contain_many(&self, keys: &[K], answers: &mut [bool]) {
        self.0.may_contain_many_into(keys, answers);
    }
}

impl<K: Key, F: Insert + Build> Grow<K> for Ours<F> {
    fn empty(ask: Ask) -> Self {
        Self(empty(ask))
    }

    fn insert(&mut self, key: &K) {
        F::settled(self.0.insert(key)).expect(ROOM);
    }
}

impl<K: Key, F: Insert + Build> InsertMany<K> for Ours<F> {
    fn insert_many(&mut self, keys: &[K]) {
        F::settled(self.0.insert_many(keys)).expect(ROOM);
    }
}

const ROOM: &str = "a filter has room for as many keys as it was made for";

/// Shared between threads, and so without the traits of filters that are owned; here one thread fills it.
impl<K: Key> Lookup<K> for AtomicBlockedBloom {
    fn may_contain(&self, key: &K) -> bool {
        self.may_contain(key)
    }
}

impl<K: Key> Grow<K> for AtomicBlockedBloom {
    fn empty(ask: Ask) -> Self {
        empty(ask)
    }

    fn insert(&mut self, key: &K) {
        Self::insert(self, key);
    }
}

impl<K: Key> InsertMany<K> for AtomicBlockedBloom {
    fn insert_many(&mut self, keys: &[K]) {
        Self::insert_many(self, keys);
    }
}

/// A family that grows, with its bulk calls.
fn growing<'k, K: Key + 'k, F: Insert + Build + 'k>(name: &'static str) -> Row<'k, K> {
    Row::growing_in_bulk::<Ours<F>>(name).against(&[])
}

pub(super) fn rows<'k, K: Key + 'k>() -> Vec<Row<'k, K>> {
    vec![
        growing::<K, BlockedBloom>(DEFAULT),
        Row::growing::<AtomicBlockedBloom>(ATOMIC).inserting_many::<AtomicBlockedBloom>().against(&[]),
    ]
}
