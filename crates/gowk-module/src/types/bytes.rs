//! Little-endian fields, written and read back; reading never goes beyond the end.

use crate::error::LoadError;

/// Fields that are appended.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    pub(crate) fn u8(&mut self, value: u8) -> &mut Self {
        self.bytes(&[value])
    }

    pub(crate) fn u16(&mut self, value: u16) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    pub(crate) fn f64(&mut self, value: f64) -> &mut Self {
        self.u64(value.to_bits())
    }

    pub(crate) fn done(self) -> Vec<u8> {
        self.0
    }
}

/// Fields that are read.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], LoadError> {
        let (first, rest) = self.0.split_first_chunk().ok_or(LoadError::Cut)?;
        self.0 = rest;
        Ok(*first)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, LoadError> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u16(&mut self) -> Result<u16, LoadError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, LoadError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, LoadError> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn f64(&mut self) -> Result<f64, LoadError> {
        self.u64().map(f64::from_bits)
    }

    /// `len` bytes.
    pub(crate) fn slice(&mut self, len: usize) -> Result<&'a [u8], LoadError> {
        let (first, rest) = self.0.split_at_checked(len).ok_or(LoadError::Cut)?;
        self.0 = rest;
        Ok(first)
    }

    /// An error unless all has been read.
    pub(crate) fn end(self) -> Result<(), LoadError> {
        match self.0 {
            [] => Ok(()),
            rest => Err(LoadError::field("the header", format!("has {} bytes too many", rest.len()))),
        }
    }
}
