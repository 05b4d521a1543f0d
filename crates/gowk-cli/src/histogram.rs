//! A histogram for the terminal.

use crate::numbers::{grouped, three_digits};
use gowk::Histogram;
use std::fmt::Write;

const MOST_ROWS: usize = 20;
const WIDTH: usize = 50;

/// Bars of how many lines or buckets are how full. Rows that nothing falls into are left out at both ends.
pub(crate) fn draw(histogram: &Histogram) -> String {
    let Histogram { parts, unit, counts, .. } = histogram;
    let used = |count: &u64| *count > 0;
    let (Some(first), Some(last)) = (counts.iter().position(used), counts.iter().rposition(used)) else {
        return String::new();
    };
    // Few values get a row each; many are gathered in rows of equal width.
    let (first, last) = if counts.len() <= MOST_ROWS { (0, counts.len() - 1) } else { (first, last) };
    let step = (last - first + 1).div_ceil(MOST_ROWS);
    let rows: Vec<(usize, u64)> = (first..=last)
        .step_by(step)
        .map(|at| (at, counts[at..(at + step).min(last + 1)].iter().sum()))
        .collect();
    let total: u64 = counts.iter().sum();
    let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(1).max(1);
    let mut text = format!("\n{unit} used, of {}, in each of {} {parts}\n", counts.len() - 1, grouped(total));
    for (at, count) in rows {
        let label = if step == 1 { at.to_string() } else { format!("{at}-{}", (at + step - 1).min(last)) };
        let share = three_digits(100.0 * count as f64 / total as f64);
        let bar = bar(count as f64 / most as f64);
        writeln!(text, "{label:>9}  {bar:WIDTH$}  {share} %").expect("a string takes everything");
    }
    text
}

/// A bar in eighths of a character.
fn bar(part: f64) -> String {
    const EIGHTHS: [&str; 8] =
        ["", "\u{258f}", "\u{258e}", "\u{258d}", "\u{258c}", "\u{258b}", "\u{258a}", "\u{2589}"];
    let eighths = (part * (8 * WIDTH) as f64).round() as usize;
    "\u{2588}".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_counts() {
        assert_eq!(bar(1.0).chars().count(), WIDTH);
        assert_eq!(bar(0.0), "");
        assert_eq!(bar(0.5).chars().count(), WIDTH / 2);
        assert_eq!(bar(0.01), "\u{258c}");
    }
}
