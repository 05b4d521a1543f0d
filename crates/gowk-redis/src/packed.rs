//! Shards by the commands of our module, `BF.SHARDADD` and `BF.SHARDASK`, where the servers have them: many keys in a command, as bytes.
//!
//! They work on the same strings as `BITFIELD` and `GETRANGE` do, so a filter does not know how it is used. A key is twelve bytes: where its
//! block begins in the shard, and its digest. The answer is a bit for each key, and for adds the guard.
//!
//! A server that does not know the commands, or does not let this user use them, is taken as it is: from the first such answer on all is
//! done the plain way, and what was refused is done again.

use crate::{
    batch::{Routed, commands, route},
    core::Core,
    error::Error,
    generation::{GUARD, Generation, SHADOWED},
    meta::is_wrong_type,
    net::{How, Request},
    write::{Outcome, Write},
};
use gowk::Digest;
use redis::{Cmd, Value, cmd};

/// Keys of a command: some ten microseconds of a server.
const KEYS: usize = 500;

impl Core {
    /// Writes these digests into a generation, in the way that the servers allow.
    pub(crate) async fn write_into(
        &self,
        generation: &Generation,
        digests: &[Digest],
        due: &[usize],
        write: Write,
    ) -> Vec<(usize, Outcome)> {
        // Counters are kept by the server's own commands.
        if write != Write::Set || !self.servers.uses_module() {
            return self.write_plain(generation, digests, due, write).await;
        }
        let outcomes = self.add_packed(generation, digests, due).await;
        let (refused, mut outcomes): (Vec<_>, Vec<_>) = outcomes
            .into_iter()
            .partition(|(_, outcome)| matches!(outcome, Outcome::Failed(error) if has_no_module(error)));
        if !refused.is_empty() {
            self.servers.without_module();
            let due: Vec<usize> = refused.into_iter().map(|(at, _)| at).collect();
            outcomes.extend(self.write_plain(generation, digests, &due, write).await);
        }
        outcomes
    }

    /// What `judge` makes of the blocks of these digests, or `of_bit` of what the module answers; none for those whose shard is not there.
    pub(crate) async fn ask<T>(
        &self,
        generation: &Generation,
        digests: &[Digest],
        which: &[usize],
        replicas: bool,
        judge: impl Fn(&[u8], Digest) -> T,
        of_bit: Option<fn(bool) -> T>,
    ) -> Vec<Result<Option<T>, Error>> {
        let Some(of_bit) = of_bit.filter(|_| self.servers.uses_module()) else {
            return self.ask_blocks(generation, digests, which, replicas, judge).await;
        };
        let answers = self.ask_packed(generation, digests, which, replicas).await;
        let refused = |place: &usize| matches!(&answers[*place], Err(error) if has_no_module(error));
        let refused: Vec<usize> = (0..which.len()).filter(refused).collect();
        let mut answers: Vec<Result<Option<T>, Error>> =
            answers.into_iter().map(|answer| answer.map(|bit| bit.map(of_bit))).collect();
        if !refused.is_empty() {
            self.servers.without_module();
            let which: Vec<usize> = refused.iter().map(|place| which[*place]).collect();
            let again = self.ask_blocks(generation, digests, &which, replicas, judge).await;
            refused.into_iter().zip(again).for_each(|(place, answer)| answers[place] = answer);
        }
        answers
    }

    async fn add_packed(
        &self,
        generation: &Generation,
        digests: &[Digest],
        due: &[usize],
    ) -> Vec<(usize, Outcome)> {
        let routed = route(generation, digests, due);
        let groups = commands(&routed, KEYS);
        let requests = self.packed("BF.SHARDADD", generation, digests, &groups);
        let how = How { wait: self.servers.options().wait, ..How::default() };
        let answers = self.servers.run(&requests, how).await;
        let judged = groups.iter().zip(answers).flat_map(|(keys, answer)| {
            keys.iter().map(|key| key.2).zip(outcomes(keys, answer)).collect::<Vec<_>>()
        });
        judged.collect()
    }

    async fn ask_packed(
        &self,
        generation: &Generation,
        digests: &[Digest],
        which: &[usize],
        replicas: bool,
    ) -> Vec<Result<Option<bool>, Error>> {
        let asked: Vec<Digest> = which.iter().map(|at| digests[*at]).collect();
        let all: Vec<usize> = (0..asked.len()).collect();
        let routed = route(generation, &asked, &all);
        let groups = commands(&routed, KEYS);
        let requests = self.packed("BF.SHARDASK", generation, &asked, &groups);
        let how = How { replicas: replicas && self.servers.options().replicas, ..How::default() };
        let mut answers: Vec<Result<Option<bool>, Error>> = vec![Ok(None); asked.len()];
        for (keys, answer) in groups.iter().zip(self.servers.run(&requests, how).await) {
            let bits = match answer {
                Ok(Value::BulkString(bits)) if bits.len() == keys.len().div_ceil(8) => Ok(Some(bits)),
                Ok(Value::Nil) => Ok(None),
                Ok(_) => Err(Error::Reply { command: "BF.SHARDASK" }),
                Err(error) if is_wrong_type(&error) => Ok(None),
                Err(error) => Err(error),
            };
            for (i, (.., place)) in keys.iter().enumerate() {
                answers[*place] = match &bits {
                    Ok(bits) => Ok(bits.as_ref().map(|bits| bit(bits, i))),
                    Err(error) => Err(error.clone()),
                };
            }
        }
        answers
    }

    /// A command for each group of keys.
    fn packed(
        &self,
        name: &str,
        generation: &Generation,
        digests: &[Digest],
        groups: &[&[Routed]],
    ) -> Vec<Request> {
        let command = |keys: &&[Routed]| -> Cmd {
            let shard = keys[0].0;
            let mut bytes = Vec::with_capacity(12 * keys.len());
            for (_, byte, at) in *keys {
                bytes.extend_from_slice(&(*byte as u32).to_le_bytes());
                bytes.extend_from_slice(&digests[*at].h1.to_le_bytes());
            }
            let (key, len) = (generation.key(&self.name, shard), generation.shard_len(shard));
            let (span, lanes) = (generation.shape.span() as u8, generation.shape.lanes());
            cmd(name).arg(key).arg(len).arg(span).arg(lanes).arg(bytes).take()
        };
        groups.iter().map(|keys| Request { slot: generation.slot(keys[0].0), cmd: command(keys) }).collect()
    }
}

/// What came of these keys: a bit for each, and the guard. Nothing is made where nothing is.
fn outcomes(keys: &[Routed], answer: Result<Value, Error>) -> Vec<Outcome> {
    let all = |outcome: Outcome| vec![outcome; keys.len()];
    let gone = || all(Outcome::Gone { shard: keys[0].0, made: false });
    match answer {
        Ok(Value::BulkString(bits)) if bits.len() == keys.len().div_ceil(8) + 1 => {
            let guard = bits[bits.len() - 1];
            if guard & GUARD == 0 {
                return gone();
            }
            let done = |at| Outcome::Done { changed: bit(&bits, at), shadowed: guard & SHADOWED != 0 };
            (0..keys.len()).map(done).collect()
        }
        Ok(Value::Nil) => gone(),
        Ok(_) => all(Outcome::Failed(Error::Reply { command: "BF.SHARDADD" })),
        Err(error) if is_wrong_type(&error) => gone(),
        Err(error) => all(Outcome::Failed(error)),
    }
}

/// Bit number `at` of an answer.
fn bit(bits: &[u8], at: usize) -> bool {
    bits[at / 8] >> (at % 8) & 1 == 1
}

/// Whether a server said that it does not know a command, or that this user may not use it.
fn has_no_module(error: &Error) -> bool {
    let Error::Server(said) = error else { return false };
    said.code() == Some("NOPERM") || said.detail().is_some_and(|detail| detail.contains("unknown command"))
}
