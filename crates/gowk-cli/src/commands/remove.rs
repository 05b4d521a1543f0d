//! `gowk remove`: keys out of a filter file.

use super::add::each_id;
use crate::{
    exit::Found,
    foreign,
    in_place::{Contents, InPlace},
    numbers::grouped,
    options::{KeyArgs, tell_skipped},
    progress::Watch,
};
use anyhow::bail;
use gowk::{
    AnyFilter, Filter, IntegerSetMut, Key, Remove as _, Removed,
    format::{ChangeError, foreign::Foreign},
};
use std::path::PathBuf;

/// Remove keys from a filter file
///
/// Of a cuckoo or counting filter, or a set of integers. Remove only what was added: a filter keeps traces of keys, not keys, and
/// removing one that was never there may take another's trace away. Keys that are surely not there are left alone and counted.
///
/// The file is replaced in one step when all keys are out: killed at any moment, it is the old one or the new one.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk remove live.gowk ended.txt
  echo session-42 | gowk remove live.gowk

Exit status: 0 if a key was removed, 1 if none was there, 2 on an error.")]
pub(crate) struct Remove {
    /// The filter to change
    filter: PathBuf,
    /// Files of keys; standard input if there are none, or where it says -
    keys: Vec<PathBuf>,
    #[command(flatten)]
    key_args: KeyArgs,
}

impl Remove {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        let mut watch = Watch::new(false);
        let mut file = InPlace::open(&self.filter)?;
        if let Contents::Keys(filter) = &file.contents
            && !matches!(filter, AnyFilter::Cuckoo(_) | AnyFilter::CountingBloom(_))
        {
            // Before the keys are read.
            return Err(ChangeError::CannotRemove { family: filter.stats().family }.into());
        }
        let input = self.key_args.input(&self.keys, &watch)?;
        let (mut removed, mut absent) = (0, 0);
        let mut note = |gone: bool| if gone { removed += 1 } else { absent += 1 };
        let keys = self.key_args.keys();
        let makers_hash = match &file.contents {
            Contents::Foreign(filter) => Some(foreign::hash(filter, keys.key_type)?),
            _ => None,
        };
        let skipped = match &mut file.contents {
            Contents::Keys(filter) => {
                let (mut extractor, hasher) = (self.key_args.keys().extractor(), *filter.hasher());
                input.for_each_record(|block, record| {
                    if let Some(value) = extractor.value_of(block, record)? {
                        note(filter.remove_digest(hasher.digest(&value))? == Removed::Gone);
                    }
                    anyhow::Ok(())
                })?;
                extractor.skipped()
            }
            Contents::Foreign(Foreign::RedisCuckoo(filter)) => {
                let mut extractor = keys.extractor();
                input.for_each_record(|block, record| {
                    if let (Some(value), Some(hash)) = (extractor.value_of(block, record)?, &makers_hash) {
                        note(filter.remove_digest(value.digest(hash)) == Removed::Gone);
                    }
                    anyhow::Ok(())
                })?;
                extractor.skipped()
            }
            Contents::Foreign(filter) => {
                bail!("keys cannot be removed from a {} filter; build it anew without them", filter.format())
            }
            Contents::Flat(ids) => each_id(&self.key_args, &input, &self.filter, |id| {
                note(ids.remove(id));
                Ok(())
            })?,
            Contents::Roaring(ids, _) => each_id(&self.key_args, &input, &self.filter, |id| {
                note(ids.remove(id));
                Ok(())
            })?,
        };
        watch.done();
        if removed > 0 {
            file.save(&mut watch)?;
        }
        tell_skipped(skipped);
        if absent > 0 {
            eprintln!("gowk: {} of {} keys were not there", grouped(absent), grouped(removed + absent));
        }
        Ok(Found::if_any(removed))
    }
}
