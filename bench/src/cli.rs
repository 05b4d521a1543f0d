//! Filters as files: built from 100M lines and asked, beside the ways in which people do without.

use anyhow::Context;
use std::fs;

use crate::{
    args::Jobs,
    jobs::{
        data::Data,
        process::run,
        race,
        rivals::{Answer, Contender, Databases, csv},
    },
};

pub(crate) fn run_all(options: &Jobs) -> anyhow::Result<()> {
    let data = Data::new(&options.dir, options.scale).context("cannot make the data")?;
    println!("{}\nscale {}, memory limit {}\n", crate::machine::describe(), options.scale, options.memory);
    phones(&data, options)?;
    let filter = build(&data, options)?;
    ask(&data, &filter, options)
}

/// The classic case.
fn phones(data: &Data, options: &Jobs) -> anyhow::Result<()> {
    let (known, asked) = data.phones()?;
    let (gowk, k, a) = (options.gowk.display(), known.display(), asked.display());
    let mut all = vec![
        Contender::new("gowk query", format!("{gowk} query {k} {a}"), options),
        Contender::new("grep -xFf", format!("grep -xFf {a} {k}"), options),
    ];
    let databases = Databases::new(options);
    if databases.duckdb {
        let query =
            format!("SELECT q FROM {} a SEMI JOIN {} b USING (q)", csv(&asked, "q"), csv(&known, "q"));
        all.push(Contender::new("DuckDB", databases.duck(&query), options));
    }
    race("5M phone numbers known, 10,000 asked, times the scale", &all, &[("grep", 5.0)], data, options)
}

/// A filter of 100M lines; and one for eight times as many, filled, of a gigabyte.
fn build(data: &Data, options: &Jobs) -> anyhow::Result<String> {
    const BAR: f64 = 20e6;
    let (one, two) = (data.queries(0)?, data.queries(1)?);
    let lines = data.lines_of_queries();
    let file = options.dir.join("bench.gowk").display().to_string();
    println!("## build, 1 %");
    println!("{:<28}{:>9}{:>10}{:>14}{:>14}", "", "wall s", "RSS MB", "file MB", "keys/s");
    let both = format!("{} {}", one.display(), two.display());
    for (name, inputs, times) in [
        ("8 times 100M lines", [both.as_str(); 4].join(" "), 8),
        ("100M lines", one.display().to_string(), 1),
    ] {
        let command = format!(
            "{} build {inputs} -o {file} --force --items {} --fpp 1% --memory {}",
            options.gowk.display(),
            lines * times,
            // The filter itself must be in memory.
            lines * times * 5 / 4 + (200 << 20),
        );
        let outcome = run(&command, &Answer::Printed, &options.dir)?;
        anyhow::ensure!(outcome.failure.is_none(), "{name}: {:?}", outcome.failure);
        let rate = (lines * times) as f64 / outcome.seconds;
        println!(
            "{name:<28}{:>9.2}{:>10}{:>14}{rate:>14.0}",
            outcome.seconds,
            outcome.peak >> 20,
            fs::metadata(&file)?.len() >> 20,
        );
        if times > 1 {
            println!(
                "target 20M keys/s into a file of a gigabyte: {} at {:.1}M",
                if rate >= BAR { "PASS" } else { "miss" },
                rate / 1e6
            );
        }
    }
    println!();
    Ok(file)
}

fn ask(data: &Data, filter: &str, options: &Jobs) -> anyhow::Result<()> {
    let (known, asked) = (data.queries(0)?, data.asked(1)?);
    let (gowk, dir, memory) = (options.gowk.display(), options.dir.display(), &options.memory);
    let (k, a) = (known.display(), asked.display());
    let sort = format!("sort -u -S 500M --parallel=2 -T {dir}");
    let mut all = vec![
        Contender::new("gowk query FILTER", format!("{gowk} query {filter} {a}"), options),
        Contender::new("gowk query LIST (exact)", format!("{gowk} query {k} {a} --memory {memory}"), options),
        Contender::new("sort -u, comm", format!("bash -c \"comm -12 <({sort} {a}) <({sort} {k})\""), options),
    ];
    let databases = Databases::new(options);
    if databases.duckdb {
        let query =
            format!("SELECT q FROM {} a SEMI JOIN {} b USING (q)", csv(&asked, "q"), csv(&known, "q"));
        all.push(Contender::new("DuckDB", databases.duck(&query), options));
    }
    race("10M asked of 100M known, times the scale", &all, &[], data, options)
}
