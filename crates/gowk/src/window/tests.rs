//! What a window promises, held against an exact sliding set and against its own formula.

use super::{Pace, Window, WindowParams};
use crate::{
    bloom::blocked::{Span, block_of, windows, words},
    builder::Build,
    error::{MergeError, ParamsError},
    filter::{Filter, Insert, Inserted, Merge},
    format::{AnyFilter, OpenError, Persist},
    hash::Hasher,
    simd::portable::mask,
    store::Line,
    testing::{binomial_band, members, strangers},
};
use proptest::prelude::*;
use std::time::{Duration, SystemTime};

fn by_count(items: u64, fpp: f64) -> Window {
    Window::builder().items(items).fpp(fpp).seed(1_000).build().unwrap()
}

fn by_time(items: u64, fpp: f64, ticks: u64) -> Window {
    Window::builder().items(items).fpp(fpp).seed(1_000).build_lasting(ticks).unwrap()
}

fn hits(window: &Window, trials: u64) -> u64 {
    let keys: Vec<u64> = strangers(trials).collect();
    window.may_contain_many(&keys).into_iter().map(u64::from).sum()
}

/// The bits that a window must have: every insert, if its block has turned fewer than G times since. Counts turns in its
/// own way: block b turns at the times when floor(time * blocks / step) passes b, b + blocks, b + 2 blocks, ...
fn exact_bits<S: crate::store::Store>(window: &Window<S>, inserts: &[(u64, u64)]) -> Vec<Line> {
    let params = window.params();
    let (span, generations) = (params.span() as usize, u64::from(params.generations()));
    let (blocks, step) =
        (u128::from(params.blocks()), u128::from(window.remembers().div_ceil(generations - 1)));
    let turns = |time: u64, block: usize| {
        let turned = u128::from(time) * blocks / step;
        ((turned + blocks - 1 - block as u128) / blocks) as u64
    };
    let mut lines = vec![Line::ZERO; params.lines() as usize];
    for &(time, key) in inserts {
        let digest = window.hasher().digest(&key);
        let block = block_of(digest, params.blocks() as usize);
        let then = turns(time, block);
        if turns(window.now(), block) - then < generations {
            let first = (block * generations as usize + (then % generations) as usize) * span;
            for (line, word) in lines[first..first + span].iter_mut().zip(words::<4>(digest)) {
                line.or(&mask(word, windows(params.lanes())));
            }
        }
    }
    lines
}

#[test]
fn the_promised_rate_is_kept_at_every_size() {
    for (items, fpp, filters) in [
        (1, 0.01, 100),
        (10, 0.01, 100),
        (1_000, 0.1, 100),
        (1_000, 0.01, 100),
        (1_000, 0.001, 100),
        (1_000_000, 0.01, 1),
    ] {
        let trials = 2_000_000 / filters;
        let filled = |seed| {
            let mut window = Window::builder().items(items).fpp(fpp).seed(seed).build().unwrap();
            window.extend(members(items * 5 / 2 + seed % items));
            hits(&window, trials)
        };
        let hits: u64 = (0..filters).map(filled).sum();
        let most = *binomial_band(trials * filters, 1.03 * fpp).end();
        assert!(hits <= most, "{hits} of at most {most} at {fpp} over {items} keys");
    }
}

#[test]
fn no_rate_is_kept_better_than_it_is_paid_for_at_any_time() {
    for (items, fpp) in [(20_000, 0.1), (20_000, 0.01), (50_000, 0.003), (50_000, 0.001)] {
        let mut window = by_count(items, fpp);
        let mut keys = members(u64::MAX);
        window.extend(keys.by_ref().take(2 * items as usize));
        for _ in 0..5 {
            // A fifth of a generation and a bit further each time.
            window.extend(keys.by_ref().take(items as usize / 34));
            let trials = 1_000_000;
            let hits = hits(&window, trials);
            let (least, most) =
                (*binomial_band(trials, 0.85 * fpp).start(), *binomial_band(trials, 1.06 * fpp).end());
            assert!((least..=most).contains(&hits), "{hits} in {trials} at {fpp}");
        }
    }
}

#[test]
fn false_positives_come_as_often_as_the_bits_say_and_the_formula() {
    for (span, lanes, generations) in
        [(Span::Line, 3, 8), (Span::Line, 8, 5), (Span::Pair, 4, 8), (Span::Quad, 2, 3)]
    {
        let items = 60_000 * span.lines();
        let params = WindowParams::with_shape(300, span, lanes, generations, items).unwrap();
        let mut window = Window::with_params(params, Hasher::new(u64::from(lanes))).unwrap();
        window.extend(members(3 * items));
        let trials = 2_000_000;
        let (hits, stats) = (hits(&window, trials), window.stats());
        let band = binomial_band(trials, stats.fpp_now);
        assert!(band.contains(&hits), "{span:?} {lanes}: {hits} in {trials}, expected {band:?} of the bits");
        let off = stats.fpp_now / params.promise().fpp;
        assert!((0.93..1.07).contains(&off), "{span:?} {lanes}: {off} of the formula");
        // On average half a generation more than the window.
        let held = items as f64 * (f64::from(generations) - 0.5) / f64::from(generations - 1);
        let keys = stats.estimated_items / held;
        assert!((0.97..1.03).contains(&keys), "{span:?} {lanes}: {keys} of the keys");
    }
}

#[test]
fn the_last_million_is_found_and_the_million_before_the_last_is_forgotten() {
    let mut window = by_count(1_000_000, 0.01);
    let keys: Vec<u64> = members(2_500_000).collect();
    window.insert_many(&keys);
    assert!(window.may_contain_many(&keys[1_500_000..]).into_iter().all(|found| found));
    let old = &keys[..(keys.len() as u64 - window.forgets()) as usize];
    let found: u64 = window.may_contain_many(old).into_iter().map(u64::from).sum();
    let most = *binomial_band(old.len() as u64, 0.0103).end();
    assert!(found <= most, "{found} of {} old keys are found", old.len());
}

#[test]
fn an_hour_is_remembered_to_the_second_and_forgotten_soon_after() {
    let mut window = by_time(10_000, 1e-6, 3_600);
    assert_eq!((window.pace(), window.remembers(), window.forgets()), (Pace::Ticks, 3_600, 515 * 8));
    for start in [0, 1, 100, 514, 515, 516, 7_777, 1_000_003] {
        window.advance(window.now() + start);
        let then = window.now();
        window.insert(&start);
        while window.now() < then + 3_600 {
            window.advance(window.now() + 100);
            assert!(window.now() > then + 3_600 || window.may_contain(&start));
        }
        window.advance(then + window.forgets());
        assert!(!window.may_contain(&start));
        assert!(window.lines().iter().all(|line| line.ones() == 0));
    }
}

#[test]
fn an_earlier_time_changes_nothing() {
    let mut window = by_time(100, 0.01, 60);
    window.insert_at(1_000, "key");
    let before = window.clone();
    window.advance(5);
    assert_eq!(window, before);
    assert_eq!(window.now(), 1_000);
}

#[test]
fn a_window_can_follow_the_time_of_day() {
    let mut window =
        Window::builder().items(100).fpp(1e-9).build_lasting_for(Duration::from_secs(60)).unwrap();
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    window.advance_to(now);
    window.insert("key");
    window.advance_to(now + Duration::from_secs(60));
    assert!(window.may_contain("key"));
    window.advance_to(now + Duration::from_secs(60 + 9));
    assert!(!window.may_contain("key"));
}

#[test]
fn a_window_over_no_time_is_refused() {
    let refused = Window::builder().items(10).build_lasting(0);
    assert!(matches!(refused, Err(ParamsError::OutOfRange { what: "ticks", .. })));
    assert!(Window::builder().items(10).build_lasting_for(Duration::from_micros(5)).is_err());
    assert!(Window::builder().items(10).build_lasting(u64::MAX).is_ok());
}

#[test]
fn a_key_that_comes_again_is_remembered_anew() {
    let mut window = by_count(70, 1e-9);
    for i in 0..1_000u64 {
        assert_eq!(window.insert("again"), if i == 0 { Inserted::New } else { Inserted::MaybeSeen });
        (0..60).for_each(|j| assert_eq!(window.insert(&(60 * i + j)), Inserted::New));
    }
}

#[test]
fn bulk_calls_do_as_single_ones() {
    for fpp in [0.01, 0.001, 1e-7] {
        let (mut one_by_one, mut bulk) = (by_count(1_000, fpp), by_count(1_000, fpp));
        let keys: Vec<u64> = members(4_321).collect();
        for key in &keys {
            one_by_one.insert(key);
        }
        bulk.insert_many(&keys);
        assert_eq!(one_by_one, bulk);
        let asked: Vec<u64> = keys.into_iter().chain(strangers(5_000)).collect();
        let answers: Vec<bool> = asked.iter().map(|key| bulk.may_contain(key)).collect();
        assert_eq!(bulk.may_contain_many(&asked), answers);
    }
}

#[test]
fn windows_that_do_not_fit_are_not_merged() {
    let mut ours = by_time(1_000, 0.01, 60);
    let other_seed = Window::builder().items(1_000).fpp(0.01).seed(2).build_lasting(60).unwrap();
    assert_eq!(ours.union(&other_seed), Err(MergeError::Seed));
    let length = Err(MergeError::Params { what: "the length of the window", ours: 60, theirs: 61 });
    assert_eq!(ours.union(&by_time(1_000, 0.01, 61)), length);
    assert!(matches!(ours.union(&by_time(9_000, 0.01, 60)), Err(MergeError::Params { what: "blocks", .. })));
    assert!(matches!(
        ours.union(&by_time(1_000, 0.001, 60)),
        Err(MergeError::Params { what: "lines per block", .. })
    ));
    let mut counted = by_count(60, 0.01);
    assert_eq!(counted.union(&by_time(60, 0.01, 60)), Err(MergeError::Order));
    assert_eq!(counted.union(&by_count(60, 0.01)), Err(MergeError::Order));
}

#[test]
fn a_file_mapped_or_loaded_goes_on_where_the_window_was() {
    let folder = tempfile::tempdir().unwrap();
    for fpp in [0.01, 0.001, 1e-7] {
        let mut timed = by_time(2_000, fpp, 977);
        members(6_000).zip(0u64..).for_each(|(key, time)| {
            timed.insert_at(time / 3, &key);
        });
        let mut counted = by_count(2_000, fpp);
        counted.extend(members(7_001));
        for mut window in [timed, counted] {
            let path = folder.path().join("recent.gowk");
            window.save(&path).unwrap();
            let mapped = Window::open(&path).unwrap();
            let mut loaded = Window::load(&path).unwrap();
            assert_eq!(loaded, window);
            assert_eq!(mapped, window);
            assert_eq!(mapped.params(), window.params());
            assert_eq!(mapped.to_heap().unwrap(), window);
            let any = AnyFilter::from_bytes(&window.to_bytes()).unwrap();
            assert_eq!(any.stats(), window.stats());
            let keys: Vec<u64> = members(7_000).chain(strangers(5_000)).collect();
            assert_eq!(mapped.may_contain_many(&keys), window.may_contain_many(&keys));
            for window in [&mut window, &mut loaded] {
                window.insert_many(&keys);
                window.advance(window.now() + 5);
            }
            assert_eq!(loaded, window);
        }
    }
}

/// The bytes with one replaced, and the checksum of the head set right again.
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
    let mut window = by_count(1_000, 0.01);
    window.extend(members(3_000));
    let bytes = window.to_bytes();
    assert!(Window::from_bytes(&patched(&bytes, 0, b'g')).is_ok());
    let wrong = [
        (128, 1),
        (135, 255),
        (136, 0),
        (136, 2),
        (136, 3),
        (137, 0),
        (137, 9),
        (138, 0),
        (138, 1),
        (138, 7),
        (138, 33),
        (139, 0),
        (139, 3),
        (140, 1),
        (143, 1),
        (144, 1),
        (151, 255),
        (10, 1),
        (10, 6),
    ];
    for (offset, byte) in wrong {
        let refused = Window::from_bytes(&patched(&bytes, offset, byte));
        assert!(
            matches!(refused, Err(OpenError::Field { .. } | OpenError::Params(_) | OpenError::Family { .. })),
            "byte {offset} = {byte}: {refused:?}"
        );
    }
    for cut in [0, 100, 128, 150, bytes.len() - 64, bytes.len() - 1] {
        assert!(Window::from_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    // Any time is possible; the end of time must not be a trap.
    let mut late = Window::from_bytes(&patched(&bytes, 159, 255)).unwrap();
    late.extend(members(10));
    assert!(members(10).all(|key| late.may_contain(&key)));
}

/// What may be done to a window.
#[derive(Clone, Debug)]
enum Op {
    Insert(u8),
    Bulk(Vec<u8>),
    Wait(u64),
    Reopen,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => any::<u8>().prop_map(Op::Insert),
        1 => proptest::collection::vec(any::<u8>(), 0..200).prop_map(Op::Bulk),
        2 => (0u64..30).prop_map(Op::Wait),
        1 => (0u64..2_000).prop_map(Op::Wait),
        1 => Just(Op::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_window_is_bit_for_bit_an_exact_sliding_set(
        ops in proptest::collection::vec(op(), 1..120),
        items in 1u64..300,
        ticks in proptest::option::of(1u64..200),
        generations in 2u32..12,
        fpp in prop_oneof![Just(0.2), Just(0.01), Just(0.001), Just(1e-7)],
    ) {
        let params = WindowParams::for_generations(generations, items, fpp).unwrap();
        let mut window = match ticks {
            Some(ticks) => Window::lasting(params, Hasher::new(5), ticks),
            None => Window::with_params(params, Hasher::new(5)),
        }.unwrap();
        let mut inserts: Vec<(u64, u64)> = Vec::new();
        for op in ops {
            match op {
                Op::Insert(key) => {
                    let inserted = window.insert(&key);
                    let known = inserts.iter().any(|&(time, k)| k == u64::from(key) && window.now() - time <= window.remembers());
                    prop_assert!(!known || inserted == Inserted::MaybeSeen);
                    inserts.push((window.now(), key.into()));
                }
                Op::Bulk(keys) => {
                    let (start, paced) = (window.now(), u64::from(ticks.is_none()));
                    window.insert_many(&keys);
                    inserts.extend((1..).zip(keys).map(|(i, key)| (start + i * paced, u64::from(key))));
                }
                Op::Wait(time) => window.advance(window.now() + time),
                Op::Reopen => window = Window::from_bytes(&window.to_bytes()).unwrap(),
            }
            for &(time, key) in &inserts {
                prop_assert!(window.now() - time > window.remembers() || window.may_contain(&key));
            }
            let now = window.now();
            inserts.retain(|&(time, _)| now - time < window.forgets());
            prop_assert_eq!(window.lines(), exact_bits(&window, &inserts));
        }
    }

    #[test]
    fn a_union_is_the_window_of_both(
        xs in proptest::collection::vec((0u64..300, any::<u16>()), 0..100),
        ys in proptest::collection::vec((0u64..300, any::<u16>()), 0..100),
        ours in 0u64..100,
        theirs in 0u64..100,
    ) {
        let fill = |mut inserts: Vec<(u64, u16)>, more: u64| {
            inserts.sort_unstable();
            let mut window = by_time(30, 0.01, 70);
            for (time, key) in inserts {
                window.insert_at(time, &key);
            }
            window.advance(window.now() + more);
            window
        };
        let (mut a, b) = (fill(xs.clone(), ours), fill(ys.clone(), theirs));
        let last = a.now().max(b.now());
        a.union(&b).unwrap();
        let mut both = fill([xs, ys].concat(), 0);
        both.advance(last);
        prop_assert_eq!(a, both);
    }
}
