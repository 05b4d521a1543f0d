//! What can be wrong with input, and where.

use super::{decompress::Compression, key_type::KeyType, source::Source};
use std::{error::Error, fmt, io};

/// Input that could not be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum InputError {
    /// It could not be opened.
    Open {
        /// Which.
        source: Source,
        /// Why.
        error: io::Error,
    },
    /// It is a directory.
    Directory {
        /// Which.
        source: Source,
    },
    /// It could not be read to its end.
    Read {
        /// Which.
        source: Source,
        /// Why.
        error: io::Error,
    },
    /// It is compressed, and damaged or cut.
    Decompress {
        /// Which.
        source: Source,
        /// As what it was compressed.
        compression: Compression,
        /// Why.
        error: io::Error,
    },
    /// A record is longer than was allowed.
    RecordTooLong {
        /// In which input.
        source: Source,
        /// The line, from 1.
        line: u64,
        /// What was allowed, in bytes.
        limit: usize,
    },
    /// A key is not of the type that was asked for.
    Key {
        /// In which input.
        source: Source,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        error: KeyError,
    },
    /// Somebody called [`Progress::cancel`](super::Progress::cancel).
    Cancelled,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { source, error } => write!(f, "cannot open {source}: {error}"),
            Self::Directory { source } => {
                write!(f, "{source} is a directory; name the files in it, as in {source}/*")
            }
            Self::Read { source, error } => write!(f, "cannot read {source}: {error}"),
            Self::Decompress { source, compression, error } => match error.kind() {
                io::ErrorKind::UnexpectedEof => {
                    write!(f, "{source} is cut: its {compression} data ends too early; copy it again")
                }
                _ => write!(f, "the {compression} data of {source} is damaged: {error}; copy it again"),
            },
            Self::RecordTooLong { source, line, limit } => write!(
                f,
                "{source}:{line}: the line is longer than {limit} bytes; is this a file of lines? NUL-separated ones are read with -0"
            ),
            Self::Key { source, line, error } => write!(f, "{source}:{line}: {error}"),
            Self::Cancelled => f.write_str("interrupted"),
        }
    }
}

impl Error for InputError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // Their own texts are already in ours; what stands behind them is not.
            Self::Open { error, .. } | Self::Read { error, .. } | Self::Decompress { error, .. } => {
                error.source()
            }
            _ => None,
        }
    }
}

/// A key that is not of its type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// It is not written as one.
    Malformed {
        /// What it should be.
        wanted: KeyType,
        /// How it begins.
        text: String,
    },
    /// It is a number that the type has no place for.
    OutOfRange {
        /// What it should be.
        wanted: KeyType,
        /// How it begins.
        text: String,
    },
}

impl KeyError {
    pub(super) fn malformed(wanted: KeyType, text: &[u8]) -> Self {
        Self::Malformed { wanted, text: beginning(text) }
    }

    pub(super) fn out_of_range(wanted: KeyType, text: &[u8]) -> Self {
        Self::OutOfRange { wanted, text: beginning(text) }
    }
}

/// Enough of a key to know it again.
fn beginning(text: &[u8]) -> String {
    const ENOUGH: usize = 40;
    let mut beginning = text[..text.len().min(ENOUGH)].escape_ascii().to_string();
    if text.len() > ENOUGH {
        beginning.push_str("...");
    }
    beginning
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed { wanted, text } => {
                write!(f, "\"{text}\" is not {}", wanted.description())
            }
            Self::OutOfRange { wanted, text } => {
                write!(f, "\"{text}\" is out of the range of {}", wanted.description())
            }
        }
    }
}

impl Error for KeyError {}
