//! Set jobs beside the tools that people use for them: the same data, one run, time and peak memory of each process.

pub(crate) mod data;
pub(crate) mod process;
pub(crate) mod rivals;

use anyhow::Context;
use data::Data;
use process::{Outcome, run};
use rivals::{Contender, Job, contenders};

use crate::args::Jobs;

/// How much faster than which rival a job should be.
const TARGETS: [(Job, &str, f64); 6] = [
    (Job::Distinct, "chDB", 2.5),
    (Job::Distinct, "sort -u", 6.0),
    (Job::Intersect, "DuckDB", 8.0),
    (Job::Top, "chDB", 3.0),
    (Job::Once, "DuckDB", 4.0),
    (Job::Words, "rg", 4.0),
];

pub(crate) fn run_all(options: &Jobs) -> anyhow::Result<()> {
    let data = Data::new(&options.dir, options.scale).context("cannot make the data")?;
    println!(
        "{}\nscale {}, memory limit {} where a tool has one\n",
        crate::machine::describe(),
        options.scale,
        options.memory
    );
    for job in [Job::Distinct, Job::Intersect, Job::Top, Job::Once, Job::Words] {
        if !options.only.is_empty() && !options.only.iter().any(|only| job.name().contains(only.as_str())) {
            continue;
        }
        one_job(job, &data, options)?;
    }
    Ok(())
}

fn one_job(job: Job, data: &Data, options: &Jobs) -> anyhow::Result<()> {
    let targets: Vec<(&str, f64)> =
        TARGETS.iter().filter(|target| target.0 == job).map(|target| (target.1, target.2)).collect();
    race(job.title(), &contenders(job, data, options)?, &targets, data, options)
}

/// Runs all in turn, ours first, and prints what each took. `targets` are rivals and how much slower they should be.
pub(crate) fn race(
    title: &str,
    contenders: &[Contender],
    targets: &[(&str, f64)],
    data: &Data,
    options: &Jobs,
) -> anyhow::Result<()> {
    println!("## {title}");
    println!("{:<28}{:>9}{:>10}{:>14}{:>9}", "", "wall s", "RSS MB", "lines out", "ratio");
    let mut best: Vec<(&Contender, Option<Outcome>)> =
        contenders.iter().map(|contender| (contender, None)).collect();
    // Interleaved, so that a slow minute of the machine is shared.
    for _ in 0..options.rounds {
        for (contender, best) in &mut best {
            data.settle()?;
            let outcome = run(&contender.command, &contender.answer, &options.dir)?;
            if best.as_ref().is_none_or(|best| outcome.better_than(best)) {
                *best = Some(outcome);
            }
        }
    }
    let ours = best.first().and_then(|(_, outcome)| outcome.clone());
    for (contender, outcome) in &best {
        let (Some(outcome), Some(ours)) = (outcome, &ours) else { continue };
        match &outcome.failure {
            Some(why) => {
                println!("{:<28}{:>9.2}{:>10}   {why}", contender.name, outcome.seconds, outcome.peak >> 20)
            }
            None => println!(
                "{:<28}{:>9.2}{:>10}{:>14}{:>8.2}x",
                contender.name,
                outcome.seconds,
                outcome.peak >> 20,
                outcome.lines.map_or_else(|| "-".to_owned(), |lines| lines.to_string()),
                outcome.seconds / ours.seconds
            ),
        }
        let differ = outcome.lines.zip(ours.lines).is_some_and(|(theirs, ours)| theirs != ours);
        if outcome.failure.is_none() && ours.failure.is_none() && differ {
            println!("  its answer has another number of lines than ours");
        }
    }
    for (rival, factor) in targets {
        let theirs = best.iter().find(|(contender, _)| contender.name.starts_with(rival));
        let ratio = theirs.and_then(|(_, theirs)| Some(theirs.as_ref()?.seconds / ours.as_ref()?.seconds));
        match ratio {
            Some(ratio) => println!(
                "target {factor}x {rival}: {} at {ratio:.2}x",
                if ratio >= *factor { "PASS" } else { "miss" }
            ),
            None => println!("target {factor}x {rival}: not run, it is not here"),
        }
    }
    println!();
    Ok(())
}
