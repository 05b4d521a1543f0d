//! Filters of other systems on the command line: asked, built, converted, described.

use assert_cmd::Command;
use std::{
    fs,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

fn gowk() -> Command {
    Command::cargo_bin("gowk").unwrap()
}

fn golden(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden").join(path)
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// The keys of a case to ask for, and those of them that its maker found.
fn probes(case: &str) -> (String, String) {
    let text = fs::read_to_string(golden(&format!("{case}.probe.txt"))).unwrap();
    let keys = |wanted: &[&str]| -> String {
        let lines = text.lines().filter_map(|line| line.split_once('\t'));
        lines.filter(|(answer, _)| wanted.contains(answer)).map(|(_, key)| format!("{key}\n")).collect()
    };
    (keys(&["0", "1"]), keys(&["1"]))
}

#[test]
fn every_format_is_told_by_its_bytes_and_answered_as_its_maker_answers() {
    for (case, extension, key_type) in [
        ("guava/int_overfull_100_p1", "bin", Some("i32")),
        ("guava/long_rand_2000_p001", "bin", Some("i64")),
        ("guava/bytes_700_p01", "bin", Some("hex")),
        ("spark/v1_long_seq_1000_p01", "bin", Some("i64")),
        ("spark/v2_bytes_300_p02_seed7", "bin", Some("hex")),
        ("redis/bf_scale_100", "chunks", Some("hex")),
        ("redis/cf_grow_64", "chunks", Some("hex")),
        ("parquet/int64_1000_p01", "sbbf", Some("i64")),
        ("parquet/int64_1000_p01", "parquet", None),
        ("parquet/double_200_p05", "parquet", None),
        ("parquet/fixed16_100_p1", "parquet", Some("hex")),
        ("dcso/bytes_150_p01", "bloom", Some("hex")),
    ] {
        let (asked, found) = probes(case);
        let mut command = gowk();
        command.arg("query").arg(golden(&format!("{case}.{extension}"))).write_stdin(asked);
        if let Some(key_type) = key_type {
            command.args(["--key-type", key_type]);
        }
        let code = i32::from(found.is_empty());
        command.assert().code(code).stdout(found);
    }
}

#[test]
fn a_format_without_a_head_is_asked_and_built_by_its_name() {
    let folder = folder();
    let (asked, found) = probes("leveldb/users_400_10");
    let filter = golden("leveldb/users_400_10.filter");
    let query = |file: &Path| {
        let mut command = gowk();
        command.arg("query").arg(file).args(["--format", "leveldb", "--key-type", "hex"]);
        command.write_stdin(&*asked).assert().success().stdout(found.clone());
    };
    query(&filter);
    let built = folder.path().join("built");
    let keys = golden("leveldb/users_400_10.inserted.txt");
    gowk()
        .args(["build", "--format", "leveldb", "--key-type", "hex", "--fpp", "1%"])
        .arg(keys)
        .arg("-o")
        .arg(&built)
        .assert()
        .success();
    assert_eq!(fs::read(&built).unwrap(), fs::read(&filter).unwrap());
    query(&built);
    // Neither keys nor rate are in the file.
    let info = gowk().arg("info").arg(&built).args(["--format", "leveldb"]).assert().success();
    let told = String::from_utf8_lossy(&info.get_output().stdout).into_owned();
    assert!(told.contains("about 4") && told.contains("the file does not say"), "{told}");
}

#[test]
fn a_roaring_set_of_32_bits_is_asked_changed_and_stays_one() {
    let folder = folder();
    let path = folder.path().join("ids.roaring");
    let set: roaring::RoaringBitmap = (0..1000).map(|i| 7 * i).collect();
    set.serialize_into(fs::File::create(&path).unwrap()).unwrap();
    gowk().arg("query").arg(&path).write_stdin("7\n8\n14\n").assert().success().stdout("7\n14\n");
    gowk().arg("add").arg(&path).write_stdin("8\n").assert().success();
    let now = roaring::RoaringBitmap::deserialize_from(fs::File::open(&path).unwrap()).unwrap();
    assert_eq!(now, set | roaring::RoaringBitmap::from([8]));
    // Ids that 32 bits cannot hold are refused, and nothing is changed.
    let before = fs::read(&path).unwrap();
    gowk().arg("add").arg(&path).write_stdin("5000000000\n").assert().code(2);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn the_well_known_example_comes_out_to_the_digit() {
    let folder = folder();
    let numbers = |range: std::ops::Range<u32>| range.map(|i| format!("{i}\n")).collect::<String>();
    let (keys, asked) = (folder.path().join("keys"), folder.path().join("asked"));
    let filter = folder.path().join("F.bin");
    fs::write(&keys, numbers(0..1_000_000)).unwrap();
    fs::write(&asked, numbers(1_000_000..1_100_000)).unwrap();
    gowk()
        .args([
            "build",
            "--format",
            "guava",
            "--key-type",
            "i32",
            "--items",
            "1000000",
            "--fpp",
            "0.01",
            "-o",
        ])
        .args([&filter, &keys])
        .assert()
        .success();
    assert_eq!(fs::metadata(&filter).unwrap().len(), 1_198_142);
    gowk()
        .args(["query", "-c", "--format", "guava", "--key-type", "i32"])
        .args([&filter, &asked])
        .assert()
        .stdout("947\n");
    let info = gowk().arg("info").arg(&filter).assert().success();
    let text = String::from_utf8(info.get_output().stdout.clone()).unwrap();
    assert!(text.contains("MURMUR128_MITZ_64, 9,585,088 bits, 7 probes"), "{text}");
}

#[test]
fn filters_are_built_as_their_makers_build_them() {
    let folder = folder();
    let out = folder.path().join("out");
    for (case, extension, args) in [
        ("guava/int_seq_1000_p01", "bin", &["guava", "1000", "0.01", "i32"][..]),
        ("spark/v1_long_seq_1000_p01", "bin", &["spark-v1", "1000", "0.01", "i64"]),
        ("spark/v2_long_seq_1000_p01", "bin", &["spark-v2", "1000", "0.01", "i64"]),
        ("parquet/int32_300_p01", "sbbf", &["parquet", "300", "0.01", "i32"]),
        ("redis/bf_scale_100", "chunks", &["redisbloom", "100", "0.01", "hex"]),
        ("dcso/bytes_150_p01", "bloom", &["dcso", "200", "0.01", "hex"]),
    ] {
        let [format, items, fpp, key_type] = args else { panic!("four arguments") };
        gowk()
            .args([
                "build",
                "--force",
                "--format",
                format,
                "--items",
                items,
                "--fpp",
                fpp,
                "--key-type",
                key_type,
            ])
            .arg("-o")
            .args([&out, &golden(&format!("{case}.inserted.txt"))])
            .assert()
            .success();
        let expected = fs::read(golden(&format!("{case}.{extension}"))).unwrap();
        assert!(fs::read(&out).unwrap() == expected, "{case}");
    }
}

#[test]
fn what_cannot_be_converted_says_why_and_what_to_do() {
    let folder = folder();
    let (out, guava) = (folder.path().join("out"), golden("guava/int_seq_1000_p01.bin"));
    let refused = gowk().args(["convert", "--to", "spark-v2", "-o"]).args([&out, &guava]).assert().code(2);
    let text = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(
        text.contains("bits of one hash cannot become bits of another") && text.contains("--keys"),
        "{text}"
    );
    assert!(!out.exists());
}

#[test]
fn with_the_keys_every_filter_becomes_every_other() {
    let folder = folder();
    let (out, guava) = (folder.path().join("out"), golden("guava/long_rand_2000_p001.bin"));
    let keys = golden("guava/long_rand_2000_p001.inserted.txt");
    for to in ["gowk", "guava", "spark-v1", "spark-v2", "parquet", "redisbloom", "redis-cuckoo", "dcso"] {
        gowk()
            .args(["convert", "--force", "--key-type", "i64", "--to", to, "-o"])
            .args([&out, &guava])
            .arg("--keys")
            .arg(&keys)
            .assert()
            .success();
        gowk().args(["query", "-c", "--key-type", "i64"]).args([&out, &keys]).assert().stdout("2000\n");
        gowk().arg("info").arg(&out).assert().success();
    }
    // A list that is not the filter's is told apart.
    let other = golden("guava/long_rand_2000_p001.probe.txt");
    let refused = gowk()
        .args(["convert", "--force", "--field", "2", "--key-type", "i64", "--to", "dcso", "-o"])
        .args([&out, &guava])
        .arg("--keys")
        .arg(&other)
        .assert()
        .code(2);
    let text = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(text.contains("799 of 800 keys are surely not in"), "{text}");
}

#[test]
fn where_the_hash_stays_no_keys_are_needed() {
    let folder = folder();
    let (gowk_file, bare) = (folder.path().join("c.gowk"), folder.path().join("c.sbbf"));
    let parquet = golden("parquet/string_500_p001.parquet");
    gowk().args(["convert", "--to", "gowk", "-o"]).args([&gowk_file, &parquet]).assert().success();
    gowk().args(["convert", "--to", "parquet", "-o"]).args([&bare, &gowk_file]).assert().success();
    assert_eq!(fs::read(&bare).unwrap(), fs::read(golden("parquet/string_500_p001.sbbf")).unwrap());
    let again = folder.path().join("again");
    gowk()
        .args(["convert", "--to", "guava", "-o"])
        .args([&again, &golden("guava/int_n0_p5.bin")])
        .assert()
        .success();
    assert_eq!(fs::read(&again).unwrap(), fs::read(golden("guava/int_n0_p5.bin")).unwrap());
}

#[test]
fn a_column_is_asked_for_what_it_holds() {
    let parquet = golden("parquet/int32_300_p01.parquet");
    let refused =
        gowk().args(["query", "--key-type", "text"]).arg(&parquet).write_stdin("7\n").assert().code(2);
    let text = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(text.contains("column c of the Parquet file is INT32") && text.contains("i32"), "{text}");
    let refused = gowk().args(["query", "--column", "d"]).arg(&parquet).write_stdin("7\n").assert().code(2);
    let text = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(text.contains("column d") && text.contains("these have: c"), "{text}");
}

#[test]
fn filters_of_other_systems_are_added_to_merged_and_removed_from() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    for (name, keys) in [("a", "1\n2\n"), ("b", "3\n4\n")] {
        gowk()
            .args(["build", "--format", "guava", "--items", "100", "-o"])
            .arg(at(name))
            .write_stdin(keys)
            .assert()
            .success();
    }
    gowk().arg("add").arg(at("a")).write_stdin("5\n").assert().success();
    gowk().arg("merge").args([at("a"), at("b")]).arg("-o").arg(at("ab")).assert().success();
    gowk().arg("query").arg(at("ab")).write_stdin("1\n2\n3\n4\n5\n6\n").assert().stdout("1\n2\n3\n4\n5\n");
    gowk().arg("remove").arg(at("ab")).write_stdin("1\n").assert().code(2);
    gowk()
        .args(["build", "--format", "redis-cuckoo", "--items", "10", "-o"])
        .arg(at("cf"))
        .write_stdin("x\ny\n")
        .assert()
        .success();
    gowk().arg("remove").arg(at("cf")).write_stdin("x\n").assert().success();
    gowk().arg("query").arg(at("cf")).write_stdin("x\ny\n").assert().stdout("y\n");
}

#[test]
fn a_damaged_file_is_refused_with_field_and_offset() {
    let folder = folder();
    let cut = folder.path().join("cut");
    let whole = fs::read(golden("spark/v1_str_400_p03.bin")).unwrap();
    fs::write(&cut, &whole[..100]).unwrap();
    let refused = gowk().args(["info", "--format", "spark"]).arg(&cut).assert().code(2);
    let text = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(text.contains("the bits, at byte 12, should have 368 bytes and has 88"), "{text}");
}
