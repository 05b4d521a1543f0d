//! The help is part of the program: what people read of it is kept here as files, and a change of it is seen.
//!
//! `GOWK_BLESS=1 cargo nextest run -p gowk-cli help` writes the files anew.

mod common;

use common::Folder;
use std::{fs, path::Path};

const COMMANDS: [&str; 22] = [
    "query",
    "build",
    "info",
    "add",
    "remove",
    "merge",
    "convert",
    "plan",
    "distinct",
    "intersect",
    "subtract",
    "union",
    "topk",
    "once",
    "words",
    "index",
    "redis",
    "bench",
    "web",
    "help",
    "man",
    "completions",
];

/// Holds the text against the file of this name.
fn holds(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/help").join(name);
    if std::env::var_os("GOWK_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "{name} has changed; if it should, GOWK_BLESS=1 writes it anew:\n{text}");
}

#[test]
fn the_help_is_as_it_was_read_last() {
    let folder = Folder::new();
    holds("gowk.txt", &folder.stdout("--help"));
    for command in COMMANDS {
        holds(&format!("{command}-short.txt"), &folder.stdout(&format!("{command} -h")));
        holds(&format!("{command}.txt"), &folder.stdout(&format!("{command} --help")));
    }
}

#[test]
fn every_command_has_an_example_or_needs_none() {
    let folder = Folder::new();
    for command in COMMANDS.into_iter().filter(|command| *command != "help") {
        let help = folder.stdout(&format!("{command} --help"));
        assert!(help.contains("Examples:\n  gowk ") || help.contains("Examples:\n"), "{command}");
    }
}

#[test]
fn help_is_there_for_commands_and_topics() {
    let folder = Folder::new();
    assert_eq!(folder.stdout("help query"), folder.stdout("query --help"));
    for topic in ["keys", "numbers", "families", "exit"] {
        assert!(folder.stdout(&format!("help {topic}")).starts_with(&topic.to_uppercase()), "{topic}");
    }
    assert!(folder.stdout("help").contains("Commands:"));
}

#[test]
fn the_man_page_and_the_completions_know_every_command() {
    let folder = Folder::new();
    let page = folder.stdout("man");
    let shells = ["bash", "zsh", "fish"].map(|shell| folder.stdout(&format!("completions {shell}")));
    for command in COMMANDS {
        assert!(page.contains(&format!("gowk\\-{command}")), "{command}");
        assert!(folder.stdout(&format!("man {command}")).contains(".SH SYNOPSIS"), "{command}");
        assert!(shells.iter().all(|shell| shell.contains(command)), "{command}");
    }
    folder.stdout("man --folder pages");
    assert_eq!(fs::read_dir(folder.path("pages")).unwrap().count(), 1 + COMMANDS.len());
}
