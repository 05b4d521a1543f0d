//! What can go wrong between a caller and the servers.

use gowk::{MergeError, ParamsError};
use redis::RedisError;
use std::{fmt, io, path::PathBuf, sync::Arc, time::Duration};

/// What went wrong. No variant holds a URL or a password.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// A filter cannot have this name.
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The filter cannot be sized as asked.
    Params(ParamsError),
    /// The address of the servers is none. It may hold a password, so it is not repeated.
    Url {
        /// What is wrong with it.
        why: String,
    },
    /// Nobody answers.
    NoServer {
        /// Whom we asked last, host and port.
        node: String,
        /// How long we tried.
        tried: Duration,
        /// What happened the last time.
        source: RedisError,
    },
    /// There is no filter of this name.
    NotFound {
        /// The name.
        name: String,
    },
    /// There is one already.
    Exists {
        /// The name.
        name: String,
    },
    /// Whoever was creating the filter has not come to the end.
    Unfinished {
        /// The name.
        name: String,
    },
    /// Something else is kept under a key that the filter needs.
    WrongType {
        /// The key.
        key: String,
    },
    /// The filter is there, but is another than the caller expects.
    Differs {
        /// The name.
        name: String,
        /// In what.
        what: &'static str,
        /// What the caller asked for.
        asked: String,
        /// What is there.
        found: String,
    },
    /// The metadata was written by a later version.
    Version {
        /// The name.
        name: String,
        /// The version found.
        found: u64,
    },
    /// The metadata cannot be read.
    Meta {
        /// The name.
        name: String,
        /// What is wrong.
        why: &'static str,
    },
    /// Shards have vanished: deleted, evicted, or lost with a node.
    Lost {
        /// The name.
        name: String,
        /// One of them.
        shard: u64,
    },
    /// A server has reached its `maxmemory`.
    Full {
        /// What it said.
        said: String,
    },
    /// The servers throw keys away when memory is short, and with them parts of filters.
    Evicting {
        /// The `maxmemory-policy`.
        policy: String,
    },
    /// Fewer replicas than asked for have confirmed in time.
    Unreplicated {
        /// How many were asked for.
        asked: usize,
        /// How many confirmed.
        confirmed: usize,
    },
    /// No answer came to a command that must not be sent twice; it may have been carried out.
    Unclear {
        /// What happened.
        source: RedisError,
    },
    /// A file could not be written.
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: Arc<io::Error>,
    },
    /// A new generation is being built already.
    Rebuilding {
        /// The name.
        name: String,
    },
    /// Somebody else switched, cleared or dropped the filter meanwhile.
    Changed {
        /// The name.
        name: String,
    },
    /// The two filters do not fit each other.
    Merge(MergeError),
    /// The server refused.
    Server(RedisError),
    /// The server answered something that the command does not give.
    Reply {
        /// The command.
        command: &'static str,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { name, why } => write!(f, "{name:?} cannot be the name of a filter: {why}"),
            Self::Params(error) => error.fmt(f),
            Self::Url { why } => {
                write!(
                    f,
                    "the URL of the servers is not understood: {why}; write redis://host:6379 or rediss://user:password@host:6379/0"
                )
            }
            Self::NoServer { node, tried, source } => {
                write!(f, "no answer from {node} after {:.1} s: {source}", tried.as_secs_f64())
            }
            Self::NotFound { name } => {
                write!(f, "there is no filter {name:?}: it was never created, was dropped, or has expired")
            }
            Self::Exists { name } => {
                write!(f, "there is a filter {name:?} already; drop it, or choose another name")
            }
            Self::Unfinished { name } => write!(
                f,
                "filter {name:?} was not created to its end; create it again with the same parameters, or drop it"
            ),
            Self::WrongType { key } => write!(
                f,
                "key {key:?} holds something that is no filter of this kind; choose another name, or look what it is with TYPE"
            ),
            Self::Differs { name, what, asked, found } => write!(
                f,
                "filter {name:?} is there with another {what}: {found}, not {asked}; ask for what is there, or choose another name"
            ),
            Self::Version { name, found } => write!(
                f,
                "filter {name:?} has metadata of version {found}, this build reads version 1; upgrade gowk"
            ),
            Self::Meta { name, why } => write!(
                f,
                "the metadata of filter {name:?} is damaged: {why}; drop the filter and build it again"
            ),
            Self::Lost { name, shard } => write!(
                f,
                "shard {shard} of filter {name:?} has vanished (deleted, evicted, or lost with a node), so keys would be denied wrongly; rebuild the filter"
            ),
            Self::Full { said } => {
                write!(f, "a server is full: {said}; raise maxmemory, add nodes, or make a smaller filter")
            }
            Self::Evicting { policy } => write!(
                f,
                "the servers have maxmemory-policy {policy}, which throws parts of filters away when memory is short, and their keys would be denied; set it to noeviction, or allow it expressly"
            ),
            Self::Unreplicated { asked, confirmed } => write!(
                f,
                "{confirmed} of {asked} replicas confirmed in time; the keys are on the master, and may be lost with it"
            ),
            Self::Unclear { source } => write!(
                f,
                "no answer ({source}) to a command that must not be sent twice; it may have been carried out or not"
            ),
            Self::File { path, source } => write!(f, "cannot write {}: {source}", path.display()),
            Self::Rebuilding { name } => write!(
                f,
                "a new generation of filter {name:?} is being built already; wait for it, or abort it"
            ),
            Self::Changed { name } => {
                write!(
                    f,
                    "filter {name:?} was switched, cleared or dropped by somebody else meanwhile; open it again and repeat"
                )
            }
            Self::Merge(error) => error.fmt(f),
            Self::Server(error) => write!(f, "the server refused: {error}"),
            Self::Reply { command } => {
                write!(f, "the server gave an answer to {command} that it never gives; is it a Redis?")
            }
        }
    }
}

/// What it displays says why as well, so there is no source to be told once more.
impl std::error::Error for Error {}

impl From<ParamsError> for Error {
    fn from(error: ParamsError) -> Self {
        Self::Params(error)
    }
}

impl From<MergeError> for Error {
    fn from(error: MergeError) -> Self {
        Self::Merge(error)
    }
}

/// Some keys of a batch that were not added, removed or answered. All others were.
#[derive(Clone, Debug)]
pub struct BatchError {
    /// Which of the keys, by their place in the batch, rising.
    pub failed: Vec<usize>,
    /// How many there were in all.
    pub keys: usize,
    /// Why the first of them failed.
    pub source: Box<Error>,
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} keys failed: {}", self.failed.len(), self.keys, self.source)
    }
}

impl std::error::Error for BatchError {}

impl From<BatchError> for Error {
    /// For those who sent one key.
    fn from(error: BatchError) -> Self {
        *error.source
    }
}
