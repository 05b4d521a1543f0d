//! Exact sets of integers.

use super::{Build, FamilyName, check_memory};
use crate::{
    filter_file,
    numbers::{self, grouped},
    options::tell_skipped,
    progress::Watch,
};
use anyhow::{bail, ensure};
use gowk::{Bitmap, IntegerSetMut, format::roaring::Width};
use gowk_jobs::input::{Block, Extractor, Input, InputError, KeyType, Keys, for_each_block, map_in_order};
use roaring::RoaringTreemap;

pub(super) fn build(build: &Build, input: &Input, watch: &mut Watch) -> anyhow::Result<()> {
    let keys = build.key_args.keys_or(KeyType::I64);
    ensure!(
        keys.key_type.is_integer(),
        "a {} holds integers; read them with --key-type i64 (or i32, u64), not {}",
        if build.family == FamilyName::Bitmap { "bitmap" } else { "roaring set" },
        keys.key_type
    );
    let threads = build.memory.threads();
    // A file is read for its range first; what comes through a pipe is gathered, compressed.
    if build.family == FamilyName::Bitmap && input.can_be_read_twice() {
        let ranges = for_each_block(
            input.blocks(),
            threads,
            || (keys.extractor(), None::<(u64, u64)>),
            |(extractor, range), block| {
                each_id(extractor, block, |id| {
                    let (low, high) = range.unwrap_or((id, id));
                    *range = Some((low.min(id), high.max(id)));
                })
            },
        )?;
        tell_skipped(ranges.iter().map(|(extractor, _)| extractor.skipped()).sum());
        let range =
            ranges.into_iter().filter_map(|(_, range)| range).reduce(|(a, b), (c, d)| (a.min(c), b.max(d)));
        let mut set = empty_bitmap(build, &keys, range)?;
        map_in_order(
            input.blocks(),
            threads,
            || keys.extractor(),
            |extractor, block| {
                let mut ids = Vec::new();
                each_id(extractor, block, |id| ids.push(id))?;
                anyhow::Ok(ids)
            },
            |ids| Ok(set.insert_many(&ids)?),
        )?;
        return save_bitmap(build, &set, watch);
    }
    let mut all = RoaringTreemap::new();
    let states = map_in_order(
        input.blocks(),
        threads,
        || keys.extractor(),
        |extractor, block| {
            let mut ids = Vec::new();
            each_id(extractor, block, |id| ids.push(id))?;
            ids.sort_unstable();
            ids.dedup();
            Ok(RoaringTreemap::from_sorted_iter(ids).unwrap_or_default())
        },
        |part| {
            all |= part;
            anyhow::Ok(())
        },
    )?;
    tell_skipped(states.iter().map(Extractor::skipped).sum());
    if build.family == FamilyName::Bitmap {
        let mut set = empty_bitmap(build, &keys, all.min().zip(all.max()))?;
        for id in all {
            set.insert(id)?;
        }
        return save_bitmap(build, &set, watch);
    }
    filter_file::save_roaring(&all, Width::Bits64, &build.output, watch)?;
    build.tell(&format!(
        "roaring set, {} integers, {}",
        grouped(all.len()),
        numbers::bytes(all.serialized_size() as f64)
    ));
    Ok(())
}

fn each_id(extractor: &mut Extractor, block: &Block, mut each: impl FnMut(u64)) -> Result<(), InputError> {
    for record in block.records() {
        if let Some(id) = extractor.value_of(block, record)?.and_then(gowk_jobs::input::Value::word) {
            each(id);
        }
    }
    Ok(())
}

/// A bitmap for all ids from the first to the last.
fn empty_bitmap(build: &Build, keys: &Keys, range: Option<(u64, u64)>) -> anyhow::Result<Bitmap> {
    let (first, last) = range.unwrap_or((0, 0));
    if keys.key_type != KeyType::U64 && last > i64::MAX as u64 {
        bail!("a bitmap holds integers from 0 on, and there are negative ones; take --family roaring");
    }
    let Some(end) = last.checked_add(1) else {
        bail!("a bitmap has no place for {last}; take --family roaring");
    };
    check_memory(
        (end - first) / 8,
        build.memory.memory(),
        "a bit for each integer from the first to the last",
    )?;
    Ok(Bitmap::new(first..end)?)
}

fn save_bitmap(build: &Build, set: &Bitmap, watch: &mut Watch) -> anyhow::Result<()> {
    use gowk::IntegerSet;
    filter_file::save(set, &build.output, watch)?;
    build.tell(&format!(
        "bitmap, {} integers, {}",
        grouped(set.len()),
        numbers::bytes(set.size_in_bytes() as f64)
    ));
    Ok(())
}
