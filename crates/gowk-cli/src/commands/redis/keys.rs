//! Keys into filters on servers, and out of them.

use super::servers::{Either, ServerArgs, tell_overfull};
use crate::{
    exit::Found,
    numbers::{grouped, parse_count, parse_rate},
    options::{KeyArgs, tell_skipped},
    progress::Watch,
};
use anyhow::{Context, bail};
use gowk::{Digest, Hasher, Removed};
use gowk_jobs::input::{Block, DEFAULT_BLOCK, Extractor, InputError};
use gowk_redis::{BatchError, Spec};
use std::path::PathBuf;

/// Digests that are sent at once: enough that each shard gets several, and some MB of commands.
const BATCH: usize = 50_000;

/// Add keys to a filter on servers
///
/// What is interrupted can be done again: to add a key twice changes nothing. (A counting filter counts each time.)
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk redis add seen urls.txt.gz --url redis://127.0.0.1:6379
  tail -F access.log | gowk redis add bad --field 1 -d ' '")]
pub(super) struct Add {
    /// The filter
    name: String,
    /// Files of keys; standard input if there are none, or where it says -
    keys: Vec<PathBuf>,
    #[command(flatten)]
    servers: ServerArgs,
    #[command(flatten)]
    key_args: KeyArgs,
}

/// Remove keys from a counting filter on servers
///
/// Remove only what was added: a filter keeps traces of keys, and may take another's trace away.
#[derive(clap::Args)]
#[command(
    after_long_help = "Examples:\n  gowk redis remove live ended.txt\n\nExit status: 0 if a key was removed, 1 if none was there, 2 on an error."
)]
pub(super) struct Remove {
    /// The filter
    name: String,
    /// Files of keys; standard input if there are none, or where it says -
    keys: Vec<PathBuf>,
    #[command(flatten)]
    servers: ServerArgs,
    #[command(flatten)]
    key_args: KeyArgs,
}

/// Fill a filter on servers anew while it answers, then switch to it
///
/// The keys that are read make the new filter; keys that others add meanwhile are in it as well. All clients change over at once. Until
/// then the old one answers, and if anything fails it stays.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk redis rebuild seen current.txt
  gowk redis rebuild seen current.txt --items 500M      larger than before
  gowk redis rebuild seen --abort                       give up what somebody has left half built")]
pub(super) struct Rebuild {
    /// The filter
    name: String,
    /// Files of keys; standard input if there are none, or where it says -
    keys: Vec<PathBuf>,
    /// How many keys the new one is for [default: as many as the old one]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    items: Option<u64>,
    /// The false-positive rate of the new one [default: that of the old one]
    #[arg(long, value_name = "RATE", value_parser = parse_rate)]
    fpp: Option<f64>,
    /// Give up a rebuild that was left
    #[arg(long, conflicts_with_all = ["keys", "items", "fpp"])]
    abort: bool,
    #[command(flatten)]
    servers: ServerArgs,
    #[command(flatten)]
    key_args: KeyArgs,
}

impl Add {
    pub(super) fn run(self) -> anyhow::Result<Found> {
        let mut watch = Watch::new(false);
        let filter = Either::open(&self.servers.connect()?, &self.name)?;
        let mut new = 0;
        let total = each_batch(&self.key_args, &self.keys, &mut watch, filter.hasher(), |digests| {
            new += filter.add(digests)?;
            Ok(())
        })?;
        eprintln!("gowk: {} of {} keys were new in {}", grouped(new), grouped(total), self.name);
        tell_overfull(&filter.info(false)?);
        Ok(Found::Something)
    }
}

impl Remove {
    pub(super) fn run(self) -> anyhow::Result<Found> {
        let mut watch = Watch::new(false);
        let Either::Counting(filter) = Either::open(&self.servers.connect()?, &self.name)? else {
            bail!(
                "{} is a Bloom filter, from which nothing can be removed; rebuild it, or create it with --counting",
                self.name
            );
        };
        let mut gone = 0;
        let total = each_batch(&self.key_args, &self.keys, &mut watch, filter.hasher(), |digests| {
            gone +=
                filter.remove_many(digests)?.into_iter().filter(|removed| *removed == Removed::Gone).count()
                    as u64;
            Ok(())
        })?;
        eprintln!("gowk: {} of {} keys were there and are gone", grouped(gone), grouped(total));
        Ok(Found::if_any(gone))
    }
}

impl Rebuild {
    pub(super) fn run(self) -> anyhow::Result<Found> {
        let mut watch = Watch::new(false);
        let filter = self.servers.connect()?.open(&self.name)?;
        if self.abort {
            let there = filter.abort_rebuild()?;
            eprintln!(
                "gowk: {}",
                if there { "the new generation is given up" } else { "nobody was rebuilding it" }
            );
            return Ok(if there { Found::Something } else { Found::Nothing });
        }
        let before = filter.params().promise();
        let spec = Spec::new(self.items.unwrap_or(before.items), self.fpp.unwrap_or(before.fpp));
        let rebuild = filter.rebuild(&spec)?;
        let filled = each_batch(&self.key_args, &self.keys, &mut watch, filter.hasher(), |digests| {
            rebuild.add_many(digests).map(|_| ())
        });
        match filled {
            Ok(total) => {
                watch.uninterrupted(|| rebuild.switch())?;
                eprintln!("gowk: {} was filled anew with {} keys", self.name, grouped(total));
                tell_overfull(&filter.info(false)?);
                Ok(Found::Something)
            }
            Err(error) => {
                watch.uninterrupted(|| rebuild.abort()).context("the new generation could not be removed")?;
                Err(error.context("the old generation stays"))
            }
        }
    }
}

/// Reads all keys and hands them over in batches; gives back how many there were. What failed is named by the file and the line of the first
/// key of its batch.
fn each_batch(
    key_args: &KeyArgs,
    paths: &[PathBuf],
    watch: &mut Watch,
    hasher: Hasher,
    mut send: impl FnMut(&[Digest]) -> Result<(), BatchError>,
) -> anyhow::Result<u64> {
    let input = key_args.input(paths, watch)?;
    let mut extractor: Extractor = key_args.keys().extractor();
    let (mut blocks, mut block) = (input.blocks(), Block::default());
    let (mut digests, mut total, mut place) = (Vec::new(), 0, None);
    let mut flush = |digests: &mut Vec<Digest>, place: &mut Option<String>, total: &mut u64| {
        send(digests).map_err(|error| {
            let failed = error.failed.len();
            let place = place.take().unwrap_or_default();
            anyhow::Error::new(error).context(format!(
                "{} keys of a batch of {} that begins at {place} were not written; do it again from there",
                grouped(failed as u64),
                grouped(digests.len() as u64)
            ))
        })?;
        *total += digests.len() as u64;
        digests.clear();
        *place = None;
        anyhow::Ok(())
    };
    while blocks.next_into(&mut block)? {
        if watch.progress().is_cancelled() {
            return Err(InputError::Cancelled.into());
        }
        place.get_or_insert_with(|| {
            let file = block
                .source()
                .path()
                .map_or_else(|| "standard input".into(), |path| path.display().to_string());
            let line = block.records().next().map_or(0, |record| record.number);
            format!("{file}, line {line}")
        });
        extractor.digests(&block, &hasher, &mut digests)?;
        // A pipe that gives little at a time is not made to wait for more.
        if digests.len() >= BATCH || block.bytes().len() < DEFAULT_BLOCK / 2 {
            flush(&mut digests, &mut place, &mut total)?;
        }
    }
    if !digests.is_empty() {
        flush(&mut digests, &mut place, &mut total)?;
    }
    watch.done();
    tell_skipped(extractor.skipped());
    Ok(total)
}
