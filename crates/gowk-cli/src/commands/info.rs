//! `gowk info`: what is in a filter.

use crate::exit::Found;
use anyhow::Context;
use gowk::Persist;
use gowk::{AnyFilter, Filter};
use std::{
    io::{self, Write},
    path::PathBuf,
};

/// Tells what a filter holds and how well.
#[derive(clap::Args)]
pub(crate) struct Info {
    /// The filter
    filter: PathBuf,
    /// Check every byte of the file first
    #[arg(long)]
    verify: bool,
}

impl Info {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        let cannot = || format!("cannot open {}", self.filter.display());
        if self.verify {
            gowk::format::verify(&self.filter).with_context(cannot)?;
        }
        let filter = AnyFilter::open(&self.filter).with_context(cannot)?;
        let stats = filter.stats();
        let rows = [
            ("family", stats.family.to_string()),
            ("size", format!("{} bytes", filter.size_in_bytes())),
            ("hash", filter.hasher().id().name().into()),
            ("made for", format!("{} keys at {:.4} %", stats.items, 100.0 * stats.fpp)),
            ("holds about", format!("{:.0} keys", stats.estimated_items)),
            ("fill", format!("{:.1} %", 100.0 * stats.fill)),
            ("rate now", format!("{:.4} %", 100.0 * stats.fpp_now)),
            ("room", format!("{} keys", stats.room())),
        ];
        let mut out = io::stdout().lock();
        for (name, value) in rows {
            writeln!(out, "{name:12} {value}").context("cannot write the answer")?;
        }
        Ok(Found::Something)
    }
}
