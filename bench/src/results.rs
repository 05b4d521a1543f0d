//! What was measured: plain figures, with names for the columns and no opinion about them.

use serde::Serialize;

use crate::floor::FloorFigures;
use crate::hashing::HashFigures;
use crate::keys::KeyKind;

/// One structure in one configuration. Times are nanoseconds per key.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Figures {
    pub(crate) bits_per_key: f64,
    pub(crate) peak_bits_per_key: f64,
    pub(crate) insert: f64,
    pub(crate) hit: f64,
    pub(crate) miss: f64,
    pub(crate) bulk_insert: Option<f64>,
    pub(crate) bulk_hit: Option<f64>,
    pub(crate) bulk_miss: Option<f64>,
    /// Never-inserted keys that were looked up, and how many of them were found all the same.
    pub(crate) strangers: usize,
    pub(crate) false_hits: usize,
}

impl Figures {
    /// The better time of each column. Space is no race: the larger figure stands. Error counts add up, so that
    /// structures with a random seed are judged by their mean.
    pub(crate) fn best(self, other: Self) -> Self {
        let faster = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a.min(b));
        Self {
            bits_per_key: self.bits_per_key.max(other.bits_per_key),
            peak_bits_per_key: self.peak_bits_per_key.max(other.peak_bits_per_key),
            insert: self.insert.min(other.insert),
            hit: self.hit.min(other.hit),
            miss: self.miss.min(other.miss),
            bulk_insert: faster(self.bulk_insert, other.bulk_insert),
            bulk_hit: faster(self.bulk_hit, other.bulk_hit),
            bulk_miss: faster(self.bulk_miss, other.bulk_miss),
            strangers: self.strangers + other.strangers,
            false_hits: self.false_hits + other.false_hits,
        }
    }

    /// The measured rate.
    pub(crate) fn fpp(&self) -> f64 {
        self.false_hits as f64 / self.strangers as f64
    }

    /// Six standard deviations of the measured rate, if the true one is `fpp`.
    pub(crate) fn fpp_noise(&self, fpp: f64) -> f64 {
        6.0 * (fpp * (1.0 - fpp) / self.strangers as f64).sqrt()
    }

    /// Whether the measured rate is above the asked one by more than a small excess and noise allow.
    pub(crate) fn breaks(&self, asked: f64) -> bool {
        self.fpp() > 1.03 * asked + self.fpp_noise(asked)
    }
}

/// A figure of which less is better.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) of: fn(&Figures) -> Option<f64>,
}

impl Column {
    /// Theirs over ours, if both have it: above 1 we win.
    pub(crate) fn ratio(self, theirs: &Figures, ours: &Figures) -> Option<f64> {
        Some((self.of)(theirs)? / (self.of)(ours)?)
    }

    pub(crate) fn is_space(self) -> bool {
        SPACE.iter().any(|column| column.name == self.name)
    }

    /// `9.94` bits, or `3.2 ns`.
    pub(crate) fn show(self, value: f64) -> String {
        if self.is_space() { format!("{value:.2}") } else { format!("{value:.1} ns") }
    }
}

pub(crate) const SPACE: [Column; 2] = [
    Column { name: "bits/key", of: |row| Some(row.bits_per_key) },
    Column { name: "peak bits/key", of: |row| Some(row.peak_bits_per_key) },
];

pub(crate) const ONE_BY_ONE: [Column; 3] = [
    Column { name: "insert", of: |row| Some(row.insert) },
    Column { name: "hit", of: |row| Some(row.hit) },
    Column { name: "miss", of: |row| Some(row.miss) },
];

pub(crate) const BULK: [Column; 3] = [
    Column { name: "bulk insert", of: |row| row.bulk_insert },
    Column { name: "bulk hit", of: |row| row.bulk_hit },
    Column { name: "bulk miss", of: |row| row.bulk_miss },
];

pub(crate) fn columns() -> impl Iterator<Item = Column> {
    SPACE.into_iter().chain(ONE_BY_ONE).chain(BULK)
}

/// A row of the table.
#[derive(Serialize)]
pub(crate) struct Measured {
    pub(crate) name: &'static str,
    #[serde(skip)]
    pub(crate) against: &'static [&'static str],
    #[serde(flatten)]
    pub(crate) figures: Figures,
}

impl Measured {
    pub(crate) fn is_ours(&self) -> bool {
        self.against.is_empty()
    }
}

#[derive(Serialize)]
pub(crate) struct Skipped {
    pub(crate) name: &'static str,
    pub(crate) why: &'static str,
}

/// One table: all structures in one configuration.
#[derive(Serialize)]
pub(crate) struct Group {
    pub(crate) keys: KeyKind,
    pub(crate) items: usize,
    /// Nothing where every row is exact.
    pub(crate) fpp: Option<f64>,
    pub(crate) floor: FloorFigures,
    pub(crate) rows: Vec<Measured>,
    pub(crate) skipped: Vec<Skipped>,
}

impl Group {
    pub(crate) fn row(&self, name: &str) -> Option<&Figures> {
        self.rows.iter().find(|row| row.name == name).map(|row| &row.figures)
    }

    /// The row of ours that a rival is held against: the best match that was measured.
    pub(crate) fn rival_of(&self, rival: &Measured) -> Option<&Measured> {
        rival.against.iter().find_map(|&name| self.rows.iter().find(|row| row.name == name))
    }

    /// `u64 10M 1 %`
    pub(crate) fn title(&self) -> String {
        let rate = self.fpp.map_or_else(|| "exact".to_owned(), percent);
        format!("{} {} {rate}", self.keys.name(), count(self.items))
    }
}

/// Everything of one run.
#[derive(Serialize)]
pub(crate) struct Results {
    pub(crate) machine: String,
    pub(crate) rounds: u32,
    pub(crate) lookups: usize,
    pub(crate) hashing: HashFigures,
    pub(crate) groups: Vec<Group>,
}

impl Results {
    pub(crate) fn find(&self, keys: KeyKind, items: usize, fpp: f64) -> Option<&Group> {
        self.groups.iter().find(|group| group.keys == keys && group.items == items && group.fpp == Some(fpp))
    }
}

/// `0.1 %`
pub(crate) fn percent(fpp: f64) -> String {
    // Rounded, because 0.1 % times 100 is not quite 0.1.
    format!("{} %", (fpp * 1e8).round() / 1e6)
}

/// `250`, `10k`, `1.5M`
pub(crate) fn count(items: usize) -> String {
    match items as f64 {
        n if n >= 1e9 => format!("{}G", n / 1e9),
        n if n >= 1e6 => format!("{}M", n / 1e6),
        n if n >= 1e3 => format!("{}k", n / 1e3),
        n => format!("{n}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_rates_are_written_as_people_write_them() {
        assert_eq!([250, 10_000, 1_500_000, 100_000_000].map(count), ["250", "10k", "1.5M", "100M"]);
        assert_eq!([0.01, 0.001, 0.0039].map(percent), ["1 %", "0.1 %", "0.39 %"]);
    }

    #[test]
    fn the_promise_allows_noise_and_three_percent() {
        let row = |false_hits| Figures { false_hits, ..figures() };
        // 4M strangers at 1 %: 40,000 expected, 1,200 excess, 1,194 of noise.
        assert!(!row(42_390).breaks(0.01));
        assert!(row(42_400).breaks(0.01));
    }

    #[test]
    fn the_best_of_two_rounds_is_fast_but_not_smaller() {
        let slow = Figures { insert: 9.0, bits_per_key: 9.0, ..figures() };
        let best = slow.best(figures());
        assert_eq!((best.insert, best.bits_per_key, best.strangers), (2.0, 10.0, 8_000_000));
    }

    fn figures() -> Figures {
        Figures {
            bits_per_key: 10.0,
            peak_bits_per_key: 10.0,
            insert: 2.0,
            hit: 2.0,
            miss: 2.0,
            bulk_insert: None,
            bulk_hit: None,
            bulk_miss: None,
            strangers: 4_000_000,
            false_hits: 40_000,
        }
    }
}
