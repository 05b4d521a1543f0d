//! What a job did.

use std::time::{Duration, Instant};

/// What a job did, to be shown at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Records of the input, each counted once however often it was read.
    pub lines: u64,
    /// Records that had no key: too few fields, or no match.
    pub skipped: u64,
    /// Bytes read, of all passes.
    pub bytes: u64,
    /// Different keys, where the job gets to know them.
    pub distinct: u64,
    /// Records in the answer.
    pub found: u64,
    /// How often an input was read.
    pub passes: u32,
    /// Bytes of temporary data, compressed, as written.
    pub spilled: u64,
    /// Records in temporary data.
    pub spilled_records: u64,
    /// Partitions that were worked through after the first pass.
    pub partitions: u64,
    /// How often data was partitioned, one within the other: 0 if all fitted into memory.
    pub levels: u32,
    /// The most memory that tables and filters took.
    pub table_bytes: u64,
    /// What was done, and how long it took.
    pub stages: Vec<Stage>,
}

/// A stage of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// What was done.
    pub name: &'static str,
    /// How long it took.
    pub time: Duration,
}

impl Stats {
    /// Runs a stage and notes how long it took; stages of one name are added up.
    pub(crate) fn stage<T>(&mut self, name: &'static str, work: impl FnOnce(&mut Self) -> T) -> T {
        let start = Instant::now();
        let result = work(self);
        let time = start.elapsed();
        match self.stages.iter_mut().find(|stage| stage.name == name) {
            Some(stage) => stage.time += time,
            None => self.stages.push(Stage { name, time }),
        }
        result
    }

    pub(crate) fn saw_table(&mut self, bytes: u64) {
        self.table_bytes = self.table_bytes.max(bytes);
    }
}
