//! Two inputs as sets: what is in both, and what is only in the first.

use crate::{
    Options, Output, Records, Stats,
    engine::{
        Engine,
        chunk::Chunk,
        lane::{Act, Lane},
        pass::{Emit, Pass},
        reduce::{Judge, Reduce, Side, Sinks},
        sieve::{Filling, Sieve},
        spill::Spill,
        table::Shape,
    },
    error::JobError,
    plan::Plan,
};
use rayon::prelude::*;

/// Which records of the first input are the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Those whose keys are in the second as well.
    Intersect,
    /// Those whose keys are not in the second.
    Subtract,
}

/// Compares two inputs by their keys.
///
/// Where the second does not fit into memory, a filter of the first one's keys turns away most of it before anything is
/// spilled: false positives cost memory, never a wrong answer.
///
/// ```
/// use gowk_jobs::{Compare, Operation, Options, Output, Records};
///
/// let (ours, theirs) = (Records::from_fn(|| ["heron", "gowk"].into_iter()), Records::from_fn(|| ["gowk"].into_iter()));
/// let mut lines = Vec::new();
/// let mut output = Output::lines(&mut lines, b'\n');
/// Compare::new(Operation::Subtract).run(&ours, &theirs, &Options::default(), &mut output)?;
/// drop(output);
/// assert_eq!(lines, b"heron\n");
/// # Ok::<(), gowk_jobs::JobError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Compare {
    operation: Operation,
    all_lines: bool,
    any_order: bool,
}

/// A table of fewer keys is in the cache itself.
const FEW_KEYS: u64 = 500_000;

/// What an approximate answer may be wrong by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Approximate {
    /// The chance that a key that is only in the first input is taken for one that is in both.
    pub fpp: f64,
}

impl Compare {
    /// As sets: every key of the answer once (the key, not its line), in the order of the first input.
    pub fn new(operation: Operation) -> Self {
        Self { operation, all_lines: false, any_order: false }
    }

    /// All records of the first input that belong to the answer, not just one for each key: a semi-join, or an anti-join.
    #[must_use]
    pub fn all_lines(self, all_lines: bool) -> Self {
        Self { all_lines, ..self }
    }

    /// Whether the order of the first input need not be kept.
    #[must_use]
    pub fn any_order(self, any_order: bool) -> Self {
        Self { any_order, ..self }
    }

    fn act(self) -> Act {
        match (self.operation, self.all_lines) {
            (Operation::Intersect, false) => Act::FirstIn,
            (Operation::Intersect, true) => Act::AllIn,
            (Operation::Subtract, false) => Act::Distinct,
            (Operation::Subtract, true) => Act::AllOut,
        }
    }

    /// What it will do.
    pub fn plan(&self, ours: &Records<'_>, theirs: &Records<'_>, options: &Options) -> Plan {
        let mut plan = Plan::new(options);
        if wants_filter(ours, theirs, options) {
            plan.pass(ours, "put every key of the first input into a filter");
            plan.pass(theirs, "keep those keys of the second that pass the filter in a table");
        } else {
            plan.pass(theirs, "keep every key of the second input in a table");
            plan.table(theirs, 0);
        }
        plan.pass(ours, "hold the first input against the table");
        plan.spill(!self.any_order);
        plan
    }

    /// Runs the job.
    pub fn run(
        &self,
        ours: &Records<'_>,
        theirs: &Records<'_>,
        options: &Options,
        output: &mut Output<'_>,
    ) -> Result<Stats, JobError> {
        let engine = Engine::new(options)?;
        let mut stats = Stats { passes: 2, ..Stats::default() };
        let sieve = match wants_filter(ours, theirs, options) {
            true => {
                stats.passes += 1;
                let mut sieve = stats.stage("filter of the first", |_| sieve_of(&engine, ours))?;
                sieve.fold(&engine);
                Some(sieve)
            }
            false => None,
        };
        let reduce = Reduce {
            act: self.act(),
            shape: Shape::default(),
            lines: ours.has_lines() && self.all_lines,
            ordered: !self.any_order,
            judge: Judge::Hand,
        };
        let room = engine.sizes.tables.saturating_sub(sieve.as_ref().map_or(0, Sieve::size_in_bytes));
        let feed = engine.feed(theirs)?;
        let side = Side { feed: &feed, prune: sieve.as_ref() };
        let (lanes, spills) =
            stats.stage("read the second", |stats| engine.load(reduce.shape, side, room, 0, stats))?;
        drop(sieve);
        stats.lines = 0;
        let back = match self.operation {
            Operation::Intersect => back(&engine, theirs, &lanes, &spills, &mut stats)?,
            Operation::Subtract => None,
        };
        let feed = engine.feed(ours)?;
        let side = Side { feed: &feed, prune: back.as_ref() };
        let mut sinks = Sinks { output, keys: &mut |_| {} };
        let runs = engine.answer(&reduce, lanes, spills, side, 0, &mut sinks, &mut stats)?;
        engine.write_runs(runs, &mut sinks, &mut stats)?;
        stats.distinct = 0;
        Ok(stats)
    }

    /// Answers from a filter of the second input alone. A key that is only in the first is taken for one of both with the chance
    /// that is given back: an intersection has a few too many, a difference a few too few. Order and repetitions are
    /// those of the first input.
    pub fn approximately(
        &self,
        ours: &Records<'_>,
        theirs: &Records<'_>,
        options: &Options,
        output: &mut Output<'_>,
    ) -> Result<(Stats, Approximate), JobError> {
        let engine = Engine::new(options)?;
        let mut stats = Stats { passes: 2, ..Stats::default() };
        let sieve = stats.stage("filter of the second", |_| sieve_of(&engine, theirs))?;
        let fpp = sieve.fpp();
        stats.saw_table(sieve.size_in_bytes());
        let keep = self.operation == Operation::Intersect;
        let pass = Pass {
            // No key is in the empty tables.
            act: Act::AllOut,
            level: 0,
            prune: Some((&sieve, keep)),
            spill_misses: false,
            lines: ours.has_lines() && self.all_lines,
            limit: engine.sizes.tables,
        };
        let (feed, mut lanes) = (engine.feed(ours)?, engine.lanes(Shape::default()));
        let mut emit = Emit::Now(output);
        stats.stage("read", |stats| engine.pass(&feed, &mut lanes, &pass, &mut emit, stats))?;
        output.finish().map_err(JobError::Output)?;
        Ok((stats, Approximate { fpp }))
    }
}

/// A sieve of what is left of the second input, to turn records of the first away: where keys were spilled, all that miss
/// the table would be spilled as well; where none were, a small filter stays in the cache and the table does not.
fn back(
    engine: &Engine<'_>,
    theirs: &Records<'_>,
    lanes: &[Lane],
    spills: &[Option<Spill>],
    stats: &mut Stats,
) -> Result<Option<Sieve>, JobError> {
    if spills.iter().any(Option::is_some) {
        if !theirs.can_be_read_twice() {
            return Ok(None);
        }
        stats.passes += 1;
        return stats.stage("filter of the second", |_| sieve_of(engine, theirs)).map(Some);
    }
    let keys = lanes.iter().map(Lane::len).sum::<usize>() as u64;
    if keys < FEW_KEYS || lanes.iter().map(Lane::bytes).sum::<usize>() as u64 > engine.sizes.tables / 8 * 7 {
        return Ok(None);
    }
    let filling = Filling::new(engine, keys, 0.02, engine.sizes.tables / 8)?;
    let hasher = engine.hasher(0);
    engine.pool.install(|| {
        lanes.par_iter().enumerate().for_each(|(i, lane)| {
            let entries = lane.shards.iter().flat_map(|shard| shard.entries());
            filling.insert_lane(i, entries.map(|entry| hasher.bytes(entry.key).h1));
        });
    });
    Ok(Some(filling.finish()))
}

/// Whether the second input is better pruned by a filter of the first one: it may not fit into memory, and the first can be
/// read again.
fn wants_filter(ours: &Records<'_>, theirs: &Records<'_>, options: &Options) -> bool {
    // A slot for each key, which is perhaps as long as the slot.
    let fits = theirs.total_bytes().is_some_and(|bytes| bytes.saturating_mul(2) < options.memory_limit());
    !fits && ours.can_be_read_twice()
}

/// A sieve of the keys of an input, of at most a quarter of the memory.
pub(crate) fn sieve_of(engine: &Engine<'_>, records: &Records<'_>) -> Result<Sieve, JobError> {
    const FPP: f64 = 0.01;
    const SAMPLE: usize = 8;
    let most = engine.sizes.tables / 4;
    let feed = engine.feed(records)?;
    let hasher = engine.hasher(0);
    let mut first: Vec<Chunk> = Vec::new();
    while first.len() < SAMPLE {
        let mut chunk = Chunk::new(engine.sizes.lanes);
        if !feed.next_into(&mut chunk)? {
            break;
        }
        chunk.deal(&hasher, &feed.keys);
        first.push(chunk);
    }
    // They tell how long records are, and so how many there will be.
    let items = expected_items(&first, records.total_bytes(), most * 8);
    let filling = Filling::new(engine, items, FPP, most)?;
    first.iter().for_each(|chunk| filling.insert(chunk));
    engine.each_chunk(&feed, |chunk| filling.insert(chunk))?;
    Ok(filling.finish())
}

/// How many records there will be, judged by the first ones; as many as a filter of `most` bits is good for, if nobody knows.
fn expected_items(chunks: &[Chunk], total: Option<u64>, most: u64) -> u64 {
    let (records, bytes) = chunks
        .iter()
        .filter(|chunk| chunk.records > 0)
        .fold((0, 0), |(r, b), chunk| (r + chunk.records, b + chunk.bytes().len() as u64));
    match total {
        // A little more, as records may get shorter; compressed ones expand.
        Some(total) if bytes > 0 => {
            let times = (total as f64 / bytes as f64).max(1.0);
            (records as f64 * times * 1.05) as u64 + 1
        }
        Some(_) => 1,
        None => (most / 10).max(1),
    }
}
