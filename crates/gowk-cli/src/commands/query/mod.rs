//! `gowk query`: which of these keys are known?

pub(crate) mod answers;
mod exact;
mod known;

use crate::{
    exit::Found,
    filter_file::{self, FilterFile},
    foreign::{self, FormatArgs},
    options::{KeyArgs, MemoryArgs},
    progress::Watch,
};
use answers::{Answers, SelectArgs};
use anyhow::bail;
use gowk_jobs::input::{Input, KeyType, Keys, map_in_order};
use known::{Asker, Known};
use std::path::{Path, PathBuf};

/// Which of these keys are known? Prints them, in the order asked
///
/// KNOWN is a filter, or a plain list of keys, one a line.
///
/// With a list the answer is exact: the smaller side is kept in memory and the larger one streams by. With a filter, a line that is
/// printed may be known, as often wrongly as the filter's rate says, and one that is not printed is surely unknown. Sets of integers
/// (bitmap, roaring) are exact.
///
/// The options for keys say what the key of an asked line is; the whole line is printed. Lines of a plain list KNOWN are whole keys.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk query known.txt asked.txt                    the asked lines that are in the list
  gowk query -v seen.gowk urls.txt.gz               URLs that have surely not been seen
  gowk query -c seen.gowk < urls.txt                how many may have been
  gowk query bad.gowk access.log --field 1 -d ' '   lines of a log whose first field may be bad
  gowk query ids.gowk ids.txt --key-type i64 -q && echo some are there
  gowk query users.bin ids.txt --key-type i32       a filter that Guava wrote, of ints
  gowk query events.parquet --column id ids.txt     the filters of a Parquet file

Exit status: 0 if a line was selected, 1 if none was, 2 on an error.")]
pub(crate) struct Query {
    /// A filter, or a file of keys, one a line; - is standard input
    known: PathBuf,
    /// Files of keys to ask for; standard input if there are none, or where it says -
    asked: Vec<PathBuf>,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    keys: KeyArgs,
    #[command(flatten)]
    memory: MemoryArgs,
}

impl Query {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        let mut watch = Watch::new(!self.select.quiet);
        let stdin = Path::new("-");
        if self.known == stdin && (self.asked.is_empty() || self.asked.iter().any(|path| path == stdin)) {
            bail!(
                "standard input cannot be both the known keys and the asked ones; name a file for one of them"
            );
        }
        let known = filter_file::open_if_filter(&self.known, &self.format)?;
        let asked = self.keys.input(&self.asked, &watch)?;
        let result = match known {
            Some(FilterFile::Keys(filter)) => {
                let mut answers = Answers::new(self.select, &self.keys, "maybe");
                self.ask(&Known::Filter(filter), &asked, &self.keys.keys(), &mut answers).map(|()| answers)
            }
            Some(FilterFile::Foreign(filter)) => {
                let keys = self.keys.keys_or(foreign::key_type(&filter));
                let hash = foreign::hash(&filter, keys.key_type)?;
                let mut answers = Answers::new(self.select, &self.keys, "maybe");
                self.ask(&Known::Foreign(filter, hash), &asked, &keys, &mut answers).map(|()| answers)
            }
            Some(FilterFile::Ids(ids)) => {
                let keys = self.keys.keys_or(KeyType::I64);
                if !keys.key_type.is_integer() {
                    bail!(
                        "{} is a set of integers ({}), which has no keys of type {}; ask with --key-type i64",
                        self.known.display(),
                        ids.name(),
                        keys.key_type
                    );
                }
                let mut answers = Answers::new(self.select, &self.keys, "known");
                self.ask(&Known::Ids(ids), &asked, &keys, &mut answers).map(|()| answers)
            }
            None => {
                let known = self.keys.input(std::slice::from_ref(&self.known), &watch)?;
                let mut answers = Answers::new(self.select, &self.keys, "known");
                exact::ask_list(&self, &known, &asked, &mut answers).map(|()| answers)
            }
        };
        watch.done();
        Answers::conclude(result)
    }

    /// Lets the asked lines stream past what is known, on all threads; the answers come in order.
    fn ask(&self, known: &Known, asked: &Input, keys: &Keys, answers: &mut Answers) -> anyhow::Result<()> {
        let format = answers.format();
        map_in_order(
            asked.blocks(),
            self.memory.threads(),
            || Asker::new(keys),
            |asker, block| {
                asker.ask(known, block)?;
                Ok(format.render(block, asker.outcomes()))
            },
            |part| answers.give(&part),
        )?;
        Ok(())
    }
}
