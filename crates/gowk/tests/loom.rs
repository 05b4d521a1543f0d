//! A guard under every order in which its threads may take its locks: `RUSTFLAGS="--cfg loom" cargo test -p gowk --test loom`.
//!
//! Bugs of a rebuild are of an instant: a key that comes between the end of the log and the swap is lost, and no test that runs threads
//! by chance is there when it does.

#![cfg(loom)]

use gowk::{BlockedBloom, Build, Cuckoo, Guard, Hasher, Insert};
use loom::{
    sync::{Arc, Mutex},
    thread,
};
use std::{collections::BTreeSet, convert::Infallible};

fn filter<F: Build + Insert>(hasher: &Hasher, keys: impl IntoIterator<Item = u64>) -> F {
    let params = F::params_for_fpp(100, 0.000_001).expect("sound parameters");
    let mut filter = F::with_params(params, *hasher).expect("memory for a hundred keys");
    for key in keys {
        F::settled(filter.insert(&key)).expect("room for a hundred keys");
    }
    filter
}

/// A store and the guard before it.
struct Shop<F> {
    store: Mutex<BTreeSet<u64>>,
    guard: Guard<F>,
}

impl<F: Build + Insert> Shop<F> {
    fn open(keys: impl IntoIterator<Item = u64> + Clone) -> Arc<Self> {
        let store = Mutex::new(keys.clone().into_iter().collect());
        Arc::new(Self { store, guard: Guard::new(filter(&Hasher::new(1), keys)) })
    }

    /// As the guard asks for: the store first.
    fn insert(&self, key: u64) {
        self.store.lock().unwrap().insert(key);
        self.guard.insert(&key);
    }

    fn rebuild(&self) {
        let built = self.guard.rebuild(|hasher| {
            let keys = self.store.lock().unwrap().clone();
            Ok::<_, Infallible>(filter(hasher, keys))
        });
        built.expect("the same hasher");
    }
}

#[test]
fn keys_that_come_during_a_rebuild_are_let_pass_ever_after() {
    loom::model(|| {
        let shop = Shop::<BlockedBloom>::open([1]);
        let other = shop.clone();
        let inserting = thread::spawn(move || {
            for key in [2, 3] {
                other.insert(key);
                assert!(other.guard.ask(&key).is_some(), "{key}, just inserted");
            }
        });
        shop.rebuild();
        assert!(shop.guard.ask(&1u64).is_some());
        inserting.join().unwrap();
        for key in 1..=3u64 {
            assert!(shop.guard.ask(&key).is_some(), "{key}, at the end");
        }
        assert!(shop.guard.ask(&4u64).is_none());
    });
}

#[test]
fn a_key_that_stays_is_not_denied_by_the_removal_of_another() {
    loom::model(|| {
        let shop = Shop::<Cuckoo>::open([1, 2]);
        let other = shop.clone();
        let removing = thread::spawn(move || {
            // As the guard asks for: the filter first.
            other.guard.remove(&2u64);
            other.store.lock().unwrap().remove(&2);
            other.insert(3);
        });
        shop.rebuild();
        removing.join().unwrap();
        assert!(shop.guard.ask(&1u64).is_some() && shop.guard.ask(&3u64).is_some());
    });
}

#[test]
fn two_rebuilds_at_once_lose_nothing() {
    loom::model(|| {
        let shop = Shop::<BlockedBloom>::open([1]);
        let other = shop.clone();
        let rebuilding = thread::spawn(move || other.rebuild());
        shop.insert(2);
        shop.rebuild();
        rebuilding.join().unwrap();
        assert!((1..=2u64).all(|key| shop.guard.ask(&key).is_some()));
    });
}
