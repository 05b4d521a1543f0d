//! Lines on the heap, on huge pages where that pays.

use super::{Line, Store, StoreMut, addressable};
use crate::error::ParamsError;
#[cfg(feature = "std")]
use crate::format::OpenError;
use alloc::vec::Vec;

/// Lines on the heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heap(pub(super) Vec<Line>);

/// From this size on a filter asks for huge pages. Below it, the page tables of 4 KiB pages stay in the cache anyway, and
/// a huge page half empty would be memory that nobody asked for.
#[cfg(all(feature = "std", target_os = "linux"))]
const HUGE_FROM: usize = 4 << 20;

impl Heap {
    /// This many empty lines.
    pub fn zeroed(lines: u64) -> Result<Self, ParamsError> {
        let len = addressable(lines)?;
        let mut memory = Self::reserve(len)?;
        memory.resize(len, Line::ZERO);
        Ok(Self(memory))
    }

    /// Room for `len` lines, advised before it is first touched: a page is made huge when it is faulted in, not later.
    fn reserve(len: usize) -> Result<Vec<Line>, ParamsError> {
        let mut memory = Vec::new();
        memory
            .try_reserve_exact(len)
            .map_err(|_| ParamsError::OutOfMemory { bytes: len as u64 * Line::BYTES as u64 })?;
        advise_huge(&memory);
        Ok(memory)
    }

    /// The lines that a file holds.
    ///
    /// `bytes` must be a whole number of lines; what is left over is ignored.
    pub fn from_le_bytes(bytes: &[u8]) -> Result<Self, ParamsError> {
        let (lines, _) = bytes.as_chunks::<{ Line::BYTES }>();
        let mut memory = Self::reserve(lines.len())?;
        memory.extend(lines.iter().map(Line::from_le_bytes));
        Ok(Self(memory))
    }

    /// `len` bytes of a file, straight into lines.
    #[cfg(feature = "std")]
    pub(crate) fn read(input: &mut impl std::io::Read, len: u64) -> Result<Self, OpenError> {
        let mut heap = Self::zeroed(len / Line::BYTES as u64)?;
        input.read_exact(super::bytes_mut(&mut heap.0))?;
        for word in super::words_mut(&mut heap.0) {
            *word = u64::from_le(*word);
        }
        Ok(heap)
    }

    /// The same lines in memory of their own.
    pub fn copy_of(lines: &[Line]) -> Result<Self, ParamsError> {
        let mut memory = Self::reserve(lines.len())?;
        memory.extend_from_slice(lines);
        Ok(Self(memory))
    }

    /// One line more.
    pub(crate) fn push(&mut self, line: Line) {
        self.0.push(line);
    }

    /// Keeps the first `lines` lines and gives the rest back.
    pub(crate) fn truncate(&mut self, lines: usize) {
        self.0.truncate(lines);
        self.0.shrink_to_fit();
    }
}

impl Store for Heap {
    #[inline(always)]
    fn lines(&self) -> &[Line] {
        &self.0
    }
}

impl StoreMut for Heap {
    #[inline(always)]
    fn lines_mut(&mut self) -> &mut [Line] {
        &mut self.0
    }
}

/// Asks for huge pages under memory that is not touched yet, if there is enough of it.
#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
pub fn advise_huge<T>(memory: &Vec<T>) {
    const PAGE: usize = 4096;
    let bytes = memory.capacity() * size_of::<T>();
    if bytes < HUGE_FROM {
        return;
    }
    let start = (memory.as_ptr() as usize).next_multiple_of(PAGE);
    let end = (memory.as_ptr() as usize + bytes) & !(PAGE - 1);
    // SAFETY: the pages from `start` to `end` lie inside our own reservation, and the advice changes no content. Its
    // result is ignored: a kernel without huge pages costs speed, not answers.
    unsafe { libc::madvise(start as *mut _, end - start, libc::MADV_HUGEPAGE) };
}

/// Asks for huge pages, where there are any.
#[cfg(not(all(feature = "std", target_os = "linux", not(miri))))]
pub fn advise_huge<T>(_: &Vec<T>) {}
