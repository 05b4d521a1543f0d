//! What a job will do, before it does it.

use crate::{Options, Records, engine::Sizes};
use std::fmt;

/// What a job will do: to be shown with `--explain`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The steps, in order.
    pub steps: Vec<String>,
    /// The memory limit in bytes.
    pub memory: u64,
    /// Of it, what is left for tables and filters.
    pub tables: u64,
    /// How many threads.
    pub threads: usize,
    /// How many partitions there are if something has to be spilled.
    pub partitions: usize,
    dir: std::path::PathBuf,
}

impl Plan {
    pub(crate) fn new(options: &Options) -> Self {
        let sizes = Sizes::new(options.memory_limit(), options.thread_count().get());
        Self {
            steps: Vec::new(),
            memory: options.memory_limit(),
            tables: sizes.tables,
            threads: options.thread_count().get(),
            partitions: sizes.parts * sizes.lanes,
            dir: options.temp_path().to_owned(),
        }
    }

    pub(crate) fn step(&mut self, step: impl Into<String>) {
        self.steps.push(step.into());
    }

    pub(crate) fn pass(&mut self, records: &Records<'_>, what: &str) {
        let size = records
            .total_bytes()
            .map_or("of unknown size".to_owned(), |total| format!("{} on disk", bytes(total)));
        self.step(format!("read the input ({size}): {what}"));
    }

    /// Says whether a table of all keys can surely be held.
    pub(crate) fn table(&mut self, records: &Records<'_>, extra: u64) {
        // The worst case: all keys differ. A key takes its bytes, one or two more, and a slot that is three quarters full.
        const SLOT: u64 = 12;
        let Some(total) = records.total_bytes() else {
            self.step("the size is not known: what does not fit into memory will be spilled");
            return;
        };
        let worst = total.saturating_add(total / 8 * (SLOT + extra + 2));
        if worst <= self.tables {
            self.step(format!(
                "at most {} of table, which fits: one pass and no temporary data",
                bytes(worst)
            ));
        } else {
            self.step(format!(
                "if the different keys take more than {}: at most {} of temporary data before compression",
                bytes(self.tables),
                bytes(total.saturating_add(total / 4))
            ));
        }
    }

    pub(crate) fn spill(&mut self, ordered: bool) {
        let merge = if ordered { ", and merge their answers into the order of the input" } else { "" };
        self.step(format!(
            "what does not fit goes into {} partitions in {}; work through one after another{merge}",
            self.partitions,
            self.dir.display()
        ));
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "memory {}, of which {} for tables and filters; {} threads",
            bytes(self.memory),
            bytes(self.tables),
            self.threads
        )?;
        for (i, step) in self.steps.iter().enumerate() {
            writeln!(f, "{}. {step}", i + 1)?;
        }
        Ok(())
    }
}

/// A size as people read it.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KB", "MB", "GB", "TB", "PB"];
    let mut size = bytes as f64;
    let mut unit = "bytes";
    for next in UNITS {
        if size < 1000.0 {
            break;
        }
        (size, unit) = (size / 1000.0, next);
    }
    match unit {
        "bytes" => format!("{bytes} bytes"),
        _ if size < 10.0 => format!("{size:.1} {unit}"),
        _ => format!("{size:.0} {unit}"),
    }
}
