//! What every structure under test can do, and the list of them.
//!
//! An adapter says how its crate inserts and looks up one key, in the crate's own natural words. The loops that are
//! timed are written once, here, and compiled anew for each adapter, so that no row has a better loop than another.

mod bloomfilter;
mod cuckoo;
mod fastbloom;
mod growable;
mod hashset;
mod ours;
mod qfilter;
mod roaring;
mod sbbf;
mod sux;
mod xorf;

use std::hash::Hash;

pub(crate) use self::cuckoo::{
    FIXED as CUCKOOFILTER, FOLDHASHED as FOLDHASHED_CUCKOOFILTER, SCALABLE as SCALABLE_CUCKOO,
};
pub(crate) use self::fastbloom::FOLDHASH as FOLDHASHED_FASTBLOOM;
pub(crate) use self::roaring::NAME as ROARING;
pub(crate) use self::sbbf::NAME as SPLIT_BLOCK_RIVAL;
use self::sux::Signed;
use self::xorf::Words;
pub(crate) use self::xorf::{FUSE8_FPP, NAME as XORF};

/// What a row is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) items: usize,
    pub(crate) fpp: f64,
    /// A new one each round, for the structures that take a seed.
    pub(crate) seed: u64,
}

/// Answers whether a key was inserted.
pub(crate) trait Lookup<K> {
    fn may_contain(&self, key: &K) -> bool;
}

/// Starts empty and takes keys one by one.
pub(crate) trait Grow<K>: Lookup<K> {
    fn empty(ask: Ask) -> Self;

    /// What the crate says about the key is left unused, as in most programs: some crates are twice as fast then.
    fn insert(&mut self, key: &K);
}

/// Takes all keys at once and no more afterwards.
pub(crate) trait Build<K>: Lookup<K> {
    fn build(ask: Ask, keys: &[K]) -> Self;
}

/// Has a call that inserts a whole slice.
pub(crate) trait InsertMany<K>: Grow<K> {
    fn insert_many(&mut self, keys: &[K]);
}

/// Has a call that looks up a whole slice.
pub(crate) trait LookupMany<K>: Lookup<K> {
    fn may_contain_many(&self, keys: &[K], answers: &mut [bool]);
}

/// A filled structure and the lookup loops that are timed on it.
///
/// Behind it the type is forgotten, so that all rows fit into one list; the call through the table is paid once per
/// loop, not once per key.
pub(crate) trait Filled<K> {
    /// How many of the keys are found, asked one by one.
    fn count(&self, keys: &[K]) -> usize;

    /// How many are found, asked in bulk; nothing if the crate has no such call.
    fn count_many(&self, keys: &[K], answers: &mut [bool]) -> Option<usize>;
}

/// A structure without bulk lookups.
struct OneByOne<P>(P);

/// A structure with them.
struct Bulk<P>(P);

impl<K, P: Lookup<K>> Filled<K> for OneByOne<P> {
    fn count(&self, keys: &[K]) -> usize {
        count_found(&self.0, keys)
    }

    fn count_many(&self, _: &[K], _: &mut [bool]) -> Option<usize> {
        None
    }
}

impl<K, P: LookupMany<K>> Filled<K> for Bulk<P> {
    fn count(&self, keys: &[K]) -> usize {
        count_found(&self.0, keys)
    }

    fn count_many(&self, keys: &[K], answers: &mut [bool]) -> Option<usize> {
        self.0.may_contain_many(keys, answers);
        Some(answers.iter().filter(|&&found| found).count())
    }
}

#[inline(never)]
fn count_found<K, P: Lookup<K>>(peer: &P, keys: &[K]) -> usize {
    keys.iter().map(|key| usize::from(peer.may_contain(key))).sum()
}

/// The structure is made inside the timed loop: who clears memory beforehand must not hide it.
#[inline(never)]
fn grow<K, P: Grow<K>>(ask: Ask, keys: &[K]) -> P {
    let mut peer = P::empty(ask);
    for key in keys {
        peer.insert(key);
    }
    peer
}

#[inline(never)]
fn grow_many<K, P: InsertMany<K>>(ask: Ask, keys: &[K]) -> P {
    let mut peer = P::empty(ask);
    peer.insert_many(keys);
    peer
}

#[inline(never)]
fn build<K, P: Build<K>>(ask: Ask, keys: &[K]) -> P {
    P::build(ask, keys)
}

/// From nothing to a structure that holds all the keys.
pub(crate) type Fill<'k, K> = fn(Ask, &[K]) -> Box<dyn Filled<K> + 'k>;

/// A line of the table, before it is measured.
pub(crate) struct Row<'k, K> {
    pub(crate) name: &'static str,
    pub(crate) fill: Fill<'k, K>,
    pub(crate) fill_many: Option<Fill<'k, K>>,
    /// The rows of ours that it is held against: the first that was measured in the same run. Ours have none.
    pub(crate) against: &'static [&'static str],
    limits: Vec<Limit>,
}

/// A configuration that a structure cannot or should not do.
struct Limit {
    forbids: Box<dyn Fn(Ask) -> bool>,
    why: &'static str,
}

impl<'k, K: 'k> Row<'k, K> {
    fn new(name: &'static str, fill: Fill<'k, K>) -> Self {
        Self { name, fill, fill_many: None, against: &[DEFAULT], limits: Vec::new() }
    }

    /// A structure that takes keys one by one.
    fn growing<P: Grow<K> + 'k>(name: &'static str) -> Self {
        Self::new(name, |ask, keys| Box::new(OneByOne(grow::<K, P>(ask, keys))))
    }

    /// A structure that is built once; its build counts as its insert.
    fn built<P: Build<K> + 'k>(name: &'static str) -> Self {
        Self::new(name, |ask, keys| Box::new(OneByOne(build::<K, P>(ask, keys))))
    }

    /// A structure that is built once and answers in bulk.
    fn built_in_bulk<P: Build<K> + LookupMany<K> + 'k>(name: &'static str) -> Self {
        Self::new(name, |ask, keys| Box::new(Bulk(build::<K, P>(ask, keys))))
    }

    /// A structure that takes keys one by one and in bulk.
    fn growing_in_bulk<P: InsertMany<K> + LookupMany<K> + 'k>(name: &'static str) -> Self {
        let one_by_one: Fill<'k, K> = |ask, keys| Box::new(Bulk(grow::<K, P>(ask, keys)));
        Self {
            fill_many: Some(|ask, keys| Box::new(Bulk(grow_many::<K, P>(ask, keys)))),
            ..Self::new(name, one_by_one)
        }
    }

    /// Also has a call that inserts a slice, but none that looks one up.
    fn inserting_many<P: InsertMany<K> + 'k>(mut self) -> Self {
        self.fill_many = Some(|ask, keys| Box::new(OneByOne(grow_many::<K, P>(ask, keys))));
        self
    }

    /// Held against these rows of ours instead of the default.
    fn against(mut self, ours: &'static [&'static str]) -> Self {
        self.against = ours;
        self
    }

    fn unless(mut self, forbids: impl Fn(Ask) -> bool + 'static, why: &'static str) -> Self {
        self.limits.push(Limit { forbids: Box::new(forbids), why });
        self
    }

    fn up_to(self, items: usize, why: &'static str) -> Self {
        self.unless(move |ask| ask.items > items, why)
    }

    /// Why this configuration is left out, if it is.
    pub(crate) fn skipped(&self, ask: Ask) -> Option<&'static str> {
        self.limits.iter().find(|limit| (limit.forbids)(ask)).map(|limit| limit.why)
    }
}

/// Our names, for the rivals to be held against.
pub(crate) const DEFAULT: &str = "gowk BlockedBloom";
const ATOMIC: &str = "gowk AtomicBlockedBloom";
pub(crate) const CLASSIC: &str = "gowk Bloom";
pub(crate) const SPLIT_BLOCK: &str = "gowk SplitBlockBloom";
pub(crate) const SCALABLE: &str = "gowk ScalableBloom";
const COUNTING: &str = "gowk CountingBloom";
pub(crate) const CUCKOO: &str = "gowk Cuckoo";
pub(crate) const FUSE: &str = "gowk BinaryFuse";
pub(crate) const FUSE_OF_EIGHT_BITS: &str = "gowk BinaryFuse, 8 bits";
pub(crate) const WINDOW: &str = "gowk Window";
pub(crate) const BITMAP: &str = "gowk Bitmap";

/// What a key must be able to do to pass through every filter.
pub(crate) trait FilterKey: Copy + Eq + Hash + gowk::Key + Words + Signed {}

impl<K: Copy + Eq + Hash + gowk::Key + Words + Signed> FilterKey for K {}

/// Every filter, for keys that are any 64-bit integer or any bytes.
pub(crate) fn filters<'k, K: FilterKey + 'k>() -> Vec<Row<'k, K>> {
    [
        ours::rows(),
        fastbloom::rows(),
        sbbf::rows(),
        bloomfilter::rows(),
        growable::rows(),
        xorf::rows(),
        sux::rows(),
        cuckoo::rows(),
        qfilter::rows(),
        hashset::rows(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Every exact set of small integers.
pub(crate) fn bitmaps<'k>() -> Vec<Row<'k, u32>> {
    [roaring::rows(), hashset::rows()].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Draw;
    use crate::measure;

    const ASK: Ask = Ask { items: 1000, fpp: 0.01, seed: 1 };

    /// Holds everything and denies one key.
    struct Forgetful(u64);

    impl Lookup<u64> for Forgetful {
        fn may_contain(&self, key: &u64) -> bool {
            *key != self.0
        }
    }

    impl Build<u64> for Forgetful {
        fn build(_: Ask, keys: &[u64]) -> Self {
            Self(keys[0])
        }
    }

    #[test]
    fn a_row_that_denies_a_key_is_an_error() {
        let keys = Draw { items: ASK.items, lookups: 20_000 }.integers();
        let error =
            measure::round(&Row::built::<Forgetful>("forgetful"), ASK, &keys).unwrap_err().to_string();
        assert!(error.contains("forgetful answers wrongly"), "{error}");
    }

    #[test]
    fn every_row_answers_rightly_and_errs_as_little_as_it_should() {
        let keys = Draw { items: ASK.items, lookups: 20_000 }.integers();
        for row in filters().iter().filter(|row| row.skipped(ASK).is_none()) {
            let figures = measure::round(row, ASK, &keys).unwrap();
            // cuckoofilter errs at 3 % whatever is asked.
            assert!(figures.fpp() < 0.05, "{}: {}", row.name, figures.fpp());
        }
    }

    #[test]
    fn every_bitmap_is_exact() {
        let keys = Draw { items: ASK.items, lookups: 20_000 }.ids();
        for row in bitmaps() {
            assert_eq!(measure::round(&row, ASK, &keys).unwrap().false_hits, 0, "{}", row.name);
        }
    }
}
