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
    // Each stretch takes 16 bytes at least.
    count > 0 && count <= len / 16 && rest.get(4..).is_some_and(is_32)
}

#[cfg(all(feature = "roaring", feature = "std"))]
pub use set::{Width, from_bytes, to_bytes};

#[cfg(all(feature = "roaring", feature = "std"))]
mod set {
    use super::is_32;
    use crate::{
        bitmap::{IntegerSet, RoaringSet},
        error::OutOfRange,
        format::foreign::{ForeignError, Format},
    };
    use ::roaring::{RoaringBitmap, RoaringTreemap};

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
        let wrong = |error: std::io::Error| ForeignError::Roaring(error.to_string());
        let (map, range, width) = if is_32(bytes) {
            let bitmap = RoaringBitmap::deserialize_from(&mut rest).map_err(wrong)?;
            (RoaringTreemap::from_bitmaps([(0, bitmap)]), 0..1 << 32, Width::Bits32)
        } else {
            let map = RoaringTreemap::deserialize_from(&mut rest).map_err(wrong)?;
            (map, 0..u64::MAX, Width::Bits64)
        };
        if !rest.is_empty() {
            let (found, left) = (bytes.len() as u64, rest.len() as u64);
            return Err(ForeignError::TooLong { format: Format::Roaring, expected: found - left, found });
        }
        let set = RoaringSet::from_treemap(range, map);
        let set = set.map_err(|error| ForeignError::Roaring(error.to_string()))?;
        Ok((set, width))
    }

    /// The bytes of a set, in one of the two forms. An id that 32 bits cannot hold is an error.
    pub fn to_bytes(set: &RoaringSet, width: Width) -> Result<Vec<u8>, OutOfRange> {
        let mut bytes = Vec::new();
        let written = match width {
            Width::Bits64 => set.as_treemap().serialize_into(&mut bytes),
            Width::Bits32 => {
                if let Some(id) = set.as_treemap().max().filter(|id| *id > u64::from(u32::MAX)) {
                    return Err(OutOfRange { id, start: 0, end: 1 << 32 });
                }
                let bitmap = set.as_treemap().bitmaps().next().map(|(_, bitmap)| bitmap.clone());
                bitmap.unwrap_or_default().serialize_into(&mut bytes)
            }
        };
        written.expect("a vector takes what it is given");
        debug_assert!(set.is_empty() || !bytes.is_empty());
        Ok(bytes)
    }
}
