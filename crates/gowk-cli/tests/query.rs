//! `gowk query` and what it needs, on real files.

use assert_cmd::Command;
use std::{fs, path::PathBuf};
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

fn gowk() -> Command {
    Command::cargo_bin("gowk").unwrap()
}

#[test]
fn a_list_is_asked_exactly_and_in_the_order_asked() {
    let folder = Folder::new();
    let known = folder.file("known", "a\nb\nc\nd\ne\nf\ng\nh\n");
    let asked = folder.file("asked", "z\nc\na\nc\n");
    gowk().arg("query").args([&known, &asked]).assert().success().stdout("c\na\nc\n");
    // The other way round, the known list is the smaller side.
    gowk().arg("query").args([&asked, &known]).assert().success().stdout("a\nc\n");
    gowk().args(["query", "-v"]).args([&known, &asked]).assert().success().stdout("z\n");
    gowk().args(["query", "-c"]).args([&known, &asked]).assert().success().stdout("3\n");
    gowk().args(["query", "-q"]).args([&known, &asked]).assert().success().stdout("");
}

#[test]
fn standard_input_is_asked_where_no_file_is() {
    let folder = Folder::new();
    let known = folder.file("known", "a\nb\n");
    gowk().arg("query").arg(&known).write_stdin("b\nx").assert().success().stdout("b\n");
    gowk().arg("query").arg(&known).arg("-").write_stdin("x").assert().code(1).stdout("");
}

#[test]
fn several_files_are_asked_one_after_another() {
    let folder = Folder::new();
    let known = folder.file("known", "a\nb\nc\nd\ne\nf\ng\n");
    let (one, two) = (folder.file("one", "a"), folder.file("two", "b\n"));
    gowk().arg("query").args([&known, &one, &two]).assert().success().stdout("a\nb\n");
}

#[test]
fn line_ends_and_odd_bytes_are_taken_as_they_are() {
    let folder = Folder::new();
    let known = folder.file("known", b"dos\r\n\xff\xfe\n\nlast");
    let asked = folder.file("asked", b"dos\n\xff\xfe\r\n\nlast\nLAST\n");
    gowk().arg("query").args([&known, &asked]).assert().success().stdout(&b"dos\n\xff\xfe\n\nlast\n"[..]);
}

#[test]
fn a_line_longer_than_any_buffer_is_a_key() {
    let folder = Folder::new();
    let long = "x".repeat(3 << 20);
    let known = folder.file("known", format!("short\n{long}\nother\n"));
    let asked = folder.file("asked", format!("{long}\n{long}y\n"));
    gowk().arg("query").args([&known, &asked]).assert().success().stdout(format!("{long}\n"));
}

#[test]
fn nothing_found_is_told_by_the_exit_code() {
    let folder = Folder::new();
    let (empty, asked) = (folder.file("empty", ""), folder.file("asked", "a\n"));
    gowk().arg("query").args([&empty, &asked]).assert().code(1).stdout("");
    gowk().arg("query").args([&asked, &empty]).assert().code(1).stdout("");
    gowk().args(["query", "-c"]).args([&empty, &empty]).assert().code(1).stdout("0\n");
}

#[test]
fn a_filter_is_built_told_about_and_asked() {
    let folder = Folder::new();
    let keys: String = (0..5_000).map(|i| format!("key {i}\n")).collect();
    let keys = folder.file("keys", keys);
    let filter = folder.path("keys.gowk");
    gowk()
        .arg("build")
        .arg(&keys)
        .arg("-o")
        .arg(&filter)
        .args(["--fpp", "0.1%"])
        .assert()
        .success()
        .stdout("");
    let out = gowk().args(["query", "-c"]).args([&filter, &keys]).assert().success();
    out.stdout("5000\n");
    gowk().arg("query").arg(&filter).write_stdin("key 7\nno such key\n").assert().success().stdout("key 7\n");
    let told = gowk().args(["info", "--verify"]).arg(&filter).assert().success();
    let told = String::from_utf8(told.get_output().stdout.clone()).unwrap();
    assert!(told.contains("blocked bloom") && told.contains("5,000 keys at 0.1 %"), "{told}");
    // The file is as small as the keys allow, though nobody said how many would come.
    assert!(fs::metadata(&filter).unwrap().len() < 5_000 * 15 / 8 * 6 / 5, "{told}");
}

#[test]
fn a_filter_of_nothing_holds_nothing() {
    let folder = Folder::new();
    let (empty, filter) = (folder.file("empty", ""), folder.path("empty.gowk"));
    gowk().arg("build").arg(&empty).arg("-o").arg(&filter).assert().success();
    let told = gowk().arg("info").arg(&filter).assert().success();
    let told = String::from_utf8(told.get_output().stdout.clone()).unwrap();
    assert!(told.contains("holds about  0 keys"), "{told}");
    gowk().arg("query").arg(&filter).write_stdin("a\n").assert().code(1).stdout("");
}

#[test]
fn a_fixed_seed_gives_the_same_file() {
    let folder = Folder::new();
    let keys = folder.file("keys", "a\nb\n");
    let (one, two) = (folder.path("one.gowk"), folder.path("two.gowk"));
    for filter in [&one, &two] {
        gowk()
            .arg("build")
            .arg(&keys)
            .arg("-o")
            .arg(filter)
            .args(["--seed", "7", "--items", "1k"])
            .assert()
            .success();
    }
    assert_eq!(fs::read(one).unwrap(), fs::read(two).unwrap());
}

#[test]
fn errors_say_what_and_where() {
    let folder = Folder::new();
    let keys = folder.file("keys", "a\n");
    let error = |args: &[&str], text: &str| {
        let out = gowk().args(args).current_dir(folder.0.path()).assert().code(2);
        let stderr = String::from_utf8(out.get_output().stderr.clone()).unwrap();
        assert!(stderr.contains(text), "{args:?}: {stderr}");
    };
    error(&["query", "none", "keys"], "gowk: cannot open none: No such file or directory (os error 2)\n");
    error(&["query", "keys", "none"], "cannot open none");
    error(&["query", "keys", "."], "is a directory");
    error(&["query"], "Usage");
    error(&["build", "keys", "-o", "keys"], "--force");
    error(&["build", "keys", "-o", "x", "--fpp", "2"], "above 0 and below 1");
    error(&["build", "keys", "-o", "no/such/x"], "cannot write no/such/x");
    error(&["info", "keys"], "is not the file of a filter");

    gowk().arg("build").arg(&keys).arg("-o").arg(folder.path("f.gowk")).assert().success();
    let mut bytes = fs::read(folder.path("f.gowk")).unwrap();
    bytes.truncate(bytes.len() - 1);
    folder.file("cut.gowk", &bytes);
    error(&["query", "cut.gowk", "keys"], "the file is cut");
    error(&["info", "cut.gowk"], "the file is cut");
}

#[test]
fn a_reader_that_has_enough_is_no_error() {
    let folder = Folder::new();
    let keys: String = (0..200_000).map(|i| format!("{i}\n")).collect();
    let keys = folder.file("keys", keys);
    let program = assert_cmd::cargo::cargo_bin("gowk");
    let script =
        format!("{} query {1} {1} | head -n 1; exit ${{PIPESTATUS[0]}}", program.display(), keys.display());
    Command::new("bash").arg("-c").arg(script).assert().success().stdout("0\n").stderr("");
}
