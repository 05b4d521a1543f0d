//! Heads, bits and what follows them: the files of filters that are one array of bits.

use super::{
    bloom::{ForeignBloom, Maker},
    error::ForeignError,
};
use alloc::vec::Vec;
use core::ops::Range;

/// A maker whose files begin with a head, before the bits.
pub trait Headed: Maker {
    /// Whether something may stand behind the bits.
    const HAS_TAIL: bool = false;

    /// The head at the start of these bytes, and how long it is. Every value is held against its range; whether the bits
    /// are all there, the caller asks.
    fn parse(bytes: &[u8]) -> Result<(Self, usize), ForeignError>;

    /// The head as it stands in a file.
    fn head(&self) -> Vec<u8>;

    /// What stands behind the bits.
    fn tail(&self) -> &[u8] {
        &[]
    }

    /// Keeps what stood behind the bits.
    fn set_tail(&mut self, _tail: Vec<u8>) {}

    /// Whether its numbers agree with each other, where the length of the file does not settle what it is.
    fn is_plausible(&self) -> bool {
        true
    }
}

/// Head, place of the bits, place of what follows them.
pub(super) fn split<M: Headed>(bytes: &[u8]) -> Result<(M, Range<usize>), ForeignError> {
    let (maker, start) = M::parse(bytes)?;
    let found = (bytes.len() - start) as u64;
    let needed = maker.bytes();
    if found < needed {
        return Err(cut::<M>(start as u64, needed, found));
    }
    let end = start + needed as usize;
    if !M::HAS_TAIL && bytes.len() > end {
        let (expected, found) = (end as u64, bytes.len() as u64);
        return Err(ForeignError::TooLong { format: M::FORMAT, expected, found });
    }
    check_last_word(&maker, &bytes[start..end], start as u64)?;
    Ok((maker, start..end))
}

pub(super) fn cut<M: Maker>(offset: u64, needed: u64, found: u64) -> ForeignError {
    ForeignError::Cut { format: M::FORMAT, field: "the bits", offset, needed, found }
}

/// Bits behind the last one would be counted and never asked.
pub(super) fn check_last_word<M: Maker>(maker: &M, bytes: &[u8], start: u64) -> Result<(), ForeignError> {
    let used = maker.bits() % 64;
    let Some(last) = bytes.last_chunk::<8>().filter(|_| used > 0) else { return Ok(()) };
    match u64::from_le_bytes(*last) >> used {
        0 => Ok(()),
        beyond => Err(ForeignError::Field {
            format: M::FORMAT,
            field: "the last word of the bits",
            offset: start + bytes.len() as u64 - 8,
            value: i128::from(beyond << used),
            why: "bits are set behind the last one",
        }),
    }
}

impl<M: Headed> ForeignBloom<M> {
    /// The filter in these bytes of a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ForeignError> {
        ForeignBloom::<M, &[u8]>::view(bytes).map(|filter| filter.to_heap())
    }
}

impl<'a, M: Headed> ForeignBloom<M, &'a [u8]> {
    /// The filter in these bytes of a file, where they lie.
    pub fn view(bytes: &'a [u8]) -> Result<Self, ForeignError> {
        let (mut maker, body) = split::<M>(bytes)?;
        maker.set_tail(bytes[body.end..].to_vec());
        Ok(Self::over(maker, &bytes[body]))
    }
}

impl<M: Headed, B: AsRef<[u8]>> ForeignBloom<M, B> {
    /// The file, as its maker writes it.
    pub fn to_bytes(&self) -> Vec<u8> {
        [&self.maker().head(), self.bytes(), self.maker().tail()].concat()
    }
}

/// Whether a file that begins with these bytes and has `len` in all is one of this maker's, as far as the head tells.
pub(super) fn fits<M: Headed>(bytes: &[u8], len: u64) -> bool {
    M::parse(bytes).is_ok_and(|(maker, start)| match (start as u64).checked_add(maker.bytes()) {
        Some(end) => end == len || M::HAS_TAIL && end < len && maker.is_plausible(),
        None => false,
    })
}
