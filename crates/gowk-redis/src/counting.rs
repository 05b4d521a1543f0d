//! Keys that can be taken out again, and counted.
//!
//! Counting is not idempotent. An add whose answer is lost is sent again, so a key may be counted once too often: it errs towards
//! "there", as a filter may. A removal is never sent again once it may have been carried out ([`Error::Unclear`]): doing it twice would take
//! the trace of another key away. So after a lost answer a key may stay in, and is never denied wrongly.
//!
//! Adds are `BITFIELD ... OVERFLOW SAT INCRBY u4`; a counter that has reached 15 stays there. A removal looks before it takes, which is a
//! script of a few lines, run by the server in one go.

use crate::{
    core::Core,
    create::{Kind, of_shape},
    error::{BatchError, Error},
    generation::{Generation, Shape},
    info::Info,
    net::Servers,
    spec::Spec,
    transfer::Source,
    write::Write,
};
use gowk::{
    Build, CountingBloom, CountingParams, Filter, Hasher, Inserted, Key, Removed,
    store::{Line, Store},
};
use std::{path::Path, sync::Arc, time::Duration};

/// A counting Bloom filter spread over the servers: four bits a counter, so four times the memory of a [`Bloom`](crate::Bloom).
///
/// Only remove what was added: the filter keeps traces of keys, and takes a stranger's trace for the key's own.
#[derive(Clone)]
pub struct Counting {
    core: Arc<Core>,
}

impl Counting {
    /// Creates the filter, or opens it if it is there with the same parameters.
    pub async fn create(servers: &Servers, name: &str, spec: &Spec) -> Result<Self, Error> {
        let (core, _) = Core::create(servers, name, Kind::Counting, spec).await?;
        Ok(Self { core: Arc::new(core) })
    }

    /// Opens a filter; its parameters come from the servers.
    pub async fn open(servers: &Servers, name: &str) -> Result<Self, Error> {
        Ok(Self { core: Arc::new(Core::open(servers, name, Kind::Counting).await?) })
    }

    /// Opens a filter and holds it against what the caller expects.
    pub async fn open_expecting(servers: &Servers, name: &str, spec: &Spec) -> Result<Self, Error> {
        let filter = Self::open(servers, name).await?;
        filter.core.expect(Kind::Counting, spec)?;
        Ok(filter)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.core.name
    }

    /// Size, shape and promise.
    pub fn params(&self) -> CountingParams {
        params(&self.core.meta().live)
    }

    /// How it hashes keys.
    pub fn hasher(&self) -> Hasher {
        self.core.hasher
    }

    /// Counts a key once more.
    pub async fn add<K: Key + ?Sized>(&self, key: &K) -> Result<Inserted, Error> {
        Ok(self.add_many(&[key]).await?[0])
    }

    /// Counts many keys, each once more for each time it is among them. See [the page](crate::counting) for what a lost answer does.
    pub async fn add_many<K: Key>(&self, keys: &[K]) -> Result<Vec<Inserted>, BatchError> {
        let new = self.core.write(&self.core.digests(keys), Write::Count).await?;
        Ok(new.into_iter().map(|new| if new { Inserted::New } else { Inserted::MaybeSeen }).collect())
    }

    /// Counts a key once less.
    pub async fn remove<K: Key + ?Sized>(&self, key: &K) -> Result<Removed, Error> {
        Ok(self.remove_many(&[key]).await?[0])
    }

    /// Counts many keys once less. A key that was surely not there changes nothing.
    pub async fn remove_many<K: Key>(&self, keys: &[K]) -> Result<Vec<Removed>, BatchError> {
        let gone = self.core.write(&self.core.digests(keys), Write::Uncount).await?;
        Ok(gone.into_iter().map(|gone| if gone { Removed::Gone } else { Removed::Absent }).collect())
    }

    /// How often the key has come, or more; 15 stands for 15 or more.
    pub async fn count<K: Key + ?Sized>(&self, key: &K) -> Result<u32, Error> {
        Ok(self.count_many(&[key]).await?[0])
    }

    /// How often each key has come, or more.
    pub async fn count_many<K: Key>(&self, keys: &[K]) -> Result<Vec<u32>, BatchError> {
        let count = |generation: &Generation, block: &[u8], digest| params(generation).count(block, digest);
        self.core.read(&self.core.digests(keys), count, None).await
    }

    /// Whether the key may have come `times` times. `false` is certain. Above 15 the answer is that for 15.
    pub async fn seen_at_least<K: Key + ?Sized>(&self, key: &K, times: u32) -> Result<bool, Error> {
        Ok(self.count(key).await? >= times.min(gowk::bloom::counting::TOP))
    }

    /// Whether the key may be in the set. `false` is certain.
    pub async fn may_contain<K: Key + ?Sized>(&self, key: &K) -> Result<bool, Error> {
        Ok(self.count(key).await? > 0)
    }

    /// What the filter holds: exactly, or from some of the shards.
    pub async fn info(&self, exact: bool) -> Result<Info, Error> {
        self.core.info(exact).await
    }

    /// Forgets all keys, for all clients at once.
    pub async fn clear(&self) -> Result<(), Error> {
        let live = self.core.reload().await?.live.clone();
        let empty = Generation::new(live.shape, live.shard_blocks, live.hasher);
        self.core.begin_rebuild(&empty).await?;
        self.core.switch(&empty).await
    }

    /// Lets the filter expire as a whole, or (`None`) never.
    pub async fn expire(&self, after: Option<Duration>) -> Result<(), Error> {
        self.core.expire(after).await
    }

    /// The filter in memory. A key that is counted meanwhile may be counted in it or not.
    pub async fn export(&self) -> Result<CountingBloom, Error> {
        let live = self.core.reload().await?.live.clone();
        let mut filter = CountingBloom::with_params(params(&live), live.hasher)?;
        self.core
            .read_shards(&live, |shard, bytes| {
                let first = (shard * live.shard_blocks * live.shape.span().lines()) as usize;
                let (lines, _) = bytes.as_chunks::<{ Line::BYTES }>();
                for (to, from) in filter.lines_mut()[first..].iter_mut().zip(lines) {
                    *to = Line::from_le_bytes(from);
                }
                Ok(())
            })
            .await?;
        Ok(filter)
    }

    /// Writes the filter to a `.gowk` file, shard after shard, so that it need not fit into memory here; gives back how many bytes it has.
    /// The file is whole or not there. As [`export`](Self::export), of keys that are added meanwhile.
    pub async fn export_to(&self, path: impl AsRef<Path>) -> Result<u64, Error> {
        self.core.export_to(path.as_ref()).await
    }

    /// Brings a filter from memory or a file onto the servers, under a name that is free.
    pub async fn import<S: Store>(
        servers: &Servers,
        name: &str,
        filter: &CountingBloom<S>,
        spec: &Spec,
    ) -> Result<Self, Error> {
        let spec = spec.clone().hasher(filter.hasher());
        let wanted = of_shape(Shape::Counting(*filter.params()), &spec)?;
        let (core, new) = Core::create_as(servers, name, &wanted, &spec).await?;
        if !new {
            return Err(Error::Exists { name: name.to_owned() });
        }
        let meta = core.meta();
        // The counters are all 0, so that to or is to set.
        core.or_shards(&meta.live, meta.expires, &Source::of_lines(filter.lines(), &meta.live)).await?;
        Ok(Self { core: Arc::new(core) })
    }
}

impl std::fmt::Debug for Counting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Counting")
            .field("name", &self.core.name)
            .field("params", &self.params())
            .finish_non_exhaustive()
    }
}

fn params(generation: &Generation) -> CountingParams {
    match &generation.shape {
        Shape::Counting(params) => *params,
        Shape::Bloom(_) => {
            unreachable!("the kind is compared when a filter is opened, and a rebuild keeps it")
        }
    }
}
