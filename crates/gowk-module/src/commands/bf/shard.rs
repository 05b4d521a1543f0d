//! `BF.SHARDADD` and `BF.SHARDASK`: for clients that keep one filter in many strings of the server's own (`gowk-redis`).
//!
//! A string is blocks as a `.gowk` file has them, then one byte, the guard, which is the client's. A key is twelve bytes, little-endian: the
//! first byte of its block in the string (4) and its digest (8). What `BITFIELD` and `GETRANGE` do by bits and blocks is done here for all keys
//! at once; the string stays what it is, so that clients without these commands work on it as well.
//!
//! Replicas and append-only files are told the bytes that have changed, by `SETRANGE`. So they need not have the module: one that has not
//! would pass over a command that it does not know, and deny the keys once it is a master.

use crate::{
    callbacks::{Args, Ctx, Key, Mode},
    counters,
    error::CommandError,
};
use gowk::{BlockedParams, Digest, bloom::blocked::Span};
use std::{ops::Range, sync::OnceLock};

/// `BF.SHARDADD key bytes lines lanes keys`: a bit for each key, 1 if it was new, then the guard; null if there is no string of so many
/// bytes and a guard.
pub(crate) fn shardadd(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let batch = Batch::parse(args)?;
    let mut key = Key::open(ctx, args, 1, Mode::Write);
    let Some(shard) = key.bytes_mut()?.filter(|shard| shard.len() == batch.bytes + 1) else {
        ctx.reply_null();
        return Ok(());
    };
    let (mut answers, mut changes) = (Answers::new(batch.keys.len()), Changes::default());
    for (at, (block, digest)) in batch.places().enumerate() {
        if batch.shape.set_in_block(&mut shard[block.clone()], digest) {
            answers.set(at);
            changes.add(block);
        }
    }
    let guard = shard[batch.bytes];
    for run in &changes.0 {
        let name = args.get(1).unwrap_or_default();
        ctx.replicate(c"SETRANGE", &[name, run.start.to_string().as_bytes(), &shard[run.clone()]]);
    }
    let new = answers.count();
    counters::ADDED.add(new);
    counters::SEEN.add(batch.keys.len() as u64 - new);
    if new > 0 {
        ctx.changed(args, 1, c"bf.shardadd");
    }
    answers.bytes.push(guard);
    ctx.reply_bulk(&answers.bytes);
    Ok(())
}

/// `BF.SHARDASK key bytes lines lanes keys`: a bit for each key, 1 if it may be there; null as above.
pub(crate) fn shardask(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let batch = Batch::parse(args)?;
    let key = Key::open(ctx, args, 1, Mode::Read);
    let Some(shard) = key.bytes()?.filter(|shard| shard.len() == batch.bytes + 1) else {
        ctx.reply_null();
        return Ok(());
    };
    let mut answers = Answers::new(batch.keys.len());
    for (at, (block, digest)) in batch.places().enumerate() {
        if batch.shape.covers(&shard[block], digest) {
            answers.set(at);
        }
    }
    counters::ASKED.add(batch.keys.len() as u64);
    ctx.reply_bulk(&answers.bytes);
    Ok(())
}

/// What a command says.
#[derive(Debug)]
struct Batch<'a> {
    /// The bytes of the string before the guard. All blocks lie among them.
    bytes: usize,
    shape: &'static BlockedParams,
    keys: &'a [[u8; 12]],
}

impl<'a> Batch<'a> {
    fn parse(args: &Args<'a>) -> Result<Self, CommandError> {
        let word = |at| args.get(at).unwrap_or_default();
        Self::of(word(2), word(3), word(4), word(5))
    }

    fn of(bytes: &[u8], lines: &[u8], lanes: &[u8], keys: &'a [u8]) -> Result<Self, CommandError> {
        // The most that a string of the server can have.
        let bytes = number(bytes)
            .filter(|bytes| *bytes < 512 << 20)
            .ok_or(CommandError::Refused("ERR the size of a shard is a number below 536870912"))?;
        let shape = number(lines)
            .zip(number(lanes))
            .and_then(|(lines, lanes)| shape(lines, lanes))
            .ok_or(CommandError::Refused("ERR a block has 1, 2 or 4 lines, and a line 1 to 8 lanes"))?;
        let (keys, []) = keys.as_chunks::<12>() else {
            return Err(CommandError::Refused("ERR keys are twelve bytes each"));
        };
        let batch = Self { bytes, shape, keys };
        let inside = batch.places().all(|(block, _)| block.end <= bytes);
        match inside {
            true => Ok(batch),
            false => Err(CommandError::Refused("ERR a block lies outside of the shard")),
        }
    }

    /// The block of each key, and its digest.
    fn places(&self) -> impl Iterator<Item = (Range<usize>, Digest)> {
        let len = 64 * self.shape.span() as usize;
        self.keys.iter().map(move |&[a, b, c, d, ref digest @ ..]| {
            let start = u32::from_le_bytes([a, b, c, d]) as usize;
            (start..start + len, Digest::from(u64::from_le_bytes(*digest)))
        })
    }
}

fn number(word: &[u8]) -> Option<usize> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// A shape of blocks; all there are have been worked out once.
fn shape(lines: usize, lanes: usize) -> Option<&'static BlockedParams> {
    static SHAPES: OnceLock<Vec<BlockedParams>> = OnceLock::new();
    let shapes = SHAPES.get_or_init(|| {
        let all = [Span::Line, Span::Pair, Span::Quad]
            .into_iter()
            .flat_map(|span| (1..=8).map(move |lanes| (span, lanes)));
        all.filter_map(|(span, lanes)| BlockedParams::with_shape(1, span, lanes, 1).ok()).collect()
    });
    shapes.iter().find(|shape| shape.span() as usize == lines && shape.lanes() as usize == lanes)
}

/// A bit for each key, the first lowest.
struct Answers {
    bytes: Vec<u8>,
}

impl Answers {
    fn new(keys: usize) -> Self {
        // And a guard.
        let mut bytes = Vec::with_capacity(keys.div_ceil(8) + 1);
        bytes.resize(keys.div_ceil(8), 0);
        Self { bytes }
    }

    fn set(&mut self, at: usize) {
        self.bytes[at / 8] |= 1 << (at % 8);
    }

    fn count(&self) -> u64 {
        self.bytes.iter().map(|byte| u64::from(byte.count_ones())).sum()
    }
}

/// Runs of bytes that have changed, each of which becomes a command for replicas. A command has about as many bytes beside its own as lie
/// between two runs that are not worth two commands.
#[derive(Default)]
struct Changes(Vec<Range<usize>>);

impl Changes {
    const GAP: usize = 192;

    fn add(&mut self, block: Range<usize>) {
        match self.0.last_mut() {
            // Clients send keys in the order of their blocks.
            Some(run) if run.start <= block.start && block.start <= run.end + Self::GAP => {
                run.end = run.end.max(block.end);
            }
            _ => self.0.push(block),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(start: u32) -> Vec<u8> {
        [&start.to_le_bytes()[..], &7u64.to_le_bytes()].concat()
    }

    #[test]
    fn words_that_make_no_sense_are_refused() {
        let refused = |bytes: &str, lines: &str, lanes: &str, keys: &[u8]| {
            Batch::of(bytes.as_bytes(), lines.as_bytes(), lanes.as_bytes(), keys).unwrap_err().to_string()
        };
        assert!(Batch::of(b"128", b"1", b"5", &key(64)).is_ok());
        assert!(Batch::of(b"0", b"1", b"5", &[]).is_ok());
        for bytes in ["", "x", "-1", "536870912", "99999999999999999999"] {
            assert!(refused(bytes, "1", "5", &[]).contains("size of a shard"), "{bytes}");
        }
        for (lines, lanes) in [("0", "5"), ("3", "5"), ("8", "5"), ("1", "0"), ("1", "9"), ("x", "y")] {
            assert!(refused("128", lines, lanes, &[]).contains("a block has"), "{lines} {lanes}");
        }
        assert!(refused("128", "1", "5", &[0; 13]).contains("twelve bytes"));
        for (bytes, lines, start) in
            [("128", "1", 65), ("128", "4", 0), ("0", "1", 0), ("128", "1", u32::MAX)]
        {
            assert!(refused(bytes, lines, "5", &key(start)).contains("outside"), "{bytes} {lines} {start}");
        }
    }

    proptest! {
        #[test]
        fn every_change_is_in_a_run_and_runs_begin_and_end_with_changes(mut starts: Vec<u16>, sorted: bool) {
            if sorted {
                starts.sort_unstable();
            }
            let mut changes = Changes::default();
            let blocks: Vec<Range<usize>> = starts.iter().map(|at| usize::from(*at)..usize::from(*at) + 64).collect();
            blocks.iter().for_each(|block| changes.add(block.clone()));
            for block in &blocks {
                prop_assert!(changes.0.iter().any(|run| run.start <= block.start && block.end <= run.end));
            }
            for run in &changes.0 {
                prop_assert!(blocks.iter().any(|block| block.start == run.start));
                prop_assert!(blocks.iter().any(|block| block.end == run.end));
            }
            if sorted {
                prop_assert!(changes.0.is_sorted_by(|a, b| a.end + Changes::GAP < b.start));
            }
        }
    }
}
