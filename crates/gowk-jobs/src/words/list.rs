//! Some words in many files, without an index.

use super::token::{Folding, each_word};
use crate::{
    Options, Stats,
    error::JobError,
    input::{Block, Input, InputError, Source},
};
use rayon::prelude::*;
use std::{collections::HashMap, time::Instant};

/// Looks for words in files: which files hold which.
///
/// A file is read until all words have been found in it.
///
/// ```
/// use gowk_jobs::{Options, Words, input::Source};
///
/// let file = tempfile::NamedTempFile::new()?;
/// std::fs::write(&file, "The gowk, the gowk")?;
/// let (hits, _) = Words::new(["gowk", "heron"]).run(&[Source::from(file.path())], &Options::default())?;
/// assert_eq!((hits.len(), hits[0].word, hits[0].file), (1, 0, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Words {
    words: Vec<Vec<u8>>,
    folding: Folding,
}

/// A file holds a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    /// Which word of the list, from 0.
    pub word: usize,
    /// Which file, from 0.
    pub file: usize,
}

impl Words {
    /// These words. One that is not a word by the rules (`well-known`, `C++`) is never found.
    pub fn new<W: AsRef<[u8]>>(words: impl IntoIterator<Item = W>) -> Self {
        Self {
            words: words.into_iter().map(|word| word.as_ref().to_vec()).collect(),
            folding: Folding::Exact,
        }
    }

    /// Whether upper and lower case are the same.
    #[must_use]
    pub fn ignore_case(self, ignore: bool) -> Self {
        Self { folding: if ignore { Folding::Lower } else { Folding::Exact }, ..self }
    }

    /// Those of the list that are not one word each, and so cannot be found.
    pub fn impossible(&self) -> Vec<usize> {
        let is_word = |word: &[u8]| {
            let mut whole = false;
            each_word(word, Folding::Exact, &mut Vec::new(), |part| {
                whole = part == word;
                whole
            });
            whole
        };
        (0..self.words.len()).filter(|i| !is_word(&self.words[*i])).collect()
    }

    /// Every hit, by word and then by file, and what was done.
    pub fn run(&self, files: &[Source], options: &Options) -> Result<(Vec<Hit>, Stats), JobError> {
        let start = Instant::now();
        let table = Table::new(&self.words, self.folding);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(options.thread_count().get())
            .build()
            .map_err(|error| JobError::Output(std::io::Error::other(error)))?;
        let found: Result<Vec<(Vec<Hit>, u64)>, JobError> = pool.install(|| {
            files
                .par_iter()
                .enumerate()
                .with_max_len(1)
                .map_init(State::default, |state, (file, source)| {
                    self.search(&table, file, source, options, state)
                })
                .collect()
        });
        let found = found?;
        let bytes = found.iter().map(|(_, bytes)| bytes).sum();
        let mut hits: Vec<Hit> = found.into_iter().flat_map(|(hits, _)| hits).collect();
        hits.sort_unstable();
        let mut stats = Stats { passes: 1, bytes, found: hits.len() as u64, ..Stats::default() };
        stats.distinct = self.words.len() as u64;
        stats.lines = files.len() as u64;
        stats.stages.push(crate::Stage { name: "read", time: start.elapsed() });
        Ok((hits, stats))
    }

    fn search(
        &self,
        table: &Table,
        file: usize,
        source: &Source,
        options: &Options,
        state: &mut State,
    ) -> Result<(Vec<Hit>, u64), JobError> {
        let mut blocks = Input::new([source.clone()])?.progress(options.watcher()).blocks();
        let State { block, scratch } = state;
        let (mut seen, mut left, mut bytes) = (vec![false; table.ids.len()], table.ids.len(), 0);
        while left > 0 && blocks.next_into(block)? {
            if options.watcher().is_cancelled() {
                return Err(InputError::Cancelled.into());
            }
            bytes += block.bytes().len() as u64;
            each_word(block.bytes(), self.folding, scratch, |word| {
                if let Some(id) = table.find(word)
                    && !seen[id]
                {
                    seen[id] = true;
                    left -= 1;
                }
                left > 0
            });
        }
        let ids = seen.iter().enumerate().filter(|(_, seen)| **seen).flat_map(|(id, _)| &table.ids[id]);
        Ok((ids.map(|word| Hit { word: *word, file }).collect(), bytes))
    }
}

#[derive(Default)]
struct State {
    block: Block,
    scratch: Vec<u8>,
}

/// The words by their bytes, behind a few bits that turn most others away.
struct Table {
    found: HashMap<Vec<u8>, usize>,
    /// For each different word the places where it stands in the list.
    ids: Vec<Vec<usize>>,
    bits: Box<[u64; BITS / 64]>,
}

const BITS: usize = 1 << 16;

impl Table {
    fn new(words: &[Vec<u8>], folding: Folding) -> Self {
        let mut table = Self { found: HashMap::new(), ids: Vec::new(), bits: Box::new([0; BITS / 64]) };
        for (i, word) in words.iter().enumerate() {
            let folded = match (folding, std::str::from_utf8(word)) {
                (Folding::Lower, Ok(text)) => text.to_lowercase().into_bytes(),
                _ => word.clone(),
            };
            let bit = Self::bit(&folded);
            table.bits[bit / 64] |= 1 << (bit % 64);
            let id = *table.found.entry(folded).or_insert(table.ids.len());
            if id == table.ids.len() {
                table.ids.push(Vec::new());
            }
            table.ids[id].push(i);
        }
        table
    }

    /// A bit for the length and the first and last bytes of a word.
    #[inline(always)]
    fn bit(word: &[u8]) -> usize {
        let len = word.len();
        let mix = match (word.first_chunk::<4>(), word.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
            }
            _ => word.iter().fold(0, |mix, byte| mix << 8 | u64::from(*byte)),
        };
        ((mix ^ len as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize
    }

    #[inline(always)]
    fn find(&self, word: &[u8]) -> Option<usize> {
        let bit = Self::bit(word);
        match self.bits[bit / 64] >> (bit % 64) & 1 {
            0 => None,
            _ => self.found.get(word).copied(),
        }
    }
}
