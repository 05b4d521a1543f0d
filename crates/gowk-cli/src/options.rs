//! Options that commands share; flattened into theirs.

use crate::{
    numbers::{grouped, parse_bytes},
    progress::Watch,
};
use anyhow::{Context, bail};
use gowk_jobs::input::{Input, KeySpec, KeyType, Keys, Separator, Source};
use std::{
    fs,
    io::{self, IsTerminal},
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

/// How lines become keys.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Keys")]
pub(crate) struct KeyArgs {
    /// The key is the N-th field of the line, from 1
    ///
    /// Fields are what stands between delimiters, as with cut: quotes mean nothing. A line with fewer fields has no key; such lines
    /// are skipped, and how many is said at the end.
    #[arg(short = 'f', long, value_name = "N", conflicts_with = "regex")]
    pub(crate) field: Option<NonZeroUsize>,
    /// What stands between fields: one character, or \t [default: \t]
    #[arg(short, long, value_name = "CHAR", value_parser = parse_delimiter, requires = "field", allow_hyphen_values = true)]
    pub(crate) delimiter: Option<u8>,
    /// The key is what this pattern finds in the line: its first group, or the whole match
    ///
    /// The syntax is that of the Rust regex crate. A line without a match has no key; such lines are skipped, and how many is said at
    /// the end.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) regex: Option<regex::bytes::Regex>,
    /// As what keys are read: text, hex, i32, i64, u64, f64 or utf16 [default: text]
    ///
    /// text takes the bytes as they are. hex is decoded to bytes. i32, i64, u64 and f64 are parsed, so that 7, 07 and +7 are one key.
    /// utf16 turns UTF-8 into UTF-16LE. A line that is not of the type is an error that names it.
    #[arg(long, value_name = "TYPE")]
    pub(crate) key_type: Option<KeyType>,
    /// Lines end with a NUL byte, as those of find -print0
    #[arg(short = '0', long)]
    pub(crate) null: bool,
}

impl KeyArgs {
    /// What of a line is its key. `otherwise` is the type where none was asked for.
    pub(crate) fn keys_or(&self, otherwise: KeyType) -> Keys {
        let spec = match (&self.regex, self.field) {
            (Some(regex), _) => KeySpec::Regex(regex.clone()),
            (None, Some(number)) => KeySpec::Field { number, delimiter: self.delimiter.unwrap_or(b'\t') },
            (None, None) => KeySpec::Line,
        };
        Keys { spec, key_type: self.key_type.unwrap_or(otherwise) }
    }

    /// What of a line is its key; text, unless a type was asked for.
    pub(crate) fn keys(&self) -> Keys {
        self.keys_or(KeyType::Text)
    }

    pub(crate) fn separator(&self) -> Separator {
        if self.null { Separator::Nul } else { Separator::Newline }
    }

    /// The files to read, standard input if there are none. Nothing is read yet, but what is not there is said.
    pub(crate) fn input(&self, paths: &[PathBuf], watch: &Watch) -> anyhow::Result<Input> {
        let stdin = [PathBuf::from("-")];
        let paths = if paths.is_empty() { &stdin[..] } else { paths };
        if paths.len() == 1 && paths[0] == Path::new("-") && io::stdin().is_terminal() {
            eprintln!("gowk: reading keys from the terminal, one a line; end with Ctrl-D");
        }
        let input = Input::new(paths.iter().map(Source::from))?;
        Ok(input.separator(self.separator()).progress(watch.progress()))
    }
}

fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] => Ok(*byte),
        b"\\t" | b"tab" => Ok(b'\t'),
        b"space" => Ok(b' '),
        b"\\0" => Ok(0),
        _ => Err("a delimiter is one ASCII character, as in -d , or -d '\\t'; for more take --regex".into()),
    }
}

/// Lines without a key, told once.
pub(crate) fn tell_skipped(skipped: u64) {
    if skipped > 0 {
        let (lines, were) = if skipped == 1 { ("line", "was") } else { ("lines", "were") };
        eprintln!("gowk: {} {lines} without such a field or match {were} skipped", grouped(skipped));
    }
}

/// What a command may take of the machine.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Resources")]
pub(crate) struct MemoryArgs {
    /// The most memory to take, as in 100M or 4G [default: half of what is free]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) memory: Option<u64>,
    /// How many threads work [default: one for each processor]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
}

impl MemoryArgs {
    /// In bytes.
    pub(crate) fn memory(&self) -> u64 {
        self.memory.unwrap_or_else(|| (free_memory() / 2).max(256 << 20))
    }

    pub(crate) fn threads(&self) -> NonZeroUsize {
        let all = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.threads.unwrap_or_else(all)
    }
}

/// What the system would give, or the container allows; 2 GiB where neither tells.
fn free_memory() -> u64 {
    let available = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
    });
    let allowed =
        fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    available.into_iter().chain(allowed).min().unwrap_or(2 << 30)
}

/// The file that a command writes.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct OutputArgs {
    /// The file to write; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace the file if there is one
    #[arg(long)]
    pub(crate) force: bool,
}

impl OutputArgs {
    pub(crate) fn is_stdout(&self) -> bool {
        self.output == Path::new("-")
    }

    /// An error if the file cannot be written: before hours are spent on what goes into it.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        if self.is_stdout() {
            if io::stdout().is_terminal() {
                bail!(
                    "a filter is bytes, which a terminal cannot show; send it to a file with -o FILE, or into a pipe"
                );
            }
            return Ok(());
        }
        check_new_file(&self.output, self.force)
    }
}

/// An error if there is such a file already, or no folder for it.
pub(crate) fn check_new_file(path: &Path, force: bool) -> anyhow::Result<()> {
    if path.is_dir() {
        bail!("{} is a directory; name a file in it", path.display());
    }
    if path.exists() && !force {
        bail!("{} is there already; --force replaces it", path.display());
    }
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    fs::metadata(folder).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}
