//! What a key is, beside its text: a number, bytes in hexadecimal, UTF-16.

use super::error::KeyError;
use gowk::{Digest, Key, KeyHash, format::foreign::keys::Number};
use std::{fmt, str::FromStr};

/// As what the text of a key is read.
///
/// Spaces around a number do not matter. What a filter of ours hashes of each is in [`Value`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyType {
    /// The bytes as they are.
    #[default]
    Text,
    /// Bytes, two hexadecimal digits each; 0x may stand before them.
    Hex,
    /// A whole number of 32 bits, signed.
    I32,
    /// A whole number of 64 bits, signed.
    I64,
    /// A whole number of 64 bits, from 0.
    U64,
    /// A number with a fraction or an exponent.
    F64,
    /// Text whose bytes are those of UTF-16, little-endian.
    Utf16,
}

impl KeyType {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Text, Self::Hex, Self::I32, Self::I64, Self::U64, Self::F64, Self::Utf16];

    /// The name by which it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Hex => "hex",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::F64 => "f64",
            Self::Utf16 => "utf16",
        }
    }

    /// What it is, for a sentence.
    pub fn description(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Hex => "hexadecimal (pairs of the digits 0-9, a-f)",
            Self::I32 => "a whole number of 32 bits (i32, -2147483648 to 2147483647)",
            Self::I64 => "a whole number of 64 bits (i64, -9223372036854775808 to 9223372036854775807)",
            Self::U64 => "a whole number of 64 bits from 0 (u64, up to 18446744073709551615)",
            Self::F64 => "a number (f64)",
            Self::Utf16 => "valid UTF-8, which utf16 is made from",
        }
    }

    /// Whether it is one of the integers, which exact sets can hold.
    pub fn is_integer(self) -> bool {
        matches!(self, Self::I32 | Self::I64 | Self::U64)
    }

    /// The type of number it is, if it is one.
    pub fn number(self) -> Option<Number> {
        match self {
            Self::I32 => Some(Number::I32),
            Self::I64 => Some(Number::I64),
            Self::U64 => Some(Number::U64),
            Self::F64 => Some(Number::F64),
            Self::Text | Self::Hex | Self::Utf16 => None,
        }
    }

    /// Reads the text of a key. What is not in the text itself is written into `scratch`.
    #[inline]
    pub fn parse<'a>(self, text: &'a [u8], scratch: &'a mut Vec<u8>) -> Result<Value<'a>, KeyError> {
        match self {
            Self::Text => Ok(Value::Bytes(text)),
            Self::Hex => self.hex(text, scratch),
            Self::I32 => {
                let value = self.i64(text)?;
                let value = i32::try_from(value).map_err(|_| KeyError::out_of_range(self, text))?;
                Ok(Value::I32(value))
            }
            Self::I64 => self.i64(text).map(Value::I64),
            Self::U64 => {
                let (negative, digits) = signed(text);
                match self.digits(digits, text)? {
                    0 => Ok(Value::U64(0)),
                    _ if negative => Err(KeyError::out_of_range(self, text)),
                    value => Ok(Value::U64(value)),
                }
            }
            Self::F64 => {
                let number = str::from_utf8(text.trim_ascii()).ok().and_then(|text| text.parse().ok());
                number.map(Value::F64).ok_or_else(|| KeyError::malformed(self, text))
            }
            Self::Utf16 => {
                let text = str::from_utf8(text).map_err(|_| KeyError::malformed(self, text))?;
                scratch.clear();
                scratch.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
                Ok(Value::Bytes(scratch))
            }
        }
    }

    #[inline]
    fn i64(self, text: &[u8]) -> Result<i64, KeyError> {
        let (negative, digits) = signed(text);
        let value = self.digits(digits, text)?;
        let value = if negative { 0i64.checked_sub_unsigned(value) } else { i64::try_from(value).ok() };
        value.ok_or_else(|| KeyError::out_of_range(self, text))
    }

    #[inline]
    fn digits(self, digits: &[u8], text: &[u8]) -> Result<u64, KeyError> {
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return Err(KeyError::malformed(self, text));
        }
        // Nineteen digits always fit; more, with zeros before them or not, are rare enough to be asked each.
        if let ..=19 = digits.len() {
            return Ok(digits.iter().fold(0, |value, digit| 10 * value + u64::from(digit - b'0')));
        }
        let next = |value: u64, digit: &u8| value.checked_mul(10)?.checked_add(u64::from(digit - b'0'));
        digits.iter().try_fold(0, next).ok_or_else(|| KeyError::out_of_range(self, text))
    }

    fn hex<'a>(self, text: &[u8], scratch: &'a mut Vec<u8>) -> Result<Value<'a>, KeyError> {
        let digits = text.trim_ascii();
        let digits = digits.strip_prefix(b"0x").or_else(|| digits.strip_prefix(b"0X")).unwrap_or(digits);
        let (pairs, []) = digits.as_chunks::<2>() else { return Err(KeyError::malformed(self, text)) };
        scratch.clear();
        for [high, low] in pairs {
            let nibble = |digit: u8| (digit as char).to_digit(16);
            let (Some(high), Some(low)) = (nibble(*high), nibble(*low)) else {
                return Err(KeyError::malformed(self, text));
            };
            scratch.push((high << 4 | low) as u8);
        }
        Ok(Value::Bytes(scratch))
    }
}

/// The sign, and what stands behind it.
#[inline]
fn signed(text: &[u8]) -> (bool, &[u8]) {
    match text.trim_ascii() {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    }
}

impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for KeyType {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|key_type| key_type.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("there is no key type {name}; there are {names}")
        })
    }
}

/// A key, read. As a [`Key`] it has the bytes that our own filters hash; other systems' formats have encodings of their own
/// and start from the value.
///
/// | value | bytes in our filters |
/// |---|---|
/// | `Bytes` | themselves |
/// | `I32`, `I64`, `U64` | 8, little-endian, sign-extended: the same as the integer as a [`Key`] |
/// | `F64` | the 8 of its IEEE 754 form, little-endian |
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// Text, decoded hexadecimal, or UTF-16.
    Bytes(&'a [u8]),
    /// Of [`KeyType::I32`].
    I32(i32),
    /// Of [`KeyType::I64`].
    I64(i64),
    /// Of [`KeyType::U64`].
    U64(u64),
    /// Of [`KeyType::F64`].
    F64(f64),
}

impl Value<'_> {
    /// The 8 bytes of a number as one word; none for bytes.
    #[inline]
    pub fn word(self) -> Option<u64> {
        match self {
            Self::Bytes(_) => None,
            Self::I32(value) => Some(value as u64),
            Self::I64(value) => Some(value as u64),
            Self::U64(value) => Some(value),
            Self::F64(value) => Some(value.to_bits()),
        }
    }
}

impl Key for Value<'_> {
    const IS_HASHED: bool = true;

    #[inline(always)]
    fn digest<H: KeyHash>(&self, hash: &H) -> Digest {
        match (*self, self.word()) {
            (Self::Bytes(bytes), _) => hash.bytes(bytes),
            (_, word) => hash.word(word.unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gowk::Hasher;
    use proptest::prelude::*;

    fn parse(key_type: KeyType, text: &str) -> Result<Option<u64>, KeyError> {
        key_type.parse(text.as_bytes(), &mut Vec::new()).map(Value::word)
    }

    fn bytes(key_type: KeyType, text: &str) -> Result<Vec<u8>, KeyError> {
        match key_type.parse(text.as_bytes(), &mut Vec::new())? {
            Value::Bytes(bytes) => Ok(bytes.to_vec()),
            other => panic!("{other:?} for {text}"),
        }
    }

    #[test]
    fn numbers_at_the_edges_are_taken_and_beyond_them_refused() {
        let out_of_range = |key_type, text: &str| {
            assert_eq!(
                parse(key_type, text),
                Err(KeyError::out_of_range(key_type, text.as_bytes())),
                "{text}"
            );
        };
        assert_eq!(parse(KeyType::I32, "-2147483648"), Ok(Some(-2147483648i64 as u64)));
        out_of_range(KeyType::I32, "2147483648");
        assert_eq!(parse(KeyType::I64, "-9223372036854775808"), Ok(Some(i64::MIN as u64)));
        assert_eq!(parse(KeyType::I64, " +9223372036854775807 "), Ok(Some(i64::MAX as u64)));
        out_of_range(KeyType::I64, "9223372036854775808");
        out_of_range(KeyType::I64, "-9223372036854775809");
        assert_eq!(parse(KeyType::U64, "18446744073709551615"), Ok(Some(u64::MAX)));
        assert_eq!(parse(KeyType::U64, "-0"), Ok(Some(0)));
        assert_eq!(parse(KeyType::U64, "0000000000000000000000000000007"), Ok(Some(7)));
        out_of_range(KeyType::U64, "18446744073709551616");
        out_of_range(KeyType::U64, "-1");
        assert_eq!(parse(KeyType::F64, "-1.5e3"), Ok(Some((-1500f64).to_bits())));
    }

    #[test]
    fn what_is_not_written_as_its_type_is_refused() {
        for key_type in [KeyType::I32, KeyType::I64, KeyType::U64] {
            for text in ["", " ", "-", "+-1", "1.0", "0x10", "1 2", "one", "\u{661}"] {
                let error = KeyError::malformed(key_type, text.as_bytes());
                assert_eq!(parse(key_type, text), Err(error), "{text:?}");
            }
        }
        assert!(parse(KeyType::F64, "1,5").is_err());
        assert!(bytes(KeyType::Hex, "abc").is_err());
        assert!(bytes(KeyType::Hex, "zz").is_err());
        assert!(KeyType::Utf16.parse(b"\xff", &mut Vec::new()).is_err());
    }

    #[test]
    fn hex_and_utf16_become_bytes() {
        assert_eq!(bytes(KeyType::Hex, "0xDEADbeef"), Ok(vec![0xde, 0xad, 0xbe, 0xef]));
        assert_eq!(bytes(KeyType::Hex, ""), Ok(vec![]));
        assert_eq!(bytes(KeyType::Utf16, "a\u{1f426}"), Ok(vec![b'a', 0, 0x3d, 0xd8, 0x26, 0xdc]));
    }

    #[test]
    fn names_are_read_back() {
        for key_type in KeyType::ALL {
            assert_eq!(key_type.name().parse(), Ok(key_type));
        }
        assert!("i65".parse::<KeyType>().unwrap_err().contains("utf16"));
    }

    proptest! {
        #[test]
        fn integers_are_read_as_the_standard_library_reads_them(value: i64, other: u64) {
            prop_assert_eq!(parse(KeyType::I64, &value.to_string()), Ok(Some(value as u64)));
            prop_assert_eq!(parse(KeyType::U64, &other.to_string()), Ok(Some(other)));
        }

        #[test]
        fn a_value_hashes_as_the_key_it_is(value: i32) {
            let (hasher, text, mut scratch) = (Hasher::new(1), value.to_string(), Vec::new());
            let parsed = KeyType::I32.parse(text.as_bytes(), &mut scratch).unwrap();
            prop_assert_eq!(hasher.digest(&parsed), hasher.digest(&value));
        }
    }
}
