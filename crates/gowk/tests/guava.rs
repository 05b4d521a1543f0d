//! Filters that we wrote, loaded and asked by Guava itself. Needs a JDK and Guava, so `./test` runs it where they are:
//! `cargo nextest run -p gowk --test guava --run-ignored only`. `GOWK_GUAVA_JAR` names the jar.

use gowk::{
    Filter, Insert, Key,
    format::{
        foreign::{ForeignBloom, keys::Int, keys::Utf16},
        guava::{Guava, GuavaBloom, ProbeRule, Strategy},
    },
};
use std::{
    fs,
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
};

/// What Guava says of a filter: its answers, its `expectedFpp`, its `approximateElementCount`.
fn ask(filter: &GuavaBloom, funnel: &str, keys: &[String]) -> (Vec<bool>, f64, u64) {
    let folder = tempfile::tempdir().unwrap();
    let (file, again) = (folder.path().join("ours.bin"), folder.path().join("theirs.bin"));
    filter.save(&file).unwrap();
    let jar = std::env::var("GOWK_GUAVA_JAR").unwrap_or("/usr/share/java/guava.jar".into());
    let program = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/java/AskGuava.java");
    let mut java = Command::new("java")
        .args(["-cp", &jar])
        .arg(program)
        .arg(&file)
        .arg(funnel)
        .arg(&again)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a JDK");
    let mut input = java.stdin.take().unwrap();
    for key in keys {
        writeln!(input, "{key}").unwrap();
    }
    drop(input);
    let output = java.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(fs::read(again).unwrap(), filter.to_bytes(), "Guava writes what we wrote");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let answers = lines[0].bytes().map(|answer| answer == b'1').collect();
    (answers, lines[1].parse().unwrap(), lines[2].parse().unwrap())
}

/// Builds a filter from the first half of the keys and compares all answers.
fn agrees<K: Key>(strategy: Strategy, funnel: &str, texts: &[String], key: impl Fn(&str) -> K) {
    let shape = Guava::sized(texts.len() as u64 / 2, 0.03, strategy, ProbeRule::Rate).unwrap();
    let mut filter = ForeignBloom::empty(shape).unwrap();
    for text in &texts[..texts.len() / 2] {
        filter.insert(&key(text));
    }
    let (answers, fpp, count) = ask(&filter, funnel, texts);
    let ours: Vec<bool> = texts.iter().map(|text| filter.may_contain(&key(text))).collect();
    assert_eq!(answers, ours, "{funnel} {strategy:?}");
    assert!(ours[..texts.len() / 2].iter().all(|answer| *answer));
    assert!(ours[texts.len() / 2..].iter().any(|answer| *answer), "some are false positives");
    assert!((filter.expected_fpp() - fpp).abs() < 1e-12);
    assert_eq!(filter.approximate_element_count(), count);
}

#[test]
#[ignore = "needs a JDK and Guava; ./test runs it where they are"]
fn guava_loads_our_filters_and_answers_as_we_do() {
    let numbers: Vec<String> =
        (-2_000..2_000).map(|i: i64| (i * 1_000_003 % 1_000_000_007).to_string()).collect();
    let texts: Vec<String> = (0..4_000).map(|i| format!("{}/é漢😀 {i}", "x".repeat(i % 23))).collect();
    for strategy in [Strategy::Mitz32, Strategy::Mitz64] {
        agrees(strategy, "int", &numbers, |text| Int(text.parse().unwrap()));
        agrees(strategy, "long", &numbers, |text| text.parse::<i64>().unwrap());
        agrees(strategy, "utf8", &texts, str::to_owned);
        agrees(strategy, "utf16", &texts, |text| Utf16(text).bytes());
    }
}
