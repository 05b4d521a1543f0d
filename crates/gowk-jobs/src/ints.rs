//! Integers that occur exactly once: two bits for each value of a range, as many passes as the memory asks for.

use crate::{
    Options, Order, Output, Records, Row, Stats, Which,
    distinct::Distinct,
    engine::{Engine, split::each_record},
    error::JobError,
    input::{Block, Separator},
    plan::{Plan, bytes},
    records::Feed,
};
use gowk::TwoBitMap;
use rayon::prelude::*;
use std::ops::Range;

/// Integers (of 64 bits, signed) that occur exactly once, in ascending order.
///
/// Two bits a value: 2^32 values take 1 GiB. Where the range is larger than the memory, it is done in parts, one pass each.
/// Where that would be more than [`MOST_PASSES`](Self::MOST_PASSES), the numbers are too far apart for bits: they are kept in a
/// table and come in the order in which they first appeared.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnceInts;

/// A range is cut into at most so many maps, which are worked on side by side.
const MAPS: usize = 64;

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
            "non-negative 32-bit integers: {} passes; the range is found in the first one",
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
        let mut maps = Maps::new(guess.clone())?;
        let seen = stats.stage("read", |stats| maps.read(&engine, &engine.feed(records)?, stats))?;
        stats.passes = 1;
        let Some((least, most)) = seen else {
            return output.finish().map_err(JobError::Output).map(|()| stats);
        };
        let mut parts = parts(&guess, least, most, values);
        // The greatest of all numbers has no place in a range that ends before its end.
        if parts.len() as u64 > Self::MOST_PASSES || most == u64::MAX {
            drop(maps);
            return by_table(records, options, output, stats);
        }
        parts.sort_by_key(|part| part.start);
        // The guess is read already. If a part comes before it, its memory is needed, and it is read again in its turn.
        let mut guessed = Some(maps);
        for part in parts {
            let maps = match guessed.take().filter(|_| part == guess) {
                Some(maps) => maps,
                None => {
                    let mut maps = Maps::new(part)?;
                    stats.passes += 1;
                    let lines = stats.lines;
                    stats.stage("read", |stats| maps.read(&engine, &engine.feed(records)?, stats))?;
                    stats.lines = lines;
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
        parsed.parse(&feed, Scale { start: 0, shift: 63 })?;
        parsed.values.iter().for_each(|values| numbers.extend_from_slice(values));
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
    start: u64,
    /// Values of each map.
    each: u64,
    parts: Vec<TwoBitMap>,
}

impl Maps {
    fn new(range: Range<u64>) -> Result<Self, JobError> {
        let each = (range.end - range.start).div_ceil(MAPS as u64).max(256).next_power_of_two();
        let ranges = (0..MAPS as u64).map(|i| {
            let start = range.start.saturating_add(i * each).min(range.end);
            start..start.saturating_add(each).min(range.end)
        });
        let parts = ranges.filter(|r| r.start < r.end).map(TwoBitMap::new).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { start: range.start, each, parts })
    }

    /// Counts the values of the range, and tells the least and the greatest of all.
    fn read(
        &mut self,
        engine: &Engine<'_>,
        feed: &Feed<'_>,
        stats: &mut Stats,
    ) -> Result<Option<(u64, u64)>, JobError> {
        let mut seen: Option<(u64, u64)> = None;
        let (start, each, count) = (self.start, self.each, self.parts.len());
        let scale = Scale { start, shift: each.trailing_zeros() };
        let mut blocks: Vec<Parsed> = (0..engine.sizes.round).map(|_| Parsed::new(count)).collect();
        engine.pool.install(|| {
            loop {
                let filled: Result<Vec<bool>, JobError> = blocks
                    .par_iter_mut()
                    .with_max_len(1)
                    .map(|parsed| {
                        let more = feed.next_block(&mut parsed.block)?;
                        if more { parsed.parse(feed, scale).map(|()| true) } else { Ok(false) }
                    })
                    .collect();
                let filled = filled?;
                let live = filled.iter().filter(|more| **more).count();
                blocks.sort_by_key(|parsed| !parsed.live);
                for parsed in &blocks[..live] {
                    stats.lines += parsed.lines;
                    stats.bytes += parsed.block.bytes().len() as u64;
                    stats.skipped += parsed.skipped;
                    seen = match (seen, parsed.seen) {
                        (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
                        (a, b) => a.or(b),
                    };
                }
                let blocks_now = &blocks[..live];
                self.parts.par_iter_mut().enumerate().for_each(|(i, map)| {
                    for parsed in blocks_now {
                        map.add_those_inside(&parsed.values[i]);
                    }
                });
                blocks.iter_mut().for_each(|parsed| parsed.live = false);
                if live < filled.len() {
                    return Ok(seen);
                }
            }
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
        let mut texts = vec![(Vec::new(), 0); engine.sizes.lanes];
        for maps in self.parts.chunks(texts.len()) {
            engine.pool.install(|| {
                maps.par_iter().zip(&mut texts).for_each(|(map, (out, found))| *found = text(map, end, out));
            });
            for (text, found) in &texts[..maps.len()] {
                stats.found += found;
                output.block(text).map_err(JobError::Output)?;
            }
        }
        Ok(())
    }
}

/// Writes what came once; how many that is.
fn text(map: &TwoBitMap, end: u8, out: &mut Vec<u8>) -> u64 {
    out.clear();
    let mut found = 0;
    for value in map.once() {
        push_number(out, (value ^ SHIFT) as i64);
        out.push(end);
        found += 1;
    }
    found
}

fn push_number(out: &mut Vec<u8>, number: i64) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    let mut rest = number.unsigned_abs();
    // Two at a time halves the divisions.
    while rest >= 10 {
        let two = (rest % 100) as u8;
        rest /= 100;
        at -= 2;
        digits[at] = b'0' + two / 10;
        digits[at + 1] = b'0' + two % 10;
    }
    if rest > 0 || at == digits.len() {
        at -= 1;
        digits[at] = b'0' + rest as u8;
    }
    if number < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

/// Which map a value belongs to.
#[derive(Clone, Copy)]
struct Scale {
    start: u64,
    /// Each map has two to the power of this many values.
    shift: u32,
}

struct Parsed {
    block: Block,
    values: Vec<Vec<u64>>,
    seen: Option<(u64, u64)>,
    lines: u64,
    skipped: u64,
    live: bool,
}

impl Parsed {
    fn new(maps: usize) -> Self {
        Self {
            block: Block::default(),
            values: vec![Vec::new(); maps],
            seen: None,
            lines: 0,
            skipped: 0,
            live: false,
        }
    }

    fn parse(&mut self, feed: &Feed<'_>, scale: Scale) -> Result<(), JobError> {
        self.values.iter_mut().for_each(Vec::clear);
        let (mut least, mut most, mut lines, mut wrong) = (u64::MAX, 0, 0, None);
        let bytes = self.block.bytes();
        let separator = self.block.separator();
        let mut extractor = (!feed.keys.are_lines()).then(|| feed.keys.extractor());
        let values = &mut self.values;
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
                    let map = value.wrapping_sub(scale.start) >> scale.shift;
                    if let Some(values) = values.get_mut(map as usize) {
                        values.push(value);
                    }
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
        (self.lines, self.live) = (lines, true);
        self.skipped = extractor.map_or(0, |extractor| extractor.skipped());
        self.seen = (least <= most).then_some((least, most));
        Ok(())
    }
}

/// The number of eight digits, if they are: in three steps two, four and eight of them at a time.
#[inline]
fn eight_digits(text: [u8; 8]) -> Option<u64> {
    let word = u64::from_le_bytes(text);
    // Of a digit both are below 0x80; of any other byte one is not.
    let above = word.wrapping_add(0x4646_4646_4646_4646);
    let below = word.wrapping_sub(0x3030_3030_3030_3030);
    if (word | above | below) & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    let two = below.wrapping_mul(10).wrapping_add(below >> 8) & 0x00ff_00ff_00ff_00ff;
    let four = two.wrapping_mul(100).wrapping_add(two >> 16) & 0x0000_ffff_0000_ffff;
    Some(four.wrapping_mul(10_000).wrapping_add(four >> 32) & 0xffff_ffff)
}

/// A decimal number with or without a sign; whether it is one that is out of range, if not.
#[inline]
pub(crate) fn integer(text: &[u8]) -> Result<i64, bool> {
    let negative = text.first() == Some(&b'-');
    let digits = if let [b'-' | b'+', digits @ ..] = text { digits } else { text };
    let (eight, rest) = match digits.split_first_chunk::<8>() {
        Some((eight, rest)) => (eight_digits(*eight).ok_or(false)?, rest),
        None => (0, digits),
    };
    if digits.is_empty() || rest.iter().any(|digit| !digit.is_ascii_digit()) {
        return Err(false);
    }
    if digits.len() <= 18 {
        let number = rest.iter().fold(eight as i64, |number, digit| number * 10 + i64::from(digit - b'0'));
        return Ok(if negative { -number } else { number });
    }
    let mut number = 0i128;
    for digit in digits {
        number = number * 10 + i128::from(digit - b'0');
        if number > 1 << 64 {
            return Err(true);
        }
    }
    i64::try_from(if negative { -number } else { number }).map_err(|_| true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_integer_is_read_as_the_standard_library_reads_it(text in "[+-]?[0-9]{0,22}|[0-9a-z-]{0,5}") {
            prop_assert_eq!(integer(text.as_bytes()).ok(), text.parse::<i64>().ok(), "{}", text);
        }

        #[test]
        fn a_number_is_written_as_the_standard_library_writes_it(number: i64, shift in 0u32..63) {
            for number in [number >> shift, 0, i64::MIN, i64::MAX] {
                let mut out = Vec::new();
                push_number(&mut out, number);
                prop_assert_eq!(out, number.to_string().into_bytes());
            }
        }

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
