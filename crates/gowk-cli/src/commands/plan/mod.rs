//! `gowk plan`: which family, how large, what it costs.

mod picture;
mod png;
mod svg;

use crate::{
    exit::Found,
    filter_file,
    numbers::{self, parse_count, parse_rate, parse_share, parse_time},
    options::check_new_file,
    table::Table,
};
use anyhow::{Context, bail};
use gowk::{Choice, Costs, Needs, curves::information_limit};
use serde_json::json;
use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Which filter to take: every family that fits, its memory and what its errors cost
///
/// The families that do what is asked for come in the order in which they are recommended: by what a lookup costs, the price of false
/// positives included, then by memory. Below them stand what an exact set would take: a hash set of the keys, and a bit for each of
/// all 32-bit integers.
///
/// A lookup costs the check, and, when the filter says "maybe", the dear thing behind it. A false positive pays for the dear thing in
/// vain: "errors cost" is the rate times the share of absent keys times that price.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk plan --items 100M --fpp 0.1%
  gowk plan --items 1M --deletes                                  keys are taken out again
  gowk plan --items 1G --static --cost-miss 5ms --absent 90%      before a disk, mostly for keys that are not there
  gowk plan --items 10M --fpp 1% --plot plan.svg")]
#[expect(clippy::struct_excessive_bools, reason = "flags are independent of each other")]
pub(crate) struct Plan {
    /// How many different keys
    #[arg(long, value_parser = parse_count, value_name = "N")]
    items: u64,
    /// How often a key that is not in the set may be taken for one that is
    #[arg(long, default_value = "1%", value_parser = parse_rate, value_name = "RATE")]
    fpp: f64,
    /// Keys are taken out again
    #[arg(long)]
    deletes: bool,
    /// All keys are there when the filter is built
    #[arg(long = "static")]
    is_static: bool,
    /// More keys may come than --items says
    #[arg(long)]
    growing: bool,
    /// Old keys are forgotten: "seen in the last hour"
    #[arg(long)]
    window: bool,
    /// How often a key came is asked as well
    #[arg(long)]
    counts: bool,
    /// What a lookup behind the filter takes, as in 5ms
    #[arg(long, default_value = "1ms", value_parser = parse_time, value_name = "TIME")]
    cost_miss: f64,
    /// What one cache miss takes, as in 100ns
    #[arg(long, default_value = "100ns", value_parser = parse_time, value_name = "TIME")]
    cost_check: f64,
    /// The share of lookups that ask for a key that is not there
    #[arg(long, default_value = "50%", value_parser = parse_share, value_name = "SHARE")]
    absent: f64,
    /// The mean length of a key in bytes, for the hash set to compare with
    #[arg(long, default_value_t = 16, value_name = "BYTES")]
    key_bytes: u64,
    /// Print one JSON object, with exact numbers
    #[arg(long)]
    json: bool,
    /// Draw space against rate, the rate of filters that are filled too far, and the rate against the probes, as an SVG or PNG file
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Replace the picture if there is one
    #[arg(long)]
    force: bool,
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|its| its.eq_ignore_ascii_case(ending))
}

impl Plan {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        if let Some(path) = &self.plot {
            if !has_ending(path, "svg") && !has_ending(path, "png") {
                bail!(
                    "{}: the picture is an SVG or a PNG, so call it something.svg or something.png",
                    path.display()
                );
            }
            check_new_file(path, self.force)?;
        }
        let choices = self.needs()?.plan(self.costs());
        let text = match self.json {
            true => format!("{}\n", self.as_json(&choices)),
            false => self.as_text(&choices),
        };
        if let Some(path) = &self.plot {
            let picture = picture::draw(self.items, self.fpp, choices.first().map(|choice| choice.family));
            let bytes = if has_ending(path, "png") { png::from_svg(&picture)? } else { picture.into_bytes() };
            filter_file::replace(path, |file| file.write_all(&bytes))
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        io::stdout().lock().write_all(text.as_bytes()).context("cannot write the answer")?;
        Ok(Found::if_any(choices.len() as u64))
    }

    fn needs(&self) -> anyhow::Result<Needs> {
        let when =
            |asked: bool, need: fn(Needs) -> Needs| move |needs| if asked { need(needs) } else { needs };
        Ok(Needs::new(self.items, self.fpp)?)
            .map(when(self.deletes, Needs::deletes))
            .map(when(self.is_static, Needs::is_static))
            .map(when(self.growing, Needs::grows))
            .map(when(self.window, Needs::window))
            .map(when(self.counts, Needs::counts))
    }

    fn costs(&self) -> Costs {
        Costs { check: self.cost_check, miss: self.cost_miss, absent: self.absent }
    }

    fn as_text(&self, choices: &[Choice]) -> String {
        let head = format!(
            "{} keys, {} false positives; no filter takes less than {} bits a key\n\n",
            numbers::count(self.items as f64),
            numbers::rate(self.fpp),
            numbers::three_digits(information_limit(self.fpp))
        );
        let Some(best) = choices.first() else {
            return head + "No family does all of this at once; leave one of the needs out.\n";
        };
        let mut table =
            Table::new(&["family", "bits/key", "memory", "lines", "rate", "check", "errors cost"]);
        for choice in choices {
            table.row(&[
                choice.family.to_string(),
                numbers::three_digits(choice.bits_per_key),
                numbers::bytes(choice.bytes as f64),
                numbers::three_digits(choice.probes),
                numbers::rate(choice.fpp),
                numbers::time(choice.check_cost),
                format!("{}/lookup", numbers::time(choice.false_positive_cost)),
            ]);
        }
        for (name, bytes) in self.exact() {
            table.row(&[
                name,
                numbers::three_digits(8.0 * bytes as f64 / self.items as f64),
                numbers::bytes(bytes as f64),
                "2".into(),
                "0 %".into(),
                numbers::time(2.0 * self.cost_check),
                "0/lookup".into(),
            ]);
        }
        format!(
            "{head}{table}\nTake {}: {}.\n{}",
            best.family,
            best.reason(&choices[1..]),
            self.command(best)
        )
    }

    /// What exact sets would take: a hash set as hash tables with 8-byte pointers, lengths and allocations have it, and a bitmap.
    fn exact(&self) -> [(String, u64); 2] {
        let entry = (16.0 + 1.0) / 0.65 + (self.key_bytes as f64 / 16.0).ceil() * 16.0 + 16.0;
        [
            (format!("hash set of {}-byte keys", self.key_bytes), (entry * self.items as f64) as u64),
            ("bitmap of all 32-bit integers".into(), 1 << 29),
        ]
    }

    fn command(&self, best: &Choice) -> String {
        let family = best.family.option().unwrap_or("auto");
        format!(
            "\n  gowk build KEYS... -o FILTER.gowk --family {family} --fpp {} --items {}\n",
            self.fpp, self.items
        )
    }

    fn as_json(&self, choices: &[Choice]) -> serde_json::Value {
        let row = |choice: &Choice| {
            json!({
                "family": choice.family.name(),
                "bits_per_key": choice.bits_per_key,
                "bytes": choice.bytes,
                "lines": choice.probes,
                "fpp": choice.fpp,
                "check_seconds": choice.check_cost,
                "false_positive_seconds": choice.false_positive_cost,
            })
        };
        let exact = self.exact().map(|(name, bytes)| json!({"name": name, "bytes": bytes}));
        json!({
            "items": self.items,
            "fpp": self.fpp,
            "information_limit": information_limit(self.fpp),
            "choices": choices.iter().map(row).collect::<Vec<_>>(),
            "exact": exact,
            "reason": choices.first().map(|best| best.reason(&choices[1..])),
            "command": choices.first().map(|best| self.command(best).trim().to_owned()),
        })
    }
}
