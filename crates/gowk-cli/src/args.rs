//! The arguments of the whole program.

use crate::{commands, exit::Found};

/// Is it in the set? Asks files of keys, and filters of them, of any size.
#[derive(clap::Parser)]
#[command(name = "gowk", version, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Query(commands::query::Query),
    Build(commands::build::Build),
    Info(commands::info::Info),
}

impl Args {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        match self.command {
            Command::Query(query) => query.run(),
            Command::Build(build) => build.run(),
            Command::Info(info) => info.run(),
        }
    }
}
