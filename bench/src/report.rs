//! The tables, as people read them.

use std::fmt::Write;

use crate::results::{BULK, Column, Figures, Group, Measured, ONE_BY_ONE, Results, SPACE, columns, count};

/// What stands above the first table.
pub(crate) fn header(results: &Results) -> String {
    format!(
        "{}\n{} lookups of each sort, best of {} rounds, ns of processor time per key; \
         `x` columns: theirs divided by ours, above 1 we win\n",
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
         read-modify-write {:.1} prefetched",
        floor.bytes as f64 / f64::from(1 << 20),
        floor.read,
        floor.read_plain,
        floor.write,
    )
}

const NAME_WIDTH: usize = 28;

fn headings() -> String {
    let (space, times) = (3 * 9 + 1, 3 * 8);
    let times_heading = "  insert     hit    miss";
    format!(
        "{:NAME_WIDTH$}{:space$}{:>times$}{:>times$}{:>29}\n\
         {:NAME_WIDTH$}{:>9}{:>9}{:>9} {times_heading}{times_heading}{:>8}{:>7}{:>7}{:>7}\n",
        "",
        "",
        "one by one",
        "in bulk",
        "theirs / ours",
        "",
        "bits/key",
        "peak",
        "fpp %",
        "bits",
        "insert",
        "hit",
        "miss",
    )
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
            text += &ratio(column, figures, &ours.figures).map_or_else(String::new, |x| format!("{x:>7.2}"));
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

/// Theirs over ours.
pub(crate) fn ratio(column: Column, theirs: &Figures, ours: &Figures) -> Option<f64> {
    Some((column.of)(theirs)? / (column.of)(ours)?)
}

/// A figure with its unit: `9.99` for space, `3.2 ns` for time.
pub(crate) fn figure(column: Column, value: f64) -> String {
    let is_space = SPACE.iter().any(|space| space.name == column.name);
    if is_space { format!("{value:.2}") } else { format!("{value:.1} ns") }
}

/// All columns in which a rival is better than the row of ours that it is held against.
pub(crate) fn lost_columns<'a>(
    theirs: &'a Figures,
    ours: &'a Figures,
) -> impl Iterator<Item = (Column, f64)> + use<'a> {
    columns()
        .filter_map(|column| Some((column, ratio(column, theirs, ours)?)))
        .filter(|&(_, ratio)| ratio < 1.0)
}
