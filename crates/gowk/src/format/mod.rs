//! Filters as bytes: the `.gowk` file, every byte of which is in `docs/format.md`; and the files of other systems, in [`foreign`].
//!
//! | call | gives | costs |
//! |---|---|---|
//! | [`Persist::to_bytes`], [`Persist::from_bytes`] | the file in memory, checked to the last byte | O(size) |
//! | [`Persist::save`] | a file that is whole or not there, whatever happens meanwhile | O(size) |
//! | `FileWriter` | the same, of a filter that comes in pieces and is never in memory as a whole | O(size) |
//! | [`Persist::load`] | the filter on the heap, checked to the last byte | O(size) |
//! | [`Persist::open`] | the filter over a mapped file, its head checked | O(1) |
//!
//! Bytes from outside are not believed. Every length is held against the bytes that are there before anything is allocated,
//! every field against its range, every checksum against its bytes; what is wrong is named with its offset in an
//! [`OpenError`].

mod any;
mod change;
pub mod dcso;
mod error;
mod fields;
#[cfg(feature = "std")]
mod file;
pub mod foreign;
pub mod guava;
mod head;
pub mod leveldb;
pub mod parquet;
#[cfg(feature = "std")]
mod pieces;
pub mod redisbloom;
pub mod roaring;
#[cfg(feature = "serde")]
mod serde;
pub mod spark;

pub use any::AnyFilter;
pub use change::ChangeError;
pub use error::OpenError;
pub use fields::{Fields, ParamsWriter};
#[cfg(feature = "std")]
pub use file::replace;
pub use head::Head;
#[cfg(feature = "std")]
pub use pieces::FileWriter;

#[cfg(feature = "std")]
use crate::store::Mapped;
use crate::store::{Heap, Line, Store};
use alloc::vec::Vec;
use core::ops::Range;
use head::RawHead;

/// A family that has a place in the `.gowk` format.
///
/// ```
/// use gowk::{BlockedBloom, Filter, Insert, Persist};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("seen.gowk");
///
/// let mut seen = BlockedBloom::builder().items(1_000).fpp(0.01).build()?;
/// seen.insert("gowk");
/// seen.save(&path)?;
///
/// let mapped = BlockedBloom::open(&path)?;        // O(1): pages come as they are asked for
/// assert!(mapped.may_contain("gowk"));
/// let mut again = BlockedBloom::load(&path)?;     // on the heap, every byte checked, ready for more
/// again.insert("heron");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Persist: Sized {
    /// Where its bits are.
    type Store: Body;

    /// What the head of a file says of it.
    fn head(&self) -> Head;

    /// What only this family needs to know.
    fn write_params(&self, params: &mut ParamsWriter);

    /// The bits, in the order of the file.
    fn sections(&self) -> Vec<&[Line]>;

    /// The filter of a file. Holds the parameters against their ranges and against the length of the body.
    fn from_parts(head: &Head, params: Fields<'_>, body: Self::Store) -> Result<Self, OpenError>;

    /// The bytes of a `.gowk` file.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = head::encode(self);
        for section in self.sections() {
            in_file_order(section, |part| bytes.extend_from_slice(part));
        }
        bytes
    }

    /// The filter that these bytes of a `.gowk` file hold, every one of them checked.
    fn from_bytes(bytes: &[u8]) -> Result<Self, OpenError>
    where
        Self: Persist<Store = Heap>,
    {
        let raw = RawHead::decode(bytes, bytes.len() as u64)?;
        let params = raw.checked_params(&bytes[RawHead::BYTES..])?;
        let body = Heap::from_le_bytes(&bytes[raw.body_start()..][..raw.body_len as usize])?;
        raw.check_body(body.lines())?;
        Self::from_parts(&raw.head, params, body)
    }

    /// Writes a `.gowk` file: to a temporary name beside it, to the disk, and then by one rename to `path`, so that there is
    /// always the old file or the new one.
    #[cfg(feature = "std")]
    fn save(&self, path: impl AsRef<std::path::Path>) -> std::io::Result<()> {
        file::save(self, path.as_ref())
    }

    /// Reads a `.gowk` file into memory, every byte of it checked.
    #[cfg(feature = "std")]
    fn load(path: impl AsRef<std::path::Path>) -> Result<Self, OpenError>
    where
        Self: Persist<Store = Heap>,
    {
        file::load(path.as_ref())
    }

    /// Maps a `.gowk` file and checks its head. The body is paged in as it is asked, and not checked: see
    /// [`verify`]. Whoever can write to the file meanwhile can change the answers.
    #[cfg(feature = "std")]
    fn open(path: impl AsRef<std::path::Path>) -> Result<Self, OpenError>
    where
        Self: Persist<Store = Mapped>,
    {
        file::open(path.as_ref())
    }
}

/// Checks every byte of a `.gowk` file, without building a filter of it.
#[cfg(feature = "std")]
pub fn verify(path: impl AsRef<std::path::Path>) -> Result<Head, OpenError> {
    file::verify(path.as_ref())
}

/// A store that a body can be cut into.
pub trait Body: Store + Sized {
    /// Some of the lines, as a store of their own.
    fn part(&self, lines: Range<usize>) -> Result<Self, OpenError>;
}

impl Body for Heap {
    fn part(&self, lines: Range<usize>) -> Result<Self, OpenError> {
        Ok(Self::copy_of(&self.lines()[lines])?)
    }
}

#[cfg(feature = "std")]
impl Body for Mapped {
    fn part(&self, lines: Range<usize>) -> Result<Self, OpenError> {
        Ok(self.slice(lines))
    }
}

/// Hands the lines to `each` as the bytes of a file, in large parts.
fn in_file_order(lines: &[Line], mut each: impl FnMut(&[u8])) {
    #[cfg(target_endian = "little")]
    each(crate::store::bytes(lines));
    #[cfg(not(target_endian = "little"))]
    lines.iter().for_each(|line| each(&line.to_le_bytes()));
}

/// The checksum of a body.
fn checksum<'a>(sections: impl IntoIterator<Item = &'a [Line]>) -> u64 {
    let mut sum = xxhash_rust::xxh3::Xxh3::new();
    for section in sections {
        in_file_order(section, |part| sum.update(part));
    }
    sum.digest()
}
