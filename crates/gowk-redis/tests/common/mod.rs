//! What the tests of one server share.

use gowk_redis::{Spec, blocking::Bloom};
use std::{
    ops::Range,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

pub(crate) fn keys(range: Range<u64>) -> Vec<u64> {
    range.collect()
}

pub(crate) fn all_there(seen: &Bloom, keys: &[u64]) {
    let denied = seen.may_contain_many(keys).unwrap().into_iter().filter(|found| !found).count();
    assert_eq!(denied, 0, "of {} keys", keys.len());
}

/// Adds keys by all clients at once while the filter is rebuilt so often; all of them are there in the end.
pub(crate) fn adds_outlive_rebuilds(seen: &Bloom, clients: Vec<Bloom>, rebuilds: usize) {
    let (stop, next) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let (stop, next) = (&stop, &next);
        let clients: Vec<_> = clients
            .into_iter()
            .map(|client| {
                scope.spawn(move || {
                    let mut added = Vec::new();
                    while !stop.load(Ordering::Relaxed) {
                        let start = next.fetch_add(50, Ordering::Relaxed);
                        client.add_many(&keys(start..start + 50)).unwrap();
                        added.extend(start..start + 50);
                    }
                    added
                })
            })
            .collect();
        // Each rebuild carries over all keys that were drawn before it began.
        for _ in 0..rebuilds {
            let rebuild = seen.rebuild(&Spec::new(200_000, 1e-6)).unwrap();
            rebuild.add_many(&keys(0..next.load(Ordering::Relaxed))).unwrap();
            std::thread::sleep(Duration::from_millis(20));
            rebuild.switch().unwrap();
        }
        stop.store(true, Ordering::Relaxed);
        let added: Vec<u64> = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
        assert!(added.len() > 100);
        all_there(seen, &added);
    });
}
