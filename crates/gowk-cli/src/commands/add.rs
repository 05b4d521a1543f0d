//! `gowk add`: more keys into a filter file.

use crate::{
    exit::Found,
    foreign,
    in_place::{Contents, InPlace},
    numbers,
    options::{KeyArgs, MemoryArgs, tell_skipped},
    progress::Watch,
};
use anyhow::ensure;
use gowk::{AnyFilter, Filter, IntegerSetMut};
use gowk_jobs::input::{Extractor, KeyType, Keys, Value, map_in_order};
use std::path::{Path, PathBuf};

/// Add keys to a filter file
///
/// The file is replaced in one step when all keys are in: killed at any moment, it is the old one or the new one. A second gowk that
/// changes the same file waits for the first.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk add seen.gowk today.txt
  tail -n 1000 access.log | gowk add bad.gowk --field 1 -d ' '")]
pub(crate) struct Add {
    /// The filter to change
    filter: PathBuf,
    /// Files of keys; standard input if there are none, or where it says -
    keys: Vec<PathBuf>,
    #[command(flatten)]
    key_args: KeyArgs,
    #[command(flatten)]
    memory: MemoryArgs,
}

impl Add {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        let mut watch = Watch::new(false);
        let mut file = InPlace::open(&self.filter)?;
        if let Contents::Keys(AnyFilter::BinaryFuse(_)) = &file.contents {
            // Before the keys are read.
            return Err(gowk::format::ChangeError::CannotInsert { family: gowk::Family::BinaryFuse }.into());
        }
        let input = self.key_args.input(&self.keys, &watch)?;
        let skipped = match &mut file.contents {
            Contents::Keys(filter) => {
                let (keys, hasher) = (self.key_args.keys(), *filter.hasher());
                let states = map_in_order(
                    input.blocks(),
                    self.memory.threads(),
                    || keys.extractor(),
                    |extractor, block| {
                        let mut digests = Vec::new();
                        extractor.digests(block, &hasher, &mut digests)?;
                        anyhow::Ok(digests)
                    },
                    |digests| Ok(filter.insert_many(&digests)?),
                )?;
                states.iter().map(Extractor::skipped).sum()
            }
            Contents::Flat(ids) => {
                each_id(&self.key_args, &input, &self.filter, |id| Ok(ids.insert(id).map(|_| ())?))?
            }
            Contents::Foreign(filter) => {
                let keys = self.key_args.keys_or(foreign::key_type(filter));
                foreign::fill(filter, &input, &keys, self.memory.threads())?
            }
            Contents::Roaring(ids, _) => each_id(&self.key_args, &input, &self.filter, |id| {
                ids.insert(id);
                Ok(())
            })?,
        };
        watch.done();
        file.save(&mut watch)?;
        tell_skipped(skipped);
        if let Contents::Keys(filter) = &file.contents {
            tell_overfull(filter, &self.filter);
        }
        Ok(Found::Something)
    }
}

/// Hands every integer to `each`; gives back how many lines had none.
pub(super) fn each_id(
    key_args: &KeyArgs,
    input: &gowk_jobs::input::Input,
    path: &Path,
    mut each: impl FnMut(u64) -> anyhow::Result<()>,
) -> anyhow::Result<u64> {
    let keys: Keys = key_args.keys_or(KeyType::I64);
    ensure!(
        keys.key_type.is_integer(),
        "{} is a set of integers, which has no keys of type {}; read them with --key-type i64",
        path.display(),
        keys.key_type
    );
    let mut extractor = keys.extractor();
    input.for_each_record(|block, record| {
        match extractor.value_of(block, record)?.and_then(Value::word) {
            Some(id) => each(id),
            None => Ok(()),
        }
    })?;
    Ok(extractor.skipped())
}

pub(super) fn tell_overfull(filter: &AnyFilter, path: &Path) {
    let stats = filter.stats();
    if stats.is_overfull() {
        eprintln!(
            "gowk: warning: {} was made for {} keys and holds about {}: its rate is {}, not {}; build a larger one",
            path.display(),
            numbers::count(stats.items as f64),
            numbers::count(stats.estimated_items),
            numbers::rate(stats.fpp_now),
            numbers::rate(stats.fpp)
        );
    }
}
