//! The lab against the library: the same keys, the same bits, the same answers.

use super::story::{Lab, Story};
use gowk::{
    BlockedBloom, BlockedParams, Bloom, BloomParams, Build, CountingBloom, CountingParams, Cuckoo,
    CuckooParams, Filter, Hasher, Insert, Remove, Scheme, bloom::blocked::Span, cuckoo::Shape,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn story(filter: &Value, events: &[(&str, String)]) -> Story {
    serde_json::from_value(json!({ "filter": filter, "seed": 7, "events": events })).unwrap()
}

fn frames(story: &Story) -> Vec<Value> {
    let mut lab = story.checked().unwrap().lab().unwrap();
    story.events().map(|event| lab.frame(event)).collect()
}

fn lived(filter: &Value, events: &[(&str, &str)]) -> Vec<Value> {
    let events: Vec<(&str, String)> = events.iter().map(|(deed, key)| (*deed, (*key).to_owned())).collect();
    frames(&story(filter, &events))
}

fn bits_of(lines: &[gowk::store::Line], cells: usize) -> String {
    let words = lines.iter().flat_map(|line| line.0);
    let bits = words.flat_map(|word| (0..64).map(move |i| if word >> i & 1 == 1 { '1' } else { '0' }));
    bits.take(cells).collect()
}

/// A story of few keys, so that they meet again.
fn events() -> impl Strategy<Value = Vec<(bool, u8)>> {
    prop::collection::vec((any::<bool>(), 0u8..40), 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn bits_are_the_librarys(told in events(), words in 1u64..5, probes in 1u32..8) {
        let told: Vec<(&str, String)> = told.into_iter().map(|(put, key)| (if put { "insert" } else { "ask" }, format!("k{key}"))).collect();
        let params = BloomParams::with_shape(64 * words, probes, Scheme::Enhanced, 1).unwrap();
        let mut classic = Bloom::with_params(params, Hasher::new(7)).unwrap();
        let mut blocked = BlockedBloom::with_params(BlockedParams::with_shape(words, Span::Line, probes, 1).unwrap(), Hasher::new(7)).unwrap();
        let in_classic = frames(&story(&json!({"kind": "bloom", "bits": 64 * words, "probes": probes}), &told));
        let in_blocked = frames(&story(&json!({"kind": "blocked", "lines": words, "probes": probes}), &told));
        for (i, (deed, key)) in told.iter().enumerate() {
            if *deed == "insert" {
                classic.insert(key);
                blocked.insert(key);
            } else {
                for (frame, answer) in [(&in_classic[i], classic.may_contain(key)), (&in_blocked[i], blocked.may_contain(key))] {
                    let outcome = frame["outcome"].as_str().unwrap();
                    prop_assert_eq!(answer, outcome == "found" || outcome == "false positive");
                    prop_assert_ne!(outcome, "lost");
                }
            }
            prop_assert_eq!(in_classic[i]["cells"].as_str().unwrap(), bits_of(classic.lines(), 64 * words as usize));
            prop_assert_eq!(in_blocked[i]["cells"].as_str().unwrap(), bits_of(blocked.lines(), 512 * words as usize));
            prop_assert_eq!(&in_classic[i]["stats"]["fpp_now"], &json!(classic.stats().fpp_now));
            prop_assert_eq!(&in_blocked[i]["stats"]["estimated_items"], &json!(blocked.stats().estimated_items));
        }
    }

    #[test]
    fn counters_are_the_librarys(told in prop::collection::vec((0u8..3, 0u8..30), 1..60), probes in 1u32..8) {
        let deeds = ["insert", "ask", "remove"];
        let told: Vec<(&str, String)> = told.into_iter().map(|(deed, key)| (deeds[usize::from(deed)], format!("k{key}"))).collect();
        let params = CountingParams::with_shape(1, Span::Line, probes, 1).unwrap();
        let mut filter = CountingBloom::with_params(params, Hasher::new(7)).unwrap();
        let frames = frames(&story(&json!({"kind": "counting", "lines": 1, "probes": probes}), &told));
        for ((deed, key), frame) in told.iter().zip(&frames) {
            match *deed {
                "insert" => { filter.insert(key); }
                "remove" => { filter.remove(key); }
                _ => prop_assert_eq!(filter.may_contain(key), ["found", "false positive"].contains(&frame["outcome"].as_str().unwrap())),
            }
            let counters: String = filter.lines().iter().flat_map(|line| line.0)
                .flat_map(|word| (0..16).map(move |i| char::from_digit((word >> (4 * i) & 15) as u32, 16).unwrap())).collect();
            prop_assert_eq!(frame["cells"].as_str().unwrap(), counters);
            prop_assert_eq!(&frame["estimate"], &json!(filter.estimate(key)));
        }
    }

    #[test]
    fn nests_are_the_librarys(told in prop::collection::vec((0u8..4, 0u8..40), 1..80), shape in 0usize..6) {
        let deeds = ["insert", "insert", "ask", "remove"];
        let told: Vec<(&str, String)> = told.into_iter().map(|(deed, key)| (deeds[usize::from(deed)], format!("k{key}"))).collect();
        let shape = Shape::ALL[shape];
        let params = CuckooParams::with_shape(shape, 12, 8, 0, 1).unwrap();
        let mut filter = Cuckoo::with_params(params, Hasher::new(7)).unwrap();
        let kind = json!({"kind": "cuckoo", "nests": shape.candidates(), "slots": shape.slots(), "buckets": 12, "width": 8});
        let frames = frames(&story(&kind, &told));
        for ((deed, key), frame) in told.iter().zip(&frames) {
            match *deed {
                "insert" => prop_assert_eq!(filter.insert(key).is_err(), frame["outcome"] == "full"),
                "remove" => { filter.remove(key); }
                _ => prop_assert_eq!(filter.may_contain(key), ["found", "false positive"].contains(&frame["outcome"].as_str().unwrap())),
            }
            let table: Vec<Vec<u32>> = (0..12).map(|bucket| filter.bucket(bucket)).collect();
            prop_assert_eq!(&frame["table"], &json!(table));
            prop_assert_eq!(&frame["stats"]["len"], &json!(filter.len()));
            // Every fingerprint has a name, unless a stranger's removal has mixed them up.
            if told.iter().all(|(deed, _)| *deed != "remove") {
                let labels = frame["labels"].as_array().unwrap().iter().flat_map(|slots| slots.as_array().unwrap());
                for (label, tag) in labels.zip(table.iter().flatten()) {
                    prop_assert_eq!(label.is_null(), *tag == 0);
                }
            }
        }
    }
}

#[test]
fn the_first_story_is_told() {
    let frames = lived(
        &json!({"kind": "bloom", "bits": 64, "probes": 3}),
        &[("insert", "baidu"), ("insert", "tencent"), ("ask", "dianping")],
    );
    let outcomes: Vec<&str> = frames.iter().map(|frame| frame["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes[0], "new");
    assert!(["new", "seen"].contains(&outcomes[1]) && ["absent", "false positive"].contains(&outcomes[2]));
    assert_eq!(frames[0]["positions"].as_array().unwrap().len(), 3);
}

#[test]
fn clearing_bits_denies_another_key_and_counters_do_not() {
    // In 64 bits with 8 probes two keys are bound to share one.
    let keys: Vec<String> = (0..40).map(|i| format!("key{i}")).collect();
    let filter = json!({"kind": "bloom", "bits": 64, "probes": 8});
    let hurt = keys.windows(2).find(|pair| {
        let frames = lived(
            &filter,
            &[("insert", &pair[0]), ("insert", &pair[1]), ("clear", &pair[0]), ("ask", &pair[1])],
        );
        frames[3]["outcome"] == "lost"
    });
    let pair = hurt.expect("two of them share a bit");
    let counters = json!({"kind": "counting", "lines": 1, "probes": 8});
    let frames = lived(
        &counters,
        &[
            ("insert", &pair[0]),
            ("insert", &pair[1]),
            ("remove", &pair[0]),
            ("ask", &pair[1]),
            ("ask", &pair[0]),
        ],
    );
    assert_eq!(frames[3]["outcome"], "found");
    assert_eq!(frames[4]["inside"], false);
}

#[test]
fn a_provoked_false_positive_is_one() {
    for filter in [
        json!({"kind": "bloom", "bits": 64, "probes": 3}),
        json!({"kind": "counting", "lines": 1, "probes": 2}),
        json!({"kind": "cuckoo", "nests": 2, "slots": 4, "buckets": 4, "width": 8}),
    ] {
        let events: Vec<(&str, String)> = (0..8).map(|i| ("insert", format!("key{i}"))).collect();
        let told = story(&filter, &events);
        let found = super::provoke::find(&told).unwrap();
        let key = found["key"].as_str().unwrap();
        let mut more = events.clone();
        more.push(("ask", key.to_owned()));
        assert_eq!(frames(&story(&filter, &more)).last().unwrap()["outcome"], "false positive", "{filter}");
    }
    let empty = story(&json!({"kind": "bloom", "bits": 64, "probes": 3}), &[]);
    assert!(super::provoke::find(&empty).is_err());
}

#[test]
fn the_fourth_copy_is_counted_and_a_full_table_refuses() {
    let filter = json!({"kind": "cuckoo", "nests": 2, "slots": 4, "buckets": 4, "width": 8});
    let frames = lived(&filter, &[("insert", "wren"); 5]);
    assert!(frames[4]["stats"]["counted"].as_u64().unwrap() >= 1, "{}", frames[4]["stats"]);
    assert_eq!(frames[4]["copies"], 5);
    let keys: Vec<(&str, String)> = (0..40).map(|i| ("insert", format!("key{i}"))).collect();
    let all = super::tests::frames(&story(&filter, &keys));
    let refused =
        all.iter().position(|frame| frame["outcome"] == "full").expect("16 slots do not hold 40 keys");
    assert_eq!(all[refused]["table"], all[refused - 1]["table"]);
    let narrow = json!({"kind": "cuckoo", "nests": 2, "slots": 1, "buckets": 24, "width": 8});
    let all = super::tests::frames(&story(&narrow, &keys));
    assert!(
        all.iter().any(|frame| frame["steps"].as_array().unwrap().iter().any(|step| step["did"] == "moved"))
    );
}

#[test]
fn tables_are_filled_as_far_as_their_page_says() {
    let answer = super::fill::fill(serde_json::from_value(json!({})).unwrap()).unwrap();
    let shapes = answer["shapes"].as_array().unwrap();
    assert_eq!(shapes.len(), 6);
    for shape in shapes {
        let refused = shape["refused_at"].as_f64().unwrap();
        let made_for = shape["made_for"].as_f64().unwrap();
        assert!(refused >= made_for && refused <= 1.0, "{}: {refused}", shape["name"]);
        let moves = shape["moves"].as_array().unwrap();
        let kicks = |point: &Value| point[1].as_f64().unwrap();
        assert!(kicks(&moves[0]) <= kicks(moves.last().unwrap()) && kicks(moves.last().unwrap()) > 0.1);
    }
}

#[test]
fn stories_that_cannot_be_told_are_refused() {
    let bloom = json!({"kind": "bloom", "bits": 64, "probes": 3});
    let refused = |filter: &Value, events: Vec<(&str, String)>| {
        let told = story(filter, &events);
        told.checked().and_then(|told| told.lab().map(|_: Box<dyn Lab>| ())).is_err()
    };
    assert!(refused(&bloom, vec![("insert", "a".into()); 501]));
    assert!(refused(&bloom, vec![("insert", "a".repeat(201))]));
    assert!(refused(&bloom, vec![("insert", String::new())]));
    assert!(refused(&bloom, vec![("remove", "a".into())]));
    assert!(refused(
        &json!({"kind": "cuckoo", "nests": 2, "slots": 4, "buckets": 4, "width": 8}),
        vec![("clear", "a".into())]
    ));
    for filter in [
        json!({"kind": "bloom", "bits": 65, "probes": 3}),
        json!({"kind": "bloom", "bits": 1u64 << 40, "probes": 3}),
        json!({"kind": "bloom", "bits": 64, "probes": 0}),
        json!({"kind": "blocked", "lines": 0, "probes": 3}),
        json!({"kind": "blocked", "lines": 1, "probes": 9}),
        json!({"kind": "counting", "lines": 5, "probes": 3}),
        json!({"kind": "cuckoo", "nests": 3, "slots": 4, "buckets": 4, "width": 8}),
        json!({"kind": "cuckoo", "nests": 3, "slots": 1, "buckets": 4, "width": 8}),
        json!({"kind": "cuckoo", "nests": 2, "slots": 4, "buckets": u64::MAX, "width": 8}),
        json!({"kind": "cuckoo", "nests": 2, "slots": 4, "buckets": 4, "width": 60}),
    ] {
        assert!(refused(&filter, vec![]), "{filter}");
    }
    assert!(!refused(&bloom, vec![("clear", "a".into())]));
}
