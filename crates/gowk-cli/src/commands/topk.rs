//! `gowk topk`: the most frequent values.

use crate::{
    exit::Found,
    job::{self, JobArgs},
    numbers::grouped,
    options::KeyArgs,
    progress::Watch,
};
use gowk_jobs::Top;
use std::{path::PathBuf, time::Instant};

/// The most frequent values, with exact counts: count TAB value
///
/// Highest count first; equal counts in the order of their bytes. Exact, within --memory: where not all different values fit, a sketch
/// bounds the counts of the others, and a second pass counts those that can still win.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk topk -k 10 -f 1 -d ' ' access.log                 the busiest addresses
  gowk topk --regex '\"GET ([^ ?]+)' access.log.gz        the pages asked for most
  gowk topk -k 3 --json words.txt                        {\"value\":\"the\",\"count\":71}

Exit status: 0 if something was printed, 1 if nothing was, 2 on an error.")]
pub(crate) struct Topk {
    /// Files; standard input if there are none, or where it says -
    files: Vec<PathBuf>,
    /// How many values
    #[arg(short, default_value_t = 10, value_name = "K")]
    k: usize,
    /// Print one JSON object a line, with value and count
    #[arg(long)]
    json: bool,
    /// Count in a summary of fixed size, in one pass: counts may be too high, by as much as is said
    #[arg(long)]
    approx: bool,
    #[command(flatten)]
    keys: KeyArgs,
    #[command(flatten)]
    job: JobArgs,
}

impl Topk {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        let (watch, start) = (Watch::new(false), Instant::now());
        let records = job::records(&self.keys, &self.files, &watch)?;
        let options = self.job.options(&watch);
        let task = Top::new(self.k);
        if self.job.explained(|| task.plan(&records, &options))? {
            return Ok(Found::Something);
        }
        let mut output = job::counted(&self.keys, self.json);
        if !self.approx {
            let result = task.run(&records, &options, &mut output);
            return job::finish(&self.job, watch, start, result);
        }
        let (stats, error) = task.approximately(&records, &options, &mut output).map_err(job::told)?;
        let found = job::finish(&self.job, watch, start, Ok(stats));
        let sure = if error.sure {
            "these are the right values"
        } else {
            "the last of these values may be the wrong ones"
        };
        eprintln!(
            "gowk: approximate: no count is too low, none is too high by more than {}; {sure}",
            grouped(error.over)
        );
        found
    }
}
