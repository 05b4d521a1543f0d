//! The arguments of the whole program.

#[cfg(feature = "web")]
use crate::commands::web;
use crate::{
    commands::{
        add, bench, build, compare, convert, distinct, generate, help, index, info, merge, once, plan, query,
        redis, remove, topk, union, words,
    },
    exit::Found,
};
use clap::CommandFactory;

/// Is it in the set? Asks files of keys, and filters of them, of any size
///
/// A filter takes about ten bits a key instead of the keys themselves and answers "surely not" or "maybe", with the chance of a wrong
/// "maybe" that you asked for.
#[derive(clap::Parser)]
#[command(
    name = "gowk",
    version,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    max_term_width = 132,
    after_help = "gowk COMMAND -h is short, gowk COMMAND --help tells all. Topics: gowk help keys|numbers|families|exit.",
    after_long_help = "\
Examples:
  gowk query known.txt asked.txt                which of these keys are known? exact, from a list
  gowk build urls.txt -o seen.gowk --fpp 0.1%   a filter of them, 15 bits each
  gowk query seen.gowk today.txt                the lines that may be in it
  gowk plan --items 100M --fpp 0.1%             which filter to take, and what it costs
  gowk distinct huge.txt --memory 1G            each line once, exactly, within 1 GB
  gowk topk -k 10 -f 1 -d ' ' access.log        the busiest addresses

Topics: gowk help keys|numbers|families|exit."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Query(query::Query),
    Build(build::Build),
    Info(info::Info),
    Add(add::Add),
    Remove(remove::Remove),
    Merge(merge::Merge),
    Convert(convert::Convert),
    Plan(plan::Plan),
    Distinct(distinct::Distinct),
    Intersect(compare::Intersect),
    Subtract(compare::Subtract),
    Union(union::Union),
    Topk(topk::Topk),
    Once(once::Once),
    Words(words::Words),
    Index(index::Index),
    Redis(redis::Redis),
    Bench(bench::Bench),
    #[cfg(feature = "web")]
    Web(web::Web),
    Help(help::Help),
    Man(generate::Man),
    Completions(generate::Completions),
}

/// The program as its help, man page and completions see it.
pub(crate) fn command() -> clap::Command {
    let mut command = Args::command();
    command.build();
    command
}

impl Args {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        match self.command {
            Command::Query(query) => query.run(),
            Command::Build(build) => build.run(),
            Command::Info(info) => info.run(),
            Command::Add(add) => add.run(),
            Command::Remove(remove) => remove.run(),
            Command::Merge(merge) => merge.run(),
            Command::Convert(convert) => convert.run(),
            Command::Plan(plan) => plan.run(),
            Command::Distinct(distinct) => distinct.run(),
            Command::Intersect(intersect) => intersect.run(),
            Command::Subtract(subtract) => subtract.run(),
            Command::Union(union) => union.run(),
            Command::Topk(topk) => topk.run(),
            Command::Once(once) => once.run(),
            Command::Words(words) => words.run(),
            Command::Index(index) => index.run(),
            Command::Redis(redis) => redis.run(),
            Command::Bench(bench) => bench.run(),
            #[cfg(feature = "web")]
            Command::Web(web) => web.run(),
            Command::Help(help) => help.run(),
            Command::Man(man) => man.run(),
            Command::Completions(completions) => completions.run(),
        }
    }
}
