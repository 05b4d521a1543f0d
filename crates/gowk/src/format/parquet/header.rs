//! The Thrift struct before the blocks. Every writer writes the same one, but for the length.

use super::BLOCK;
use crate::format::foreign::{ForeignError, fields::Fields};
use alloc::vec::Vec;

/// A field that follows the one before, of type i32.
const NEXT_I32: u8 = 0x15;
/// A union in the next field, whose first member is an empty struct; then the ends of both.
const FIRST_MEMBER: [u8; 4] = [0x1c, 0x1c, 0, 0];
/// What the three unions choose; each has but one member so far.
const CHOICES: [(&str, &str); 3] = [
    ("the algorithm", "split-block is the only one known"),
    ("the hash", "XXH64 is the only one known"),
    ("the compression", "none is the only one known"),
];

/// The length of the blocks.
pub(super) fn read(fields: &mut Fields<'_>) -> Result<u64, ForeignError> {
    let tag = fields.u8("the tag of the length")?;
    if tag != NEXT_I32 {
        return Err(fields.wrong("the tag of the length", 1, tag, "a filter begins with byte 21"));
    }
    let start = fields.offset();
    let zigzag = varint(fields)?;
    let size = fields.offset() - start;
    let len = (zigzag >> 1).cast_signed() ^ -((zigzag & 1) as i64);
    if len < BLOCK as i64 || len > i64::from(i32::MAX) || len % BLOCK as i64 != 0 {
        return Err(fields.wrong(
            "the length of the blocks",
            size,
            len,
            "it must be a multiple of 32 above 0",
        ));
    }
    for (field, why) in CHOICES {
        let choice = fields.take(field, 4)?;
        if choice != FIRST_MEMBER {
            return Err(fields.wrong(field, 4, choice[1], why));
        }
    }
    match fields.u8("the end of the header")? {
        0 => Ok(len as u64),
        more => Err(fields.wrong("the end of the header", 1, more, "there are fields that are not known")),
    }
}

/// A number of seven bits a byte, the low ones first; of an i32 there are five bytes at most.
fn varint(fields: &mut Fields<'_>) -> Result<u64, ForeignError> {
    let mut value = 0;
    for shift in [0, 7, 14, 21, 28] {
        let byte = fields.u8("the length of the blocks")?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(fields.wrong("the length of the blocks", 5, value, "it goes on after five bytes"))
}

/// The header of a filter with so many bytes of blocks.
pub(super) fn write(len: u64) -> Vec<u8> {
    let mut bytes = Vec::from([NEXT_I32]);
    let mut zigzag = 2 * len;
    while zigzag >= 0x80 {
        bytes.push(zigzag as u8 | 0x80);
        zigzag >>= 7;
    }
    bytes.push(zigzag as u8);
    for _ in CHOICES {
        bytes.extend_from_slice(&FIRST_MEMBER);
    }
    bytes.push(0);
    bytes
}
