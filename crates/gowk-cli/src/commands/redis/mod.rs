//! `gowk redis`: filters on servers.

mod keys;
mod life;
mod query;
mod servers;
mod transfer;

pub(crate) use servers::URL;

use crate::exit::Found;

/// Filters spread over plain Redis, Valkey or a Redis Cluster
///
/// No module is needed on the servers, and no node holds all of a filter: it is cut into strings of at most 512 KB, which a cluster
/// spreads over all its nodes.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  export GOWK_REDIS_URL=redis://127.0.0.1:6379
  gowk redis create seen --items 100M --fpp 0.1%
  gowk redis add seen urls.txt.gz
  gowk redis query seen today.txt              the lines that may be in it
  gowk redis rebuild seen current.txt          fill it anew while it answers, then switch
  gowk redis export seen -o seen.gowk          the same filter as a file")]
pub(crate) struct Redis {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Create(life::Create),
    Add(keys::Add),
    Query(query::Query),
    Remove(keys::Remove),
    Info(life::Info),
    List(life::List),
    Rebuild(keys::Rebuild),
    Export(transfer::Export),
    Import(transfer::Import),
    Expire(life::Expire),
    Clear(life::Clear),
    Drop(life::Drop),
}

impl Redis {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        match self.command {
            Command::Create(create) => create.run(),
            Command::Add(add) => add.run(),
            Command::Query(query) => query.run(),
            Command::Remove(remove) => remove.run(),
            Command::Info(info) => info.run(),
            Command::List(list) => list.run(),
            Command::Rebuild(rebuild) => rebuild.run(),
            Command::Export(export) => export.run(),
            Command::Import(import) => import.run(),
            Command::Expire(expire) => expire.run(),
            Command::Clear(clear) => clear.run(),
            Command::Drop(drop) => drop.run(),
        }
    }
}
