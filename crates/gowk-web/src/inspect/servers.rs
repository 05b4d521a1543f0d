//! Filters that live on servers: `gowk web --redis URL`. The page names a filter; which servers, and by which password, is known here alone.

use super::ask::{self, Question};
use crate::error::ApiError;
use gowk::{Hasher, Key};
use gowk_jobs::input::{KeyType, Value as KeyValue};
use gowk_redis::{Bloom, Counting, Error, Info, Keeper, Listed, Servers};
use serde_json::{Value, json};

/// The most filters that are listed.
const MOST_LISTED: usize = 500;
/// The most shards whose fill is drawn, each of them asked of a server.
const MOST_DRAWN: u64 = 2048;

/// A filter on servers that the page has open.
pub(super) enum Remote {
    Bloom(Bloom),
    Counting(Counting),
    Module { servers: Servers, filter: Listed },
}

/// Which servers there are, and what lives on them.
pub(super) async fn list(servers: Option<&Servers>) -> Result<Value, ApiError> {
    let Some(servers) = servers else { return Ok(json!({ "servers": null, "filters": [] })) };
    let listing = servers.list(MOST_LISTED).await.map_err(failed)?;
    let filters: Vec<Value> = listing
        .filters
        .iter()
        .map(|filter| json!({ "name": filter.name, "keeper": keeper(filter.keeper), "kind": kind(filter.keeper) }))
        .collect();
    Ok(json!({
        "servers": servers.addresses(),
        "cluster": servers.is_cluster(),
        "filters": filters,
        "cut": listing.cut,
    }))
}

/// The filter of this name, and what there is to tell of it.
pub(super) async fn open(servers: &Servers, name: &str, kept_by: &str) -> Result<(Remote, Value), ApiError> {
    let keepers = [Keeper::Bloom, Keeper::Counting, Keeper::ModuleBloom, Keeper::ModuleCuckoo];
    let Some(of) = keepers.into_iter().find(|of| keeper(*of) == kept_by) else {
        return Err(ApiError::bad(format!("nothing keeps filters under the word {kept_by}")));
    };
    let (remote, mut report) = match of {
        Keeper::Bloom => {
            let filter = Bloom::open(servers, name).await.map_err(failed)?;
            let exact = is_small(&filter.info(false).await.map_err(failed)?);
            let report = report(&filter.info(exact).await.map_err(failed)?, "bits", servers);
            (Remote::Bloom(filter), report)
        }
        Keeper::Counting => {
            let filter = Counting::open(servers, name).await.map_err(failed)?;
            let report = report(&filter.info(false).await.map_err(failed)?, "counters", servers);
            (Remote::Counting(filter), report)
        }
        _ => {
            let filter = Listed { name: name.to_owned(), keeper: of };
            let info = servers.module_info(&filter).await.map_err(failed)?;
            let report = module_report(&filter, &info);
            (Remote::Module { servers: servers.clone(), filter }, report)
        }
    };
    report["key_types"] = remote.key_types().into();
    report["keeper"] = kept_by.into();
    Ok((remote, report))
}

fn is_small(info: &Info) -> bool {
    info.shards <= MOST_DRAWN
}

impl Remote {
    fn key_types(&self) -> Vec<&'static str> {
        let types: &[KeyType] = match self {
            Self::Bloom(_) | Self::Counting(_) => &KeyType::ALL,
            // A module takes bytes, whatever they mean.
            Self::Module { .. } => &[KeyType::Text, KeyType::Hex],
        };
        types.iter().map(|key_type| key_type.name()).collect()
    }

    pub(super) async fn ask(&self, question: &Question) -> Result<Value, ApiError> {
        let key_type = ask::check(question, &self.key_types())?;
        let found = match self {
            Self::Bloom(filter) => {
                let (keys, wrong) = question.parse(key_type, digest(filter.hasher()));
                let found = filter.may_contain_many(&keys).await.map_err(|error| failed(error.into()))?;
                question.answers(found, &wrong)
            }
            Self::Counting(filter) => {
                let (keys, wrong) = question.parse(key_type, digest(filter.hasher()));
                let counts = filter.count_many(&keys).await.map_err(|error| failed(error.into()))?;
                question.answers(counts.into_iter().map(|count| count > 0).collect(), &wrong)
            }
            Self::Module { servers, filter } => {
                let bytes = |value: KeyValue<'_>| match value {
                    KeyValue::Bytes(bytes) => bytes.to_vec(),
                    // Not among the types that can be chosen.
                    _ => Vec::new(),
                };
                let (keys, wrong) = question.parse(key_type, bytes);
                question.answers(servers.module_ask(filter, &keys).await.map_err(failed)?, &wrong)
            }
        };
        Ok(found)
    }
}

fn digest(hasher: Hasher) -> impl FnMut(KeyValue<'_>) -> gowk::Digest {
    move |value| value.digest(&hasher)
}

fn report(info: &Info, unit: &str, servers: &Servers) -> Value {
    let building = if info.rebuilding { ", and a new one is being built" } else { "" };
    let mut rows = vec![
        ("servers", servers.addresses().join(", ")),
        ("generation", format!("{:016x}{building}", info.generation)),
    ];
    rows.extend(info.expires_in.map(|left| ("expires in", format!("{} s", left.as_secs()))));
    let bits_of_one = if unit == "bits" { 8 } else { 2 };
    json!({
        "name": info.name,
        "format": "gowk on servers",
        "family": info.family.name(),
        "bytes": info.bits / 8,
        "bits": info.bits,
        "shape": format!("{} {unit} a key", info.probes),
        "hash": info.hash.name(),
        "items": info.items,
        "fpp": info.fpp,
        "fill": info.fill,
        "estimated_items": info.estimated_items,
        "fpp_now": info.fpp_now,
        "room": info.items.saturating_sub(info.estimated_items.round() as u64),
        "overfull": info.fpp_now > info.fpp * 1.05 && info.estimated_items > info.items as f64,
        "shards": info.shards,
        "shard_bytes": info.shard_bytes,
        "sampled": info.sampled,
        "rows": rows,
        "server": true,
        "heat": heat(info, unit, info.shard_bytes * bits_of_one),
    })
}

/// How full each shard is; none if only some were looked at.
fn heat(info: &Info, unit: &str, units: u64) -> Value {
    if info.sampled != info.shards || info.shards > MOST_DRAWN {
        return Value::Null;
    }
    let count = |part: f64| (part * units as f64).round() as u64;
    let (least, most) = info
        .fills
        .iter()
        .fold((1.0, 0.0), |(least, most): (f64, f64), fill| (least.min(*fill), most.max(*fill)));
    json!({
        "parts": info.shards,
        "per_cell": 1,
        "part": "shard",
        "unit": unit,
        "units": units,
        "cells": info.fills,
        "least": count(least),
        "most": count(most),
    })
}

fn module_report(filter: &Listed, info: &[(String, i64)]) -> Value {
    let field = |name: &str| info.iter().find(|(field, _)| field == name).map(|(_, value)| *value);
    // Those that the page has a place of its own for.
    let told = ["Size", "Capacity", "Number of items inserted"];
    let rows: Vec<(&str, String)> = info
        .iter()
        .filter(|(name, _)| !told.contains(&name.as_str()))
        .map(|(name, value)| (name.as_str(), value.to_string()))
        .collect();
    json!({
        "name": filter.name,
        "format": "module",
        "family": if filter.keeper == Keeper::ModuleCuckoo { "cuckoo" } else { "bloom" },
        "bytes": field("Size"),
        "items": field("Capacity"),
        "estimated_items": field("Number of items inserted"),
        "rows": rows,
        "server": true,
        "heat": null,
    })
}

/// The word by which the page names what keeps a filter.
fn keeper(keeper: Keeper) -> &'static str {
    match keeper {
        Keeper::Bloom => "bloom",
        Keeper::Counting => "counting",
        Keeper::ModuleBloom => "module-bloom",
        Keeper::ModuleCuckoo => "module-cuckoo",
        _ => "unknown",
    }
}

fn kind(keeper: Keeper) -> &'static str {
    match keeper {
        Keeper::Bloom => "blocked bloom",
        Keeper::Counting => "counting bloom",
        Keeper::ModuleBloom => "bloom, of a module",
        Keeper::ModuleCuckoo => "cuckoo, of a module",
        _ => "unknown",
    }
}

fn failed(error: Error) -> ApiError {
    match error {
        Error::NotFound { .. } | Error::Name { .. } => ApiError::not_found(error.to_string()),
        error => ApiError::elsewhere(error),
    }
}
