//! Bits in bulk: out to a filter in memory or to a file, in from one, from one filter to another.
//!
//! A shard holds bytes as a `.gowk` file does, so they go as they are. They are or-ed in by the server (`BITOP OR` with a key beside the
//! shard), so that nothing is lost that others add meanwhile, and doing it twice changes nothing.

use crate::{
    core::Core,
    error::Error,
    generation::{Generation, Shape},
    meta::is_wrong_type,
    net::{How, Request},
};
use futures_util::{StreamExt, TryStreamExt, stream};
use gowk::{format::FileWriter, store::Line};
use redis::{Value, cmd};
use std::{io, path::Path, sync::Arc};

/// Shards on their way at once: some MB.
const SHARDS_IN_FLIGHT: usize = 8;
/// What a key beside a shard lives for, should its maker die: in seconds.
const BESIDE_SECONDS: u64 = 300;

/// Where the bytes of shards come from.
pub(crate) enum Source<'a> {
    /// A filter in memory or in a file.
    Lines { lines: &'a [Line], shard_lines: u64 },
    /// Another filter on servers.
    Servers { core: &'a Core, generation: &'a Generation },
}

impl<'a> Source<'a> {
    /// The lines of a filter, cut as this generation is.
    pub(crate) fn of_lines(lines: &'a [Line], generation: &Generation) -> Self {
        Self::Lines { lines, shard_lines: generation.shard_blocks * generation.shape.span().lines() }
    }

    async fn shard(&self, shard: u64) -> Result<Vec<u8>, Error> {
        match self {
            Self::Lines { lines, shard_lines } => {
                let first = (shard * shard_lines) as usize;
                let last = lines.len().min(first + *shard_lines as usize);
                Ok(lines[first..last].iter().flat_map(|line| line.to_le_bytes()).collect())
            }
            Self::Servers { core, generation } => core.read_shard(generation, shard).await,
        }
    }
}

impl Core {
    /// Reads all shards in their order; `each` sees the number of a shard and its bytes.
    pub(crate) async fn read_shards(
        &self,
        generation: &Generation,
        mut each: impl FnMut(u64, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let shards = stream::iter(0..generation.shards()).map(|shard| self.read_shard(generation, shard));
        let mut shards = shards.buffered(SHARDS_IN_FLIGHT).enumerate();
        while let Some((shard, bytes)) = shards.next().await {
            each(shard as u64, &bytes?)?;
        }
        Ok(())
    }

    /// Writes all shards to a file, one after the other; gives back its bytes.
    pub(crate) async fn export_to(&self, path: &Path) -> Result<u64, Error> {
        let live = self.reload().await?.live.clone();
        let broken = |source: io::Error| Error::File { path: path.to_owned(), source: Arc::new(source) };
        let file = match &live.shape {
            Shape::Bloom(params) => FileWriter::blocked(path, params, live.hasher),
            Shape::Counting(params) => FileWriter::counting(path, params, live.hasher),
        };
        let (mut file, mut set, mut len) = (file.map_err(broken)?, 0, 0);
        let each = |_, bytes: &[u8]| {
            set += live.shape.used(bytes);
            len += bytes.len() as u64;
            file.write(bytes).map_err(broken)
        };
        self.read_shards(&live, each).await?;
        file.finish(live.shape.items_for(set).round() as u64).map_err(broken)?;
        Ok(len)
    }

    pub(crate) async fn read_shard(&self, generation: &Generation, shard: u64) -> Result<Vec<u8>, Error> {
        let len = generation.shard_len(shard);
        let getrange = cmd("GETRANGE").arg(generation.key(&self.name, shard)).arg(0).arg(len - 1).take();
        match self.servers.one(generation.slot(shard), getrange).await {
            Ok(Value::BulkString(bytes)) if bytes.len() as u64 == len => Ok(bytes),
            Ok(_) => Err(self.lost(shard)),
            Err(error) if is_wrong_type(&error) => Err(self.lost(shard)),
            Err(error) => Err(error),
        }
    }

    /// Ors the bytes of a source into all shards.
    pub(crate) async fn or_shards(
        &self,
        generation: &Generation,
        expires: Option<u64>,
        source: &Source<'_>,
    ) -> Result<(), Error> {
        let or = |shard| async move {
            let bytes = source.shard(shard).await?;
            match bytes.iter().all(|byte| *byte == 0) {
                true => Ok(()),
                false => self.or_shard(generation, shard, &bytes, expires).await,
            }
        };
        stream::iter(0..generation.shards())
            .map(or)
            .buffer_unordered(SHARDS_IN_FLIGHT)
            .try_collect::<Vec<()>>()
            .await?;
        Ok(())
    }

    async fn or_shard(
        &self,
        generation: &Generation,
        shard: u64,
        bytes: &[u8],
        expires: Option<u64>,
    ) -> Result<(), Error> {
        let (slot, key) = (generation.slot(shard), generation.key(&self.name, shard));
        let beside = format!("{key}:in:{:x}", noise());
        let set = cmd("SET").arg(&beside).arg(bytes).arg("EX").arg(BESIDE_SECONDS).take();
        self.servers.one(slot, set).await?;
        let or = cmd("BITOP").arg("OR").arg(&key).arg(&key).arg(&beside).take();
        let or = self.servers.one(slot, or).await;
        // A new value has no time to live; the old one may have had.
        let mut after = vec![Request { slot, cmd: cmd("UNLINK").arg(&beside).take() }];
        after.extend(expires.map(|at| Request { slot, cmd: cmd("PEXPIREAT").arg(&key).arg(at).take() }));
        self.servers
            .run(&after, How::default())
            .await
            .into_iter()
            .try_for_each(|answer| answer.map(|_| ()))?;
        match or {
            // The bits and the guard.
            Ok(Value::Int(len)) if len as u64 == generation.shard_len(shard) + 1 => Ok(()),
            Ok(_) => {
                self.bury(generation, &[shard], true).await;
                Err(self.lost(shard))
            }
            Err(error) if is_wrong_type(&error) => Err(self.lost(shard)),
            Err(error) => Err(error),
        }
    }

    /// An error if the filter is not what it was when a transfer began: what was brought may then be in a generation that is gone.
    pub(crate) async fn unchanged(&self, generation: &Generation) -> Result<(), Error> {
        let meta = self.reload().await?;
        match meta.live.id == generation.id && meta.beside().is_none() {
            true => Ok(()),
            false => Err(Error::Changed { name: self.name.clone() }),
        }
    }
}

/// A number that nobody else has drawn.
fn noise() -> u64 {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    u64::from_le_bytes(bytes)
}
