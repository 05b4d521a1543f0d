//! The run: which configurations, in which order, and the rows taking turns in each.
//!
//! Every round goes through all rows before the next begins, so a slow minute of the machine falls on all alike.

use std::fs::File;
use std::io::{BufWriter, Write};

use anyhow::Context;

use crate::args::Inproc;
use crate::floor::{self, FloorFigures};
use crate::keys::{Draw, KeyKind, Workload};
use crate::peers::{self, Ask, Row};
use crate::results::{Figures, Group, Measured, Results, Skipped, count};
use crate::{alloc, hashing, losses, machine, measure, report, targets};

pub(crate) fn run(options: &Inproc) -> anyhow::Result<()> {
    alloc::map_large_blocks();
    let machine = machine::describe();
    if machine::stay_on_one_core().is_none() {
        eprintln!("could not stay on one core: expect more noise");
    }
    let mut results = Results {
        machine,
        rounds: options.rounds,
        lookups: options.lookups,
        hashing: hashing::measure(),
        groups: Vec::new(),
    };
    print!("{}", report::header(&results));
    for &keys in &options.keys {
        for &items in &options.items {
            run_keys(options, keys, items, &mut results.groups)?;
        }
    }
    print!("{}", losses::list(&results));
    print!("{}", targets::list(&results));
    if let Some(path) = &options.json {
        let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        let mut out = BufWriter::new(file);
        serde_json::to_writer_pretty(&mut out, &results)?;
        out.flush()?;
    }
    Ok(())
}

/// All rates over one set of keys, which is made once.
fn run_keys(options: &Inproc, kind: KeyKind, items: usize, groups: &mut Vec<Group>) -> anyhow::Result<()> {
    eprintln!("{} {} keys: drawing", count(items), kind.name());
    let draw = Draw { items, lookups: options.lookups };
    let asks: Vec<Option<f64>> = options.fpp.iter().copied().map(Some).collect();
    match kind {
        KeyKind::U64 => run_rates(options, kind, &asks, &draw.integers(), groups, peers::filters),
        KeyKind::Text => run_rates(options, kind, &asks, &draw.text().workload(), groups, peers::filters),
        KeyKind::Ids => run_rates(options, kind, &[None], &draw.ids(), groups, peers::bitmaps),
    }
}

fn run_rates<'k, K>(
    options: &Inproc,
    keys: KeyKind,
    rates: &[Option<f64>],
    workload: &Workload<K>,
    groups: &mut Vec<Group>,
    rows: impl Fn() -> Vec<Row<'k, K>>,
) -> anyhow::Result<()> {
    for &fpp in rates {
        let wanted = rows().into_iter().filter(|row| options.wants(row.name)).collect();
        let group = run_group(options.rounds, keys, fpp, workload, wanted)?;
        print!("{}", report::table(&group));
        groups.push(group);
    }
    Ok(())
}

/// One table.
fn run_group<'k, K: 'k>(
    rounds: u32,
    keys: KeyKind,
    fpp: Option<f64>,
    workload: &Workload<K>,
    rows: Vec<Row<'k, K>>,
) -> anyhow::Result<Group> {
    let items = workload.inserted.len();
    // Exact sets are never asked for a rate; any will do.
    let ask = Ask { items, fpp: fpp.unwrap_or(0.01), seed: 0 };
    let skipped =
        rows.iter().filter_map(|row| Some(Skipped { name: row.name, why: row.skipped(ask)? })).collect();
    let rows: Vec<_> = rows.into_iter().filter(|row| row.skipped(ask).is_none()).collect();

    let mut floor: Option<FloorFigures> = None;
    let mut figures: Vec<Option<Figures>> = rows.iter().map(|_| None).collect();
    for round in 1..=rounds {
        let now = floor::measure(items, workload.hits.len());
        floor = Some(floor.map_or(now, |best| best.best(now)));
        for (row, best) in rows.iter().zip(&mut figures) {
            eprintln!("{} {} keys, round {round} of {rounds}: {}", count(items), keys.name(), row.name);
            alloc::return_free_memory();
            let now = measure::round(row, Ask { seed: u64::from(round), ..ask }, workload)?;
            *best = Some(match best.take() {
                Some(before) => before.best(now),
                None => now,
            });
        }
    }
    let measured = rows.iter().zip(figures).filter_map(|(row, figures)| {
        Some(Measured { name: row.name, against: row.against, figures: figures? })
    });
    let floor = floor.context("at least one round was asked for")?;
    Ok(Group { keys, items, fpp, floor, rows: measured.collect(), skipped })
}
