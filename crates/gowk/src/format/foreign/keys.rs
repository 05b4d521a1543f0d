//! Keys in the bytes that other systems hash.
//!
//! In gowk an integer is 8 bytes, whatever its type; Guava and Parquet tell an `int` from a `long`, and Java's characters are
//! UTF-16. Text, bytes and 64-bit integers need no help: `"text"`, `b"bytes"` and `7i64` are the same everywhere.

use crate::hash::{Digest, Hasher, Key, KeyHash};
use alloc::{string::ToString, vec::Vec};

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

/// A type of numbers, as those who ask know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// 32 bits with a sign.
    I32,
    /// 64 bits with a sign.
    I64,
    /// 64 bits without one.
    U64,
    /// 64 bits with a fraction.
    F64,
}

/// The bytes that a maker hashes of a number, where keys come as words of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NumberForm {
    /// 8 bytes, little-endian: `long`, INT64, DOUBLE.
    Eight,
    /// The low 4 bytes, little-endian: `int`, INT32.
    Four,
    /// A double, hashed as the 4 bytes of the float next to it: FLOAT.
    Float,
    /// The digits of a signed number, as Redis is given them.
    Signed,
    /// The digits of a number from 0 on.
    Unsigned,
    /// The shortest digits of a double.
    Fraction,
}

/// A hasher that gives numbers the form of a maker; bytes and text stay as they are.
///
/// ```
/// use gowk::{Filter, Key, format::{foreign::keys::{Int, MakersHash, NumberForm}, guava::GuavaBloom}};
///
/// let filter = GuavaBloom::create(10, 0.01)?;
/// let ints = MakersHash::new(*filter.hasher(), NumberForm::Four);
/// assert_eq!(7i64.digest(&ints), filter.hasher().digest(&Int(7)));
/// # Ok::<(), gowk::ParamsError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MakersHash {
    hasher: Hasher,
    form: NumberForm,
}

impl MakersHash {
    /// Numbers in this form, under this hash.
    pub fn new(hasher: Hasher, form: NumberForm) -> Self {
        Self { hasher, form }
    }
}

impl KeyHash for MakersHash {
    #[inline]
    fn bytes(&self, bytes: &[u8]) -> Digest {
        self.hasher.bytes(bytes)
    }

    #[inline]
    fn word(&self, word: u64) -> Digest {
        let text = |text: &str| self.hasher.bytes(text.as_bytes());
        match self.form {
            NumberForm::Eight => self.hasher.word(word),
            NumberForm::Four => self.hasher.bytes(&(word as u32).to_le_bytes()),
            NumberForm::Float => self.hasher.digest(&Float(f64::from_bits(word) as f32)),
            NumberForm::Signed => text(&word.cast_signed().to_string()),
            NumberForm::Unsigned => text(&word.to_string()),
            NumberForm::Fraction => text(&f64::from_bits(word).to_string()),
        }
    }
}
