//! `gowk union`: what is in any of several files, once.

use crate::{
    exit::Found,
    job::{self, JobArgs},
    options::KeyArgs,
    progress::Watch,
};
use gowk_jobs::{Distinct, Order};
use std::{path::PathBuf, time::Instant};

/// The lines of several files as one set: each once, in the order of first appearance
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk union monday.txt tuesday.txt.gz > both.txt

Exit status: 0 if something was printed, 1 if nothing was, 2 on an error.")]
pub(crate) struct Union {
    /// Files; - is standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The order does not matter, which is faster where not all fits into memory
    #[arg(long)]
    any_order: bool,
    #[command(flatten)]
    keys: KeyArgs,
    #[command(flatten)]
    job: JobArgs,
}

impl Union {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        let (watch, start) = (Watch::new(true), Instant::now());
        let records = job::records(&self.keys, &self.files, &watch)?;
        let options = self.job.options(&watch);
        let task = Distinct::default().order(if self.any_order { Order::Any } else { Order::First });
        if self.job.explained(|| task.plan(&records, &options))? {
            return Ok(Found::Something);
        }
        let result = task.run(&records, &options, &mut job::lines(&self.keys));
        job::finish(&self.job, watch, start, result)
    }
}
