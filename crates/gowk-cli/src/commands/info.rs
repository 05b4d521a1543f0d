//! `gowk info`: what is in a filter.

use crate::{
    exit::Found,
    filter_file::{self, FilterFile, Ids},
    foreign::{self, FormatArgs},
    histogram, numbers,
};
use anyhow::Context;
use gowk::{AnyFilter, Filter, IntegerSet, Persist, format::foreign::Foreign, store::Mapped};
use serde_json::{Value, json};
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Tell what a filter holds, how full it is and how well it keeps its promise
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk info seen.gowk
  gowk info --json *.gowk | jq -r 'select(.room == 0) | .file'
  gowk info --histogram seen.gowk

\"holds about\" is counted where the family counts and otherwise told from the bits; \"rate now\" is how often a key that is not in the
filter is taken for one that is, at its present fill.")]
pub(crate) struct Info {
    /// The filters
    #[arg(required = true, value_name = "FILTER")]
    filters: Vec<PathBuf>,
    /// Check every byte of the file first
    #[arg(long)]
    verify: bool,
    /// Print one JSON object for each filter, with exact numbers
    #[arg(long)]
    json: bool,
    /// Draw how full the lines or buckets are
    #[arg(long)]
    histogram: bool,
    #[command(flatten)]
    format: FormatArgs,
}

impl Info {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        let mut out = io::BufWriter::new(io::stdout().lock());
        for (i, path) in self.filters.iter().enumerate() {
            let text = self.tell(path)?;
            let gap = if i > 0 && !self.json { "\n" } else { "" };
            write!(out, "{gap}{text}").context("cannot write the answer")?;
        }
        out.flush().context("cannot write the answer")?;
        Ok(Found::Something)
    }

    fn tell(&self, path: &Path) -> anyhow::Result<String> {
        let file = filter_file::open_as(path, &self.format)?;
        // The bytes of other systems have no checksums.
        if self.verify && !matches!(file, FilterFile::Ids(Ids::Roaring(..)) | FilterFile::Foreign(_)) {
            gowk::format::verify(path).with_context(|| format!("cannot open {}", path.display()))?;
        }
        let size = fs::metadata(path).with_context(|| format!("cannot open {}", path.display()))?.len();
        let histogram = match &file {
            FilterFile::Keys(filter) if self.histogram => Some(filter.histogram()),
            FilterFile::Ids(_) | FilterFile::Foreign(_) if self.histogram => Some(None),
            _ => None,
        };
        let mut text = match (&file, self.json) {
            (FilterFile::Keys(filter), true) => {
                let mut object = keys_as_json(filter, path, size);
                if let Some(Some(histogram)) = &histogram {
                    object["histogram"] =
                        json!({"parts": histogram.parts, "unit": histogram.unit, "counts": histogram.counts});
                }
                format!("{object}\n")
            }
            (FilterFile::Foreign(filter), true) => format!("{}\n", foreign_as_json(filter, path, size)),
            (FilterFile::Foreign(filter), false) => rows(path, size, &foreign_rows(filter)),
            (FilterFile::Ids(ids), true) => format!("{}\n", ids_as_json(ids, path, size)),
            (FilterFile::Keys(filter), false) => rows(path, size, &keys_rows(filter)),
            (FilterFile::Ids(ids), false) => rows(path, size, &ids_rows(ids)),
        };
        match histogram {
            Some(Some(histogram)) if !self.json => text.push_str(&histogram::draw(&histogram)),
            Some(None) if !self.json => {
                text.push_str("\n(a filter of this family has no lines that fill up)\n")
            }
            _ => {}
        }
        Ok(text)
    }
}

type Row = (&'static str, String);

fn rows(path: &Path, size: u64, rows: &[Row]) -> String {
    let file = ("file", format!("{}, {}", path.display(), numbers::bytes(size as f64)));
    std::iter::once(&file).chain(rows).map(|(name, value)| format!("{name:12} {value}\n")).collect()
}

fn keys_rows(filter: &AnyFilter<Mapped>) -> Vec<Row> {
    let stats = filter.stats();
    let verdict = match () {
        () if stats.is_overfull() => "  (the promise is broken: build a larger one)",
        () => "",
    };
    vec![
        ("family", stats.family.to_string()),
        ("shape", filter.shape()),
        ("hash", format!("{}, seed in the file", filter.hasher().id().name())),
        ("made for", format!("{} keys at {}", numbers::grouped(stats.items), numbers::rate(stats.fpp))),
        ("holds about", format!("{} keys", numbers::grouped(stats.estimated_items.round() as u64))),
        ("fill", format!("{} %", numbers::three_digits(100.0 * stats.fill))),
        ("rate now", format!("{}{verdict}", numbers::rate(stats.fpp_now))),
        ("room", format!("{} keys", numbers::grouped(stats.room()))),
    ]
}

fn foreign_rows(filter: &Foreign) -> Vec<Row> {
    let stats = filter.stats();
    let mut made_for = format!("{} keys at {}", numbers::grouped(stats.items), numbers::rate(stats.fpp));
    if !filter.format().says_promise() {
        made_for.insert_str(0, "about ");
        made_for.push_str(", by its bits and probes; the file does not say");
    }
    vec![
        ("format", filter.format().to_string()),
        ("shape", foreign::shape(filter)),
        ("hash", format!("{}, public", filter.hasher().id().name())),
        ("made for", made_for),
        ("holds about", format!("{} keys", numbers::grouped(stats.estimated_items.round() as u64))),
        ("fill", format!("{} %", numbers::three_digits(100.0 * stats.fill))),
        ("rate now", numbers::rate(stats.fpp_now)),
    ]
}

fn foreign_as_json(filter: &Foreign, path: &Path, size: u64) -> Value {
    let stats = filter.stats();
    json!({
        "file": path.display().to_string(),
        "bytes": size,
        "format": filter.format().name(),
        "family": stats.family.name(),
        "shape": foreign::shape(filter),
        "hash": filter.hasher().id().name(),
        "exact": false,
        "items": stats.items,
        "fpp": stats.fpp,
        "derived": !filter.format().says_promise(),
        "bits": stats.bits,
        "fill": stats.fill,
        "estimated_items": stats.estimated_items,
        "fpp_now": stats.fpp_now,
    })
}

fn ids_rows(ids: &Ids) -> Vec<Row> {
    let mut rows = vec![("family", format!("{} (exact)", ids.name()))];
    if let Ids::Flat(flat) = ids {
        let range = flat.range();
        rows.push(("made for", format!("integers from {} to {}", range.start, range.end.saturating_sub(1))));
    }
    rows.push(("holds", format!("{} integers", numbers::grouped(ids.len()))));
    if let Some((first, last)) = ids.ends() {
        rows.push(("from, to", format!("{}, {}", first.cast_signed(), last.cast_signed())));
    }
    rows
}

fn keys_as_json(filter: &AnyFilter<Mapped>, path: &Path, size: u64) -> Value {
    let stats = filter.stats();
    json!({
        "file": path.display().to_string(),
        "bytes": size,
        "family": stats.family.name(),
        "shape": filter.shape(),
        "hash": filter.hasher().id().name(),
        "exact": false,
        "items": stats.items,
        "fpp": stats.fpp,
        "bits": stats.bits,
        "fill": stats.fill,
        "estimated_items": stats.estimated_items,
        "fpp_now": stats.fpp_now,
        "room": stats.room(),
        "overfull": stats.is_overfull(),
        "keys_in_head": filter.head().keys,
    })
}

fn ids_as_json(ids: &Ids, path: &Path, size: u64) -> Value {
    let ends = ids.ends();
    json!({
        "file": path.display().to_string(),
        "bytes": size,
        "family": ids.name(),
        "exact": true,
        "items": ids.len(),
        "first": ends.map(|(first, _)| first),
        "last": ends.map(|(_, last)| last),
    })
}
