//! From a pass to an answer: the partitions that it left are worked through, those that are too large partitioned again.

use super::{
    Engine,
    lane::{Act, Lane},
    merge::{self, Run},
    pass::{Emit, Pass},
    sieve::Sieve,
    spill::Spill,
    table::{Entries, Entry, Shape},
};
use crate::{
    error::JobError,
    output::{Output, Row},
    records::Feed,
    stats::Stats,
};
use std::{cmp::Reverse, collections::BinaryHeap};

/// What a job does with its keys.
pub(crate) struct Reduce<'a> {
    /// What is done with the records of the answering side.
    pub(crate) act: Act,
    pub(crate) shape: Shape,
    /// Whether spilled records need their lines.
    pub(crate) lines: bool,
    /// Whether the answer is in the order of the input.
    pub(crate) ordered: bool,
    /// What becomes of counted keys.
    pub(crate) judge: Judge<'a>,
}

/// What becomes of a counted key.
#[derive(Clone, Copy)]
pub(crate) enum Judge<'a> {
    /// It is part of the answer if its count is one of these.
    Rows(&'a (dyn Fn(u64) -> bool + Sync)),
    /// The caller gets it, in no order.
    Hand,
}

/// Where answers go.
pub(crate) struct Sinks<'a, 'o> {
    pub(crate) output: &'a mut Output<'o>,
    /// Counted keys under [`Judge::Hand`].
    pub(crate) keys: &'a mut dyn FnMut(&Entry<'_>),
}

/// A feed, and the sieve that its keys must pass.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a, 'f> {
    pub(crate) feed: &'a Feed<'f>,
    pub(crate) prune: Option<&'a Sieve>,
}

impl<'a, 'f> From<&'a Feed<'f>> for Side<'a, 'f> {
    fn from(feed: &'a Feed<'f>) -> Self {
        Self { feed, prune: None }
    }
}

impl Engine<'_> {
    /// Runs a job of one input to its end.
    pub(crate) fn reduce(
        &self,
        reduce: &Reduce<'_>,
        feed: &Feed<'_>,
        sinks: &mut Sinks<'_, '_>,
        stats: &mut Stats,
    ) -> Result<(), JobError> {
        let lanes = self.lanes(reduce.shape);
        let runs = self.answer(reduce, lanes, Vec::new(), feed.into(), 0, sinks, stats)?;
        self.write_runs(runs, sinks, stats)
    }

    /// Merges what is left, and ends the output.
    pub(crate) fn write_runs(
        &self,
        runs: Vec<Run>,
        sinks: &mut Sinks<'_, '_>,
        stats: &mut Stats,
    ) -> Result<(), JobError> {
        if !runs.is_empty() {
            stats.stage("merge", |_| merge::write(runs, &self.space, sinks.output))?;
        }
        stats.spilled = self.space.written();
        stats.spilled_records = self.space.records();
        sinks.output.finish().map_err(JobError::Output)
    }

    /// Puts the keys of a side into empty tables. What did not fit is in the spills.
    pub(crate) fn load(
        &self,
        shape: Shape,
        side: Side<'_, '_>,
        limit: u64,
        level: u32,
        stats: &mut Stats,
    ) -> Result<(Vec<Lane>, Vec<Option<Spill>>), JobError> {
        let mut lanes = self.lanes(shape);
        let pass = Pass {
            act: Act::Load,
            level,
            prune: side.prune.map(|sieve| (sieve, true)),
            spill_misses: false,
            lines: false,
            limit,
        };
        self.pass(side.feed, &mut lanes, &pass, &mut Emit::Nothing, stats)?;
        let spills = lanes.iter_mut().map(|lane| lane.spill.take()).collect();
        Ok((lanes, spills))
    }

    /// Works through the answering side, over tables that may hold keys of the other one, whose spills are given; then
    /// through the partitions of both. Gives what is to be merged.
    #[expect(clippy::too_many_arguments, reason = "a recursion carries all it has")]
    pub(crate) fn answer(
        &self,
        reduce: &Reduce<'_>,
        mut lanes: Vec<Lane>,
        mut others: Vec<Option<Spill>>,
        side: Side<'_, '_>,
        level: u32,
        sinks: &mut Sinks<'_, '_>,
        stats: &mut Stats,
    ) -> Result<Vec<Run>, JobError> {
        others.resize_with(self.sizes.lanes, || None);
        let mut run = Run::new(self.sizes.spill_block);
        let pass = Pass {
            act: reduce.act,
            level,
            prune: side.prune.map(|sieve| (sieve, true)),
            spill_misses: others.iter().any(Option::is_some),
            lines: reduce.lines,
            limit: self.sizes.tables,
        };
        let mut emit = match (reduce.act, reduce.ordered) {
            (Act::Count | Act::Load, _) => Emit::Nothing,
            (_, false) => Emit::Now(sinks.output),
            // What the other side has spilled may be the answer to the very first record.
            (_, true) if level == 0 && !pass.spill_misses => Emit::NowThenRun(sinks.output, &mut run),
            (_, true) => Emit::Run(&mut run),
        };
        let name = if level == 0 { "read" } else { "partitions" };
        stats.stage(name, |stats| self.pass(side.feed, &mut lanes, &pass, &mut emit, stats))?;
        stats.distinct += lanes.iter().map(Lane::len).sum::<usize>() as u64;
        let spills: Vec<Option<Spill>> = lanes.iter_mut().map(|lane| lane.spill.take()).collect();
        if reduce.act == Act::Count {
            let now = !reduce.ordered || (level == 0 && spills.iter().all(Option::is_none));
            stats.stage("answer", |stats| self.judge(reduce, &lanes, now, &mut run, sinks, stats))?;
        }
        drop(lanes);
        run.finish(&self.space)?;
        let mut runs = vec![run];
        self.partitions(reduce, &others, &spills, level, &mut runs, sinks, stats)?;
        merge::few_enough(runs, &self.space)
    }

    #[expect(clippy::too_many_arguments, reason = "a recursion carries all it has")]
    pub(crate) fn partitions(
        &self,
        reduce: &Reduce<'_>,
        others: &[Option<Spill>],
        spills: &[Option<Spill>],
        level: u32,
        runs: &mut Vec<Run>,
        sinks: &mut Sinks<'_, '_>,
        stats: &mut Stats,
    ) -> Result<(), JobError> {
        let progress = self.progress();
        let raw: u64 = spills.iter().flatten().map(Spill::raw_bytes_of_all).sum();
        progress.expect(Some(raw));
        let others = others.iter().map(Option::as_ref).chain(std::iter::repeat(None));
        for (spill, other) in spills.iter().zip(others) {
            // A record of the answering side is needed for an answer, whatever the other one has.
            let Some(spill) = spill else { continue };
            for part in (0..spill.parts()).filter(|part| spill.raw_bytes(*part) > 0) {
                stats.partitions += 1;
                stats.levels = stats.levels.max(level + 1);
                let block = self.sizes.block;
                let other = match other {
                    Some(other) if other.raw_bytes(part) > 0 => {
                        let feed = Feed::spilled(other.read(part), &self.space, false, block, progress);
                        Some(feed)
                    }
                    _ => None,
                };
                let (lanes, others) = match &other {
                    Some(feed) => {
                        self.load(reduce.shape, feed.into(), self.sizes.tables, level + 1, stats)?
                    }
                    None => (self.lanes(reduce.shape), Vec::new()),
                };
                let feed = Feed::spilled(spill.read(part), &self.space, spill.has_lines(), block, progress);
                runs.extend(self.answer(reduce, lanes, others, (&feed).into(), level + 1, sinks, stats)?);
                *runs = merge::few_enough(std::mem::take(runs), &self.space)?;
            }
        }
        Ok(())
    }

    /// Goes through the counted keys, in the order in which they first appeared if that is wanted.
    fn judge(
        &self,
        reduce: &Reduce<'_>,
        lanes: &[Lane],
        now: bool,
        run: &mut Run,
        sinks: &mut Sinks<'_, '_>,
        stats: &mut Stats,
    ) -> Result<(), JobError> {
        let wanted = match reduce.judge {
            Judge::Rows(wanted) => wanted,
            Judge::Hand => {
                lanes.iter().flat_map(|lane| &lane.shards).flat_map(|shard| shard.entries()).for_each(
                    |entry| {
                        (sinks.keys)(&entry);
                    },
                );
                return Ok(());
            }
        };
        let mut put = |entry: Entry<'_>| {
            if !wanted(entry.count) {
                return Ok(());
            }
            stats.found += 1;
            match now {
                true => {
                    let row = Row { line: entry.line, count: entry.count };
                    sinks.output.row(row).map_err(JobError::Output)
                }
                false => run.put(&self.space, entry.position, entry.count, entry.line),
            }
        };
        if reduce.ordered {
            return in_order(lanes, put);
        }
        lanes.iter().flat_map(|lane| &lane.shards).flat_map(|shard| shard.entries()).try_for_each(&mut put)
    }
}

/// The entries of all shards by their positions.
fn in_order(lanes: &[Lane], mut each: impl FnMut(Entry<'_>) -> Result<(), JobError>) -> Result<(), JobError> {
    let mut shards: Vec<Entries<'_>> =
        lanes.iter().flat_map(|lane| &lane.shards).map(|shard| shard.entries()).collect();
    let mut heads: Vec<Option<Entry<'_>>> = shards.iter_mut().map(Iterator::next).collect();
    let position = |i: usize, heads: &[Option<Entry<'_>>]| heads[i].map(|entry| Reverse((entry.position, i)));
    let mut next: BinaryHeap<Reverse<(u64, usize)>> =
        (0..heads.len()).filter_map(|i| position(i, &heads)).collect();
    while let Some(Reverse((_, i))) = next.pop() {
        if let Some(entry) = heads[i] {
            each(entry)?;
        }
        heads[i] = shards[i].next();
        next.extend(position(i, &heads));
    }
    Ok(())
}
