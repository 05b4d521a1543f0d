//! Bytes in a mapped file, for formats that are not made of lines.

use super::Mapped;
use alloc::sync::Arc;
use core::ops::Range;
use memmap2::Mmap;
use std::{fs::File, io};

/// Some bytes of a file that the kernel pages in as they are asked for. What is true of [`Mapped`] is true of them.
#[derive(Clone, Debug)]
pub struct MappedBytes {
    map: Arc<Mmap>,
    range: Range<usize>,
}

impl MappedBytes {
    /// All of a file.
    pub fn map(file: &File) -> io::Result<Self> {
        let map = Mapped::map(file)?;
        Ok(Self { range: 0..map.len(), map: Arc::new(map) })
    }

    /// Some of these bytes.
    ///
    /// # Panics
    /// If there are not so many.
    pub(crate) fn slice(&self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.range.len(), "bytes of the file");
        Self { map: self.map.clone(), range: self.range.start + range.start..self.range.start + range.end }
    }
}

impl AsRef<[u8]> for MappedBytes {
    #[inline(always)]
    fn as_ref(&self) -> &[u8] {
        &self.map[self.range.clone()]
    }
}
