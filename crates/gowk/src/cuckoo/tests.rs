//! What a cuckoo filter promises, held against a multiset.

use super::*;
use crate::testing::{binomial_band, key, members, strangers};
use proptest::prelude::*;
use std::collections::HashMap;

fn filled(params: CuckooParams, n: u64, seed: u64) -> Cuckoo {
    let mut filter = Cuckoo::with_params(params, Hasher::new(seed)).unwrap();
    for key in members(n) {
        filter.insert(&key).unwrap();
    }
    filter
}

#[test]
fn the_rate_is_the_one_asked_for_at_every_size() {
    for (n, seeds, trials) in
        [(1, 300, 20_000), (10, 200, 20_000), (1_000, 20, 100_000), (1_000_000, 1, 4_000_000)]
    {
        for fpp in [0.2, 0.01, 0.001] {
            let params = CuckooParams::for_fpp(n, fpp).unwrap();
            let expected = params.fpp_at(n);
            assert!(expected <= fpp);
            let mut hits = 0;
            for seed in 0..seeds {
                let filter = filled(params, n, seed);
                assert!(members(n).all(|key| filter.may_contain(&key)));
                hits += strangers(trials).filter(|key| filter.may_contain(key)).count() as u64;
            }
            let band = binomial_band(seeds * trials, expected);
            // Seeds with few keys differ by whole keys: one more or less of the same class.
            let (low, high) = if n < 1_000 {
                (band.start() * 9 / 10, band.end() * 11 / 10)
            } else {
                (*band.start(), *band.end())
            };
            assert!(
                (low..=high).contains(&hits),
                "{n} keys at {fpp}: {hits} of {}, expected {band:?}",
                seeds * trials
            );
        }
    }
}

#[test]
fn stats_tell_what_is_there() {
    let n = 100_000;
    let params = CuckooParams::for_fpp(n, 0.01).unwrap();
    let mut filter = filled(params, n, 3);
    let stats = filter.stats();
    assert!((stats.estimated_items / n as f64 - 1.0).abs() < 0.002, "{}", stats.estimated_items);
    assert!((stats.fpp_now / params.fpp_at(n) - 1.0).abs() < 0.01);
    assert!(stats.to_string().contains("never inserted"), "{stats}");
    // Keys that come again are no new ones.
    for key in members(n / 2) {
        filter.insert(&key).unwrap();
    }
    assert_eq!(filter.len(), n + n / 2);
    assert!((filter.stats().estimated_items / n as f64 - 1.0).abs() < 0.002);
}

#[test]
fn the_same_key_a_thousand_times_is_counted_and_removed_as_often() {
    let mut filter = Cuckoo::builder().items(100).fpp(0.01).seed(5).build().unwrap();
    for key in members(80) {
        filter.insert(&key).unwrap();
    }
    let before = filter.load();
    for _ in 0..1_000 {
        assert!(filter.insert("again").is_ok());
    }
    assert!(filter.load() - before < 0.03);
    assert_eq!((filter.len(), filter.count("again")), (1_080, 1_000));
    for left in (0..1_000).rev() {
        assert_eq!(filter.remove("again"), Removed::Gone);
        assert_eq!(filter.count("again"), left);
        assert_eq!(filter.may_contain("again"), left > 0);
    }
    assert_eq!(filter.remove("again"), Removed::Absent);
    assert_eq!(filter.len(), 80);
    assert!(members(80).all(|key| filter.may_contain(&key)));
}

#[test]
fn as_many_different_keys_fit_when_each_comes_twice() {
    let n = 20_000;
    for fpp in [0.3, 0.01, 1e-6] {
        let mut filter = Cuckoo::builder().items(n).fpp(fpp).seed(5).build().unwrap();
        let slots = filter.params().slots();
        for key in members(n) {
            filter.insert(&key).unwrap();
            filter.insert(&key).unwrap();
        }
        assert_eq!(filter.len(), 2 * n);
        assert_eq!(filter.params().slots(), slots, "it did not have to grow");
        for key in members(n).chain(members(n)) {
            assert_eq!(filter.remove(&key), Removed::Gone);
        }
        assert!(filter.is_empty());
        assert!(filter.lines().iter().all(|line| *line == Line::ZERO));
    }
}

#[test]
fn a_refused_insert_changes_nothing() {
    for shape in Shape::ALL {
        let params = CuckooParams::with_shape(shape, 1_200, 7, 3, 1).unwrap();
        let mut filter = Cuckoo::with_params(params, Hasher::new(1)).unwrap();
        let mut inside = Vec::new();
        let mut refused = 0;
        for i in 0..8_000 {
            let before = filter.clone();
            match filter.insert(&key(i)) {
                Ok(_) => inside.push(key(i)),
                Err(full) => {
                    assert_eq!(filter, before);
                    assert_eq!(full.items, filter.len());
                    refused += 1;
                }
            }
        }
        assert!(refused > 100, "{shape}: {refused}");
        assert_eq!(filter.len(), inside.len() as u64);
        assert!(inside.iter().all(|key| filter.may_contain(key)), "{shape}");
        // Removing makes room again.
        for key in &inside {
            assert_eq!(filter.remove(key), Removed::Gone, "{shape}");
        }
        assert!(filter.is_empty());
    }
}

#[test]
fn a_bulk_insert_stops_where_it_is_full() {
    let params = CuckooParams::with_shape(Shape::TwoByFour, 500, 7, 3, 1).unwrap();
    let keys: Vec<u64> = members(5_000).collect();
    let mut bulk = Cuckoo::with_params(params, Hasher::new(1)).unwrap();
    assert!(bulk.insert_many(&keys).is_err());
    let mut single = Cuckoo::with_params(params, Hasher::new(1)).unwrap();
    for key in &keys {
        if single.insert(key).is_err() {
            break;
        }
    }
    assert_eq!(bulk, single);
}

#[test]
fn bulk_and_single_calls_agree() {
    for shape in Shape::ALL {
        for fpp in [0.2, 0.01, 1e-7] {
            let params = CuckooParams::for_shape(shape, 3_000, fpp).unwrap();
            let keys: Vec<u64> = members(3_000).collect();
            let mut bulk = Cuckoo::with_params(params, Hasher::new(2)).unwrap();
            bulk.insert_many(&keys).unwrap();
            let single = filled(params, 3_000, 2);
            assert_eq!(bulk, single, "{shape} at {fpp}");
            let asked: Vec<u64> = (0..10_000).map(key).collect();
            let answers = bulk.may_contain_many(&asked);
            for (key, answer) in asked.iter().zip(answers) {
                assert_eq!(single.may_contain(key), answer);
                assert!(answer || !keys.contains(key));
            }
        }
    }
}

/// Near memory, far memory, and places too many for eight keys at once: tests have all three within some thousand keys. After growth and
/// shrinking, when places are in tags; any number of keys, at hand or one by one.
#[test]
fn however_many_are_asked_the_answers_are_those_of_single_lookups() {
    const COUNTS: [usize; 8] = [0, 1, 7, 8, 9, 64, 65, usize::MAX];
    for (n, fpp) in [(0, 0.01), (50, 0.01), (3_000, 0.3), (3_000, 0.01), (20_000, 1e-3), (90_000, 0.01)] {
        let made = CuckooParams::for_fpp(n.max(1), fpp).unwrap();
        let growing = CuckooParams::growing(n / 5 + 1, 2 * n + 1, fpp).unwrap();
        let large = CuckooParams::for_fpp(4 * n + 1, fpp).unwrap();
        for (params, shrunk) in [(made, false), (growing, false), (large, true)] {
            let mut filter = Cuckoo::with_params(params, Hasher::new(4)).unwrap();
            members(n).for_each(|key| {
                filter.insert(&key).unwrap();
            });
            if shrunk {
                filter.shrink_to_fit().unwrap();
            }
            let asked: Vec<u64> = members(n.min(400)).chain(strangers(400)).collect();
            let single: Vec<bool> = asked.iter().map(|key| filter.may_contain(key)).collect();
            // The same bytes, hashed the way of text.
            let bytes: Vec<[u8; 8]> = asked.iter().map(|key| key.to_le_bytes()).collect();
            for (isa, count) in Isa::available().into_iter().flat_map(|isa| COUNTS.map(|count| (isa, count)))
            {
                filter.isa = isa;
                let count = count.min(asked.len());
                assert_eq!(filter.may_contain_many(&asked[..count]), single[..count], "{n} keys at {fpp}");
                assert_eq!(filter.may_contain_many(&bytes[..count]), single[..count]);
                let mut streamed = alloc::vec![false; count];
                filter.answer(asked.iter().map(|key| filter.hasher().digest(key)), &mut streamed);
                assert_eq!(streamed, single[..count]);
            }
        }
    }
}

#[test]
fn a_made_filter_takes_all_the_keys_it_was_made_for() {
    for n in (1..60).chain([100, 300, 1_000, 30_000]) {
        for fpp in [0.4, 0.05, 0.01] {
            let params = CuckooParams::for_fpp(n, fpp).unwrap();
            for seed in 0..(20_000 / n).clamp(1, 300) {
                let filter = filled(params, n, seed);
                assert_eq!(filter.len(), n);
                assert_eq!(filter.params().promise(), params.promise());
            }
        }
    }
}

/// What is promised about any sequence of calls, held against a multiset.
fn behaves_like_a_multiset(params: CuckooParams, steps: &[(u8, u16)]) -> Result<(), TestCaseError> {
    let mut filter = Cuckoo::with_params(params, Hasher::new(7)).unwrap();
    let mut model: HashMap<u16, u64> = HashMap::new();
    for &(step, id) in steps {
        match step {
            // A few keys often, many rarely.
            0..100 => {
                let id = if step < 50 { id % 8 } else { id % 3_000 };
                let seen = filter.may_contain(&id);
                match filter.insert(&id) {
                    Ok(inserted) => {
                        *model.entry(id).or_default() += 1;
                        prop_assert_eq!(inserted == Inserted::MaybeSeen, seen);
                    }
                    Err(full) => prop_assert_eq!(full.items, filter.len()),
                }
            }
            100..180 => {
                let id = if step < 140 { id % 8 } else { id % 3_000 };
                if model.get(&id).is_some_and(|count| *count > 0) {
                    prop_assert_eq!(filter.remove(&id), Removed::Gone);
                    *model.get_mut(&id).unwrap() -= 1;
                } else if !filter.may_contain(&id) {
                    prop_assert_eq!(filter.remove(&id), Removed::Absent);
                }
            }
            180..183 => {
                filter.grow().ok();
            }
            183..190 => {
                filter.shrink_to_fit().unwrap();
            }
            190 => {
                filter = crate::Persist::from_bytes(&crate::Persist::to_bytes(&filter)).unwrap();
            }
            _ => {
                let id = id % 3_000;
                let count = model.get(&id).copied().unwrap_or(0);
                prop_assert!(filter.may_contain(&id) || count == 0);
                prop_assert!(filter.count(&id) >= count);
            }
        }
        prop_assert_eq!(filter.len(), model.values().sum::<u64>());
    }
    for (id, count) in &model {
        prop_assert!(*count == 0 || filter.may_contain(id));
    }
    // All out again: nothing is left.
    for (id, count) in &model {
        for _ in 0..*count {
            prop_assert_eq!(filter.remove(id), Removed::Gone);
        }
    }
    prop_assert_eq!((filter.len(), filter.counts.stacked), (0, 0));
    prop_assert!(filter.lines().iter().all(|line| *line == Line::ZERO));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_sequence_of_calls_behaves_like_a_multiset(
        steps in prop::collection::vec(any::<(u8, u16)>(), 0..3_000),
        shape in prop::sample::select(Shape::ALL.to_vec()),
        buckets in 1u64..300, print in 4u32..9, spare in 0u32..10, items in 1u64..2_000,
    ) {
        let buckets = buckets.next_multiple_of(12);
        behaves_like_a_multiset(CuckooParams::with_shape(shape, buckets, print, spare, items).unwrap(), &steps)?;
    }
}

/// The load before the first refusal, at a million slots.
fn first_refusal(shape: Shape, print: u32, spare: u32, seed: u64) -> f64 {
    let buckets = ((1u64 << 20) / shape.slots()).next_multiple_of(12);
    let params = CuckooParams::with_shape(shape, buckets, print, spare, 1).unwrap();
    let mut filter = Cuckoo::with_params(params, Hasher::new(seed)).unwrap();
    let _ = (0..2u64 << 20).map(key).find(|key| filter.insert(key).is_err());
    filter.load()
}

#[test]
fn doc_table_of_loads_is_true() {
    for (shape, print, spare, load, within) in [
        (Shape::TwoByFour, 7, 9, 0.973, 0.004),
        (Shape::TwoByTwo, 7, 9, 0.883, 0.006),
        (Shape::TwoByOne, 16, 0, 0.50, 0.02),
        (Shape::ThreeByOne, 16, 0, 0.90, 0.01),
        (Shape::FourByOne, 16, 0, 0.963, 0.01),
        (Shape::FourByTwo, 7, 9, 0.993, 0.004),
    ] {
        let reached = first_refusal(shape, print, spare, 1);
        assert!((reached - load).abs() < within, "{shape} reached {reached}, not {load}");
    }
}

#[test]
fn single_slots_with_short_prints_fill_badly() {
    let reached = first_refusal(Shape::TwoByOne, 7, 9, 1);
    assert!((0.05..0.40).contains(&reached), "{reached}");
}

#[test]
fn an_observed_insert_does_the_same_and_its_steps_lead_there() {
    for shape in Shape::ALL {
        let params = CuckooParams::with_shape(shape, 240, 7, 3, 1).unwrap();
        let mut plain = Cuckoo::with_params(params, Hasher::new(3)).unwrap();
        let mut watched = plain.clone();
        let table = |filter: &Cuckoo| -> Vec<Vec<u32>> {
            (0..filter.params().buckets()).map(|bucket| filter.bucket(bucket)).collect()
        };
        let mut model = table(&watched);
        let mut moves = 0;
        for key in members(1_000).flat_map(|key| [key, key, key]) {
            let mut steps = Vec::new();
            let outcome = watched.insert_observed(&key, &mut steps);
            assert_eq!(outcome, plain.insert(&key));
            for step in steps {
                match step {
                    Step::Looked { bucket, full } => {
                        assert_eq!(full, model[bucket as usize].iter().all(|tag| *tag != 0));
                    }
                    Step::Moved { from, to, tag } => {
                        moves += 1;
                        assert_eq!(model[to.bucket as usize][to.slot as usize], 0);
                        model[from.bucket as usize][from.slot as usize] = 0;
                        model[to.bucket as usize][to.slot as usize] = tag;
                    }
                    Step::Placed { at, tag } => {
                        assert_eq!(model[at.bucket as usize][at.slot as usize], 0);
                        assert!(watched.candidates(&key).contains(&(at.bucket, tag)));
                        model[at.bucket as usize][at.slot as usize] = tag;
                    }
                    Step::Counted => assert!(plain.counted() > 0),
                    Step::Swept | Step::Doubled => model = table(&watched),
                }
                if matches!(step, Step::Swept | Step::Doubled) {
                    // What followed is already in the table.
                    break;
                }
            }
            assert_eq!(model, table(&watched));
            assert_eq!(watched, plain);
            if outcome.is_err() {
                break;
            }
        }
        assert!(moves > 0, "{shape}");
    }
}
