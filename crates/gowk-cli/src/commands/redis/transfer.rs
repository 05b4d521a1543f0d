//! Filters between servers and files.

use super::servers::{Either, ServerArgs};
use crate::{
    exit::Found,
    numbers::{self, parse_bytes},
    options::OutputArgs,
};
use anyhow::{Context, bail};
use gowk::{AnyFilter, Filter, Persist, store::Mapped};
use gowk_redis::Spec;
use std::{
    io::{self, Write},
    path::PathBuf,
};

/// Write a filter on servers to a file
///
/// The file is the same filter: ask it with gowk query, without servers. It has every key that was added before; keys that are added
/// meanwhile may be in it.
#[derive(clap::Args)]
#[command(after_long_help = "Examples:\n  gowk redis export seen -o seen.gowk")]
pub(super) struct Export {
    /// The filter
    name: String,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    servers: ServerArgs,
}

/// Bring a filter from a file onto servers, or into a filter that is there
///
/// The filter is created as the file has it. One that is there with the same shape and seed takes in the keys of the file; doing it twice
/// changes nothing.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk build urls.txt --items 100M -o urls.gowk
  gowk redis import urls urls.gowk")]
pub(super) struct Import {
    /// The filter
    name: String,
    /// A .gowk file of a blocked or counting Bloom filter
    file: PathBuf,
    /// What a shard takes, from 4K to 1M [default: what gives 64 shards, from 16K to 512K]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    shard_size: Option<u64>,
    #[command(flatten)]
    servers: ServerArgs,
}

impl Export {
    pub(super) fn run(self) -> anyhow::Result<Found> {
        self.output.check()?;
        let filter = Either::open(&self.servers.connect()?, &self.name)?;
        let path = &self.output.output;
        let bytes = match (&filter, self.output.is_stdout()) {
            (Either::Bloom(filter), false) => filter.export_to(path)?,
            (Either::Counting(filter), false) => filter.export_to(path)?,
            // The head is the last that is known, and cannot be put before what a pipe has taken.
            (Either::Bloom(filter), true) => print(&filter.export()?)?,
            (Either::Counting(filter), true) => print(&filter.export()?)?,
        };
        eprintln!("gowk: {} as {}, {}", self.name, path.display(), numbers::bytes(bytes as f64));
        Ok(Found::Something)
    }
}

fn print(filter: &(impl Persist + Filter)) -> anyhow::Result<u64> {
    io::stdout().write_all(&filter.to_bytes()).context("cannot write the filter")?;
    Ok(filter.size_in_bytes() as u64)
}

impl Import {
    pub(super) fn run(self) -> anyhow::Result<Found> {
        // Every byte is checked before any of it goes out; it need not fit into memory.
        let file = || format!("cannot open {}", self.file.display());
        gowk::format::verify(&self.file).with_context(file)?;
        let filter = AnyFilter::<Mapped>::open(&self.file).with_context(file)?;
        let promise = filter.head().promise;
        let mut spec = Spec::new(promise.items, promise.fpp);
        if let Some(bytes) = self.shard_size {
            spec = spec.shard_bytes(bytes);
        }
        let servers = self.servers.connect()?;
        match &filter {
            AnyFilter::BlockedBloom(filter) => drop(servers.import(&self.name, filter, &spec)?),
            AnyFilter::CountingBloom(filter) => drop(servers.import_counting(&self.name, filter, &spec)?),
            other => bail!(
                "{} is a {} filter, which cannot be kept on plain servers; build it with --family blocked or counting",
                self.file.display(),
                other.stats().family
            ),
        }
        eprintln!("gowk: {} is in {}", self.file.display(), self.name);
        Ok(Found::Something)
    }
}
