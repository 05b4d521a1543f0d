//! The tables, as people read them.

use std::fmt::Write;

use crate::results::{BULK, Figures, Group, Measured, ONE_BY_ONE, Results, SPACE, count};

/// What stands above the first table.
pub(crate) fn header(results: &Results) -> String {
    format!(
        "{}\n{} lookups of each sort, best of {} rounds, ns of processor time per key; \
         theirs / ours: above 1 we win\n",
        results.machine,
        count(results.lookups),
        results.rounds,
    )
}

pub(crate) fn table(group: &Group) -> String {
    let mut text = format!("\n## {}\n{}\n", group.title(), floor(group));
    text += &headings();
    for row in &group.rows {
        text += &line(group, row);
    }
    for skipped in &group.skipped {
        let _ = writeln!(text, "skipped: {}: {}", skipped.name, skipped.why);
    }
    text
}

fn floor(group: &Group) -> String {
    let floor = group.floor;
    format!(
        "floor, random 64-byte lines of {:.1} MiB on huge pages: read {:.1} ns prefetched, {:.1} in a plain loop; \
         read-modify-write {:.1} prefetched; two neighbouring lines of half as much again {:.1}, {:.1}",
        floor.bytes as f64 / f64::from(1 << 20),
        floor.read,
        floor.read_plain,
        floor.write,
        floor.pair_read,
        floor.pair_write,
    )
}

const NAME_WIDTH: usize = 28;

fn headings() -> String {
    let times = format!("{:>8}{:>8}{:>8}", "insert", "hit", "miss");
    let above = format!("{:>28}{:>24}{:>24}{:>29}", "", "one by one", "in bulk", "theirs / ours");
    let space = format!("{:>9}{:>9}{:>9} ", "bits/key", "peak", "fpp %");
    let ratios = format!("{:>8}{:>7}{:>7}{:>7}", "bits", "insert", "hit", "miss");
    format!("{:NAME_WIDTH$}{above}\n{:NAME_WIDTH$}{space}{times}{times}{ratios}\n", "", "")
}

fn line(group: &Group, row: &Measured) -> String {
    let figures = &row.figures;
    let mut text = format!("{:NAME_WIDTH$}", row.name);
    for column in SPACE {
        let _ = write!(text, "{:>9.2}", (column.of)(figures).unwrap_or_default());
    }
    text += &rate(group, figures);
    for column in ONE_BY_ONE.iter().chain(&BULK) {
        text += &(column.of)(figures).map_or_else(|| format!("{:>8}", "-"), |ns| format!("{ns:>8.1}"));
    }
    if let Some(ours) = group.rival_of(row) {
        text += " ";
        for column in [SPACE[0], ONE_BY_ONE[0], ONE_BY_ONE[1], ONE_BY_ONE[2]] {
            text += &column.ratio(figures, &ours.figures).map_or_else(String::new, |x| format!("{x:>7.2}"));
        }
    }
    text + "\n"
}

/// The measured rate, with a mark if it is above the promised one.
fn rate(group: &Group, figures: &Figures) -> String {
    let Some(asked) = group.fpp else { return format!("{:>9} ", "exact") };
    let mark = if figures.breaks(asked) { '!' } else { ' ' };
    format!("{:>9.4}{mark}", figures.fpp() * 100.0)
}
