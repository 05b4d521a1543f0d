//! What a job reads: files, or keys of the caller's own.

use crate::{
    engine::{
        chunk::{Chunk, Form},
        spill::{Space, SpillReader},
    },
    error::JobError,
    input::{BlockReader, Input, InputError, KeySpec, Keys, Progress},
};
use std::sync::Mutex;

/// Records for a job: lines of files with a rule that finds the key in them, or keys that a program hands over.
///
/// ```
/// use gowk_jobs::Records;
/// let again = Records::from_fn(|| ["heron", "gowk"].into_iter());    // can be asked for twice
/// let once = Records::from_iter(["heron".to_owned()].into_iter());   // cannot, as a pipe
/// ```
pub struct Records<'a>(From<'a>);

type Iter<'a> = Box<dyn Iterator<Item = Vec<u8>> + Send + 'a>;

enum From<'a> {
    Files { input: Input, keys: Keys },
    Again(Box<dyn Fn() -> Iter<'a> + Sync + Send + 'a>),
    Once(Mutex<Option<Iter<'a>>>),
}

impl<'a> Records<'a> {
    /// The records of files and pipes, with the rule that finds the key in each. The type of the keys is left alone:
    /// jobs compare the text.
    pub fn files(input: Input, keys: Keys) -> Self {
        Self(From::Files { input, keys })
    }

    /// Keys from a function that gives them again when it is called again.
    pub fn from_fn<I, K>(keys: impl Fn() -> I + Sync + Send + 'a) -> Self
    where
        I: Iterator<Item = K> + Send + 'a,
        K: AsRef<[u8]>,
    {
        Self(From::Again(Box::new(move || Box::new(keys().map(|key| key.as_ref().to_vec())))))
    }

    /// Keys that come once.
    #[expect(clippy::should_implement_trait, reason = "the iterator must be Send and outlive the records")]
    pub fn from_iter<K: AsRef<[u8]>>(keys: impl Iterator<Item = K> + Send + 'a) -> Self {
        Self(From::Once(Mutex::new(Some(Box::new(keys.map(|key| key.as_ref().to_vec()))))))
    }

    /// Whether a second pass would find the same records.
    pub fn can_be_read_twice(&self) -> bool {
        match &self.0 {
            From::Files { input, .. } => input.can_be_read_twice(),
            From::Again(_) => true,
            From::Once(_) => false,
        }
    }

    /// Bytes on disk, where they are known.
    pub fn total_bytes(&self) -> Option<u64> {
        match &self.0 {
            From::Files { input, .. } => input.total_bytes(),
            _ => None,
        }
    }

    /// Whether they are of files.
    pub(crate) fn are_files(&self) -> bool {
        matches!(self.0, From::Files { .. })
    }

    /// Whether lines hold more than their keys.
    pub(crate) fn has_lines(&self) -> bool {
        matches!(&self.0, From::Files { keys, .. } if !matches!(keys.spec, KeySpec::Line))
    }

    /// Begins a pass.
    pub(crate) fn feed(&self, block: usize, progress: &Progress) -> Result<Feed<'_>, JobError> {
        let (state, keys) = match &self.0 {
            From::Files { input, keys } => {
                let separator = input.record_separator();
                let form = match keys.spec {
                    KeySpec::Line => Form::Lines(separator),
                    _ => Form::Parts(separator),
                };
                let input = input.clone().block_size(block).progress(progress);
                (State::Blocks { blocks: Box::new(input.blocks()), form }, keys.clone())
            }
            From::Again(keys) => (State::Iter(keys()), Keys::lines()),
            From::Once(keys) => {
                let keys = keys.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
                let why = "these keys have been taken";
                (State::Iter(keys.ok_or(JobError::ReadTwice { why })?), Keys::lines())
            }
        };
        Ok(Feed::new(state, keys, block, progress.clone()))
    }
}

/// One pass over records: gives chunk after chunk to whichever thread asks.
pub(crate) struct Feed<'a> {
    state: Mutex<Inner<'a>>,
    pub(crate) keys: Keys,
    block: usize,
    progress: Progress,
    integers: bool,
}

struct Inner<'a> {
    state: State<'a>,
    base: u64,
    number: u64,
    done: bool,
}

enum State<'a> {
    Blocks { blocks: Box<BlockReader>, form: Form },
    Iter(Iter<'a>),
    Spilled { reader: Box<SpillReader<'a>>, space: &'a Space, lines: bool },
}

impl<'a> Feed<'a> {
    fn new(state: State<'a>, keys: Keys, block: usize, progress: Progress) -> Self {
        let inner = Inner { state, base: 1, number: 0, done: false };
        Self { state: Mutex::new(inner), keys, block, progress, integers: false }
    }

    /// Whether keys are integers, to be brought into one form.
    pub(crate) fn integers(self, integers: bool) -> Self {
        Self { integers, ..self }
    }

    /// A partition.
    pub(crate) fn spilled(
        reader: SpillReader<'a>,
        space: &'a Space,
        lines: bool,
        block: usize,
        progress: &Progress,
    ) -> Self {
        let state = State::Spilled { reader: Box::new(reader), space, lines };
        Self::new(state, Keys::lines(), block, progress.clone())
    }

    /// Reads the next block as it is, where the feed is of files. False at the end.
    pub(crate) fn next_block(&self, block: &mut crate::input::Block) -> Result<bool, JobError> {
        let mut guard = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Inner { state, done, .. } = &mut *guard;
        match state {
            _ if *done => Ok(false),
            State::Blocks { blocks, .. } => {
                *done = !blocks.next_into(block)?;
                Ok(!*done)
            }
            _ => Err(JobError::ReadTwice { why: "integers are read from files" }),
        }
    }

    /// Reads the next chunk. False at the end.
    pub(crate) fn next_into(&self, chunk: &mut Chunk) -> Result<bool, JobError> {
        chunk.clear();
        let mut guard = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Inner { state, base, number, done } = &mut *guard;
        if *done {
            return Ok(false);
        }
        if self.progress.is_cancelled() {
            return Err(InputError::Cancelled.into());
        }
        chunk.base = *base;
        let more = match state {
            State::Blocks { blocks, form } => {
                chunk.form = *form;
                let more = blocks.next_into(&mut chunk.block)?;
                if u32::try_from(chunk.block.bytes().len()).is_err() {
                    return Err(JobError::KeyTooLong { bytes: chunk.block.bytes().len() as u64 });
                }
                *base += chunk.block.bytes().len() as u64 + 1;
                if self.integers && more {
                    integers(chunk, &self.keys)?;
                }
                more
            }
            State::Iter(keys) => {
                chunk.form = Form::Frames { lines: false };
                while chunk.frames.len() < self.block {
                    let Some(key) = keys.next() else { break };
                    if !chunk.push_frame(*base, &key, None) {
                        return Err(JobError::KeyTooLong { bytes: key.len() as u64 });
                    }
                    *base += 1;
                }
                !chunk.places.is_empty()
            }
            State::Spilled { reader, space, lines } => {
                chunk.form = Form::Frames { lines: *lines };
                let more = reader.fill(space, chunk, self.block)?;
                self.progress.add(chunk.frames.len());
                more
            }
        };
        chunk.number = *number;
        *number += 1;
        *done = !more;
        Ok(more)
    }
}

/// Turns a chunk of lines into one of frames with integers in their usual form.
fn integers(chunk: &mut Chunk, keys: &Keys) -> Result<(), JobError> {
    let block = std::mem::take(&mut chunk.block);
    chunk.form = Form::Frames { lines: false };
    let mut extractor = keys.extractor();
    for (i, record) in block.records().enumerate() {
        let Some(text) = extractor.text(record.line) else { continue };
        match crate::ints::integer(text) {
            Ok(number) => {
                // Never too large: a frame is not much longer than its line.
                chunk.push_frame(chunk.base + i as u64, number.to_string().as_bytes(), None);
            }
            Err(out_of_range) => {
                let text = text[..text.len().min(40)].escape_ascii().to_string();
                let source = block.source().clone();
                return Err(JobError::NotAnInteger { source, line: record.number, text, out_of_range });
            }
        }
    }
    chunk.skipped = extractor.skipped();
    chunk.block = block;
    Ok(())
}
