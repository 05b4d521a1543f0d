//! Files that version 1 wrote, for ever: read, answered from, and written again to the same bytes.
//!
//! They are never regenerated. A new family adds its own with
//! `GOWK_NEW_GOLDENS=1 cargo test -p gowk --test golden`, which only writes files that are not there.

use gowk::{
    AnyFilter, BinaryFuse, Bitmap, BlockedBloom, Bloom, Build, CountMin, CountMinParams, CountingBloom,
    Cuckoo, CuckooParams, Filter, Hasher, Insert, IntegerSet, IntegerSetMut, Key, Persist, Remove,
    ScalableBloom, ScalableParams, Seen, SplitBlockBloom, TopK, TopKParams, TwoBitMap, Window, cuckoo::Shape,
    fuse::Arity, store::Heap,
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

/// A family that can be asked for a key as it is written in a file of answers: `#42` is a number, all else text.
trait Answers: Persist<Store = Heap> {
    /// Whether reading closes the gaps that a file may have, so that it is written shorter the next time.
    const CLOSES_GAPS: bool = false;

    fn answer(&self, key: &str) -> String;

    fn asked() -> Vec<String> {
        let text = texts().into_iter().filter(|text| !text.contains(['\t', '\n']) && !text.starts_with('#'));
        numbers(-50..600).into_iter().chain(text).collect()
    }
}

fn numbers(range: std::ops::Range<i64>) -> Vec<String> {
    range.map(|i| format!("#{i}")).collect()
}

/// The number that an answer tells of a key, whichever of the two it is.
fn of_key(key: &str, number: impl Fn(&i64) -> u64, text: impl Fn(&str) -> u64) -> String {
    match key.strip_prefix('#') {
        Some(digits) => number(&digits.parse().unwrap()),
        None => text(key),
    }
    .to_string()
}

/// Is it in the set?
impl Answers for AnyFilter {
    fn answer(&self, key: &str) -> String {
        of_key(key, |key| self.may_contain(key).into(), |key| self.may_contain(key).into())
    }
}

/// How often?
impl Answers for Cuckoo {
    fn answer(&self, key: &str) -> String {
        of_key(key, |key| self.count(key), |key| self.count(key))
    }
}

/// How often, up to 15?
impl Answers for CountingBloom {
    fn answer(&self, key: &str) -> String {
        of_key(key, |key| self.estimate(key).into(), |key| self.estimate(key).into())
    }
}

/// How often, or more?
impl Answers for CountMin {
    fn answer(&self, key: &str) -> String {
        of_key(key, |key| self.estimate(key), |key| self.estimate(key))
    }
}

/// How often at most, and how many of that may be too many?
impl Answers for TopK {
    const CLOSES_GAPS: bool = true;

    fn answer(&self, key: &str) -> String {
        let estimate = match key.strip_prefix('#') {
            Some(digits) => self.estimate(&digits.parse::<i64>().unwrap().to_le_bytes()),
            None => self.estimate(key),
        };
        format!("{} {}", estimate.count, estimate.error)
    }
}

/// Is it in the set? Also asked outside the range.
impl Answers for Bitmap {
    fn answer(&self, id: &str) -> String {
        u8::from(self.contains(id[1..].parse().unwrap())).to_string()
    }

    fn asked() -> Vec<String> {
        numbers(IDS.start as i64 - 100..IDS.end as i64 + 100)
    }
}

/// Never, once, or more?
impl Answers for TwoBitMap {
    fn answer(&self, value: &str) -> String {
        let state = match self.state(value[1..].parse().unwrap()) {
            Seen::Never => 0,
            Seen::Once => 1,
            Seen::More => 2,
        };
        state.to_string()
    }

    fn asked() -> Vec<String> {
        Bitmap::asked()
    }
}

/// A range that neither begins nor ends with a line.
const IDS: std::ops::Range<u64> = 700..2_300;

/// Each key once.
fn fill<F: Insert>(mut filter: F) -> F {
    for key in 0..300u64 {
        put(&mut filter, &key, 1);
    }
    for text in texts().iter().step_by(2) {
        put(&mut filter, text.as_str(), 1);
    }
    filter
}

/// Some of them up to 39 times more.
fn repeat<F: Insert>(mut filter: F) -> F {
    for key in 0..40u64 {
        put(&mut filter, &key, key);
    }
    filter
}

fn put<F: Insert, K: Key + ?Sized>(filter: &mut F, key: &K, times: u64) {
    for _ in 0..times {
        F::settled(filter.insert(key)).unwrap();
    }
}

/// Opens the golden file as `F`, holds it against what the same calls build today, and asks it everything.
fn check<F: Answers>(name: &str, bytes: &[u8]) {
    assert!(bytes == check_file::<F>(name, bytes), "{name} is no longer built as it was");
}

/// Opens the golden file as `F` and asks it everything. Gives its bytes; what would be built today is only for a file that is not there.
fn check_file<F: Answers>(name: &str, bytes: &[u8]) -> Vec<u8> {
    let (file, answers) = (folder().join(format!("{name}.gowk")), folder().join(format!("{name}.answers")));
    if !file.exists() && std::env::var_os("GOWK_NEW_GOLDENS").is_some() {
        let filter = F::from_bytes(bytes).unwrap();
        let text = F::asked().iter().fold(String::new(), |mut text, key| {
            writeln!(text, "{}\t{key}", filter.answer(key)).unwrap();
            text
        });
        fs::write(&file, bytes).unwrap();
        fs::write(&answers, text).unwrap();
    }
    let golden = fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let filter = F::from_bytes(&golden).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(F::CLOSES_GAPS || filter.to_bytes() == golden, "{name} is no longer written as it was");
    let answers = fs::read_to_string(&answers).unwrap();
    assert!(answers.lines().count() > 500, "{name}");
    for line in answers.lines() {
        let (answer, key) = line.split_once('\t').unwrap();
        assert_eq!(filter.answer(key), answer, "{name}: {key:?}");
    }
    golden
}

#[test]
fn bloom_files_of_version_1_are_read_answered_and_written_as_ever() {
    let blocked = |fpp| BlockedBloom::builder().items(450).fpp(fpp).seed(2026);
    let check = |name, bytes: Vec<u8>| check::<AnyFilter>(name, &bytes);
    check("blocked_line", fill(blocked(0.01).build().unwrap()).to_bytes());
    check("blocked_pair", fill(blocked(0.001).build().unwrap()).to_bytes());
    check("blocked_quad", fill(blocked(0.00001).build().unwrap()).to_bytes());
    check("blocked_three_lanes", fill(blocked(0.1).build().unwrap()).to_bytes());
    check("blocked_siphash", fill(blocked(0.02).hardened().build().unwrap()).to_bytes());
    let bloom = |fpp| Bloom::builder().items(450).fpp(fpp).seed(2026).build().unwrap();
    check("bloom_fewest", fill(bloom(0.01)).to_bytes());
    check("bloom_fewest_one_line", fill(bloom(0.12)).to_bytes());
    check("bloom_fewest_three_lines", fill(bloom(0.004)).to_bytes());
    check("bloom_fewest_one_apart", fill(bloom(0.001)).to_bytes());
    check("bloom_fewest_two_rounds", fill(bloom(0.00002)).to_bytes());
    check("bloom_fewest_three_rounds", fill(bloom(0.000_001)).to_bytes());
    // Of schemes that were the default once: emptied and filled again.
    for name in [
        "bloom",
        "bloom_clustered",
        "bloom_clustered_two_rounds",
        "bloom_paired",
        "bloom_paired_two_lines",
        "bloom_paired_two_rounds",
    ] {
        let mut filter =
            Bloom::from_bytes(&fs::read(folder().join(name).with_extension("gowk")).unwrap()).unwrap();
        filter.clear();
        check(name, fill(filter).to_bytes());
    }
    let split_block = SplitBlockBloom::builder().items(450).fpp(0.01).seed(2026);
    check("split_block", fill(split_block.build().unwrap()).to_bytes());
    let params = ScalableParams::new(50, 0.01).unwrap();
    check("scalable", fill(ScalableBloom::with_params(params, Hasher::new(2026)).unwrap()).to_bytes());
}

#[test]
fn counting_files_of_version_1_are_read_answered_and_written_as_ever() {
    let builder = CountingBloom::builder().items(450).seed(2026);
    for (name, fpp) in [("counting", 0.01), ("counting_pair", 0.001)] {
        // Up to the top and beyond, and some down again.
        let mut filter = repeat(fill(builder.clone().fpp(fpp).build().unwrap()));
        for key in 0..100u64 {
            filter.remove(&key);
        }
        check::<CountingBloom>(name, &filter.to_bytes());
    }
}

#[test]
fn cuckoo_files_of_version_1_are_read_answered_and_written_as_ever() {
    let check = |name, filter: Cuckoo| check::<Cuckoo>(name, &filter.to_bytes());
    let make = |params| Cuckoo::with_params(params, Hasher::new(2026)).unwrap();
    check("cuckoo", fill(make(CuckooParams::for_fpp(450, 0.01).unwrap())));
    check("cuckoo_counted", repeat(fill(make(CuckooParams::for_fpp(450, 0.001).unwrap()))));
    check("cuckoo_grown", fill(make(CuckooParams::growing(50, 1_000, 0.01).unwrap())));
    for (name, shape) in
        [("cuckoo_three_by_one", Shape::ThreeByOne), ("cuckoo_four_by_two", Shape::FourByTwo)]
    {
        check(name, fill(make(CuckooParams::for_shape(shape, 450, 0.01).unwrap())));
    }
}

#[test]
fn fuse_files_of_version_1_are_read_and_answered_as_ever() {
    let numbers = (0..300i64).map(|key| Hasher::new(2026).digest(&key));
    let texts: Vec<String> = texts().into_iter().step_by(2).collect();
    let keys: Vec<_> = numbers.chain(texts.iter().map(|text| Hasher::new(2026).digest(text))).collect();
    let builder = BinaryFuse::builder().seed(2026);
    // The same keys can be written in many ways, and the order of peeling chooses one; but the shape is the same.
    let check = |name, today: BinaryFuse| {
        let golden = check_file::<AnyFilter>(name, &today.to_bytes());
        assert_eq!(BinaryFuse::from_bytes(&golden).unwrap().params(), today.params(), "{name}");
    };
    check("fuse", builder.clone().fpp(0.01).build_from(&keys).unwrap());
    check("fuse_four", builder.width(8).arity(Arity::Four).build_from(&keys).unwrap());
}

#[test]
fn window_files_of_version_1_are_read_answered_and_written_as_ever() {
    let builder = |fpp| Window::builder().items(200).fpp(fpp).seed(2026);
    check::<AnyFilter>("window_by_inserts", &fill(builder(0.01).build().unwrap()).to_bytes());
    let mut by_ticks = builder(0.001).build_lasting(1_000).unwrap();
    for key in 0..400u64 {
        by_ticks.insert_at(10_000 + 5 * key, &key);
    }
    by_ticks.advance(12_100);
    check::<AnyFilter>("window_by_ticks", &by_ticks.to_bytes());
}

#[test]
fn bitmap_files_of_version_1_are_read_answered_and_written_as_ever() {
    let mut ids = Bitmap::new(IDS).unwrap();
    let mut seen = TwoBitMap::new(IDS).unwrap();
    for id in IDS.filter(|id| id * id % 7 < 2 || *id > 2_200) {
        ids.insert(id).unwrap();
        for _ in 0..id % 5 {
            seen.add(id).unwrap();
        }
    }
    check::<Bitmap>("bitmap", &ids.to_bytes());
    check::<TwoBitMap>("two_bit_map", &seen.to_bytes());
}

#[test]
fn sketch_files_of_version_1_are_read_answered_and_written_as_ever() {
    let shape = CountMinParams::with_shape(200, 4).unwrap();
    for (name, params) in [("count_min", shape), ("count_min_plain", shape.plain())] {
        let mut counts = CountMin::with_params(params, Hasher::new(2026)).unwrap();
        (0..300u64).for_each(|key| counts.add_times(&key, 1_000 / (key + 1)));
        texts().iter().for_each(|text| counts.add(text.as_str()));
        counts.add_times("more than a counter holds", u64::MAX >> 30);
        check::<CountMin>(name, &counts.to_bytes());
    }
    let params = TopKParams::with_cells(10, 40, 160).unwrap();
    let mut top = TopK::with_params(params, Hasher::new(2026)).unwrap();
    for round in 1..=20u64 {
        // Few come often, many now and then.
        (0..300u64)
            .filter(|key| key % 20 < round)
            .for_each(|key| top.add_times(&key.to_le_bytes(), 90 / (key + 1)));
        texts().iter().step_by(20 + round as usize).for_each(|text| top.add(text));
    }
    check::<TopK>("top_k", &top.to_bytes());
}
