//! A value as bytes: a small header that says what it is, and a body. RDB, AOF, `SCANDUMP` and `LOADCHUNK` all carry this.
//!
//! ```text
//!  header  magic "gowkimg1" | u8 kind | u64 body bytes | fields of the kind
//!  body    the bits, in chunks; chunk iterators are 1 + the bytes up to the end of the chunk, as in RedisBloom's dumps
//! ```
//!
//! In a snapshot the header comes first, then the chunks, then the XXH3-64 of the body.

use super::bytes::{Reader, Writer};
use crate::{
    callbacks::{AofOut, Digest, RdbIn, RdbOut},
    error::LoadError,
};
use gowk::store::Line;
use std::{borrow::Cow, ffi::CStr};
use xxhash_rust::xxh3::Xxh3;

const MAGIC: &[u8; 8] = b"gowkimg1";

/// The bytes of one chunk of a snapshot or an append-only file.
const FILE_CHUNK: usize = 4 << 20;

/// The bytes of one reply of `SCANDUMP`: copied in well under a millisecond.
pub(crate) const DUMP_CHUNK: usize = 256 << 10;

/// Begins a header.
pub(crate) fn header(kind: u8, body_len: u64) -> Writer {
    let mut writer = Writer::default();
    writer.bytes(MAGIC).u8(kind).u64(body_len);
    writer
}

/// Whether these bytes begin as our headers do, and not as those of RedisBloom.
pub(crate) fn is_ours(header: &[u8]) -> bool {
    header.starts_with(MAGIC)
}

/// Kind, length of the body and the fields of the kind.
pub(crate) fn read_header(header: &[u8]) -> Result<(u8, u64, Reader<'_>), LoadError> {
    let mut reader = Reader::new(header);
    if reader.array::<8>()? != *MAGIC {
        return Err(LoadError::field("the header", "does not begin with gowk's magic"));
    }
    Ok((reader.u8()?, reader.u64()?, reader))
}

/// A body that can be read in parts.
pub(crate) enum Body<'a> {
    /// The lines of the live value, in several runs.
    Lines(Vec<&'a [Line]>),
    /// Bytes that were made for this purpose.
    Bytes(Cow<'a, [u8]>),
}

impl Body<'_> {
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Lines(runs) => runs.iter().map(|run| size_of_val(*run) as u64).sum(),
            Self::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// At most `most` bytes from `offset` on, which is a multiple of a line.
    pub(crate) fn read(&self, offset: u64, most: usize) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => {
                let rest = bytes.get(offset as usize..).unwrap_or_default();
                rest[..rest.len().min(most)].to_vec()
            }
            Self::Lines(runs) => read_lines(runs, offset as usize / Line::BYTES, most / Line::BYTES),
        }
    }

    /// All chunks, each with the iterator that `SCANDUMP` would give it.
    fn chunks(&self, size: usize, mut each: impl FnMut(u64, &[u8])) {
        let mut offset = 0;
        while offset < self.len() {
            let chunk = self.read(offset, size);
            offset += chunk.len() as u64;
            each(1 + offset, &chunk);
        }
    }
}

fn read_lines(runs: &[&[Line]], mut skip: usize, mut most: usize) -> Vec<u8> {
    let there: usize = runs.iter().map(|run| run.len()).sum();
    let mut bytes = Vec::with_capacity(most.min(there.saturating_sub(skip)) * Line::BYTES);
    for run in runs {
        let part = run.get(skip..).unwrap_or_default();
        skip = skip.saturating_sub(run.len());
        let part = &part[..part.len().min(most)];
        most -= part.len();
        part.iter().for_each(|line| bytes.extend_from_slice(&line.to_le_bytes()));
    }
    bytes
}

/// Writes an image to a snapshot.
pub(crate) fn save(out: &mut RdbOut<'_>, header: &[u8], body: &Body<'_>) {
    out.bytes(header);
    let mut sum = Xxh3::new();
    body.chunks(FILE_CHUNK, |_, chunk| {
        sum.update(chunk);
        out.bytes(chunk);
    });
    out.u64(sum.digest());
}

/// Reads an image from a snapshot: a header and a body of the length that it says.
///
/// Memory grows with the bytes that are there, whatever the header says.
pub(crate) fn load(input: &mut RdbIn<'_>) -> Result<Pending, LoadError> {
    let mut pending = Pending::new(input.bytes()?)?;
    let mut sum = Xxh3::new();
    while !pending.is_complete() {
        let chunk = input.bytes()?;
        sum.update(&chunk);
        let end = pending.body.len() as u64 + chunk.len() as u64;
        pending.take(1 + end, &chunk)?;
    }
    match input.u64()? == sum.digest() {
        true => Ok(pending),
        false => Err(LoadError::Checksum),
    }
}

/// Writes an image as commands: `command key 1 header`, `command key iterator chunk`, ...
pub(crate) fn rewrite(out: &mut AofOut<'_>, command: &CStr, header: &[u8], body: &Body<'_>) {
    out.chunk(command, 1, header);
    body.chunks(FILE_CHUNK, |iterator, chunk| out.chunk(command, iterator, chunk));
}

/// Adds a body to a digest.
pub(crate) fn digest(digest: &mut Digest<'_>, body: &Body<'_>) {
    body.chunks(FILE_CHUNK, |_, chunk| digest.add(chunk));
}

/// An image of which chunks are still to come.
#[derive(Clone)]
pub(crate) struct Pending {
    pub(crate) header: Vec<u8>,
    expected: u64,
    pub(crate) body: Vec<u8>,
}

impl Pending {
    /// An image of which only the header is there.
    pub(crate) fn new(header: Vec<u8>) -> Result<Self, LoadError> {
        let (_, expected, _) = read_header(&header)?;
        Ok(Self { header, expected, body: Vec::new() })
    }

    /// One whose header is somebody else's, who says how many bytes follow.
    pub(crate) fn foreign(header: Vec<u8>, expected: u64) -> Self {
        Self { header, expected, body: Vec::new() }
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.body.len() as u64 == self.expected
    }

    /// Takes the next chunk, or one that came before once more.
    pub(crate) fn take(&mut self, iterator: u64, chunk: &[u8]) -> Result<(), LoadError> {
        let end = iterator.checked_sub(1).ok_or(LoadError::field("the iterator", "is 0"))?;
        let start = end
            .checked_sub(chunk.len() as u64)
            .ok_or(LoadError::field("the chunk", "is longer than all chunks up to its iterator"))?;
        if chunk.is_empty() || end > self.expected {
            return Err(LoadError::field("the chunk", format!("is not within the {} bytes", self.expected)));
        }
        let have = self.body.len() as u64;
        if start > have {
            return Err(LoadError::field(
                "the chunk",
                format!("begins at {start}, but {have} bytes have come"),
            ));
        }
        if end > have {
            self.body.try_reserve((end - have) as usize).map_err(|_| LoadError::Memory { bytes: end })?;
            self.body.truncate(start as usize);
            self.body.extend_from_slice(chunk);
        }
        Ok(())
    }

    pub(crate) fn memory(&self) -> usize {
        self.header.capacity() + self.body.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_reads_the_same_in_parts_of_any_size() {
        let lines: Vec<Line> = (0..10u64).map(|i| Line([i; 8])).collect();
        let body = Body::Lines(vec![&lines[..3], &lines[3..3], &lines[3..]]);
        let whole = body.read(0, 10_000);
        assert_eq!(whole.len() as u64, body.len());
        for size in [64, 128, 192, 640, 1000] {
            let mut parts = Vec::new();
            body.chunks(size, |iterator, chunk| {
                parts.extend_from_slice(chunk);
                assert_eq!(iterator, 1 + parts.len() as u64);
            });
            assert_eq!(parts, whole, "in parts of {size}");
        }
    }

    #[test]
    fn chunks_come_in_order_within_the_length_and_again() {
        let mut pending = Pending::new(header(9, 10).done()).unwrap();
        assert!(pending.take(5, &[0; 5]).is_err(), "longer than its iterator");
        assert!(pending.take(9, &[0; 4]).is_err(), "a gap before it");
        assert!(pending.take(0, &[]).is_err());
        assert!(pending.take(1, &[]).is_err(), "nothing in it");
        pending.take(5, &[1, 2, 3, 4]).unwrap();
        pending.take(5, &[1, 2, 3, 4]).unwrap();
        assert!(pending.take(12, &[0; 7]).is_err(), "beyond the end");
        assert!(!pending.is_complete());
        pending.take(11, &[5, 6, 7, 8, 9, 10]).unwrap();
        assert!(pending.is_complete());
        assert_eq!(pending.body, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }

    #[test]
    fn headers_that_are_none_are_refused() {
        for bytes in [&b""[..], b"gowk", b"gowkimg1", b"gowkimg1\x01\0\0", b"redisbloom dump....."] {
            assert!(Pending::new(bytes.to_vec()).is_err(), "{bytes:?}");
        }
    }
}
