//! Some records on their way through the engine: cut, hashed, and dealt out to lanes.
//!
//! A chunk holds either a block of lines as it was read, or frames: records that come from a spill or from a caller's
//! iterator and bring their positions along.
//!
//! ```text
//! frame            position (8) key
//! frame with line  position (8) length of the line (4) key line
//! ```

use super::{
    sieve::Sieve,
    sought::{Head, head_of},
    split::each_record,
};
use crate::input::{Block, Extractor, Keys, Separator};
use gowk::Hasher;
use memchr::{memchr, memrchr};

/// Where in the chunk a key is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

/// A record: the hash of its key, and where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rec {
    pub(crate) hash: u64,
    pub(crate) place: Place,
}

/// How the bytes of a chunk are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Lines, whose keys are they themselves.
    Lines(Separator),
    /// Lines, whose keys are parts of them.
    Parts(Separator),
    /// Frames of keys, and of lines if so.
    Frames {
        /// Whether the line is there besides the key.
        lines: bool,
    },
}

/// Some records.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) form: Form,
    pub(crate) block: Block,
    pub(crate) frames: Vec<u8>,
    /// Where the keys are in `frames`.
    pub(crate) places: Vec<(u32, u32)>,
    /// The number of this chunk in its input.
    pub(crate) number: u64,
    /// The position of the first byte.
    pub(crate) base: u64,
    /// The records, by lane.
    pub(crate) lanes: Vec<Vec<Rec>>,
    /// The heads of their keys, if they were taken.
    pub(crate) heads: Vec<Vec<Head>>,
    /// Records that there were, with a key or without.
    pub(crate) records: u64,
    /// Records that had no key.
    pub(crate) skipped: u64,
    /// The answer as it is written.
    pub(crate) out: Vec<u8>,
    answers: Vec<bool>,
}

/// The lane of a hash, of two to the power of `bits`: by its highest bits.
#[inline(always)]
pub(crate) fn lane_of(hash: u64, bits: u32) -> usize {
    hash.rotate_left(bits) as usize & ((1 << bits) - 1)
}

impl Chunk {
    pub(crate) fn new(lanes: usize) -> Self {
        Self {
            form: Form::Lines(Separator::Newline),
            block: Block::default(),
            frames: Vec::new(),
            places: Vec::new(),
            number: 0,
            base: 0,
            lanes: vec![Vec::new(); lanes],
            heads: vec![Vec::new(); lanes],
            records: 0,
            skipped: 0,
            out: Vec::new(),
            answers: Vec::new(),
        }
    }

    /// No records, but the memory for them.
    pub(crate) fn clear(&mut self) {
        self.frames.clear();
        self.places.clear();
        self.lanes.iter_mut().for_each(Vec::clear);
        self.heads.iter_mut().for_each(Vec::clear);
        self.out.clear();
        (self.records, self.skipped) = (0, 0);
    }

    #[inline(always)]
    pub(crate) fn bytes(&self) -> &[u8] {
        match self.form {
            Form::Frames { .. } => &self.frames,
            _ => self.block.bytes(),
        }
    }

    /// The key of a record.
    #[inline(always)]
    pub(crate) fn key(&self, place: Place) -> &[u8] {
        &self.bytes()[place.start as usize..][..place.len as usize]
    }

    /// Where the record stands in the whole of the input: larger for later ones.
    #[inline(always)]
    pub(crate) fn position(&self, place: Place) -> u64 {
        let before = |bytes: usize| {
            let start = place.start as usize - bytes;
            u64::from_le_bytes(*self.frames[start..].first_chunk().expect("a frame is whole"))
        };
        match self.form {
            Form::Lines(_) | Form::Parts(_) => self.base + u64::from(place.start),
            Form::Frames { lines: false } => before(8),
            Form::Frames { lines: true } => before(12),
        }
    }

    /// The whole line of a record; its key, where there is no more.
    #[inline]
    pub(crate) fn line(&self, place: Place) -> &[u8] {
        let (start, end) = (place.start as usize, (place.start + place.len) as usize);
        match self.form {
            Form::Lines(_) | Form::Frames { lines: false } => self.key(place),
            Form::Parts(separator) => {
                let bytes = self.bytes();
                let from = memrchr(separator.byte(), &bytes[..start]).map_or(0, |at| at + 1);
                let to = memchr(separator.byte(), &bytes[end..]).map(|at| end + at);
                match &bytes[from..to.unwrap_or(bytes.len())] {
                    // As when it was read: a `\r` without its `\n` is a byte like others.
                    [line @ .., b'\r'] if to.is_some() && separator == Separator::Newline => line,
                    line => line,
                }
            }
            Form::Frames { lines: true } => {
                let len =
                    u32::from_le_bytes(*self.frames[start - 4..].first_chunk().expect("a frame is whole"));
                &self.frames[end..end + len as usize]
            }
        }
    }

    /// Appends a frame. False if it would make the chunk too large to address.
    pub(crate) fn push_frame(&mut self, position: u64, key: &[u8], line: Option<&[u8]>) -> bool {
        let len = 12 + key.len() + line.map_or(0, <[u8]>::len);
        if u32::try_from(self.frames.len() + len).is_err() {
            return false;
        }
        self.frames.extend_from_slice(&position.to_le_bytes());
        if let Some(line) = line {
            self.frames.extend_from_slice(&(line.len() as u32).to_le_bytes());
        }
        self.places.push((self.frames.len() as u32, key.len() as u32));
        self.frames.extend_from_slice(key);
        self.frames.extend_from_slice(line.unwrap_or_default());
        true
    }

    /// Cuts and hashes the records and deals them out to lanes.
    pub(crate) fn deal(&mut self, hasher: &Hasher, keys: &Keys) {
        let bits = self.lanes.len().trailing_zeros();
        let mut lanes = std::mem::take(&mut self.lanes);
        let (mut records, mut skipped) = (0, 0);
        let mut push = |bytes: &[u8], start: usize, len: usize| {
            let hash = hasher.bytes(&bytes[start..start + len]).h1;
            let place = Place { start: start as u32, len: len as u32 };
            lanes[lane_of(hash, bits)].push(Rec { hash, place });
        };
        match self.form {
            Form::Lines(separator) => {
                let bytes = self.block.bytes();
                let newline = separator == Separator::Newline;
                each_record(bytes, separator.byte(), |start, end| {
                    records += 1;
                    let cr = newline && end > start && bytes[end - 1] == b'\r' && end < bytes.len();
                    push(bytes, start, end - start - usize::from(cr));
                });
            }
            Form::Parts(separator) => {
                let bytes = self.block.bytes();
                let newline = separator == Separator::Newline;
                let mut extractor: Extractor = keys.extractor();
                each_record(bytes, separator.byte(), |start, end| {
                    records += 1;
                    let cr = newline && end > start && bytes[end - 1] == b'\r' && end < bytes.len();
                    let line = &bytes[start..end - usize::from(cr)];
                    if let Some(key) = extractor.text(line) {
                        let from = key.as_ptr() as usize - line.as_ptr() as usize;
                        push(bytes, start + from, key.len());
                    }
                });
                skipped = extractor.skipped();
            }
            Form::Frames { .. } => {
                records = self.places.len() as u64;
                for &(start, len) in &self.places {
                    push(&self.frames, start as usize, len as usize);
                }
            }
        }
        (self.lanes, self.records, self.skipped) = (lanes, records, skipped);
    }

    /// Leaves only records whose keys may have come through the sieve, or only those that surely have not.
    pub(crate) fn prune(&mut self, sieve: &Sieve, keep: bool) {
        for (i, lane) in self.lanes.iter_mut().enumerate() {
            sieve.answer(i, lane, &mut self.answers);
            let mut answers = self.answers.iter();
            lane.retain(|_| answers.next() == Some(&keep));
        }
    }

    /// Takes the heads of the keys along, while the bytes are in the cache of this thread.
    pub(crate) fn take_heads(&mut self) {
        let mut heads = std::mem::take(&mut self.heads);
        let bytes = self.bytes();
        for (lane, heads) in self.lanes.iter().zip(&mut heads) {
            heads.clear();
            let head = |rec: &Rec| head_of(bytes, rec.place.start as usize, rec.place.len as usize);
            heads.extend(lane.iter().map(head));
        }
        self.heads = heads;
    }

    /// The memory of its records.
    pub(crate) fn record_bytes(&self) -> usize {
        let records: usize = self.lanes.iter().map(Vec::capacity).sum();
        let heads: usize = self.heads.iter().map(Vec::capacity).sum();
        records * size_of::<Rec>() + heads * size_of::<Head>()
    }
}
