//! What a filter tells about itself.

use crate::{
    core::Core,
    error::Error,
    generation::{Generation, Shape},
    meta::{call, key},
    net::{How, Request},
};
use gowk::{Family, HashId};
use redis::{Value, cmd};
use std::time::Duration;

/// What was promised, and what is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Info {
    /// What kind of filter it is.
    pub family: Family,
    /// Its name.
    pub name: String,
    /// The id of the generation that is asked.
    pub generation: u64,
    /// The different keys that it was made for.
    pub items: u64,
    /// The false-positive rate that was promised for that many.
    pub fpp: f64,
    /// Which hash it uses.
    pub hash: HashId,
    /// The bits or counters that a key has.
    pub probes: u32,
    /// Its bits, over all shards.
    pub bits: u64,
    /// The shards.
    pub shards: u64,
    /// The bytes of a shard; the last may be shorter.
    pub shard_bytes: u64,
    /// How many shards were looked at for what follows.
    pub sampled: u64,
    /// The part of the bits that are set, or of the counters that are not 0.
    pub fill: f64,
    /// The same of each shard that was looked at.
    pub fills: Vec<f64>,
    /// How many different keys have come, as far as the bits tell.
    pub estimated_items: f64,
    /// The rate at which it now answers "maybe" for keys that are not in it.
    pub fpp_now: f64,
    /// A new generation is being built.
    pub rebuilding: bool,
    /// When it expires.
    pub expires_in: Option<Duration>,
}

/// Shards that are looked at unless all are asked for.
const SAMPLE: u64 = 64;

impl Core {
    /// Looks at all shards, or at some that lie evenly.
    pub(crate) async fn info(&self, exact: bool) -> Result<Info, Error> {
        let meta = self.reload().await?;
        let generation = &meta.live;
        let shards = generation.shards();
        let sampled = if exact { shards } else { shards.min(SAMPLE) };
        let sample: Vec<u64> =
            (0..sampled).map(|i| (u128::from(i) * u128::from(shards) / u128::from(sampled)) as u64).collect();
        let used = match &generation.shape {
            Shape::Bloom(_) => self.ones(generation, &sample).await?,
            Shape::Counting(_) => self.nonzero(generation, &sample).await?,
        };
        let (set, places) = used.iter().fold((0, 0), |(set, places), one| (set + one.0, places + one.1));
        let fill = set as f64 / places as f64;
        let fills = used.iter().map(|(set, places)| *set as f64 / *places as f64).collect();
        let (family, bits, estimated_items, fpp_now) = match &generation.shape {
            Shape::Bloom(params) => {
                let items = params.items_for_fill(fill);
                (Family::BlockedBloom, params.bits(), items, params.fpp_at(items.round() as u64))
            }
            Shape::Counting(params) => {
                let items = params.items_for_fill(fill);
                (Family::CountingBloom, params.bits(), items, params.fpp_at(items.round() as u64))
            }
        };
        let ttl = call(&self.servers, &self.name, cmd("PTTL").arg(key(&self.name))).await?;
        let expires_in = match ttl {
            Value::Int(ms) if ms >= 0 => Some(Duration::from_millis(ms as u64)),
            _ => None,
        };
        Ok(Info {
            family,
            name: self.name.clone(),
            generation: generation.id,
            items: generation.shape.promise().items,
            fpp: generation.shape.promise().fpp,
            hash: generation.hasher.id(),
            probes: generation.shape.probes() as u32,
            bits,
            shards,
            shard_bytes: generation.shard_len(0),
            sampled,
            fill,
            fills,
            estimated_items,
            fpp_now,
            rebuilding: meta.building.is_some(),
            expires_in,
        })
    }

    /// How many bits of each of these shards are set, and how many there are; the servers count.
    async fn ones(&self, generation: &Generation, sample: &[u64]) -> Result<Vec<(u64, u64)>, Error> {
        let mut used = Vec::with_capacity(sample.len());
        for sample in sample.chunks(1000) {
            let mut requests = Vec::with_capacity(2 * sample.len());
            for &shard in sample {
                let (slot, key, len) =
                    (generation.slot(shard), generation.key(&self.name, shard), generation.shard_len(shard));
                requests.push(Request { slot, cmd: cmd("BITCOUNT").arg(&key).arg(0).arg(len - 1).take() });
                requests.push(Request { slot, cmd: cmd("STRLEN").arg(&key).take() });
            }
            let mut answers = self.servers.run(&requests, How::default()).await.into_iter();
            for &shard in sample {
                let len = generation.shard_len(shard);
                let count = answers.next().expect("an answer to each request");
                match (count, answers.next().expect("an answer to each request")) {
                    (Ok(Value::Int(count)), Ok(Value::Int(bytes))) if bytes as u64 == len + 1 => {
                        used.push((count as u64, 8 * len));
                    }
                    (Err(error), _) | (_, Err(error)) if !crate::meta::is_wrong_type(&error) => {
                        return Err(error);
                    }
                    _ => return Err(self.lost(shard)),
                }
            }
        }
        Ok(used)
    }

    /// How many counters of each of these shards are not 0, and how many there are.
    async fn nonzero(&self, generation: &Generation, sample: &[u64]) -> Result<Vec<(u64, u64)>, Error> {
        let mut used = Vec::with_capacity(sample.len());
        for &shard in sample {
            let bytes = self.read_shard(generation, shard).await?;
            used.push((generation.shape.used(&bytes), 2 * bytes.len() as u64));
        }
        Ok(used)
    }
}
