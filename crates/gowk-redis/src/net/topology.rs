//! Who has which slots: as a node said last, corrected by every redirection.

use super::{Address, links::Links};
use crate::{error::Error, options::Options, slots::SLOTS};
use redis::{ConnectionInfo, Pipeline, RedisError, Value};
use std::{
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

pub(super) struct Topology {
    cluster: bool,
    seeds: Vec<Address>,
    map: RwLock<Arc<Map>>,
    turn: AtomicUsize,
}

/// For each slot its nodes: an index into the groups.
struct Map {
    groups: Vec<Group>,
    slots: Vec<u16>,
}

#[derive(Clone, PartialEq)]
struct Group {
    master: Address,
    replicas: Vec<Address>,
}

impl Topology {
    /// Asks the seeds, one after another, until one answers.
    pub(super) async fn discover(
        links: &Links,
        seeds: &[ConnectionInfo],
        options: &Options,
    ) -> Result<Self, Error> {
        let start = Instant::now();
        let seeds: Vec<Address> = seeds.iter().map(Links::address).collect();
        let mut last = None;
        for seed in &seeds {
            match Self::ask(links, seed, &seeds, options.cluster).await {
                Ok(topology) => return Ok(topology),
                Err(source) => last = Some((seed, source)),
            }
        }
        let (node, source) = last.expect("there is a seed");
        match source.is_io_error() || source.is_timeout() {
            true => Err(Error::NoServer { node: node.to_string(), tried: start.elapsed(), source }),
            false => Err(Error::Server(source)),
        }
    }

    async fn ask(
        links: &Links,
        seed: &Address,
        seeds: &[Address],
        cluster: Option<bool>,
    ) -> Result<Self, RedisError> {
        let cluster = match cluster {
            Some(cluster) => {
                command(links, seed, &["PING"]).await?;
                cluster
            }
            None => match command(links, seed, &["INFO", "cluster"]).await {
                Ok(info) => text(&info).contains("cluster_enabled:1"),
                Err(error) if error.is_io_error() || error.is_timeout() => return Err(error),
                // Whoever may not ask is not told; a MOVED would tell.
                Err(_) => command(links, seed, &["PING"]).await.map(|_| false)?,
            },
        };
        let map = if cluster {
            Map::parse(&command(links, seed, &["CLUSTER", "SLOTS"]).await?, seed)
        } else {
            None
        };
        let map = map.unwrap_or_else(|| Map::single(seed));
        Ok(Self {
            cluster,
            seeds: seeds.to_vec(),
            map: RwLock::new(Arc::new(map)),
            turn: AtomicUsize::new(0),
        })
    }

    pub(super) fn is_cluster(&self) -> bool {
        self.cluster
    }

    fn map(&self) -> Arc<Map> {
        self.map.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn masters(&self) -> Vec<Address> {
        self.map().groups.iter().map(|group| group.master.clone()).collect()
    }

    /// All nodes, replicas as well.
    pub(super) fn nodes(&self) -> Vec<Address> {
        let map = self.map();
        let mut nodes: Vec<Address> = map
            .groups
            .iter()
            .flat_map(|group| std::iter::once(&group.master).chain(&group.replicas))
            .cloned()
            .collect();
        nodes.sort();
        nodes.dedup();
        nodes
    }

    /// Where to send what is in this slot, and whether that is a replica.
    pub(super) fn node(&self, slot: u16, replicas: bool) -> (Address, bool) {
        let map = self.map();
        let group = &map.groups[usize::from(map.slots[usize::from(slot)])];
        match group.replicas.len() {
            0 => (group.master.clone(), false),
            _ if !replicas => (group.master.clone(), false),
            count => {
                let turn = self.turn.fetch_add(1, Ordering::Relaxed);
                (group.replicas[turn % count].clone(), true)
            }
        }
    }

    /// A node has said who has the slot now. An answer without a host means the host that gave it.
    pub(super) fn moved(&self, slot: u16, from: &Address, to: &str) {
        let to: Address = match to.strip_prefix(':') {
            Some(port) => format!("{}:{port}", host(from)).into(),
            None => to.into(),
        };
        let mut map = self.map.write().unwrap_or_else(PoisonError::into_inner);
        if map.groups[usize::from(map.slots[usize::from(slot)])].master == to {
            return;
        }
        let mut changed = Map { groups: map.groups.clone(), slots: map.slots.clone() };
        let group = changed.groups.iter().position(|group| group.master == to).unwrap_or_else(|| {
            changed.groups.push(Group { master: to, replicas: Vec::new() });
            changed.groups.len() - 1
        });
        changed.slots[usize::from(slot)] = group as u16;
        *map = Arc::new(changed);
    }

    /// Asks all nodes again, until one answers, another one first each time.
    pub(super) async fn refresh(&self, links: &Links) {
        if !self.cluster {
            return;
        }
        let map = self.map();
        let replicas = map.groups.iter().flat_map(|group| &group.replicas);
        let mut nodes: Vec<&Address> =
            map.groups.iter().map(|group| &group.master).chain(replicas).chain(&self.seeds).collect();
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % nodes.len();
        nodes.rotate_left(turn);
        for node in nodes {
            if let Ok(slots) = command(links, node, &["CLUSTER", "SLOTS"]).await
                && let Some(map) = Map::parse(&slots, node)
            {
                *self.map.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(map);
                return;
            }
        }
    }
}

impl Map {
    fn single(node: &Address) -> Self {
        let group = Group { master: node.clone(), replicas: Vec::new() };
        Self { groups: vec![group], slots: vec![0; usize::from(SLOTS)] }
    }

    /// The answer to `CLUSTER SLOTS`, given by this node; none if it is none or leaves no slot to anyone.
    fn parse(slots: &Value, from: &Address) -> Option<Self> {
        let Value::Array(ranges) = slots else { return None };
        let mut map = Self { groups: Vec::new(), slots: vec![0; usize::from(SLOTS)] };
        for range in ranges {
            let Value::Array(range) = range else { return None };
            let [Value::Int(first), Value::Int(last), nodes @ ..] = &range[..] else { return None };
            let nodes: Vec<Address> = nodes.iter().filter_map(|node| address(node, from)).collect();
            let (master, replicas) = nodes.split_first()?;
            let group = Group { master: master.clone(), replicas: replicas.to_vec() };
            let index = map.groups.iter().position(|known| *known == group).unwrap_or_else(|| {
                map.groups.push(group);
                map.groups.len() - 1
            });
            let (first, last) = (usize::try_from(*first).ok()?, usize::try_from(*last).ok()?);
            map.slots.get_mut(first..=last)?.fill(index as u16);
        }
        (!map.groups.is_empty()).then_some(map)
    }
}

/// Host and port of a node in an answer. No host means that of the node that answered.
fn address(node: &Value, from: &Address) -> Option<Address> {
    let Value::Array(parts) = node else { return None };
    let Value::Int(port) = parts.get(1)? else { return None };
    let name = text(parts.first()?);
    let host = if name.is_empty() || name == "?" { host(from) } else { &name };
    Some(format!("{host}:{port}").into())
}

fn host(address: &str) -> &str {
    address.rsplit_once(':').map_or(address, |(host, _)| host)
}

fn text(value: &Value) -> String {
    match value {
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::SimpleString(text) | Value::VerbatimString { text, .. } => text.clone(),
        _ => String::new(),
    }
}

async fn command(links: &Links, node: &Address, words: &[&str]) -> Result<Value, RedisError> {
    let mut pipeline = Pipeline::new();
    pipeline.cmd(words[0]).arg(&words[1..]);
    let mut values = links.send(node, false, &pipeline, 1).await?;
    values.pop().unwrap_or(Value::Nil).extract_error()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(host: &str, port: i64) -> Value {
        let parts = [Value::BulkString(host.into()), Value::Int(port), Value::BulkString(b"id".to_vec())];
        Value::Array(parts.into())
    }

    #[test]
    fn slots_are_read_with_hosts_that_are_not_said() {
        let ranges = [
            Value::Array(vec![Value::Int(0), Value::Int(8191), node("10.0.0.1", 1), node("10.0.0.2", 2)]),
            Value::Array(vec![Value::Int(8192), Value::Int(16383), node("", 3)]),
        ];
        let map = Map::parse(&Value::Array(ranges.into()), &"seed:9".into()).unwrap();
        assert_eq!(&*map.groups[usize::from(map.slots[8191])].master, "10.0.0.1:1");
        assert_eq!(&*map.groups[usize::from(map.slots[8191])].replicas[0], "10.0.0.2:2");
        assert_eq!(&*map.groups[usize::from(map.slots[8192])].master, "seed:3");
    }

    #[test]
    fn answers_that_make_no_sense_are_none() {
        let from: Address = "seed:9".into();
        let range = |first, last| Value::Array(vec![Value::Int(first), Value::Int(last), node("h", 1)]);
        for slots in [
            Value::Nil,
            Value::Array(vec![]),
            Value::Array(vec![Value::Nil]),
            Value::Array(vec![range(0, 16_384)]),
            Value::Array(vec![range(-1, 5)]),
            Value::Array(vec![range(9, 5)]),
            Value::Array(vec![Value::Array(vec![Value::Int(0), Value::Int(5)])]),
        ] {
            assert!(Map::parse(&slots, &from).is_none(), "{slots:?}");
        }
    }
}
