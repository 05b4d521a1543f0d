//! The keys that came most often.

use crate::{
    Options, Output, Records, Row, Stats,
    engine::{
        Engine,
        lane::{Act, Lane},
        pass::{Emit, Pass},
        reduce::{Judge, Reduce, Sinks},
        table::{Counts, Entry, Shape},
    },
    error::JobError,
    plan::Plan,
};
use gowk::{CountMinParams, Digest, TopK, TopKParams};
use rayon::prelude::*;
use std::{cmp::Reverse, collections::BinaryHeap};

/// The keys that came most often, with exact counts: the highest count first, equal ones in the order of their bytes.
///
/// While the different keys fit into memory, one pass counts them all. Beyond that the table is frozen and goes on counting its own
/// keys, and a sketch bounds the counts of all others; a second pass counts just those others that can still win. An
/// input that cannot be read twice is spilled instead.
///
/// ```
/// use gowk_jobs::{Options, Output, Records, Top};
///
/// let birds = Records::from_fn(|| ["heron", "gowk", "owl", "heron"].into_iter());
/// let mut top = Vec::new();
/// let mut rows = Output::rows(|row| { top.push((row.line.to_vec(), row.count)); Ok(()) });
/// Top::new(2).run(&birds, &Options::default(), &mut rows)?;
/// drop(rows);
/// assert_eq!(top, [(b"heron".to_vec(), 2), (b"gowk".to_vec(), 1)]);
/// # Ok::<(), gowk_jobs::JobError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Top {
    k: usize,
}

/// How wrong approximate counts may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopError {
    /// No count is too low, and none is too high by more than this.
    pub over: u64,
    /// Whether the keys are surely the right ones, if not in this order.
    pub sure: bool,
}

const SHAPE: Shape = Shape { positions: false, counts: Counts::Exact, lines: false };

impl Top {
    /// The first `k`.
    pub fn new(k: usize) -> Self {
        Self { k }
    }

    /// What it will do.
    pub fn plan(&self, records: &Records<'_>, options: &Options) -> Plan {
        let mut plan = Plan::new(options);
        plan.pass(records, &format!("count every key in a table, and take the {} highest counts", self.k));
        plan.table(records, 4);
        if records.can_be_read_twice() {
            plan.step("beyond that a sketch bounds the counts of further keys, and a second pass counts those that can still win");
        } else {
            plan.spill(false);
        }
        plan
    }

    /// Runs the job.
    pub fn run(
        &self,
        records: &Records<'_>,
        options: &Options,
        output: &mut Output<'_>,
    ) -> Result<Stats, JobError> {
        let engine = Engine::new(options)?;
        let mut stats = Stats { passes: 1, ..Stats::default() };
        let mut best = Best::new(self.k);
        let feed = engine.feed(records)?;
        if records.can_be_read_twice() {
            let lanes = first_pass(&engine, &feed, &mut best, &mut stats)?;
            if lanes.iter().any(|lane| lane.sketch.is_some()) {
                stats.passes += 1;
                second_pass(&engine, records, lanes, &mut best, &mut stats)?;
            }
        } else {
            let reduce =
                Reduce { act: Act::Count, shape: SHAPE, lines: false, ordered: false, judge: Judge::Hand };
            engine.reduce(
                &reduce,
                &feed,
                &mut Sinks { output, keys: &mut |entry| best.offer(entry) },
                &mut stats,
            )?;
        }
        stats.spilled = engine.space.written();
        stats.spilled_records = engine.space.records();
        for (count, key) in best.ranked() {
            stats.found += 1;
            output.row(Row { line: &key, count }).map_err(JobError::Output)?;
        }
        output.finish().map_err(JobError::Output)?;
        Ok(stats)
    }

    /// Answers from a summary of bounded size in one pass. Counts may be too high, by no more than is given back; none is too low.
    pub fn approximately(
        &self,
        records: &Records<'_>,
        options: &Options,
        output: &mut Output<'_>,
    ) -> Result<(Stats, TopError), JobError> {
        let engine = Engine::new(options)?;
        let mut stats = Stats { passes: 1, ..Stats::default() };
        let feed = engine.feed(records)?;
        let params = TopKParams::for_k(self.k.max(1) as u64)?;
        let mut summaries = (0..engine.sizes.lanes)
            .map(|_| TopK::with_params(params, engine.hasher(0)))
            .collect::<Result<Vec<_>, _>>()?;
        stats.stage("read", |stats| {
            engine.each_round(&feed, |chunks| {
                summaries.par_iter_mut().enumerate().for_each(|(lane, summary)| {
                    for chunk in chunks {
                        for rec in &chunk.lanes[lane] {
                            summary.add_digest(Digest::from(rec.hash), chunk.key(rec.place), 1);
                        }
                    }
                });
                for chunk in chunks {
                    stats.lines += chunk.records;
                    stats.skipped += chunk.skipped;
                    stats.bytes += chunk.bytes().len() as u64;
                }
                Ok(())
            })
        })?;
        stats.table_bytes = summaries.iter().map(|summary| summary.size_in_bytes() as u64).sum();
        // Every key is of one lane, so the best of all are among the best of each.
        let mut top: Vec<_> = summaries.iter().flat_map(TopK::top).collect();
        top.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.key.cmp(&b.key)));
        let next = top.get(self.k).map_or(0, |heavy| heavy.count);
        top.truncate(self.k);
        let over = top.iter().map(|heavy| heavy.error).max().unwrap_or(0);
        let sure = top.iter().all(|heavy| heavy.at_least() >= next && heavy.sure);
        for heavy in &top {
            stats.found += 1;
            output.row(Row { line: &heavy.key, count: heavy.count }).map_err(JobError::Output)?;
        }
        output.finish().map_err(JobError::Output)?;
        Ok((stats, TopError { over, sure }))
    }
}

/// Counts in a table until it is full, then only what is in it; the sketches have the rest.
fn first_pass(
    engine: &Engine<'_>,
    feed: &crate::records::Feed<'_>,
    best: &mut Best,
    stats: &mut Stats,
) -> Result<Vec<Lane>, JobError> {
    let mut lanes = engine.lanes(SHAPE);
    let bytes = (engine.sizes.tables / 8 / lanes.len() as u64).clamp(1 << 10, 64 << 20);
    for lane in &mut lanes {
        let params = CountMinParams::for_bytes(bytes, 0.02)?;
        lane.sketching = Some((params, engine.hasher(0)));
    }
    // An eighth for sketches, a quarter for the candidates of the second pass.
    let limit = engine.sizes.tables / 8 * 5;
    let pass = Pass { act: Act::Count, level: 0, prune: None, spill_misses: false, lines: false, limit };
    stats.stage("read", |stats| engine.pass(feed, &mut lanes, &pass, &mut Emit::Nothing, stats))?;
    stats.distinct = lanes.iter().map(Lane::len).sum::<usize>() as u64;
    lanes.iter().flat_map(|lane| &lane.shards).flat_map(|shard| shard.entries()).for_each(|e| best.offer(&e));
    Ok(lanes)
}

fn second_pass(
    engine: &Engine<'_>,
    records: &Records<'_>,
    counted: Vec<Lane>,
    best: &mut Best,
    stats: &mut Stats,
) -> Result<(), JobError> {
    let least = best.least();
    let mut lanes = engine.lanes(SHAPE);
    for (lane, before) in lanes.iter_mut().zip(counted) {
        lane.before = Some((Box::new(before), least));
    }
    let feed = engine.feed(records)?;
    let limit = engine.sizes.tables / 4;
    let pass = Pass { act: Act::Count, level: 0, prune: None, spill_misses: false, lines: false, limit };
    let lines = stats.lines;
    stats.stage("count candidates", |stats| {
        engine.pass(&feed, &mut lanes, &pass, &mut Emit::Nothing, stats)
    })?;
    stats.lines = lines;
    lanes.iter().flat_map(|lane| &lane.shards).flat_map(|shard| shard.entries()).for_each(|e| best.offer(&e));
    let spills: Vec<_> = lanes.iter_mut().map(|lane| lane.spill.take()).collect();
    drop(lanes);
    // So many candidates that they were spilled, as with keys that all came equally often.
    let reduce = Reduce { act: Act::Count, shape: SHAPE, lines: false, ordered: false, judge: Judge::Hand };
    let mut nowhere = Output::nowhere();
    let mut sinks = Sinks { output: &mut nowhere, keys: &mut |entry| best.offer(entry) };
    let distinct = stats.distinct;
    engine.partitions(&reduce, &[], &spills, 0, &mut Vec::new(), &mut sinks, stats)?;
    stats.distinct = distinct;
    Ok(())
}

/// The best so far.
struct Best {
    k: usize,
    /// The worst of them on top.
    heap: BinaryHeap<Reverse<(u64, Reverse<Vec<u8>>)>>,
}

impl Best {
    fn new(k: usize) -> Self {
        Self { k, heap: BinaryHeap::new() }
    }

    fn offer(&mut self, entry: &Entry<'_>) {
        if self.k == 0 {
            return;
        }
        if self.heap.len() == self.k {
            let Some(Reverse((count, Reverse(key)))) = self.heap.peek() else { return };
            let better = (entry.count, Reverse(entry.key)) > (*count, Reverse(key.as_slice()));
            if !better {
                return;
            }
            self.heap.pop();
        }
        self.heap.push(Reverse((entry.count, Reverse(entry.key.to_vec()))));
    }

    /// What a key must have come to be one of them.
    fn least(&self) -> u64 {
        match self.heap.peek() {
            Some(Reverse((count, _))) if self.heap.len() == self.k => *count,
            _ => 1,
        }
    }

    fn ranked(self) -> Vec<(u64, Vec<u8>)> {
        self.heap.into_sorted_vec().into_iter().map(|Reverse((count, Reverse(key)))| (count, key)).collect()
    }
}
