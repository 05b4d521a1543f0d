//! Adds and removes: batches of digests, grouped by shard, some keys to a command.
//!
//! Every command also reads the guard of its shard, the byte after the bits:
//!
//! | guard | the shard | what the writer does |
//! |---|---|---|
//! | `80` | is there | nothing more |
//! | `c0` | is there, and another generation is being filled beside it | looks into the metadata and writes there as well |
//! | `00` | was not there: retired, expired, evicted or deleted | looks into the metadata; if it should be there, the keys have failed |
//!
//! So nobody has to wait for clocks or leases: whoever writes after a rebuild has begun learns it from the write itself.

use crate::{
    batch::{Routed, commands, route},
    core::Core,
    error::{BatchError, Error},
    generation::{GUARD, Generation, SHADOWED, Shape},
    meta::{Meta, is_wrong_type},
    net::{How, Request},
};
use gowk::Digest;
use redis::{Cmd, Value, cmd};
use std::{collections::HashSet, sync::Arc};

/// What is written for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Write {
    /// Sets its bits.
    Set,
    /// Raises its counters.
    Count,
    /// Lowers its counters.
    Uncount,
}

/// What came of a key in one generation.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// Written. For an add: whether the key was new; for a remove: whether it was there.
    Done {
        changed: bool,
        shadowed: bool,
    },
    /// The shard is not there; or it was not, and what we wrote has made one.
    Gone {
        shard: u64,
        made: bool,
    },
    Failed(Error),
}

/// Keys of a command. More would save little: at 16 the name of the shard and its guard are a twentieth of the words.
const KEYS: usize = 16;
/// Keys that are written in one go: enough for all shards, and the commands take some MB.
const BATCH: usize = 20_000;
/// How often a filter may change under a batch.
const ROUNDS: usize = 8;

/// Lowers the counters of keys that have none at 0; counters at the top stay. An answer for each key, then the guard.
const UNCOUNT: &str = "local k=tonumber(ARGV[1]) local out={} \
    for i=3,#ARGV,k do local get={} for j=i,i+k-1 do get[#get+1]='GET' get[#get+1]='u4' get[#get+1]=ARGV[j] end \
    local have=redis.call('BITFIELD',KEYS[1],unpack(get)) local take={} local there=1 \
    for j=1,k do if have[j]==0 then there=0 elseif have[j]<15 then take[#take+1]='INCRBY' take[#take+1]='u4' take[#take+1]=ARGV[i+j-1] take[#take+1]=-1 end end \
    if there==1 and #take>0 then redis.call('BITFIELD',KEYS[1],unpack(take)) end out[#out+1]=there end \
    out[#out+1]=redis.call('BITFIELD',KEYS[1],'GET','u8',ARGV[2])[1] return out";

impl Core {
    /// Writes them all; tells of each what changed, or which failed.
    pub(crate) async fn write(&self, digests: &[Digest], write: Write) -> Result<Vec<bool>, BatchError> {
        let mut changed = vec![false; digests.len()];
        let mut failed: Vec<(usize, Error)> = Vec::new();
        for (batch, digests) in digests.chunks(BATCH).enumerate() {
            let start = batch * BATCH;
            for (at, outcome) in self.write_batch(digests, write).await.into_iter().enumerate() {
                match outcome {
                    Ok(new) => changed[start + at] = new,
                    Err(error) => failed.push((start + at, error)),
                }
            }
        }
        batch_result(changed, failed)
    }

    /// Writes into the live generation only, whatever its guards say: it is one that is being built.
    pub(crate) async fn write_alone(
        &self,
        digests: &[Digest],
        write: Write,
    ) -> Result<Vec<bool>, BatchError> {
        let generation = &self.meta().live;
        let (mut changed, mut failed) = (vec![false; digests.len()], Vec::new());
        for start in (0..digests.len()).step_by(BATCH) {
            let due: Vec<usize> = (start..digests.len().min(start + BATCH)).collect();
            for (at, outcome) in self.write_into(generation, digests, &due, write).await {
                match outcome {
                    Outcome::Done { changed: new, .. } => changed[at] = new,
                    // Aborted by somebody, or dropped.
                    Outcome::Gone { shard, .. } => {
                        self.bury(generation, &[shard], false).await;
                        failed.push((at, Error::Changed { name: self.name.clone() }));
                    }
                    Outcome::Failed(error) => failed.push((at, error)),
                }
            }
        }
        batch_result(changed, failed)
    }

    async fn write_batch(&self, digests: &[Digest], write: Write) -> Vec<Result<bool, Error>> {
        let mut answers: Vec<Option<Result<bool, Error>>> = vec![None; digests.len()];
        let mut todo: Vec<usize> = (0..digests.len()).collect();
        // What a generation has taken, it need not take again; and what counts must not come twice.
        let mut taken: HashSet<(u64, usize)> = HashSet::new();
        let mut meta = self.meta();
        for _ in 0..ROUNDS {
            let mut again: Vec<(usize, Outcome)> = Vec::new();
            let targets: Vec<&Generation> = std::iter::once(&meta.live).chain(meta.beside()).collect();
            let (mut look, mut rubbish) = (false, Vec::new());
            for (rank, target) in targets.iter().enumerate() {
                let due: Vec<usize> =
                    todo.iter().copied().filter(|at| !taken.contains(&(target.id, *at))).collect();
                for (at, outcome) in self.write_into(target, digests, &due, write).await {
                    match &outcome {
                        Outcome::Done { changed, shadowed } => {
                            if !matches!(answers[at], Some(Err(_))) && (rank == 0 || answers[at].is_none()) {
                                answers[at] = Some(Ok(*changed));
                            }
                            if *shadowed || targets.len() > 1 {
                                taken.insert((target.id, at));
                            }
                            if *shadowed && targets.len() == 1 {
                                again.push((at, outcome));
                            }
                        }
                        Outcome::Gone { shard, made } => {
                            if *made {
                                rubbish.push((rank, *shard));
                            }
                            // The generation before has been retired meanwhile: all see the live one.
                            match rank == 1 && meta.next.is_none() {
                                true => look = true,
                                false => again.push((at, outcome)),
                            }
                        }
                        Outcome::Failed(error) => answers[at] = Some(Err(error.clone())),
                    }
                }
            }
            todo.clear();
            if again.is_empty() && !look {
                break;
            }
            let before = meta.clone();
            meta = match self.look_again(&before, rubbish).await {
                Ok(meta) => meta,
                Err(error) => {
                    again.iter().for_each(|(at, _)| answers[*at] = Some(Err(error.clone())));
                    break;
                }
            };
            todo = self.settle(&before, &meta, again, &mut answers);
            if todo.is_empty() {
                break;
            }
        }
        let changed = || Error::Changed { name: self.name.clone() };
        todo.into_iter().for_each(|at| answers[at] = Some(Err(changed())));
        answers.into_iter().map(|answer| answer.unwrap_or_else(|| Err(changed()))).collect()
    }

    /// The metadata as they are; what writes have made of shards that were not there is buried.
    async fn look_again(&self, before: &Meta, mut rubbish: Vec<(usize, u64)>) -> Result<Arc<Meta>, Error> {
        let meta = self.reload().await;
        rubbish.sort_unstable();
        rubbish.dedup();
        for (rank, generation) in std::iter::once(&before.live).chain(before.beside()).enumerate() {
            let shards: Vec<u64> =
                rubbish.iter().filter(|(of, _)| *of == rank).map(|(_, shard)| *shard).collect();
            if !shards.is_empty() {
                let used =
                    meta.as_ref().is_ok_and(|meta| meta.generations().any(|other| other.id == generation.id));
                self.bury(generation, &shards, used).await;
            }
        }
        meta
    }

    /// Which keys have to be written again, now that the metadata are `after`.
    fn settle(
        &self,
        before: &Meta,
        after: &Meta,
        again: Vec<(usize, Outcome)>,
        answers: &mut [Option<Result<bool, Error>>],
    ) -> Vec<usize> {
        let same =
            before.live.id == after.live.id && before.beside().map(|g| g.id) == after.beside().map(|g| g.id);
        let mut todo = Vec::new();
        for (at, outcome) in again {
            match outcome {
                Outcome::Gone { shard, .. } if same => answers[at] = Some(Err(self.lost(shard))),
                // Somebody has given up a rebuild and not yet told all shards.
                Outcome::Done { .. } if same => {}
                _ => todo.push(at),
            }
        }
        todo.sort_unstable();
        todo.dedup();
        todo
    }

    /// Writes these digests into a generation by commands that every server has.
    pub(crate) async fn write_plain(
        &self,
        generation: &Generation,
        digests: &[Digest],
        due: &[usize],
        write: Write,
    ) -> Vec<(usize, Outcome)> {
        let routed = route(generation, digests, due);
        let groups = commands(&routed, KEYS);
        let requests: Vec<Request> = groups
            .iter()
            .map(|keys| Request {
                slot: generation.slot(keys[0].0),
                cmd: self.command(generation, digests, keys, write),
            })
            .collect();
        let options = self.servers.options();
        // A second count errs towards "there", which is the side that a filter may err on; a second removal does not.
        let how = How { wait: options.wait, once: write == Write::Uncount, replicas: false };
        let answers = self.servers.run(&requests, how).await;
        let judged = groups.iter().zip(answers).flat_map(|(keys, answer)| {
            let outcomes = outcomes(generation, keys, answer, write);
            keys.iter().map(|key| key.2).zip(outcomes).collect::<Vec<_>>()
        });
        judged.collect()
    }

    fn command(&self, generation: &Generation, digests: &[Digest], keys: &[Routed], write: Write) -> Cmd {
        let shard = keys[0].0;
        let (key, guard) = (generation.key(&self.name, shard), format!("#{}", generation.shard_len(shard)));
        let mut command = match write {
            Write::Set => cmd("BITFIELD").arg(key).take(),
            Write::Count => cmd("BITFIELD").arg(key).arg("OVERFLOW").arg("SAT").take(),
            Write::Uncount => {
                cmd("EVAL").arg(UNCOUNT).arg(1).arg(key).arg(generation.shape.probes()).arg(&guard).take()
            }
        };
        for (_, byte, at) in keys {
            each_place(&generation.shape, digests[*at], |place| {
                let place = 8 * byte + u64::from(place);
                match write {
                    Write::Set => command.arg(b"SET").arg(b"u1").arg(place).arg(b"1"),
                    Write::Count => command.arg(b"INCRBY").arg(b"u4").arg(place).arg(b"1"),
                    Write::Uncount => command.arg(place),
                };
            });
        }
        if write != Write::Uncount {
            command.arg("GET").arg("u8").arg(guard);
        }
        command
    }
}

/// The places of a key in its block, as offsets in bits. The server counts bits of a byte from the top, a `.gowk` file from the bottom.
fn each_place(shape: &Shape, digest: Digest, mut each: impl FnMut(u32)) {
    match shape {
        Shape::Bloom(params) => params.bits_in_block(digest).for_each(|bit| each(bit ^ 7)),
        Shape::Counting(params) => {
            params.counters_in_block(digest).for_each(|counter| each((counter ^ 1) * 4))
        }
    }
}

fn outcomes(
    generation: &Generation,
    keys: &[Routed],
    answer: Result<Value, Error>,
    write: Write,
) -> Vec<Outcome> {
    let shard = keys[0].0;
    let all = |outcome: Outcome| vec![outcome; keys.len()];
    let values = match answer {
        Ok(Value::Array(values)) => values,
        Ok(_) => return all(Outcome::Failed(Error::Reply { command: "BITFIELD" })),
        Err(error) if is_wrong_type(&error) => return all(Outcome::Gone { shard, made: false }),
        Err(error) => return all(Outcome::Failed(error)),
    };
    let numbers: Vec<i64> =
        values.iter().map(|value| if let Value::Int(n) = value { *n } else { -1 }).collect();
    let each = if write == Write::Uncount { 1 } else { generation.shape.probes() };
    let Some((&guard, places)) = numbers.split_last().filter(|(_, places)| places.len() == each * keys.len())
    else {
        return all(Outcome::Failed(Error::Reply { command: "BITFIELD" }));
    };
    let guard = guard as u8;
    if guard & GUARD == 0 {
        return all(Outcome::Gone { shard, made: write != Write::Uncount });
    }
    // What a bit was before; what a counter is now; whether a key was there.
    let changed = |places: &[i64]| match write {
        Write::Set => places.contains(&0),
        Write::Count | Write::Uncount => places.contains(&1),
    };
    places
        .chunks(each)
        .map(|places| Outcome::Done { changed: changed(places), shadowed: guard & SHADOWED != 0 })
        .collect()
}

/// What a batch gives: all of it, or which failed.
pub(crate) fn batch_result<T>(
    answers: Vec<T>,
    mut failed: Vec<(usize, Error)>,
) -> Result<Vec<T>, BatchError> {
    failed.sort_by_key(|(at, _)| *at);
    match failed.first() {
        None => Ok(answers),
        Some((_, source)) => {
            let source = Box::new(source.clone());
            let failed = failed.iter().map(|(at, _)| *at).collect();
            Err(BatchError { failed, keys: answers.len(), source })
        }
    }
}
