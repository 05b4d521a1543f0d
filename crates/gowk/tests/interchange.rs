//! Files that other systems wrote: read, answered as their makers answered, built anew from the keys to the same bytes, and
//! refused where they are damaged.

use gowk::{
    Filter, Insert, Inserted, Key, Merge, Remove, SplitBlockBloom,
    format::{
        dcso::{Dcso, DcsoBloom},
        foreign::{
            Foreign, ForeignError, Format,
            bloom::{ForeignBloom, Maker},
            file::Headed,
        },
        guava::{Guava, GuavaBloom, ProbeRule, Strategy},
        leveldb::LevelDbBloom,
        parquet,
        redisbloom::{Chunk, Chunks, RedisBloom, RedisCuckoo},
        spark::{Spark, SparkBloom, Version},
    },
};
use std::{collections::HashMap, fs, path::PathBuf};

fn golden(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden").join(path)
}

/// One case of a folder: its row of the manifest, its file, its keys as bytes.
struct Case {
    name: String,
    row: HashMap<String, String>,
    file: Vec<u8>,
    path: PathBuf,
    inserted: Vec<Vec<u8>>,
    probes: Vec<(bool, Vec<u8>)>,
}

impl Case {
    fn get<T: std::str::FromStr>(&self, field: &str) -> T {
        self.row[field].parse().unwrap_or_else(|_| panic!("{field} of {}: {}", self.name, self.row[field]))
    }
}

/// All cases of a folder. `kind` is the column of the manifest that says how keys are written.
fn cases(folder: &str, kind: Option<&str>, extension: &str) -> Vec<Case> {
    let manifest = fs::read_to_string(golden(folder).join("manifest.tsv")).unwrap();
    let mut lines = manifest.lines();
    let names: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let case = |line: &str| {
        let fields = names.iter().map(ToString::to_string).zip(line.split('\t').map(str::to_owned));
        let row: HashMap<String, String> = fields.collect();
        let name = row["name"].clone();
        let kind = kind.map_or("bytes_hex", |kind| row[kind].as_str()).to_owned();
        let text =
            |suffix: &str| fs::read_to_string(golden(folder).join(format!("{name}.{suffix}"))).unwrap();
        let inserted = text("inserted.txt").split_terminator('\n').map(|key| key_bytes(&kind, key)).collect();
        let probe = |line: &str| {
            let (answer, key) = line.split_once('\t').unwrap();
            (answer == "1", key_bytes(&kind, key))
        };
        let probes = text("probe.txt").split_terminator('\n').map(probe).collect();
        let path = golden(folder).join(format!("{name}.{extension}"));
        Case { file: fs::read(&path).unwrap(), path, name, row, inserted, probes }
    };
    lines.map(case).collect()
}

fn key_bytes(kind: &str, text: &str) -> Vec<u8> {
    match kind {
        "int" | "int32" => text.parse::<i32>().unwrap().to_le_bytes().to_vec(),
        "long" | "int64" => text.parse::<i64>().unwrap().to_le_bytes().to_vec(),
        "double" => text.parse::<f64>().unwrap().to_bits().to_le_bytes().to_vec(),
        "string_utf8" | "string" => String::from_utf16(&json_units(text)).unwrap().into_bytes(),
        "string_unencoded_utf16le" => json_units(text).into_iter().flat_map(u16::to_le_bytes).collect(),
        "bytes_hex" | "fixed16" => {
            let digit = |byte: u8| (byte as char).to_digit(16).unwrap() as u8;
            text.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
        }
        other => panic!("keys of kind {other}"),
    }
}

/// The UTF-16 units of a JSON string; Java's strings may have halves of pairs, which no `String` holds.
fn json_units(text: &str) -> Vec<u16> {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).expect("a JSON string");
    let (mut units, mut chars) = (Vec::new(), inner.chars());
    while let Some(next) = chars.next() {
        if next != '\\' {
            units.extend_from_slice(next.encode_utf16(&mut [0; 2]));
            continue;
        }
        units.push(match chars.next().unwrap() {
            'n' => 10,
            't' => 9,
            'r' => 13,
            'b' => 8,
            'f' => 12,
            'u' => u16::from_str_radix(&chars.by_ref().take(4).collect::<String>(), 16).unwrap(),
            other => other as u16,
        });
    }
    units
}

/// One by one and in bulk, each inserted key is there and each probe is answered as its maker did.
fn answers_as_its_maker(filter: &impl Filter, case: &Case) {
    for key in &case.inserted {
        assert!(filter.may_contain(key), "{}: {key:?} was inserted", case.name);
    }
    assert!(filter.may_contain_many(&case.inserted).iter().all(|answer| *answer), "{} in bulk", case.name);
    for (answer, key) in &case.probes {
        assert_eq!(filter.may_contain(key), *answer, "{}: {key:?}", case.name);
        assert_eq!(filter.may_contain_digest(filter.hasher().digest(key)), *answer, "{}: {key:?}", case.name);
    }
    let (expected, keys): (Vec<bool>, Vec<&Vec<u8>>) = case.probes.iter().map(|(a, key)| (*a, key)).unzip();
    assert_eq!(filter.may_contain_many(&keys), expected, "{} in bulk", case.name);
    assert_eq!(
        expected.iter().filter(|answer| **answer).count(),
        case.get::<usize>("probeTrue"),
        "{}",
        case.name
    );
}

/// All ways into a file give the same filter, which is written as it was read.
fn is_read_and_written<M: Headed>(case: &Case) -> ForeignBloom<M> {
    let filter = ForeignBloom::<M>::from_bytes(&case.file).unwrap();
    let mapped = ForeignBloom::<M, gowk::store::MappedBytes>::open(&case.path).unwrap();
    let loaded = ForeignBloom::<M>::load(&case.path).unwrap();
    let streamed = ForeignBloom::<M>::read_from(&case.file[..]).unwrap();
    assert!(filter == mapped && filter == loaded && filter == streamed, "{}", case.name);
    for bytes in [filter.to_bytes(), mapped.to_bytes(), loaded.to_bytes(), streamed.to_bytes()] {
        assert_eq!(bytes, case.file, "{}", case.name);
    }
    answers_as_its_maker(&mapped, case);
    answers_as_its_maker(&filter, case);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("again");
    mapped.save(&path).unwrap();
    assert_eq!(fs::read(path).unwrap(), case.file);
    assert_eq!(Foreign::open(&case.path).unwrap().format(), M::FORMAT, "{}", case.name);
    filter
}

/// The keys of a case make its file, one by one and in bulk; gives how many of them were new.
fn is_built_from_its_keys<M: Headed>(shape: M, case: &Case) -> usize {
    let mut one_by_one = ForeignBloom::empty(shape.clone()).unwrap();
    let mut new = 0;
    for key in &case.inserted {
        new += usize::from(one_by_one.insert(key) == Inserted::New);
    }
    assert_eq!(one_by_one.to_bytes(), case.file[..case.file.len() - tail(case)], "{}", case.name);
    let mut bulk = ForeignBloom::empty(shape.clone()).unwrap();
    bulk.insert_many(&case.inserted);
    assert_eq!(bulk.to_bytes(), one_by_one.to_bytes(), "{} in bulk", case.name);
    let (left, right) = case.inserted.split_at(case.inserted.len() / 3);
    let [mut a, mut b] = [left, right].map(|keys| {
        let mut part = ForeignBloom::empty(shape.clone()).unwrap();
        part.insert_many(keys);
        part
    });
    a.union(&b).unwrap();
    assert_eq!(a.bytes(), bulk.bytes(), "{}: the union is the build of both", case.name);
    b.clear();
    assert_eq!(b.bytes(), ForeignBloom::empty(shape).unwrap().bytes());
    new
}

fn tail(case: &Case) -> usize {
    case.row.get("data_hex").map_or(0, |data| data.len() / 2)
}

#[test]
fn every_guava_file_is_guavas() {
    for case in cases("guava", Some("type"), "bin") {
        let filter = is_read_and_written::<Guava>(&case);
        let strategy = match case.row["strategy"].as_str() {
            "MURMUR128_MITZ_32" => Strategy::Mitz32,
            _ => Strategy::Mitz64,
        };
        let shape =
            Guava::sized(case.get("expectedInsertions"), case.get("fpp"), strategy, ProbeRule::BitsPerKey)
                .unwrap();
        assert_eq!(shape.bit_size(), case.get::<u64>("bitSize"), "{}", case.name);
        assert_eq!(shape.probes(), case.get::<u32>("numHashFunctions"), "{}", case.name);
        assert_eq!(
            is_built_from_its_keys(shape, &case),
            case.get::<usize>("putReturnedTrue"),
            "{}",
            case.name
        );
        let expected: f64 = case.get("expectedFpp");
        assert!((filter.expected_fpp() - expected).abs() <= 1e-12 * expected, "{}", case.name);
        assert_eq!(
            filter.approximate_element_count(),
            case.get::<u64>("approximateElementCount"),
            "{}",
            case.name
        );
        assert!((filter.stats().fpp_now - expected).abs() <= 1e-12 * expected, "{}", case.name);
    }
}

/// The well-known example, to the digit. `golden/guava/million.txt` is what Guava 31.1 printed.
#[test]
fn a_million_ints_at_one_percent_have_947_false_positives() {
    use gowk::format::foreign::keys::Int;
    use sha2::Digest;
    assert_eq!(Guava::optimal_bits(1_000_000, 0.01), 9_585_058);
    let mut filter = GuavaBloom::create(1_000_000, 0.01).unwrap();
    filter.insert_many(&(0..1_000_000).map(Int).collect::<Vec<_>>());
    assert_eq!((filter.maker().bit_size(), filter.maker().probes()), (9_585_088, 7));
    let asked: Vec<Int> = (1_000_000..1_100_000).map(Int).collect();
    let wrong = filter.may_contain_many(&asked).into_iter().filter(|answer| *answer).count();
    assert_eq!(wrong, 947);
    assert_eq!(filter.approximate_element_count(), 1_000_137);
    let bytes = filter.to_bytes();
    assert_eq!(bytes.len(), 1_198_142);
    let sum: String = sha2::Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(sum, "8c5d898e94580a5a4bd45663d08f86668a4cee3e3f48162b33cfdb3d59a768f6");
}

#[test]
fn guavas_sizes_are_guavas_under_both_rules() {
    let table = fs::read_to_string(golden("guava/sizing.tsv")).unwrap();
    let mut rows = 0;
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let (items, fpp): (u64, f64) = (fields[0].parse().unwrap(), fields[1].parse().unwrap());
        let bits: u64 = fields[2].parse().unwrap();
        assert_eq!(Guava::optimal_bits(items, fpp), bits, "{line}");
        for (rule, probes) in [(ProbeRule::BitsPerKey, fields[3]), (ProbeRule::Rate, fields[4])] {
            match Guava::sized(items, fpp, Strategy::Mitz64, rule) {
                Ok(shape) => {
                    assert_eq!(shape.probes().to_string(), probes, "{line}");
                    assert_eq!(shape.bit_size(), bits.next_multiple_of(64), "{line}");
                }
                // Guava throws as well: it has no filter of 0 bits, and none of more than 2^31 - 1 longs.
                Err(_) => assert!(bits == 0 || bits > 64 * i32::MAX as u64, "{line}"),
            }
        }
        rows += 1;
    }
    assert!(rows > 50, "{rows} rows");
}

#[test]
fn every_spark_file_is_sparks() {
    for case in cases("spark", Some("type"), "bin") {
        let filter = is_read_and_written::<Spark>(&case);
        let version = match case.row["version"].as_str() {
            "V1" => Version::V1,
            _ => Version::V2 { seed: case.get("seed") },
        };
        let shape = Spark::sized(case.get("expectedNumItems"), case.get("fpp"), version).unwrap();
        assert_eq!(shape.bit_size(), case.get::<u64>("bitSize"), "{}", case.name);
        assert_eq!(
            is_built_from_its_keys(shape, &case),
            case.get::<usize>("putReturnedTrue"),
            "{}",
            case.name
        );
        let expected: f64 = case.get("expectedFpp");
        assert!((filter.stats().fpp_now - expected).abs() <= 1e-12 * expected, "{}", case.name);
    }
}

#[test]
fn every_dcso_file_is_dcsos() {
    for case in cases("dcso", None, "bloom") {
        let filter = is_read_and_written::<Dcso>(&case);
        let shape = Dcso::sized(case.get("n"), case.get("p")).unwrap();
        assert_eq!((shape.bits(), shape.probes()), (case.get("m"), case.get("k")), "{}", case.name);
        is_built_from_its_keys(shape, &case);
        assert_eq!(filter.maker().inserted(), case.get::<u64>("N"), "{}", case.name);
        assert_eq!(filter.maker().data(), key_bytes("bytes_hex", &case.row["data_hex"]), "{}", case.name);
    }
}

#[test]
fn every_leveldb_filter_is_leveldbs() {
    for case in cases("leveldb", None, "filter") {
        let filter = LevelDbBloom::from_bytes(&case.file).unwrap();
        assert_eq!(filter.to_bytes(), case.file, "{}", case.name);
        answers_as_its_maker(&filter, &case);
        let mapped = Foreign::open_as(&case.path, Format::LevelDb, None).unwrap();
        assert_eq!(mapped.to_bytes().unwrap(), case.file, "{}", case.name);
        answers_as_its_maker(&mapped, &case);
        let mut again = LevelDbBloom::create(case.get("keys"), case.get("bits_per_key")).unwrap();
        again.insert_many(&case.inserted);
        assert_eq!(again.to_bytes(), case.file, "{}", case.name);
        again.union(&filter).unwrap();
        assert!(again == filter, "{}", case.name);
    }
    for bytes in [&b""[..], b"\x06", b"\xff\x00", b"\xff\x1f"] {
        assert!(LevelDbBloom::from_bytes(bytes).is_err(), "{bytes:?}");
    }
}

#[test]
fn roaring_sets_of_both_widths_are_told_by_their_bytes() {
    use gowk::{IntegerSetMut, RoaringSet, format::roaring};
    let sniff = |bytes: &[u8]| Format::sniff(bytes, bytes.len() as u64);
    let mut ids = RoaringSet::new(0..1 << 32).unwrap();
    for width in [roaring::Width::Bits32, roaring::Width::Bits64] {
        assert_eq!(
            sniff(&roaring::to_bytes(&ids, width).unwrap()),
            Some(Format::Roaring),
            "empty, {width:?}"
        );
    }
    ids.insert_many(&[1u32, 70_000, 4_000_000_000]).unwrap();
    for width in [roaring::Width::Bits32, roaring::Width::Bits64] {
        let bytes = roaring::to_bytes(&ids, width).unwrap();
        assert_eq!(sniff(&bytes), Some(Format::Roaring), "{width:?}");
        let (map, found) = roaring::read_from(&mut &bytes[..]).unwrap();
        assert!(&map == ids.as_treemap() && found == width);
        let mut written = Vec::new();
        roaring::write_to(&map, width, &mut written).unwrap();
        assert_eq!(written, bytes);
    }
    let large: ::roaring::RoaringTreemap = [1u64 << 32].into_iter().collect();
    assert!(roaring::write_to(&large, roaring::Width::Bits32, Vec::new()).is_err());
}

#[test]
fn a_gzipped_dcso_file_is_read_as_it_is() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    for case in cases("dcso", None, "bloom") {
        let path = folder.path().join("packed.bloom.gz");
        let mut packer =
            flate2::write::GzEncoder::new(fs::File::create(&path).unwrap(), flate2::Compression::best());
        packer.write_all(&case.file).unwrap();
        packer.finish().unwrap();
        let filter = Foreign::open(&path).unwrap();
        assert_eq!(filter.format(), Format::Dcso);
        answers_as_its_maker(&filter, &case);
        filter.save(folder.path().join("plain")).unwrap();
        assert_eq!(fs::read(folder.path().join("plain")).unwrap(), case.file);
        // Cut, it is refused.
        let packed = fs::read(&path).unwrap();
        fs::write(&path, &packed[..packed.len() / 2]).unwrap();
        assert!(Foreign::open(&path).is_err(), "{}", case.name);
    }
}

#[test]
fn every_redisbloom_chain_is_redisblooms() {
    for case in cases("redis", None, "chunks").into_iter().filter(|case| case.row["kind"] == "bloom") {
        let filter = RedisBloom::from_bytes(&case.file).unwrap();
        assert_eq!(filter.to_bytes(), case.file, "{}", case.name);
        answers_as_its_maker(&filter, &case);
        assert_eq!(Foreign::open(&case.path).unwrap().format(), Format::RedisBloom);
        let args: Vec<&str> = case.row["args"].split(' ').collect();
        let expansion = args.get(3).map(|expansion| expansion.parse().unwrap());
        let mut again =
            RedisBloom::reserve(args[0].parse().unwrap(), args[1].parse().unwrap(), expansion).unwrap();
        let mut new = 0;
        for key in &case.inserted {
            new += usize::from(again.insert(key).unwrap() == Inserted::New);
        }
        assert_eq!(again.to_bytes(), case.file, "{}", case.name);
        assert_eq!(new, case.get::<usize>("replies1"), "{}", case.name);
        assert_eq!(filter.chunks().count(), case.get::<usize>("chunks"), "{}", case.name);
        assert_eq!(RedisBloom::from_chunks(filter.chunks()).unwrap(), filter);
    }
}

#[test]
fn every_redisbloom_cuckoo_filter_is_redisblooms() {
    for case in cases("redis", None, "chunks").into_iter().filter(|case| case.row["kind"] == "cuckoo") {
        let filter = RedisCuckoo::from_bytes(&case.file).unwrap();
        assert_eq!(filter.to_bytes(), case.file, "{}", case.name);
        answers_as_its_maker(&filter, &case);
        assert_eq!(Foreign::open(&case.path).unwrap().format(), Format::RedisCuckoo);
        assert_eq!(RedisCuckoo::from_chunks(filter.chunks()).unwrap(), filter);
        assert_eq!(filter.chunks().count(), case.get::<usize>("chunks"), "{}", case.name);
        if filter.deletes() == 0 {
            // Every slot is where the module put it: the kicks are the same, one by one.
            let args: Vec<&str> = case.row["args"].split(' ').collect();
            let number = |at: usize| args[at].parse().unwrap();
            let items = args[0].parse().unwrap();
            let mut again = RedisCuckoo::reserve_with(items, number(2), number(4), number(6)).unwrap();
            again.insert_many(&case.inserted).unwrap();
            assert_eq!(again.to_bytes(), case.file, "{}", case.name);
        }
        let mut emptied = filter.clone();
        for key in &case.inserted {
            assert!(emptied.count_digest(emptied.hasher().digest(key)) > 0);
            assert_eq!(emptied.remove(key), gowk::Removed::Gone, "{}", case.name);
        }
        assert_eq!(emptied.keys(), 0, "{}", case.name);
        assert!(emptied.stats().fill <= 0.0, "{}", case.name);
    }
}

#[test]
fn a_chain_of_two_answers_for_both() {
    let mut cases = cases("redis", None, "chunks").into_iter().filter(|case| case.name.starts_with("bf_"));
    let (_, scale, one) = (cases.next().unwrap(), cases.next().unwrap(), cases.next().unwrap());
    let mut both = RedisBloom::from_bytes(&scale.file).unwrap();
    both.union(&RedisBloom::from_bytes(&one.file).unwrap()).unwrap();
    assert!(scale.inserted.iter().chain(&one.inserted).all(|key| both.may_contain(key)));
    assert_eq!(RedisBloom::from_bytes(&both.to_bytes()).unwrap(), both);
}

#[test]
fn a_full_filter_that_may_not_grow_says_so() {
    let mut fixed = RedisBloom::reserve(0.01, 10, None).unwrap();
    let full = (0..100u64).find_map(|key| fixed.insert(&key).err()).expect("it fills up");
    assert_eq!(full.capacity, 10);
    let mut fixed = RedisCuckoo::reserve_with(8, 2, 20, 0).unwrap();
    let before: Vec<u64> = (0..100).take_while(|key| fixed.insert(key).is_ok()).collect();
    assert!(before.len() >= 5 && before.iter().all(|key| fixed.may_contain(key)), "{before:?}");
}

fn parquet_cases() -> Vec<Case> {
    cases("parquet", Some("physical"), "sbbf")
}

#[test]
fn every_parquet_filter_is_parquets() {
    for case in parquet_cases() {
        let filter = parquet::from_bytes(&case.file).unwrap();
        assert_eq!(parquet::to_bytes(&filter), case.file, "{}", case.name);
        answers_as_its_maker(&filter, &case);
        assert_eq!(Foreign::open(&case.path).unwrap().format(), Format::Parquet);
        let mut again: SplitBlockBloom = match case.row["ndv"].parse() {
            Ok(values) => parquet::create(values, case.get("fpp")).unwrap(),
            // DuckDB does not say what it sized for.
            Err(_) => {
                let mut empty = filter.clone();
                empty.clear();
                empty
            }
        };
        again.insert_many(&case.inserted);
        assert_eq!(parquet::to_bytes(&again), case.file, "{}", case.name);
    }
}

#[cfg(feature = "parquet")]
#[test]
fn filters_come_straight_out_of_parquet_files() {
    for case in parquet_cases() {
        let path = case.path.with_extension("parquet");
        let file = fs::read(&path).unwrap();
        assert_eq!(parquet::columns(&file).unwrap(), ["c"], "{}", case.name);
        for column in [None, Some("c")] {
            let filters = parquet::read_column(&file, column).unwrap();
            assert_eq!(filters.column(), Some("c"));
            answers_as_its_maker(&filters, &case);
            let bytes = parquet::to_bytes(&filters.filters()[0]);
            assert_eq!(bytes, case.file, "{}", case.name);
        }
        answers_as_its_maker(&Foreign::open(&path).unwrap(), &case);
        let missing = parquet::read_column(&file, Some("d")).unwrap_err().to_string();
        assert!(missing.contains("column d") && missing.contains("these have: c"), "{missing}");
        for cut in [0, 3, 4, 7, 11, file.len() / 2, file.len() - 1] {
            assert!(parquet::read_column(&file[..cut], None).is_err(), "{} cut at {cut}", case.name);
        }
    }
}

fn check(filter: &impl Filter, asked: &[u64]) {
    let one_by_one: Vec<bool> = asked.iter().map(|key| filter.may_contain(key)).collect();
    assert_eq!(filter.may_contain_many(asked), one_by_one, "{} keys", asked.len());
    // More answers than digests: the rest stays as it is.
    let mut answers = vec![true; asked.len() + 3];
    filter.answer(asked.iter().map(|key| filter.hasher().digest(key)), &mut answers);
    assert_eq!(&answers[..asked.len()], one_by_one);
}

#[test]
fn a_bulk_call_answers_as_one_by_one_however_many_keys_there_are() {
    let mut guava = GuavaBloom::create(1_000, 0.2).unwrap();
    let mut redis = RedisBloom::reserve(0.2, 100, Some(2)).unwrap();
    let mut cuckoo = RedisCuckoo::reserve(100).unwrap();
    let keys: Vec<u64> = (0..1_000).collect();
    guava.insert_many(&keys);
    redis.insert_many(&keys).unwrap();
    cuckoo.insert_many(&keys).unwrap();
    for len in [0, 1, 2, 31, 32, 33, 255, 256, 257, 2_000] {
        let asked: Vec<u64> = (500..500 + len).collect();
        check(&guava, &asked);
        check(&redis, &asked);
        check(&cuckoo, &asked);
    }
}

#[test]
fn filters_that_mean_other_keys_are_not_merged() {
    let mut guava = GuavaBloom::create(100, 0.01).unwrap();
    let wider = GuavaBloom::create(1000, 0.01).unwrap();
    let old =
        ForeignBloom::empty(Guava::sized(100, 0.01, Strategy::Mitz32, ProbeRule::Rate).unwrap()).unwrap();
    assert!(guava.union(&wider).unwrap_err().to_string().contains("differ in bits"));
    assert!(guava.union(&old).unwrap_err().to_string().contains("differ in strategy"));
    let mut spark = SparkBloom::create(100, 0.01, Version::V2 { seed: 1 }).unwrap();
    let seeded = SparkBloom::create(100, 0.01, Version::V2 { seed: 2 }).unwrap();
    assert!(spark.union(&seeded).unwrap_err().to_string().contains("seed"));
    assert!(spark.union(&SparkBloom::create(100, 0.01, Version::V1).unwrap()).is_err());
}

/// What reads a format, whatever comes out.
type Reader = fn(&[u8]) -> Result<(), ForeignError>;

const READERS: [Reader; 6] = [
    |bytes| GuavaBloom::from_bytes(bytes).map(drop),
    |bytes| SparkBloom::from_bytes(bytes).map(drop),
    |bytes| DcsoBloom::from_bytes(bytes).map(drop),
    |bytes| RedisBloom::from_bytes(bytes).map(drop),
    |bytes| RedisCuckoo::from_bytes(bytes).map(drop),
    |bytes| parquet::from_bytes(bytes).map(drop),
];

/// A small file of each format, with its reader.
fn samples() -> Vec<(Vec<u8>, Reader)> {
    let file = |path: &str| fs::read(golden(path)).unwrap();
    vec![
        (file("guava/int_edge_8_p03.bin"), READERS[0]),
        (file("spark/v1_str_400_p03.bin"), READERS[1]),
        (file("spark/v2_str_400_p03.bin"), READERS[1]),
        (file("dcso/bytes_150_p01.bloom"), READERS[2]),
        (file("redis/bf_scale_100.chunks"), READERS[3]),
        (file("redis/cf_grow_64.chunks"), READERS[4]),
        (file("parquet/int32_300_p01.sbbf"), READERS[5]),
    ]
}

#[test]
fn a_file_cut_anywhere_is_refused_with_field_and_offset() {
    for (file, read) in samples() {
        for len in 0..file.len() {
            let error = read(&file[..len]).expect_err("a cut file").to_string();
            assert!(error.contains("at byte"), "cut at {len}: {error}");
        }
    }
}

#[test]
fn no_change_of_a_head_makes_a_reader_fall_over() {
    for (file, read) in samples() {
        let mut refused = 0;
        for at in 0..file.len().min(300) {
            for value in [0, 1, 2, 0x7f, 0x80, 0xfe, 0xff, file[at] ^ 1, file[at] ^ 0x80] {
                let mut changed = file.clone();
                changed[at] = value;
                refused += usize::from(read(&changed).is_err());
            }
        }
        assert!(refused > 20, "{refused} refused");
    }
}

#[test]
fn bytes_of_one_format_are_no_other() {
    let samples = samples();
    for (i, (file, own)) in samples.iter().enumerate() {
        for read in READERS.iter().filter(|read| !std::ptr::fn_addr_eq(**read, *own)) {
            assert!(read(file).is_err(), "sample {i}");
        }
        for noise in
            [&b""[..], b"\n", b"a,b\n1,2\n", b"gowk\r\n\x1a\0", &[0; 64], &[0xff; 64], b"hello, world\n"]
        {
            assert_eq!(Format::sniff(noise, noise.len() as u64), None, "{noise:?}");
            assert!(own(noise).is_err());
        }
    }
}

/// Sizes that lie ask for no memory: each of these says petabytes in a few bytes.
#[test]
fn a_size_that_lies_is_refused_before_it_is_believed() {
    let mut dcso = fs::read(golden("dcso/bytes_150_p01.bloom")).unwrap();
    dcso[32..40].copy_from_slice(&(1u64 << 60).to_le_bytes());
    let mut redis = fs::read(golden("redis/bf_one.chunks")).unwrap();
    redis[36..44].copy_from_slice(&(1u64 << 50).to_le_bytes());
    redis[44..52].copy_from_slice(&(1u64 << 53).to_le_bytes());
    let mut cuckoo = fs::read(golden("redis/cf_1000.chunks")).unwrap();
    cuckoo[24..32].copy_from_slice(&(1u64 << 50).to_le_bytes());
    let guava = [1, 7, 0x7f, 0xff, 0xff, 0xff, 0, 0];
    let spark = [0, 0, 0, 1, 0, 0, 0, 7, 0x7f, 0xff, 0xff, 0xff];
    let parquet =
        [0x15, 0xc0, 0xff, 0xff, 0xff, 0x0f, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0];
    let liars: [(&[u8], Reader); 6] = [
        (&guava, READERS[0]),
        (&spark, READERS[1]),
        (&dcso, READERS[2]),
        (&redis, READERS[3]),
        (&cuckoo, READERS[4]),
        (&parquet, READERS[5]),
    ];
    for (bytes, read) in liars {
        let error = read(bytes).expect_err("a lie");
        assert!(matches!(error, ForeignError::Cut { .. } | ForeignError::Field { .. }), "{error}");
    }
    // From a pipe, whose length nobody knows, memory is taken as bytes come.
    assert!(matches!(GuavaBloom::read_from(&guava[..]), Err(ForeignError::Cut { .. })));
    assert!(matches!(DcsoBloom::read_from(&dcso[..]), Err(ForeignError::Cut { .. })));
}

#[test]
fn an_absurd_number_of_probes_is_refused() {
    let mut dcso = fs::read(golden("dcso/bytes_150_p01.bloom")).unwrap();
    dcso[24..32].copy_from_slice(&u64::MAX.to_le_bytes());
    let error = DcsoBloom::from_bytes(&dcso).unwrap_err().to_string();
    assert!(
        error.contains("the number of probes k, at byte 24") && error.contains("18446744073709551615"),
        "{error}"
    );
    let mut spark = fs::read(golden("spark/v1_str_400_p03.bin")).unwrap();
    spark[4..8].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff]);
    let error = SparkBloom::from_bytes(&spark).unwrap_err().to_string();
    assert!(error.contains("at byte 4") && error.contains("2147483647"), "{error}");
}

#[test]
fn an_unknown_version_is_named() {
    let error = SparkBloom::from_bytes(&[0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 1]).unwrap_err().to_string();
    assert_eq!(error, "the version, at byte 0 of the Spark file, is 3; known are 1 and 2");
    let mut dcso = fs::read(golden("dcso/empty_10_p1.bloom")).unwrap();
    dcso[0] = 2;
    let error = DcsoBloom::from_bytes(&dcso).unwrap_err().to_string();
    assert_eq!(error, "the version, at byte 0 of the DCSO file, is 2; known are 1");
}

#[test]
fn chunks_out_of_order_are_refused() {
    let file = fs::read(golden("redis/bf_scale_100.chunks")).unwrap();
    let mut chunks: Vec<Chunk<'_>> = Chunks::new(&file).map(|chunk| chunk.unwrap().1).collect();
    chunks.swap(1, 2);
    let error = RedisBloom::from_chunks(chunks.clone()).unwrap_err().to_string();
    assert!(error.contains("chunks must come in order"), "{error}");
    chunks.swap(1, 2);
    chunks.remove(0);
    assert!(RedisBloom::from_chunks(chunks).unwrap_err().to_string().contains("it must be 1, the header"));
}

#[test]
fn what_stands_behind_a_filter_is_kept_or_refused() {
    let mut guava = fs::read(golden("guava/int_edge_8_p03.bin")).unwrap();
    guava.push(0);
    let error = GuavaBloom::from_bytes(&guava).unwrap_err().to_string();
    assert!(error.contains("should end at byte 14 and has 15"), "{error}");
    assert!(GuavaBloom::read_from(&guava[..]).is_err());
    let mut dcso = DcsoBloom::create(10, 0.1).unwrap();
    dcso.set_data(b"mine".to_vec());
    assert_eq!(DcsoBloom::from_bytes(&dcso.to_bytes()).unwrap().maker().data(), b"mine");
}

fn same(hash: &gowk::Hasher, key: &impl Key, bytes: &[u8]) {
    assert_eq!(hash.digest(key), hash.bytes(bytes));
}

#[test]
fn key_types_are_the_bytes_that_their_makers_hash() {
    use gowk::format::foreign::keys::{Double, Float, Int, Utf16};
    let hash = *GuavaBloom::create(1, 0.01).unwrap().hasher();
    same(&hash, &Int(-2), &[0xfe, 0xff, 0xff, 0xff]);
    same(&hash, &-2i64, &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    same(&hash, &Double(1.0), &[0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
    same(&hash, &Float(1.0), &[0, 0, 0x80, 0x3f]);
    same(&hash, &Utf16("a😀"), &[0x61, 0, 0x3d, 0xd8, 0x00, 0xde]);
}

/// Ids as Roaring keeps them in each of its three ways: a few, many, and in a row.
fn ids() -> Vec<u32> {
    let spread = (0..3_000u32).map(|i| i * 17);
    let dense = (0..20_000u32).map(|i| (5 << 16) + i * 3);
    spread.chain(dense).chain(9 << 16..(9 << 16) + 40_000).chain([u32::MAX]).collect()
}

#[test]
fn sets_of_croaring_are_read_and_written() {
    use gowk::{
        IntegerSet,
        format::roaring::{Width, from_bytes, to_bytes},
    };
    let ids = ids();
    let mut bitmap = croaring::Bitmap::of(&ids);
    let mut treemap: croaring::Treemap =
        ids.iter().flat_map(|id| [u64::from(*id), u64::from(*id) + (5 << 32)]).collect();
    for optimized in [false, true] {
        if optimized {
            assert!(bitmap.run_optimize() && treemap.run_optimize());
        }
        let file = bitmap.serialize::<croaring::Portable>();
        let (set, width) = from_bytes(&file).unwrap();
        assert_eq!(width, Width::Bits32);
        assert!(set.iter().eq(bitmap.iter().map(u64::from)));
        assert_eq!(to_bytes(&set, Width::Bits32).unwrap(), file);
        assert_eq!(Format::sniff(&file, file.len() as u64), Some(Format::Roaring));

        let file = treemap.serialize::<croaring::Portable>();
        let (set, width) = from_bytes(&file).unwrap();
        assert_eq!(width, Width::Bits64);
        assert!(set.iter().eq(treemap.iter()));
        let ours = to_bytes(&set, Width::Bits64).unwrap();
        assert_eq!(croaring::Treemap::try_deserialize::<croaring::Portable>(&ours), Some(treemap.clone()));
        assert_eq!(Format::sniff(&file, file.len() as u64), Some(Format::Roaring));
        let wide = to_bytes(&set, Width::Bits32).unwrap_err();
        assert!(wide.id > u64::from(u32::MAX), "{wide}");
        for cut in (0..file.len()).step_by(97) {
            assert!(from_bytes(&file[..cut]).is_err(), "cut at {cut}");
        }
        assert!(
            from_bytes(&[&file[..], b"x"].concat()).unwrap_err().to_string().contains("should end at byte")
        );
    }
}
