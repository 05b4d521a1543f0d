//! Filters of other systems: what they are called, how their keys are written, how they are made.

use crate::{
    filter_file,
    numbers::{self, grouped},
    options::{KeyArgs, OutputArgs},
    progress::Watch,
};
use anyhow::{Context, bail};
use gowk::{
    Filter,
    format::{
        dcso::DcsoBloom,
        foreign::{
            Foreign, Format,
            bloom::Maker,
            keys::{MakersHash, NumberForm},
        },
        guava::GuavaBloom,
        leveldb::{LevelDb, LevelDbBloom},
        parquet::{self, Physical},
        redisbloom::{RedisBloom, RedisCuckoo},
        spark::{SparkBloom, Version},
    },
};
use gowk_jobs::input::{Block, Extractor, Input, KeyType, Keys, for_each_block, map_in_order};
use std::{num::NonZeroUsize, path::Path};

/// What `--format` and `--to` take.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FormatName {
    /// Our own
    Gowk,
    /// Guava's BloomFilter.writeTo
    Guava,
    /// Spark's BloomFilter, version 2 where one is made
    Spark,
    /// Spark's BloomFilter, version 1
    SparkV1,
    /// Spark's BloomFilter, version 2
    SparkV2,
    /// Parquet's split-block filter, bare or in a Parquet file
    Parquet,
    /// Chunks of BF.SCANDUMP
    Redisbloom,
    /// Chunks of CF.SCANDUMP
    RedisCuckoo,
    /// DCSO and hashlookup .bloom
    Dcso,
    /// A filter of LevelDB's policy
    Leveldb,
    /// Roaring's portable format
    Roaring,
}

impl FormatName {
    /// The format of a file; none for our own files and sets.
    pub(crate) fn format(self) -> Option<Format> {
        Some(match self {
            Self::Gowk | Self::Roaring => return None,
            Self::Guava => Format::Guava,
            Self::Spark | Self::SparkV1 | Self::SparkV2 => Format::Spark,
            Self::Parquet => Format::Parquet,
            Self::Redisbloom => Format::RedisBloom,
            Self::RedisCuckoo => Format::RedisCuckoo,
            Self::Dcso => Format::Dcso,
            Self::Leveldb => Format::LevelDb,
        })
    }

    /// An empty filter, sized as its maker would size it.
    pub(crate) fn empty(self, items: u64, fpp: f64, seed: i32) -> anyhow::Result<Foreign> {
        Ok(match self {
            Self::Guava => GuavaBloom::create(items, fpp)?.into(),
            Self::Spark | Self::SparkV2 => SparkBloom::create(items, fpp, Version::V2 { seed })?.into(),
            Self::SparkV1 => SparkBloom::create(items, fpp, Version::V1)?.into(),
            Self::Parquet => Foreign::Parquet(parquet::create(items, fpp)?.into()),
            Self::Redisbloom => Foreign::RedisBloom(RedisBloom::reserve(fpp, items, Some(2))?),
            Self::RedisCuckoo => Foreign::RedisCuckoo(RedisCuckoo::reserve(items)?),
            Self::Dcso => DcsoBloom::create(items, fpp)?.into(),
            Self::Leveldb => LevelDbBloom::create(items, LevelDb::bits_per_key(fpp)?)?.into(),
            Self::Gowk | Self::Roaring => bail!("this is not a filter of another system; leave --format out"),
        })
    }
}

/// The file of another system.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Filters of other systems")]
pub(crate) struct FormatArgs {
    /// What kind of file it is: gowk, guava, spark, parquet, redisbloom, redis-cuckoo, dcso, leveldb or roaring [default: told by its bytes]
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    pub(crate) format: Option<FormatName>,
    /// The column of a Parquet file whose filters are asked; need not be named if only one has any
    #[arg(long, value_name = "NAME")]
    pub(crate) column: Option<String>,
}

impl FormatArgs {
    /// The filter of another system in this file, if it is one.
    pub(crate) fn open(&self, path: &Path) -> anyhow::Result<Option<Foreign>> {
        let cannot = || format!("cannot open {}", path.display());
        let format = match self.format {
            Some(name) => name.format(),
            None => filter_file::sniff(path).with_context(cannot)?,
        };
        match format {
            None | Some(Format::Roaring) => Ok(None),
            Some(format) => {
                Foreign::open_as(path, format, self.column.as_deref()).with_context(cannot).map(Some)
            }
        }
    }
}

/// How asked keys are read if nobody says: as the column has them, else as text.
pub(crate) fn key_type(filter: &Foreign) -> KeyType {
    match physical(filter) {
        Some(Physical::Int32) => KeyType::I32,
        Some(Physical::Int64) => KeyType::I64,
        Some(Physical::Float | Physical::Double) => KeyType::F64,
        _ => KeyType::Text,
    }
}

fn physical(filter: &Foreign) -> Option<Physical> {
    match filter {
        Foreign::Parquet(filters) => Some(filters.physical()),
        _ => None,
    }
}

/// The hash of a filter, with numbers in the form that its maker gives them.
pub(crate) fn hash(filter: &Foreign, key_type: KeyType) -> anyhow::Result<MakersHash> {
    let is_number = key_type.number().is_some();
    let form = key_type.number().map_or(NumberForm::Eight, |number| filter.number_form(number));
    if let Foreign::Parquet(filters) = filter {
        let wanted = match filters.physical() {
            Physical::Bytes if is_number => Some("text, hex or utf16"),
            Physical::Int32 if key_type != KeyType::I32 => Some("i32"),
            Physical::Int64 if !matches!(key_type, KeyType::I64 | KeyType::U64) => Some("i64"),
            Physical::Float | Physical::Double if key_type != KeyType::F64 => Some("f64"),
            _ => None,
        };
        if let Some(wanted) = wanted {
            bail!(
                "column {} of the Parquet file is {}; ask with --key-type {wanted}, not {key_type}",
                filters.column().unwrap_or("?"),
                filters.physical().name()
            );
        }
    }
    Ok(MakersHash::new(*filter.hasher(), form))
}

/// Puts all keys of the input into a filter; gives how many lines had none.
pub(crate) fn fill(
    filter: &mut Foreign,
    input: &Input,
    keys: &Keys,
    threads: NonZeroUsize,
) -> anyhow::Result<u64> {
    let hash = hash(filter, keys.key_type)?;
    let states = map_in_order(
        input.blocks(),
        threads,
        || keys.extractor(),
        |extractor, block| {
            let mut digests = Vec::new();
            extractor.digests(block, &hash, &mut digests)?;
            anyhow::Ok(digests)
        },
        |digests| Ok(filter.insert_from(digests.into_iter())?),
    )?;
    Ok(states.iter().map(Extractor::skipped).sum())
}

/// An empty filter of this format, filled with the keys of the input; sized by their number if nobody said it.
pub(crate) fn build(
    name: FormatName,
    (items, fpp, seed): (Option<u64>, f64, Option<u64>),
    input: &Input,
    key_args: &KeyArgs,
    threads: NonZeroUsize,
) -> anyhow::Result<(Foreign, u64)> {
    let seed = match seed.map(i32::try_from).transpose() {
        Ok(seed) => seed.unwrap_or(0),
        Err(_) => bail!("--seed of a Spark filter is from 0 to {}", i32::MAX),
    };
    let items = match items {
        Some(items) => items,
        None if input.can_be_read_twice() => count_lines(input, threads)?.max(1),
        None => bail!("keys through a pipe are read once; say how many will come with --items"),
    };
    let mut filter = name.empty(items, fpp, seed)?;
    let skipped = fill(&mut filter, input, &key_args.keys(), threads)?;
    Ok((filter, skipped))
}

fn count_lines(input: &Input, threads: NonZeroUsize) -> anyhow::Result<u64> {
    let count = |count: &mut u64, block: &Block| {
        *count += block.count();
        anyhow::Ok(())
    };
    Ok(for_each_block(input.blocks(), threads, || 0, count)?.iter().sum())
}

/// Writes a filter as its maker would.
pub(crate) fn save(filter: &Foreign, output: &OutputArgs, watch: &mut Watch) -> anyhow::Result<()> {
    if output.is_stdout() {
        let bytes = filter.to_bytes().context("filters of several row groups have no file of their own")?;
        return filter_file::write_stdout(|out| std::io::Write::write_all(out, &bytes));
    }
    save_to(filter, &output.output, watch)
}

/// As [`save`], to a file that may be there.
pub(crate) fn save_to(filter: &Foreign, path: &Path, watch: &mut Watch) -> anyhow::Result<()> {
    watch.uninterrupted(|| filter.save(path)).with_context(|| format!("cannot write {}", path.display()))
}

/// Format and shape, in words.
pub(crate) fn shape(filter: &Foreign) -> String {
    fn bits(maker: &impl Maker) -> String {
        format!("{} bits, {} probes", grouped(maker.bits()), maker.probes())
    }
    match filter {
        Foreign::Guava(filter) => format!("{}, {}", filter.maker().strategy().name(), bits(filter.maker())),
        Foreign::Spark(filter) => {
            let seed = match filter.maker().version() {
                Version::V2 { seed } => format!(", seed {seed}"),
                Version::V1 => String::new(),
            };
            format!("version {}{seed}, {}", filter.maker().version().number(), bits(filter.maker()))
        }
        Foreign::Dcso(filter) => {
            let (maker, data) = (filter.maker(), numbers::bytes(filter.maker().data().len() as f64));
            format!("{}, {} keys counted, {data} of data", bits(maker), grouped(maker.inserted()))
        }
        Foreign::RedisBloom(filter) => {
            let links: Vec<String> = filter.links().map(bits).collect();
            format!("{} keys counted, links: {}", grouped(filter.keys()), links.join("; "))
        }
        Foreign::RedisCuckoo(filter) => format!(
            "{} keys, {} deleted, {} filters from {} buckets of {} slots",
            grouped(filter.keys()),
            grouped(filter.deletes()),
            filter.filters(),
            grouped(filter.buckets()),
            filter.slots()
        ),
        Foreign::Parquet(filters) => format!(
            "{}{} of split blocks of 256 bits",
            filters.column().map_or(String::new(), |column| {
                format!("column {column} ({}), ", filters.physical().name())
            }),
            match filters.filters() {
                [_] => "a filter".to_owned(),
                all => format!("{} row groups, filters", all.len()),
            }
        ),
        Foreign::LevelDb(filter) => bits(filter.maker()),
        _ => "unknown".into(),
    }
}
