//! From a file to a filter, whatever wrote it.

use crate::error::ApiError;
use gowk::{
    AnyFilter, Bitmap, OpenError, Persist, RoaringSet,
    format::{
        Head,
        foreign::{Foreign, ForeignError, Format},
        parquet, roaring,
    },
    store::{Mapped, MappedBytes},
};
use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};
use tempfile::{NamedTempFile, TempPath};

/// A filter that was opened, and its file.
pub(super) struct Opened {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) contents: Contents,
    /// The columns of a Parquet file that have filters.
    pub(super) columns: Vec<String>,
    path: PathBuf,
    /// The copy of a dropped file, or what a packed one was unpacked to; gone with the last filter of it.
    copies: Vec<Arc<TempPath>>,
}

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
    open(&copy, name, column, most_unpacked, vec![Arc::new(path)])
}

/// The filters of another column of the same file.
pub(super) fn column(opened: &Opened, column: &str, most_unpacked: u64) -> Result<Opened, ApiError> {
    if !opened.columns.iter().any(|known| known == column) {
        return Err(ApiError::bad(format!("{} has no filter on a column {column}", opened.name)));
    }
    open(&opened.path, &opened.name, Some(column), most_unpacked, opened.copies.clone())
}

fn open(
    path: &Path,
    name: &str,
    column: Option<&str>,
    most_unpacked: u64,
    mut copies: Vec<Arc<TempPath>>,
) -> Result<Opened, ApiError> {
    let bytes = fs::metadata(path).map_err(|error| cannot(name, error))?.len();
    let mut beginning = Vec::new();
    let start = File::open(path).and_then(|file| file.take(64 << 10).read_to_end(&mut beginning));
    start.map_err(|error| cannot(name, error))?;
    let format = Format::sniff(&beginning, bytes);
    let columns = match format {
        Some(Format::Parquet) if beginning.starts_with(b"PAR1") => {
            columns(path).map_err(|error| cannot(name, error))?
        }
        _ => Vec::new(),
    };
    // Of several columns the first is shown until another is chosen.
    let column = column.or(columns.first().map(String::as_str));
    let contents = match format {
        Some(Format::Roaring) => {
            let bytes = fs::read(path).map_err(|error| cannot(name, error))?;
            Contents::Roaring(roaring::from_bytes(&bytes).map_err(|error| cannot(name, error))?.0)
        }
        Some(Format::Dcso) if beginning.starts_with(&[0x1f, 0x8b]) => {
            let unpacked = unpack(path, most_unpacked).map_err(|error| cannot(name, error))?;
            let filter =
                Foreign::open_as(&unpacked, Format::Dcso, None).map_err(|error| cannot(name, error))?;
            copies.push(Arc::new(unpacked));
            Contents::Foreign(filter)
        }
        Some(format) => {
            Contents::Foreign(Foreign::open_as(path, format, column).map_err(|error| cannot(name, error))?)
        }
        None => ours(path, name)?,
    };
    Ok(Opened { name: name.to_owned(), bytes, contents, columns, path: path.to_owned(), copies })
}

/// The columns of a Parquet file that have filters.
fn columns(path: &Path) -> Result<Vec<String>, ForeignError> {
    parquet::columns(MappedBytes::map(&File::open(path)?)?.as_ref())
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
