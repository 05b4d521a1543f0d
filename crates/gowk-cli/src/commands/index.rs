//! `gowk index`: which files hold a word, from an index.

use crate::{
    exit::Found,
    job::{self, JobArgs},
    numbers::{bytes, grouped},
    options::check_new_file,
    progress::Watch,
};
use anyhow::{Context, bail};
use gowk_jobs::{Index as Words, IndexBuilder};
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    time::Instant,
};

/// An index of the words of many files: which hold a word?
#[derive(clap::Args)]
#[command(
    after_long_help = "Examples:\n  gowk index build mail/ -o mail.idx\n  gowk index find mail.idx cuckoo titlin"
)]
pub(crate) struct Index {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Build(Build),
    Find(Find),
}

/// Make an index of all words of the files in a folder
///
/// A word is a longest run of letters, marks, digits and underscores, as \w in a regular expression. Compressed files are read as what they
/// hold. Links are not followed. Works in as little as --memory 100K, and faster with more.
#[derive(clap::Args)]
#[command(
    after_long_help = "Examples:\n  gowk index build mail/ -o mail.idx\n  gowk index find mail.idx cuckoo titlin"
)]
struct Build {
    /// Folders, with all that is in them, and files
    #[arg(required = true, value_name = "DIR")]
    paths: Vec<PathBuf>,
    /// The index to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the index if there is one
    #[arg(long)]
    force: bool,
    /// Upper and lower case are the same
    #[arg(short, long)]
    ignore_case: bool,
    #[command(flatten)]
    job: JobArgs,
}

/// The files that hold words, one path a line
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk index find mail.idx cuckoo             files with this word
  gowk index find mail.idx cuckoo titlin      files with both
  gowk index find --any mail.idx cuckoo gowk  files with one of them

Exit status: 0 if a file was found, 1 if none was, 2 on an error.")]
struct Find {
    /// The index
    index: PathBuf,
    /// The words
    #[arg(required = true)]
    words: Vec<String>,
    /// Files that hold all words; the default
    #[arg(long, conflicts_with = "any")]
    all: bool,
    /// Files that hold at least one of the words
    #[arg(long)]
    any: bool,
}

impl Index {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        match self.command {
            Command::Build(build) => build.run(),
            Command::Find(find) => find.run(),
        }
    }
}

impl Build {
    fn run(self) -> anyhow::Result<Found> {
        check_new_file(&self.output, self.force)?;
        let (mut watch, start) = (Watch::new(false), Instant::now());
        let mut files = Vec::new();
        for path in &self.paths {
            collect(path, &mut files)?;
        }
        // The index itself, of a build before.
        let index = fs::canonicalize(&self.output).ok();
        files.retain(|file| index.is_none() || fs::canonicalize(file).ok() != index);
        if self.job.explain {
            println!(
                "read {} files; sort words in memory, write what does not fit as runs, merge them",
                files.len()
            );
            return Ok(Found::Something);
        }
        let options = self.job.options(&watch);
        let result =
            IndexBuilder::default().ignore_case(self.ignore_case).build(&files, &self.output, &options);
        watch.done();
        let stats = result.map_err(job::told)?;
        eprintln!(
            "gowk: {} words of {} files in {}, {}",
            grouped(stats.job.distinct),
            grouped(files.len() as u64),
            self.output.display(),
            bytes(stats.size as f64)
        );
        job::finish(&self.job, watch, start, Ok(stats.job))?;
        Ok(Found::Something)
    }
}

/// All files under a path, folder by folder, in the order of their names.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let cannot = || format!("cannot read {}", path.display());
    if !fs::metadata(path).with_context(cannot)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let mut entries =
        fs::read_dir(path).with_context(cannot)?.collect::<Result<Vec<_>, _>>().with_context(cannot)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type().with_context(cannot)?;
        if kind.is_dir() {
            collect(&entry.path(), files)?;
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}

impl Find {
    fn run(self) -> anyhow::Result<Found> {
        let context = || self.index.display().to_string();
        let index = Words::open(&self.index).with_context(context)?;
        let mut found: Option<Vec<u64>> = None;
        for word in &self.words {
            let files = index.find(word.as_bytes()).with_context(context)?;
            found = Some(match found {
                None => files,
                Some(mut before) if self.any => {
                    before.extend(files);
                    before.sort_unstable();
                    before.dedup();
                    before
                }
                Some(mut before) => {
                    before.retain(|file| files.binary_search(file).is_ok());
                    before
                }
            });
        }
        let Some(found) = found else { bail!("name a word") };
        let mut out = job::stdout();
        for file in &found {
            out.write_all(index.path(*file).with_context(context)?)?;
            out.write_all(b"\n")?;
        }
        out.flush()?;
        Ok(Found::if_any(found.len() as u64))
    }
}
