//! From a file to a filter, whatever wrote it.

use crate::error::ApiError;
use gowk::{
    AnyFilter, Bitmap, OpenError, Persist, RoaringSet,
    format::{
        Head,
        foreign::{Foreign, Format},
        roaring,
    },
    store::Mapped,
};
use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
};
use tempfile::{NamedTempFile, TempPath};

/// A filter that was opened, and its file.
pub(super) struct Opened {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) contents: Contents,
    /// The copy of a dropped file, or what a packed one was unpacked to; gone with the filter.
    _copies: Vec<TempPath>,
}

#[expect(clippy::large_enum_variant, reason = "there are eight of them at the most")]
pub(super) enum Contents {
    Keys(AnyFilter<Mapped>),
    Foreign(Foreign),
    Ids(Bitmap<Mapped>),
    Roaring(RoaringSet),
    /// A file of ours that is no filter: only its head is told.
    Other(Head),
}

/// The filter in a file below the folder.
pub(super) fn file(
    path: &Path,
    name: &str,
    column: Option<&str>,
    most_unpacked: u64,
) -> Result<Opened, ApiError> {
    open(path, name, column, most_unpacked, Vec::new())
}

/// The filter in a file that was dropped on the page: nobody vouches for it, so every byte of it is checked.
pub(super) fn upload(
    file: NamedTempFile,
    name: &str,
    column: Option<&str>,
    most_unpacked: u64,
) -> Result<Opened, ApiError> {
    let path = file.into_temp_path();
    match gowk::format::verify(&path) {
        Ok(_) | Err(OpenError::NotGowk) => {}
        Err(error) => return Err(cannot(name, error)),
    }
    let copy = path.to_path_buf();
    open(&copy, name, column, most_unpacked, vec![path])
}

fn open(
    path: &Path,
    name: &str,
    column: Option<&str>,
    most_unpacked: u64,
    mut copies: Vec<TempPath>,
) -> Result<Opened, ApiError> {
    let bytes = fs::metadata(path).map_err(|error| cannot(name, error))?.len();
    let mut beginning = Vec::new();
    let start = File::open(path).and_then(|file| file.take(64 << 10).read_to_end(&mut beginning));
    start.map_err(|error| cannot(name, error))?;
    let contents = match Format::sniff(&beginning, bytes) {
        Some(Format::Roaring) => {
            let bytes = fs::read(path).map_err(|error| cannot(name, error))?;
            Contents::Roaring(roaring::from_bytes(&bytes).map_err(|error| cannot(name, error))?.0)
        }
        Some(Format::Dcso) if beginning.starts_with(&[0x1f, 0x8b]) => {
            let unpacked = unpack(path, most_unpacked).map_err(|error| cannot(name, error))?;
            let filter =
                Foreign::open_as(&unpacked, Format::Dcso, None).map_err(|error| cannot(name, error))?;
            copies.push(unpacked);
            Contents::Foreign(filter)
        }
        Some(format) => {
            Contents::Foreign(Foreign::open_as(path, format, column).map_err(|error| cannot(name, error))?)
        }
        None => ours(path, name)?,
    };
    Ok(Opened { name: name.to_owned(), bytes, contents, _copies: copies })
}

fn ours(path: &Path, name: &str) -> Result<Contents, ApiError> {
    match AnyFilter::open(path) {
        Ok(filter) => Ok(Contents::Keys(filter)),
        Err(OpenError::Family { .. }) => match Bitmap::open(path) {
            Ok(ids) => Ok(Contents::Ids(ids)),
            Err(_) => gowk::format::verify(path).map(Contents::Other).map_err(|error| cannot(name, error)),
        },
        Err(OpenError::NotGowk) => Err(ApiError::bad(format!(
            "{name} is not the file of a filter: it does not begin as one does; gowk build makes one of a list of keys"
        ))),
        Err(error) => Err(cannot(name, error)),
    }
}

fn cannot(name: &str, error: impl std::fmt::Display) -> ApiError {
    ApiError::bad(format!("cannot open {name}: {error}"))
}

/// Unpacks a gzip stream to the disk: a small one may unpack to anything, and must not do so in memory.
fn unpack(path: &Path, most: u64) -> io::Result<TempPath> {
    let mut file = NamedTempFile::new()?;
    let mut stream = flate2::read::MultiGzDecoder::new(io::BufReader::new(File::open(path)?)).take(most + 1);
    match io::copy(&mut stream, &mut file)? {
        bytes if bytes > most => Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!(
                "it unpacks to more than {} MB; unpack it first, with gunzip, and open it from a folder",
                most / 1_000_000
            ),
        )),
        _ => Ok(file.into_temp_path()),
    }
}
