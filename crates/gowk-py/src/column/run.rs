//! A chunk of a column in the form in which a filter takes many keys at once.
//!
//! A filter hashes keys in the same loop that puts them in, for the instruction set of the machine; digests that are made first and read
//! again take half as long again.

use super::{Column, Digests, Nulls, Part};
use crate::key::Sink;
use gowk::{Digest, Key, KeyHash};
use pyo3::prelude::*;
use std::{borrow::Cow, ops::Range};

/// Keys of one kind.
#[derive(Clone, Copy)]
pub(crate) enum Run<'a> {
    Words(&'a [u64]),
    Bytes(&'a [&'a [u8]]),
    Digests(&'a [Digest]),
}

impl<'a> Run<'a> {
    pub(crate) fn len(self) -> usize {
        match self {
            Self::Words(keys) => keys.len(),
            Self::Bytes(keys) => keys.len(),
            Self::Digests(digests) => digests.len(),
        }
    }

    /// Their digests, for a filter that takes nothing else.
    pub(crate) fn digests(self, hash: &impl KeyHash) -> Cow<'a, [Digest]> {
        match self {
            Self::Words(keys) => keys.iter().map(|key| key.digest(hash)).collect(),
            Self::Bytes(keys) => keys.iter().map(|key| key.digest(hash)).collect(),
            Self::Digests(digests) => digests.into(),
        }
    }
}

impl Column<'_> {
    /// Calls `done` with one chunk of keys after another, without the interpreter. For the rest it is as
    /// [`each_chunk`](Self::each_chunk); the hash is for keys that come as Python's objects.
    pub(crate) fn each_run<H: KeyHash + Sync>(
        &self,
        py: Python<'_>,
        nulls: Nulls,
        keep_places: bool,
        hash: &H,
        mut done: impl FnMut(Run<'_>) -> PyResult<()> + Send,
    ) -> PyResult<Vec<usize>> {
        let Self::Parts(parts) = self else {
            let mut digests = Digests::new(hash);
            return self.each_chunk(py, nulls, keep_places, &mut digests, |digests| {
                let result = done(Run::Digests(&digests.held));
                digests.held.clear();
                result
            });
        };
        let mut room = Room { words: Words::default(), slices: Vec::new(), digests: Digests::new(hash) };
        parts.each_range(py, nulls, |part, range| done(room.run(part, range, keep_places)))
    }
}

/// Where the keys of a chunk are put in a row.
struct Room<'a, H> {
    words: Words,
    slices: Vec<&'a [u8]>,
    digests: Digests<'a, H>,
}

impl<'a, H: KeyHash> Room<'a, H> {
    fn run(&mut self, part: &'a Part, range: Range<usize>, keep_places: bool) -> Run<'_> {
        match part {
            Part::Wide { .. } => {
                self.digests.held.clear();
                part.feed(range, keep_places, &mut self.digests);
                Run::Digests(&self.digests.held)
            }
            _ if part.is_ints() => {
                self.words.0.clear();
                part.feed(range, keep_places, &mut self.words);
                Run::Words(&self.words.0)
            }
            _ => {
                self.slices.clear();
                part.slices(range, keep_places, &mut self.slices);
                Run::Bytes(&self.slices)
            }
        }
    }
}

/// A sink of integers; nothing else comes.
#[derive(Default)]
struct Words(Vec<u64>);

impl Sink for Words {
    #[inline(always)]
    fn int(&mut self, word: u64, _: bool) {
        self.0.push(word);
    }

    fn bytes(&mut self, _: &[u8]) {
        unreachable!("a part of integers has no bytes")
    }

    fn null(&mut self) {
        self.0.push(0);
    }
}
