//! A lane: the part of the keys that one thread at a time works on, with its tables and its spill.

use super::{
    chunk::{Chunk, Place, Rec},
    sought::{Head, SHORT, Sought},
    spill::{Space, Spill},
    table::{Hint, Shape, Shard},
};
use crate::error::JobError;
use gowk::{CountMin, CountMinParams, Digest, Hasher, store::prefetch};

/// What is done with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// New keys are kept in the table, and their records are part of the answer.
    Distinct,
    /// Keys are counted.
    Count,
    /// New keys are kept in the table.
    Load,
    /// The first record of each key that is in the table is part of the answer.
    FirstIn,
    /// Every record whose key is in the table is part of the answer.
    AllIn,
    /// Every record whose key is not in the table is part of the answer.
    AllOut,
}

impl Act {
    /// Whether keys are put into the table.
    fn inserts(self) -> bool {
        matches!(self, Self::Distinct | Self::Count | Self::Load)
    }
}

/// How a lane spills: into how many partitions, in blocks of which size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spilling {
    pub(crate) parts: usize,
    pub(crate) block: usize,
    pub(crate) lines: bool,
}

/// What a pass does, the same for all lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    pub(crate) act: Act,
    /// No key is put into the table any more; what is not there goes to the spill.
    pub(crate) frozen: bool,
    /// Whether records that are not in the table must be spilled, because keys on the other side were.
    pub(crate) spill_misses: bool,
    pub(crate) spilling: Spilling,
}

/// A lane.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) shards: Vec<Shard>,
    /// The high bits of a hash that all keys of the lane share.
    turn: u32,
    pub(crate) spill: Option<Spill>,
    /// Records that are part of the answer, by chunk of the round.
    pub(crate) kept: Vec<Vec<Place>>,
    /// Keys that the frozen table has no place for go to a sketch like this, instead of a spill.
    pub(crate) sketching: Option<(CountMinParams, Hasher)>,
    /// The sketch, made when the first of them comes.
    pub(crate) sketch: Option<CountMin>,
    /// The lane of the pass before, with its sketch: keys that it has counted, or that came less often than this, are left out.
    pub(crate) before: Option<(Box<Lane>, u64)>,
}

/// Some records and the heads of their keys.
type Group<'a> = (&'a [Rec], &'a [Head]);

/// How far ahead memory is asked for: far enough to be there in time, near enough to be there still.
const AHEAD: usize = 32;

impl Lane {
    /// With so many parts of the table, each of which may take about `share` bytes.
    pub(crate) fn new(shards: usize, turn: u32, shape: Shape, share: usize) -> Self {
        Self {
            shards: (0..shards).map(|_| Shard::new(shape, share)).collect(),
            turn,
            spill: None,
            kept: Vec::new(),
            sketching: None,
            sketch: None,
            before: None,
        }
    }

    /// The memory of its tables.
    pub(crate) fn bytes(&self) -> usize {
        self.shards.iter().map(Shard::bytes).sum()
    }

    /// Different keys in its tables.
    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(Shard::len).sum()
    }

    /// The shard of a hash. Its bits are used by neither lane, partition nor slot.
    #[inline(always)]
    fn shard_of(&self, hash: u64) -> usize {
        (hash >> 24) as usize & (self.shards.len() - 1)
    }

    /// Works on the records of this lane of all chunks, in order.
    pub(crate) fn work(
        &mut self,
        chunks: &[Chunk],
        lane: usize,
        task: Task,
        space: &Space,
    ) -> Result<(), JobError> {
        self.kept.resize_with(chunks.len(), Vec::new);
        for (i, chunk) in chunks.iter().enumerate() {
            let mut kept = std::mem::take(&mut self.kept[i]);
            kept.clear();
            let result = match task.act {
                Act::Distinct => self.go::<{ Act::Distinct as u8 }>(chunk, lane, task, space, &mut kept),
                Act::Count => self.go::<{ Act::Count as u8 }>(chunk, lane, task, space, &mut kept),
                Act::Load => self.go::<{ Act::Load as u8 }>(chunk, lane, task, space, &mut kept),
                Act::FirstIn => self.go::<{ Act::FirstIn as u8 }>(chunk, lane, task, space, &mut kept),
                Act::AllIn => self.go::<{ Act::AllIn as u8 }>(chunk, lane, task, space, &mut kept),
                Act::AllOut => self.go::<{ Act::AllOut as u8 }>(chunk, lane, task, space, &mut kept),
            };
            self.kept[i] = kept;
            result?;
        }
        Ok(())
    }

    /// [`work`](Self::work) on one chunk; a function of its own for each act, so that none asks which it is.
    ///
    /// Three groups of records at a time: the slots of one are asked for, the entries of the one before it are, and the one
    /// before that is worked on.
    fn go<const ACT: u8>(
        &mut self,
        chunk: &Chunk,
        lane: usize,
        task: Task,
        space: &Space,
        kept: &mut Vec<Place>,
    ) -> Result<(), JobError> {
        let task = Task { act: const { ALL_ACTS[ACT as usize] }, ..task };
        let (bytes, turn) = (chunk.bytes(), self.turn);
        let (recs, heads) = (&chunk.lanes[lane][..], &chunk.heads[lane][..]);
        let groups = recs.chunks(AHEAD).zip(heads.chunks(AHEAD));
        let (mut before, mut work): (Group<'_>, Group<'_>) = Default::default();
        let mut hints = [Hint::default(); AHEAD];
        for group in groups.chain([Group::default(); 2]) {
            for rec in group.0 {
                self.shard(rec.hash).fetch_slot(rec.hash.rotate_left(turn));
            }
            let ready = hints;
            for (rec, hint) in before.0.iter().zip(&mut hints) {
                *hint = self.shard(rec.hash).fetch_entry(rec.hash.rotate_left(turn));
                // Another thread may have read it, into its own cache.
                if rec.place.len as usize > SHORT
                    && let Some(byte) = bytes.get(rec.place.start as usize)
                {
                    prefetch(byte);
                }
            }
            for ((&rec, &head), hint) in work.0.iter().zip(work.1).zip(ready) {
                let key = Sought { head, bytes: chunk.key(rec.place) };
                self.one(chunk, rec, key, hint, task, space, kept)?;
            }
            (work, before) = (before, group);
        }
        Ok(())
    }

    #[inline(always)]
    fn shard(&self, hash: u64) -> &Shard {
        &self.shards[self.shard_of(hash)]
    }

    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "the body of a loop")]
    fn one(
        &mut self,
        chunk: &Chunk,
        rec: Rec,
        key: Sought<'_>,
        hint: Hint,
        task: Task,
        space: &Space,
        kept: &mut Vec<Place>,
    ) -> Result<(), JobError> {
        if task.act == Act::Count && self.before.as_ref().is_some_and(|b| !b.0.may_win(rec, key, b.1)) {
            return Ok(());
        }
        let (shard, turned) = (self.shard_of(rec.hash), rec.hash.rotate_left(self.turn));
        let shard = &mut self.shards[shard];
        let found = match shard.probe(turned, key, hint) {
            Ok(found) => found,
            Err(at) if task.act.inserts() && !task.frozen && shard.has_room_for(2 * key.bytes.len()) => {
                shard.insert_at(at, turned, key, || chunk.position(rec.place), 1, || chunk.line(rec.place));
                if task.act == Act::Distinct {
                    kept.push(rec.place);
                }
                return Ok(());
            }
            Err(_) => return self.missed(task.act, chunk, rec, task, space, kept),
        };
        match task.act {
            Act::Count => shard.add(found, 1),
            Act::FirstIn if !shard.mark(found) => {}
            Act::FirstIn | Act::AllIn => kept.push(rec.place),
            Act::Distinct | Act::Load | Act::AllOut => {}
        }
        Ok(())
    }

    /// What becomes of a record whose key is not in the table, and is not put there.
    #[inline]
    fn missed(
        &mut self,
        act: Act,
        chunk: &Chunk,
        rec: Rec,
        task: Task,
        space: &Space,
        kept: &mut Vec<Place>,
    ) -> Result<(), JobError> {
        match self.sketching {
            Some((params, hasher)) if act == Act::Count => {
                let sketch = match &mut self.sketch {
                    Some(sketch) => sketch,
                    none => none.insert(CountMin::with_params(params, hasher)?),
                };
                sketch.add_digest(Digest::from(rec.hash), 1);
            }
            _ if act.inserts() || task.spill_misses => self.spill(chunk, rec, task.spilling, space)?,
            _ if act == Act::AllOut => kept.push(rec.place),
            _ => {}
        }
        Ok(())
    }

    /// Whether a key that this lane has not counted may have come so often.
    fn may_win(&self, rec: Rec, key: Sought<'_>, times: u64) -> bool {
        self.sketch.as_ref().is_some_and(|sketch| sketch.estimate_digest(Digest::from(rec.hash)) >= times)
            && self.shards[self.shard_of(rec.hash)]
                .find(rec.hash.rotate_left(self.turn), key, Hint::default())
                .is_none()
    }

    #[inline]
    fn spill(&mut self, chunk: &Chunk, rec: Rec, how: Spilling, space: &Space) -> Result<(), JobError> {
        let spill = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert(Spill::new(space, how.parts, how.block, how.lines)?),
        };
        let line = if how.lines { chunk.line(rec.place) } else { &[] };
        // The lane takes high bits, the slot those that follow, and the shard bits 24 and above.
        let part = (rec.hash >> 8) as usize & (how.parts - 1);
        spill.put(space, part, chunk.position(rec.place), chunk.key(rec.place), line)
    }
}

const ALL_ACTS: [Act; 6] = [Act::Distinct, Act::Count, Act::Load, Act::FirstIn, Act::AllIn, Act::AllOut];
