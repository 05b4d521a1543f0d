//! Filters on servers come, tell of themselves, expire and go.

use super::servers::{Either, ServerArgs};
use crate::{
    exit::Found,
    numbers::{self, grouped, parse_bytes, parse_count, parse_rate},
};
use anyhow::Context;
use gowk_redis::{Keeper, Listed, Spec};
use serde_json::json;
use std::{
    io::{self, Write},
    time::Duration,
};

/// The most filters that are listed.
const MOST_LISTED: usize = 100_000;

/// Create a filter on servers, empty
///
/// If it is there with the same parameters nothing happens; with others it is an error. All its memory is taken at once.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk redis create seen --items 100M --fpp 0.1% --url redis://127.0.0.1:6379
  gowk redis create carts --items 1M --counting           keys can be removed again
  gowk redis create today --items 5M --expire 24h")]
pub(super) struct Create {
    /// The filter
    name: String,
    /// How many different keys will come
    #[arg(long, value_name = "N", value_parser = parse_count)]
    items: u64,
    /// The false-positive rate with that many keys inside, as in 1% or 0.001
    #[arg(long, value_name = "RATE", value_parser = parse_rate, default_value = "1%")]
    fpp: f64,
    /// Counters instead of bits: keys can be removed; four times the memory
    #[arg(long)]
    counting: bool,
    /// SipHash-1-3 instead of the default hash: for keys that an adversary chooses
    #[arg(long)]
    hardened: bool,
    /// A fixed seed, so that filters can be merged [default: random]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// What a shard takes, from 4K to 1M [default: what gives 64 shards, from 16K to 512K]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    shard_size: Option<u64>,
    /// Let the filter expire after this time, as in 90s, 12h or 7d
    #[arg(long, value_name = "TIME", value_parser = parse_span)]
    expire: Option<Duration>,
    /// Create it even where servers throw keys away when memory is short
    #[arg(long)]
    allow_eviction: bool,
    #[command(flatten)]
    servers: ServerArgs,
}

/// Tell what a filter on servers holds, and how well it keeps its promise
#[derive(clap::Args)]
#[command(after_long_help = "Examples:\n  gowk redis info seen\n  gowk redis info seen --exact --json")]
pub(super) struct Info {
    /// The filter
    name: String,
    /// Look at all shards, not at 64 of them
    #[arg(long)]
    exact: bool,
    /// Print a JSON object, with exact numbers
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    servers: ServerArgs,
}

/// List the filters that live on the servers
///
/// Those of gowk redis, and those of a module (BF.*, CF.*). All keys of the servers are walked over, a thousand at a time.
#[derive(clap::Args)]
#[command(
    after_long_help = "Examples:\n  gowk redis list\n  gowk redis list --json\n\nExit status: 0 if there is a filter, 1 if there is none, 2 on an error."
)]
pub(super) struct List {
    /// Print a JSON object for each filter
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    servers: ServerArgs,
}

/// Let a filter on servers expire as a whole, or never
#[derive(clap::Args)]
#[command(after_long_help = "Examples:\n  gowk redis expire seen 7d\n  gowk redis expire seen never")]
pub(super) struct Expire {
    /// The filter
    name: String,
    /// After what time, as in 90s, 12h or 7d; or never
    after: String,
    #[command(flatten)]
    servers: ServerArgs,
}

/// Forget all keys of a filter on servers, for all clients at once
#[derive(clap::Args)]
#[command(after_long_help = "Examples:\n  gowk redis clear seen")]
pub(super) struct Clear {
    /// The filter
    name: String,
    #[command(flatten)]
    servers: ServerArgs,
}

/// Remove a filter from the servers
#[derive(clap::Args)]
#[command(after_long_help = "Examples:\n  gowk redis drop seen")]
pub(super) struct Drop {
    /// The filter
    name: String,
    #[command(flatten)]
    servers: ServerArgs,
}

impl Create {
    pub(super) fn run(self) -> anyhow::Result<Found> {
        let mut spec = Spec::new(self.items, self.fpp).allow_eviction(self.allow_eviction);
        if self.hardened {
            spec = spec.hardened();
        }
        if let Some(seed) = self.seed {
            spec = spec.seed(seed);
        }
        if let Some(bytes) = self.shard_size {
            spec = spec.shard_bytes(bytes);
        }
        let servers = self.servers.connect()?;
        let filter = match self.counting {
            true => Either::Counting(servers.create_counting(&self.name, &spec)?),
            false => Either::Bloom(servers.create(&self.name, &spec)?),
        };
        match (&filter, self.expire) {
            (_, None) => {}
            (Either::Bloom(filter), after) => filter.expire(after)?,
            (Either::Counting(filter), after) => filter.expire(after)?,
        }
        let info = filter.info(false)?;
        eprintln!(
            "gowk: {}: {} in {} shards over {} {}",
            self.name,
            numbers::bytes(info.bits as f64 / 8.0),
            grouped(info.shards),
            servers.masters(),
            if servers.masters() == 1 { "server" } else { "servers" }
        );
        Ok(Found::Something)
    }
}

impl Info {
    pub(super) fn run(self) -> anyhow::Result<Found> {
        let servers = self.servers.connect()?;
        let info = Either::open(&servers, &self.name)?.info(self.exact)?;
        let text =
            if self.json { as_json(&info, servers.masters()) } else { as_rows(&info, servers.masters()) };
        io::stdout().write_all(text.as_bytes()).context("cannot write the answer")?;
        Ok(Found::Something)
    }
}

fn as_rows(info: &gowk_redis::Info, masters: usize) -> String {
    let whole =
        if info.sampled == info.shards { String::new() } else { format!(" (from {} shards)", info.sampled) };
    let mut rows = vec![
        ("filter", format!("{}, {}", info.name, info.family)),
        (
            "memory",
            format!(
                "{} in {} shards, masters: {masters}",
                numbers::bytes(info.bits as f64 / 8.0),
                grouped(info.shards)
            ),
        ),
        ("made for", format!("{} keys at {}", numbers::count(info.items as f64), numbers::rate(info.fpp))),
        ("holds about", format!("{} keys{whole}", numbers::count(info.estimated_items))),
        ("fill", format!("{} %", numbers::three_digits(100.0 * info.fill))),
        ("rate now", numbers::rate(info.fpp_now)),
        ("hash", info.hash.name().to_owned()),
        (
            "generation",
            format!(
                "{:016x}{}",
                info.generation,
                if info.rebuilding { ", and a new one is being built" } else { "" }
            ),
        ),
    ];
    if let Some(left) = info.expires_in {
        rows.push(("expires in", format!("{} s", grouped(left.as_secs()))));
    }
    rows.into_iter().map(|(name, value)| format!("{name:12} {value}\n")).collect()
}

fn as_json(info: &gowk_redis::Info, masters: usize) -> String {
    let object = json!({
        "name": info.name, "family": info.family.name(), "items": info.items, "fpp": info.fpp,
        "bits": info.bits, "bits_of_a_key": info.probes, "shards": info.shards, "shard_bytes": info.shard_bytes,
        "masters": masters, "sampled_shards": info.sampled, "fill": info.fill, "estimated_items": info.estimated_items,
        "fpp_now": info.fpp_now, "hash": info.hash.name(), "generation": format!("{:016x}", info.generation),
        "rebuilding": info.rebuilding, "expires_in": info.expires_in.map(|left| left.as_secs_f64()),
    });
    format!("{object}\n")
}

impl List {
    pub(super) fn run(self) -> anyhow::Result<Found> {
        let listing = self.servers.connect()?.list(MOST_LISTED)?;
        let row = |filter: &Listed| {
            let kind = match filter.keeper {
                Keeper::Bloom => "bloom",
                Keeper::Counting => "counting",
                Keeper::ModuleBloom => "module bloom",
                Keeper::ModuleCuckoo => "module cuckoo",
                _ => "unknown",
            };
            match self.json {
                true => format!("{}\n", json!({ "name": filter.name, "kind": kind })),
                false => format!("{kind:14} {}\n", filter.name),
            }
        };
        let text: String = listing.filters.iter().map(row).collect();
        io::stdout().write_all(text.as_bytes()).context("cannot write the answer")?;
        if listing.cut {
            eprintln!("gowk: there may be more: these were found in time");
        }
        Ok(Found::if_any(listing.filters.len() as u64))
    }
}

impl Expire {
    pub(super) fn run(self) -> anyhow::Result<Found> {
        let after = match self.after.as_str() {
            "never" => None,
            text => Some(parse_span(text).map_err(anyhow::Error::msg)?),
        };
        match Either::open(&self.servers.connect()?, &self.name)? {
            Either::Bloom(filter) => filter.expire(after)?,
            Either::Counting(filter) => filter.expire(after)?,
        }
        Ok(Found::Something)
    }
}

impl Clear {
    pub(super) fn run(self) -> anyhow::Result<Found> {
        match Either::open(&self.servers.connect()?, &self.name)? {
            Either::Bloom(filter) => filter.clear()?,
            Either::Counting(filter) => filter.clear()?,
        }
        Ok(Found::Something)
    }
}

impl Drop {
    pub(super) fn run(self) -> anyhow::Result<Found> {
        self.servers.connect()?.drop_filter(&self.name)?;
        Ok(Found::Something)
    }
}

/// A span of time: 90s, 30m, 12h, 7d.
fn parse_span(text: &str) -> Result<Duration, String> {
    let units = [('s', 1.0), ('m', 60.0), ('h', 3600.0), ('d', 86_400.0)];
    let seconds = units
        .iter()
        .find_map(|(name, unit)| Some(text.strip_suffix(*name)?.trim().parse::<f64>().ok()? * unit))
        .filter(|seconds| *seconds >= 0.001 && *seconds <= 1e10);
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "a span of time has a unit, as in 90s, 30m, 12h or 7d".into())
}
