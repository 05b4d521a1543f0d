//! Filters come, are found, expire and go.
//!
//! The first field that is set (`HSETNX live`) decides: whoever comes second takes what the first one wrote, and both make the shards,
//! which changes nothing the second time. So two clients who create at once agree, and whoever creates a filter that was left half made
//! finishes it.

use crate::{
    core::Core,
    error::Error,
    generation::{Generation, Shape},
    meta::{Meta, call, checked, id_text, key},
    net::Servers,
    spec::Spec,
};
use redis::{Value, cmd};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What kind of filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bloom,
    Counting,
}

impl Kind {
    /// A generation as asked for.
    pub(crate) fn generation(self, spec: &Spec) -> Result<Generation, Error> {
        let shape = match self {
            Self::Bloom => Shape::Bloom(spec.bloom()?),
            Self::Counting => Shape::Counting(spec.counting()?),
        };
        of_shape(shape, spec)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Bloom => "bloom",
            Self::Counting => "counting",
        }
    }
}

/// A generation of a given shape, cut and hashed as asked for.
pub(crate) fn of_shape(shape: Shape, spec: &Spec) -> Result<Generation, Error> {
    let lines = shape.blocks() * shape.span().lines();
    Ok(Generation::new(shape, spec.shard_blocks(lines, shape.span())?, spec.make_hasher()))
}

impl Core {
    /// Creates the filter, or opens it if it is there and is what was asked for. True if it is new.
    pub(crate) async fn create(
        servers: &Servers,
        name: &str,
        kind: Kind,
        spec: &Spec,
    ) -> Result<(Self, bool), Error> {
        checked(name)?;
        Self::create_as(servers, name, &kind.generation(spec)?, spec).await
    }

    /// As [`create`](Self::create), with a generation that the caller has made.
    pub(crate) async fn create_as(
        servers: &Servers,
        name: &str,
        wanted: &Generation,
        spec: &Spec,
    ) -> Result<(Self, bool), Error> {
        checked(name)?;
        if !spec.allow_eviction {
            refuse_eviction(servers).await?;
        }
        loop {
            let claimed =
                call(servers, name, cmd("HSETNX").arg(key(name)).arg("live").arg(wanted.encode())).await?;
            let Some(meta) = Meta::load(servers, name).await? else {
                // Dropped or expired in this very moment.
                continue;
            };
            if meta.dropping {
                Core::new(servers.clone(), name, meta).finish_drop().await?;
                continue;
            }
            compare(name, wanted, spec, &meta.live)?;
            let core = Core::new(servers.clone(), name, meta);
            let new = claimed == Value::Int(1);
            match core.finish_create().await {
                // What does not fit is not left half made.
                Err(error @ Error::Full { .. }) if new => {
                    core.finish_drop().await.ok();
                    return Err(error);
                }
                made => made?,
            }
            return Ok((core, new));
        }
    }

    /// Makes the shards of the live generation, if that is still to be done.
    async fn finish_create(&self) -> Result<(), Error> {
        let meta = self.meta();
        if !meta.ready {
            self.make_shards(&meta.live, meta.expires).await?;
            let mut ready = cmd("HSET");
            ready.arg(key(&self.name)).arg("ready").arg(id_text(&meta.live));
            call(&self.servers, &self.name, &mut ready).await?;
            self.reload().await?;
        }
        Ok(())
    }

    /// The filter that is there.
    pub(crate) async fn open(servers: &Servers, name: &str, kind: Kind) -> Result<Self, Error> {
        checked(name)?;
        let meta = Meta::load(servers, name).await?;
        let meta =
            meta.filter(|meta| !meta.dropping).ok_or_else(|| Error::NotFound { name: name.to_owned() })?;
        if !meta.ready {
            return Err(Error::Unfinished { name: name.to_owned() });
        }
        differs(name, "kind", kind.name(), meta.live.shape.kind())?;
        Ok(Self::new(servers.clone(), name, meta))
    }

    /// Whether the filter is what the caller expects.
    pub(crate) fn expect(&self, kind: Kind, spec: &Spec) -> Result<(), Error> {
        compare(&self.name, &kind.generation(spec)?, spec, &self.meta().live)
    }

    /// Removes the filter of this name, whatever state it is in.
    pub(crate) async fn drop_named(servers: &Servers, name: &str) -> Result<(), Error> {
        checked(name)?;
        let meta =
            Meta::load(servers, name).await?.ok_or_else(|| Error::NotFound { name: name.to_owned() })?;
        Self::new(servers.clone(), name, meta).finish_drop().await
    }

    /// First the word that it goes, then the shards, then the metadata: whoever is stopped in between has left enough to go on.
    async fn finish_drop(&self) -> Result<(), Error> {
        let word =
            call(&self.servers, &self.name, cmd("HSET").arg(key(&self.name)).arg("dropping").arg(1)).await;
        match word {
            // A full server takes no word, but gives one up: without it the filter counts as half made.
            Err(Error::Full { .. }) => {
                call(&self.servers, &self.name, cmd("HDEL").arg(key(&self.name)).arg("ready")).await?
            }
            word => word?,
        };
        for generation in self.meta().generations() {
            self.unlink(generation).await?;
        }
        call(&self.servers, &self.name, cmd("UNLINK").arg(key(&self.name))).await?;
        Ok(())
    }

    /// Lets all of it expire after a while, or never.
    pub(crate) async fn expire(&self, after: Option<Duration>) -> Result<(), Error> {
        let meta = self.reload().await?;
        let key = key(&self.name);
        match after {
            Some(after) => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                let at = (now + after).as_millis() as u64;
                // The word first: who builds a generation meanwhile reads it.
                call(&self.servers, &self.name, cmd("HSET").arg(&key).arg("expires").arg(at)).await?;
                for generation in meta.generations() {
                    self.expire_shards(generation, Some(at)).await?;
                }
                call(&self.servers, &self.name, cmd("PEXPIREAT").arg(&key).arg(at)).await?;
            }
            None => {
                call(&self.servers, &self.name, cmd("HDEL").arg(&key).arg("expires")).await?;
                call(&self.servers, &self.name, cmd("PERSIST").arg(&key)).await?;
                for generation in meta.generations() {
                    self.each_shard(generation, |_, key| cmd("PERSIST").arg(key).take(), |_, _| Ok(()))
                        .await?;
                }
            }
        }
        self.reload().await.map(|_| ())
    }
}

/// Whether what is there is what was asked for.
fn compare(name: &str, wanted: &Generation, spec: &Spec, found: &Generation) -> Result<(), Error> {
    differs(name, "kind", wanted.shape.kind(), found.shape.kind())?;
    let (asked, there) = (wanted.shape.promise(), found.shape.promise());
    differs(name, "number of items", asked.items, there.items)?;
    differs(name, "false-positive rate", asked.fpp, there.fpp)?;
    differs(name, "hash", wanted.hasher.id().name(), found.hasher.id().name())?;
    if spec.seed.is_some_and(|seed| seed != found.hasher.seed()) {
        // Seeds are secrets.
        return differs(name, "seed", "the one given", "another one");
    }
    if spec.shard_bytes.is_some() {
        differs(name, "size of shards, in blocks,", wanted.shard_blocks, found.shard_blocks)?;
    }
    Ok(())
}

fn differs<T: PartialEq + ToString + Copy>(
    name: &str,
    what: &'static str,
    asked: T,
    found: T,
) -> Result<(), Error> {
    match asked == found {
        true => Ok(()),
        false => Err(Error::Differs {
            name: name.to_owned(),
            what,
            asked: asked.to_string(),
            found: found.to_string(),
        }),
    }
}

/// An error if a server throws keys away when memory is short. One that does not say is believed to be well set up.
async fn refuse_eviction(servers: &Servers) -> Result<(), Error> {
    for info in servers.each_master(cmd("INFO").arg("memory")).await.into_iter().flatten() {
        let text = match info {
            Value::BulkString(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Value::VerbatimString { text, .. } => text,
            _ => continue,
        };
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let policy = field("maxmemory_policy:").unwrap_or("noeviction");
        let limited = field("maxmemory:").is_some_and(|bytes| bytes != "0");
        // Volatile policies only take keys that expire, as ours may.
        if limited && policy != "noeviction" {
            return Err(Error::Evicting { policy: policy.to_owned() });
        }
    }
    Ok(())
}
