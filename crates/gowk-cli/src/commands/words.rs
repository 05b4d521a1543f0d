//! `gowk words`: which files hold which words, without an index.

use crate::{
    exit::Found,
    job::{self, JobArgs},
    progress::Watch,
};
use anyhow::Context;
use gowk_jobs::{Words as Job, input::Source};
use std::{collections::HashSet, fs, io::Write, path::PathBuf, time::Instant};

/// Which of these files hold which words: word TAB path
///
/// By word, in the order of the list, then by file. A word is a longest run of letters, marks, digits and underscores, as \w in a
/// regular expression. A file is read until all words have been found in it.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk words names.txt src/*.rs
  gowk words -i names.txt mail/*.gz

Exit status: 0 if something was printed, 1 if nothing was, 2 on an error.")]
pub(crate) struct Words {
    /// The words, one a line
    wordlist: PathBuf,
    /// The files to look in
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Upper and lower case are the same
    #[arg(short, long)]
    ignore_case: bool,
    #[command(flatten)]
    job: JobArgs,
}

impl Words {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        let (mut watch, start) = (Watch::new(true), Instant::now());
        let list =
            fs::read(&self.wordlist).with_context(|| format!("cannot read {}", self.wordlist.display()))?;
        let mut seen = HashSet::new();
        let words: Vec<&[u8]> = list
            .split(|byte| *byte == b'\n')
            .map(<[u8]>::trim_ascii)
            .filter(|word| !word.is_empty() && seen.insert(*word))
            .collect();
        let task = Job::new(&words).ignore_case(self.ignore_case);
        for i in task.impossible() {
            eprintln!("gowk: \"{}\" is not one word and is never found", words[i].escape_ascii());
        }
        if self.job.explain {
            println!(
                "read {} files until each of {} words has been found, or to the end",
                self.files.len(),
                words.len()
            );
            return Ok(Found::Something);
        }
        let sources: Vec<Source> = self.files.iter().map(Source::from).collect();
        let result = task.run(&sources, &self.job.options(&watch));
        watch.done();
        let (hits, stats) = result.map_err(job::told)?;
        let mut out = job::stdout();
        for hit in &hits {
            out.write_all(words[hit.word])?;
            out.write_all(b"\t")?;
            out.write_all(self.files[hit.file].as_os_str().as_encoded_bytes())?;
            out.write_all(b"\n")?;
        }
        out.flush()?;
        job::finish(&self.job, watch, start, Ok(stats))
    }
}
