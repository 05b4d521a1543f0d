//! A folder of files, and the program run in it.
#![allow(dead_code, reason = "each test file takes what it needs")]

use assert_cmd::Command;
use std::{fs, path::PathBuf};
use tempfile::TempDir;

pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The program, with these arguments, in this folder.
    pub(crate) fn gowk(&self, args: &str) -> Command {
        let mut command = Command::cargo_bin("gowk").unwrap();
        command.args(args.split_whitespace()).current_dir(self.0.path()).env("NO_COLOR", "1");
        command
    }

    /// What it prints when all goes well.
    pub(crate) fn stdout(&self, args: &str) -> String {
        let output = self.gowk(args).assert().success();
        String::from_utf8(output.get_output().stdout.clone()).unwrap()
    }

    /// The number that it prints, which may be none.
    pub(crate) fn count(&self, args: &str) -> u32 {
        let output = self.gowk(args).output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 1)), "gowk {args}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
    }

    /// It ends with 2, says this, and prints nothing.
    pub(crate) fn error(&self, args: &str, text: &str) {
        let output = self.gowk(args).assert().code(2).stdout("");
        let stderr = String::from_utf8(output.get_output().stderr.clone()).unwrap();
        assert!(stderr.contains(text), "gowk {args}: {stderr}");
    }

    /// The names of the files in it.
    pub(crate) fn names(&self) -> Vec<String> {
        let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = fs::read_dir(self.0.path()).unwrap().map(name).collect();
        names.sort();
        names
    }
}

/// Keys, one a line.
pub(crate) fn lines(numbers: impl Iterator<Item = u64>) -> String {
    numbers.map(|i| format!("key {i}\n")).collect()
}
