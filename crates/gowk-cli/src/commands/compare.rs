//! `gowk intersect` and `gowk subtract`: two files as sets, or joined by a field.

use crate::{
    exit::Found,
    job::{self, JobArgs},
    numbers::rate,
    options::KeyArgs,
    progress::Watch,
};
use anyhow::bail;
use gowk_jobs::{Compare, Operation, Output};
use std::{
    path::{Path, PathBuf},
    time::Instant,
};

/// What is in both files, in the order of the first
///
/// As sets: each key once. With --keep-lines every line of the first file whose key is in the second: a semi-join.
/// Exact, within --memory: a filter of the first file turns most of the second away before anything is kept.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk intersect a.txt b.txt
  gowk intersect --keep-lines -f 2 -d , orders.csv customers.csv    orders of these customers
  gowk intersect --approx a.txt b.txt                               one pass over each, a few too many

Exit status: 0 if something was printed, 1 if nothing was, 2 on an error.")]
pub(crate) struct Intersect {
    #[command(flatten)]
    compare: CompareArgs,
}

/// What is in the first file and not in the second, in the order of the first
///
/// As sets: each key once. With --keep-lines every line of the first file whose key is not in the second: an anti-join.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk subtract all.txt done.txt
  gowk subtract --keep-lines -f 2 -d , orders.csv customers.csv    orders of nobody we know

Exit status: 0 if something was printed, 1 if nothing was, 2 on an error.")]
pub(crate) struct Subtract {
    #[command(flatten)]
    compare: CompareArgs,
}

#[derive(clap::Args)]
struct CompareArgs {
    /// The file whose lines are printed; - is standard input
    a: PathBuf,
    /// The file to hold them against; - is standard input
    b: PathBuf,
    /// Print every line of A that belongs to the answer, not one for each key
    #[arg(long)]
    keep_lines: bool,
    /// The N-th field of B is its key, if it is another than in A
    #[arg(long, value_name = "N", requires = "field")]
    field_b: Option<std::num::NonZeroUsize>,
    /// The order does not matter, which is faster where not all fits into memory
    #[arg(long)]
    any_order: bool,
    /// Answer from a filter of B: lines are not compared, and how often that is wrong is said
    ///
    /// A line that is only in A is taken for one of both with that chance: intersect prints a few too many, subtract a few too few.
    /// Repeated lines are printed as often as they come.
    #[arg(long)]
    approx: bool,
    #[command(flatten)]
    keys: KeyArgs,
    #[command(flatten)]
    job: JobArgs,
}

impl Intersect {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        self.compare.run(Operation::Intersect)
    }
}

impl Subtract {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        self.compare.run(Operation::Subtract)
    }
}

impl CompareArgs {
    fn run(self, operation: Operation) -> anyhow::Result<Found> {
        if self.a == Path::new("-") && self.b == Path::new("-") {
            bail!("standard input cannot be both files; name one of them");
        }
        let (watch, start) = (Watch::new(true), Instant::now());
        let ours = job::records(&self.keys, std::slice::from_ref(&self.a), &watch)?;
        let keys_b = KeyArgs { field: self.field_b.or(self.keys.field), ..self.keys.clone() };
        let theirs = job::records(&keys_b, std::slice::from_ref(&self.b), &watch)?;
        let options = self.job.options(&watch);
        let task = Compare::new(operation).all_lines(self.keep_lines).any_order(self.any_order);
        if self.job.explained(|| task.plan(&ours, &theirs, &options))? {
            return Ok(Found::Something);
        }
        let mut output: Output<'_> = job::lines(&self.keys);
        if !self.approx {
            let result = task.run(&ours, &theirs, &options, &mut output);
            return job::finish(&self.job, watch, start, result);
        }
        let (stats, error) = task.approximately(&ours, &theirs, &options, &mut output).map_err(job::told)?;
        let found = job::finish(&self.job, watch, start, Ok(stats));
        let (what, which) = match operation {
            Operation::Intersect => {
                ("printed although they are not in both", "none that is in both is missing")
            }
            Operation::Subtract => {
                ("missing although they belong here", "none that is printed is in the second file")
            }
        };
        eprintln!(
            "gowk: approximate: of the lines that are only in the first file {} are {what}; {which}",
            rate(error.fpp)
        );
        found
    }
}
