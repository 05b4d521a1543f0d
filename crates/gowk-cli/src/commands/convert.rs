//! `gowk convert`: a filter of one system as a file of another.

use crate::{
    exit::Found,
    filter_file::{self, FilterFile},
    foreign::{self, FormatArgs, FormatName},
    numbers::{parse_count, parse_rate},
    options::{KeyArgs, MemoryArgs, OutputArgs, tell_skipped},
    progress::Watch,
};
use anyhow::{bail, ensure};
use gowk::{
    AnyFilter, BlockedBloom, BlockedParams, Build, Filter, HashId, Hasher, Insert, Seed,
    format::{foreign::Foreign, foreign::Format, parquet, spark::Version},
};
use gowk_jobs::input::{Extractor, Input, map_in_order};
use std::path::PathBuf;

/// Write a filter as the file of another system
///
/// A filter keeps bits, not keys, and the bits of one hash cannot become those of another. So without keys a filter is only written
/// anew where the hash stays: a gzipped DCSO file as a plain one, the filter of a Parquet file as bare bytes, Parquet's as .gowk and back.
/// For everything else give the keys with --keys: the filter is then built from them, for as many keys and at the rate of the old one
/// unless --items and --fpp say otherwise, and every key is first held against the old filter.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk convert hashlookup.bloom.gz --to dcso -o hashlookup.bloom
  gowk convert events.parquet --column user --to gowk -o users.gowk
  gowk convert users.bin --to spark-v2 --keys users.txt -o users.spark")]
pub(crate) struct Convert {
    /// The filter
    filter: PathBuf,
    /// What to write: gowk, guava, spark-v1, spark-v2, parquet, redisbloom, redis-cuckoo, dcso or leveldb
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    to: FormatName,
    #[command(flatten)]
    output: OutputArgs,
    /// The keys that are in the filter, one a line; needed wherever the hash changes
    #[arg(long, value_name = "FILE", num_args = 1..)]
    keys: Vec<PathBuf>,
    /// How many keys to make the new filter for [default: as the old one]
    #[arg(long, value_parser = parse_count, value_name = "N", requires = "keys")]
    items: Option<u64>,
    /// The rate of the new filter [default: as the old one]
    #[arg(long, value_parser = parse_rate, value_name = "RATE", requires = "keys")]
    fpp: Option<f64>,
    /// The seed of a new Spark V2 filter, or of a new .gowk file
    #[arg(long, value_name = "N", requires = "keys")]
    seed: Option<u64>,
    #[command(flatten)]
    format: FormatArgs,
    #[command(flatten)]
    key_args: KeyArgs,
    #[command(flatten)]
    memory: MemoryArgs,
}

impl Convert {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        self.output.check()?;
        let mut watch = Watch::new(self.output.is_stdout());
        let from = filter_file::open_as(&self.filter, &self.format)?;
        if !self.keys.is_empty() {
            self.rebuild(&from, &mut watch)?;
            return Ok(Found::Something);
        }
        match (&from, self.to) {
            (FilterFile::Foreign(filter), to) if is_same(filter, to) => {
                foreign::save(filter, &self.output, &mut watch)?;
            }
            (FilterFile::Foreign(Foreign::Parquet(filters)), FormatName::Gowk) => match filters.single() {
                Some(filter) => filter_file::save(filter, &self.output, &mut watch)?,
                None => bail!(
                    "the column has {} row groups, each with a filter of its own; a .gowk file holds one",
                    filters.filters().len()
                ),
            },
            (FilterFile::Keys(AnyFilter::SplitBlockBloom(filter)), FormatName::Parquet)
                if filter.hasher().id() == HashId::Xxh64 =>
            {
                let bytes = parquet::to_bytes(filter);
                let filter = Foreign::Parquet(parquet::from_bytes(&bytes)?.into());
                foreign::save(&filter, &self.output, &mut watch)?;
            }
            (FilterFile::Keys(filter), FormatName::Gowk) => {
                filter_file::save(filter, &self.output, &mut watch)?
            }
            (FilterFile::Ids(_), _) => {
                bail!(
                    "{} is a set of integers, not a filter of keys; there is nothing to convert it to",
                    self.filter.display()
                )
            }
            (FilterFile::Foreign(filter), _) => self.cannot(filter.format().name(), filter.hasher())?,
            (FilterFile::Keys(filter), _) => self.cannot("gowk", filter.hasher())?,
        }
        Ok(Found::Something)
    }

    fn cannot(&self, from: &str, hasher: &Hasher) -> anyhow::Result<()> {
        bail!(
            "{} holds bits of {} as {from} sets them, and bits of one hash cannot become bits of another: a filter does not know its keys; give them with --keys FILE",
            self.filter.display(),
            hasher.id().name()
        )
    }

    /// Builds the new filter from the keys, each of which must be in the old one.
    fn rebuild(&self, from: &FilterFile, watch: &mut Watch) -> anyhow::Result<()> {
        let input = self.key_args.input(&self.keys, watch)?;
        let stats = match from {
            FilterFile::Keys(filter) => {
                self.check_keys(filter, filter.hasher(), &input)?;
                filter.stats()
            }
            FilterFile::Foreign(filter) => {
                self.check_keys(filter, &foreign::hash(filter, self.key_args.keys().key_type)?, &input)?;
                filter.stats()
            }
            FilterFile::Ids(_) => {
                bail!("{} is a set of integers, not a filter of keys", self.filter.display())
            }
        };
        let (items, fpp) = (self.items.unwrap_or(stats.items), self.fpp.unwrap_or(stats.fpp));
        let threads = self.memory.threads();
        if self.to == FormatName::Gowk {
            let hasher = Hasher::new(self.seed.map_or_else(Seed::random, Seed::from));
            let mut filter = BlockedBloom::with_params(BlockedParams::for_fpp(items, fpp)?, hasher)?;
            let keys = self.key_args.keys();
            let states = map_in_order(
                input.blocks(),
                threads,
                || keys.extractor(),
                |extractor, block| {
                    let mut digests = Vec::new();
                    extractor.digests(block, &hasher, &mut digests)?;
                    anyhow::Ok(digests)
                },
                |digests| {
                    filter.insert_from(digests.into_iter());
                    Ok(())
                },
            )?;
            tell_skipped(states.iter().map(Extractor::skipped).sum());
            watch.done();
            return filter_file::save(&filter, &self.output, watch);
        }
        let size = (Some(items), fpp, self.seed);
        let (filter, skipped) = foreign::build(self.to, size, &input, &self.key_args, threads)?;
        tell_skipped(skipped);
        watch.done();
        foreign::save(&filter, &self.output, watch)
    }

    /// An error if a key is surely not in the old filter: it is then not the list that it was made from.
    fn check_keys<H: gowk::KeyHash + Sync>(
        &self,
        filter: &(impl Filter + Sync),
        hash: &H,
        input: &Input,
    ) -> anyhow::Result<()> {
        ensure!(
            input.can_be_read_twice(),
            "the keys are read twice, to hold them against the old filter and to build the new one; a pipe can be read once"
        );
        let keys = self.key_args.keys();
        let (mut asked, mut missing) = (0u64, 0u64);
        map_in_order(
            input.blocks(),
            self.memory.threads(),
            || keys.extractor(),
            |extractor, block| {
                let mut digests = Vec::new();
                extractor.digests(block, hash, &mut digests)?;
                let mut answers = vec![false; digests.len()];
                filter.answer(digests.into_iter(), &mut answers);
                anyhow::Ok((answers.len() as u64, answers.iter().filter(|answer| !**answer).count() as u64))
            },
            |(block_asked, block_missing)| {
                asked += block_asked;
                missing += block_missing;
                Ok(())
            },
        )?;
        ensure!(
            missing == 0,
            "{missing} of {asked} keys are surely not in {}: the list is another one, or --key-type is not that of the filter",
            self.filter.display()
        );
        Ok(())
    }
}

/// Whether a file of this format is what was asked for.
fn is_same(filter: &Foreign, to: FormatName) -> bool {
    match (filter, to) {
        (Foreign::Spark(filter), FormatName::SparkV1) => filter.maker().version() == Version::V1,
        (Foreign::Spark(filter), FormatName::SparkV2) => filter.maker().version() != Version::V1,
        // Redis keeps both under one name.
        (Foreign::RedisCuckoo(_), FormatName::Redisbloom) => true,
        (filter, to) => to.format() == Some(filter.format()) && filter.format() != Format::Roaring,
    }
}
