//! Files that version 1 wrote, for ever: read, answered from, and written again to the same bytes.
//!
//! They are never regenerated. A new family adds its own with
//! `GOWK_NEW_GOLDENS=1 cargo test -p gowk --test golden`, which only writes files that are not there.

use gowk::{
    AnyFilter, BlockedBloom, Bloom, Filter, Hasher, Insert, Persist, ScalableBloom, ScalableParams,
    SplitBlockBloom,
};
use std::{fmt::Write, fs, path::PathBuf};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/gowk-v1")
}

/// Keys of every length that the hash treats in its own way, and integers.
fn texts() -> Vec<String> {
    (0..300)
        .map(|i| "The gowk comes in April; it sings its song in May. ".repeat(6)[..i].to_owned())
        .collect()
}

fn asked() -> Vec<String> {
    let text = texts().into_iter().filter(|text| !text.contains(['\t', '\n']) && !text.starts_with('#'));
    (-50..600).map(|i: i64| format!("#{i}")).chain(text).collect()
}

fn ask(filter: &impl Filter, key: &str) -> bool {
    match key.strip_prefix('#') {
        Some(number) => filter.may_contain(&number.parse::<i64>().unwrap()),
        None => filter.may_contain(key),
    }
}

fn fill<F: Insert>(mut filter: F) -> F {
    for key in 0..300u64 {
        filter.insert(&key);
    }
    for text in texts().iter().step_by(2) {
        filter.insert(text.as_str());
    }
    filter
}

fn makers() -> Vec<(&'static str, Vec<u8>)> {
    let blocked = |fpp| BlockedBloom::builder().items(450).fpp(fpp).seed(2026);
    vec![
        ("blocked_line", fill(blocked(0.01).build().unwrap()).to_bytes()),
        ("blocked_pair", fill(blocked(0.001).build().unwrap()).to_bytes()),
        ("blocked_quad", fill(blocked(0.00001).build().unwrap()).to_bytes()),
        ("blocked_three_lanes", fill(blocked(0.1).build().unwrap()).to_bytes()),
        ("blocked_siphash", fill(blocked(0.02).hardened().build().unwrap()).to_bytes()),
        ("bloom", fill(Bloom::builder().items(450).fpp(0.01).seed(2026).build().unwrap()).to_bytes()),
        (
            "split_block",
            fill(SplitBlockBloom::builder().items(450).fpp(0.01).seed(2026).build().unwrap()).to_bytes(),
        ),
        ("scalable", {
            let params = ScalableParams::new(50, 0.01).unwrap();
            fill(ScalableBloom::with_params(params, Hasher::new(2026)).unwrap()).to_bytes()
        }),
    ]
}

#[test]
fn version_1_is_read_answered_and_written_as_ever() {
    for (name, bytes) in makers() {
        let (file, answers) =
            (folder().join(format!("{name}.gowk")), folder().join(format!("{name}.answers")));
        if !file.exists() && std::env::var_os("GOWK_NEW_GOLDENS").is_some() {
            let filter = AnyFilter::from_bytes(&bytes).unwrap();
            let text = asked().iter().fold(String::new(), |mut text, key| {
                writeln!(text, "{}\t{key}", u8::from(ask(&filter, key))).unwrap();
                text
            });
            fs::write(&file, &bytes).unwrap();
            fs::write(&answers, text).unwrap();
        }
        let golden = fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let filter = AnyFilter::from_bytes(&golden).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(filter.to_bytes() == golden, "{name} is no longer written as it was");
        assert!(bytes == golden, "{name} is no longer built as it was");
        let answers = fs::read_to_string(&answers).unwrap();
        assert!(answers.lines().count() > 500, "{name}");
        for line in answers.lines() {
            let (answer, key) = line.split_once('\t').unwrap();
            assert_eq!(ask(&filter, key), answer == "1", "{name}: {key:?}");
        }
    }
}
