//! Where we lose: one line for every row and column in which a rival is better. Silence would be a claim.

use std::fmt::Write;

use crate::results::{Column, Figures, Group, Measured, Results, columns};

/// From this ratio on, a difference in time may be the machine's mood. Space has no moods.
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
        format!("{} {} (fpp {:.3} %)", row.name, column.show(value), row.figures.fpp() * 100.0)
    };
    let doubt = if ratio >= NOISE && !column.is_space() { ", within noise" } else { "" };
    format!(
        "we lose: {}: {}: {}, {}: {ratio:.2}x{doubt}",
        group.title(),
        column.name,
        side(theirs),
        side(ours)
    )
}

/// All columns in which theirs is better, with theirs over ours. Who loses in size loses at its peak too: said once.
fn lost_columns(theirs: &Figures, ours: &Figures) -> Vec<(Column, f64)> {
    let ratios = columns().filter_map(|column| Some((column, column.ratio(theirs, ours)?)));
    let mut lost: Vec<_> = ratios.filter(|&(_, ratio)| ratio < 1.0).collect();
    lost.dedup_by_key(|(column, _)| if column.is_space() { "space" } else { column.name });
    lost
}
