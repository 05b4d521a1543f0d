//! Asking an index.

use super::{HEAD, LOWER, MAGIC};
use crate::engine::varint;
use gowk::{Hasher, store::MappedBytes};
use std::{error::Error, fmt, fs::File, io, path::Path};

/// An index that cannot be read, or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum IndexError {
    /// It could not be opened, read or written.
    Io(io::Error),
    /// It is no index.
    NoIndex,
    /// It is cut or damaged.
    Damaged {
        /// What is wrong.
        what: &'static str,
    },
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::NoIndex => f.write_str("this is not an index of words; make one with gowk index build"),
            Self::Damaged { what } => write!(f, "the index is damaged: {what}; build it again"),
        }
    }
}

impl Error for IndexError {}

impl From<io::Error> for IndexError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// An index, mapped.
pub struct Index {
    map: MappedBytes,
    lower: bool,
    words: u64,
    files: u64,
    word_table: usize,
    file_table: usize,
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index")
            .field("words", &self.words)
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

fn damaged(what: &'static str) -> IndexError {
    IndexError::Damaged { what }
}

impl Index {
    /// Maps an index. It must stay as it is while it is open; a build replaces it by a new file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, IndexError> {
        let file = File::open(path)?;
        if file.metadata()?.len() < HEAD as u64 {
            return Err(IndexError::NoIndex);
        }
        let map = MappedBytes::map(&file)?;
        let head: &[u8; HEAD] = map.as_ref().first_chunk().ok_or(IndexError::NoIndex)?;
        if !head.starts_with(MAGIC) {
            return Err(IndexError::NoIndex);
        }
        let (fields, _) = head.as_chunks::<8>();
        let [_, flags, words, files, word_table, file_table, len, sum] =
            std::array::from_fn(|i| u64::from_le_bytes(fields[i]));
        if checksum(&head[..HEAD - 8]) != sum {
            return Err(damaged("its head does not fit its checksum"));
        }
        if len != map.as_ref().len() as u64 {
            return Err(damaged("it has been cut"));
        }
        let fits = |table: u64, entries: u64| {
            entries.checked_mul(8).and_then(|bytes| bytes.checked_add(table)).is_some_and(|end| end <= len)
        };
        if !fits(word_table, words) || files == u64::MAX || !fits(file_table, files + 1) {
            return Err(damaged("its tables leave the file"));
        }
        Ok(Self {
            lower: flags & LOWER != 0,
            words,
            files,
            word_table: word_table as usize,
            file_table: file_table as usize,
            map,
        })
    }

    /// How many different words.
    pub fn words(&self) -> u64 {
        self.words
    }

    /// How many files.
    pub fn files(&self) -> u64 {
        self.files
    }

    /// Whether upper and lower case are the same.
    pub fn ignores_case(&self) -> bool {
        self.lower
    }

    fn entry(&self, table: usize, i: u64) -> Result<usize, IndexError> {
        let at = table + i as usize * 8;
        let bytes = self
            .map
            .as_ref()
            .get(at..at + 8)
            .and_then(<[u8]>::first_chunk)
            .ok_or_else(|| damaged("a table is cut"))?;
        Ok(u64::from_le_bytes(*bytes) as usize)
    }

    /// A word, and what stands behind it.
    fn word(&self, i: u64) -> Result<(&[u8], &[u8]), IndexError> {
        let at = self.entry(self.word_table, i)?;
        let mut rest = self.map.as_ref().get(at..).ok_or_else(|| damaged("a word is outside the file"))?;
        let word = varint::take(&mut rest).and_then(|len| varint::take_bytes(&mut rest, len));
        word.map(|word| (word, rest)).ok_or_else(|| damaged("a word is cut"))
    }

    /// The numbers of the files that hold a word, ascending; none if no file does.
    pub fn find(&self, word: &[u8]) -> Result<Vec<u64>, IndexError> {
        let folded = match (self.lower, std::str::from_utf8(word)) {
            (true, Ok(text)) => text.to_lowercase().into_bytes(),
            _ => word.to_vec(),
        };
        let (mut low, mut high) = (0, self.words);
        while low < high {
            let middle = low + (high - low) / 2;
            let (at, rest) = self.word(middle)?;
            match at.cmp(&folded) {
                std::cmp::Ordering::Equal => return self.files_in(rest),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok(Vec::new())
    }

    fn files_in(&self, mut rest: &[u8]) -> Result<Vec<u64>, IndexError> {
        let cut = || damaged("a list of files is cut");
        let len = varint::take(&mut rest).ok_or_else(cut)?;
        let mut list = varint::take_bytes(&mut rest, len).ok_or_else(cut)?;
        let (mut files, mut file) = (Vec::new(), 0u64);
        while !list.is_empty() {
            file = varint::take(&mut list).and_then(|step| file.checked_add(step)).ok_or_else(cut)?;
            if file >= self.files {
                return Err(damaged("a word names a file that is not there"));
            }
            files.push(file);
        }
        Ok(files)
    }

    /// The path of a file, as bytes: as it was given, with the path of the folder before it.
    pub fn path(&self, file: u64) -> Result<&[u8], IndexError> {
        if file >= self.files {
            return Err(damaged("there is no such file"));
        }
        let (start, end) = (self.entry(self.file_table, file)?, self.entry(self.file_table, file + 1)?);
        self.map.as_ref().get(start..end).ok_or_else(|| damaged("a path is outside the file"))
    }
}

pub(super) fn checksum(bytes: &[u8]) -> u64 {
    Hasher::new(0).bytes(bytes).h1
}
