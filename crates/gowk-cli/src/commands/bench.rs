//! `gowk bench`: the families on one's own keys.

use crate::{
    exit::Found,
    numbers::{self, parse_count, parse_rate},
    options::{KeyArgs, tell_skipped},
    progress::Watch,
    table::Table,
};
use anyhow::{Context, bail};
use gowk::{
    AnyFilter, BinaryFuse, BlockedBloom, Bloom, Build, CountingBloom, Cuckoo, Digest, Filter, Hasher, Seed,
    SplitBlockBloom,
};
use gowk_jobs::input::Block;
use std::{
    io::{self, Write},
    path::PathBuf,
    time::Instant,
};

/// Measure the families on your own keys: build, lookups, space, and the rate that comes out
///
/// Takes the first keys of the files, different ones, builds each family of them on one thread, and asks for all of them (found) and
/// for as many others (absent): the same keys with a few bytes behind them. Times are the best of three rounds. The rate is measured
/// on the absent keys.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk bench urls.txt
  gowk bench access.log --field 1 -d ' ' --fpp 0.1%")]
pub(crate) struct Bench {
    /// Files of keys; standard input if there are none, or where it says -
    keys: Vec<PathBuf>,
    /// The rate to build for
    #[arg(long, default_value = "1%", value_parser = parse_rate, value_name = "RATE")]
    fpp: f64,
    /// The most keys to take
    #[arg(long, default_value = "2M", value_parser = parse_count, value_name = "N")]
    most: u64,
    /// Print one JSON object for each family
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    key_args: KeyArgs,
}

/// What came out for a family.
struct Measured {
    family: String,
    bits_per_key: f64,
    build: f64,
    found: f64,
    absent: f64,
    rate: f64,
}

impl Bench {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        let mut watch = Watch::new(false);
        let hasher = Hasher::new(Seed::random());
        let (present, absent) = self.digests(&watch, &hasher)?;
        watch.done();
        let mut rows = Vec::new();
        for make in makers() {
            rows.push(measure(make, &present, &absent, self.fpp, hasher)?);
        }
        let text = if self.json { as_json(&rows) } else { self.as_text(&rows, present.len()) };
        io::stdout().lock().write_all(text.as_bytes()).context("cannot write the answer")?;
        Ok(Found::Something)
    }

    /// The digests of different keys, and of as many that are not among them.
    fn digests(&self, watch: &Watch, hasher: &Hasher) -> anyhow::Result<(Vec<Digest>, Vec<Digest>)> {
        let input = self.key_args.input(&self.keys, watch)?;
        let mut extractor = self.key_args.keys().extractor();
        let (mut blocks, mut block, mut pairs) = (input.blocks(), Block::default(), Vec::new());
        let mut other = Vec::new();
        'reading: while blocks.next_into(&mut block)? {
            for record in block.records() {
                if pairs.len() as u64 == self.most {
                    break 'reading;
                }
                let digest = match extractor.value_of(&block, record)? {
                    Some(value) => hasher.digest(&value),
                    None => continue,
                };
                other.clear();
                other.extend_from_slice(&digest.h1.to_le_bytes());
                other.extend_from_slice(b" is not among the keys");
                pairs.push((digest, hasher.bytes(&other)));
            }
        }
        tell_skipped(extractor.skipped());
        pairs.sort_unstable_by_key(|(digest, _)| digest.h1);
        pairs.dedup_by_key(|(digest, _)| digest.h1);
        // Sorted keys would find their places one after another.
        pairs.sort_unstable_by_key(|(_, other)| other.h1);
        if pairs.is_empty() {
            bail!("there are no keys to measure with");
        }
        Ok(pairs.into_iter().unzip())
    }

    fn as_text(&self, rows: &[Measured], keys: usize) -> String {
        let mut table = Table::new(&["family", "bits/key", "build", "found", "absent", "rate measured"]);
        for row in rows {
            table.row(&[
                row.family.clone(),
                numbers::three_digits(row.bits_per_key),
                speed(row.build),
                speed(row.found),
                speed(row.absent),
                numbers::rate(row.rate),
            ]);
        }
        format!(
            "{} different keys, {} asked for; million keys a second, one thread, hashing not counted\n\n{table}",
            numbers::grouped(keys as u64),
            numbers::rate(self.fpp)
        )
    }
}

fn speed(seconds_per_key: f64) -> String {
    format!("{} M/s", numbers::three_digits(1e-6 / seconds_per_key))
}

fn as_json(rows: &[Measured]) -> String {
    let object = |row: &Measured| {
        let object = serde_json::json!({
            "family": row.family,
            "bits_per_key": row.bits_per_key,
            "build_seconds_per_key": row.build,
            "found_seconds_per_key": row.found,
            "absent_seconds_per_key": row.absent,
            "fpp_measured": row.rate,
        });
        format!("{object}\n")
    };
    rows.iter().map(object).collect()
}

type Maker = fn(&[Digest], f64, Hasher) -> anyhow::Result<AnyFilter>;

/// The families in the order of the README.
fn makers() -> [Maker; 6] {
    [
        |keys, fpp, hasher| filled(AnyFilter::BlockedBloom(empty::<BlockedBloom>(keys, fpp, hasher)?), keys),
        |keys, fpp, hasher| filled(AnyFilter::Bloom(empty::<Bloom>(keys, fpp, hasher)?), keys),
        |keys, fpp, hasher| {
            filled(AnyFilter::SplitBlockBloom(empty::<SplitBlockBloom>(keys, fpp, hasher)?), keys)
        },
        |keys, fpp, hasher| {
            filled(AnyFilter::CountingBloom(empty::<CountingBloom>(keys, fpp, hasher)?), keys)
        },
        |keys, fpp, hasher| filled(AnyFilter::Cuckoo(empty::<Cuckoo>(keys, fpp, hasher)?), keys),
        |keys, fpp, hasher| {
            let builder = BinaryFuse::builder().fpp(fpp).hasher(&hasher).threads(1);
            Ok(AnyFilter::BinaryFuse(builder.build_from(keys.iter().copied())?))
        },
    ]
}

fn empty<F: Build>(keys: &[Digest], fpp: f64, hasher: Hasher) -> anyhow::Result<F> {
    Ok(F::with_params(F::params_for_fpp(keys.len() as u64, fpp)?, hasher)?)
}

fn filled(mut filter: AnyFilter, keys: &[Digest]) -> anyhow::Result<AnyFilter> {
    filter.insert_many(keys)?;
    Ok(filter)
}

fn measure(
    make: Maker,
    present: &[Digest],
    absent: &[Digest],
    fpp: f64,
    hasher: Hasher,
) -> anyhow::Result<Measured> {
    const ROUNDS: usize = 3;
    let mut best = [f64::MAX; 3];
    let (mut filter, mut hits, mut missed) = (None, 0, 0);
    let mut answers = vec![false; present.len()];
    for _ in 0..ROUNDS {
        let mut note = |which: usize, started: Instant| {
            best[which] = best[which].min(started.elapsed().as_secs_f64() / present.len() as f64);
        };
        let started = Instant::now();
        let built = make(present, fpp, hasher)?;
        note(0, started);
        let started = Instant::now();
        built.may_contain_many_into(present, &mut answers);
        note(1, started);
        missed = answers.iter().filter(|maybe| !**maybe).count();
        let started = Instant::now();
        built.may_contain_many_into(absent, &mut answers);
        note(2, started);
        hits = answers.iter().filter(|maybe| **maybe).count();
        filter = Some(built);
    }
    let filter = filter.context("no round was measured")?;
    if missed > 0 {
        bail!(
            "the {} filter denied {missed} of its keys; this is a fault of gowk, please report it",
            filter.stats().family
        );
    }
    Ok(Measured {
        family: filter.stats().family.to_string(),
        bits_per_key: 8.0 * filter.size_in_bytes() as f64 / present.len() as f64,
        build: best[0],
        found: best[1],
        absent: best[2],
        rate: hits as f64 / absent.len() as f64,
    })
}
