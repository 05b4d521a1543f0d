//! `gowk query`: which of these keys are known?

use crate::{
    exit::Found,
    lines::{Source, lines},
};
use anyhow::Context;
use foldhash::fast::RandomState;
use gowk::{AnyFilter, Filter, OpenError, Persist, store::Mapped};
use hashbrown::HashSet;
use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Prints the asked keys that are known, in the order asked.
///
/// KNOWN is a plain list of keys, one a line, and then the answer is exact; or a filter, and then a line that is printed may
/// be known and one that is not printed is surely unknown. Exit code 0 if a key was found, 1 if none, 2 on an error.
#[derive(clap::Args)]
pub(crate) struct Query {
    /// A filter (.gowk), or a file of keys, one a line
    known: PathBuf,
    /// Files of keys to ask for; standard input if there are none, or where it says -
    asked: Vec<PathBuf>,
    /// Print the keys that are not known
    #[arg(short = 'v', long)]
    invert: bool,
    /// Print only how many
    #[arg(short, long)]
    count: bool,
    /// Print nothing; the exit code tells
    #[arg(short, long)]
    quiet: bool,
}

impl Query {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        let asked = self.sources()?;
        let mut answer = Answer { query: &self, out: io::stdout().lock(), count: 0, text: Vec::new() };
        match open_filter(&self.known)? {
            Some(filter) => ask_filter(&filter, asked, &mut answer)?,
            None => ask_list(Source::open(&self.known)?, asked, &mut answer)?,
        }
        answer.finish()
    }

    fn sources(&self) -> anyhow::Result<Vec<Source>> {
        let stdin = [PathBuf::from("-")];
        let paths = if self.asked.is_empty() { &stdin[..] } else { &self.asked };
        paths.iter().map(|path| Source::open(path)).collect()
    }
}

/// The filter in this file, or nothing if it is not the file of a filter.
fn open_filter(path: &Path) -> anyhow::Result<Option<AnyFilter<Mapped>>> {
    if path == Path::new("-") {
        return Ok(None);
    }
    match AnyFilter::open(path) {
        Ok(filter) => Ok(Some(filter)),
        Err(OpenError::NotGowk) => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot open {}", path.display())),
    }
}

fn ask_filter(filter: &AnyFilter<Mapped>, asked: Vec<Source>, answer: &mut Answer) -> anyhow::Result<()> {
    let mut known = Vec::new();
    for source in asked {
        source.for_each_block(|block| {
            let keys: Vec<&[u8]> = lines(block).collect();
            known.resize(keys.len(), false);
            filter.may_contain_many_into(&keys, &mut known);
            keys.iter().zip(&known).try_for_each(|(key, known)| answer.give(key, *known))
        })?;
    }
    Ok(())
}

/// Keeps the smaller side in memory and lets the larger one stream by.
fn ask_list(known: Source, asked: Vec<Source>, answer: &mut Answer) -> anyhow::Result<()> {
    let asked_size = asked.iter().map(Source::size).sum::<Option<u64>>();
    let keep_asked =
        matches!((known.size(), asked_size), (known, Some(asked)) if known.is_none_or(|known| asked < known));
    if keep_asked {
        let mut all = Vec::new();
        for source in asked {
            all.extend(source.read_all()?);
            // A file without a final newline does not run into the next one.
            if all.last().is_some_and(|last| *last != b'\n') {
                all.push(b'\n');
            }
        }
        let wanted: HashSet<&[u8], RandomState> = lines(&all).collect();
        let mut found: HashSet<&[u8], RandomState> = HashSet::default();
        known.for_each_block(|block| {
            found.extend(lines(block).filter_map(|key| wanted.get(key)));
            Ok(())
        })?;
        return lines(&all).try_for_each(|key| answer.give(key, found.contains(key)));
    }
    let known = known.read_all()?;
    let known: HashSet<&[u8], RandomState> = lines(&known).collect();
    for source in asked {
        source
            .for_each_block(|block| lines(block).try_for_each(|key| answer.give(key, known.contains(key))))?;
    }
    Ok(())
}

/// The answers on their way out.
struct Answer<'a> {
    query: &'a Query,
    out: io::StdoutLock<'static>,
    count: u64,
    text: Vec<u8>,
}

impl Answer<'_> {
    fn give(&mut self, key: &[u8], known: bool) -> anyhow::Result<()> {
        if known == self.query.invert {
            return Ok(());
        }
        self.count += 1;
        if !(self.query.count || self.query.quiet) {
            self.text.extend_from_slice(key);
            self.text.push(b'\n');
            if self.text.len() > 1 << 16 {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        self.out.write_all(&self.text).context("cannot write the answer")?;
        self.text.clear();
        Ok(())
    }

    fn finish(mut self) -> anyhow::Result<Found> {
        if self.query.count && !self.query.quiet {
            self.text = format!("{}\n", self.count).into_bytes();
        }
        self.flush()?;
        self.out.flush().context("cannot write the answer")?;
        Ok(Found::if_any(self.count))
    }
}
