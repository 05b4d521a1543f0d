//! What the set jobs share: their options, and what is said before and after.

use crate::{
    exit::Found,
    numbers::{bytes, grouped, time},
    options::{KeyArgs, MemoryArgs, tell_skipped},
    progress::Watch,
};
use anyhow::bail;
use gowk_jobs::{JobError, Options, Output, Plan, Records, Row, Stats, input::KeyType};
use std::{
    io::{self, BufWriter, Write},
    path::PathBuf,
    time::Instant,
};

/// What a job may take, and what it says of itself.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct JobArgs {
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    /// Where what does not fit into memory goes [default: the system's directory for temporary files]
    ///
    /// Temporary data is compressed, and its files have no names: nothing is left of them, whatever happens to the process.
    #[arg(long, value_name = "DIR", help_heading = "Resources")]
    pub(crate) temp_dir: Option<PathBuf>,
    /// Print what will be done, and do nothing
    #[arg(long)]
    pub(crate) explain: bool,
    /// Say at the end what was done: lines, bytes, passes, temporary data, time
    #[arg(long)]
    pub(crate) stats: bool,
}

impl JobArgs {
    pub(crate) fn options(&self, watch: &Watch) -> Options {
        let options = Options::default()
            .memory(self.memory.memory())
            .threads(self.memory.threads())
            .progress(watch.progress());
        match &self.temp_dir {
            Some(dir) => options.temp_dir(dir),
            None => options,
        }
    }

    /// Prints the plan if that was asked for; whether it was.
    pub(crate) fn explained(&self, plan: impl FnOnce() -> Plan) -> anyhow::Result<bool> {
        if self.explain {
            write!(io::stdout(), "{}", plan())?;
        }
        Ok(self.explain)
    }
}

/// The records of some files, or of standard input.
pub(crate) fn records(keys: &KeyArgs, paths: &[PathBuf], watch: &Watch) -> anyhow::Result<Records<'static>> {
    if keys.key_type.is_some_and(|key_type| key_type != KeyType::Text) {
        bail!("set jobs compare keys as text; --key-type is for filters (integers: gowk once --ints)");
    }
    Ok(Records::files(keys.input(paths, watch)?, keys.keys()))
}

/// Standard output, for many lines.
pub(crate) fn stdout() -> BufWriter<io::Stdout> {
    BufWriter::with_capacity(1 << 16, io::stdout())
}

/// Lines as they are.
pub(crate) fn lines(keys: &KeyArgs) -> Output<'static> {
    Output::lines(stdout(), keys.separator().byte())
}

/// Values with their counts: `count TAB value`, or a JSON object a line.
pub(crate) fn counted(keys: &KeyArgs, json: bool) -> Output<'static> {
    let end = keys.separator().byte();
    let mut out = stdout();
    Output::rows(move |row: Row<'_>| {
        if json {
            let value = String::from_utf8_lossy(row.line);
            serde_json::to_writer(&mut out, &serde_json::json!({ "value": value, "count": row.count }))?;
            return out.write_all(b"\n");
        }
        write!(out, "{}\t", row.count)?;
        out.write_all(row.line)?;
        out.write_all(&[end])
    })
}

/// Ends a job: says what there is to say.
pub(crate) fn finish(
    args: &JobArgs,
    mut watch: Watch,
    start: Instant,
    result: Result<Stats, JobError>,
) -> anyhow::Result<Found> {
    watch.done();
    let stats = result.map_err(told)?;
    tell_skipped(stats.skipped);
    if args.stats {
        tell_stats(&stats, start);
    }
    Ok(Found::if_any(stats.found))
}

/// An error as the program's end knows it: a pipe that was closed, an interrupt, or something to say.
pub(crate) fn told(error: JobError) -> anyhow::Error {
    match error {
        JobError::Input(error) => error.into(),
        JobError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => error.into(),
        error if error.lacks_room() => {
            anyhow::anyhow!("{error}; give another directory with --temp-dir, or more --memory")
        }
        error => error.into(),
    }
}

fn tell_stats(stats: &Stats, start: Instant) {
    let mut parts = vec![format!("{} lines", grouped(stats.lines))];
    parts.push(format!("{} read in {} passes", bytes(stats.bytes as f64), stats.passes));
    if stats.distinct > 0 {
        parts.push(format!("{} different", grouped(stats.distinct)));
    }
    parts.push(format!("{} in the answer", grouped(stats.found)));
    match stats.spilled {
        0 => parts.push("nothing spilled".into()),
        spilled => parts.push(format!(
            "{} spilled in {} records, {} partitions, {} levels",
            bytes(spilled as f64),
            grouped(stats.spilled_records),
            grouped(stats.partitions),
            stats.levels
        )),
    }
    parts.push(format!("{} of tables", bytes(stats.table_bytes as f64)));
    for stage in &stats.stages {
        parts.push(format!("{}: {}", stage.name, time(stage.time.as_secs_f64())));
    }
    parts.push(format!("all: {}", time(start.elapsed().as_secs_f64())));
    eprintln!("gowk: {}", parts.join("; "));
}
