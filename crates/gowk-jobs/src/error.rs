//! What can go wrong in a job.

use crate::input::InputError;
use std::{error::Error, fmt, io, path::PathBuf};

/// A job that did not come to its end. Nothing of it is left on disk.
#[derive(Debug)]
#[non_exhaustive]
pub enum JobError {
    /// The input could not be read, or the job was cancelled.
    Input(InputError),
    /// The answer could not be written.
    Output(io::Error),
    /// Temporary data could not be written or read.
    Spill {
        /// Where.
        dir: PathBuf,
        /// How much had been written.
        written: u64,
        /// Why.
        error: io::Error,
    },
    /// The temporary data will not fit on the disk.
    NoSpace {
        /// Where.
        dir: PathBuf,
        /// How much it will be, about.
        needed: u64,
        /// How much is free.
        free: u64,
    },
    /// There is no memory for a filter or a table.
    Memory(gowk::ParamsError),
    /// An input has to be read more than once, and cannot.
    ReadTwice {
        /// What for.
        why: &'static str,
    },
    /// A key is longer than the engine can hold.
    KeyTooLong {
        /// Its bytes.
        bytes: u64,
    },
    /// A line is not an integer.
    NotAnInteger {
        /// Where it is from.
        source: crate::input::Source,
        /// The line, from 1.
        line: u64,
        /// How it begins.
        text: String,
        /// Whether it is one, but does not fit into 64 bits.
        out_of_range: bool,
    },
    /// An index could not be written.
    Index(crate::IndexError),
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(error) => error.fmt(f),
            Self::Output(error) => write!(f, "cannot write the answer: {error}"),
            Self::Spill { dir, written, error } => {
                write!(f, "cannot keep temporary data in {} after {written} bytes: {error}", dir.display())
            }
            Self::NoSpace { dir, needed, free } => write!(
                f,
                "about {needed} bytes of temporary data will not fit into {}, which has {free} free",
                dir.display()
            ),
            Self::Memory(error) => error.fmt(f),
            Self::ReadTwice { why } => {
                write!(f, "the input must be read more than once ({why}), and a pipe cannot be; give a file")
            }
            Self::KeyTooLong { bytes } => {
                write!(f, "a record of {bytes} bytes is longer than the 2 GiB that a job can hold")
            }
            Self::NotAnInteger { source, line, text, out_of_range: false } => {
                write!(f, "{source}:{line}: \"{text}\" is not an integer")
            }
            Self::NotAnInteger { source, line, text, out_of_range: true } => {
                write!(f, "{source}:{line}: {text} does not fit into 64 bits")
            }
            Self::Index(error) => write!(f, "cannot write the index: {error}"),
        }
    }
}

impl Error for JobError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Input(error) => error.source(),
            _ => None,
        }
    }
}

impl JobError {
    /// Whether another directory for temporary data, or more memory, would help. How a caller is told so is up to those who know what
    /// these options are called.
    pub fn lacks_room(&self) -> bool {
        match self {
            Self::NoSpace { .. } => true,
            Self::Spill { error, .. } => matches!(
                error.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
            ),
            _ => false,
        }
    }

    /// Whether somebody asked for it to stop.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Input(InputError::Cancelled))
    }
}

impl From<InputError> for JobError {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

impl From<gowk::ParamsError> for JobError {
    fn from(error: gowk::ParamsError) -> Self {
        Self::Memory(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_full_disk_lacks_room() {
        let spill = |kind: io::ErrorKind| JobError::Spill { dir: "t".into(), written: 7, error: kind.into() };
        assert!(JobError::NoSpace { dir: "t".into(), needed: 9, free: 2 }.lacks_room());
        assert!(spill(io::ErrorKind::StorageFull).lacks_room());
        assert!(!spill(io::ErrorKind::PermissionDenied).lacks_room());
        assert!(!JobError::KeyTooLong { bytes: 1 << 31 }.lacks_room());
    }

    #[test]
    fn the_words_of_a_library_name_no_flags() {
        let errors = [
            JobError::NoSpace { dir: "t".into(), needed: 9, free: 2 },
            JobError::Spill { dir: "t".into(), written: 7, error: io::ErrorKind::StorageFull.into() },
            JobError::ReadTwice { why: "to count" },
        ];
        assert!(errors.iter().all(|error| !error.to_string().contains("--")));
    }
}
