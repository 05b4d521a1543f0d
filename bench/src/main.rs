//! gowk beside its rivals: the same keys, the same clock, the same run.
//!
//! Knows the subcommands and nothing else; each lives in a file of its name.

mod alloc;
mod args;
mod cli;
mod clock;
mod cluster;
mod floor;
mod guava;
mod hashing;
mod inproc;
mod jobs;
mod keys;
mod load;
mod losses;
mod machine;
mod measure;
mod peers;
mod redis;
mod report;
mod results;
mod targets;

use clap::Parser;

use crate::args::{Cli, Command};

#[global_allocator]
static ALLOCATOR: alloc::Counting = alloc::Counting;

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Inproc(options) => inproc::run(&options),
        Command::Load(options) => load::run(&options),
        Command::Redis(options) => redis::run(&options),
        Command::Cluster(options) => cluster::run(&options),
        Command::Jobs(options) => jobs::run_all(&options),
        Command::Cli(options) => cli::run_all(&options),
        Command::Guava(options) => guava::run(&options),
    }
}
