//! Keys in the bytes that other systems hash.
//!
//! In gowk an integer is 8 bytes, whatever its type; Guava and Parquet tell an `int` from a `long`, and Java's characters are
//! UTF-16. Text, bytes and 64-bit integers need no help: `"text"`, `b"bytes"` and `7i64` are the same everywhere.

use crate::hash::{Digest, Key, KeyHash};
use alloc::vec::Vec;

/// A 32-bit integer as 4 bytes, little-endian: Guava's `integerFunnel()`, Parquet's INT32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Int(pub i32);

impl Key for Int {
    #[inline(always)]
    fn digest<H: KeyHash>(&self, hash: &H) -> Digest {
        hash.bytes(&self.0.to_le_bytes())
    }
}

/// A number of 64 bits with a fraction as its 8 bytes, little-endian: Parquet's DOUBLE, Guava's `putDouble`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Double(pub f64);

impl Key for Double {
    #[inline(always)]
    fn digest<H: KeyHash>(&self, hash: &H) -> Digest {
        hash.word(self.0.to_bits())
    }
}

/// A number of 32 bits with a fraction as its 4 bytes, little-endian: Parquet's FLOAT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Float(pub f32);

impl Key for Float {
    #[inline(always)]
    fn digest<H: KeyHash>(&self, hash: &H) -> Digest {
        hash.bytes(&self.0.to_bits().to_le_bytes())
    }
}

/// Text as UTF-16, little-endian: Guava's `unencodedCharsFunnel()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Utf16<'a>(pub &'a str);

impl Utf16<'_> {
    /// The bytes.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }
}

impl Key for Utf16<'_> {
    fn digest<H: KeyHash>(&self, hash: &H) -> Digest {
        hash.bytes(&self.bytes())
    }
}
