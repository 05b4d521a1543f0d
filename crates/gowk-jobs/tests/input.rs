//! What is read is what is in the files: every record once, in order, whatever the block size, compression and threads.

use gowk_jobs::input::{
    Block, Input, InputError, KeySpec, KeyType, Keys, Progress, Separator, Source, for_each_block,
    map_in_order,
};
use proptest::prelude::*;
use std::{
    fs,
    io::Write,
    num::NonZeroUsize,
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
};
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

fn input(paths: &[PathBuf]) -> Input {
    Input::new(paths.iter().map(Source::from)).unwrap()
}

fn threads(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).unwrap()
}

/// Every record, with the line it says it is on.
fn records(input: &Input) -> Result<Vec<(u64, Vec<u8>)>, InputError> {
    let mut records = Vec::new();
    input.for_each_record(|_, record| {
        records.push((record.number, record.line.to_vec()));
        Ok::<_, InputError>(())
    })?;
    Ok(records)
}

/// The obvious way.
fn model(bytes: &[u8], separator: Separator) -> Vec<(u64, Vec<u8>)> {
    let ended = bytes.last().is_none_or(|last| *last == separator.byte());
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == separator.byte()).collect();
    if ended {
        lines.pop();
    }
    let last = lines.len();
    let cut = |(i, line): (usize, &[u8])| match line {
        [line @ .., b'\r'] if separator == Separator::Newline && (ended || i + 1 < last) => line.to_vec(),
        line => line.to_vec(),
    };
    let lines = lines.into_iter().enumerate().map(cut);
    (1..).zip(lines).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    xz.write_all(bytes).unwrap();
    xz.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut zstd = zstd::Encoder::new(Vec::new(), 1).unwrap();
    // As the command does.
    zstd.include_checksum(true).unwrap();
    zstd.write_all(bytes).unwrap();
    zstd.finish().unwrap()
}

/// Text with short lines, long lines, lines longer than a block, and all the ways to end one.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        8 => prop::collection::vec(prop_oneof![Just(b'\r'), Just(0), any::<u8>()], 0..20),
        1 => prop::collection::vec(any::<u8>(), 0..10_000),
    ];
    let end = prop_oneof![4 => Just(&b"\n"[..]), 2 => Just(&b"\r\n"[..]), 1 => Just(&b"\0"[..])];
    (prop::collection::vec((line, end), 0..60), prop::option::of(Just(b"last"))).prop_map(|(lines, last)| {
        let mut text: Vec<u8> =
            lines.into_iter().flat_map(|(line, end)| [line, end.to_vec()].concat()).collect();
        text.extend(last.into_iter().flatten());
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_record_is_read_once_and_in_order(one in text(), two in text(), nul: bool, block in 4096usize..20_000) {
        let folder = Folder::new();
        let separator = if nul { Separator::Nul } else { Separator::Newline };
        let expected = [model(&one, separator), model(&two, separator)].concat();
        let plain = [folder.file("one", &one), folder.file("two", &two)];
        let packed = [folder.file("one.gz", gzip(&one)), folder.file("two.zst", zstd(&two))];
        for paths in [plain, packed] {
            let input = input(&paths).separator(separator).block_size(block);
            prop_assert_eq!(&records(&input).unwrap(), &expected);
            prop_assert_eq!(&records(&input).unwrap(), &expected, "a second time");
        }
    }

    #[test]
    fn results_come_in_order_from_any_number_of_threads(one in text(), many in 1usize..5) {
        let folder = Folder::new();
        let paths = [folder.file("one", &one), folder.file("empty", ""), folder.file("again", &one)];
        let input = input(&paths).block_size(4096);
        let whole = [&one[..], &one[..]].concat();
        let mut read = Vec::new();
        let counts = map_in_order(
            input.blocks(),
            threads(many),
            || 0,
            |count, block| {
                *count += block.lines().count() as u64;
                assert_eq!(block.count(), block.lines().count() as u64);
                Ok::<_, InputError>(block.bytes().to_vec())
            },
            |bytes| {
                read.extend(bytes);
                Ok(())
            },
        ).unwrap();
        prop_assert!(read == whole);
        prop_assert_eq!(counts.iter().sum::<u64>(), 2 * model(&one, Separator::Newline).len() as u64);
        let unordered = for_each_block(input.blocks(), threads(many), || 0, |count, block: &Block| {
            *count += block.bytes().len();
            Ok::<_, InputError>(())
        }).unwrap();
        prop_assert_eq!(unordered.iter().sum::<usize>(), whole.len());
    }
}

#[test]
fn compression_is_told_by_the_bytes_not_by_the_name() {
    let folder = Folder::new();
    let text: String = (0..100_000).map(|i| format!("line {i}\n")).collect();
    let (first, second) = text.as_bytes().split_at(500_003);
    let twice = |pack: fn(&[u8]) -> Vec<u8>| [pack(first), pack(second)].concat();
    let mut skippable = vec![0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    skippable.extend(zstd(text.as_bytes()));
    let files = [twice(gzip), twice(zstd), twice(xz), skippable, text.as_bytes().to_vec()];
    for (i, bytes) in files.into_iter().enumerate() {
        let input = input(&[folder.file(&format!("{i}.txt"), bytes)]);
        assert_eq!(records(&input).unwrap(), model(text.as_bytes(), Separator::Newline), "file {i}");
    }
    // A name proves nothing, and a file too short for any magic is text.
    for text in ["not packed\n", "\u{1f}", "", "\n"] {
        let input = input(&[folder.file("a.gz", text)]);
        assert_eq!(records(&input).unwrap(), model(text.as_bytes(), Separator::Newline));
    }
}

#[test]
fn compressed_files_that_are_cut_or_damaged_say_so() {
    let folder = Folder::new();
    let text: Vec<u8> = (0..50_000).flat_map(|i| format!("line {i}\n").into_bytes()).collect();
    for (name, mut bytes) in [("gzip", gzip(&text)), ("zstd", zstd(&text)), ("xz", xz(&text))] {
        for len in [bytes.len() - 1, bytes.len() / 2, 12] {
            let error =
                records(&input(&[folder.file("cut", &bytes[..len])])).map(drop).unwrap_err().to_string();
            assert!(error.contains("is cut") && error.contains(name), "{len} of {}: {error}", bytes.len());
        }
        let middle = bytes.len() / 2;
        bytes[middle..middle + 8].fill(0xff);
        let error = records(&input(&[folder.file("bad", &bytes)])).map(drop).unwrap_err().to_string();
        assert!(error.contains("bad") && error.contains(name), "{error}");
    }
}

#[test]
fn what_is_not_there_or_no_file_is_said_before_anything_is_read() {
    let folder = Folder::new();
    let there = folder.file("there", "a\n");
    let error = |path: PathBuf| {
        Input::new([Source::from(&there), Source::from(&path)]).map(|_| ()).unwrap_err().to_string()
    };
    assert!(error(folder.0.path().join("none")).contains("cannot open"));
    assert!(error(folder.0.path().into()).contains("is a directory"));
}

#[test]
fn a_record_may_be_as_long_as_the_limit_and_no_longer() {
    let folder = Folder::new();
    let text = format!("short\n{}\nshort\n", "x".repeat(3 << 20));
    let path = folder.file("long", &text);
    assert_eq!(
        records(&input(std::slice::from_ref(&path))).unwrap(),
        model(text.as_bytes(), Separator::Newline)
    );
    match records(&input(&[path]).max_record(1 << 20)).unwrap_err() {
        InputError::RecordTooLong { line: 2, limit, .. } => assert_eq!(limit, 1 << 20),
        other => panic!("{other}"),
    }
}

#[test]
fn a_bad_key_is_named_by_file_and_line_from_every_thread() {
    let folder = Folder::new();
    let mut text: String = (0..100_000).map(|i| format!("x,{i}\n")).collect();
    text.push_str("x,12a\n");
    text.extend((0..100_000).map(|i| format!("x,{i}\n")));
    let (good, bad) = (folder.file("good", "x,1\n"), folder.file("bad", &text));
    let keys = Keys { spec: KeySpec::Field { number: threads(2), delimiter: b',' }, key_type: KeyType::I64 };
    for n in [1, 3] {
        let input = input(&[good.clone(), bad.clone()]);
        let error = for_each_block(
            input.blocks(),
            threads(n),
            || keys.extractor(),
            |keys, block| keys.digests(block, &gowk::Hasher::new(1), &mut Vec::new()),
        );
        let error = error.map(|_| ()).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("{}:100001: \"12a\" is not a whole number", bad.display())),
            "{error}"
        );
    }
}

#[test]
fn an_error_in_the_sink_ends_all_threads() {
    let folder = Folder::new();
    let input = input(&[folder.file("many", "line\n".repeat(500_000))]).block_size(4096);
    let worked = AtomicU64::new(0);
    let result = map_in_order(
        input.blocks(),
        threads(4),
        || (),
        |(), _| {
            worked.fetch_add(1, Ordering::Relaxed);
            Ok::<_, InputError>(())
        },
        |()| Err(InputError::Cancelled),
    );
    assert!(matches!(result, Err(InputError::Cancelled)));
    assert!(worked.load(Ordering::Relaxed) < 400, "{worked:?} of 610 blocks");
}

#[test]
fn progress_counts_what_is_on_disk_and_can_cancel() {
    let folder = Folder::new();
    let text = "line\n".repeat(100_000);
    let (plain, packed) = (folder.file("plain", &text), folder.file("packed", gzip(text.as_bytes())));
    let progress = Progress::default();
    let input = input(&[plain, packed.clone()]).progress(&progress);
    let size = text.len() as u64 + fs::metadata(packed).unwrap().len();
    assert_eq!(input.total_bytes(), Some(size));
    records(&input).unwrap();
    assert_eq!((progress.read(), progress.total()), (size, Some(size)));
    progress.cancel();
    assert!(matches!(records(&input), Err(InputError::Cancelled)));
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_as_it_comes_and_only_once() {
    let folder = Folder::new();
    let path = folder.0.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let input = input(std::slice::from_ref(&path));
    assert_eq!((input.total_bytes(), input.can_be_read_twice()), (None, false));
    let (told, heard) = std::sync::mpsc::channel();
    let writer = std::thread::spawn(move || {
        let mut pipe = fs::File::options().write(true).open(path).unwrap();
        pipe.write_all(b"first\nsec").unwrap();
        // The first line is handed out before the second one is there.
        heard.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
        pipe.write_all(b"ond\n").unwrap();
    });
    let mut lines = Vec::new();
    input
        .for_each_record(|_, record| {
            lines.push(record.line.to_vec());
            told.send(()).ok();
            Ok::<_, InputError>(())
        })
        .unwrap();
    writer.join().unwrap();
    assert_eq!(lines, [&b"first"[..], b"second"]);
}
