//! What a counting filter promises, held against a multiset and against its own formula.

use super::{CountingBloom, CountingParams, TOP};
use crate::{
    bloom::blocked::Span,
    builder::Build,
    error::MergeError,
    filter::{Filter, Insert, Inserted, Merge, Remove, Removed},
    format::{AnyFilter, OpenError, Persist},
    hash::Hasher,
    testing::{binomial_band, members, strangers},
};
use proptest::prelude::*;
use std::collections::HashMap;

fn filter(items: u64, fpp: f64) -> CountingBloom {
    CountingBloom::builder().items(items).fpp(fpp).seed(1_000).build().unwrap()
}

fn full(items: u64, fpp: f64) -> CountingBloom {
    let mut filter = filter(items, fpp);
    filter.extend(members(items));
    filter
}

fn hits(filter: &CountingBloom, trials: u64) -> u64 {
    let keys: Vec<u64> = strangers(trials).collect();
    filter.may_contain_many(&keys).into_iter().map(u64::from).sum()
}

/// The rate is the mean over all seeds: a filter of a few blocks may by chance fill more evenly or less.
#[test]
fn the_promised_rate_is_kept_at_every_size() {
    for (items, fpp, filters) in [
        (1, 0.01, 100),
        (10, 0.01, 100),
        (1_000, 0.1, 200),
        (1_000, 0.01, 200),
        (1_000, 0.001, 200),
        (1_000_000, 0.01, 1),
    ] {
        let trials = 2_000_000 / filters;
        let filled = |seed| {
            let mut filter = CountingBloom::builder().items(items).fpp(fpp).seed(seed).build().unwrap();
            filter.extend(members(items));
            hits(&filter, trials)
        };
        let hits: u64 = (0..filters).map(filled).sum();
        let most = *binomial_band(trials * filters, 1.03 * fpp).end();
        assert!(hits <= most, "{hits} of at most {most} at {fpp} with {items} keys");
    }
}

#[test]
fn no_rate_is_kept_better_than_it_is_paid_for() {
    for (items, fpp) in [(10_000, 0.1), (20_000, 0.01), (50_000, 0.004), (50_000, 0.001), (20_000, 0.0003)] {
        let filter = full(items, fpp);
        let trials = 2_000_000;
        let hits = hits(&filter, trials);
        assert!(hits >= *binomial_band(trials, 0.8 * fpp).start(), "{hits} in {trials} at {fpp}");
    }
}

#[test]
fn false_positives_come_as_often_as_the_counters_say_and_the_formula() {
    for (span, lanes) in
        [(Span::Line, 3), (Span::Line, 6), (Span::Line, 8), (Span::Pair, 4), (Span::Quad, 2), (Span::Quad, 3)]
    {
        let params = CountingParams::with_shape(1_000, span, lanes, 12_000 * span.lines()).unwrap();
        let mut filter = CountingBloom::with_params(params, Hasher::new(u64::from(lanes))).unwrap();
        filter.extend(members(params.promise().items));
        let trials = 3_000_000;
        let (hits, stats) = (hits(&filter, trials), filter.stats());
        let band = binomial_band(trials, stats.fpp_now);
        assert!(
            band.contains(&hits),
            "{span:?} {lanes}: {hits} in {trials}, expected {band:?} of the counters"
        );
        let off = stats.fpp_now / params.promise().fpp;
        assert!((0.93..1.07).contains(&off), "{span:?} {lanes}: {off} of the formula");
        let keys = stats.estimated_items / params.promise().items as f64;
        assert!((0.98..1.02).contains(&keys), "{span:?} {lanes}: {keys} of the keys");
    }
}

#[test]
fn counts_are_too_high_no_more_often_than_the_rate() {
    let mut filter = filter(20_000, 0.01);
    for times in 1..=5 {
        // The keys of group g come g times.
        filter.extend(members(20_000).filter(|key| key % 5 + 1 >= times));
    }
    let high = members(20_000).filter(|key| u64::from(filter.estimate(key)) > key % 5 + 1).count() as u64;
    assert!(members(20_000).all(|key| u64::from(filter.estimate(&key)) > key % 5));
    let band = binomial_band(20_000, 0.01);
    assert!(high <= *band.end(), "{high} of 20000 keys counted too high, expected at most {band:?}");
}

#[test]
fn seen_at_least_answers_up_to_the_top_and_stays_there() {
    let mut filter = filter(100, 0.001);
    for times in 0..40u32 {
        assert_eq!(filter.estimate("key"), times.min(TOP));
        for ask in 0..40 {
            assert_eq!(
                filter.seen_at_least("key", ask),
                times.min(TOP) >= ask.min(TOP),
                "{ask} asked, {times} true"
            );
        }
        filter.insert("key");
    }
    assert_eq!(filter.stuck(), u64::from(filter.params().probes()));
    for _ in 0..100 {
        assert_eq!(filter.remove("key"), Removed::Gone);
    }
    assert_eq!(filter.estimate("key"), TOP);
}

#[test]
fn a_stuck_counter_keeps_its_other_keys_in() {
    // One block, so that keys share counters; the first key drives its counters to the top, and is then removed too often.
    let mut filter = filter(12, 0.05);
    for _ in 0..20 {
        filter.insert(&0u64);
    }
    for key in 1..12u64 {
        filter.insert(&key);
    }
    for _ in 0..20 {
        filter.remove(&0u64);
    }
    assert!((1..12u64).all(|key| filter.may_contain(&key)));
}

#[test]
fn removing_a_key_that_is_surely_absent_changes_nothing_and_says_so() {
    let mut filter = full(1_000, 0.01);
    let before = filter.clone();
    let absent: Vec<u64> = strangers(20_000).filter(|key| !before.may_contain(key)).collect();
    assert!(absent.len() > 19_000);
    for key in &absent {
        assert_eq!(filter.remove(key), Removed::Absent);
    }
    assert_eq!(filter.remove_many(&absent), absent.len() as u64);
    assert_eq!(filter, before);
}

#[test]
fn removing_all_that_was_inserted_leaves_nothing() {
    for fpp in [0.1, 0.01, 0.001, 0.0001] {
        let mut filter = full(5_000, fpp);
        let keys: Vec<u64> = members(5_000).collect();
        assert_eq!(filter.stuck(), 0);
        assert_eq!(filter.remove_many(&keys), 0);
        assert!(filter.lines().iter().all(|line| line.ones() == 0), "at {fpp}");
    }
}

#[test]
fn bulk_calls_do_as_single_ones() {
    for fpp in [0.01, 0.001, 0.0001] {
        let (mut one_by_one, mut bulk) = (filter(3_000, fpp), filter(3_000, fpp));
        let keys: Vec<u64> = members(3_000).collect();
        for key in &keys {
            one_by_one.insert(key);
        }
        bulk.insert_many(&keys);
        assert_eq!(one_by_one, bulk);
        let asked: Vec<u64> = members(100).chain(strangers(5_000)).collect();
        let answers: Vec<bool> = asked.iter().map(|key| bulk.may_contain(key)).collect();
        assert_eq!(bulk.may_contain_many(&asked), answers);
        for key in &keys[..500] {
            one_by_one.remove(key);
        }
        assert_eq!(bulk.remove_many(&keys[..500]), 0);
        assert_eq!(one_by_one, bulk);
    }
}

#[test]
fn only_filters_of_one_shape_merge() {
    let mut ours = filter(1_000, 0.01);
    let other =
        |seed: u64, items, fpp| CountingBloom::builder().items(items).fpp(fpp).seed(seed).build().unwrap();
    let seed = 1_000;
    assert_eq!(ours.union(&other(seed + 1, 1_000, 0.01)), Err(MergeError::Seed));
    assert!(matches!(ours.union(&other(seed, 2_000, 0.01)), Err(MergeError::Params { what: "blocks", .. })));
    assert!(matches!(
        ours.union(&other(seed, 1_000, 0.001)),
        Err(MergeError::Params { what: "lines per block", .. })
    ));
    assert!(matches!(
        ours.union(&other(seed, 1_000, 0.1)),
        Err(MergeError::Params { what: "counters per key and line", .. })
    ));
    assert_eq!(ours.union(&other(seed, 1_000, 0.01)), Ok(()));
}

#[test]
fn a_file_mapped_or_loaded_answers_as_the_filter_did() {
    let folder = tempfile::tempdir().unwrap();
    for fpp in [0.01, 0.001, 0.0001] {
        let filter = full(2_000, fpp);
        let path = folder.path().join("counts.gowk");
        filter.save(&path).unwrap();
        let mapped = CountingBloom::open(&path).unwrap();
        let loaded = CountingBloom::load(&path).unwrap();
        assert_eq!(loaded, filter);
        assert_eq!(mapped, filter);
        assert_eq!(mapped.params(), filter.params());
        assert_eq!(mapped.to_heap().unwrap(), filter);
        let any = AnyFilter::from_bytes(&filter.to_bytes()).unwrap();
        assert_eq!(any.stats(), filter.stats());
        let keys: Vec<u64> = members(500).chain(strangers(5_000)).collect();
        assert_eq!(mapped.may_contain_many(&keys), filter.may_contain_many(&keys));
        assert_eq!(any.may_contain_many(&keys), filter.may_contain_many(&keys));
        assert!(keys.iter().all(|key| mapped.estimate(key) == filter.estimate(key)));
    }
}

/// The bytes with one of the parameters' replaced, and the checksum of the head set right again.
fn patched(bytes: &[u8], offset: usize, byte: u8) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[offset] = byte;
    let params = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let mut sum = xxhash_rust::xxh3::Xxh3::new();
    sum.update(&bytes[..120]);
    sum.update(&bytes[128..128 + params]);
    let sum = sum.digest().to_le_bytes();
    bytes[120..128].copy_from_slice(&sum);
    bytes
}

#[test]
fn hostile_parameters_are_refused() {
    let bytes = full(1_000, 0.01).to_bytes();
    assert!(CountingBloom::from_bytes(&patched(&bytes, 0, b'g')).is_ok());
    for (offset, byte) in [
        (128, 1),
        (135, 255),
        (136, 0),
        (136, 2),
        (136, 3),
        (137, 0),
        (137, 9),
        (138, 1),
        (143, 7),
        (10, 1),
        (10, 8),
    ] {
        let refused = CountingBloom::from_bytes(&patched(&bytes, offset, byte));
        assert!(
            matches!(refused, Err(OpenError::Field { .. } | OpenError::Params(_) | OpenError::Family { .. })),
            "byte {offset} = {byte}: {refused:?}"
        );
    }
    for cut in [0, 100, 128, 140, bytes.len() - 64, bytes.len() - 1] {
        assert!(CountingBloom::from_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
    }
}

/// What may be done to a filter.
#[derive(Clone, Debug)]
enum Op {
    Insert(u8),
    Storm(u8),
    Remove(u8),
    Merge(Vec<u8>),
    Reopen,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => any::<u8>().prop_map(Op::Insert),
        1 => (0u8..8).prop_map(Op::Storm),
        4 => any::<u8>().prop_map(Op::Remove),
        1 => proptest::collection::vec(any::<u8>(), 0..20).prop_map(Op::Merge),
        1 => Just(Op::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_count_falls_short_of_a_multiset(
        ops in proptest::collection::vec(op(), 1..150),
        items in 1u64..200,
        fpp in prop_oneof![Just(0.2), Just(0.01), Just(0.002), Just(0.0001)],
    ) {
        let mut filter = filter(items, fpp);
        let empty = filter.clone();
        let mut model: HashMap<u8, u32> = HashMap::new();
        for op in ops {
            match op {
                Op::Insert(key) => {
                    let maybe = filter.may_contain(&key);
                    prop_assert_eq!(filter.insert(&key), if maybe { Inserted::MaybeSeen } else { Inserted::New });
                    *model.entry(key).or_default() += 1;
                }
                Op::Storm(key) => {
                    for _ in 0..20 { filter.insert(&key); }
                    *model.entry(key).or_default() += 20;
                }
                Op::Remove(key) => {
                    let count = model.entry(key).or_default();
                    if *count > 0 {
                        *count -= 1;
                        prop_assert_eq!(filter.remove(&key), Removed::Gone);
                    } else if !filter.may_contain(&key) {
                        let before = filter.clone();
                        prop_assert_eq!(filter.remove(&key), Removed::Absent);
                        prop_assert_eq!(&filter, &before);
                    }
                }
                Op::Merge(keys) => {
                    let mut other = empty.clone();
                    for key in keys {
                        other.insert(&key);
                        *model.entry(key).or_default() += 1;
                    }
                    filter.union(&other).unwrap();
                }
                Op::Reopen => filter = CountingBloom::from_bytes(&filter.to_bytes()).unwrap(),
            }
            for (key, &count) in &model {
                let estimate = filter.estimate(key);
                prop_assert!(estimate >= count.min(TOP), "{} counted, {} true", estimate, count);
                prop_assert_eq!(filter.may_contain(key), estimate > 0);
            }
        }
        if filter.stuck() == 0 {
            for (key, count) in model {
                for _ in 0..count { filter.remove(&key); }
            }
            prop_assert_eq!(filter, empty);
        }
    }

    #[test]
    fn a_union_is_the_filter_of_both(xs: Vec<u16>, ys: Vec<u16>, storm in 0usize..20) {
        let (mut a, mut b, mut both) = (filter(50, 0.01), filter(50, 0.01), filter(50, 0.01));
        a.extend(xs.iter().chain(std::iter::repeat_n(&7, storm)));
        b.extend(ys.iter().chain(std::iter::repeat_n(&7, storm)));
        both.extend(xs.iter().chain(&ys).chain(std::iter::repeat_n(&7, 2 * storm)));
        a.union(&b).unwrap();
        prop_assert_eq!(a, both);
    }
}

#[test]
fn positions_are_the_counters_that_an_insert_raises() {
    for (span, lanes) in [(Span::Line, 6), (Span::Pair, 4), (Span::Quad, 3)] {
        let params = CountingParams::with_shape(3, span, lanes, 10).unwrap();
        for key in 0..100u64 {
            let mut filter = CountingBloom::with_params(params, Hasher::new(4)).unwrap();
            filter.insert(&key);
            let count = |at: &u64| {
                filter.lines()[(at / 128) as usize].0[(at % 128 / 16) as usize] >> (4 * (at % 16)) & 15
            };
            let raised: Vec<u64> = (0..params.counters()).filter(|at| count(at) == 1).collect();
            let mut positions = params.positions(filter.hasher().digest(&key));
            positions.sort_unstable();
            assert_eq!(positions, raised);
        }
    }
}
