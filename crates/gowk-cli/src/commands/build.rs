//! `gowk build`: a filter from files of keys.

use crate::{
    exit::Found,
    lines::{Source, lines},
};
use anyhow::{Context, bail};
use gowk::{BlockedBloom, FoldingBuilder, Hasher, Insert, Persist, Seed};
use std::path::PathBuf;

/// Builds a filter from files of keys, one a line.
///
/// Without --items the files are read once into room for as many keys as their bytes could hold, and the filter is then folded
/// down to the keys that came.
#[derive(clap::Args)]
pub(crate) struct Build {
    /// Files of keys; standard input if there are none, or where it says -
    keys: Vec<PathBuf>,
    /// The filter to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// How often a key that is not in the set may be taken for one that is
    #[arg(long, default_value = "1%", value_parser = parse_rate, value_name = "RATE")]
    fpp: f64,
    /// How many different keys will come, if you know
    #[arg(long, value_parser = parse_count, value_name = "N")]
    items: Option<u64>,
    /// A fixed seed, so that the same keys give the same file; random otherwise
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Hash with SipHash, for keys that an adversary may choose
    #[arg(long)]
    hardened: bool,
    /// Replace the file if there is one
    #[arg(long)]
    force: bool,
}

impl Build {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        if self.output.exists() && !self.force {
            bail!("{} is there already; --force replaces it", self.output.display());
        }
        let seed = self.seed.map_or_else(Seed::random, Seed::from);
        let hasher = if self.hardened { Hasher::hardened(seed) } else { Hasher::new(seed) };
        let sources = self.sources()?;
        let filter = match self.items {
            Some(items) => {
                let mut filter =
                    BlockedBloom::builder().items(items).fpp(self.fpp).hasher(&hasher).build()?;
                insert_lines(sources, &mut filter)?;
                filter
            }
            None => {
                let mut builder = FoldingBuilder::new(most_keys(&sources), self.fpp, hasher)?;
                insert_lines(sources, &mut builder)?;
                builder.finish()
            }
        };
        filter.save(&self.output).with_context(|| format!("cannot write {}", self.output.display()))?;
        Ok(Found::Something)
    }

    fn sources(&self) -> anyhow::Result<Vec<Source>> {
        let stdin = [PathBuf::from("-")];
        let paths = if self.keys.is_empty() { &stdin[..] } else { &self.keys };
        paths.iter().map(|path| Source::open(path)).collect()
    }
}

fn insert_lines(sources: Vec<Source>, filter: &mut impl Insert<Outcome<()> = ()>) -> anyhow::Result<()> {
    let hasher = *filter.hasher();
    for source in sources {
        source.for_each_block(|block| {
            filter.insert_from(lines(block).map(|key| hasher.digest(key)));
            Ok(())
        })?;
    }
    Ok(())
}

/// The keys that the sources could hold at the most, near enough: lines of eight bytes, and a hundred million where a pipe
/// does not tell.
fn most_keys(sources: &[Source]) -> u64 {
    let bytes = sources.iter().map(Source::size).sum::<Option<u64>>();
    bytes.map_or(100_000_000, |bytes| bytes / 8).clamp(1_000, 1 << 36)
}

/// A rate as people write it: 1%, 0.01, 1e-2.
fn parse_rate(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(percent) => (percent.trim(), 0.01),
        None => (text, 1.0),
    };
    match number.parse::<f64>() {
        Ok(number) if number * unit > 0.0 && number * unit < 1.0 => Ok(number * unit),
        _ => Err("a rate is above 0 and below 1, as in 1%, 0.01 or 1e-2".into()),
    }
}

/// A count as people write it: 1000, 10k, 5M, 2G.
fn parse_count(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 1e3),
        Some((at, 'm' | 'M')) => (&text[..at], 1e6),
        Some((at, 'g' | 'G')) => (&text[..at], 1e9),
        _ => (text, 1.0),
    };
    match digits.parse::<f64>() {
        Ok(number) if (1.0..1e18).contains(&(number * unit)) => Ok((number * unit) as u64),
        _ => Err("a count is a whole number from 1 on, as in 1000, 10k, 5M or 2G".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        assert_eq!(parse_rate("1%"), Ok(0.01));
        assert_eq!(parse_rate("1e-3"), Ok(0.001));
        assert!(parse_rate("0").is_err() && parse_rate("100%").is_err() && parse_rate("NaN").is_err());
        assert_eq!(parse_count("5M"), Ok(5_000_000));
        assert_eq!(parse_count("1.5k"), Ok(1_500));
        assert!(parse_count("").is_err() && parse_count("-1").is_err() && parse_count("many").is_err());
    }
}
