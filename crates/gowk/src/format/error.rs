//! What can be wrong with a file.

use crate::error::ParamsError;
use core::fmt;

/// A file that is not what it should be, and where.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// It could not be read.
    #[cfg(feature = "std")]
    Io(std::io::Error),
    /// It does not begin as a `.gowk` file does.
    NotGowk,
    /// It is of a later version.
    Version {
        /// The version in the file.
        found: u16,
        /// The last version that this build reads.
        newest: u16,
    },
    /// It holds a family that this build does not know.
    UnknownFamily {
        /// The number in the file.
        tag: u16,
    },
    /// It holds another family than the caller asked for.
    Family {
        /// What the caller asked for.
        wanted: &'static str,
        /// What the file holds.
        found: &'static str,
    },
    /// It is hashed by a function that this build does not know.
    UnknownHash {
        /// The number in the file.
        tag: u8,
    },
    /// It is shorter or longer than its head says.
    Length {
        /// What the head says.
        expected: u64,
        /// What is there.
        found: u64,
    },
    /// Some byte is not what it was when the file was written.
    Checksum {
        /// In which part of the file.
        part: &'static str,
    },
    /// A field has a value that it cannot have.
    Field {
        /// Its name.
        name: &'static str,
        /// Where it begins.
        offset: u64,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The parameters are well formed but cannot be built.
    Params(ParamsError),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(feature = "std")]
            Self::Io(error) => error.fmt(f),
            Self::NotGowk => f.write_str("this is not a .gowk file: it does not begin with the bytes of one"),
            Self::Version { found, newest } => write!(
                f,
                "the filter is format v{found}, this build reads up to v{newest}; upgrade gowk or rebuild the filter"
            ),
            Self::UnknownFamily { tag } => {
                write!(f, "the filter is of family {tag}, which this build does not know; upgrade gowk")
            }
            Self::Family { wanted, found } => {
                write!(
                    f,
                    "this is a {found} filter, not a {wanted} filter; open it as what it is, or as any filter"
                )
            }
            Self::UnknownHash { tag } => {
                write!(
                    f,
                    "the filter is hashed by function {tag}, which this build does not know; upgrade gowk"
                )
            }
            Self::Length { expected, found } if found < expected => {
                write!(f, "the file is cut: it should have {expected} bytes and has {found}; copy it again")
            }
            Self::Length { expected, found } => {
                write!(
                    f,
                    "the file should have {expected} bytes and has {found}; something was appended to it"
                )
            }
            Self::Checksum { part } => {
                write!(
                    f,
                    "the {part} of the file is damaged: its checksum does not match; restore or rebuild the filter"
                )
            }
            Self::Field { name, offset, why } => write!(f, "{name}, at byte {offset} of the file, {why}"),
            Self::Params(error) => write!(f, "the file describes a filter that cannot be built: {error}"),
        }
    }
}

impl core::error::Error for OpenError {
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
impl From<std::io::Error> for OpenError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<ParamsError> for OpenError {
    fn from(error: ParamsError) -> Self {
        Self::Params(error)
    }
}
