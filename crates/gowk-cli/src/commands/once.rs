//! `gowk once`: what occurs exactly once.

use crate::{
    exit::Found,
    job::{self, JobArgs},
    options::KeyArgs,
    progress::Watch,
};
use gowk_jobs::{Distinct, OnceInts, Order, Which};
use std::{path::PathBuf, time::Instant};

/// What occurs exactly once
///
/// In the order of the input. With --ints lines are integers (64 bits, signed), of which 7, +7 and 007 are one: two bits for each value
/// of their range, in as many passes over the file as --memory asks for, and the answer is in ascending order. Integers so far apart that
/// this would take more than 8 passes, or that come from a pipe, are kept in a table, and come in the order of the input.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk once names.txt
  gowk once --ints --memory 1G ids.txt     ten billion 32-bit integers, in two passes

Exit status: 0 if something was printed, 1 if nothing was, 2 on an error.")]
pub(crate) struct Once {
    /// Files; standard input if there are none, or where it says -
    files: Vec<PathBuf>,
    /// Lines are integers
    #[arg(long)]
    ints: bool,
    /// The order does not matter, which is faster where not all fits into memory
    #[arg(long, conflicts_with = "ints")]
    any_order: bool,
    #[command(flatten)]
    keys: KeyArgs,
    #[command(flatten)]
    job: JobArgs,
}

impl Once {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        let (watch, start) = (Watch::new(true), Instant::now());
        let records = job::records(&self.keys, &self.files, &watch)?;
        let options = self.job.options(&watch);
        let order = if self.any_order { Order::Any } else { Order::First };
        let task = Distinct::default().which(Which::Once).order(order);
        let plan =
            || if self.ints { OnceInts.plan(&records, &options) } else { task.plan(&records, &options) };
        if self.job.explained(plan)? {
            return Ok(Found::Something);
        }
        let mut output = job::lines(&self.keys);
        let result = match self.ints {
            true => OnceInts.run(&records, &options, &mut output),
            false => task.run(&records, &options, &mut output),
        };
        job::finish(&self.job, watch, start, result)
    }
}
