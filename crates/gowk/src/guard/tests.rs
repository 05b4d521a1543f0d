//! What the guard promises, threads included.

use super::{Guard, RebuildError, Stale};
use crate::{
    AnyFilter, BlockedBloom, Cuckoo, Filter, Hasher, Insert, Inserted, MergeError, ParamsError, Persist,
    Removed,
    testing::{binomial_band, key, members, strangers},
};
use core::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};
use std::{
    collections::{BTreeSet, HashSet},
    convert::Infallible,
    sync::RwLock,
    thread,
};

fn blocked(items: u64, fpp: f64, hasher: &Hasher) -> BlockedBloom {
    BlockedBloom::builder().items(items).fpp(fpp).hasher(hasher).build().unwrap()
}

fn holding(items: u64, keys: impl Iterator<Item = u64>) -> Guard<BlockedBloom> {
    let mut filter = blocked(items, 0.01, &Hasher::new(1));
    filter.insert_many(&keys.collect::<Vec<_>>());
    Guard::new(filter)
}

fn passes<F: Filter>(guard: &Guard<F>, key: u64) -> bool {
    guard.ask(&key).map(|pass| pass.settle(true)).is_some()
}

#[test]
fn lookups_are_counted_by_how_they_end() {
    let guard = holding(10_000, members(10_000));
    let store: HashSet<u64> = members(10_000).collect();
    let get = |key: &u64| Ok::<_, Infallible>(store.get(key).copied());
    for member in members(10_000) {
        assert_eq!(guard.lookup(&member, get), Ok(Some(member)));
    }
    for stranger in strangers(100_000) {
        assert_eq!(guard.lookup(&stranger, get), Ok(None));
    }
    for member in members(5) {
        assert_eq!(guard.lookup(&member, |_| Err::<Option<u64>, _>("disk on fire")), Err("disk on fire"));
    }
    let tally = guard.stats();
    assert_eq!((tally.asked, tally.failed, tally.absent()), (110_005, 5, 100_000));
    assert_eq!((tally.passed, tally.stopped), (10_005 + tally.in_vain, 100_000 - tally.in_vain));
    let band = binomial_band(100_000, guard.with_filter(|filter| filter.stats().fpp_now));
    assert!(band.contains(&tally.in_vain), "{tally}, expected {band:?}");
    assert!(!guard.needs_rebuild());
}

#[test]
fn what_is_saved_is_the_difference_of_two_bills() {
    let guard = holding(1_000, members(1_000));
    for stranger in strangers(9_000) {
        guard.lookup(&stranger, |_| Ok::<_, Infallible>(None::<()>)).unwrap();
    }
    members(1_000).for_each(|member| assert!(passes(&guard, member)));
    let (tally, c1, c2) = (guard.stats(), 1e-6, 1e-3);
    let saved = tally.saved(Duration::from_micros(1), Duration::from_millis(1));
    let without = tally.asked as f64 * (c2 - c1);
    let with = tally.stopped as f64 * c1 + tally.passed as f64 * c2;
    assert!((saved.seconds - (without - with)).abs() < 1e-9);
    assert!((saved.errors - 9_000.0 * tally.fpp_measured() * (c2 - c1)).abs() < 1e-9);
    assert!((saved.errors_promised - 9_000.0 * 0.01 * (c2 - c1)).abs() < 1e-9);
    assert_eq!(saved.lookups, tally.stopped);
}

#[test]
fn a_rebuild_drops_deleted_keys_and_starts_the_count_anew() {
    let guard = holding(10_000, members(10_000));
    for _ in 0..999 {
        guard.forget();
    }
    assert_eq!(guard.stale(), None);
    guard.forget();
    assert_eq!(guard.stale(), Some(Stale::Deleted { deleted: 1_000, items: 10_000 }));
    guard
        .rebuild(|hasher| {
            let mut filter = blocked(10_000, 0.01, hasher);
            filter.insert_many(&members(10_000).skip(1_000).collect::<Vec<_>>());
            // Comes too late for this filter, so the next one has to drop it.
            guard.forget();
            Ok::<_, ParamsError>(filter)
        })
        .unwrap();
    assert!(members(10_000).skip(1_000).all(|key| passes(&guard, key)));
    assert!(members(1_000).filter(|&key| passes(&guard, key)).count() < 50);
    assert_eq!(guard.stale(), None);
    (0..999).for_each(|_| guard.forget());
    assert_eq!(guard.stale(), Some(Stale::Deleted { deleted: 1_000, items: 10_000 }));
}

#[test]
fn lookups_in_vain_beyond_chance_ask_for_a_rebuild() {
    let guard = holding(10_000, members(10_000));
    // A tenth of the keys was deleted, and nobody told.
    let (asked, gone) = (strangers(20_000), members(1_000));
    for absent in asked.chain(gone) {
        guard.lookup(&absent, |_| Ok::<_, Infallible>(None::<()>)).unwrap();
    }
    assert!(matches!(guard.stale(), Some(Stale::InVain { measured, promised: 0.01 }) if measured > 0.05));
    guard.rebuild(|hasher| Ok::<_, Infallible>(blocked(10_000, 0.01, hasher))).unwrap();
    assert_eq!(guard.stale(), None);
    assert_eq!(guard.stats_since_rebuild().asked, 0);
    assert_eq!(guard.stats().asked, 21_000);
}

#[test]
fn a_rebuild_that_fails_changes_nothing_and_the_next_one_works() {
    let guard = holding(1_000, members(500));
    assert_eq!(guard.rebuild(|_| Err("no keys")), Err(RebuildError::Build("no keys")));
    let stranger = |_: &Hasher| Ok::<_, ParamsError>(blocked(1_000, 0.01, &Hasher::new(2)));
    assert_eq!(guard.rebuild(stranger), Err(RebuildError::Hasher(MergeError::Seed)));
    let panics = || guard.rebuild(|_| -> Result<BlockedBloom, Infallible> { panic!("the source is gone") });
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
    assert!(members(500).all(|key| passes(&guard, key)));
    guard.insert(&key(7));
    assert!(guard.rebuild(|hasher| Ok::<_, Infallible>(blocked(10, 0.01, hasher))).is_ok());
    // Nothing was left in a log by those that failed.
    assert!(!passes(&guard, key(7)));
}

#[test]
fn keys_inserted_during_a_rebuild_are_in_the_new_filter() {
    let guard = holding(10_000, members(100));
    guard
        .rebuild(|hasher| {
            let filter = blocked(10_000, 0.01, hasher);
            // More than are replayed under the lock.
            members(5_000).for_each(|key| {
                guard.insert(&key);
            });
            Ok::<_, Infallible>(filter)
        })
        .unwrap();
    assert!(members(5_000).all(|key| passes(&guard, key)));
    let estimate = guard.with_filter(|filter| filter.stats().estimated_items);
    assert!((4_800.0..5_200.0).contains(&estimate), "{estimate}");
}

#[test]
fn keys_that_a_full_filter_refuses_still_pass() {
    let guard = Guard::new(Cuckoo::builder().items(1_000).fpp(0.01).seed(3).build().unwrap());
    for member in members(4_000) {
        guard.insert(&member);
    }
    assert!(members(4_000).all(|key| passes(&guard, key)));
    assert!(matches!(guard.stale(), Some(Stale::Beside { beside: 1_000.., .. })), "{:?}", guard.stale());
    // Removing keys that are beside the filter takes no trace of another out of it.
    members(4_000).skip(3_000).for_each(|key| assert_eq!(guard.remove(&key), Removed::Gone));
    assert!(members(3_000).all(|key| passes(&guard, key)));
    guard
        .rebuild(|hasher| {
            let mut filter = Cuckoo::builder().items(5_000).fpp(0.01).hasher(hasher).build()?;
            filter.insert_many(&members(3_000).collect::<Vec<_>>()).unwrap();
            Ok::<_, ParamsError>(filter)
        })
        .unwrap();
    assert!(members(3_000).all(|key| passes(&guard, key)));
    assert_eq!(guard.stale(), None);
}

#[test]
fn removed_keys_are_stopped() {
    let guard = Guard::new(Cuckoo::builder().items(1_000).fpp(0.001).seed(3).build().unwrap());
    members(1_000).for_each(|key| {
        guard.insert(&key);
    });
    members(500).for_each(|key| assert_eq!(guard.remove(&key), Removed::Gone));
    assert!(members(1_000).skip(500).all(|key| passes(&guard, key)));
    assert!(members(500).filter(|&key| passes(&guard, key)).count() < 10);
}

#[test]
fn only_removals_that_leave_a_trace_are_counted_as_deleted() {
    let cuckoo = |hasher: &Hasher| Cuckoo::builder().items(100).fpp(0.001).hasher(hasher).build().unwrap();
    let keys: Vec<u64> = members(100).collect();
    let guard = Guard::new(cuckoo(&Hasher::new(3)));
    keys.iter().for_each(|key| {
        guard.insert(key);
    });
    let remove = |keys: &[u64]| keys.iter().for_each(|key| assert_eq!(guard.remove(key), Removed::Gone));
    // A rebuild that failed is over: what is removed after it is out of the only filter there is.
    assert_eq!(guard.rebuild(|_| Err("no keys")), Err(RebuildError::Build("no keys")));
    remove(&keys[..20]);
    assert_eq!(guard.stale(), None);
    // One under way has read keys that are removed meanwhile, and its filter keeps them.
    guard
        .rebuild(|hasher| {
            let mut filter = cuckoo(hasher);
            filter.insert_many(&keys[20..]).unwrap();
            remove(&keys[20..30]);
            Ok::<_, Infallible>(filter)
        })
        .unwrap();
    assert!(keys[20..].iter().all(|&key| passes(&guard, key)));
    assert_eq!(guard.stale(), Some(Stale::Deleted { deleted: 10, items: 100 }));
    // So does a guard that has them beside its filter.
    let fixed = Guard::fixed(cuckoo(&Hasher::new(3)));
    keys[..10].iter().for_each(|key| {
        fixed.insert(key);
        assert_eq!(fixed.remove(key), Removed::Gone);
    });
    assert_eq!(fixed.stale(), Some(Stale::Deleted { deleted: 10, items: 100 }));
}

#[test]
fn a_filter_that_takes_no_keys_gets_them_beside_it() {
    let mut built = blocked(1_000, 0.01, &Hasher::new(1));
    built.insert_many(&members(1_000).collect::<Vec<_>>());
    let bytes = built.to_bytes();
    let guard = Guard::fixed(AnyFilter::from_bytes(&bytes).unwrap());
    let new: Vec<u64> = strangers(100).filter(|key| !built.may_contain(key)).collect();
    for key in &new {
        assert_eq!(guard.insert(key), Inserted::New);
        assert_eq!(guard.insert(key), Inserted::MaybeSeen);
    }
    assert!(members(1_000).chain(new).all(|key| passes(&guard, key)));
    assert!(guard.needs_rebuild());
    // Keys that come during a rebuild stay beside the new one.
    guard
        .rebuild(|_| {
            guard.insert(&key(999_999));
            AnyFilter::from_bytes(&bytes)
        })
        .unwrap();
    assert!(passes(&guard, key(999_999)));
}

/// A store that changes while the guard is rebuilt over and over: whoever was told of a key finds it.
#[test]
fn no_key_is_denied_while_readers_an_inserter_a_deleter_and_a_rebuilder_are_at_work() {
    const KEYS: u64 = 40_000;
    let store = RwLock::new(BTreeSet::new());
    let guard = holding(KEYS, core::iter::empty());
    // Keys below `told` have been inserted; those below `dropped` are being deleted.
    let (told, dropped, done) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let rebuilds = AtomicU64::new(0);
    thread::scope(|scope| {
        for reader in 0..2u64 {
            let (guard, store, told, dropped, done) = (&guard, &store, &told, &dropped, &done);
            scope.spawn(move || {
                let mut i = reader;
                while !done.load(Ordering::Relaxed) {
                    i = key(i);
                    // The newest keys are those that a swap may lose.
                    let end = told.load(Ordering::Acquire);
                    let Some(number) = end.checked_sub(1 + i % 64) else { continue };
                    let asked = key(2 * number);
                    let found = guard
                        .lookup(&asked, |key| Ok::<_, Infallible>(store.read().unwrap().get(key).copied()));
                    // Deletes stay far behind what is told, but a reader may have slept.
                    let found = found.unwrap().is_some();
                    assert!(
                        found || dropped.load(Ordering::Acquire) > number,
                        "key {number} of {end} was denied"
                    );
                    guard.lookup(&key(i | 1), |_| Ok::<_, Infallible>(None::<u64>)).unwrap();
                }
            });
        }
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let build = |hasher: &Hasher| {
                    let keys: Vec<u64> = store.read().unwrap().iter().copied().collect();
                    let mut filter = blocked(KEYS, 0.01, hasher);
                    filter.insert_many(&keys);
                    Ok::<_, Infallible>(filter)
                };
                guard.rebuild(build).unwrap();
                rebuilds.fetch_add(1, Ordering::Relaxed);
            }
        });
        for i in 0..KEYS {
            // A busy machine may run the rebuilder seldom, and without it nothing is tested.
            while rebuilds.load(Ordering::Relaxed) < i * 4 / KEYS {
                thread::yield_now();
            }
            store.write().unwrap().insert(key(2 * i));
            guard.insert(&key(2 * i));
            told.store(i + 1, Ordering::Release);
            if let Some(old) = i.checked_sub(KEYS / 2) {
                dropped.store(old + 1, Ordering::Release);
                store.write().unwrap().remove(&key(2 * old));
                guard.forget();
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!((KEYS / 2..KEYS).all(|i| passes(&guard, key(2 * i))));
}
