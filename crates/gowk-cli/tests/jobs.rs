//! The set jobs as a user meets them: equal to the tools they replace, inside their memory, and nothing left behind.

use assert_cmd::Command;
use std::{
    fs,
    io::{Read, Write},
    path::Path,
    process::{self, Stdio},
    time::Duration,
};

fn gowk() -> Command {
    Command::cargo_bin("gowk").unwrap()
}

fn stdout(command: &mut Command) -> String {
    String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap()
}

fn in_dir(dir: &Path, args: &[&str]) -> String {
    stdout(gowk().current_dir(dir).args(args))
}

#[test]
fn distinct_counts_and_duplicates() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f"), "b\na\nb\n\nc\r\n").unwrap();
    assert_eq!(in_dir(dir.path(), &["distinct", "f"]), "b\na\n\nc\n");
    assert_eq!(in_dir(dir.path(), &["distinct", "--count", "f"]), "2\tb\n1\ta\n1\t\n1\tc\n");
    assert_eq!(in_dir(dir.path(), &["distinct", "--only-duplicates", "f"]), "b\n");
    assert_eq!(in_dir(dir.path(), &["once", "f"]), "a\n\nc\n");
    assert_eq!(in_dir(dir.path(), &["union", "f", "f"]), "b\na\n\nc\n");
}

#[test]
fn top_is_told_as_text_and_as_json() {
    let log = "10.0.0.1 GET /a\n10.0.0.2 GET /b\n10.0.0.1 GET /b\n";
    let top = |args: &[&str]| stdout(gowk().arg("topk").args(args).write_stdin(log));
    assert_eq!(top(&["-k", "1", "-f", "1", "-d", " "]), "2\t10.0.0.1\n");
    assert_eq!(top(&["--regex", "GET (.*)"]), "2\t/b\n1\t/a\n");
    assert_eq!(top(&["-k", "1", "--json", "-f", "1", "-d", " "]), "{\"value\":\"10.0.0.1\",\"count\":2}\n");
    let out = gowk().args(["topk", "--approx", "-f", "1", "-d", " "]).write_stdin(log).assert().success();
    assert!(String::from_utf8_lossy(&out.get_output().stderr).contains("too high by more than 0"));
}

#[test]
fn files_are_compared_as_sets_and_joined_by_a_field() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a"), "1,x\n2,y\n1,z\n3,x\n").unwrap();
    fs::write(dir.path().join("b"), "x,1\nx,9\n").unwrap();
    let run = |args: &[&str]| in_dir(dir.path(), args);
    let by = ["-f", "1", "-d", ",", "--field-b", "2"];
    assert_eq!(run(&[&["intersect", "a", "b"], &by[..]].concat()), "1\n");
    assert_eq!(run(&[&["subtract", "a", "b"], &by[..]].concat()), "2\n3\n");
    assert_eq!(run(&[&["intersect", "--keep-lines", "a", "b"], &by[..]].concat()), "1,x\n1,z\n");
    assert_eq!(run(&[&["subtract", "--keep-lines", "a", "b"], &by[..]].concat()), "2,y\n3,x\n");
    gowk().args(["intersect", "-", "-"]).assert().code(2);
    gowk().current_dir(dir.path()).args(["intersect", "a", "b"]).assert().code(1);
}

#[test]
fn integers_that_come_once_ascend() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f"), "7\n-3\n+7\n4000000000\n007\n0\n").unwrap();
    assert_eq!(in_dir(dir.path(), &["once", "--ints", "f"]), "-3\n0\n4000000000\n");
    fs::write(dir.path().join("f"), "7\nx\n").unwrap();
    let out = gowk().current_dir(dir.path()).args(["once", "--ints", "f"]).assert().code(2);
    assert!(String::from_utf8_lossy(&out.get_output().stderr).contains("f:2: \"x\" is not an integer"));
}

#[test]
fn words_are_found_with_and_without_an_index() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("d/e")).unwrap();
    fs::write(dir.path().join("d/1"), "The gowk follows the titlin.").unwrap();
    fs::write(dir.path().join("d/e/2"), "GOWK, heron; titlin").unwrap();
    fs::write(dir.path().join("list"), "gowk\ntitlin\nowl\n\ngowk\n").unwrap();
    let run = |args: &[&str]| in_dir(dir.path(), args);
    assert_eq!(run(&["words", "list", "d/1", "d/e/2"]), "gowk\td/1\ntitlin\td/1\ntitlin\td/e/2\n");
    assert_eq!(run(&["words", "-i", "list", "d/e/2"]), "gowk\td/e/2\ntitlin\td/e/2\n");
    run(&["index", "build", "d", "-o", "i", "--memory", "100K"]);
    assert_eq!(run(&["index", "find", "i", "titlin"]), "d/1\nd/e/2\n");
    assert_eq!(run(&["index", "find", "i", "titlin", "gowk"]), "d/1\n");
    assert_eq!(run(&["index", "find", "--any", "i", "heron", "gowk"]), "d/1\nd/e/2\n");
    gowk().current_dir(dir.path()).args(["index", "find", "i", "owl"]).assert().code(1);
    gowk().current_dir(dir.path()).args(["index", "find", "list", "owl"]).assert().code(2);
    gowk().current_dir(dir.path()).args(["index", "build", "d", "-o", "i"]).assert().code(2);
}

#[test]
fn a_plan_is_told_and_nothing_done() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f"), "a\n").unwrap();
    for args in [&["distinct", "f"][..], &["intersect", "f", "f"], &["topk", "f"], &["once", "--ints", "f"]] {
        let text = in_dir(dir.path(), &[args, &["--explain", "--memory", "100M"]].concat());
        assert!(text.starts_with("memory 105 MB") && text.contains("1. read the input"), "{text}");
    }
    let out = gowk().current_dir(dir.path()).args(["distinct", "f", "--stats"]).assert().success();
    assert!(String::from_utf8_lossy(&out.get_output().stderr).contains("1 lines; 2 bytes read in 1 passes"));
}

/// Many different lines.
fn numbers(count: u64) -> Vec<u8> {
    (0..count)
        .flat_map(|i| format!("{:016x}\n", i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).into_bytes())
        .collect()
}

#[test]
fn a_reader_who_has_enough_is_not_an_error() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f"), numbers(300_000)).unwrap();
    let mut child = process::Command::new(assert_cmd::cargo::cargo_bin("gowk"))
        .current_dir(dir.path())
        .args(["distinct", "f"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut some = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success() && out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
}

#[cfg(unix)]
#[test]
fn an_interrupt_and_a_kill_leave_nothing() {
    for signal in ["INT", "KILL"] {
        let temp = tempfile::tempdir().unwrap();
        let mut child = process::Command::new(assert_cmd::cargo::cargo_bin("gowk"))
            .args(["distinct", "--memory", "1M", "--temp-dir"])
            .arg(temp.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&numbers(400_000)).unwrap();
        std::thread::sleep(Duration::from_millis(200));
        let kill =
            process::Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
        assert!(kill.unwrap().success());
        let status = child.wait().unwrap();
        assert!(!status.success());
        drop(stdin);
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0, "after {signal}");
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_said() {
    // A limit on the size of files stands for the disk; its signal is ignored, so that the write fails.
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f"), numbers(400_000)).unwrap();
    let bin = assert_cmd::cargo::cargo_bin("gowk");
    let out = process::Command::new("sh")
        .arg("-c")
        .arg("trap '' XFSZ; ulimit -f 200; exec \"$0\" distinct f --memory 1M --temp-dir . > /dev/null")
        .arg(bin)
        .current_dir(dir.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot keep temporary data in .") && said.contains("--temp-dir"), "{said}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn memory_stays_within_the_limit_and_64_megabytes() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f"), numbers(3_000_000)).unwrap();
    for (memory, bytes) in [("1M", 1u64 << 20), ("16M", 16 << 20), ("64M", 64 << 20)] {
        // The shell's child tells its highest resident size, in kilobytes.
        let script = "import resource, subprocess, sys; \
            subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); \
            print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";
        let out = process::Command::new("python3")
            .args(["-c", script])
            .arg(assert_cmd::cargo::cargo_bin("gowk"))
            .args(["distinct", "f", "--memory", memory, "--temp-dir", "."])
            .current_dir(dir.path())
            .output()
            .unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let peak: u64 = String::from_utf8_lossy(&out.stdout).trim().parse::<u64>().unwrap() << 10;
        assert!(peak < bytes + (64 << 20), "{memory}: {peak} bytes at most");
    }
}
