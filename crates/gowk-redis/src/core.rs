//! What all kinds of filters share: a name, the servers, and the metadata as they were last seen.

use crate::{
    error::Error,
    generation::{GUARD, Generation, SHADOWED},
    meta::{self, Meta},
    net::{How, Request, Servers},
};
use gowk::{Digest, Hasher, Key};
use redis::{Value, cmd};
use std::sync::{Arc, PoisonError, RwLock};

pub(crate) struct Core {
    pub(crate) servers: Servers,
    pub(crate) name: String,
    /// All generations hash alike, so that a digest is good for whichever is live.
    pub(crate) hasher: Hasher,
    meta: RwLock<Arc<Meta>>,
}

/// Shards that are handled in one go.
pub(crate) const SLICE: u64 = 1000;

/// A shard that is no more: in its place lies a word that no command of ours takes for bits, so that whoever still comes is told.
const TOMBSTONE: &str = "redis.call('UNLINK',KEYS[1]) redis.call('HSET',KEYS[1],'gowk',ARGV[1]) if ARGV[2]~='0' then redis.call('PEXPIRE',KEYS[1],ARGV[2]) end return 1";

/// How long a retired generation's shards say so: longer than any client sleeps, we hope; one that sleeps longer finds no shard, and
/// looks as well.
const RETIRED_MS: u64 = 24 * 3600 * 1000;

impl Core {
    pub(crate) fn new(servers: Servers, name: &str, meta: Meta) -> Self {
        Self { servers, name: name.to_owned(), hasher: meta.live.hasher, meta: RwLock::new(Arc::new(meta)) }
    }

    pub(crate) fn digests<K: Key>(&self, keys: &[K]) -> Vec<Digest> {
        keys.iter().map(|key| self.hasher.digest(key)).collect()
    }

    /// The metadata as last seen.
    pub(crate) fn meta(&self) -> Arc<Meta> {
        self.meta.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The metadata as they are.
    pub(crate) async fn reload(&self) -> Result<Arc<Meta>, Error> {
        match Meta::load(&self.servers, &self.name).await? {
            // Another filter of this name: dropped and created anew.
            Some(meta) if meta.live.hasher != self.hasher => Err(Error::Changed { name: self.name.clone() }),
            Some(meta) if !meta.dropping => {
                let meta = Arc::new(meta);
                *self.meta.write().unwrap_or_else(PoisonError::into_inner) = meta.clone();
                Ok(meta)
            }
            _ => Err(Error::NotFound { name: self.name.clone() }),
        }
    }

    pub(crate) fn lost(&self, shard: u64) -> Error {
        Error::Lost { name: self.name.clone(), shard }
    }

    /// A request for each of some shards, in slices; `check` sees each answer.
    pub(crate) async fn each_shard(
        &self,
        generation: &Generation,
        mut request: impl FnMut(u64, &str) -> redis::Cmd,
        mut check: impl FnMut(u64, Value) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (mut start, shards) = (0, generation.shards());
        while start < shards {
            let end = (start + SLICE).min(shards);
            let requests: Vec<Request> = (start..end)
                .map(|shard| {
                    let key = generation.key(&self.name, shard);
                    Request { slot: generation.slot(shard), cmd: request(shard, &key) }
                })
                .collect();
            for (shard, answer) in (start..end).zip(self.servers.run(&requests, How::default()).await) {
                let wrong_type = || Error::WrongType { key: generation.key(&self.name, shard) };
                check(
                    shard,
                    answer.map_err(|error| if meta::is_wrong_type(&error) { wrong_type() } else { error })?,
                )?;
            }
            start = end;
        }
        Ok(())
    }

    /// Makes the shards of a generation, as long as they are, empty where they were not there. Whoever does it again changes nothing.
    pub(crate) async fn make_shards(
        &self,
        generation: &Generation,
        expires: Option<u64>,
    ) -> Result<(), Error> {
        let guard = |shard, key: &str| {
            let mut bitfield = cmd("BITFIELD");
            bitfield.arg(key).arg("SET").arg("u1").arg(8 * generation.shard_len(shard)).arg(1);
            bitfield
        };
        self.each_shard(generation, guard, |_, _| Ok(())).await?;
        self.expire_shards(generation, expires).await
    }

    pub(crate) async fn expire_shards(
        &self,
        generation: &Generation,
        expires: Option<u64>,
    ) -> Result<(), Error> {
        match expires {
            Some(at) => {
                self.each_shard(generation, |_, key| cmd("PEXPIREAT").arg(key).arg(at).take(), |_, _| Ok(()))
                    .await
            }
            None => Ok(()),
        }
    }

    /// Says to all who add to this generation from now on that they must add elsewhere as well; or no longer.
    pub(crate) async fn shadow(&self, generation: &Generation, shadowed: bool) -> Result<(), Error> {
        let flag = |shard, key: &str| {
            let guard = 8 * generation.shard_len(shard);
            let mut bitfield = cmd("BITFIELD");
            bitfield
                .arg(key)
                .arg("GET")
                .arg("u8")
                .arg(guard)
                .arg("SET")
                .arg("u1")
                .arg(guard + 1)
                .arg(u8::from(shadowed));
            bitfield
        };
        let check = |shard, answer| match answer {
            Value::Array(values) if matches!(values.first(), Some(Value::Int(guard)) if *guard as u8 & GUARD != 0) => {
                Ok(())
            }
            _ => Err(self.lost(shard)),
        };
        debug_assert_eq!(SHADOWED, GUARD >> 1, "the bit after the first");
        self.each_shard(generation, flag, check).await
    }

    /// Frees the shards of a generation and leaves word that they are gone.
    pub(crate) async fn retire(&self, generation: &Generation) -> Result<(), Error> {
        let tombstone = |_, key: &str| {
            let mut eval = cmd("EVAL");
            eval.arg(TOMBSTONE).arg(1).arg(key).arg("retired").arg(RETIRED_MS);
            eval
        };
        self.each_shard(generation, tombstone, |_, _| Ok(())).await
    }

    /// Frees the shards of a generation.
    pub(crate) async fn unlink(&self, generation: &Generation) -> Result<(), Error> {
        self.each_shard(generation, |_, key| cmd("UNLINK").arg(key).take(), |_, _| Ok(())).await
    }

    /// An add has found a shard missing, and by its own bits has made a new one that looks empty. If the generation is no longer used
    /// that is rubbish; else it is a lie, which is marked.
    pub(crate) async fn bury(&self, generation: &Generation, shards: &[u64], used: bool) {
        let burial = |shard: &u64| {
            let key = generation.key(&self.name, *shard);
            let cmd = match used {
                true => cmd("EVAL").arg(TOMBSTONE).arg(1).arg(key).arg("lost").arg(0).take(),
                false => cmd("UNLINK").arg(key).take(),
            };
            Request { slot: generation.slot(*shard), cmd }
        };
        // What fails here is done by the next one who comes.
        self.servers.run(&shards.iter().map(burial).collect::<Vec<_>>(), How::default()).await;
    }
}
