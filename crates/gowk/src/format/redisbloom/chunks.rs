//! Chunks: how a dump travels, and how it is kept in a file.

use crate::format::foreign::{ForeignError, Format, fields::Fields};
use alloc::{borrow::Cow, vec::Vec};

/// The most bytes of one chunk, as RedisBloom cuts them.
pub const MOST_CHUNK: usize = 16 << 20;

/// One pair of a dump: what `SCANDUMP` returned and `LOADCHUNK` is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// 1 for the header; else 1 + the bytes of all chunks so far, this one included.
    pub iterator: i64,
    /// The bytes.
    pub bytes: Cow<'a, [u8]>,
}

/// Chunks in a file, one after another.
#[derive(Clone, Debug)]
pub struct Chunks<'a> {
    fields: Fields<'a>,
}

impl<'a> Chunks<'a> {
    /// The chunks in these bytes of a file.
    pub fn new(file: &'a [u8]) -> Self {
        Self { fields: Fields::new(Format::RedisBloom, file) }
    }

    fn read(&mut self) -> Result<(u64, Chunk<'a>), ForeignError> {
        let iterator = self.fields.le_i64("the iterator of a chunk")?;
        if iterator < 1 {
            return Err(self.fields.wrong("the iterator of a chunk", 8, iterator, "it must be above 0"));
        }
        let len = self.fields.le_u64("the length of a chunk")?;
        let offset = self.fields.offset();
        let bytes = self.fields.take("the bytes of a chunk", len)?;
        Ok((offset, Chunk { iterator, bytes: bytes.into() }))
    }

    /// Writes chunks as a file.
    pub fn to_file<'c>(chunks: impl IntoIterator<Item = Chunk<'c>>) -> Vec<u8> {
        let mut file = Vec::new();
        for chunk in chunks {
            file.extend_from_slice(&chunk.iterator.to_le_bytes());
            file.extend_from_slice(&(chunk.bytes.len() as u64).to_le_bytes());
            file.extend_from_slice(&chunk.bytes);
        }
        file
    }
}

impl<'a> Iterator for Chunks<'a> {
    /// Where its bytes begin in the file, and the chunk.
    type Item = Result<(u64, Chunk<'a>), ForeignError>;

    fn next(&mut self) -> Option<Self::Item> {
        (self.fields.left() > 0).then(|| {
            let chunk = self.read();
            if chunk.is_err() {
                // Behind a chunk that is none there is nothing to find.
                self.fields = Fields::new(Format::RedisBloom, &[]);
            }
            chunk
        })
    }
}

/// The header chunk at the start of a file, if there is one.
pub(super) fn header(file: &[u8]) -> Option<&[u8]> {
    let mut chunks = Chunks::new(file);
    match chunks.next()? {
        Ok((_, Chunk { iterator: 1, bytes: Cow::Borrowed(header) })) => Some(header),
        _ => None,
    }
}

/// Arrays that are filled by chunks as they come, in order; memory is taken as bytes arrive, not as the header says.
#[derive(Debug)]
pub(super) struct Arrays {
    format: Format,
    lens: Vec<u64>,
    filled: Vec<Vec<u8>>,
    got: u64,
}

impl Arrays {
    /// As many arrays as there are lengths.
    pub(super) fn new(format: Format, lens: Vec<u64>) -> Self {
        Self { format, filled: lens.iter().map(|_| Vec::new()).collect(), lens, got: 0 }
    }

    /// Takes in a chunk, which begins at byte `offset` of the file.
    pub(super) fn push(&mut self, offset: u64, chunk: &Chunk<'_>) -> Result<(), ForeignError> {
        let wrong =
            |field, value, why| ForeignError::Field { format: self.format, field, offset, value, why };
        if chunk.iterator != (1 + self.got + chunk.bytes.len() as u64) as i64 {
            return Err(wrong(
                "the iterator of the chunk",
                chunk.iterator.into(),
                "chunks must come in order, and none may be missing",
            ));
        }
        self.got += chunk.bytes.len() as u64;
        let mut rest = &chunk.bytes[..];
        for (array, len) in self.filled.iter_mut().zip(&self.lens) {
            let room = usize::try_from(len - array.len() as u64).unwrap_or(usize::MAX).min(rest.len());
            array.extend_from_slice(&rest[..room]);
            rest = &rest[room..];
        }
        match rest.len() {
            0 => Ok(()),
            more => Err(ForeignError::Field {
                format: self.format,
                field: "the chunk",
                offset,
                value: more as i128,
                why: "so many bytes are more than the header has a place for",
            }),
        }
    }

    /// The arrays, if they are full.
    pub(super) fn finish(self, offset: u64) -> Result<Vec<Vec<u8>>, ForeignError> {
        let needed = self.lens.iter().sum();
        match self.got == needed {
            true => Ok(self.filled),
            false => Err(ForeignError::Cut {
                format: self.format,
                field: "the chunks after the header",
                offset,
                needed,
                found: self.got,
            }),
        }
    }
}

/// The chunk after `iterator`: 0 asks for the header. `None` at the end.
pub(super) fn scan<'a>(
    iterator: i64,
    header: impl FnOnce() -> Vec<u8>,
    arrays: impl Iterator<Item = &'a [u8]>,
) -> Option<Chunk<'a>> {
    if iterator == 0 {
        return Some(Chunk { iterator: 1, bytes: header().into() });
    }
    let mut at = usize::try_from(iterator.checked_sub(1)?).ok()?;
    for array in arrays {
        if let Some(rest) = array.get(at..).filter(|rest| !rest.is_empty()) {
            let bytes = &rest[..rest.len().min(MOST_CHUNK)];
            return Some(Chunk { iterator: iterator + bytes.len() as i64, bytes: bytes.into() });
        }
        at -= array.len();
    }
    None
}
