//! What can be wrong with a file of another system.

use super::Format;
use crate::error::ParamsError;
use alloc::{string::String, vec::Vec};
use core::fmt;

/// A file of another system that cannot be read, with the field and the offset.
#[derive(Debug)]
#[non_exhaustive]
pub enum ForeignError {
    /// It could not be read.
    #[cfg(feature = "std")]
    Io(std::io::Error),
    /// It ends inside a field.
    Cut {
        /// What it was read as.
        format: Format,
        /// The field.
        field: &'static str,
        /// Where the field begins.
        offset: u64,
        /// How many bytes the field takes.
        needed: u64,
        /// How many are there.
        found: u64,
    },
    /// A field has a value that it cannot have.
    Field {
        /// What it was read as.
        format: Format,
        /// The field.
        field: &'static str,
        /// Where it begins.
        offset: u64,
        /// Its value.
        value: i128,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A field should be a probability or another number, and is not.
    Number {
        /// What it was read as.
        format: Format,
        /// The field.
        field: &'static str,
        /// Where it begins.
        offset: u64,
        /// Its value.
        value: f64,
    },
    /// It goes on where it should end.
    TooLong {
        /// What it was read as.
        format: Format,
        /// Where it should end.
        expected: u64,
        /// How long it is.
        found: u64,
    },
    /// It is of a version that is not known.
    Version {
        /// What it was read as.
        format: Format,
        /// Where the version stands.
        offset: u64,
        /// The version.
        found: i128,
        /// The versions that can be read.
        known: &'static str,
    },
    /// A gzip stream that does not unpack, or to far more than its head says.
    Gzip {
        /// What it was read as.
        format: Format,
    },
    /// What the bytes say cannot be built.
    Params(ParamsError),
    /// A Parquet file, or a column of it, without Bloom filters.
    NoFilters {
        /// The column asked for, if one was.
        column: Option<String>,
        /// The columns that have filters.
        filtered: Vec<String>,
    },
    /// A Parquet file with filters on several columns, and nobody said which.
    WhichColumn {
        /// The columns that have filters.
        filtered: Vec<String>,
    },
    /// A Parquet file whose footer cannot be read.
    Footer(String),
    /// A set in Roaring's format that cannot be read.
    Roaring(String),
    /// It is not of any format that can be told by its bytes.
    Unknown,
}

impl fmt::Display for ForeignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(feature = "std")]
            Self::Io(error) => error.fmt(f),
            Self::Cut { format, field, offset, needed, found } => write!(
                f,
                "the {format} file is cut: {field}, at byte {offset}, should have {needed} bytes and has {found}; copy it again, or it is not a {format} file"
            ),
            Self::Field { format, field, offset, value, why } => {
                write!(f, "{field}, at byte {offset} of the {format} file, is {value}: {why}")
            }
            Self::Number { format, field, offset, value } => {
                write!(f, "{field}, at byte {offset} of the {format} file, is {value}, which it cannot be")
            }
            Self::TooLong { format, expected, found } => write!(
                f,
                "the {format} file should end at byte {expected} and has {found}; it is not a {format} file, or something was appended to it"
            ),
            Self::Version { format, offset, found, known } => write!(
                f,
                "the version, at byte {offset} of the {format} file, is {found}; known are {known}"
            ),
            Self::Gzip { format } => write!(
                f,
                "the gzip stream around the {format} file does not unpack to what its first bytes say; copy it again"
            ),
            Self::Params(error) => write!(f, "the file describes a filter that cannot be built: {error}"),
            Self::NoFilters { column: None, .. } => f.write_str(
                "the Parquet file has no Bloom filters; have its writer make some (bloom_filter_options in pyarrow), or take its keys",
            ),
            Self::NoFilters { column: Some(column), filtered } => {
                write!(f, "column {column} of the Parquet file has no Bloom filter; ")?;
                list(f, filtered)
            }
            Self::WhichColumn { filtered } => {
                f.write_str("the Parquet file has Bloom filters on several columns; say which: ")?;
                list(f, filtered)
            }
            Self::Footer(why) => write!(f, "the footer of the Parquet file cannot be read: {why}"),
            Self::Roaring(why) => write!(f, "this is not a set in Roaring's portable format: {why}"),
            Self::Unknown => f.write_str(
                "the bytes are not of a format that can be told by itself; name it (guava, spark, parquet, redisbloom, dcso, roaring)",
            ),
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, columns: &[String]) -> fmt::Result {
    if columns.is_empty() {
        return f.write_str("no column has one");
    }
    f.write_str("these have: ")?;
    for (i, column) in columns.iter().enumerate() {
        write!(f, "{}{column}", if i == 0 { "" } else { ", " })?;
    }
    Ok(())
}

impl core::error::Error for ForeignError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            #[cfg(feature = "std")]
            // Its own text is already in ours; what stands behind it is not.
            Self::Io(error) => error.source(),
            _ => None,
        }
    }
}

#[cfg(feature = "std")]
impl From<std::io::Error> for ForeignError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<ParamsError> for ForeignError {
    fn from(error: ParamsError) -> Self {
        Self::Params(error)
    }
}
