//! `gowk merge`: one filter of several.

use crate::{
    exit::Found,
    filter_file::{self, FilterFile, Ids},
    foreign,
    in_place::{self, Contents},
    options::OutputArgs,
    progress::Watch,
};
use anyhow::{Context, bail};
use gowk::{Bitmap, IntegerSet, IntegerSetMut, Merge as _, format::roaring::Width, store::Mapped};
use std::path::{Path, PathBuf};

/// Merge filters into one: their union, or with --intersection what all of them may hold
///
/// Filters must be of one family, size, hash and seed: build them with --like the first one, or with one --seed and one --items.
/// Blocked filters may differ in size by a whole factor. The rate of a union is that of a filter of all the keys, so make the filters
/// large enough for it. An intersection answers "maybe" for a little more than a filter of the common keys would.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk merge mon.gowk tue.gowk wed.gowk -o week.gowk
  gowk merge a.gowk b.gowk --intersection -o both.gowk")]
pub(crate) struct Merge {
    /// The filters, two or more
    #[arg(required = true, num_args = 1.., value_name = "FILTER")]
    filters: Vec<PathBuf>,
    /// Keep what all of them may hold
    #[arg(long)]
    intersection: bool,
    #[command(flatten)]
    output: OutputArgs,
}

impl Merge {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        self.output.check()?;
        let [first, others @ ..] = &self.filters[..] else { bail!("name at least two filters") };
        if others.is_empty() {
            bail!("there is nothing to merge {} with; name at least two filters", first.display());
        }
        let mut watch = Watch::new(self.output.is_stdout());
        let mut merged = in_place::load(first)?;
        for other in others {
            let context = || format!("cannot merge {} into {}", other.display(), first.display());
            self.take_in(&mut merged, other).with_context(context)?;
        }
        watch.done();
        match &merged {
            Contents::Keys(filter) => filter_file::save(filter, &self.output, &mut watch)?,
            Contents::Flat(ids) => filter_file::save(ids, &self.output, &mut watch)?,
            Contents::Roaring(ids, width) => {
                filter_file::save_roaring(ids, *width, &self.output, &mut watch)?
            }
            Contents::Foreign(filter) => foreign::save(filter, &self.output, &mut watch)?,
        }
        if let Contents::Keys(filter) = &merged {
            super::add::tell_overfull(filter, &self.output.output);
        }
        Ok(Found::Something)
    }

    fn take_in(&self, merged: &mut Contents, other: &Path) -> anyhow::Result<()> {
        match (merged, filter_file::open(other)?) {
            (Contents::Keys(ours), FilterFile::Keys(theirs)) => match self.intersection {
                false => ours.union(&theirs)?,
                true => ours.intersect(&theirs)?,
            },
            (Contents::Flat(ours), FilterFile::Ids(Ids::Flat(theirs))) => match self.intersection {
                false => {
                    let union = flat_union(ours, &theirs)?;
                    *ours = union;
                }
                true => ours.intersect(&theirs),
            },
            (Contents::Roaring(ours, width), FilterFile::Ids(Ids::Roaring(theirs, other))) => {
                match self.intersection {
                    false => *ours |= theirs,
                    true => *ours &= theirs,
                }
                if other == Width::Bits64 {
                    *width = other;
                }
            }
            (Contents::Foreign(ours), FilterFile::Foreign(theirs)) => match self.intersection {
                false => ours.union(&theirs)?,
                true => bail!("filters of other systems have a union only"),
            },
            _ => bail!("one is a set of integers and the other is not, or not of the same family"),
        }
        Ok(())
    }
}

/// Bitmaps of different ranges have a union in the range that covers both.
fn flat_union(ours: &Bitmap, theirs: &Bitmap<Mapped>) -> anyhow::Result<Bitmap> {
    let (a, b) = (ours.range(), theirs.range());
    let mut union = Bitmap::new(a.start.min(b.start)..a.end.max(b.end))?;
    for id in ours.iter().chain(theirs.iter()) {
        union.insert(id)?;
    }
    Ok(union)
}
