//! The promises of the summary, held against exact counts.

use super::*;
use crate::{
    error::MergeError,
    filter::Merge,
    format::Persist,
    hash::Hasher,
    sketch::zipf::Zipf,
    testing::{forged, key},
};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};

fn summary(params: TopKParams) -> TopK {
    TopK::with_params(params, Hasher::new(7)).unwrap()
}

/// A key of some length, from one byte to forty.
fn name(i: u64) -> Vec<u8> {
    let mut name = format!("{i:x}").into_bytes();
    name.resize(name.len() + (key(i) % 24) as usize, b'.');
    name
}

fn counted<'a>(keys: impl IntoIterator<Item = &'a Vec<u8>>) -> HashMap<Vec<u8>, u64> {
    let mut counts = HashMap::new();
    keys.into_iter().for_each(|key| *counts.entry(key.clone()).or_default() += 1);
    counts
}

/// Every bound that a summary states, held against the truth.
fn bounds_hold(summary: &TopK, truth: &HashMap<Vec<u8>, u64>) {
    assert_eq!(summary.total(), truth.values().sum::<u64>());
    for (key, &count) in truth {
        let estimate = summary.estimate(key);
        assert!(estimate.count >= count, "too low");
        assert!(estimate.count - estimate.error <= count, "not at least that many");
        assert!(estimate.error <= summary.error(), "{} is above {}", estimate.error, summary.error());
    }
    assert_eq!(summary.estimate("never came").count - summary.estimate("never came").error, 0);
    let k = summary.params().k() as usize;
    let mut counts: Vec<u64> = truth.values().copied().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let last = counts.get(k - 1).copied().unwrap_or(0);
    let top = summary.top();
    assert_eq!(top.len(), k.min(truth.len()));
    assert!(top.is_sorted_by(|a, b| a.count >= b.count));
    for heavy in &top {
        assert!(!heavy.sure || truth[&heavy.key] >= last, "{heavy:?} was sure");
    }
    let candidates = summary.candidates();
    let named: HashSet<&Vec<u8>> = candidates.keys.iter().map(|heavy| &heavy.key).collect();
    assert!(top.iter().filter(|heavy| heavy.sure).all(|heavy| named.contains(&heavy.key)));
    if candidates.complete {
        // All above the last of the k are named, and enough of those equal to it.
        assert!(truth.iter().filter(|(_, count)| **count > last).all(|(key, _)| named.contains(key)));
        let enough = named.iter().filter(|key| truth[**key] >= last).count();
        assert!(enough >= k.min(truth.len()));
    }
    // Whatever makes up a larger part than the bound is kept.
    for (key, _) in truth.iter().filter(|(_, count)| **count > summary.error()) {
        assert!(summary.keeps(key));
    }
}

fn params() -> impl Strategy<Value = TopKParams> {
    (1u64..20, 1u64..4).prop_flat_map(|(slots, cells)| {
        (1..=slots).prop_map(move |k| TopKParams::with_cells(k, slots, 8 * cells).unwrap())
    })
}

/// A few keys come often, some now and then.
fn keys() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let id = prop_oneof![3 => 0u64..5, 2 => 0u64..30, 1 => 0u64..300];
    prop::collection::vec(id.prop_map(name), 0..400)
}

proptest! {
    #[test]
    fn bounds_hold_for_any_stream(params in params(), keys in keys()) {
        let mut summary = summary(params);
        summary.add_many(&keys);
        bounds_hold(&summary, &counted(&keys));
    }

    #[test]
    fn bounds_hold_after_merges_and_more(params in params(), parts in prop::collection::vec(keys(), 1..4)) {
        let mut merged = summary(params);
        for part in &parts {
            let mut next = summary(params);
            next.add_many(part);
            merged.union(&next).unwrap();
            bounds_hold(&merged, &counted(parts.iter().take_while(|other| !std::ptr::eq(*other, part)).flatten().chain(part)));
        }
        merged.add_many(&parts[0]);
        bounds_hold(&merged, &counted(parts.iter().flatten().chain(&parts[0])));
    }

    #[test]
    fn merging_is_the_same_both_ways(params in params(), a in keys(), b in keys()) {
        let (mut ab, mut ba) = (summary(params), summary(params));
        ab.add_many(&a);
        ba.add_many(&b);
        let a = ab.clone();
        ab.union(&ba).unwrap();
        ba.union(&a).unwrap();
        prop_assert_eq!(ab, ba);
    }

    #[test]
    fn times_are_occurrences(params in params(), ids in prop::collection::vec((0u64..40, 0u64..9), 0..100)) {
        let mut times = summary(params);
        let mut truth: HashMap<Vec<u8>, u64> = HashMap::new();
        for (id, n) in ids {
            times.add_times(&name(id), n);
            if n > 0 {
                *truth.entry(name(id)).or_default() += n;
            }
        }
        bounds_hold(&times, &truth);
    }

    #[test]
    fn one_by_one_and_in_bulk_are_the_same(params in params(), keys in keys()) {
        let (mut bulk, mut single, mut extended) = (summary(params), summary(params), summary(params));
        bulk.add_many(&keys);
        for key in &keys {
            single.add(key);
        }
        extended.extend(&keys);
        prop_assert_eq!(&bulk, &single);
        prop_assert_eq!(&bulk, &extended);
    }

    #[test]
    fn a_summary_that_was_written_and_read_goes_on_as_the_one_that_was_not(params in params(), a in keys(), b in keys()) {
        let mut kept = summary(params);
        kept.add_many(&a);
        let bytes = kept.to_bytes();
        let mut read = TopK::from_bytes(&bytes).unwrap();
        prop_assert_eq!(&read, &kept);
        read.add_many(&b);
        kept.add_many(&b);
        prop_assert_eq!(&read, &kept);
        kept.clear();
        prop_assert_eq!(kept, summary(params));
    }
}

#[test]
fn equal_seeds_give_equal_summaries() {
    let keys: Vec<Vec<u8>> = Zipf::new(5_000, 1.0).stream(3, 50_000).map(name).collect();
    let of = |seed: u64| {
        let mut summary = TopK::with_params(TopKParams::for_k(20).unwrap(), Hasher::new(seed)).unwrap();
        summary.add_many(&keys);
        summary
    };
    assert_eq!(of(1).to_bytes(), of(1).to_bytes());
    assert_ne!(of(1), of(2));
}

/// Of the keys that truly came most often, the part that is named.
fn recall(skew: f64, params: TopKParams) -> f64 {
    let zipf = Zipf::new(100_000, skew);
    let stream: Vec<u64> = zipf.stream(4, 500_000).collect();
    let mut summary = summary(params);
    for key in &stream {
        summary.add(&key.to_le_bytes());
    }
    let counts = zipf.counts(stream.into_iter());
    let mut sorted = counts.clone();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let last = sorted[params.k() as usize - 1];
    let top = summary.top();
    let right = top.iter().filter(|heavy| {
        let key = u64::from_le_bytes(heavy.key.as_slice().try_into().unwrap());
        counts[key as usize] >= last
    });
    right.count() as f64 / params.k() as f64
}

#[test]
fn zipf_streams_give_up_their_top() {
    for (skew, k, least) in
        [(0.8, 10, 1.0), (0.8, 100, 0.9), (1.0, 10, 1.0), (1.0, 100, 0.97), (1.2, 10, 1.0), (1.2, 100, 1.0)]
    {
        let recall = recall(skew, TopKParams::for_k(k).unwrap());
        assert!(recall >= least, "skew {skew}, k {k}: {recall} of the top were named");
    }
}

#[test]
fn a_stream_of_different_keys_does_not_wear_it_out() {
    let mut summary = summary(TopKParams::with_slots(5, 50).unwrap());
    for i in 0..200_000u64 {
        summary.add(&name(i));
        if i % 10 == 0 {
            summary.add("the one that comes again");
        }
    }
    assert_eq!(summary.top()[0].key, b"the one that comes again");
    assert!(summary.top()[0].sure);
    // Keys that went are not kept in the arena.
    assert!(summary.size_in_bytes() < 50 * 300, "{}", summary.size_in_bytes());
}

#[test]
fn summaries_that_do_not_fit_are_not_merged() {
    let mut ours = summary(TopKParams::with_slots(5, 50).unwrap());
    ours.add("key");
    let before = ours.clone();
    for other in [
        summary(TopKParams::with_slots(6, 50).unwrap()),
        summary(TopKParams::with_slots(5, 51).unwrap()),
        summary(TopKParams::with_cells(5, 50, 80).unwrap()),
        TopK::with_params(TopKParams::with_slots(5, 50).unwrap(), Hasher::new(8)).unwrap(),
    ] {
        assert!(matches!(ours.union(&other), Err(MergeError::Params { .. } | MergeError::Seed)));
        assert_eq!(ours, before);
    }
}

#[test]
fn forged_files_are_refused() {
    let mut summary = summary(TopKParams::with_cells(2, 4, 8).unwrap());
    for (key, times) in [("alpha", 5), ("beta", 4), ("a longer key", 3)] {
        summary.add_times(key, times);
    }
    let bytes = summary.to_bytes();
    assert!(TopK::from_bytes(&forged(&bytes, 0, b"")).is_ok());
    let word = |x: u64| x.to_le_bytes().to_vec();
    // Parameters are 40 bytes at 128; the body begins at 192: four slots of 32 bytes, one line of cells, the keys.
    let (slots, cells, keys) = (192, 192 + 128, 192 + 192);
    for (what, offset, field) in [
        ("items", 24, word(5)),
        ("rate", 32, word(0.5f64.to_bits())),
        ("fewer came than were counted", 40, word(11)),
        ("k above the slots", 128, word(5)),
        ("no k", 128, word(0)),
        ("slots", 136, word(6)),
        ("slots that no machine has", 136, word(u64::MAX)),
        ("cells", 144, word(16)),
        ("odd cells", 144, word(7)),
        ("more in use", 152, word(4)),
        ("more in use than there are", 152, word(5)),
        ("fewer in use", 152, word(2)),
        ("key words", 160, word(1)),
        ("key words that no machine has", 160, word(u64::MAX)),
        ("a digest", slots, word(1)),
        ("no count", slots + 8, word(0)),
        ("a count above all", slots + 8, word(13)),
        ("an error above the count", slots + 16, word(5)),
        ("a place outside", slots + 24, word(9 << 32 | 5)),
        ("a place of another", slots + 24, word(1 << 32 | 4)),
        ("an endless key", slots + 24, word(0xffff_ffff)),
        ("a cell above the bound", cells, word(4)),
        ("another key", keys, b"omega".to_vec()),
    ] {
        assert!(TopK::from_bytes(&forged(&bytes, offset, &field)).is_err(), "{what}");
    }
    // The same key twice.
    let twice = forged(&bytes, slots + 32, &bytes[slots..slots + 32]);
    assert!(TopK::from_bytes(&twice).is_err());
    for cut in [0, 100, 150, 200, bytes.len() - 1] {
        assert!(TopK::from_bytes(&bytes[..cut]).is_err());
    }
}
