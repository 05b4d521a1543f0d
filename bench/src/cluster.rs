//! Filters on plain servers, beside the two other ways to keep one there: a big bitmap that `SETBIT` and `GETBIT` work on, as most
//! recipes have it, and our module.
//!
//! All on loopback, through the `redis` crate, in pipelines. Two figures: keys a second as the client sees it, all on this one machine;
//! and processor time of the servers in their own code a key, which is what a machine of theirs has to give.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use gowk::{BloomParams, Hasher};
use gowk_redis::{Options, Servers, Spec};
use gowk_testkit::{Cluster, Server};
use redis::{Pipeline, Value, aio::MultiplexedConnection};

use crate::args::ClusterBench;
use crate::keys::mix;
use crate::machine;
use crate::results::{count, percent};

/// Keys in a batch of ours, and in a pipeline of the others.
const BATCH: usize = 10_000;
const PIPELINE: usize = 100;

/// One way to keep a filter on servers.
enum Way {
    /// One big bitmap, a command for each bit.
    Bits { connection: MultiplexedConnection, params: BloomParams, hasher: Hasher },
    /// `BF.MADD` and `BF.MEXISTS` with a hundred keys each.
    Module { connection: MultiplexedConnection },
    /// Ours.
    Sharded { filter: gowk_redis::Bloom },
}

struct Row {
    name: &'static str,
    way: Way,
    servers: Vec<Server>,
    add: Figure,
    ask: Figure,
    wrong: usize,
    asked: usize,
}

#[derive(Clone, Copy)]
struct Figure {
    /// Keys a second.
    rate: f64,
    /// Microseconds of the servers a key.
    server: f64,
}

impl Figure {
    const NONE: Self = Self { rate: 0.0, server: f64::INFINITY };

    fn best(self, other: Self) -> Self {
        Self { rate: self.rate.max(other.rate), server: self.server.min(other.server) }
    }
}

impl Way {
    async fn add(&mut self, keys: &[u64]) -> anyhow::Result<()> {
        match self {
            Self::Bits { connection, params, hasher } => {
                for keys in keys.chunks(PIPELINE) {
                    let mut pipeline = Pipeline::new();
                    for key in keys {
                        for bit in positions(params, hasher, *key) {
                            pipeline.cmd("SETBIT").arg("big").arg(bit).arg(1).ignore();
                        }
                    }
                    pipeline.exec_async(connection).await?;
                }
            }
            Self::Module { connection } => {
                for keys in keys.chunks(16 * PIPELINE) {
                    let mut pipeline = Pipeline::new();
                    for keys in keys.chunks(PIPELINE) {
                        pipeline.cmd("BF.MADD").arg("filter").arg(keys).ignore();
                    }
                    pipeline.exec_async(connection).await?;
                }
            }
            Self::Sharded { filter } => {
                for keys in keys.chunks(BATCH) {
                    filter.add_many(keys).await?;
                }
            }
        }
        Ok(())
    }

    /// How many of the keys may be there.
    async fn ask(&mut self, keys: &[u64]) -> anyhow::Result<usize> {
        let mut found = 0;
        match self {
            Self::Bits { connection, params, hasher } => {
                for keys in keys.chunks(PIPELINE) {
                    let mut pipeline = Pipeline::new();
                    for key in keys {
                        for bit in positions(params, hasher, *key) {
                            pipeline.cmd("GETBIT").arg("big").arg(bit);
                        }
                    }
                    let bits: Vec<u8> = pipeline.query_async(connection).await?;
                    let probes = bits.len() / keys.len();
                    found += bits.chunks(probes).filter(|bits| bits.iter().all(|bit| *bit == 1)).count();
                }
            }
            Self::Module { connection } => {
                for keys in keys.chunks(16 * PIPELINE) {
                    let mut pipeline = Pipeline::new();
                    for keys in keys.chunks(PIPELINE) {
                        pipeline.cmd("BF.MEXISTS").arg("filter").arg(keys);
                    }
                    let answers: Vec<Vec<u8>> = pipeline.query_async(connection).await?;
                    found += answers.into_iter().flatten().filter(|answer| *answer == 1).count();
                }
            }
            Self::Sharded { filter } => {
                for keys in keys.chunks(BATCH) {
                    found += filter.may_contain_many(keys).await?.into_iter().filter(|found| *found).count();
                }
            }
        }
        Ok(found)
    }
}

/// The bits of a key, as a client of a big bitmap works them out: by two hashes.
fn positions(params: &BloomParams, hasher: &Hasher, key: u64) -> Vec<u64> {
    let digest = hasher.digest(&key);
    let bit = |i: u64| digest.h1.wrapping_add(i.wrapping_mul(digest.h2)) % params.bits();
    (0..u64::from(params.probes())).map(bit).collect()
}

impl Row {
    async fn measure(&mut self, keys: &[u64], add: bool) -> anyhow::Result<usize> {
        let seconds = |servers: &[Server]| servers.iter().map(Server::seconds).sum::<f64>();
        let (before, start) = (seconds(&self.servers), Instant::now());
        let found = match add {
            true => self.way.add(keys).await.map(|()| 0)?,
            false => self.way.ask(keys).await?,
        };
        let figure = Figure {
            rate: keys.len() as f64 / start.elapsed().as_secs_f64(),
            server: (seconds(&self.servers) - before) * 1e6 / keys.len() as f64,
        };
        let place = if add { &mut self.add } else { &mut self.ask };
        *place = place.best(figure);
        Ok(found)
    }
}

/// Servers with a filter of each kind.
async fn rows(options: &ClusterBench) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut row = |name, way, servers| {
        rows.push(Row { name, way, servers, add: Figure::NONE, ask: Figure::NONE, wrong: 0, asked: 0 })
    };
    let plain = || Server::plain(&["--save", ""]);
    let (items, fpp) = (options.items as u64, options.fpp);

    let server = plain();
    let mut connection = connect(&server).await?;
    let params = BloomParams::for_fpp(items, fpp)?;
    redis::cmd("SETBIT").arg("big").arg(params.bits() - 1).arg(0).exec_async(&mut connection).await?;
    row(
        "SETBIT, GETBIT on one bitmap",
        Way::Bits { connection, params, hasher: Hasher::new(1) },
        vec![server],
    );

    let spec = Spec::new(items, fpp);
    let server = plain();
    let filter = create(&format!("redis://127.0.0.1:{}", server.port), &spec).await?;
    row("gowk-redis, one server", Way::Sharded { filter }, vec![server]);

    let cluster = Cluster::start(0, &[]);
    let filter = create(&cluster.url(), &spec).await?;
    row("gowk-redis, three masters", Way::Sharded { filter }, cluster.nodes);

    match with_module(&options.module)? {
        Some(server) => {
            let mut connection = connect(&server).await?;
            let reserve = redis::cmd("BF.RESERVE")
                .arg("filter")
                .arg(fpp)
                .arg(items)
                .query_async::<Value>(&mut connection)
                .await;
            reserve.context("the server has the module")?;
            row("the module, BF.MADD and BF.MEXISTS x100", Way::Module { connection }, vec![server]);
        }
        None => eprintln!(
            "left out: no module at {}; cargo build --release -p gowk-module makes it",
            options.module.display()
        ),
    }
    Ok(rows)
}

fn with_module(module: &Path) -> anyhow::Result<Option<Server>> {
    if !module.exists() {
        return Ok(None);
    }
    let path = fs::canonicalize(module)?;
    Ok(Some(Server::plain(&["--save", "", "--loadmodule", path.to_str().context("a path of text")?])))
}

async fn connect(server: &Server) -> anyhow::Result<MultiplexedConnection> {
    let config = redis::AsyncConnectionConfig::new().set_response_timeout(Some(Duration::from_secs(60)));
    let client = redis::Client::open(format!("redis://127.0.0.1:{}", server.port))?;
    Ok(client.get_multiplexed_async_connection_with_config(&config).await?)
}

async fn create(url: &str, spec: &Spec) -> anyhow::Result<gowk_redis::Bloom> {
    let servers =
        Servers::connect(&[url], Options::default().response_timeout(Duration::from_secs(60))).await?;
    Ok(gowk_redis::Bloom::create(&servers, "filter", spec).await?)
}

pub(crate) fn run(options: &ClusterBench) -> anyhow::Result<()> {
    println!("{}", machine::describe());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let rows = runtime.block_on(async {
        let mut rows = rows(options).await?;
        let share = options.items / options.rounds as usize;
        for round in 0..options.rounds as usize {
            let new: Vec<u64> = (round * share..(round + 1) * share).map(|i| mix(i as u64)).collect();
            let strangers: Vec<u64> =
                (0..share).map(|i| mix((1 << 50) + (round * share + i) as u64)).collect();
            for row in &mut rows {
                eprintln!("round {round}: {}", row.name);
                row.measure(&new, true).await?;
                let found = row.measure(&new, false).await?;
                ensure!(
                    found == new.len(),
                    "{}: {} of {} keys are denied",
                    row.name,
                    new.len() - found,
                    new.len()
                );
                let wrong = row.way.ask(&strangers).await?;
                if round + 1 == options.rounds as usize {
                    (row.wrong, row.asked) = (wrong, strangers.len());
                }
            }
        }
        anyhow::Ok(rows)
    })?;
    println!(
        "\n## {} keys at {}, best of {} rounds; the last is full\n",
        count(options.items),
        percent(options.fpp),
        options.rounds
    );
    println!(
        "| way | add: keys/s | server µs/key | ask: keys/s | server µs/key | fewer µs than SETBIT, GETBIT | fpp |\n|---|--:|--:|--:|--:|--:|--:|"
    );
    let bits = (rows[0].add.server, rows[0].ask.server);
    for row in &rows {
        println!(
            "| {} | {:.0} k | {:.2} | {:.0} k | {:.2} | {:.1}x, {:.1}x | {:.2} % |",
            row.name,
            row.add.rate / 1e3,
            row.add.server,
            row.ask.rate / 1e3,
            row.ask.server,
            bits.0 / row.add.server,
            bits.1 / row.ask.server,
            100.0 * row.wrong as f64 / row.asked as f64
        );
    }
    Ok(())
}
