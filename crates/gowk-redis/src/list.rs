//! Which filters live on the servers: ours by their metadata, those of a module by their type.
//!
//! A server is walked with `SCAN`, a thousand keys at a time, so that nobody waits for it; on a server with millions of other keys that takes
//! its time, and ends at a limit.

use crate::{
    error::Error,
    meta::Meta,
    net::{Address, Servers},
    slots::slot_of,
};
use redis::{Cmd, Value, cmd};
use std::time::{Duration, Instant};

/// A filter on the servers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// Its name; of a module's, the key.
    pub name: String,
    /// What keeps it.
    pub keeper: Keeper,
}

/// What a filter is kept by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Keeper {
    /// This crate, bits: [`Bloom`](crate::Bloom).
    Bloom,
    /// This crate, counters: [`Counting`](crate::Counting).
    Counting,
    /// A module, ours or RedisBloom: `BF.*`, on one node.
    ModuleBloom,
    /// A module: `CF.*`, on one node.
    ModuleCuckoo,
}

impl Keeper {
    /// The type that `SCAN` knows keys of a module by, and the words that its commands begin with.
    const MODULES: [(Self, &'static str, &'static str); 2] =
        [(Self::ModuleBloom, "MBbloom--", "BF"), (Self::ModuleCuckoo, "MBbloomCF", "CF")];

    fn prefix(self) -> Option<&'static str> {
        Self::MODULES.into_iter().find(|(keeper, ..)| *keeper == self).map(|(.., prefix)| prefix)
    }
}

/// Filters by name, and whether there may be more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listing {
    /// The filters.
    pub filters: Vec<Listed>,
    /// Not all were looked for: there were too many, or it took too long.
    pub cut: bool,
}

/// How long the walk over all nodes may take.
const PATIENCE: Duration = Duration::from_secs(10);

impl Servers {
    /// The filters that live on the servers, at most so many.
    pub async fn list(&self, most: usize) -> Result<Listing, Error> {
        let end = Instant::now() + PATIENCE;
        let mut listing = Listing::default();
        for node in self.master_nodes() {
            let is_name = |key: &str| key.starts_with("gowk:") && !key.contains('{');
            let fit = ["MATCH", "gowk:*", "TYPE", "hash"];
            // Shards, and what is left of them, have braces; names have none.
            for key in self.walk(&node, &fit, is_name, most, end, &mut listing.cut).await? {
                let name = &key["gowk:".len()..];
                // Whatever else somebody keeps under such a name is no filter.
                let Ok(Some(meta)) = Meta::load(self, name).await else { continue };
                if !meta.dropping {
                    let keeper = match meta.live.shape.kind() {
                        "counting" => Keeper::Counting,
                        _ => Keeper::Bloom,
                    };
                    listing.filters.push(Listed { name: name.to_owned(), keeper });
                }
            }
            for (keeper, kind, prefix) in Keeper::MODULES {
                let known = cmd("COMMAND").arg("INFO").arg(format!("{prefix}.INFO")).take();
                let known = self.on(&node, &known).await;
                if !matches!(known, Ok(Value::Array(commands)) if commands.iter().any(|one| *one != Value::Nil))
                {
                    continue;
                }
                let keys = self.walk(&node, &["TYPE", kind], |_| true, most, end, &mut listing.cut).await?;
                listing.filters.extend(keys.into_iter().map(|name| Listed { name, keeper }));
            }
        }
        listing.filters.sort();
        // A key that moves between nodes meanwhile is met on both.
        listing.filters.dedup();
        listing.cut |= listing.filters.len() > most;
        listing.filters.truncate(most);
        Ok(listing)
    }

    /// The keys of a node that fit, as far as they are text.
    async fn walk(
        &self,
        node: &Address,
        fit: &[&str],
        wanted: impl Fn(&str) -> bool,
        most: usize,
        end: Instant,
        cut: &mut bool,
    ) -> Result<Vec<String>, Error> {
        let (mut keys, mut cursor, start) = (Vec::new(), b"0".to_vec(), Instant::now());
        loop {
            let scan = cmd("SCAN").arg(&cursor).arg(fit).arg("COUNT").arg(1000).take();
            // A server that was started anew since has closed the connection that we have.
            let answer = match self.on(node, &scan).await {
                Err(error) if error.is_io_error() => self.on(node, &scan).await,
                answer => answer,
            };
            let answer = answer.map_err(|source| match source.is_io_error() || source.is_timeout() {
                true => Error::NoServer { node: node.to_string(), tried: start.elapsed(), source },
                false => Error::Server(source),
            })?;
            let Value::Array(parts) = answer else { return Err(Error::Reply { command: "SCAN" }) };
            let Ok([Value::BulkString(next), Value::Array(found)]) = <[Value; 2]>::try_from(parts) else {
                return Err(Error::Reply { command: "SCAN" });
            };
            keys.extend(found.into_iter().filter_map(|key| match key {
                Value::BulkString(key) => String::from_utf8(key).ok().filter(|key| wanted(key)),
                _ => None,
            }));
            cursor = next;
            if cursor == b"0" {
                return Ok(keys);
            }
            if keys.len() > most || Instant::now() > end {
                *cut = true;
                return Ok(keys);
            }
        }
    }

    /// What a module tells of its filter, by the names that it has for it.
    pub async fn module_info(&self, filter: &Listed) -> Result<Vec<(String, i64)>, Error> {
        let Some(prefix) = filter.keeper.prefix() else { return Ok(Vec::new()) };
        let info = cmd(&format!("{prefix}.INFO")).arg(&filter.name).take();
        let pairs: Vec<(Value, Value)> = match self.on_key(filter, info).await? {
            Value::Map(pairs) => pairs,
            Value::Array(flat) => {
                flat.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
            }
            _ => return Err(Error::Reply { command: "INFO" }),
        };
        let number = |(name, value)| {
            let name = match name {
                Value::BulkString(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                Value::SimpleString(text) => text,
                _ => return None,
            };
            match value {
                Value::Int(value) => Some((name, value)),
                _ => None,
            }
        };
        Ok(pairs.into_iter().filter_map(number).collect())
    }

    /// Whether each of these items may be in a filter of a module.
    pub async fn module_ask<T: AsRef<[u8]>>(&self, filter: &Listed, items: &[T]) -> Result<Vec<bool>, Error> {
        let Some(prefix) = filter.keeper.prefix() else { return Ok(vec![false; items.len()]) };
        let mut answers = Vec::with_capacity(items.len());
        for items in items.chunks(1000) {
            let mut ask = cmd(&format!("{prefix}.MEXISTS"));
            ask.arg(&filter.name);
            items.iter().for_each(|item| {
                ask.arg(item.as_ref());
            });
            let Value::Array(values) = self.on_key(filter, ask).await? else {
                return Err(Error::Reply { command: "MEXISTS" });
            };
            answers.extend(values.iter().map(|value| matches!(value, Value::Int(1) | Value::Boolean(true))));
        }
        Ok(answers)
    }

    async fn on_key(&self, filter: &Listed, cmd: Cmd) -> Result<Value, Error> {
        self.one(slot_of(filter.name.as_bytes()), cmd).await
    }
}
