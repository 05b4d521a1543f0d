//! The command line: words in, numbers out.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::keys::KeyKind;

/// gowk beside its rivals.
#[derive(Parser)]
#[command(version, about, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Filters inside one process: space, speed, error rate and the machine's floor
    Inproc(Inproc),
    /// What an insert into a cuckoo filter costs, by how full it is
    Load(Load),
    /// The module inside a Redis server: processor time of the server per item
    Redis(Redis),
    /// Filters on plain servers and a cluster, beside SETBIT on one bitmap and the module
    Cluster(ClusterBench),
    /// Set jobs on files, beside sort, rg, DuckDB and chDB as far as they are there
    Jobs(Jobs),
    /// Filters as files, built from 100M lines and asked, beside grep, sort and comm, and DuckDB
    Cli(Jobs),
    /// Guava's filter, asked by Guava in a JVM and by us from the same file
    Guava(Guava),
}

#[derive(Args)]
pub(crate) struct Inproc {
    /// How many keys to insert
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_value = "1M,10M,100M", value_parser = count)]
    pub(crate) items: Vec<usize>,

    /// False-positive rates to ask for
    #[arg(long, value_name = "RATE,..", value_delimiter = ',', default_value = "1%,0.1%", value_parser = rate)]
    pub(crate) fpp: Vec<f64>,

    /// What the keys are
    #[arg(long, value_name = "KIND,..", value_delimiter = ',', default_value = "u64,text,ids")]
    pub(crate) keys: Vec<KeyKind>,

    /// Only rows whose name contains one of these (case does not matter)
    #[arg(long, value_name = "SUBSTR,..", value_delimiter = ',')]
    pub(crate) only: Vec<String>,

    /// How often to go round all rows; the best round counts
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: u32,

    /// How many keys to look up, hits and misses each; fewer than 4M measure the error rate badly
    #[arg(long, value_name = "N", default_value = "4M", value_parser = count)]
    pub(crate) lookups: usize,

    /// Also write every figure to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct Redis {
    /// The module; `cargo build --release -p gowk-module` makes it
    #[arg(long, value_name = "FILE", default_value = "target/release/libgowk.so")]
    pub(crate) module: PathBuf,

    /// RedisBloom's module, to be measured beside it
    #[arg(long, value_name = "FILE")]
    pub(crate) rival: Option<PathBuf>,

    /// The server to start
    #[arg(long, value_name = "PROGRAM", default_value = "redis-server")]
    pub(crate) server: PathBuf,

    /// Capacity of the filters; they hold half of it
    #[arg(long, value_name = "N", default_value = "10M", value_parser = count)]
    pub(crate) items: usize,

    /// How often to go round all rows; the best round counts
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: u32,
}

#[derive(Args)]
pub(crate) struct ClusterBench {
    /// The module; `cargo build --release -p gowk-module` makes it
    #[arg(long, value_name = "FILE", default_value = "target/release/libgowk.so")]
    pub(crate) module: PathBuf,

    /// How many keys
    #[arg(long, value_name = "N", default_value = "1M", value_parser = count)]
    pub(crate) items: usize,

    /// The false-positive rate to ask for
    #[arg(long, value_name = "RATE", default_value = "1%", value_parser = rate)]
    pub(crate) fpp: f64,

    /// In how many rounds they are added and asked; the best counts
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: u32,
}

#[derive(Args)]
pub(crate) struct Load {
    /// How many slots the table has
    #[arg(long, value_name = "N", default_value = "1M", value_parser = count)]
    pub(crate) slots: usize,

    /// How many tables to fill; the best of them counts
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: u32,
}

#[derive(Args)]
pub(crate) struct Guava {
    /// How many keys to insert
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_value = "100k,1M,10M", value_parser = count)]
    pub(crate) items: Vec<usize>,

    /// The false-positive rate to ask for
    #[arg(long, value_name = "RATE", default_value = "1%", value_parser = rate)]
    pub(crate) fpp: f64,

    /// How often to start the JVM and to ask beside it; the best round counts
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: u32,

    /// Guava, as Debian's libguava-java installs it
    #[arg(long, value_name = "JAR", default_value = "/usr/share/java/guava.jar")]
    pub(crate) jar: PathBuf,
}

#[derive(Args)]
pub(crate) struct Jobs {
    /// How much data: 1 is 100M queries, 1.8 GB of log, 200M integers, 2 GB of texts
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub(crate) scale: f64,

    /// Where the data is made and kept, and temporary data goes
    #[arg(long, value_name = "DIR", default_value = "target/jobs")]
    pub(crate) dir: PathBuf,

    /// The program; built with `cargo build --release`
    #[arg(long, value_name = "FILE", default_value = "target/release/gowk")]
    pub(crate) gowk: PathBuf,

    /// A Python that may have duckdb and chdb
    #[arg(long, value_name = "FILE", default_value = "python3")]
    pub(crate) python: PathBuf,

    /// The memory limit of ours; rivals have 1 GB
    #[arg(long, value_name = "SIZE", default_value = "1000000000")]
    pub(crate) memory: String,

    /// Only jobs whose name contains one of these
    #[arg(long, value_name = "SUBSTR,..", value_delimiter = ',')]
    pub(crate) only: Vec<String>,

    /// How often to go round all; the best counts
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: u32,
}

impl Inproc {
    /// Whether `--only` lets a row of this name through.
    pub(crate) fn wants(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.only.is_empty() || self.only.iter().any(|part| name.contains(&part.to_lowercase()))
    }
}

/// `250`, `10k`, `1.5M`, `1G`.
fn count(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 1e3),
        Some((at, 'm' | 'M')) => (&text[..at], 1e6),
        Some((at, 'g' | 'G' | 'b' | 'B')) => (&text[..at], 1e9),
        _ => (text, 1.0),
    };
    let number: f64 =
        digits.parse().map_err(|_| format!("`{text}` is no count; write 250, 10k, 1.5M or 1G"))?;
    let count = number * unit;
    if (1.0..=1e12).contains(&count) {
        Ok(count as usize)
    } else {
        Err(format!("`{text}` is not between 1 and 1000G"))
    }
}

/// `1%` or `0.01`.
fn rate(text: &str) -> Result<f64, String> {
    let (digits, unit) = text.strip_suffix('%').map_or((text, 1.0), |digits| (digits, 0.01));
    let number: f64 = digits.trim().parse().map_err(|_| format!("`{text}` is no rate; write 1% or 0.01"))?;
    let rate = number * unit;
    if rate > 0.0 && rate < 1.0 { Ok(rate) } else { Err(format!("`{text}` is not between 0 and 100%")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn counts_take_units() {
        assert_eq!(count("250"), Ok(250));
        assert_eq!(count("10k"), Ok(10_000));
        assert_eq!(count("1.5M"), Ok(1_500_000));
        assert_eq!(count("1G"), Ok(1_000_000_000));
        for bad in ["", "M", "0", "-1", "1T", "nan"] {
            assert!(count(bad).is_err(), "{bad:?} was taken for a count");
        }
    }

    #[test]
    fn rates_are_percent_or_plain() {
        assert_eq!(rate("1%"), Ok(0.01));
        assert_eq!(rate("0.001"), Ok(0.001));
        for bad in ["", "0", "1", "100%", "nan", "-1%"] {
            assert!(rate(bad).is_err(), "{bad:?} was taken for a rate");
        }
    }
}
