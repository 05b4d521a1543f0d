//! The algebra of filters, held against models.

use gowk::{
    AtomicBlockedBloom, BlockedBloom, BlockedParams, Bloom, BloomParams, Build, Digest, Filter, Hasher,
    Insert, Inserted, Merge, MergeError, Scheme, Seed, SplitBlockBloom, SplitBlockParams,
    bloom::blocked::Span,
};
use proptest::{collection::vec, prelude::*};
use std::collections::HashSet;

fn span() -> impl Strategy<Value = Span> {
    prop_oneof![Just(Span::Line), Just(Span::Pair), Just(Span::Quad)]
}

fn blocked(blocks: u64, span: Span, lanes: u32, keys: &[u64]) -> BlockedBloom {
    let params = BlockedParams::with_shape(blocks, span, lanes, 10).unwrap();
    let mut filter = BlockedBloom::with_params(params, Hasher::new(9)).unwrap();
    filter.insert_many(keys);
    filter
}

fn bloom(bits: u64, probes: u32, keys: &[u64]) -> Bloom {
    bloom_by(Scheme::default(), bits, probes, keys)
}

fn bloom_by(scheme: Scheme, bits: u64, probes: u32, keys: &[u64]) -> Bloom {
    let params = BloomParams::with_shape(bits, probes, scheme, 10).unwrap();
    let mut filter = Bloom::with_params(params, Hasher::new(9)).unwrap();
    filter.insert_many(keys);
    filter
}

fn split(blocks: u64, keys: &[u64]) -> SplitBlockBloom {
    let mut filter =
        SplitBlockBloom::with_params(SplitBlockParams::with_blocks(blocks, 10).unwrap(), Hasher::new(9))
            .unwrap();
    filter.insert_many(keys);
    filter
}

proptest! {
    #[test]
    fn a_filter_denies_nothing_that_the_set_holds(ops in vec((any::<bool>(), 0u64..200), 0..400), lanes in 1u32..=8, span in span()) {
        let mut set = HashSet::new();
        let mut filters = (blocked(3, span, lanes, &[]), bloom(1_024, lanes, &[]), split(5, &[]));
        for (insert, key) in ops {
            if insert {
                let new = [filters.0.insert(&key), filters.1.insert(&key), filters.2.insert(&key)];
                // New is certain; seen is not.
                prop_assert!(!set.contains(&key) || new == [Inserted::MaybeSeen; 3]);
                set.insert(key);
            } else {
                let answers = [filters.0.may_contain(&key), filters.1.may_contain(&key), filters.2.may_contain(&key)];
                prop_assert!(!set.contains(&key) || answers == [true; 3]);
            }
        }
    }

    #[test]
    fn bulk_is_one_by_one(keys in vec(any::<u64>(), 0..300), asked in vec(any::<u64>(), 0..300), lanes in 1u32..=8, span in span()) {
        let mut one = blocked(7, span, lanes, &[]);
        keys.iter().for_each(|key| { one.insert(key); });
        prop_assert!(one == blocked(7, span, lanes, &keys));
        let answers: Vec<bool> = asked.iter().map(|key| one.may_contain(key)).collect();
        prop_assert_eq!(one.may_contain_many(&asked), answers);

        // One round, two, and more.
        for (scheme, probes) in Scheme::ALL.into_iter().flat_map(|scheme| [1, 2, 3].map(|times| (scheme, times * lanes))) {
            let mut one = bloom_by(scheme, 5_120, probes, &[]);
            keys.iter().for_each(|key| { one.insert(key); });
            prop_assert!(one == bloom_by(scheme, 5_120, probes, &keys));
            let answers: Vec<bool> = asked.iter().map(|key| one.may_contain(key)).collect();
            prop_assert_eq!(one.may_contain_many(&asked), answers);
        }

        let mut one = split(7, &[]);
        keys.iter().for_each(|key| { one.insert(key); });
        prop_assert!(one == split(7, &keys));
        let answers: Vec<bool> = asked.iter().map(|key| one.may_contain(key)).collect();
        prop_assert_eq!(one.may_contain_many(&asked), answers);
    }

    #[test]
    fn a_union_is_the_filter_of_both(a in vec(any::<u64>(), 0..200), b in vec(any::<u64>(), 0..200), lanes in 1u32..=8, span in span()) {
        let both = [a.clone(), b.clone()].concat();
        let mut union = blocked(11, span, lanes, &a);
        union.union(&blocked(11, span, lanes, &b)).unwrap();
        prop_assert!(union == blocked(11, span, lanes, &both));
        for scheme in Scheme::ALL {
            let mut union = bloom_by(scheme, 3_072, lanes, &a);
            union.union(&bloom_by(scheme, 3_072, lanes, &b)).unwrap();
            prop_assert!(union == bloom_by(scheme, 3_072, lanes, &both));
        }
        let mut union = split(11, &a);
        union.union(&split(11, &b)).unwrap();
        prop_assert!(union == split(11, &both));
    }

    #[test]
    fn a_union_of_two_sizes_is_the_filter_of_both_at_the_smaller(
        a in vec(any::<u64>(), 0..200), b in vec(any::<u64>(), 0..200), small in 1u64..12, factor in 1u64..7, span in span()
    ) {
        let both = blocked(small, span, 5, &[a.clone(), b.clone()].concat());
        let mut into_large = blocked(small * factor, span, 5, &a);
        into_large.union(&blocked(small, span, 5, &b)).unwrap();
        prop_assert!(into_large == both);
        let mut into_small = blocked(small, span, 5, &a);
        into_small.union(&blocked(small * factor, span, 5, &b)).unwrap();
        prop_assert!(into_small == both);
    }

    #[test]
    fn an_intersection_keeps_what_is_in_both(a in vec(0u64..100, 0..60), b in vec(0u64..100, 0..60)) {
        let common: Vec<u64> = a.iter().filter(|key| b.contains(key)).copied().collect();
        let mut blocks = blocked(11, Span::Line, 6, &a);
        blocks.intersect(&blocked(11, Span::Line, 6, &b)).unwrap();
        prop_assert!(common.iter().all(|key| blocks.may_contain(key)));
        let mut bits = bloom(3_072, 7, &a);
        bits.intersect(&bloom(3_072, 7, &b)).unwrap();
        prop_assert!(common.iter().all(|key| bits.may_contain(key)));
        prop_assert!(bits.fill() <= bloom(3_072, 7, &a).fill());
    }

    #[test]
    fn the_atomic_twin_has_the_same_bits(keys in vec(any::<u64>(), 0..300), lanes in 1u32..=8, span in span()) {
        let plain = blocked(7, span, lanes, &keys);
        let one_by_one = AtomicBlockedBloom::from(blocked(7, span, lanes, &[]));
        let bulk = AtomicBlockedBloom::from(blocked(7, span, lanes, &[]));
        for key in &keys {
            prop_assert_eq!(one_by_one.may_contain(key), one_by_one.snapshot().unwrap().may_contain(key));
            one_by_one.insert(key);
            prop_assert!(one_by_one.may_contain(key));
        }
        bulk.insert_many(&keys);
        let asked: Vec<u64> = keys.iter().map(|key| key ^ 1).collect();
        prop_assert_eq!(bulk.may_contain_many(&asked), plain.may_contain_many(&asked));
        prop_assert!(one_by_one.snapshot().unwrap() == plain);
        prop_assert!(bulk.into_plain() == plain);
    }
}

#[test]
fn threads_lose_no_insert() {
    let shared = AtomicBlockedBloom::builder().items(100_000).fpp(0.001).seed(3).build().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let shared = &shared;
            // Overlapping ranges: threads set the same words at the same time.
            scope.spawn(move || {
                shared.insert_many(&(thread * 20_000..thread * 20_000 + 40_000).collect::<Vec<_>>())
            });
        }
    });
    let mut plain = BlockedBloom::with_params(*shared.params(), *shared.hasher()).unwrap();
    plain.insert_many(&(0..100_000u64).collect::<Vec<_>>());
    assert!(shared.into_plain() == plain);
}

#[test]
fn filters_that_do_not_fit_say_in_what_they_differ() {
    let ours = |seed: u64| BlockedBloom::builder().items(1000).fpp(0.01).seed(seed).build().unwrap();
    assert_eq!(ours(1).union(&ours(2)), Err(MergeError::Seed));
    let hardened = BlockedBloom::builder().items(1000).seed(1).hardened().build().unwrap();
    assert!(matches!(ours(1).union(&hardened), Err(MergeError::Hash { .. })));
    let stricter = BlockedBloom::builder().items(1000).fpp(0.1).seed(1).build().unwrap();
    assert!(matches!(
        ours(1).union(&stricter),
        Err(MergeError::Params { what: "bits per key and line", .. })
    ));
    let mut seven = blocked(7, Span::Line, 6, &[1, 2, 3]);
    let before = seven.clone();
    assert_eq!(
        seven.union(&blocked(10, Span::Line, 6, &[4])),
        Err(MergeError::Sizes { ours: 7, theirs: 10 })
    );
    assert!(seven == before, "a failed merge changes nothing");
    assert!(matches!(
        bloom(512, 5, &[]).union(&bloom(1_024, 5, &[])),
        Err(MergeError::Params { what: "bits", .. })
    ));
    assert!(matches!(
        bloom(512, 5, &[]).union(&bloom(512, 6, &[])),
        Err(MergeError::Params { what: "probes", .. })
    ));
}

#[test]
fn degenerate_digests_are_keys_like_others() {
    for digest in [0, 1, u64::MAX, 1 << 63, u64::from(u32::MAX)].map(Digest::from) {
        for span in [Span::Line, Span::Pair, Span::Quad] {
            let mut filter = blocked(9, span, 6, &[]);
            assert_eq!(filter.insert(&digest), Inserted::New);
            assert!(filter.may_contain(&digest));
            assert_eq!(gowk_ones(&filter), 6 * span.lines(), "as many bits as for any key");
        }
    }
}

fn gowk_ones(filter: &BlockedBloom) -> u64 {
    filter.lines().iter().map(|line| u64::from(line.ones())).sum()
}

#[test]
fn a_seed_that_nobody_fixed_is_different_every_time() {
    let seeds: HashSet<Seed> =
        (0..100).map(|_| BlockedBloom::new(10, 0.01).unwrap().hasher().seed()).collect();
    assert_eq!(seeds.len(), 100);
}

#[test]
fn an_overfull_filter_says_so() {
    let mut filter = BlockedBloom::builder().items(1_000).fpp(0.01).seed(1).build().unwrap();
    filter.insert_many(&(0..900u64).collect::<Vec<_>>());
    assert!(!filter.stats().is_overfull());
    assert!(filter.stats().room() > 50);
    filter.insert_many(&(0..5_000u64).collect::<Vec<_>>());
    let stats = filter.stats();
    assert!(stats.is_overfull());
    assert_eq!(stats.room(), 0);
    assert!((stats.estimated_items - 5_000.0).abs() < 250.0, "{stats}");
    assert!(stats.fpp_now > 0.3, "{stats}");
}
