//! What is known, and how a block of lines is held against it.

use super::answers::Outcome;
use crate::filter_file::Ids;
use gowk::{
    AnyFilter, Digest, Filter, Key,
    format::foreign::{Foreign, keys::MakersHash},
    store::Mapped,
};
use gowk_jobs::{
    input::{Block, Extractor, InputError, Keys, Value},
    member::{KeyHash, KeySet},
};

/// What asked keys are held against.
pub(super) enum Known {
    Filter(AnyFilter<Mapped>),
    Foreign(Foreign, MakersHash),
    Ids(Ids),
    Set(KeySet),
}

/// Asks for blocks of lines; one a thread. What it needs for a block it keeps for the next.
pub(super) struct Asker {
    extractor: Extractor,
    are_lines: bool,
    digests: Vec<Digest>,
    hashes: Vec<KeyHash>,
    answers: Vec<bool>,
    outcomes: Vec<Outcome>,
}

impl Asker {
    pub(super) fn new(keys: &Keys) -> Self {
        Self {
            extractor: keys.extractor(),
            are_lines: keys.are_lines(),
            digests: Vec::new(),
            hashes: Vec::new(),
            answers: Vec::new(),
            outcomes: Vec::new(),
        }
    }

    /// One for each line of the block that was asked last.
    pub(super) fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    pub(super) fn ask(&mut self, known: &Known, block: &Block) -> Result<(), InputError> {
        self.outcomes.clear();
        match known {
            Known::Filter(filter) => self.ask_filter(filter, filter.hasher(), block),
            Known::Foreign(filter, hash) => self.ask_filter(filter, hash, block),
            Known::Ids(ids) => self.ask_ids(ids, block),
            Known::Set(set) => self.ask_set(set, block),
        }
    }

    /// All digests first, then all answers: the filter fetches its memory ahead.
    fn ask_filter(
        &mut self,
        filter: &impl Filter,
        hasher: &impl gowk::KeyHash,
        block: &Block,
    ) -> Result<(), InputError> {
        self.digests.clear();
        if self.are_lines {
            self.extractor.digests(block, hasher, &mut self.digests)?;
        } else {
            for record in block.records() {
                match self.extractor.value_of(block, record)? {
                    None => self.outcomes.push(Outcome::NoKey),
                    Some(value) => {
                        self.digests.push(value.digest(hasher));
                        self.outcomes.push(Outcome::Absent);
                    }
                }
            }
        }
        self.answers.resize(self.digests.len(), false);
        filter.may_contain_many_into(&self.digests, &mut self.answers);
        let mut answers = self.answers.iter().map(|known| Outcome::of(*known));
        if self.are_lines {
            self.outcomes.extend(answers);
        } else {
            let asked = self.outcomes.iter_mut().filter(|outcome| **outcome != Outcome::NoKey);
            asked.for_each(|outcome| *outcome = answers.next().unwrap_or(Outcome::Absent));
        }
        Ok(())
    }

    fn ask_ids(&mut self, ids: &Ids, block: &Block) -> Result<(), InputError> {
        for record in block.records() {
            let value = self.extractor.value_of(block, record)?;
            let outcome = value.map(|value| Outcome::of(value.word().is_some_and(|id| ids.contains(id))));
            self.outcomes.push(outcome.unwrap_or(Outcome::NoKey));
        }
        Ok(())
    }

    fn ask_set(&mut self, set: &KeySet, block: &Block) -> Result<(), InputError> {
        if self.are_lines {
            self.hashes.clear();
            self.hashes.extend(block.lines().map(|line| set.hash(line)));
            let found = set.find_many(block.lines(), &self.hashes);
            self.outcomes.extend(found.map(|number| Outcome::of(number.is_some())));
            return Ok(());
        }
        for record in block.records() {
            let value = self.extractor.value_of(block, record)?;
            let find = |value| with_bytes(value, |key| Outcome::of(set.find(key, set.hash(key)).is_some()));
            self.outcomes.push(value.map_or(Outcome::NoKey, find));
        }
        Ok(())
    }
}

/// The bytes by which keys of a list are compared: equal numbers are equal keys, however they are written.
pub(super) fn with_bytes<T>(value: Value<'_>, then: impl FnOnce(&[u8]) -> T) -> T {
    match (value, value.word()) {
        (_, Some(word)) => then(&word.to_le_bytes()),
        (Value::Bytes(bytes), None) => then(bytes),
        _ => then(&[]),
    }
}
