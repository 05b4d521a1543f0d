//! xorf: binary fuse filters, built once. 8-bit fingerprints err at 0.39 %, 16-bit ones at 0.0015 %; nothing between.

use std::borrow::Cow;
use std::fmt::Debug;
use std::hash::{BuildHasher, Hash};

use foldhash::fast::RandomState;
use xorf::{BinaryFuse8, BinaryFuse16, Filter};

use super::{Ask, Build, DEFAULT, FUSE, Lookup, Row};

/// The name of the row with 8-bit fingerprints.
pub(crate) const NAME: &str = "xorf BinaryFuse8";

/// Keys as the 64-bit words that the crate takes: integers are that already, the rest is hashed by the caller.
pub(crate) trait Words: Copy + Hash {
    fn word(&self, hash: &RandomState) -> u64;

    fn words<'a>(keys: &'a [Self], hash: &RandomState) -> Cow<'a, [u64]> {
        keys.iter().map(|key| key.word(hash)).collect()
    }
}

impl Words for u64 {
    fn word(&self, _: &RandomState) -> u64 {
        *self
    }

    fn words<'a>(keys: &'a [Self], _: &RandomState) -> Cow<'a, [u64]> {
        Cow::Borrowed(keys)
    }
}

impl Words for &[u8] {
    fn word(&self, hash: &RandomState) -> u64 {
        hash.hash_one(self)
    }
}

/// The filter with the hash that turns keys into words.
struct Fuse<F> {
    filter: F,
    hash: RandomState,
}

impl<K: Words, F: Filter<u64>> Lookup<K> for Fuse<F> {
    fn may_contain(&self, key: &K) -> bool {
        self.filter.contains(&key.word(&self.hash))
    }
}

impl<K: Words, F> Build<K> for Fuse<F>
where
    F: Filter<u64> + for<'a> TryFrom<&'a [u64], Error: Debug>,
{
    fn build(_: Ask, keys: &[K]) -> Self {
        let hash = RandomState::default();
        let filter = F::try_from(&K::words(keys, &hash)).expect("distinct keys can be peeled");
        Self { filter, hash }
    }
}

/// The rate of 8-bit fingerprints.
pub(crate) const FUSE8_FPP: f64 = 1.0 / 256.0;

pub(super) fn rows<'k, K: Words + 'k>() -> Vec<Row<'k, K>> {
    vec![
        Row::built::<Fuse<BinaryFuse8>>(NAME)
            .against(&[FUSE, DEFAULT])
            .unless(|ask| ask.fpp < FUSE8_FPP, "errs at 0.39 %, see BinaryFuse16"),
        Row::built::<Fuse<BinaryFuse16>>("xorf BinaryFuse16")
            .against(&[FUSE, DEFAULT])
            .unless(|ask| ask.fpp >= FUSE8_FPP, "larger than BinaryFuse8, which is good enough here"),
    ]
}
