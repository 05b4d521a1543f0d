//! Reading and writing the little-endian fields of a file, each with its offset at hand for the error.

use super::error::OpenError;
use alloc::vec::Vec;

/// The parameter bytes of a file, read from front to back.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    offset: u64,
}

impl<'a> Fields<'a> {
    /// Bytes that begin at `offset` of the file.
    pub(super) fn new(bytes: &'a [u8], offset: u64) -> Self {
        Self { bytes, offset }
    }

    /// A field of eight bytes.
    pub fn u64(&mut self, name: &'static str) -> Result<u64, OpenError> {
        self.take(name).map(u64::from_le_bytes)
    }

    /// A field of four bytes.
    pub fn u32(&mut self, name: &'static str) -> Result<u32, OpenError> {
        self.take(name).map(u32::from_le_bytes)
    }

    /// A field of two bytes.
    pub fn u16(&mut self, name: &'static str) -> Result<u16, OpenError> {
        self.take(name).map(u16::from_le_bytes)
    }

    /// A field of one byte.
    pub fn u8(&mut self, name: &'static str) -> Result<u8, OpenError> {
        self.take(name).map(u8::from_le_bytes)
    }

    /// A number with a fraction; not NaN and not infinite.
    pub fn f64(&mut self, name: &'static str) -> Result<f64, OpenError> {
        let value = f64::from_bits(self.u64(name)?);
        if value.is_finite() { Ok(value) } else { Err(self.wrong(name, 8, "is not a number")) }
    }

    /// `N` bytes as they are.
    pub fn bytes<const N: usize>(&mut self, name: &'static str) -> Result<[u8; N], OpenError> {
        self.take(name)
    }

    /// `N` bytes that must be zero, so that they can get a meaning later.
    pub fn zeros<const N: usize>(&mut self, name: &'static str) -> Result<(), OpenError> {
        let bytes: [u8; N] = self.take(name)?;
        if bytes == [0; N] { Ok(()) } else { Err(self.wrong(name, N as u64, "must be zero in this version")) }
    }

    /// The error for a field of `size` bytes that was just read.
    pub fn wrong(&self, name: &'static str, size: u64, why: &'static str) -> OpenError {
        OpenError::Field { name, offset: self.offset - size, why }
    }

    /// The end, where nothing may be left.
    pub fn end(self) -> Result<(), OpenError> {
        match self.bytes {
            [] => Ok(()),
            _ => Err(OpenError::Field {
                name: "the parameters",
                offset: self.offset,
                why: "go on where they should end",
            }),
        }
    }

    fn take<const N: usize>(&mut self, name: &'static str) -> Result<[u8; N], OpenError> {
        let Some((field, rest)) = self.bytes.split_first_chunk() else {
            return Err(OpenError::Field { name, offset: self.offset, why: "is missing" });
        };
        self.bytes = rest;
        self.offset += N as u64;
        Ok(*field)
    }
}

/// The parameter bytes of a file, written from front to back.
#[derive(Debug, Default)]
pub struct ParamsWriter(Vec<u8>);

impl ParamsWriter {
    /// A field of eight bytes.
    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    /// A field of four bytes.
    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    /// A field of two bytes.
    pub fn u16(&mut self, value: u16) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    /// A field of one byte.
    pub fn u8(&mut self, value: u8) -> &mut Self {
        self.bytes(&[value])
    }

    /// A number with a fraction.
    pub fn f64(&mut self, value: f64) -> &mut Self {
        self.u64(value.to_bits())
    }

    /// Bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// What was written.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}
