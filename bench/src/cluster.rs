//! Filters on plain servers, beside the two other ways to keep one there: a big bitmap that `SETBIT` and `GETBIT` work on, as most
//! recipes have it, and one filter of our module.
//!
//! All on loopback, through the `redis` crate: in batches, as a job would, and one key at a time by many callers, as a service would. Two
//! figures: keys a second as the client sees it, all on this one machine; and processor time of the servers a key, which is what a
//! machine of theirs has to give: in their own code, and in the kernel for them.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use futures_util::future::try_join_all;
use gowk::{BloomParams, Hasher, Inserted};
use gowk_redis::{Options, Servers, Spec};
use gowk_testkit::{Cluster, Cpu, Server};
use redis::{Pipeline, RedisError, aio::MultiplexedConnection};

use crate::args::ClusterBench;
use crate::keys::mix;
use crate::machine;
use crate::results::{count, percent};

/// Keys in a batch of ours, and in a pipeline of the others.
const BATCH: usize = 10_000;
const PIPELINE: usize = 100;
/// Callers at once that send one key each.
const CALLERS: usize = 64;

/// One way to keep a filter on servers.
enum Way {
    /// One big bitmap, a command for each bit.
    Bits { connection: MultiplexedConnection, params: BloomParams, hasher: Hasher },
    /// `BF.MADD` and `BF.MEXISTS` with a hundred keys each; `BF.ADD` and `BF.EXISTS` of one.
    Module { connection: MultiplexedConnection },
    /// Ours.
    Sharded { filter: gowk_redis::Bloom },
}

struct Row {
    name: &'static str,
    way: Way,
    servers: Vec<Server>,
    /// Of [`Part`]s.
    figures: [Figure; 4],
    wrong: usize,
    asked: usize,
}

/// What is measured.
#[derive(Clone, Copy)]
enum Part {
    Add,
    Ask,
    AddOne,
    AskOne,
}

#[derive(Clone, Copy)]
struct Figure {
    /// Keys a second.
    rate: f64,
    /// Microseconds of the servers a key: in their own code, and with what the kernel did for them.
    user: f64,
    all: f64,
}

impl Figure {
    const NONE: Self = Self { rate: 0.0, user: f64::INFINITY, all: f64::INFINITY };

    fn best(self, other: Self) -> Self {
        Self {
            rate: self.rate.max(other.rate),
            user: self.user.min(other.user),
            all: self.all.min(other.all),
        }
    }
}

impl Way {
    /// Adds or asks; how many of the keys may have been there.
    async fn go(&mut self, part: Part, keys: &[u64]) -> anyhow::Result<usize> {
        let mut found = 0;
        match part {
            Part::Add | Part::Ask => {
                let size = match self {
                    Self::Bits { .. } => PIPELINE,
                    Self::Module { .. } => 16 * PIPELINE,
                    Self::Sharded { .. } => BATCH,
                };
                for keys in keys.chunks(size) {
                    found += self.batch(keys, matches!(part, Part::Add)).await?;
                }
            }
            Part::AddOne | Part::AskOne => {
                for keys in keys.chunks(CALLERS) {
                    let answers = keys.iter().map(|key| self.one(*key, matches!(part, Part::AddOne)));
                    found += try_join_all(answers).await?.into_iter().filter(|found| *found).count();
                }
            }
        }
        Ok(found)
    }

    async fn batch(&mut self, keys: &[u64], add: bool) -> anyhow::Result<usize> {
        Ok(match self {
            Self::Bits { connection, params, hasher } => {
                let mut pipeline = Pipeline::new();
                keys.iter().for_each(|key| bits(&mut pipeline, params, hasher, *key, add));
                let answers: Vec<u8> = pipeline.query_async(connection).await?;
                answers.chunks(params.probes() as usize).filter(|bits| !bits.contains(&0)).count()
            }
            Self::Module { connection } => {
                let mut pipeline = Pipeline::new();
                for keys in keys.chunks(PIPELINE) {
                    pipeline.cmd(if add { "BF.MADD" } else { "BF.MEXISTS" }).arg("filter").arg(keys);
                }
                let answers: Vec<Vec<u8>> = pipeline.query_async(connection).await?;
                // An add says 1 for what is new.
                answers.into_iter().flatten().filter(|answer| *answer == u8::from(!add)).count()
            }
            Self::Sharded { filter } if add => {
                let news = filter.add_many(keys).await?;
                news.into_iter().filter(|new| *new == Inserted::MaybeSeen).count()
            }
            Self::Sharded { filter } => {
                filter.may_contain_many(keys).await?.into_iter().filter(|found| *found).count()
            }
        })
    }

    async fn one(&self, key: u64, add: bool) -> anyhow::Result<bool> {
        Ok(match self {
            Self::Bits { connection, params, hasher } => {
                let mut pipeline = Pipeline::new();
                bits(&mut pipeline, params, hasher, key, add);
                let answers: Vec<u8> = pipeline.query_async(&mut connection.clone()).await?;
                !answers.contains(&0)
            }
            Self::Module { connection } => {
                let mut cmd = redis::cmd(if add { "BF.ADD" } else { "BF.EXISTS" });
                let answer: Result<u8, RedisError> =
                    cmd.arg("filter").arg(key).query_async(&mut connection.clone()).await;
                answer? == u8::from(!add)
            }
            Self::Sharded { filter } if add => filter.add(&key).await? == Inserted::MaybeSeen,
            Self::Sharded { filter } => filter.may_contain(&key).await?,
        })
    }
}

/// The commands for a key on a big bitmap, whose places the client works out by two hashes.
fn bits(pipeline: &mut Pipeline, params: &BloomParams, hasher: &Hasher, key: u64, add: bool) {
    let digest = hasher.digest(&key);
    for i in 0..u64::from(params.probes()) {
        let bit = digest.h1.wrapping_add(i.wrapping_mul(digest.h2)) % params.bits();
        match add {
            true => pipeline.cmd("SETBIT").arg("big").arg(bit).arg(1),
            false => pipeline.cmd("GETBIT").arg("big").arg(bit),
        };
    }
}

impl Row {
    async fn measure(&mut self, part: Part, keys: &[u64]) -> anyhow::Result<usize> {
        let spent = |servers: &[Server]| -> Vec<Cpu> { servers.iter().map(Server::cpu).collect() };
        let (before, start) = (spent(&self.servers), Instant::now());
        let found = self.way.go(part, keys).await?;
        let seconds = start.elapsed().as_secs_f64();
        let (mut user, mut all) = (0.0, 0.0);
        for (after, before) in spent(&self.servers).iter().zip(before) {
            user += after.user - before.user;
            all += after.user + after.system - before.user - before.system;
        }
        let count = keys.len() as f64;
        let figure = Figure { rate: count / seconds, user: user * 1e6 / count, all: all * 1e6 / count };
        self.figures[part as usize] = self.figures[part as usize].best(figure);
        Ok(found)
    }
}

/// Servers with a filter of each kind.
async fn rows(options: &ClusterBench) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut row = |name, way, servers| {
        rows.push(Row { name, way, servers, figures: [Figure::NONE; 4], wrong: 0, asked: 0 });
    };
    let (items, fpp) = (options.items as u64, options.fpp);

    let server = Server::plain(&["--save", ""]);
    let mut connection = connect(&server).await?;
    let params = BloomParams::for_fpp(items, fpp)?;
    redis::cmd("SETBIT").arg("big").arg(params.bits() - 1).arg(0).exec_async(&mut connection).await?;
    let way = Way::Bits { connection, params, hasher: Hasher::new(1) };
    row("SETBIT, GETBIT on one bitmap", way, vec![server]);

    let spec = Spec::new(items, fpp);
    let mut sharded = async |name, servers: Vec<Server>, module| {
        let url = format!("redis://127.0.0.1:{}", servers[0].port);
        let options = Options::default().response_timeout(Duration::from_secs(60));
        let connected = Servers::connect(&[url], options).await?;
        ensure!(connected.uses_module() == module, "the module is found where it is");
        let filter = gowk_redis::Bloom::create(&connected, "filter", &spec).await?;
        row(name, Way::Sharded { filter }, servers);
        Ok(())
    };
    sharded("gowk-redis, a plain server", vec![Server::plain(&["--save", ""])], false).await?;
    sharded("gowk-redis, three plain masters", Cluster::start(0, &[]).nodes, false).await?;

    let Some(module) = module(&options.module)? else {
        eprintln!(
            "left out: no module at {}; cargo build --release -p gowk-module makes it",
            options.module.display()
        );
        return Ok(rows);
    };
    let load = ["--save", "", "--loadmodule", &module];
    sharded("gowk-redis, a server with the module", vec![Server::plain(&load)], true).await?;
    sharded("gowk-redis, three masters with it", Cluster::start(0, &load[2..]).nodes, true).await?;

    let server = Server::plain(&load);
    let mut connection = connect(&server).await?;
    let mut reserve = redis::cmd("BF.RESERVE");
    reserve
        .arg("filter")
        .arg(fpp)
        .arg(items)
        .exec_async(&mut connection)
        .await
        .context("the module works")?;
    row("the module alone, one filter, BF.*", Way::Module { connection }, vec![server]);
    Ok(rows)
}

/// Where the module is, if it is there.
fn module(path: &Path) -> anyhow::Result<Option<String>> {
    if !path.exists() {
        return Ok(None);
    }
    let path = fs::canonicalize(path)?;
    Ok(Some(path.to_str().context("a path of text")?.to_owned()))
}

async fn connect(server: &Server) -> anyhow::Result<MultiplexedConnection> {
    let config = redis::AsyncConnectionConfig::new().set_response_timeout(Some(Duration::from_secs(60)));
    let client = redis::Client::open(format!("redis://127.0.0.1:{}", server.port))?;
    Ok(client.get_multiplexed_async_connection_with_config(&config).await?)
}

async fn measure(options: &ClusterBench) -> anyhow::Result<Vec<Row>> {
    let mut rows = rows(options).await?;
    let rounds = options.rounds as usize;
    let share = options.items / rounds;
    for round in 0..rounds {
        let new: Vec<u64> = (round * share..(round + 1) * share).map(|i| mix(i as u64)).collect();
        let strangers: Vec<u64> = (0..share).map(|i| mix((1 << 50) + (round * share + i) as u64)).collect();
        let (ones, batches) = new.split_at(share / 10);
        for row in &mut rows {
            eprintln!("round {round}: {}", row.name);
            row.measure(Part::AddOne, ones).await?;
            row.measure(Part::Add, batches).await?;
            let found = row.measure(Part::AskOne, ones).await? + row.measure(Part::Ask, batches).await?;
            ensure!(found == share, "{}: {} of {share} keys are denied", row.name, share - found);
            let wrong = row.way.go(Part::Ask, &strangers).await?;
            if round + 1 == rounds {
                (row.wrong, row.asked) = (wrong, share);
            }
        }
    }
    Ok(rows)
}

fn table(rows: &[Row], add: Part, ask: Part) {
    println!(
        "| way | add: keys/s | server µs/key | in its own code | ask: keys/s | server µs/key | in its own code | fewer µs than SETBIT, GETBIT: add, ask | fpp |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    let part = |row: &Row, part: Part| row.figures[part as usize];
    let (set, get) = (part(&rows[0], add), part(&rows[0], ask));
    for row in rows {
        let (add, ask) = (part(row, add), part(row, ask));
        println!(
            "| {} | {:.0} k | {:.2} | {:.2} | {:.0} k | {:.2} | {:.2} | {:.1}x, {:.1}x | {:.2} % |",
            row.name,
            add.rate / 1e3,
            add.all,
            add.user,
            ask.rate / 1e3,
            ask.all,
            ask.user,
            set.all / add.all,
            get.all / ask.all,
            100.0 * row.wrong as f64 / row.asked as f64
        );
    }
}

pub(crate) fn run(options: &ClusterBench) -> anyhow::Result<()> {
    println!("{}", machine::describe());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let rows = runtime.block_on(measure(options))?;
    let (items, fpp) = (count(options.items), percent(options.fpp));
    println!("\n## {items} keys at {fpp}, best of {} rounds; the last is full: in batches\n", options.rounds);
    table(&rows, Part::Add, Part::Ask);
    println!("\n## The same, one key at a time by {CALLERS} callers\n");
    table(&rows, Part::AddOne, Part::AskOne);
    Ok(())
}
