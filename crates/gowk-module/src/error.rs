//! What can go wrong: in a command, and in bytes that come from outside.

use std::{borrow::Cow, fmt};

/// Why a command is refused. What it displays is the reply.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum CommandError {
    /// Too few or too many words.
    Arity,
    /// The key holds something else.
    WrongType,
    /// A text that clients of RedisBloom know, or that needs no number.
    Refused(&'static str),
    /// A text of our own, with numbers in it.
    Said(String),
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Arity => "ERR wrong number of arguments",
            Self::WrongType => "WRONGTYPE Operation against a key holding the wrong kind of value",
            Self::Refused(text) => text,
            Self::Said(text) => text,
        })
    }
}

impl std::error::Error for CommandError {}

/// Why bytes from outside are refused: of a snapshot, a dump, a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum LoadError {
    /// They end too early, or the stream is broken.
    Cut,
    /// A later version wrote them, or other software.
    Encoding {
        /// The number that they say.
        found: u64,
    },
    /// A field is not what it can be.
    Field {
        /// Its name.
        name: &'static str,
        /// What is wrong with it.
        why: Cow<'static, str>,
    },
    /// Some byte has changed.
    Checksum,
    /// There is no memory for them.
    Memory {
        /// What it would take.
        bytes: u64,
    },
}

impl LoadError {
    pub(crate) fn field(name: &'static str, why: impl Into<Cow<'static, str>>) -> Self {
        Self::Field { name, why: why.into() }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut => f.write_str("its bytes end too early"),
            Self::Encoding { found } => {
                write!(f, "encoding {found} is not one that this version of gowk reads; upgrade gowk")
            }
            Self::Field { name, why } => write!(f, "{name} {why}"),
            Self::Checksum => f.write_str("its checksum does not match, so some byte has changed"),
            Self::Memory { bytes } => write!(f, "no memory for {bytes} bytes"),
        }
    }
}

impl std::error::Error for LoadError {}

impl From<gowk::ParamsError> for LoadError {
    fn from(error: gowk::ParamsError) -> Self {
        match error {
            gowk::ParamsError::OutOfMemory { bytes } => Self::Memory { bytes },
            other => Self::field("a parameter", format!("is out of range: {other}")),
        }
    }
}

impl From<gowk::OpenError> for LoadError {
    fn from(error: gowk::OpenError) -> Self {
        match error {
            gowk::OpenError::Checksum { .. } => Self::Checksum,
            other => Self::field("the filter", format!("cannot be read: {other}")),
        }
    }
}
