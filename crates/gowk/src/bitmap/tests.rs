//! The promises of all integer sets, held against `BTreeSet` and `BTreeMap`.

use super::*;
use crate::{
    error::{MergeError, OutOfRange, ParamsError},
    filter::Merge,
    format::{AnyFilter, OpenError, Persist},
    store::Mapped,
    testing::{forged, key},
};
use proptest::prelude::*;
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// Short ranges at awkward places: inside a line, over its edges, far out, at the very end.
fn ranges() -> impl Strategy<Value = Range<u64>> {
    let start =
        prop_oneof![Just(0), 0..3000u64, Just(5_000_000_000), Just(u64::MAX - 3000), Just((1 << 32) - 700)];
    (start, 1..2500u64).prop_map(|(start, len)| start..start.saturating_add(len))
}

#[derive(Clone, Debug)]
enum Step {
    Insert(u64),
    Remove(u64),
    InsertMany(Vec<u64>),
}

/// Steps on ids of a range, and now and then on one outside.
fn steps(range: Range<u64>) -> impl Strategy<Value = Vec<Step>> {
    let id = prop_oneof![9 => range.clone(), 1 => any::<u64>(), 1 => Just(range.end), 1 => Just(range.start.wrapping_sub(1))];
    let step = prop_oneof![
        id.clone().prop_map(Step::Insert),
        id.prop_map(Step::Remove),
        prop::collection::vec(range, 0..200).prop_map(Step::InsertMany),
    ];
    prop::collection::vec(step, 0..40)
}

fn ranged_steps() -> impl Strategy<Value = (Range<u64>, Vec<Step>)> {
    ranges().prop_flat_map(|range| (Just(range.clone()), steps(range)))
}

/// Takes the steps on a set and on the model, and holds each answer against the model's.
fn take_steps(set: &mut impl IntegerSetMut, steps: &[Step]) -> BTreeSet<u64> {
    let range = set.range();
    let mut model = BTreeSet::new();
    for step in steps {
        match step {
            Step::Insert(id) if !range.contains(id) => {
                assert_eq!(set.insert(*id), Err(OutOfRange { id: *id, start: range.start, end: range.end }));
            }
            Step::Insert(id) => assert_eq!(set.insert(*id), Ok(model.insert(*id))),
            Step::Remove(id) => assert_eq!(set.remove(*id), model.remove(id)),
            Step::InsertMany(ids) => {
                set.insert_many(ids).unwrap();
                model.extend(ids);
            }
        }
    }
    model
}

/// All questions that a set answers, held against the model.
fn answers_as_the_model(set: &impl IntegerSet, model: &BTreeSet<u64>) {
    let range = set.range();
    assert!(set.iter().eq(model.iter().copied()));
    assert_eq!(set.len(), model.len() as u64);
    assert_eq!(set.is_empty(), model.is_empty());
    let around =
        (range.start.saturating_sub(70)..range.start + 70).chain(range.end - 1..range.end.saturating_add(70));
    let asked: Vec<u64> = around.chain(model.iter().copied()).chain([0, u64::MAX]).collect();
    let expected: Vec<bool> = asked.iter().map(|id| model.contains(id)).collect();
    assert_eq!(asked.iter().map(|id| set.contains(*id)).collect::<Vec<_>>(), expected);
    assert_eq!(set.contains_many(&asked), expected);
    for id in asked.iter().step_by(7) {
        assert_eq!(set.rank(*id), model.range(..id).count() as u64, "rank of {id}");
        assert_eq!(
            set.count_in(*id..id.saturating_add(100)),
            model.range(id..&id.saturating_add(100)).count() as u64
        );
    }
    for n in [0, 1, model.len() / 2, model.len().saturating_sub(1), model.len()] {
        assert_eq!(set.select(n as u64), model.iter().nth(n).copied(), "select {n}");
    }
}

proptest! {
    #[test]
    fn a_flat_set_answers_as_the_model((range, steps) in ranged_steps()) {
        let mut set = Bitmap::new(range).unwrap();
        let model = take_steps(&mut set, &steps);
        answers_as_the_model(&set, &model);
        let ranks = set.ranks();
        prop_assert_eq!(ranks.len(), model.len() as u64);
        let range = set.range();
        for id in (range.start.saturating_sub(3)..range.end.saturating_add(3)).step_by(13) {
            prop_assert_eq!(ranks.rank(id), model.range(..id).count() as u64);
        }
        for (n, id) in model.iter().enumerate().step_by(5) {
            prop_assert_eq!(ranks.select(n as u64), Some(*id));
        }
        prop_assert_eq!(ranks.select(model.len() as u64), None);
        set.clear();
        prop_assert!(set.is_empty());
    }

    #[cfg(feature = "roaring")]
    #[test]
    fn a_roaring_set_answers_as_the_model((range, steps) in ranged_steps()) {
        let mut set = RoaringSet::new(range).unwrap();
        let model = take_steps(&mut set, &steps);
        answers_as_the_model(&set, &model);
        let flat = Bitmap::try_from(&set).unwrap();
        answers_as_the_model(&flat, &model);
        prop_assert_eq!(RoaringSet::from(&flat), set);
    }

    #[test]
    fn ranges_go_in_and_out_as_their_ids_do(range in ranges(), inside: [u16; 4]) {
        let len = range.end - range.start;
        let at = |x: u16| range.start + u64::from(x) % (len + 1);
        let (a, b) = (at(inside[0]).min(at(inside[1])), at(inside[0]).max(at(inside[1])));
        let (c, d) = (at(inside[2]).min(at(inside[3])), at(inside[2]).max(at(inside[3])));
        let mut set = Bitmap::new(range.clone()).unwrap();
        set.insert_range(a..b).unwrap();
        set.remove_range(c..d);
        let model: BTreeSet<u64> = (a..b).filter(|id| !(c..d).contains(id)).collect();
        answers_as_the_model(&set, &model);
        prop_assert!(set.iter_in(a..d).eq(model.iter().copied().filter(|id| (a..d).contains(id))));
        if range.end < u64::MAX {
            prop_assert!(set.insert_range(range.start..range.end + 1).is_err());
        }
        prop_assert_eq!(set.len(), model.len() as u64);
    }

    #[test]
    fn set_algebra_is_that_of_the_model(
        (range, steps) in ranged_steps(),
        (other, more) in ranged_steps(),
        same_range: bool,
        forms: [bool; 2],
    ) {
        let other = if same_range { range.clone() } else { other };
        let make = |range: &Range<u64>, roaring: bool| {
            #[cfg(feature = "roaring")]
            if roaring {
                return IdSet::Roaring(RoaringSet::new(range.clone()).unwrap());
            }
            let _ = roaring;
            IdSet::Flat(Bitmap::new(range.clone()).unwrap())
        };
        let (mut a, mut b) = (make(&range, forms[0]), make(&other, forms[1]));
        let in_a = take_steps(&mut a, &steps);
        let more: Vec<Step> = more.into_iter().filter(|_| !same_range).chain(if same_range { steps } else { vec![] }).collect();
        let in_b = take_steps(&mut b, &more);

        let mut and = a.clone();
        and.intersect(&b);
        answers_as_the_model(&and, &in_a.intersection(&in_b).copied().collect());
        let mut and_not = a.clone();
        and_not.subtract(&b);
        answers_as_the_model(&and_not, &in_a.difference(&in_b).copied().collect());

        let fits = in_b.iter().all(|id| range.contains(id));
        let (mut or, mut xor) = (a.clone(), a.clone());
        let results = (or.union(&b), xor.xor(&b));
        if fits {
            prop_assert_eq!(results, (Ok(()), Ok(())));
            answers_as_the_model(&or, &in_a.union(&in_b).copied().collect());
            answers_as_the_model(&xor, &in_a.symmetric_difference(&in_b).copied().collect());
        } else {
            prop_assert!(matches!(results, (Err(MergeError::OutOfRange(_)), Err(MergeError::OutOfRange(_)))));
            answers_as_the_model(&or, &in_a);
            answers_as_the_model(&xor, &in_a);
        }
        if let (IdSet::Flat(a), IdSet::Flat(b)) = (&a, &b) {
            prop_assert_eq!(a.intersection_len(b), in_a.intersection(&in_b).count() as u64);
        }
    }

    #[test]
    fn a_two_bit_map_counts_as_the_model_up_to_two(
        (range, values, more) in ranges().prop_flat_map(|range| {
            let values = prop::collection::vec(range.clone(), 0..300);
            (Just(range), values.clone(), values)
        })
    ) {
        let mut map = TwoBitMap::new(range.clone()).unwrap();
        let mut model: BTreeMap<u64, u32> = BTreeMap::new();
        for value in &values {
            let count = model.entry(*value).or_default();
            prop_assert_eq!(map.add(*value), Ok(seen(*count)));
            *count += 1;
        }
        let holds = |map: &TwoBitMap, model: &BTreeMap<u64, u32>| {
            for value in range.start.saturating_sub(3)..range.end.saturating_add(3) {
                assert_eq!(map.state(value), seen(model.get(&value).copied().unwrap_or(0)), "{value}");
            }
            for cut in [range.start, range.start.midpoint(range.end), range.end] {
                assert!(map.once_in(0..cut).chain(map.once_in(cut..u64::MAX)).eq(map.once()), "{cut}");
            }
            assert!(map.once().eq(model.iter().filter(|(_, count)| **count == 1).map(|(value, _)| *value)));
            assert!(map.more().eq(model.iter().filter(|(_, count)| **count > 1).map(|(value, _)| *value)));
            let counts = map.counts();
            assert_eq!(counts.once + counts.more, model.len() as u64);
            assert_eq!(counts.never + counts.once + counts.more, range.end - range.start);
        };
        holds(&map, &model);

        let mut second = TwoBitMap::new(range.clone()).unwrap();
        second.add_many(&more).unwrap();
        map.union(&second).unwrap();
        for value in &more {
            *model.entry(*value).or_default() += 1;
        }
        holds(&map, &model);

        let outside = OutOfRange { id: range.end, start: range.start, end: range.end };
        let mut stray = more.clone();
        stray.push(range.end);
        prop_assert_eq!(map.add(range.end), Err(outside));
        prop_assert_eq!(map.add_many(&stray), Err(outside));
        holds(&map, &model);
        prop_assert_eq!(second.add_those_inside(&stray), more.len() as u64);
        prop_assert!(second.once().next().is_none());
        prop_assert_eq!(TwoBitMap::from_bytes(&map.to_bytes()).unwrap(), map);
    }

    #[test]
    fn decoding_gives_back_what_was_encoded((range, steps) in ranged_steps()) {
        let mut set = Bitmap::new(range).unwrap();
        take_steps(&mut set, &steps);
        let bytes = set.to_bytes();
        let again = Bitmap::from_bytes(&bytes).unwrap();
        prop_assert_eq!(&again, &set);
        prop_assert_eq!(again.to_bytes(), bytes);
    }
}

fn seen(count: u32) -> Seen {
    match count {
        0 => Seen::Never,
        1 => Seen::Once,
        _ => Seen::More,
    }
}

#[test]
fn a_hundred_million_users_take_twelve_and_a_half_megabytes() {
    let set = Bitmap::new(0..100_000_000).unwrap();
    assert_eq!(set.size_in_bytes(), 12_500_032);
    assert!(!set.contains(99_999_999));
}

#[test]
fn maps_of_different_ranges_are_not_merged() {
    let mut map = TwoBitMap::new(0..100).unwrap();
    let other = TwoBitMap::new(0..101).unwrap();
    assert_eq!(
        map.union(&other),
        Err(MergeError::Params { what: "the end of the range", ours: 100, theirs: 101 })
    );
}

#[test]
fn an_empty_range_has_no_set() {
    assert!(matches!(Bitmap::new(5..5), Err(ParamsError::NoItems)));
    assert!(matches!(TwoBitMap::new(5..5), Err(ParamsError::NoItems)));
    assert!(matches!(IdSet::for_range(5..5, 1), Err(ParamsError::NoItems)));
}

#[test]
fn a_bulk_insert_with_one_id_outside_changes_nothing() {
    let mut set = IdSet::for_range(0..1000, 10).unwrap();
    assert!(set.insert_many(&[1u32, 2, 1000]).is_err());
    assert!(set.is_empty());
}

#[test]
fn a_mapped_set_answers_as_the_one_on_the_heap() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ids.gowk");
    let range = 4_294_967_000..4_296_000_000;
    let ids: Vec<u64> = (0..50_000).map(|i| range.start + key(i) % (range.end - range.start)).collect();

    let mut set = Bitmap::new(range.clone()).unwrap();
    set.insert_many(&ids).unwrap();
    set.save(&path).unwrap();
    let mapped = Bitmap::<Mapped>::open(&path).unwrap();
    assert_eq!(mapped, set);
    assert_eq!(mapped.len(), set.len());
    assert!(mapped.contains_many(&ids).iter().all(|found| *found));
    assert_eq!(mapped.to_heap().unwrap(), set);

    let mut map = TwoBitMap::new(range).unwrap();
    map.add_many(&ids).unwrap();
    map.save(&path).unwrap();
    let mapped = TwoBitMap::<Mapped>::open(&path).unwrap();
    assert_eq!(mapped, map);
    assert_eq!(mapped.counts(), map.counts());
    assert!(matches!(Bitmap::<Mapped>::open(&path), Err(OpenError::Family { .. })));
}

#[test]
fn forged_files_are_refused() {
    let mut set = Bitmap::new(1000..3000).unwrap();
    set.insert_range(1500..1600).unwrap();
    let bytes = set.to_bytes();
    assert!(Bitmap::from_bytes(&forged(&bytes, 0, b"")).is_ok());
    let word = |x: u64| x.to_le_bytes();
    for (what, offset, field) in [
        ("family", 10, word(0)[..2].to_vec()),
        ("items", 24, word(1999).to_vec()),
        ("keys", 40, word(2001).to_vec()),
        ("start", 128, word(1001).to_vec()),
        ("start after the end", 128, word(3001).to_vec()),
        ("end", 136, word(u64::MAX).to_vec()),
        ("a bit before the range", 192, word(1)[..1].to_vec()),
        ("a bit behind the range", bytes.len() - 1, word(0x80)[..1].to_vec()),
    ] {
        assert!(Bitmap::from_bytes(&forged(&bytes, offset, &field)).is_err(), "{what}");
    }
    for cut in [0, 7, 100, 130, 191, 192, bytes.len() - 1] {
        assert!(Bitmap::from_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    assert!(matches!(AnyFilter::from_bytes(&bytes), Err(OpenError::Family { .. })));
    assert!(matches!(TwoBitMap::from_bytes(&bytes), Err(OpenError::Family { .. })));
}

#[cfg(feature = "roaring")]
#[test]
fn roaring_keeps_its_own_format() {
    let mut set = RoaringSet::new(0..u64::MAX).unwrap();
    set.insert_many(&[1u64, 1 << 33, 7]).unwrap();
    let mut bytes = Vec::new();
    set.serialize_into(&mut bytes).unwrap();
    let theirs = ::roaring::RoaringTreemap::deserialize_from(&bytes[..]).unwrap();
    assert!(theirs.iter().eq([1, 7, 1 << 33]));
    assert_eq!(RoaringSet::deserialize_from(0..u64::MAX, &bytes[..]).unwrap(), set);
    assert!(RoaringSet::deserialize_from(0..100, &bytes[..]).is_err());
    assert!(RoaringSet::deserialize_from(0..u64::MAX, &bytes[..20]).is_err());
}

#[cfg(feature = "roaring")]
#[test]
fn the_rule_picks_by_density_and_size() {
    let form = |range: Range<u64>, count| IdSet::for_range(range, count).unwrap().form();
    assert_eq!(form(0..100_000_000, 1_000_000), Form::Flat);
    assert_eq!(form(0..100_000_000, 999_999), Form::Roaring);
    assert_eq!(form(5_000_000_000..5_000_500_000, 1), Form::Flat);
    assert_eq!(form(0..u64::MAX, 1_000_000), Form::Roaring);
}
