//! Answers on their way out.

use crate::{
    exit::Found,
    options::{KeyArgs, tell_skipped},
};
use anyhow::Context;
use gowk_jobs::input::{Block, Record};
use serde_json::json;
use std::{
    fmt,
    io::{self, Write},
};

/// What is known of the key of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Known,
    Absent,
    /// The line has none.
    NoKey,
}

impl Outcome {
    pub(crate) fn of(known: bool) -> Self {
        if known { Self::Known } else { Self::Absent }
    }
}

/// How answers are written; the same on every thread.
#[derive(Clone, Copy)]
pub(crate) struct Format {
    wanted: Outcome,
    /// Whether lines are printed at all.
    prints: bool,
    json: bool,
    separator: u8,
    /// What a known key is called: with a filter it is only "maybe" known.
    known: &'static str,
}

/// The answers of a block, written.
#[derive(Default)]
pub(crate) struct Part {
    text: Vec<u8>,
    lines: u64,
    selected: u64,
    skipped: u64,
}

impl Format {
    pub(crate) fn render(self, block: &Block, outcomes: &[Outcome]) -> Part {
        let mut part = Part { lines: block.count(), ..Part::default() };
        let count = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count() as u64;
        (part.selected, part.skipped) = (count(self.wanted), count(Outcome::NoKey));
        if self.prints && part.selected > 0 {
            for (record, outcome) in block.records().zip(outcomes) {
                if *outcome == self.wanted {
                    self.write(block, record, &mut part.text);
                }
            }
        }
        part
    }

    fn write(self, block: &Block, record: Record<'_>, text: &mut Vec<u8>) {
        if !self.json {
            text.extend_from_slice(record.line);
            text.push(self.separator);
            return;
        }
        let answer = if self.wanted == Outcome::Known { self.known } else { "absent" };
        let file = block.source().path().map(|path| path.display().to_string());
        let mut object = json!({
            "line": String::from_utf8_lossy(record.line), "answer": answer, "file": file, "number": record.number,
        });
        if str::from_utf8(record.line).is_err() {
            object["hex"] = record.line.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
        }
        text.extend_from_slice(object.to_string().as_bytes());
        text.push(b'\n');
    }
}

/// Which answers are wanted, and how.
#[expect(clippy::struct_excessive_bools, reason = "flags are independent of each other")]
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct SelectArgs {
    /// Select the lines that are surely not known
    #[arg(short = 'v', long)]
    invert: bool,
    /// Print only how many lines are selected
    #[arg(short, long)]
    count: bool,
    /// Print nothing and stop at the first selected line; the exit status tells
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print one JSON object for each selected line, or with --count one for all
    #[arg(long)]
    json: bool,
}

/// Standard output, and the counts.
pub(crate) struct Answers {
    format: Format,
    count: bool,
    quiet: bool,
    out: io::Stdout,
    lines: u64,
    selected: u64,
    skipped: u64,
}

/// Nobody wants to know more.
#[derive(Debug)]
pub(crate) struct Enough;

impl fmt::Display for Enough {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a line was found")
    }
}

impl std::error::Error for Enough {}

impl Answers {
    /// `known` is what a known key is called.
    pub(crate) fn new(select: SelectArgs, keys: &KeyArgs, known: &'static str) -> Self {
        let (SelectArgs { invert, count, quiet, json }, separator) = (select, keys.separator().byte());
        let format =
            Format { wanted: Outcome::of(!invert), prints: !(count || quiet), json, separator, known };
        Self { format, count, quiet, out: io::stdout(), lines: 0, selected: 0, skipped: 0 }
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    pub(crate) fn give(&mut self, part: &Part) -> anyhow::Result<()> {
        self.lines += part.lines;
        self.selected += part.selected;
        self.skipped += part.skipped;
        if self.quiet && self.selected > 0 {
            return Err(Enough.into());
        }
        self.write(&part.text)
    }

    fn write(&mut self, text: &[u8]) -> anyhow::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        // Flushed part by part: whoever asks through a pipe waits for the answer.
        self.out.write_all(text).and_then(|()| self.out.flush()).context("cannot write the answer")
    }

    /// What the command comes to: the counts are told, and having found enough is no error.
    pub(crate) fn conclude(result: anyhow::Result<Self>) -> anyhow::Result<Found> {
        match result {
            Ok(answers) => {
                let skipped = answers.skipped;
                let found = answers.finish()?;
                tell_skipped(skipped);
                Ok(found)
            }
            Err(error) if error.is::<Enough>() => Ok(Found::Something),
            Err(error) => Err(error),
        }
    }

    fn finish(mut self) -> anyhow::Result<Found> {
        if self.count && !self.quiet {
            let text = match self.format.json {
                false => format!("{}\n", self.selected),
                true => {
                    let exact = self.format.known == "known";
                    let keys = self.lines - self.skipped;
                    let (known, absent) = match self.format.wanted {
                        Outcome::Known => (self.selected, keys - self.selected),
                        _ => (keys - self.selected, self.selected),
                    };
                    let object = json!({
                        "asked": self.lines, (self.format.known): known, "absent": absent,
                        "skipped": self.skipped, "exact": exact,
                    });
                    format!("{object}\n")
                }
            };
            self.write(text.as_bytes())?;
        }
        Ok(Found::if_any(self.selected))
    }
}
