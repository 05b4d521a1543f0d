//! Compressed input, recognised by its first bytes.

use std::{
    fmt,
    io::{self, BufReader, Cursor, Read},
};

/// How a source is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// `.gz`
    Gzip,
    /// `.zst`
    Zstd,
    /// `.xz`
    Xz,
}

impl Compression {
    /// The most bytes that it takes to tell.
    const MAGIC: usize = 6;

    /// What begins like this, if it is compressed.
    pub fn of(beginning: &[u8]) -> Option<Self> {
        match beginning {
            // The third byte is the method, which has always been "deflate".
            [0x1f, 0x8b, 8, ..] => Some(Self::Gzip),
            // The second is a skippable frame, with which parallel compressors begin.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            _ => None,
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
        })
    }
}

/// The text behind these bytes. Members, frames and streams that follow each other are one text.
pub(super) fn decompressed(
    mut reader: impl Read + Send + 'static,
) -> io::Result<(Box<dyn Read + Send>, Option<Compression>)> {
    let mut beginning = Vec::with_capacity(Compression::MAGIC);
    reader.by_ref().take(Compression::MAGIC as u64).read_to_end(&mut beginning)?;
    let compression = Compression::of(&beginning);
    let whole = Cursor::new(beginning).chain(reader);
    let buffered = |whole| BufReader::with_capacity(1 << 17, whole);
    let reader: Box<dyn Read + Send> = match compression {
        None => Box::new(whole),
        Some(Compression::Gzip) => Box::new(flate2::bufread::MultiGzDecoder::new(buffered(whole))),
        Some(Compression::Zstd) => Box::new(zstd::Decoder::with_buffer(buffered(whole))?),
        Some(Compression::Xz) => Box::new(liblzma::bufread::XzDecoder::new_multi_decoder(buffered(whole))),
    };
    Ok((reader, compression))
}
