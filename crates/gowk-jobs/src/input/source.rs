//! Where bytes come from: a file, or standard input.

use super::{
    decompress::{Compression, decompressed},
    error::InputError,
    progress::{Counted, Progress},
};
use std::{
    fmt,
    fs::{self, File},
    io::{self, Read, Seek},
    path::Path,
    sync::Arc,
};

/// A file, or standard input. Opened only when its turn comes, so there may be any number of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source(Place);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Place {
    Stdin,
    File(Arc<Path>),
}

impl Source {
    /// Standard input.
    pub fn stdin() -> Self {
        Self(Place::Stdin)
    }

    /// The path, unless it is standard input.
    pub fn path(&self) -> Option<&Path> {
        match &self.0 {
            Place::Stdin => None,
            Place::File(path) => Some(path),
        }
    }

    /// Whether it is standard input.
    pub fn is_stdin(&self) -> bool {
        self.0 == Place::Stdin
    }

    /// The bytes on disk, compressed or not; none for a pipe. An error if there is no such file, or it is a directory.
    pub fn size(&self) -> Result<Option<u64>, InputError> {
        let cannot = |error| InputError::Open { source: self.clone(), error };
        let meta = match &self.0 {
            // A standard input that is closed, or odd in another way, is only an error when it is read.
            Place::Stdin => return Ok(stdin_file().and_then(|mut file| left_of(&mut file)).ok().flatten()),
            Place::File(path) => fs::metadata(path).map_err(cannot)?,
        };
        match () {
            () if meta.is_dir() => Err(InputError::Directory { source: self.clone() }),
            () if meta.is_file() => Ok(Some(meta.len())),
            () => Ok(None),
        }
    }

    /// Whether it can be read a second time: a file on disk can, a pipe cannot.
    pub fn can_be_read_twice(&self) -> bool {
        self.path().is_some_and(Path::is_file)
    }

    pub(super) fn open(&self, progress: &Progress) -> Result<Opened, InputError> {
        let cannot = |error| InputError::Open { source: self.clone(), error };
        let file = match &self.0 {
            Place::Stdin => stdin_file(),
            Place::File(path) => File::open(path),
        };
        let file = file.map_err(cannot)?;
        let meta = file.metadata().map_err(cannot)?;
        if meta.is_dir() {
            return Err(InputError::Directory { source: self.clone() });
        }
        let (reader, compression) = decompressed(Counted::new(file, progress.clone()))
            .map_err(|error| InputError::Read { source: self.clone(), error })?;
        Ok(Opened { reader, compression, is_file: meta.is_file() })
    }
}

impl<P: AsRef<Path>> From<P> for Source {
    /// The file of this path; `-` is standard input.
    fn from(path: P) -> Self {
        match path.as_ref() {
            path if path == Path::new("-") => Self::stdin(),
            path => Self(Place::File(path.into())),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Place::Stdin => f.write_str("standard input"),
            Place::File(path) => path.display().fmt(f),
        }
    }
}

/// A source whose turn has come.
pub(super) struct Opened {
    pub(super) reader: Box<dyn Read + Send>,
    pub(super) compression: Option<Compression>,
    /// A file on disk fills every buffer; a pipe gives what is there.
    pub(super) is_file: bool,
}

impl Opened {
    /// Whether a short read only means that the writer is slow, and what came should be looked at meanwhile.
    pub(super) fn is_live(&self) -> bool {
        !self.is_file && self.compression.is_none()
    }

    pub(super) fn failed(&self, source: &Source, error: io::Error) -> InputError {
        let source = source.clone();
        match self.compression {
            Some(compression) => InputError::Decompress { source, compression, error },
            None => InputError::Read { source, error },
        }
    }
}

/// Standard input as a file: reads go straight into our buffers, from any thread.
fn stdin_file() -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
    }
    #[cfg(windows)]
    {
        use std::os::windows::io::AsHandle;
        Ok(File::from(io::stdin().as_handle().try_clone_to_owned()?))
    }
}

/// What is left of a file from where it stands, if it is one on disk.
fn left_of(file: &mut File) -> io::Result<Option<u64>> {
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Ok(None);
    }
    Ok(Some(meta.len().saturating_sub(file.stream_position()?)))
}
