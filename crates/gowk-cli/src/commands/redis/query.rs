//! Which of these keys may be in a filter on servers?

use super::servers::{Either, ServerArgs};
use crate::{
    commands::query::answers::{Answers, Choice, Enough, Outcome},
    exit::Found,
    options::{KeyArgs, tell_skipped},
    progress::Watch,
};
use gowk::{Digest, Key};
use gowk_jobs::input::{Block, Extractor, InputError};
use std::path::PathBuf;

/// Which of these keys may be in a filter on servers? Prints them, in the order asked
///
/// A line that is printed may be known, as often wrongly as the filter's rate says; one that is not printed is surely unknown.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk redis query seen today.txt
  gowk redis query -v seen today.txt           lines that are surely not in it
  gowk redis query -c seen access.log -f 1 -d ' '

Exit status: 0 if a line was selected, 1 if none was, 2 on an error.")]
#[expect(clippy::struct_excessive_bools, reason = "flags are independent of each other")]
pub(super) struct Query {
    /// The filter
    name: String,
    /// Files of keys to ask for; standard input if there are none, or where it says -
    asked: Vec<PathBuf>,
    /// Select the lines that are surely not known
    #[arg(short = 'v', long)]
    invert: bool,
    /// Print only how many lines are selected
    #[arg(short, long)]
    count: bool,
    /// Print nothing and stop at the first selected line; the exit status tells
    #[arg(short, long)]
    quiet: bool,
    /// Print one JSON object for each selected line, or with --count one for all
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    servers: ServerArgs,
    #[command(flatten)]
    keys: KeyArgs,
}

impl Query {
    pub(super) fn run(self) -> anyhow::Result<Found> {
        let mut watch = Watch::new(!self.quiet);
        let filter = Either::open(&self.servers.connect()?, &self.name)?;
        let mut answers = Answers::with(Choice {
            invert: self.invert,
            count: self.count,
            quiet: self.quiet,
            json: self.json,
            separator: self.keys.separator().byte(),
            known: "maybe",
        });
        let result = self.ask(&filter, &mut answers, &watch);
        watch.done();
        match result {
            Ok(()) => {
                let skipped = answers.skipped();
                let found = answers.finish()?;
                tell_skipped(skipped);
                Ok(found)
            }
            Err(error) if error.is::<Enough>() => Ok(Found::Something),
            Err(error) => Err(error),
        }
    }

    fn ask(&self, filter: &Either, answers: &mut Answers, watch: &Watch) -> anyhow::Result<()> {
        let (input, hasher) = (self.keys.input(&self.asked, watch)?, filter.hasher());
        let mut extractor: Extractor = self.keys.keys().extractor();
        let (mut blocks, mut block) = (input.blocks(), Block::default());
        while blocks.next_into(&mut block)? {
            if watch.progress().is_cancelled() {
                return Err(InputError::Cancelled.into());
            }
            let mut digests: Vec<Option<Digest>> = Vec::new();
            for record in block.records() {
                digests.push(extractor.value_of(&block, record)?.map(|value| value.digest(&hasher)));
            }
            let asked: Vec<Digest> = digests.iter().flatten().copied().collect();
            let mut known = filter.ask(&asked)?.into_iter();
            let outcome = |digest: &Option<Digest>| match digest {
                Some(_) => Outcome::of(known.next().unwrap_or(false)),
                None => Outcome::NoKey,
            };
            let outcomes: Vec<Outcome> = digests.iter().map(outcome).collect();
            let part = answers.format().render(&block, &outcomes);
            answers.give(&part)?;
        }
        Ok(())
    }
}
