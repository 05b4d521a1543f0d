//! The jobs against the tools that they replace, on data of every awkward shape, at memory limits that force no, one and two
//! levels of spilling.

use gowk_jobs::{
    Compare, Distinct, JobError, OnceInts, Operation, Options, Order, Output, Records, Stats, Top, Which,
    input::{Input, KeySpec, Keys, Progress, Source},
};
use proptest::prelude::*;
use std::{collections::BTreeMap, fs, io, path::Path, process::Command};

const NEVER_SPILLS: u64 = 256 << 20;
const MEMORY: [u64; 3] = [NEVER_SPILLS, 600 << 10, 1];

fn options(memory: u64, threads: usize, dir: &Path) -> Options {
    Options::default().memory(memory).threads(threads.try_into().unwrap()).temp_dir(dir)
}

fn lines_of(path: &Path) -> Records<'static> {
    Records::files(Input::new([Source::from(path)]).unwrap(), Keys::lines())
}

/// What a job writes.
fn written(job: impl FnOnce(&mut Output<'_>) -> Result<Stats, JobError>) -> (Vec<u8>, Stats) {
    let mut bytes = Vec::new();
    let stats = job(&mut Output::lines(&mut bytes, b'\n')).unwrap();
    (bytes, stats)
}

/// The rows of a job, as `count value`.
fn rows(job: impl FnOnce(&mut Output<'_>) -> Result<Stats, JobError>) -> Vec<(u64, Vec<u8>)> {
    let mut rows = Vec::new();
    let mut output = Output::rows(|row| {
        rows.push((row.count, row.line.to_vec()));
        Ok(())
    });
    job(&mut output).unwrap();
    drop(output);
    rows
}

fn shell(dir: &Path, command: &str) -> Vec<u8> {
    let out = Command::new("sh").arg("-c").arg(command).env("LC_ALL", "C").current_dir(dir).output().unwrap();
    assert!(out.status.success(), "{command}: {}", String::from_utf8_lossy(&out.stderr));
    out.stdout
}

fn sorted(bytes: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    lines.sort_unstable();
    lines
}

/// Numbers that look random.
fn dice(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
}

/// Data by name, as `sort` understands it: lines that end with a newline, the last perhaps not.
fn shapes() -> Vec<(&'static str, Vec<u8>)> {
    let mut roll = dice(1);
    let mut zipf = Vec::new();
    for _ in 0..60_000 {
        let unit = (roll() >> 11) as f64 / (1u64 << 53) as f64;
        zipf.extend_from_slice(format!("query {}\n", (40_000f64.powf(unit)) as u64).as_bytes());
    }
    let different: Vec<u8> =
        (0..60_000).flat_map(|i| format!("{:x}\n", i * 7919 % 65_537).into_bytes()).collect();
    let mut giant_key = b"rare\n".to_vec();
    for i in 0..50_000 {
        giant_key
            .extend_from_slice(if i % 1000 == 999 { format!("r{i}\n") } else { "hot\n".into() }.as_bytes());
    }
    let mut long = Vec::new();
    for i in [1u8, 2, 1, 3, 2, 1] {
        long.extend(std::iter::repeat_n(b'a' + i, 1 << 20));
        long.push(b'\n');
        long.extend_from_slice(b"short\n");
    }
    let bytes: Vec<u8> =
        (0..100_000).map(|_| [0u8, b'\n', 1, 255, b'a'][(roll() % 5) as usize]).chain([b'\n']).collect();
    vec![
        ("zipf", zipf),
        ("all different", different),
        ("all equal", b"the same line\n".repeat(50_000)),
        ("one giant key", giant_key),
        ("empty lines", b"\n\n\na\n\nb\n\n".repeat(1000)),
        ("no final newline", b"a\nb\na\nc".to_vec()),
        ("one line", b"a\n".to_vec()),
        ("one empty line", b"\n".to_vec()),
        ("lines of a megabyte", long),
        ("NUL and other bytes", bytes),
        ("no bytes", Vec::new()),
    ]
}

#[test]
fn distinct_is_sort_u_in_the_order_of_first_appearance() {
    for (name, data) in shapes() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("data");
        fs::write(&file, &data).unwrap();
        let unique = shell(dir.path(), "sort -u data");
        let mut seen = std::collections::HashSet::new();
        let in_order: Vec<&[u8]> = data.split(|byte| *byte == b'\n').collect();
        let in_order = match in_order.split_last() {
            Some(([], rest)) => rest.to_vec(),
            _ => in_order,
        };
        let in_order: Vec<u8> = in_order
            .into_iter()
            .filter(|line| seen.insert(*line))
            .flat_map(|line| [line, b"\n"].concat())
            .collect();
        for memory in MEMORY {
            for threads in [1, 2, 3] {
                let options = options(memory, threads, dir.path());
                let told = format!("{name}, {memory} bytes, {threads} threads");
                let (found, stats) = written(|out| Distinct::default().run(&lines_of(&file), &options, out));
                assert!(found == in_order, "{told}: {} bytes, not {}", found.len(), in_order.len());
                assert!(sorted(&found) == sorted(&unique), "{told}");
                assert_eq!(stats.distinct, seen.len() as u64, "{told}");
                let any = Distinct::default().order(Order::Any);
                let (found, _) = written(|out| any.run(&lines_of(&file), &options, out));
                assert!(sorted(&found) == sorted(&unique), "{told}, any order");
            }
        }
    }
}

#[test]
fn counts_duplicates_and_singles_are_those_of_uniq() {
    for (name, data) in shapes() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("data");
        fs::write(&file, &data).unwrap();
        let counted: Vec<(u64, Vec<u8>)> = {
            let mut counts = BTreeMap::<Vec<u8>, u64>::new();
            for line in shell(dir.path(), "sort data").split_inclusive(|byte| *byte == b'\n') {
                *counts.entry(line[..line.len() - 1].to_vec()).or_default() += 1;
            }
            counts.into_iter().map(|(line, count)| (count, line)).collect()
        };
        let twice = shell(dir.path(), "sort data | uniq -d");
        let once = shell(dir.path(), "sort data | uniq -u");
        for memory in MEMORY {
            let options = options(memory, 2, dir.path());
            let mut found = rows(|out| Distinct::default().counts(true).run(&lines_of(&file), &options, out));
            found.sort_by(|a, b| a.1.cmp(&b.1));
            assert!(found == counted, "{name}, {memory} bytes: counts");
            for (which, expected) in [(Which::Duplicates, &twice), (Which::Once, &once)] {
                for order in [Order::First, Order::Any] {
                    let job = Distinct::default().which(which).order(order);
                    let (found, _) = written(|out| job.run(&lines_of(&file), &options, out));
                    assert!(
                        sorted(&found) == sorted(expected),
                        "{name}, {memory} bytes: {which:?} {order:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_top_is_that_of_sort_and_uniq() {
    for (name, data) in shapes() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("data");
        fs::write(&file, &data).unwrap();
        // Highest count first, then by bytes.
        let mut counts = BTreeMap::<Vec<u8>, u64>::new();
        for line in shell(dir.path(), "sort data").split_inclusive(|byte| *byte == b'\n') {
            *counts.entry(line[..line.len() - 1].to_vec()).or_default() += 1;
        }
        let mut expected: Vec<(u64, Vec<u8>)> =
            counts.into_iter().map(|(line, count)| (count, line)).collect();
        expected.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        for memory in MEMORY {
            for k in [0, 1, 10, 1000] {
                let options = options(memory, 2, dir.path());
                let expected = &expected[..k.min(expected.len())];
                let found = rows(|out| Top::new(k).run(&lines_of(&file), &options, out));
                assert!(found == expected, "{name}, {memory} bytes, top {k}");
                // From a pipe, or an iterator: what does not fit is spilled.
                let lines: Vec<Vec<u8>> =
                    fs::read(&file).unwrap().split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
                let keys = lines.iter().map(|line| line.strip_suffix(b"\n").unwrap_or(line));
                let found = rows(|out| Top::new(k).run(&Records::from_iter(keys), &options, out));
                assert!(found == expected, "{name}, {memory} bytes, top {k} of an iterator");
            }
        }
    }
}

#[test]
fn intersection_and_difference_are_those_of_comm() {
    let shapes = shapes();
    let pairs = [(0, 3), (0, 0), (1, 0), (4, 5), (5, 4), (8, 3), (9, 9), (10, 0), (0, 10), (2, 2), (1, 1)];
    for (a, b) in pairs {
        let dir = tempfile::tempdir().unwrap();
        let (file_a, file_b) = (dir.path().join("a"), dir.path().join("b"));
        fs::write(&file_a, &shapes[a].1).unwrap();
        // Half of it, so that some is in one only.
        let half = shapes[b].1.len() / 2;
        let cut = shapes[b].1[half..].iter().position(|byte| *byte == b'\n').map_or(half, |at| half + at + 1);
        fs::write(&file_b, &shapes[b].1[..cut]).unwrap();
        let both = shell(dir.path(), "sort -u a > x; sort -u b > y; comm -12 x y");
        let only = shell(dir.path(), "comm -23 x y");
        for memory in MEMORY {
            for threads in [1, 2] {
                let options = options(memory, threads, dir.path());
                let told = format!("{} and {}, {memory} bytes, {threads} threads", shapes[a].0, shapes[b].0);
                for (operation, expected) in [(Operation::Intersect, &both), (Operation::Subtract, &only)] {
                    let job = Compare::new(operation);
                    let run =
                        |out: &mut Output<'_>| job.run(&lines_of(&file_a), &lines_of(&file_b), &options, out);
                    let (found, _) = written(run);
                    assert!(sorted(&found) == sorted(expected), "{told}, {operation:?}");
                    // In the order of the first input.
                    let (distinct, _) =
                        written(|out| Distinct::default().run(&lines_of(&file_a), &options, out));
                    let expected: std::collections::HashSet<&[u8]> = sorted(expected).into_iter().collect();
                    let in_order =
                        distinct.split_inclusive(|b| *b == b'\n').filter(|line| expected.contains(line));
                    assert!(found == in_order.collect::<Vec<_>>().concat(), "{told}, {operation:?}: order");
                }
            }
        }
    }
}

#[test]
fn many_common_keys_are_all_found() {
    let dir = tempfile::tempdir().unwrap();
    let keys = |from: u64, to: u64| Records::from_fn(move || (from..to).map(|i| i.to_string()));
    let (ours, theirs) = (keys(0, 900_000), keys(100_000, 1_000_000));
    let expected: String = (100_000..900_000).map(|i| format!("{i}\n")).collect();
    let options = options(NEVER_SPILLS, 2, dir.path());
    let job = Compare::new(Operation::Intersect);
    let (found, _) = written(|out| job.run(&ours, &theirs, &options, out));
    assert!(found == expected.as_bytes());
}

fn by_field(path: &Path, number: usize) -> Records<'static> {
    let spec = KeySpec::Field { number: number.try_into().unwrap(), delimiter: b',' };
    Records::files(Input::new([Source::from(path)]).unwrap(), Keys { spec, ..Keys::default() })
}

#[test]
fn joins_by_a_field_keep_whole_lines_and_their_order() {
    let dir = tempfile::tempdir().unwrap();
    let (orders, customers) = (dir.path().join("orders"), dir.path().join("customers"));
    let mut roll = dice(3);
    let text = |n: u64, roll: &mut dyn FnMut() -> u64| -> String {
        (0..n).map(|i| format!("{i},{},x\r\n", roll() % 20_000)).collect()
    };
    fs::write(&orders, text(30_000, &mut roll)).unwrap();
    fs::write(&customers, text(9_000, &mut roll)).unwrap();
    let known: std::collections::HashSet<String> = fs::read_to_string(&customers)
        .unwrap()
        .lines()
        .map(|line| line.split(',').nth(1).unwrap().to_owned())
        .collect();
    let all = fs::read_to_string(&orders).unwrap();
    for (operation, wanted) in [(Operation::Intersect, true), (Operation::Subtract, false)] {
        let expected: String = all
            .lines()
            .filter(|line| known.contains(line.split(',').nth(1).unwrap()) == wanted)
            .map(|line| format!("{line}\n"))
            .collect();
        for memory in MEMORY {
            let options = options(memory, 2, dir.path());
            let job = Compare::new(operation).all_lines(true);
            let (found, stats) =
                written(|out| job.run(&by_field(&orders, 2), &by_field(&customers, 2), &options, out));
            assert!(found == expected.as_bytes(), "{operation:?}, {memory} bytes");
            assert_eq!(stats.lines, 30_000);
        }
    }
    // As sets, keys are the answer.
    let mut seen = std::collections::HashSet::new();
    let keys = all.lines().map(|line| line.split(',').nth(1).unwrap());
    let expected: String =
        keys.filter(|key| known.contains(*key) && seen.insert(*key)).map(|key| format!("{key}\n")).collect();
    for memory in MEMORY {
        let options = options(memory, 2, dir.path());
        let job = Compare::new(Operation::Intersect);
        let (found, _) =
            written(|out| job.run(&by_field(&orders, 2), &by_field(&customers, 2), &options, out));
        assert!(found == expected.as_bytes(), "keys, {memory} bytes");
    }
    // Distinct by a field prints the first line of each key.
    let mut seen = std::collections::HashSet::new();
    let expected: String = all
        .lines()
        .filter(|line| seen.insert(line.split(',').nth(1).unwrap()))
        .map(|line| format!("{line}\n"))
        .collect();
    for memory in MEMORY {
        let options = options(memory, 2, dir.path());
        let (found, _) = written(|out| Distinct::default().run(&by_field(&orders, 2), &options, out));
        assert!(found == expected.as_bytes(), "{memory} bytes");
        let counted = rows(|out| Distinct::default().counts(true).run(&by_field(&orders, 2), &options, out));
        assert_eq!(counted.iter().map(|(count, _)| count).sum::<u64>(), 30_000);
        let lines: Vec<u8> = counted.iter().flat_map(|(_, line)| [line.as_slice(), b"\n"].concat()).collect();
        assert!(lines == expected.as_bytes(), "{memory} bytes, counted");
    }
}

#[test]
fn the_memory_limits_force_no_one_and_two_levels() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("data");
    let data: Vec<u8> =
        (0..500_000u64).flat_map(|i| format!("{:x}\n", i.wrapping_mul(0x9e37_79b9)).into_bytes()).collect();
    fs::write(&file, &data).unwrap();
    for (memory, levels) in [(NEVER_SPILLS, 0), (4 << 20, 1), (1, 2)] {
        let options = options(memory, 2, dir.path());
        let (found, stats) = written(|out| Distinct::default().run(&lines_of(&file), &options, out));
        assert_eq!(stats.levels, levels, "{memory} bytes");
        assert_eq!(stats.spilled > 0, levels > 0);
        assert!(found == data, "{memory} bytes");
        assert!(fs::read_dir(dir.path()).unwrap().count() == 1, "temporary files have no names");
    }
}

#[test]
fn integers_that_come_once_are_those_of_uniq() {
    let dir = tempfile::tempdir().unwrap();
    let mut roll = dice(5);
    let data: [(&str, Vec<i64>); 9] = [
        ("a few beyond one pass", (0..60_000).map(|_| (roll() % 270_000) as i64).collect()),
        (
            "close to the end",
            (0..20_000).map(|_| i64::MAX - (roll() % 15_000) as i64).chain([i64::MAX]).collect(),
        ),
        ("close to the beginning", (0..20_000).map(|_| i64::MIN + (roll() % 15_000) as i64).collect()),
        ("small", (0..20_000).map(|_| (roll() % 15_000) as i64).collect()),
        ("negative too", (0..20_000).map(|_| (roll() % 30_000) as i64 - 15_000).collect()),
        ("32 bits", (0..20_000).map(|_| (roll() >> 32) as i64 / 5000 * 5000).collect()),
        ("far apart", (0..20_000).map(|_| roll() as i64 >> (roll() % 50)).collect()),
        ("at the ends", vec![i64::MAX, i64::MIN, 0, i64::MIN, 5]),
        ("none", vec![]),
    ];
    for (name, numbers) in data {
        let file = dir.path().join("ints");
        fs::write(&file, numbers.iter().map(|n| format!("{n}\n")).collect::<String>()).unwrap();
        let expected = shell(dir.path(), "sort ints | uniq -u");
        for memory in [NEVER_SPILLS, 8 << 20, 1] {
            let options = options(memory, 2, dir.path());
            let (found, _) = written(|out| OnceInts.run(&lines_of(&file), &options, out));
            assert!(sorted(&found) == sorted(&expected), "{name}, {memory} bytes");
        }
    }
}

#[test]
fn what_is_no_integer_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ints");
    for (text, said) in [
        ("1\n2\nthree\n", "3: \"three\" is not an integer"),
        ("9\n9223372036854775808\n", "2: 9223372036854775808 does not fit"),
    ] {
        fs::write(&file, text).unwrap();
        let error = OnceInts.run(&lines_of(&file), &Options::default(), &mut Output::nowhere()).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[test]
fn an_approximate_comparison_errs_to_one_side_only() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a"), dir.path().join("b"));
    fs::write(&a, (0..20_000).map(|i| format!("{i}\n")).collect::<String>()).unwrap();
    fs::write(&b, (10_000..30_000).map(|i| format!("{i}\n")).collect::<String>()).unwrap();
    let options = options(NEVER_SPILLS, 2, dir.path()).seed(1);
    for (operation, least) in [(Operation::Intersect, 10_000), (Operation::Subtract, 9_500)] {
        let mut lines = Vec::new();
        let output = &mut Output::lines(&mut lines, b'\n');
        let (stats, error) =
            Compare::new(operation).approximately(&lines_of(&a), &lines_of(&b), &options, output).unwrap();
        assert!(error.fpp > 0.0 && error.fpp < 0.02, "{}", error.fpp);
        let most = if operation == Operation::Intersect { 10_500 } else { 10_000 };
        assert!((least..=most).contains(&stats.found), "{operation:?}: {}", stats.found);
    }
}

#[test]
fn approximate_counts_are_never_too_low() {
    let (_, data) = shapes().swap_remove(0);
    let keys: Vec<&[u8]> = data.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let mut counts = BTreeMap::<&[u8], u64>::new();
    keys.iter().for_each(|key| *counts.entry(key).or_default() += 1);
    let mut top = Vec::new();
    let records = Records::from_iter(keys.iter());
    let mut output = Output::rows(|row| {
        top.push((row.line.to_vec(), row.count));
        Ok(())
    });
    let (_, error) = Top::new(20).approximately(&records, &Options::default(), &mut output).unwrap();
    drop(output);
    assert_eq!(top.len(), 20);
    for (key, count) in top {
        let exact = counts[key.as_slice()];
        assert!((exact..=exact + error.over).contains(&count), "{count}, exactly {exact}");
    }
}

#[test]
fn a_cancelled_job_stops_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let progress = Progress::default();
    let options = options(1, 2, dir.path()).progress(&progress);
    let keys = (0..u64::MAX).inspect(|i| {
        if *i == 300_000 {
            progress.cancel();
        }
    });
    let records = Records::from_iter(keys.map(u64::to_le_bytes));
    let error = Distinct::default().run(&records, &options, &mut Output::nowhere()).unwrap_err();
    assert!(error.is_cancelled(), "{error}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn an_output_that_fails_ends_the_job() {
    struct Full;
    impl io::Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let records = Records::from_fn(|| (0..100_000u64).map(u64::to_le_bytes));
    let error =
        Distinct::default().run(&records, &Options::default(), &mut Output::lines(Full, b'\n')).unwrap_err();
    assert!(matches!(error, JobError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe));
}

#[test]
fn a_directory_that_is_not_there_is_an_error() {
    let options = Options::default().memory(1).temp_dir("/nowhere/at/all");
    let records = Records::from_fn(|| (0..1_000_000u64).map(u64::to_le_bytes));
    let error = Distinct::default().run(&records, &options, &mut Output::nowhere()).unwrap_err();
    assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn jobs_agree_with_sets_whatever_the_memory_and_threads(
        a in prop::collection::vec(0u16..3000, 0..4000),
        b in prop::collection::vec(0u16..3000, 0..4000),
        memory in 1u64..2_000_000,
        threads in 1usize..5,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let options = options(memory, threads, dir.path());
        let text = |key: &u16| key.to_string();
        let in_b: std::collections::HashSet<u16> = b.iter().copied().collect();
        let mut seen = std::collections::HashSet::new();
        let first: Vec<u16> = a.iter().copied().filter(|key| seen.insert(*key)).collect();
        let lines = |keys: Vec<u16>| keys.iter().map(|key| format!("{key}\n")).collect::<String>().into_bytes();
        let (ours, theirs) = (|| Records::from_fn(|| a.iter().map(text)), || Records::from_fn(|| b.iter().map(text)));
        let (found, _) = written(|out| Distinct::default().run(&ours(), &options, out));
        prop_assert_eq!(found, lines(first.clone()));
        for (operation, inside) in [(Operation::Intersect, true), (Operation::Subtract, false)] {
            let expected = first.iter().copied().filter(|key| in_b.contains(key) == inside).collect();
            let (found, _) = written(|out| Compare::new(operation).run(&ours(), &theirs(), &options, out));
            prop_assert_eq!(found, lines(expected));
            let expected = a.iter().copied().filter(|key| in_b.contains(key) == inside).collect();
            let job = Compare::new(operation).all_lines(true);
            let (found, _) = written(|out| job.run(&ours(), &theirs(), &options, out));
            prop_assert_eq!(found, lines(expected));
        }
    }
}
