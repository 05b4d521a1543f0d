//! One pass over a feed: rounds of chunks, each dealt, worked on and written.

use super::{
    Engine,
    chunk::{Chunk, Place},
    lane::{Act, Lane, Task},
    merge::Run,
    sieve::Sieve,
};
use crate::{
    error::JobError,
    output::{Output, Row},
    records::Feed,
    stats::Stats,
};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a pass does.
pub(crate) struct Pass<'a> {
    pub(crate) act: Act,
    pub(crate) level: u32,
    /// Only records whose keys may be in this sieve (or, with false, surely are not) are looked at.
    pub(crate) prune: Option<(&'a Sieve, bool)>,
    /// Whether keys of the other side have been spilled, so that a miss may yet be a hit.
    pub(crate) spill_misses: bool,
    /// Whether lines are the answer, so that spilled records need them; or keys.
    pub(crate) lines: bool,
    /// What the tables may take.
    pub(crate) limit: u64,
}

/// Where the answer of a pass goes.
pub(crate) enum Emit<'a, 'o> {
    /// To the output, as nothing that belongs before it is still to come.
    Now(&'a mut Output<'o>),
    /// To a run, to be merged with others by position.
    Run(&'a mut Run),
    /// To the output until something is spilled, then to the run.
    NowThenRun(&'a mut Output<'o>, &'a mut Run),
    /// There is none.
    Nothing,
}

impl Engine<'_> {
    /// Runs a pass over the tables of `lanes`. Afterwards lanes may have a spill each, which is finished.
    pub(crate) fn pass(
        &self,
        feed: &Feed<'_>,
        lanes: &mut [Lane],
        pass: &Pass<'_>,
        emit: &mut Emit<'_, '_>,
        stats: &mut Stats,
    ) -> Result<(), JobError> {
        let mut rounds = Rounds { engine: self, feed, pass, chunks: Vec::new(), frozen: pass.spill_misses };
        self.pool.install(|| rounds.run(lanes, emit, stats))?;
        for lane in lanes.iter_mut() {
            if let Some(spill) = &mut lane.spill {
                spill.finish(&self.space)?;
            }
        }
        Ok(())
    }
}

impl Engine<'_> {
    /// Deals all chunks of a feed and hands them to `each`, in no order, on all threads of the engine.
    pub(crate) fn each_chunk(&self, feed: &Feed<'_>, each: impl Fn(&Chunk) + Sync) -> Result<(), JobError> {
        let (hasher, stop) = (self.hasher(0), AtomicBool::new(false));
        let run = || {
            let mut chunk = Chunk::new(self.sizes.lanes);
            while !stop.load(Ordering::Relaxed) && feed.next_into(&mut chunk)? {
                chunk.deal(&hasher, &feed.keys);
                each(&chunk);
            }
            Ok(())
        };
        let run = || run().inspect_err(|_: &JobError| stop.store(true, Ordering::Relaxed));
        self.pool.broadcast(|_| run()).into_iter().collect()
    }

    /// Deals all chunks of a feed, without tables; `each` gets those of a round, in order, and runs on the threads of the engine.
    pub(crate) fn each_round(
        &self,
        feed: &Feed<'_>,
        mut each: impl FnMut(&[Chunk]) -> Result<(), JobError> + Send,
    ) -> Result<(), JobError> {
        let mut chunks: Vec<Chunk> = (0..self.sizes.round).map(|_| Chunk::new(self.sizes.lanes)).collect();
        self.pool.install(|| {
            loop {
                let (live, more) = deal(self, feed, 0, &mut chunks, |_| {})?;
                each(&chunks[..live])?;
                if !more {
                    return Ok(());
                }
            }
        })
    }
}

struct Rounds<'a, 'o, 'f> {
    engine: &'a Engine<'o>,
    feed: &'a Feed<'f>,
    pass: &'a Pass<'a>,
    /// The round that is being worked on.
    chunks: Vec<Chunk>,
    frozen: bool,
}

impl Rounds<'_, '_, '_> {
    fn run(
        &mut self,
        lanes: &mut [Lane],
        emit: &mut Emit<'_, '_>,
        stats: &mut Stats,
    ) -> Result<(), JobError> {
        let (engine, feed, pass) = (self.engine, self.feed, self.pass);
        let deal = |chunks: &mut [Chunk]| {
            deal(engine, feed, pass.level, chunks, |chunk| {
                if let Some((sieve, keep)) = pass.prune {
                    chunk.prune(sieve, keep);
                }
                chunk.take_heads();
            })
        };
        let round = || (0..engine.sizes.round).map(|_| Chunk::new(engine.sizes.lanes)).collect::<Vec<_>>();
        // While one round is worked on, the one after it is dealt and the answer of the one before it is written.
        let (mut after, mut before) = (round(), round());
        self.chunks = round();
        let (mut live, mut more) = deal(&mut self.chunks)?;
        let mut answered = 0;
        loop {
            let now = now_writer(emit);
            let (worked, (dealt, written)) = rayon::join(
                || self.work(lanes),
                || {
                    rayon::join(
                        || if more { deal(&mut after) } else { Ok((0, false)) },
                        || write_blocks(now, &before[..answered]),
                    )
                },
            );
            written?;
            worked?;
            let bytes: usize = lanes.iter().map(Lane::bytes).sum();
            stats.saw_table(bytes as u64);
            // Records of very short lines take more memory than was set aside for them.
            let rounds = [&self.chunks, &after, &before];
            let records: usize = rounds.into_iter().flatten().map(Chunk::record_bytes).sum();
            let beyond = records.saturating_sub(engine.sizes.records());
            if !self.frozen && (bytes + beyond) as u64 >= pass.limit {
                self.frozen = true;
                self.check_space()?;
            }
            for chunk in &self.chunks[..live] {
                if pass.level == 0 {
                    stats.lines += chunk.records;
                    stats.skipped += chunk.skipped;
                }
                stats.bytes += chunk.bytes().len() as u64;
            }
            if !self.emit(lanes, live, emit, stats)? {
                self.chunks[..live].iter_mut().for_each(|chunk| chunk.out.clear());
            }
            answered = live;
            let last = !more;
            (live, more) = dealt?;
            std::mem::swap(&mut self.chunks, &mut before);
            std::mem::swap(&mut self.chunks, &mut after);
            if last {
                return write_blocks(now_writer(emit), &before[..answered]);
            }
        }
    }

    /// Stops now rather than later, if what is still to be read will surely not fit on the disk.
    fn check_space(&self) -> Result<(), JobError> {
        let progress = self.engine.progress();
        let spills = self.pass.act != Act::Count || self.pass.level > 0;
        let Some(total) = progress.total().filter(|_| spills && self.pass.level == 0) else { return Ok(()) };
        // Compression rarely makes it less than a tenth, and half of the records may be in the table.
        self.engine.space.check(total.saturating_sub(progress.read()) / 20)
    }

    fn work(&mut self, lanes: &mut [Lane]) -> Result<(), JobError> {
        let task = Task {
            act: self.pass.act,
            frozen: self.frozen,
            spill_misses: self.pass.spill_misses,
            spilling: self.engine.spilling(self.pass.lines),
        };
        let (chunks, space) = (&self.chunks, &self.engine.space);
        lanes.par_iter_mut().enumerate().try_for_each(|(i, lane)| lane.work(chunks, i, task, space))
    }

    /// Renders what is kept, or puts it into the run; whether it was rendered.
    fn emit(
        &mut self,
        lanes: &mut [Lane],
        live: usize,
        emit: &mut Emit<'_, '_>,
        stats: &mut Stats,
    ) -> Result<bool, JobError> {
        if matches!(emit, Emit::Nothing) {
            return Ok(false);
        }
        let kept: usize = lanes.iter().flat_map(|lane| &lane.kept[..live]).map(Vec::len).sum();
        stats.found += kept as u64;
        let spilled = lanes.iter().any(|lane| lane.spill.is_some());
        let (lanes, lines) = (&*lanes, self.pass.lines);
        let output = match emit {
            Emit::Now(output) => output,
            Emit::NowThenRun(output, _) if !spilled => output,
            Emit::NowThenRun(_, run) | Emit::Run(run) => {
                for (i, chunk) in self.chunks[..live].iter().enumerate() {
                    for place in kept_in_order(lanes, i) {
                        run.put(&self.engine.space, chunk.position(place), 1, shown(chunk, place, lines))?;
                    }
                }
                return Ok(false);
            }
            Emit::Nothing => return Ok(false),
        };
        let Some(end) = output.line_end() else {
            for (i, chunk) in self.chunks[..live].iter().enumerate() {
                for place in kept_in_order(lanes, i) {
                    output
                        .row(Row { line: shown(chunk, place, lines), count: 1 })
                        .map_err(JobError::Output)?;
                }
            }
            return Ok(false);
        };
        self.chunks[..live].par_iter_mut().enumerate().for_each(|(i, chunk)| {
            let mut out = std::mem::take(&mut chunk.out);
            out.clear();
            for place in kept_in_order(lanes, i) {
                out.extend_from_slice(shown(chunk, place, lines));
                out.push(end);
            }
            chunk.out = out;
        });
        Ok(true)
    }
}

fn write_blocks(output: Option<&mut Output<'_>>, chunks: &[Chunk]) -> Result<(), JobError> {
    let Some(output) = output else { return Ok(()) };
    chunks
        .iter()
        .filter(|chunk| !chunk.out.is_empty())
        .try_for_each(|chunk| output.block(&chunk.out))
        .map_err(JobError::Output)
}

/// Fills the chunks, and does `then` with each on the thread that did: how many, in their order, and whether there may be more.
fn deal(
    engine: &Engine<'_>,
    feed: &Feed<'_>,
    level: u32,
    chunks: &mut [Chunk],
    then: impl Fn(&mut Chunk) + Sync,
) -> Result<(usize, bool), JobError> {
    let hasher = engine.hasher(level);
    let filled: Result<Vec<bool>, JobError> = chunks
        .par_iter_mut()
        .with_max_len(1)
        .map(|chunk| {
            let more = feed.next_into(chunk)?;
            if more {
                chunk.deal(&hasher, &feed.keys);
                then(chunk);
            } else {
                chunk.number = u64::MAX;
            }
            Ok(more)
        })
        .collect();
    let live = filled?.into_iter().filter(|more| *more).count();
    chunks.sort_by_key(|chunk| chunk.number);
    Ok((live, live == chunks.len()))
}

/// What all lanes kept of a chunk, in the order of the input.
fn kept_in_order(lanes: &[Lane], chunk: usize) -> Vec<Place> {
    let mut all: Vec<Place> = Vec::with_capacity(lanes.iter().map(|lane| lane.kept[chunk].len()).sum());
    lanes.iter().for_each(|lane| all.extend_from_slice(&lane.kept[chunk]));
    if lanes.len() > 1 {
        // Each lane is in order, which this sort makes use of.
        all.sort_by_key(|place| place.start);
    }
    all
}

/// The output, if answers that were rendered in the last round may go there.
fn now_writer<'e, 'o>(emit: &'e mut Emit<'_, 'o>) -> Option<&'e mut Output<'o>> {
    match emit {
        Emit::Now(output) | Emit::NowThenRun(output, _) => Some(output),
        Emit::Run(_) | Emit::Nothing => None,
    }
}

/// What a record looks like in the answer.
#[inline(always)]
fn shown(chunk: &Chunk, place: Place, lines: bool) -> &[u8] {
    if lines { chunk.line(place) } else { chunk.key(place) }
}
