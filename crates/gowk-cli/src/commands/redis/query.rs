//! Which of these keys may be in a filter on servers?

use super::servers::{Either, ServerArgs};
use crate::{
    commands::query::answers::{Answers, Outcome, SelectArgs},
    exit::Found,
    options::KeyArgs,
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
pub(super) struct Query {
    /// The filter
    name: String,
    /// Files of keys to ask for; standard input if there are none, or where it says -
    asked: Vec<PathBuf>,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    servers: ServerArgs,
    #[command(flatten)]
    keys: KeyArgs,
}

impl Query {
    pub(super) fn run(self) -> anyhow::Result<Found> {
        let mut watch = Watch::new(!self.select.quiet);
        let filter = Either::open(&self.servers.connect()?, &self.name)?;
        let mut answers = Answers::new(self.select, &self.keys, "maybe");
        let result = self.ask(&filter, &mut answers, &watch);
        watch.done();
        Answers::conclude(result.map(|()| answers))
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
