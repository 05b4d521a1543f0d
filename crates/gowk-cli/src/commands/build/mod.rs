//! `gowk build`: a filter from files of keys.

mod family;
mod fill;
mod ids;

use crate::{
    exit::Found,
    filter_file,
    foreign::{self, FormatName},
    numbers::{self, grouped, parse_count, parse_rate},
    options::{KeyArgs, MemoryArgs, OutputArgs, tell_skipped},
    progress::Watch,
};
use anyhow::{Context, bail};
use family::FamilyName;
use gowk::{AnyFilter, Filter, Hasher, Persist, Seed, Stats};
use gowk_jobs::input::Input;
use std::{
    io::{self, IsTerminal},
    path::PathBuf,
};

/// Build a filter from files of keys, one a line
///
/// Without --items, files are read twice: once to count their lines, which takes moments, and once for the keys. What comes through a
/// pipe can be read only once: its hashes are kept until they take half of the memory, and after that a filter as large as the memory
/// allows is filled. A blocked filter is folded in the end to the size that the different keys need.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk build urls.txt -o seen.gowk --fpp 0.1%
  zcat *.gz | gowk build -o seen.gowk --items 100M
  gowk build sessions.txt -o live.gowk --family cuckoo             keys can be removed again
  gowk build words.txt -o words.gowk --family fuse                 smallest, for keys that never change
  gowk build today.txt -o today.gowk --like yesterday.gowk         so that the two can be merged
  gowk build ids.txt -o ids.gowk --key-type i64 --family bitmap    exact
  gowk build ids.txt -o seen.bin --format guava --key-type i32 --items 1M

Families: see gowk help families, and gowk plan for which one to take.")]
pub(crate) struct Build {
    /// Files of keys; standard input if there are none, or where it says -
    keys: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
    /// How often a key that is not in the set may be taken for one that is
    #[arg(long, default_value = "1%", value_parser = parse_rate, value_name = "RATE")]
    fpp: f64,
    /// How many different keys will come, if you know; saves counting them
    #[arg(long, value_parser = parse_count, value_name = "N")]
    items: Option<u64>,
    /// The kind of filter
    #[arg(long, value_enum, default_value_t = FamilyName::Auto, value_name = "FAMILY", hide_possible_values = true)]
    #[arg(
        help = "The kind of filter: auto, blocked, bloom, split-block, counting, scalable, cuckoo, fuse, window, bitmap or roaring"
    )]
    family: FamilyName,
    /// Make the filter of another system: guava, spark, spark-v1, spark-v2, parquet, redisbloom, redis-cuckoo, dcso or leveldb
    ///
    /// It is sized as its maker would size it, and integers are hashed as its maker does: --key-type i32 is Guava's int.
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true, conflicts_with_all = ["family", "like", "hardened"])]
    format: Option<FormatName>,
    /// Take kind, size, hash and seed of this filter, so that the two can be merged
    #[arg(long, value_name = "FILTER", conflicts_with_all = ["family", "items", "seed", "hardened"])]
    like: Option<PathBuf>,
    /// A fixed seed, so that the same keys give the same file and filters can be merged; random otherwise
    ///
    /// Whoever knows the seed can prepare keys that the filter takes for its own.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Hash with SipHash-1-3, for keys that an adversary chooses
    #[arg(long)]
    hardened: bool,
    #[command(flatten)]
    key_args: KeyArgs,
    #[command(flatten)]
    memory: MemoryArgs,
}

impl Build {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        self.output.check()?;
        let mut watch = Watch::new(self.output.is_stdout());
        let input = self.key_args.input(&self.keys, &watch)?;
        if let Some(format) = self.format.filter(|format| *format != FormatName::Gowk) {
            let (size, threads) = ((self.items, self.fpp, self.seed), self.memory.threads());
            let (filter, skipped) = foreign::build(format, size, &input, &self.key_args, threads)?;
            watch.done();
            foreign::save(&filter, &self.output, &mut watch)?;
            tell_skipped(skipped);
            self.tell(&format!(
                "{} filter, {}",
                filter.format(),
                numbers::bytes(filter.size_in_bytes() as f64)
            ));
            return Ok(Found::Something);
        }
        if self.family.is_exact() {
            ids::build(&self, &input, &mut watch)?;
            return Ok(Found::Something);
        }
        let filter = self.filter(&input)?;
        watch.done();
        // Read once: of a large filter it takes as long as writing it.
        let stats = filter.stats();
        self.tell_overfull(&stats);
        filter_file::save(&filter, &self.output, &mut watch)?;
        self.tell(&format!(
            "{} filter, about {} keys at {}, {}",
            stats.family,
            grouped(stats.estimated_items.round() as u64),
            numbers::rate(stats.fpp),
            numbers::bytes(filter.size_in_bytes() as f64)
        ));
        Ok(Found::Something)
    }

    fn filter(&self, input: &Input) -> anyhow::Result<AnyFilter> {
        let filling = fill::Filling {
            input,
            keys: self.key_args.keys(),
            hasher: self.hasher(),
            threads: self.memory.threads(),
            memory: self.memory.memory(),
        };
        let (filter, skipped) = match &self.like {
            Some(path) => {
                let like =
                    AnyFilter::load(path).with_context(|| format!("cannot open {}", path.display()))?;
                filling.like(like)?
            }
            None => filling.build(self.family, self.items, self.fpp)?,
        };
        tell_skipped(skipped);
        Ok(filter)
    }

    fn hasher(&self) -> Hasher {
        let seed = self.seed.map_or_else(Seed::random, Seed::from);
        if self.hardened { Hasher::hardened(seed) } else { Hasher::new(seed) }
    }

    /// The promise is broken where more keys came than were announced.
    fn tell_overfull(&self, stats: &Stats) {
        if self.items.is_none() && self.like.is_none() {
            return;
        }
        if stats.is_overfull() {
            eprintln!(
                "gowk: warning: about {} keys came and the filter was made for {}: its rate is {}, not {}; build it with larger --items, or without",
                numbers::count(stats.estimated_items),
                numbers::count(stats.items as f64),
                numbers::rate(stats.fpp_now),
                numbers::rate(stats.fpp)
            );
        }
    }

    /// A word at the end, to whoever sits there.
    fn tell(&self, what: &str) {
        if io::stderr().is_terminal() {
            eprintln!("{}: {what}", self.output.output.display());
        }
    }
}

/// An error if the filter alone would take more than is allowed.
fn check_memory(bytes: u64, memory: u64, what: &str) -> anyhow::Result<()> {
    if bytes > memory {
        bail!(
            "{what} takes {}, and --memory allows {}; raise --memory or --fpp, or lower --items",
            numbers::bytes(bytes as f64),
            numbers::bytes(memory as f64)
        );
    }
    Ok(())
}
