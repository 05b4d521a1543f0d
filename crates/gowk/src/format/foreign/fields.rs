//! Reading the fields of another system's bytes, each with its name and offset at hand for the error.

use super::{Format, error::ForeignError};

/// Bytes, read from front to back.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    bytes: &'a [u8],
    format: Format,
    at: usize,
    /// Where in the file the bytes begin.
    start: u64,
}

macro_rules! number {
    ($name:ident, $type:ty, $from:ident) => {
        #[expect(
            clippy::allow_attributes,
            reason = "only one of the two orders is the one that the lint is about"
        )]
        #[allow(clippy::big_endian_bytes, reason = "Java writes its numbers so")]
        pub(crate) fn $name(&mut self, field: &'static str) -> Result<$type, ForeignError> {
            self.array(field).map(<$type>::$from)
        }
    };
}

impl<'a> Fields<'a> {
    pub(crate) fn new(format: Format, bytes: &'a [u8]) -> Self {
        Self { bytes, format, at: 0, start: 0 }
    }

    /// Bytes that begin at `start` of the file.
    pub(crate) fn starting_at(format: Format, bytes: &'a [u8], start: u64) -> Self {
        Self { bytes, format, at: 0, start }
    }

    number!(be_i32, i32, from_be_bytes);
    number!(le_u16, u16, from_le_bytes);
    number!(le_u32, u32, from_le_bytes);
    number!(le_u64, u64, from_le_bytes);
    number!(le_i64, i64, from_le_bytes);
    number!(u8, u8, from_le_bytes);

    /// A number above 0.
    pub(crate) fn le_f64(&mut self, field: &'static str) -> Result<f64, ForeignError> {
        let value = f64::from_bits(self.le_u64(field)?);
        if value.is_finite() && value > 0.0 { Ok(value) } else { Err(self.not(field, value)) }
    }

    /// A rate: above 0, below 1.
    pub(crate) fn le_rate(&mut self, field: &'static str) -> Result<f64, ForeignError> {
        let value = self.le_f64(field)?;
        if value < 1.0 { Ok(value) } else { Err(self.not(field, value)) }
    }

    fn not(&self, field: &'static str, value: f64) -> ForeignError {
        ForeignError::Number { format: self.format, field, offset: self.offset() - 8, value }
    }

    /// Where in the file the next field begins.
    pub(crate) fn offset(&self) -> u64 {
        self.start + self.at as u64
    }

    /// How many bytes have been read.
    pub(crate) fn read(&self) -> usize {
        self.at
    }

    /// How many bytes are left.
    pub(crate) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The error for a field of `size` bytes that was just read.
    pub(crate) fn wrong(
        &self,
        field: &'static str,
        size: u64,
        value: impl Into<i128>,
        why: &'static str,
    ) -> ForeignError {
        ForeignError::Field {
            format: self.format,
            field,
            offset: self.offset() - size,
            value: value.into(),
            why,
        }
    }

    /// The next `len` bytes.
    pub(crate) fn take(&mut self, field: &'static str, len: u64) -> Result<&'a [u8], ForeignError> {
        let rest = &self.bytes[self.at..];
        match usize::try_from(len).ok().and_then(|len| rest.get(..len)) {
            Some(taken) => {
                self.at += taken.len();
                Ok(taken)
            }
            None => Err(ForeignError::Cut {
                format: self.format,
                field,
                offset: self.offset(),
                needed: len,
                found: rest.len() as u64,
            }),
        }
    }

    /// The end, where nothing may be left.
    pub(crate) fn end(&self) -> Result<(), ForeignError> {
        match self.left() {
            0 => Ok(()),
            left => Err(ForeignError::TooLong {
                format: self.format,
                expected: self.offset(),
                found: self.offset() + left as u64,
            }),
        }
    }

    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], ForeignError> {
        let taken = self.take(field, N as u64)?;
        Ok(*taken.first_chunk().expect("as many as were taken"))
    }
}
