//! The metadata of a filter: which generations it has. One hash, changed by single commands, each of them atomic.
//!
//! | field | says |
//! |---|---|
//! | `live` | the generation that is asked |
//! | `ready` | the id of the live generation, once all its shards are there |
//! | `building` | a generation that somebody has begun |
//! | `next` | the same, once all its shards are there: adds go to it as well |
//! | `prev` | the generation before, while its last users leave it; adds go to it as well |
//! | `expires` | when all of it expires, in milliseconds since 1970 |
//! | `dropping` | the filter is being dropped |

use crate::{error::Error, generation::Generation, net::Servers, slots::slot_of};
use redis::{Cmd, Value, cmd};
use std::collections::HashMap;

/// What the metadata says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Meta {
    pub(crate) live: Generation,
    pub(crate) ready: bool,
    pub(crate) building: Option<Generation>,
    pub(crate) next: Option<Generation>,
    pub(crate) prev: Option<Generation>,
    pub(crate) expires: Option<u64>,
    pub(crate) dropping: bool,
}

impl Meta {
    /// The generation beside the live one, which adds go to as well.
    pub(crate) fn beside(&self) -> Option<&Generation> {
        self.next.as_ref().or(self.prev.as_ref())
    }

    pub(crate) fn generations(&self) -> impl Iterator<Item = &Generation> {
        // The next one is the one that is being built.
        std::iter::once(&self.live).chain(&self.building).chain(&self.prev)
    }

    /// What is written on the servers; none if there is nothing.
    pub(crate) async fn load(servers: &Servers, name: &str) -> Result<Option<Self>, Error> {
        let fields = match call(servers, name, cmd("HGETALL").arg(key(name))).await? {
            Value::Map(pairs) => {
                pairs.into_iter().map(|(field, value)| (bytes(field), bytes(value))).collect()
            }
            Value::Array(flat) => {
                let mut flat = flat.into_iter().map(bytes);
                let mut fields = HashMap::new();
                while let (Some(field), Some(value)) = (flat.next(), flat.next()) {
                    fields.insert(field, value);
                }
                fields
            }
            _ => return Err(Error::Reply { command: "HGETALL" }),
        };
        Self::parse(name, &fields)
    }

    fn parse(name: &str, fields: &HashMap<Vec<u8>, Vec<u8>>) -> Result<Option<Self>, Error> {
        if fields.is_empty() {
            return Ok(None);
        }
        let field = |key: &str| {
            let value = fields.get(key.as_bytes()).filter(|value| !value.is_empty())?;
            Some(String::from_utf8_lossy(value).into_owned())
        };
        let generation = |key| field(key).map(|text| Generation::decode(name, &text)).transpose();
        let live = generation("live")?
            .ok_or_else(|| Error::Meta { name: name.to_owned(), why: "no generation is live" })?;
        let meta = Self {
            ready: field("ready").is_some_and(|id| id == id_text(&live)),
            live,
            building: generation("building")?,
            next: generation("next")?,
            prev: generation("prev")?,
            expires: field("expires").and_then(|ms| ms.parse().ok()),
            dropping: field("dropping").is_some(),
        };
        Ok(Some(meta))
    }
}

/// The key of the metadata.
pub(crate) fn key(name: &str) -> String {
    format!("gowk:{name}")
}

pub(crate) fn id_text(generation: &Generation) -> String {
    format!("{:016x}", generation.id)
}

/// A command on the metadata of a filter.
pub(crate) async fn call(servers: &Servers, name: &str, cmd: &mut Cmd) -> Result<Value, Error> {
    let key = key(name);
    let answer = servers.one(slot_of(key.as_bytes()), cmd.take()).await;
    answer.map_err(|error| if is_wrong_type(&error) { Error::WrongType { key } } else { error })
}

/// Makes `next` live, if it still is the next and `live` still is live; 1 if so.
const SWITCH: &str = "if redis.call('HGET',KEYS[1],'live')~=ARGV[1] or redis.call('HGET',KEYS[1],'next')~=ARGV[2] then return 0 end \
    redis.call('HSET',KEYS[1],'live',ARGV[2],'ready',ARGV[3],'prev',ARGV[1]) redis.call('HDEL',KEYS[1],'next','building') return 1";

/// Makes the next generation live; false if somebody else has changed either meanwhile.
pub(crate) async fn switch(
    servers: &Servers,
    name: &str,
    live: &Generation,
    next: &Generation,
) -> Result<bool, Error> {
    let mut eval = cmd("EVAL");
    eval.arg(SWITCH).arg(1).arg(key(name)).arg(live.encode()).arg(next.encode()).arg(id_text(next));
    Ok(call(servers, name, &mut eval).await? == Value::Int(1))
}

/// Removes a field if it is still this one.
const FORGET: &str = "if redis.call('HGET',KEYS[1],ARGV[1])==ARGV[2] then return redis.call('HDEL',KEYS[1],ARGV[1]) end return 0";

/// Takes a generation out of the metadata, if it is still there.
pub(crate) async fn forget(
    servers: &Servers,
    name: &str,
    field: &str,
    generation: &Generation,
) -> Result<bool, Error> {
    let mut eval = cmd("EVAL");
    eval.arg(FORGET).arg(1).arg(key(name)).arg(field).arg(generation.encode());
    Ok(call(servers, name, &mut eval).await? == Value::Int(1))
}

pub(crate) fn is_wrong_type(error: &Error) -> bool {
    matches!(error, Error::Server(error) if error.code() == Some("WRONGTYPE"))
}

fn bytes(value: Value) -> Vec<u8> {
    match value {
        Value::BulkString(bytes) => bytes,
        Value::SimpleString(text) => text.into_bytes(),
        _ => Vec::new(),
    }
}

/// Names go into keys, whose braces are ours.
pub(crate) fn checked(name: &str) -> Result<(), Error> {
    let why = match name {
        "" => "it is empty",
        _ if name.len() > 200 => "it is longer than 200 bytes",
        _ if name.contains(['{', '}']) => "braces decide where a cluster puts a key, and are used for that",
        _ if name.chars().any(char::is_control) => "it holds control characters",
        _ => return Ok(()),
    };
    Err(Error::Name { name: name.chars().take(200).collect(), why })
}
