//! Words in files: without an index, and with one that was built in little memory.

use gowk_jobs::{Index, IndexBuilder, IndexError, Options, Words, input::Source};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Some files, and for each word the files that hold it.
fn folder(dir: &Path, files: u64) -> (Vec<PathBuf>, BTreeMap<String, BTreeSet<usize>>) {
    let (mut paths, mut model) = (Vec::new(), BTreeMap::<String, BTreeSet<usize>>::new());
    for file in 0..files {
        let words = 20 + file * file * 7 % 3000;
        let text: Vec<String> = (0..words).map(|i| format!("w{}", (i * i + file * 31) % 5000)).collect();
        for word in text.iter().map(String::as_str).chain(["Straße"]) {
            model.entry(word.to_owned()).or_default().insert(file as usize);
        }
        let path = dir.join(format!("{file:03}.txt"));
        fs::write(&path, text.join(if file % 2 == 0 { " " } else { ",\n" }) + "; Straße.").unwrap();
        paths.push(path);
    }
    (paths, model)
}

#[test]
fn words_are_found_in_the_files_that_hold_them() {
    let dir = tempfile::tempdir().unwrap();
    let (paths, model) = folder(dir.path(), 60);
    let sources: Vec<Source> = paths.iter().map(Source::from).collect();
    let words = ["w1", "w4", "Straße", "straße", "w99999", "w1"];
    for threads in [1, 3] {
        let options = Options::default().threads(threads.try_into().unwrap());
        let (hits, _) = Words::new(words).run(&sources, &options).unwrap();
        for (i, word) in words.iter().enumerate() {
            let found: BTreeSet<usize> =
                hits.iter().filter(|hit| hit.word == i).map(|hit| hit.file).collect();
            assert_eq!(found, model.get(*word).cloned().unwrap_or_default(), "{word}");
        }
        let (hits, _) = Words::new(["STRASSE", "STRAßE"]).ignore_case(true).run(&sources, &options).unwrap();
        assert_eq!(hits.len(), 60);
    }
    assert_eq!(Words::new(["one", "two words", "", "C++", "ümlaut"]).impossible(), [1, 2, 3]);
}

#[test]
fn an_index_built_in_any_memory_is_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let (paths, model) = folder(dir.path(), 60);
    let mut first = None;
    for (memory, threads) in [(1 << 30, 2), (1 << 20, 1), (100 << 10, 2), (1, 3)] {
        let options =
            Options::default().memory(memory).threads(threads.try_into().unwrap()).temp_dir(dir.path());
        let at = dir.path().join("index");
        let stats = IndexBuilder::default().build(&paths, &at, &options).unwrap();
        assert_eq!(stats.job.distinct, model.len() as u64, "{memory} bytes");
        let bytes = fs::read(&at).unwrap();
        assert_eq!(stats.size, bytes.len() as u64);
        assert!(*first.get_or_insert_with(|| bytes.clone()) == bytes, "{memory} bytes, {threads} threads");
        let index = Index::open(&at).unwrap();
        assert_eq!((index.words(), index.files()), (model.len() as u64, 60));
        for (word, files) in &model {
            let found: BTreeSet<usize> =
                index.find(word.as_bytes()).unwrap().iter().map(|f| *f as usize).collect();
            assert_eq!(found, *files, "{word}");
        }
        assert_eq!(index.find(b"heron").unwrap(), []);
        assert_eq!(index.path(7).unwrap(), paths[7].as_os_str().as_encoded_bytes());
    }
    let files: Vec<_> = fs::read_dir(dir.path()).unwrap().collect();
    assert_eq!(files.len(), 61, "nothing but the texts and the index");
}

#[test]
fn an_index_may_ignore_case_and_be_empty() {
    let dir = tempfile::tempdir().unwrap();
    let (file, at) = (dir.path().join("text"), dir.path().join("index"));
    fs::write(&file, "Gowk GOWK ÄRGER").unwrap();
    let builder = IndexBuilder::default().ignore_case(true);
    builder.build(&[file], &at, &Options::default()).unwrap();
    let index = Index::open(&at).unwrap();
    assert_eq!(
        (index.find("gOwK".as_bytes()).unwrap(), index.find("ärger".as_bytes()).unwrap()),
        (vec![0], vec![0])
    );
    builder.build(&[], &at, &Options::default()).unwrap();
    let index = Index::open(&at).unwrap();
    assert_eq!((index.words(), index.find(b"gowk").unwrap()), (0, vec![]));
}

#[test]
fn a_damaged_index_is_refused_or_answers_without_a_panic() {
    let dir = tempfile::tempdir().unwrap();
    let (paths, _) = folder(dir.path(), 5);
    let at = dir.path().join("index");
    IndexBuilder::default().build(&paths, &at, &Options::default()).unwrap();
    let whole = fs::read(&at).unwrap();
    for len in (0..whole.len()).step_by(1 + whole.len() / 97) {
        fs::write(&at, &whole[..len]).unwrap();
        assert!(Index::open(&at).is_err(), "{len} bytes of {}", whole.len());
    }
    for i in (0..whole.len()).step_by(1 + whole.len() / 997) {
        let mut bytes = whole.clone();
        bytes[i] ^= 0x55;
        fs::write(&at, &bytes).unwrap();
        if let Ok(index) = Index::open(&at) {
            for word in ["w1", "w4", "Straße", "zzz"] {
                for file in index.find(word.as_bytes()).unwrap_or_default() {
                    index.path(file).ok();
                }
            }
        } else {
            assert!(i < 64, "byte {i} is not of the head");
        }
    }
    fs::write(&at, b"something else, and long enough for a head: sixty-four bytes of it").unwrap();
    assert!(matches!(Index::open(&at), Err(IndexError::NoIndex)));
}
