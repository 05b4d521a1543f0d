//! Roaring's portable format for sets of integers, 32 and 64 bit, as C, Java and Go write it.
//!
//! The 32-bit form begins with 12346, or with 12347 where there are runs; the 64-bit form is a count, and for each stretch of
//! 2^32 numbers its high half and a 32-bit form. Java's `Roaring64Bitmap` (ART) and the older form of `Roaring64NavigableMap` are other
//! formats.
//!
//! **Keys** are integers, and the answers are exact: a set is an [`IntegerSet`](crate::IntegerSet), not a filter.

/// Whether it is a set of 32 or 64 bits, by its cookie.
pub(super) fn looks_like(bytes: &[u8], len: u64) -> bool {
    is_32(bytes) || is_64(bytes, len)
}

fn is_32(bytes: &[u8]) -> bool {
    match bytes.first_chunk::<4>().map(|cookie| u32::from_le_bytes(*cookie)) {
        Some(12346) => bytes.get(4..8).is_some_and(|count| count[2..] == [0, 0] || count == [0, 0, 1, 0]),
        Some(cookie) if cookie & 0xffff == 12347 => {
            // Two bytes alone could be text: the keys of the containers must ascend as well.
            let count = (cookie >> 16) as usize + 1;
            let keys = bytes.get(4 + count.div_ceil(8)..).unwrap_or_default().chunks_exact(4).take(count);
            let keys = keys.map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
            keys.len() > 0 && keys.clone().zip(keys.skip(1)).all(|(a, b)| a < b)
        }
        _ => false,
    }
}

fn is_64(bytes: &[u8], len: u64) -> bool {
    let Some((count, rest)) = bytes.split_first_chunk::<8>() else { return false };
    let count = u64::from_le_bytes(*count);
    match count {
        // The empty set has nothing else.
        0 => len == 8,
        // Each stretch takes 16 bytes at least.
        _ => count <= len / 16 && rest.get(4..).is_some_and(is_32),
    }
}

#[cfg(all(feature = "roaring", feature = "std"))]
pub use set::{Width, from_bytes, read_from, to_bytes, write_to};

#[cfg(all(feature = "roaring", feature = "std"))]
mod set {
    use super::is_32;
    use crate::{
        bitmap::RoaringSet,
        error::OutOfRange,
        format::foreign::{ForeignError, Format},
    };
    use ::roaring::{RoaringBitmap, RoaringTreemap};
    use std::io::{self, BufRead, Write};

    /// The integers that a set is for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Width {
        /// 32 bits: 0 to 2^32 - 1.
        Bits32,
        /// 64 bits.
        Bits64,
    }

    /// The set in these bytes, and of which form it is.
    ///
    /// ```
    /// use gowk::{IntegerSet, IntegerSetMut, RoaringSet, format::roaring::{self, Width}};
    ///
    /// let mut odd = RoaringSet::new(0..1 << 32)?;
    /// odd.insert_many(&[1u32, 3, 5, 4_000_000_001])?;
    /// let bytes = roaring::to_bytes(&odd, Width::Bits32)?;
    /// let (again, width) = roaring::from_bytes(&bytes)?;
    /// assert!(again.contains(4_000_000_001) && width == Width::Bits32);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<(RoaringSet, Width), ForeignError> {
        let mut rest = bytes;
        let (map, width) = read_from(&mut rest)?;
        if !rest.is_empty() {
            let (found, left) = (bytes.len() as u64, rest.len() as u64);
            return Err(ForeignError::TooLong { format: Format::Roaring, expected: found - left, found });
        }
        let range = match width {
            Width::Bits32 => 0..1 << 32,
            Width::Bits64 => 0..u64::MAX,
        };
        let set = RoaringSet::from_treemap(range, map);
        let set = set.map_err(|error| ForeignError::Roaring(error.to_string()))?;
        Ok((set, width))
    }

    /// The set that is next in `input`, and of which form it is; what follows it is left there.
    pub fn read_from(input: &mut impl BufRead) -> Result<(RoaringTreemap, Width), ForeignError> {
        let wrong = |error: io::Error| ForeignError::Roaring(error.to_string());
        // A reader that gives fewer bytes than the cookie is taken to be at its end.
        Ok(match is_32(input.fill_buf()?) {
            true => {
                let bitmap = RoaringBitmap::deserialize_from(input).map_err(wrong)?;
                (RoaringTreemap::from_bitmaps([(0, bitmap)]), Width::Bits32)
            }
            false => (RoaringTreemap::deserialize_from(input).map_err(wrong)?, Width::Bits64),
        })
    }

    /// The bytes of a set, in one of the two forms. An id that 32 bits cannot hold is an error.
    pub fn to_bytes(set: &RoaringSet, width: Width) -> Result<Vec<u8>, OutOfRange> {
        fits(set.as_treemap(), width)?;
        let mut bytes = Vec::new();
        write_to(set.as_treemap(), width, &mut bytes).expect("a vector takes what it is given");
        Ok(bytes)
    }

    /// Writes a set in one of the two forms. An id that 32 bits cannot hold is an error of kind `InvalidInput`.
    pub fn write_to(map: &RoaringTreemap, width: Width, output: impl Write) -> io::Result<()> {
        fits(map, width).map_err(|outside| io::Error::new(io::ErrorKind::InvalidInput, outside))?;
        match (width, map.bitmaps().next()) {
            (Width::Bits64, _) => map.serialize_into(output),
            (Width::Bits32, Some((_, bitmap))) => bitmap.serialize_into(output),
            (Width::Bits32, None) => RoaringBitmap::new().serialize_into(output),
        }
    }

    fn fits(map: &RoaringTreemap, width: Width) -> Result<(), OutOfRange> {
        match map.max().filter(|id| width == Width::Bits32 && *id > u64::from(u32::MAX)) {
            Some(id) => Err(OutOfRange { id, start: 0, end: 1 << 32 }),
            None => Ok(()),
        }
    }
}
