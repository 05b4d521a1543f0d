//! Questions: the block of each key by one `GETRANGE`.
//!
//! | a key asked at 1 % | server, µs | |
//! |---|---|---|
//! | `GETRANGE` of its line | 0.8 | and a shard that is not there gives no bytes, which tells |
//! | `BITFIELD_RO GET u1` for each bit, keys of a shard together | 2.0 | and a shard that is not there gives zeros |
//! | `GETBIT` for each bit of a classic filter | 3.8 | |

use crate::{
    core::Core,
    error::{BatchError, Error},
    generation::Generation,
    meta::is_wrong_type,
    net::{How, Request},
    write::batch_result,
};
use gowk::Digest;
use redis::{Value, cmd};

/// Keys that are asked in one go.
const BATCH: usize = 20_000;
/// How often a filter may change under a batch.
const ROUNDS: usize = 8;

impl Core {
    /// Asks for each key, and again where the filter was switched meanwhile. `judge` makes an answer of a block; `of_bit`, if there is one,
    /// of a bit that the module answers.
    pub(crate) async fn read<T: Clone + Default>(
        &self,
        digests: &[Digest],
        judge: impl Fn(&Generation, &[u8], Digest) -> T,
        of_bit: Option<fn(bool) -> T>,
    ) -> Result<Vec<T>, BatchError> {
        let mut answers = vec![T::default(); digests.len()];
        let mut failed = Vec::new();
        for (batch, digests) in digests.chunks(BATCH).enumerate() {
            let start = batch * BATCH;
            let mut todo: Vec<usize> = (0..digests.len()).collect();
            for round in 0..=ROUNDS {
                let meta = self.meta();
                let generation = &meta.live;
                let mut gone = Vec::new();
                let judge = |block: &[u8], digest| judge(generation, block, digest);
                let asked = self.ask(generation, digests, &todo, round == 0, judge, of_bit).await;
                for (&at, answer) in todo.iter().zip(asked) {
                    match answer {
                        Ok(Some(answer)) => answers[start + at] = answer,
                        Ok(None) => gone.push(at),
                        Err(error) => failed.push((start + at, error)),
                    }
                }
                if gone.is_empty() {
                    break;
                }
                let verdict = match self.reload().await {
                    // A replica may be behind; the first round may have asked one.
                    Ok(after) if after.live.id == generation.id && round > 0 => Some(None),
                    Ok(_) if round == ROUNDS => Some(Some(Error::Changed { name: self.name.clone() })),
                    Ok(_) => None,
                    Err(error) => Some(Some(error)),
                };
                if let Some(error) = verdict {
                    let error = |at: usize| {
                        error.clone().unwrap_or_else(|| self.lost(generation.spot(digests[at]).shard))
                    };
                    failed.extend(gone.into_iter().map(|at| (start + at, error(at))));
                    break;
                }
                todo = gone;
            }
        }
        batch_result(answers, failed)
    }

    /// What `judge` makes of the blocks of these digests.
    pub(crate) async fn ask_blocks<T>(
        &self,
        generation: &Generation,
        digests: &[Digest],
        which: &[usize],
        replicas: bool,
        judge: impl Fn(&[u8], Digest) -> T,
    ) -> Vec<Result<Option<T>, Error>> {
        let request = |at: &usize| {
            let spot = generation.spot(digests[*at]);
            let mut getrange = cmd("GETRANGE");
            let last = spot.byte + generation.shape.block_bytes() - 1;
            getrange.arg(generation.key(&self.name, spot.shard)).arg(spot.byte).arg(last);
            Request { slot: generation.slot(spot.shard), cmd: getrange }
        };
        let requests: Vec<Request> = which.iter().map(request).collect();
        let how = How { replicas: replicas && self.servers.options().replicas, ..How::default() };
        let answers = self.servers.run(&requests, how).await;
        let judged = answers.into_iter().zip(which).map(|(answer, at)| match answer {
            Ok(Value::BulkString(block)) if block.len() as u64 == generation.shape.block_bytes() => {
                Ok(Some(judge(&block, digests[*at])))
            }
            Ok(Value::BulkString(_)) => Ok(None),
            Ok(_) => Err(Error::Reply { command: "GETRANGE" }),
            Err(error) if is_wrong_type(&error) => Ok(None),
            Err(error) => Err(error),
        });
        judged.collect()
    }
}
