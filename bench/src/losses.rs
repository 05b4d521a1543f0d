//! Where we lose: one line for every row and column in which a rival is better. Silence would be a claim.

use std::fmt::Write;

use crate::report::{figure, lost_columns};
use crate::results::{Column, Group, Measured, Results, percent};

/// Below this a difference may be the machine's mood.
const NOISE: f64 = 0.95;

pub(crate) fn list(results: &Results) -> String {
    let mut text = "\n## where we lose\n".to_owned();
    let pairs: Vec<_> = results.groups.iter().flat_map(pairs).collect();
    let mut lost = 0;
    for &(group, theirs, ours) in &pairs {
        for (column, ratio) in lost_columns(&theirs.figures, &ours.figures) {
            let _ = writeln!(text, "{}", loss(group, theirs, ours, column, ratio));
            lost += 1;
        }
    }
    if lost == 0 {
        let _ = writeln!(text, "nowhere: {} rivals were held against a row of ours", pairs.len());
    }
    text
}

/// Each rival with the row of ours that it is held against.
fn pairs(group: &Group) -> impl Iterator<Item = (&Group, &Measured, &Measured)> {
    group.rows.iter().filter_map(move |rival| Some((group, rival, group.rival_of(rival)?)))
}

fn loss(group: &Group, theirs: &Measured, ours: &Measured, column: Column, ratio: f64) -> String {
    let side = |row: &Measured| {
        let value = (column.of)(&row.figures).unwrap_or_default();
        format!("{} {} (fpp {})", row.name, figure(column, value), percent(row.figures.fpp()))
    };
    let doubt = if ratio >= NOISE { ", within noise" } else { "" };
    format!(
        "we lose: {}: {}: {}, {}: {ratio:.2}x{doubt}",
        group.title(),
        column.name,
        side(theirs),
        side(ours)
    )
}
