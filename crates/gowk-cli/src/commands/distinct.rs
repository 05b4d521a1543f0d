//! `gowk distinct`: each line once.

use crate::{
    exit::Found,
    job::{self, JobArgs},
    options::KeyArgs,
    progress::Watch,
};
use gowk_jobs::{Distinct as Job, Order, Which};
use std::{path::PathBuf, time::Instant};

/// Each line once, in the order of first appearance
///
/// Exact, within --memory: what does not fit is partitioned to disk. With --field or --regex, lines are the same if their keys are, and
/// the first line of each key is printed.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk distinct queries.txt > unique.txt
  gowk distinct --memory 1G --any-order huge.txt.zst > unique.txt
  gowk distinct --count -f 3 -d , orders.csv       the first line of each third field, and how many there are
  gowk distinct --only-duplicates names.txt

Exit status: 0 if something was printed, 1 if nothing was, 2 on an error.")]
#[expect(clippy::struct_excessive_bools, reason = "flags are independent of each other")]
pub(crate) struct Distinct {
    /// Files; standard input if there are none, or where it says -
    files: Vec<PathBuf>,
    /// Print how often each came before it: count TAB line
    #[arg(short, long)]
    count: bool,
    /// Print one JSON object a line, with value and count
    #[arg(long, requires = "count")]
    json: bool,
    /// Print only what came more than once
    #[arg(long)]
    only_duplicates: bool,
    /// The order does not matter, which is faster where not all fits into memory
    #[arg(long)]
    any_order: bool,
    #[command(flatten)]
    keys: KeyArgs,
    #[command(flatten)]
    job: JobArgs,
}

impl Distinct {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        let (watch, start) = (Watch::new(true), Instant::now());
        let records = job::records(&self.keys, &self.files, &watch)?;
        let options = self.job.options(&watch);
        let task = Job::default()
            .counts(self.count)
            .order(if self.any_order { Order::Any } else { Order::First })
            .which(if self.only_duplicates { Which::Duplicates } else { Which::All });
        if self.job.explained(|| task.plan(&records, &options))? {
            return Ok(Found::Something);
        }
        let mut output = match self.count {
            true => job::counted(&self.keys, self.json),
            false => job::lines(&self.keys),
        };
        job::finish(&self.job, watch, start, task.run(&records, &options, &mut output))
    }
}
