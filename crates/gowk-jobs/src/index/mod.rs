//! An index of words: which files hold each.
//!
//! [`IndexBuilder`] reads files and writes one; [`Index`] maps it and answers in microseconds. Building takes as little memory as
//! it is given: words with their files are sorted in memory, written as a run when that is full, and runs are merged.
//!
//! The file, all numbers little-endian:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `GOWKIDX1` |
//! | 8 | flags: bit 0, words are in lower case |
//! | 8 | how many words |
//! | 8 | how many files |
//! | 8 | where the table of words begins |
//! | 8 | where the table of files begins |
//! | 8 | length of the whole |
//! | 8 | checksum of the 56 bytes before, by the default hash of the core under seed 0 |
//! | ... | words in ascending order: length, word, length of what follows, and the files that hold it, each as the difference to the one before; as varints |
//! | ... | paths, in the order of their numbers |
//! | 8 each | table of words: where each begins |
//! | 8 each | table of files: where each path begins, and where the last ends |

mod build;
mod find;

pub use build::{IndexBuilder, IndexStats};
pub use find::{Index, IndexError};

const MAGIC: &[u8; 8] = b"GOWKIDX1";
const HEAD: usize = 64;
const LOWER: u64 = 1;
