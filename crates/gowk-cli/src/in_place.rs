//! A filter file that is changed: read whole, changed in memory, written beside the old one and renamed over it. Whatever happens
//! meanwhile there is the old file or the new one.

use crate::{
    filter_file::{self, FilterFile, Ids},
    foreign,
    progress::Watch,
};
use anyhow::Context;
use gowk::{
    AnyFilter, Bitmap, Persist,
    format::{foreign::Foreign, roaring::Width},
};
use roaring::RoaringTreemap;
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

/// What a file holds, in memory.
pub(crate) enum Contents {
    Keys(AnyFilter),
    Flat(Bitmap),
    Roaring(RoaringTreemap, Width),
    Foreign(Foreign),
}

/// A filter file that nobody else changes meanwhile: a second `gowk add` waits for the first.
pub(crate) struct InPlace {
    path: PathBuf,
    pub(crate) contents: Contents,
    _lock: File,
}

impl InPlace {
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let cannot = || format!("cannot open {}", path.display());
        // The file behind a link is what changes, not the link.
        let path = fs::canonicalize(path).with_context(cannot)?;
        let lock = lock(&path).with_context(cannot)?;
        Ok(Self { contents: load(&path)?, path, _lock: lock })
    }

    pub(crate) fn save(&self, watch: &mut Watch) -> anyhow::Result<()> {
        match &self.contents {
            Contents::Keys(filter) => filter_file::save_to(filter, &self.path, watch),
            Contents::Flat(ids) => filter_file::save_to(ids, &self.path, watch),
            Contents::Roaring(ids, width) => filter_file::save_roaring_to(ids, *width, &self.path, watch),
            Contents::Foreign(filter) => foreign::save_to(filter, &self.path, watch),
        }
    }
}

/// All of a file, every byte of it checked.
pub(crate) fn load(path: &Path) -> anyhow::Result<Contents> {
    let cannot = || format!("cannot open {}", path.display());
    Ok(match filter_file::open(path)? {
        FilterFile::Keys(_) => Contents::Keys(AnyFilter::load(path).with_context(cannot)?),
        FilterFile::Ids(Ids::Flat(_)) => Contents::Flat(Bitmap::load(path).with_context(cannot)?),
        FilterFile::Ids(Ids::Roaring(ids, width)) => Contents::Roaring(ids, width),
        FilterFile::Foreign(filter) => Contents::Foreign(filter),
    })
}

/// Locks the file that has this name. While we waited it may have been replaced; then it is the new one that must be locked.
fn lock(path: &Path) -> std::io::Result<File> {
    loop {
        let file = File::open(path)?;
        file.lock()?;
        if is_same(&file, path)? {
            return Ok(file);
        }
    }
}

#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (ours, named) = (file.metadata()?, fs::metadata(path)?);
    Ok((ours.dev(), ours.ino()) == (named.dev(), named.ino()))
}

#[cfg(not(unix))]
fn is_same(_: &File, _: &Path) -> std::io::Result<bool> {
    Ok(true)
}
