//! A list of keys held against another: the smaller side is kept in memory, the larger one streams by.

use super::{
    Query,
    answers::{Answers, Outcome},
    known::{Known, with_bytes},
};
use crate::numbers::bytes;
use anyhow::bail;
use gowk_jobs::{
    input::{Block, Input, KeySpec, Keys, for_each_block},
    member::{KeyHash, KeySet, Met},
};

pub(super) fn ask_list(
    query: &Query,
    known: &Input,
    asked: &Input,
    answers: &mut Answers,
) -> anyhow::Result<()> {
    let asked_keys = query.keys.keys();
    // Lines of a plain list are whole keys; only their type is that of the asked ones.
    let known_keys = Keys { spec: KeySpec::Line, ..asked_keys.clone() };
    // A pipe may be endless, so it is the side that streams; of two pipes the asked one, which may be live.
    let keep_asked = match (known.total_bytes(), asked.total_bytes()) {
        (Some(known), Some(asked)) => asked < known,
        (None, asked) => asked.is_some(),
        (Some(_), None) => false,
    };
    if keep_asked {
        return stream_known(query, known, &known_keys, asked, &asked_keys, answers);
    }
    let mut set = KeySet::default();
    insert_all(known, &known_keys, &mut set, query.memory.memory(), |_, _| ())?;
    query.ask(&Known::Set(set), asked, &asked_keys, answers)
}

/// The asked lines are kept, all of them and in order, and the known keys stream by.
fn stream_known(
    query: &Query,
    known: &Input,
    known_keys: &Keys,
    asked: &Input,
    asked_keys: &Keys,
    answers: &mut Answers,
) -> anyhow::Result<()> {
    let (mut set, mut blocks, mut numbers) = (KeySet::default(), Vec::new(), Vec::new());
    insert_all(asked, asked_keys, &mut set, query.memory.memory(), |block, found| match block {
        Some(block) => blocks.push(std::mem::take(block)),
        None => numbers.push(found),
    })?;
    let met = Met::none_of(&set);
    let (set, met) = (&set, &met);
    for_each_block(
        known.blocks(),
        query.memory.threads(),
        || (known_keys.extractor(), Vec::<KeyHash>::new()),
        |(extractor, hashes), block| {
            if known_keys.are_lines() {
                hashes.clear();
                hashes.extend(block.lines().map(|line| set.hash(line)));
                set.find_many(block.lines(), hashes).flatten().for_each(|number| met.note(number));
                return anyhow::Ok(());
            }
            for record in block.records() {
                if let Some(value) = extractor.value_of(block, record)? {
                    let found = with_bytes(value, |key| set.find(key, set.hash(key)));
                    found.into_iter().for_each(|number| met.note(number));
                }
            }
            Ok(())
        },
    )?;
    let mut numbers = numbers.into_iter();
    let mut outcomes = Vec::new();
    for block in &blocks {
        let outcome =
            |number: Option<usize>| number.map_or(Outcome::NoKey, |number| Outcome::of(met.was(number)));
        outcomes.clear();
        outcomes.extend(numbers.by_ref().take(block.count() as usize).map(outcome));
        answers.give(&answers.format().render(block, &outcomes))?;
    }
    Ok(())
}

/// Puts the key of every line into the set. `each` hears of each line its key's number, and then of the block, which it may keep.
fn insert_all(
    input: &Input,
    keys: &Keys,
    set: &mut KeySet,
    memory: u64,
    mut each: impl FnMut(Option<&mut Block>, Option<usize>),
) -> anyhow::Result<()> {
    let (mut blocks, mut block) = (input.blocks(), Block::default());
    let (mut extractor, mut kept) = (keys.extractor(), 0);
    while blocks.next_into(&mut block)? {
        kept += block.bytes().len() as u64;
        for record in block.records() {
            let value = extractor.value_of(&block, record)?;
            let number = value.map(|value| with_bytes(value, |key| set.insert(key)));
            each(None, number);
        }
        each(Some(&mut block), None);
        if set.size_in_bytes() as u64 + kept > memory {
            bail!(
                "even the smaller list takes more than {} of memory; raise --memory, or build a filter of one list and ask that, or take \
                 gowk intersect, which works on disk",
                bytes(memory as f64)
            );
        }
    }
    Ok(())
}
