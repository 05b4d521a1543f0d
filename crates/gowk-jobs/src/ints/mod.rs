//! Integers that occur exactly once: two bits for each value of a range, as many passes as the memory asks for.

mod aside;
mod decimal;

pub(crate) use decimal::integer;

use crate::{
    Options, Order, Output, Records, Row, Stats, Which,
    distinct::Distinct,
    engine::{Engine, Sizes, split::each_record},
    error::JobError,
    input::{Block, Separator},
    plan::{Plan, bytes},
    records::Feed,
};
use aside::Aside;
use decimal::{Numerals, push_number};
use gowk::TwoBitMap;
use rayon::{ThreadPool, prelude::*};
use std::ops::Range;

/// Integers (of 64 bits, signed) that occur exactly once, in ascending order.
///
/// Two bits a value: 2^32 values take 1 GiB. Where the range is larger than the memory, it is done in parts: values of the other
/// parts are put aside on disk, or, if they are many, the input is read again for each.
/// Where that would be more than [`MOST_PASSES`](Self::MOST_PASSES), the numbers are too far apart for bits: they are kept in a
/// table and come in the order in which they first appeared.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnceInts;

/// A range is cut into at most so many maps, which are worked on side by side.
const MAPS: usize = 128;

/// Numbers are kept as unsigned ones in the same order.
const SHIFT: u64 = 1 << 63;

impl OnceInts {
    /// More passes than this cost more than a table.
    pub const MOST_PASSES: u64 = 8;

    /// What it will do.
    pub fn plan(&self, records: &Records<'_>, options: &Options) -> Plan {
        let mut plan = Plan::new(options);
        let values = values_a_pass(plan.tables);
        plan.pass(records, &format!("two bits for each of {values} values at a time, {}", bytes(values / 4)));
        plan.step(format!(
            "non-negative 32-bit integers: {} parts; the range is found in the first pass, and values of other parts are put aside",
            (1u64 << 32).div_ceil(values)
        ));
        plan.step("integers that are further apart than 8 passes reach: a table of them instead");
        plan
    }

    /// Runs the job.
    pub fn run(
        &self,
        records: &Records<'_>,
        options: &Options,
        output: &mut Output<'_>,
    ) -> Result<Stats, JobError> {
        if !records.can_be_read_twice() || !records.are_files() {
            return by_table(records, options, output, Stats::default());
        }
        let engine = Engine::new(options)?;
        let mut stats = Stats::default();
        if let Some(done) = by_sorting(&engine, records, output, &mut stats)? {
            stats.found = done;
            return Ok(stats);
        }
        let values = values_a_pass(engine.sizes.tables);
        // Most integers are not negative and fit into 32 bits; the first pass tells whether these do.
        let guess = SHIFT..SHIFT + values.min(1 << 32);
        let mut maps = Maps::new(guess.clone(), &engine.pool)?;
        let mut aside = Aside::default();
        let seen = stats
            .stage("read", |stats| maps.read(&engine, &engine.feed(records)?, Some(&mut aside), stats))?;
        stats.passes = 1;
        let Some((least, most)) = seen else {
            return output.finish().map_err(JobError::Output).map(|()| stats);
        };
        let mut parts = parts(&guess, least, most, values);
        // The greatest of all numbers has no place in a range that ends before its end.
        if parts.len() as u64 > Self::MOST_PASSES || most == u64::MAX {
            drop((maps, aside));
            return by_table(records, options, output, stats);
        }
        parts.sort_by_key(|part| part.start);
        let aside = aside.finish(&engine.space)?;
        (stats.spilled, stats.spilled_records) = (engine.space.written(), engine.space.records());
        // The guess is read already. If a part comes before it, its memory is needed, and it is read again in its turn.
        let mut guessed = Some(maps);
        for part in parts {
            let maps = match guessed.take().filter(|_| part == guess) {
                Some(maps) => maps,
                None => {
                    let is_aside = part != guess;
                    let mut maps = Maps::new(part, &engine.pool)?;
                    if let Some(aside) = aside.as_ref().filter(|_| is_aside) {
                        stats.stage("read what was put aside", |_| maps.add(&engine, aside))?;
                    } else {
                        stats.passes += 1;
                        let lines = stats.lines;
                        stats
                            .stage("read", |stats| maps.read(&engine, &engine.feed(records)?, None, stats))?;
                        stats.lines = lines;
                    }
                    maps
                }
            };
            stats.stage("write", |stats| maps.write(&engine, output, stats))?;
        }
        stats.table_bytes = values.min(most - least + 1) / 4;
        output.finish().map_err(JobError::Output)?;
        Ok(stats)
    }
}

/// Far apart, or from a pipe: kept in a table, each in its usual form.
fn by_table(
    records: &Records<'_>,
    options: &Options,
    output: &mut Output<'_>,
    before: Stats,
) -> Result<Stats, JobError> {
    let job = Distinct::default().which(Which::Once).order(Order::First).integers(true);
    let mut stats = job.run(records, options, output)?;
    stats.passes += before.passes;
    stats.stages.splice(0..0, before.stages);
    Ok(stats)
}

/// Few enough to be kept as they are: sorted. None if they are not so few.
fn by_sorting(
    engine: &Engine<'_>,
    records: &Records<'_>,
    output: &mut Output<'_>,
    stats: &mut Stats,
) -> Result<Option<u64>, JobError> {
    // A number and its newline take three bytes or more on average, and eight in memory; twice, while a list grows.
    let few = records.total_bytes().is_some_and(|bytes| bytes < engine.sizes.tables / 8);
    if !few {
        return Ok(None);
    }
    let (feed, most) = (engine.feed(records)?, engine.sizes.tables as usize / 16);
    let mut numbers = Vec::new();
    let mut parsed = Parsed::new(2);
    let start = std::time::Instant::now();
    while feed.next_block(&mut parsed.block)? {
        parsed.parse(&feed, Scale { start: 0, len: u64::MAX, shift: 63 })?;
        parsed.values.iter().for_each(|values| numbers.extend_from_slice(values));
        // The greatest of all.
        numbers.extend_from_slice(&parsed.outside);
        // Compressed ones may be many more than their bytes tell.
        if numbers.len() > most {
            *stats = Stats { passes: 1, ..Stats::default() };
            return Ok(None);
        }
        stats.lines += parsed.lines;
        stats.skipped += parsed.skipped;
        stats.bytes += parsed.block.bytes().len() as u64;
    }
    stats.passes = 1;
    stats.table_bytes = 8 * numbers.len() as u64;
    engine.pool.install(|| numbers.par_sort_unstable());
    stats.stages.push(crate::Stage { name: "read", time: start.elapsed() });
    let mut found = 0;
    stats
        .stage("write", |_| {
            let mut text = Vec::new();
            for run in numbers.chunk_by(|a, b| a == b).filter(|run| run.len() == 1) {
                found += 1;
                text.clear();
                push_number(&mut text, (run[0] ^ SHIFT) as i64);
                output.row(Row { line: &text, count: 1 })?;
            }
            output.finish()
        })
        .map_err(JobError::Output)?;
    Ok(Some(found))
}

/// How many values fit at two bits each; what is written needs some room as well.
fn values_a_pass(tables: u64) -> u64 {
    (tables / 10 * 9).max(1 << 10) * 4
}

/// How many blocks are parsed before their values are counted. The more values of a map come together, the more of them meet
/// in a page whose address is known; but two rounds of blocks, each with its values, take memory that maps do not have.
fn blocks_a_round(engine: &Engine<'_>) -> usize {
    let Sizes { block, round, tables, .. } = engine.sizes;
    (tables as usize / 16 / (4 * block)).clamp(round, 8 * round)
}

/// What to read in each pass: the guess, and the rest of what was seen, below and above it.
fn parts(guess: &Range<u64>, least: u64, most: u64, values: u64) -> Vec<Range<u64>> {
    let mut parts = Vec::new();
    let limit = OnceInts::MOST_PASSES as usize + 1;
    let mut cut = |from: u64, to: u64| {
        let mut start = from;
        while start <= to && parts.len() <= limit {
            let end = start.saturating_add(values).min(to.saturating_add(1));
            parts.push(start..end);
            if end > to || end == u64::MAX {
                break;
            }
            start = end;
        }
    };
    if least < guess.start {
        cut(least, most.min(guess.start - 1));
    }
    if most >= guess.end {
        cut(least.max(guess.end), most);
    }
    if least < guess.end && most >= guess.start {
        parts.push(guess.clone());
    }
    parts
}

/// A range in maps side by side.
struct Maps {
    range: Range<u64>,
    /// Values of each map.
    each: u64,
    parts: Vec<TwoBitMap>,
}

impl Maps {
    fn new(range: Range<u64>, pool: &ThreadPool) -> Result<Self, JobError> {
        let each = (range.end - range.start).div_ceil(MAPS as u64).max(256).next_power_of_two();
        let ranges = (0..MAPS as u64).map(|i| {
            let start = range.start.saturating_add(i * each).min(range.end);
            start..start.saturating_add(each).min(range.end)
        });
        let ranges: Vec<_> = ranges.filter(|range| range.start < range.end).collect();
        // The kernel clears the memory, on as many threads as ask for it.
        let parts =
            pool.install(|| ranges.into_par_iter().map(TwoBitMap::new).collect::<Result<Vec<_>, _>>())?;
        Ok(Self { range, each, parts })
    }

    fn scale(&self) -> Scale {
        Scale {
            start: self.range.start,
            len: self.range.end - self.range.start,
            shift: self.each.trailing_zeros(),
        }
    }

    /// Counts the values of the range, puts the others aside, and tells the least and the greatest of all.
    fn read(
        &mut self,
        engine: &Engine<'_>,
        feed: &Feed<'_>,
        mut aside: Option<&mut Aside>,
        stats: &mut Stats,
    ) -> Result<Option<(u64, u64)>, JobError> {
        let scale = self.scale();
        let mut seen: Option<(u64, u64)> = None;
        let blocks = blocks_a_round(engine);
        let round = || (0..blocks).map(|_| Parsed::new(self.parts.len())).collect::<Vec<_>>();
        let (mut now, mut after) = (round(), round());
        engine.pool.install(|| {
            let mut more = parse_round(feed, scale, &mut now)?;
            loop {
                for parsed in &now {
                    stats.lines += parsed.lines;
                    stats.bytes += parsed.block.bytes().len() as u64;
                    stats.skipped += parsed.skipped;
                    seen = match (seen, parsed.seen) {
                        (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
                        (a, b) => a.or(b),
                    };
                    if let Some(aside) = &mut aside {
                        // Writing and reading a value costs about a quarter of finding it in the text.
                        let most = stats.lines / 4 + (1 << 20);
                        aside.put(&engine.space, &parsed.outside, engine.sizes.spill_block, most)?;
                    }
                }
                let last = !more;
                let ((), parsed) = rayon::join(
                    || {
                        self.parts.par_iter_mut().enumerate().for_each(|(i, map)| {
                            now.iter().for_each(|parsed| {
                                map.add_those_inside(&parsed.values[i]);
                            });
                        });
                    },
                    || if last { Ok(false) } else { parse_round(feed, scale, &mut after) },
                );
                more = parsed?;
                if last {
                    return Ok(seen);
                }
                std::mem::swap(&mut now, &mut after);
            }
        })
    }

    /// Counts what was put aside, as far as it is of the range.
    fn add(&mut self, engine: &Engine<'_>, aside: &Aside) -> Result<(), JobError> {
        let scale = self.scale();
        let mut lists = vec![Vec::new(); self.parts.len()];
        aside.each(&engine.space, |values| {
            lists.iter_mut().for_each(Vec::clear);
            for &value in values {
                if let Some(list) = lists.get_mut(scale.map_of(value)) {
                    list.push(value);
                }
            }
            engine.pool.install(|| {
                self.parts.par_iter_mut().zip(&lists).for_each(|(map, list)| {
                    map.add_those_inside(list);
                });
            });
        })
    }

    fn write(&self, engine: &Engine<'_>, output: &mut Output<'_>, stats: &mut Stats) -> Result<(), JobError> {
        let Some(end) = output.line_end() else {
            for value in self.parts.iter().flat_map(TwoBitMap::once) {
                stats.found += 1;
                let text = (value ^ SHIFT) as i64;
                output.row(Row { line: text.to_string().as_bytes(), count: 1 }).map_err(JobError::Output)?;
            }
            return Ok(());
        };
        // While some pieces become text, the text of those before them is written.
        let texts = || (0..4 * engine.sizes.lanes).map(|_| (Numerals::default(), 0)).collect::<Vec<_>>();
        let (mut now, mut before) = (texts(), texts());
        let mut ready = 0;
        let pieces: Vec<_> = self.parts.iter().flat_map(pieces).collect();
        engine.pool.install(|| {
            for pieces in pieces.chunks(now.len()) {
                let ((), written) = rayon::join(
                    || {
                        pieces
                            .par_iter()
                            .zip(&mut now)
                            .with_max_len(1)
                            .for_each(|(piece, (text, found))| *found = piece.print(end, text));
                    },
                    || before[..ready].iter().try_for_each(|(text, _)| output.block(text.text())),
                );
                written.map_err(JobError::Output)?;
                stats.found += now[..pieces.len()].iter().map(|(_, found)| found).sum::<u64>();
                ready = pieces.len();
                std::mem::swap(&mut now, &mut before);
            }
            before[..ready]
                .iter()
                .try_for_each(|(text, _)| output.block(text.text()))
                .map_err(JobError::Output)
        })
    }
}

/// Reads and parses some blocks; whether there may be more.
fn parse_round(feed: &Feed<'_>, scale: Scale, round: &mut [Parsed]) -> Result<bool, JobError> {
    let more: Result<Vec<bool>, JobError> = round
        .par_iter_mut()
        .with_max_len(1)
        .map(|parsed| {
            let more = feed.next_block(&mut parsed.block)?;
            if !more {
                *parsed = Parsed::new(parsed.values.len());
                return Ok(false);
            }
            parsed.parse(feed, scale).map(|()| true)
        })
        .collect();
    Ok(more?.into_iter().all(|more| more))
}

/// Some values of a map: so few that their text is still in the cache when it is written.
struct Piece<'a> {
    map: &'a TwoBitMap,
    range: Range<u64>,
}

fn pieces(map: &TwoBitMap) -> impl Iterator<Item = Piece<'_>> {
    const VALUES: u64 = 1 << 17;
    let Range { start, end } = map.range();
    (start..end).step_by(VALUES as usize).map(move |start| {
        let range = start..start.saturating_add(VALUES).min(end);
        Piece { map, range }
    })
}

impl Piece<'_> {
    /// The lines of what came once; how many they are.
    fn print(&self, end: u8, text: &mut Numerals) -> u64 {
        text.clear();
        let mut found = 0;
        for value in self.map.once_in(self.range.clone()) {
            text.push((value ^ SHIFT) as i64, end);
            found += 1;
        }
        found
    }
}

/// Which map a value belongs to.
#[derive(Clone, Copy)]
struct Scale {
    start: u64,
    len: u64,
    /// Each map but the last has two to the power of this many values.
    shift: u32,
}

impl Scale {
    /// No map has the number that stands for none.
    #[inline(always)]
    fn map_of(self, value: u64) -> usize {
        let at = value.wrapping_sub(self.start);
        if at < self.len { (at >> self.shift) as usize } else { usize::MAX }
    }
}

struct Parsed {
    block: Block,
    values: Vec<Vec<u64>>,
    /// Values of no map.
    outside: Vec<u64>,
    seen: Option<(u64, u64)>,
    lines: u64,
    skipped: u64,
}

impl Parsed {
    fn new(maps: usize) -> Self {
        Self {
            block: Block::default(),
            values: vec![Vec::new(); maps],
            outside: Vec::new(),
            seen: None,
            lines: 0,
            skipped: 0,
        }
    }

    fn parse(&mut self, feed: &Feed<'_>, scale: Scale) -> Result<(), JobError> {
        self.values.iter_mut().for_each(Vec::clear);
        self.outside.clear();
        let (mut least, mut most, mut lines, mut wrong) = (u64::MAX, 0, 0, None);
        let bytes = self.block.bytes();
        let separator = self.block.separator();
        let mut extractor = (!feed.keys.are_lines()).then(|| feed.keys.extractor());
        let (values, outside) = (&mut self.values, &mut self.outside);
        each_record(bytes, separator.byte(), |start, end| {
            lines += 1;
            let mut line = &bytes[start..end];
            if let ([rest @ .., b'\r'], Separator::Newline, true) = (line, separator, end < bytes.len()) {
                line = rest;
            }
            if let Some(extractor) = &mut extractor {
                let Some(key) = extractor.text(line) else { return };
                line = key;
            }
            match integer(line) {
                Ok(number) => {
                    let value = number as u64 ^ SHIFT;
                    least = least.min(value);
                    most = most.max(value);
                    values.get_mut(scale.map_of(value)).unwrap_or(&mut *outside).push(value);
                }
                Err(out_of_range) => {
                    wrong.get_or_insert((lines, line, out_of_range));
                }
            }
        });
        if let Some((line, text, out_of_range)) = wrong {
            let text = text[..text.len().min(40)].escape_ascii().to_string();
            let line = self.block.first_line() + line - 1;
            return Err(JobError::NotAnInteger {
                source: self.block.source().clone(),
                line,
                text,
                out_of_range,
            });
        }
        self.lines = lines;
        self.skipped = extractor.map_or(0, |extractor| extractor.skipped());
        self.seen = (least <= most).then_some((least, most));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_cover_what_was_seen_and_nothing_twice(least: u32, span in 0u64..1 << 20, values in 1u64 << 17..1 << 24, sign: bool) {
            let least = if sign { SHIFT - u64::from(least >> 8) } else { SHIFT + u64::from(least >> 8) };
            let guess = SHIFT..SHIFT + values;
            let mut parts = parts(&guess, least, least + span, values);
            parts.sort_by_key(|part| part.start);
            prop_assert!(parts.windows(2).all(|pair| pair[0].end <= pair[1].start));
            for value in [least, least + span / 2, least + span] {
                prop_assert!(parts.iter().any(|part| part.contains(&value)), "{:?} {}", parts, value);
            }
            prop_assert!(parts.iter().all(|part| part.end - part.start <= values));
        }
    }
}
