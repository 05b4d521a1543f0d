//! Filters on disk, whatever their kind: the one place that opens them and the one that writes them.

use crate::foreign::FormatArgs;
use crate::{options::OutputArgs, progress::Watch};
use ::roaring::RoaringTreemap;
use anyhow::{Context, bail};
use gowk::{
    AnyFilter, Bitmap, Family, IntegerSet, OpenError, Persist,
    format::{
        foreign::{Foreign, Format},
        roaring::{self, Width},
    },
    store::Mapped,
};
use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
    path::Path,
};

/// What a file holds.
pub(crate) enum FilterFile {
    /// A filter of keys.
    Keys(AnyFilter<Mapped>),
    /// An exact set of integers.
    Ids(Ids),
    /// A filter of another system.
    Foreign(Foreign),
}

/// An exact set of integers, which are asked for by value and not by hash.
pub(crate) enum Ids {
    /// A bit for each id of a range.
    Flat(Bitmap<Mapped>),
    /// Compressed, as other Roaring libraries write it.
    Roaring(RoaringTreemap, Width),
}

impl Ids {
    /// Signed integers are asked for as the 64 bits of their two's complement.
    pub(crate) fn contains(&self, id: u64) -> bool {
        match self {
            Self::Flat(ids) => ids.contains(id),
            Self::Roaring(ids, _) => ids.contains(id),
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Flat(_) => Family::Bitmap.name(),
            Self::Roaring(..) => "roaring",
        }
    }

    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Flat(ids) => ids.len(),
            Self::Roaring(ids, _) => ids.len(),
        }
    }

    /// The first and the last id.
    pub(crate) fn ends(&self) -> Option<(u64, u64)> {
        match self {
            Self::Flat(ids) => Some((ids.select(0)?, ids.select(ids.len() - 1)?)),
            Self::Roaring(ids, _) => ids.min().zip(ids.max()),
        }
    }
}

/// The filter in this file; a list of keys is an error.
pub(crate) fn open(path: &Path) -> anyhow::Result<FilterFile> {
    open_as(path, &FormatArgs::default())
}

/// As [`open`], of the format that was named.
pub(crate) fn open_as(path: &Path, format: &FormatArgs) -> anyhow::Result<FilterFile> {
    File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    match open_if_filter(path, format)? {
        Some(filter) => Ok(filter),
        None => bail!(
            "{} is not the file of a filter: it does not begin as one does; gowk build makes one of a list of keys",
            path.display()
        ),
    }
}

/// The filter in this file, or nothing if it is something else: a list of keys, or a pipe.
pub(crate) fn open_if_filter(path: &Path, format: &FormatArgs) -> anyhow::Result<Option<FilterFile>> {
    // A pipe gives its bytes only once, and they may be the keys.
    if path == Path::new("-") || !path.is_file() {
        return Ok(None);
    }
    let cannot = || format!("cannot open {}", path.display());
    if let Some(filter) = format.open(path)? {
        return Ok(Some(FilterFile::Foreign(filter)));
    }
    match AnyFilter::open(path) {
        Ok(filter) => Ok(Some(FilterFile::Keys(filter))),
        Err(OpenError::Family { found, .. }) if found == Family::Bitmap.name() => {
            let ids = Bitmap::open(path).with_context(cannot)?;
            Ok(Some(FilterFile::Ids(Ids::Flat(ids))))
        }
        Err(OpenError::NotGowk) if sniff(path).with_context(cannot)? == Some(Format::Roaring) => {
            let (ids, width) = read_roaring(path).with_context(cannot)?;
            Ok(Some(FilterFile::Ids(Ids::Roaring(ids, width))))
        }
        Err(OpenError::NotGowk) => Ok(None),
        Err(error) => Err(error).with_context(cannot),
    }
}

/// The format of another system, if the bytes of the file tell one.
pub(crate) fn sniff(path: &Path) -> io::Result<Option<Format>> {
    let mut file = File::open(path)?;
    let len = file.metadata()?.len();
    let mut beginning = Vec::new();
    Read::by_ref(&mut file).take(64 << 10).read_to_end(&mut beginning)?;
    Ok(Format::sniff(&beginning, len))
}

fn read_roaring(path: &Path) -> anyhow::Result<(RoaringTreemap, Width)> {
    let mut reader = BufReader::with_capacity(1 << 20, File::open(path)?);
    let read = roaring::read_from(&mut reader)?;
    if !reader.fill_buf()?.is_empty() {
        bail!("something was appended to the Roaring set");
    }
    Ok(read)
}

/// Writes a filter: to a file whole or not at all, or to standard output.
pub(crate) fn save(filter: &impl Persist, output: &OutputArgs, watch: &mut Watch) -> anyhow::Result<()> {
    if output.is_stdout() {
        return write_stdout(|out| out.write_all(&filter.to_bytes()));
    }
    save_to(filter, &output.output, watch)
}

/// As [`save`], to a file that may be there.
pub(crate) fn save_to(filter: &impl Persist, path: &Path, watch: &mut Watch) -> anyhow::Result<()> {
    watch.uninterrupted(|| filter.save(path)).with_context(|| format!("cannot write {}", path.display()))
}

/// Writes a Roaring set in the portable format.
pub(crate) fn save_roaring(
    ids: &RoaringTreemap,
    width: Width,
    output: &OutputArgs,
    watch: &mut Watch,
) -> anyhow::Result<()> {
    if output.is_stdout() {
        return write_stdout(|out| roaring::write_to(ids, width, out));
    }
    save_roaring_to(ids, width, &output.output, watch)
}

/// As [`save_roaring`], to a file that may be there.
pub(crate) fn save_roaring_to(
    ids: &RoaringTreemap,
    width: Width,
    path: &Path,
    watch: &mut Watch,
) -> anyhow::Result<()> {
    let write = |file: &mut dyn Write| roaring::write_to(ids, width, file);
    watch.uninterrupted(|| replace(path, write)).with_context(|| format!("cannot write {}", path.display()))
}

/// Writes a file beside the old one and renames it: there is always the old file or the new one.
pub(crate) fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    gowk::format::replace(path, |file| {
        let mut file = io::BufWriter::with_capacity(1 << 20, file);
        write(&mut file)?;
        file.flush()
    })
}

pub(crate) fn write_stdout(
    write: impl FnOnce(&mut io::StdoutLock<'static>) -> io::Result<()>,
) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    write(&mut out).and_then(|()| out.flush()).context("cannot write the filter to standard output")
}
