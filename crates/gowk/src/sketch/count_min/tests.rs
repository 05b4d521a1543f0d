//! The promises of Count-Min, held against exact counts.

use super::*;
use crate::{
    error::MergeError,
    filter::Merge,
    format::{OpenError, Persist},
    hash::{Digest, Hasher},
    sketch::zipf::Zipf,
    store::Mapped,
};
use proptest::prelude::*;
use std::collections::HashMap;

fn sketch(params: CountMinParams) -> CountMin {
    CountMin::with_params(params, Hasher::new(7)).unwrap()
}

fn of_keys(params: CountMinParams, keys: &[u8]) -> CountMin {
    let mut sketch = sketch(params);
    sketch.add_many(keys);
    sketch
}

#[test]
fn estimates_are_never_too_low_and_rarely_too_high() {
    for skew in [0.0, 0.8, 1.2] {
        let zipf = Zipf::new(20_000, skew);
        let stream: Vec<u64> = zipf.stream(1, 300_000).collect();
        let counts = zipf.counts(stream.iter().copied());
        for (width, depth) in [(300, 1), (300, 3), (2_000, 4)] {
            for params in [
                CountMinParams::with_shape(width, depth).unwrap(),
                CountMinParams::with_shape(width, depth).unwrap().plain(),
            ] {
                let mut sketch = sketch(params);
                sketch.add_many(&stream);
                assert_eq!(sketch.total(), 300_000);
                let mut over = 0;
                for (key, &count) in counts.iter().enumerate() {
                    let estimate = sketch.estimate(&(key as u64));
                    assert!(estimate >= count, "{key}: {estimate} < {count}");
                    over += u64::from(estimate as f64 > count as f64 + sketch.error());
                }
                let allowed = counts.len() as f64 * params.miss();
                assert!(
                    (over as f64) < allowed,
                    "{params:?}, skew {skew}: {over} of {allowed} allowed are over"
                );
            }
        }
    }
}

/// Keys that all come alike fill the counters evenly, so that the errors are known: those of one row are Poisson.
#[test]
fn plain_counters_hold_what_chance_puts_there() {
    let params = CountMinParams::with_shape(1_000, 1).unwrap().plain();
    let mut sketch = sketch(params);
    sketch.add_many(&(0..100_000u64).collect::<Vec<_>>());
    let strangers = 1_000_000..1_010_000u64;
    let sum: u64 = strangers.clone().map(|key| sketch.estimate(&key)).sum();
    let mean = sum as f64 / 10_000.0;
    // 100 on average, each stranger off by 10: the mean of ten thousand is off by less than one, and of the table by 0.3.
    assert!((mean - 100.0).abs() < 2.0, "{mean}");
}

#[test]
fn conservative_update_is_never_worse_than_plain() {
    let zipf = Zipf::new(20_000, 1.0);
    let stream: Vec<u64> = zipf.stream(2, 200_000).collect();
    let shape = CountMinParams::with_shape(8_000, 4).unwrap();
    let (mut conservative, mut plain) = (sketch(shape), sketch(shape.plain()));
    conservative.add_many(&stream);
    plain.add_many(&stream);
    let counts = zipf.counts(stream.into_iter());
    let errors = |sketch: &CountMin| -> Vec<u64> {
        counts.iter().enumerate().map(|(key, count)| sketch.estimate(&(key as u64)) - count).collect()
    };
    let (conservative, plain) = (errors(&conservative), errors(&plain));
    assert!(conservative.iter().zip(&plain).all(|(conservative, plain)| conservative <= plain));
    assert!(2 * conservative.iter().sum::<u64>() < plain.iter().sum());
}

#[test]
fn counters_stop_at_the_top_and_never_wrap() {
    for params in
        [CountMinParams::with_shape(1, 2).unwrap(), CountMinParams::with_shape(1, 2).unwrap().plain()]
    {
        let mut sketch = sketch(params);
        sketch.add_times("key", CountMin::<crate::store::Heap>::CEILING - 1);
        assert_eq!(sketch.estimate("key"), u64::from(u32::MAX) - 1);
        sketch.add_times("key", 5);
        sketch.add_times("key", u64::MAX);
        assert_eq!(sketch.estimate("key"), u64::from(u32::MAX));
        assert_eq!(sketch.total(), u64::MAX);
        let other = sketch.clone();
        sketch.union(&other).unwrap();
        assert_eq!(sketch.estimate("key"), u64::from(u32::MAX));
    }
}

#[test]
fn sketches_that_do_not_fit_are_not_merged() {
    let shape = CountMinParams::with_shape(100, 3).unwrap();
    let mut ours = of_keys(shape, b"abc");
    let before = ours.clone();
    let refused = [
        sketch(CountMinParams::with_shape(101, 3).unwrap()),
        sketch(CountMinParams::with_shape(100, 4).unwrap()),
        sketch(shape.plain()),
        CountMin::with_params(shape, Hasher::new(8)).unwrap(),
        CountMin::with_params(shape, Hasher::hardened(7)).unwrap(),
    ];
    for other in refused {
        assert!(matches!(
            ours.union(&other),
            Err(MergeError::Params { .. } | MergeError::Seed | MergeError::Hash { .. })
        ));
        assert_eq!(ours, before);
    }
}

proptest! {
    #[test]
    fn one_by_one_in_bulk_and_by_iterator_are_the_same(keys: Vec<u8>, width in 1u64..50, depth in 1u32..6, plain: bool) {
        let shape = CountMinParams::with_shape(width, depth).unwrap();
        let shape = if plain { shape.plain() } else { shape };
        let bulk = of_keys(shape, &keys);
        let mut single = sketch(shape);
        for key in &keys {
            single.add(key);
        }
        prop_assert_eq!(&single, &bulk);
        let mut extended = sketch(shape);
        extended.extend(keys.iter().copied());
        prop_assert_eq!(&extended, &bulk);
        let asked: Vec<u8> = (0..=255).collect();
        let estimates: Vec<u64> = asked.iter().map(|key| bulk.estimate(key)).collect();
        prop_assert_eq!(bulk.estimate_many(&asked), estimates);
        prop_assert_eq!(CountMin::from_bytes(&bulk.to_bytes()).unwrap(), bulk);
    }

    #[test]
    fn plain_sketches_of_parts_add_up_to_that_of_the_whole(a: Vec<u8>, b: Vec<u8>, width in 1u64..50, depth in 1u32..6) {
        let shape = CountMinParams::with_shape(width, depth).unwrap().plain();
        let mut merged = of_keys(shape, &a);
        merged.union(&of_keys(shape, &b)).unwrap();
        prop_assert_eq!(merged, of_keys(shape, &[a, b].concat()));
    }

    #[test]
    fn merged_conservative_sketches_keep_both_bounds(a: Vec<u8>, b: Vec<u8>, more: Vec<u8>, width in 1u64..50, depth in 1u32..6) {
        let shape = CountMinParams::with_shape(width, depth).unwrap();
        let mut merged = of_keys(shape, &a);
        merged.union(&of_keys(shape, &b)).unwrap();
        merged.add_many(&more);
        let whole = [a, b, more].concat();
        let plain = of_keys(shape.plain(), &whole);
        let mut counts: HashMap<u8, u64> = HashMap::new();
        for key in &whole {
            *counts.entry(*key).or_default() += 1;
        }
        for key in 0..=255u8 {
            let estimate = merged.estimate(&key);
            prop_assert!(estimate >= counts.get(&key).copied().unwrap_or(0));
            prop_assert!(estimate <= plain.estimate(&key));
        }
    }

    #[test]
    fn awkward_digests_are_counted_as_well(h1 in prop_oneof![Just(0), Just(1), Just(u64::MAX), any::<u64>()], times in 1u64..1000) {
        let mut sketch = sketch(CountMinParams::with_shape(1_000, 5).unwrap());
        sketch.add_digest(Digest::from(h1), times);
        prop_assert_eq!(sketch.estimate_digest(Digest::from(h1)), times);
    }
}

#[test]
fn a_mapped_sketch_answers_as_the_one_on_the_heap() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counts.gowk");
    let mut sketch = sketch(CountMinParams::with_shape(5_000, 4).unwrap());
    sketch.add_many(&(0..20_000u64).collect::<Vec<_>>());
    sketch.save(&path).unwrap();
    let mapped = CountMin::<Mapped>::open(&path).unwrap();
    assert_eq!(mapped, sketch);
    assert_eq!(mapped.total(), 20_000);
    assert_eq!(mapped.to_heap().unwrap(), sketch);
}

#[test]
fn forged_files_are_refused() {
    let bytes = of_keys(CountMinParams::with_shape(100, 3).unwrap(), b"abc").to_bytes();
    let word = |x: u64| x.to_le_bytes();
    assert!(CountMin::from_bytes(&crate::testing::forged(&bytes, 0, b"")).is_ok());
    for (what, offset, field) in [
        ("items", 24, word(99).to_vec()),
        ("rate", 32, word(0.5f64.to_bits()).to_vec()),
        ("width", 128, word(101).to_vec()),
        ("a width that no machine has", 128, word(u64::MAX).to_vec()),
        ("depth", 136, word(4)[..4].to_vec()),
        ("no depth", 136, word(0)[..4].to_vec()),
        ("way of updating", 140, vec![2]),
        ("reserved", 141, vec![1]),
    ] {
        let forged = crate::testing::forged(&bytes, offset, &field);
        assert!(CountMin::from_bytes(&forged).is_err(), "{what}");
    }
    assert!(matches!(crate::Bitmap::from_bytes(&bytes), Err(OpenError::Family { .. })));
}
