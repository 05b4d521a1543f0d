//! Keys as they come from outside: files and pipes, one record a line.
//!
//! ```text
//! Source --open--> bytes (.gz .zst .xz undone) --cut at record ends--> Block --split--> records --KeySpec, KeyType--> Value
//!                  one reader, behind a lock                            as many threads as there are
//! ```
//!
//! Blocks are read into buffers that go round, a few hundred kilobytes each, so that what one thread reads is still in its cache when it
//! splits and hashes it. There is no reader thread: whoever is free reads the next block. A block knows its number, so that
//! results can be put back in order ([`map_in_order`]), and the line it begins with, so that an error can say where it is.
//!
//! | what | how |
//! |---|---|
//! | a record | a line, or with [`Separator::Nul`] what stands before a NUL; the last one may lack its end |
//! | `\r\n` | one `\r` before the `\n` is taken off |
//! | an empty line | is a record, with the empty key |
//! | a long record | the buffer grows with it, up to [`Input::max_record`] |
//! | bytes that are not UTF-8 | are just bytes |
//! | compression | recognised by the first bytes, never by the name; members and frames one after another are one text |
//!
//! ```
//! use gowk_jobs::input::{Input, Source};
//!
//! let file = tempfile::NamedTempFile::new()?;
//! std::fs::write(&file, "heron\ngowk\n")?;
//! let mut blocks = Input::new([Source::from(file.path())])?.blocks();
//! let mut block = Default::default();
//! while blocks.next_into(&mut block)? {
//!     assert_eq!(block.lines().collect::<Vec<_>>(), [&b"heron"[..], b"gowk"]);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod block;
mod decompress;
mod error;
mod extract;
mod key_type;
mod parallel;
mod progress;
mod reader;
mod source;

pub use block::{Block, Lines, Record, Records, Separator};
pub use decompress::Compression;
pub use error::{InputError, KeyError};
pub use extract::{Extractor, KeySpec, Keys};
pub use key_type::{KeyType, Value};
pub use parallel::{for_each_block, map_in_order};
pub use progress::Progress;
pub use reader::{BlockReader, DEFAULT_BLOCK, DEFAULT_MAX_RECORD, Input};
pub use source::Source;
