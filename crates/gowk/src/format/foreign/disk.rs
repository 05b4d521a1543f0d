//! The same, on disk: read into memory, mapped, or written whole or not at all.

use super::{
    bloom::ForeignBloom,
    error::ForeignError,
    file::{Headed, check_last_word, cut, split},
};
use crate::{
    error::ParamsError,
    format::file::replace,
    store::{MappedBytes, advise_huge},
};
use std::{
    fs::File,
    io::{self, Read, Write},
    path::Path,
};

/// More bytes than any head has.
const HEAD: u64 = 64;

impl<M: Headed> ForeignBloom<M> {
    /// Reads a file, or any stream of its bytes, to the end. Memory is taken as the bytes come.
    pub fn read_from(input: impl Read) -> Result<Self, ForeignError> {
        read(input, None)
    }

    /// Reads a file into memory, ready for inserts.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ForeignError> {
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        read(file, Some(len))
    }
}

impl<M: Headed> ForeignBloom<M, MappedBytes> {
    /// Maps a file: the bits are paged in as they are asked. Whoever can write to the file meanwhile can change the answers.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ForeignError> {
        Self::of_map(&MappedBytes::map(&File::open(path)?)?)
    }

    pub(crate) fn of_map(map: &MappedBytes) -> Result<Self, ForeignError> {
        let bytes = map.as_ref();
        let (mut maker, body) = split::<M>(bytes)?;
        maker.set_tail(bytes[body.end..].to_vec());
        Ok(Self::over(maker, map.slice(body)))
    }
}

impl<M: Headed, B: AsRef<[u8]>> ForeignBloom<M, B> {
    /// Writes the file, as its maker does.
    pub fn write_to(&self, mut output: impl Write) -> io::Result<()> {
        output.write_all(&self.maker().head())?;
        output.write_all(self.bytes())?;
        output.write_all(self.maker().tail())
    }

    /// Writes a file: to a temporary name beside it, to the disk, and then by one rename to `path`.
    pub fn save(&self, path: impl AsRef<Path>) -> io::Result<()> {
        replace(path.as_ref(), |file| self.write_to(file))
    }
}

fn read<M: Headed>(mut input: impl Read, len: Option<u64>) -> Result<ForeignBloom<M>, ForeignError> {
    let mut head = Vec::new();
    Read::by_ref(&mut input).take(HEAD).read_to_end(&mut head)?;
    let (mut maker, start) = M::parse(&head)?;
    let needed = maker.bytes();
    let mut body = Vec::new();
    if let Some(len) = len {
        let found = len.saturating_sub(start as u64);
        if found < needed {
            return Err(cut::<M>(start as u64, needed, found));
        }
        // The file is as long as it says, so that the memory is justified.
        body.try_reserve_exact(needed as usize).map_err(|_| ParamsError::OutOfMemory { bytes: needed })?;
        advise_huge(&mut body);
    }
    body.extend_from_slice(&head[start..]);
    let mut tail = body.split_off(body.len().min(usize::try_from(needed).unwrap_or(usize::MAX)));
    Read::by_ref(&mut input).take(needed - body.len() as u64).read_to_end(&mut body)?;
    if (body.len() as u64) < needed {
        return Err(cut::<M>(start as u64, needed, body.len() as u64));
    }
    if M::HAS_TAIL {
        input.read_to_end(&mut tail)?;
    } else {
        let more = tail.len() as u64 + io::copy(&mut Read::by_ref(&mut input).take(1), &mut io::sink())?;
        if more > 0 {
            let expected = start as u64 + needed;
            let found = len.unwrap_or(expected + more);
            return Err(ForeignError::TooLong { format: M::FORMAT, expected, found });
        }
    }
    check_last_word(&maker, &body, start as u64)?;
    maker.set_tail(tail);
    Ok(ForeignBloom::over(maker, body))
}
