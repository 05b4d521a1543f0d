//! Lines on the heap, on huge pages where that pays.

use super::{Line, Store, StoreMut, addressable, pages};
use crate::error::ParamsError;
#[cfg(feature = "std")]
use crate::format::OpenError;
use alloc::alloc::{alloc, dealloc, handle_alloc_error};
use core::{alloc::Layout, fmt, ptr::NonNull, slice};

/// Lines on the heap.
///
/// Not a `Vec`, which cannot be aligned to a huge page. That also spares a service that makes and drops filters the room
/// that glibc loses between blocks aligned to 64 bytes: seven times the two filters of a loop that was measured.
pub struct Heap {
    start: NonNull<Line>,
    len: usize,
    /// Of the allocation.
    layout: Layout,
}

// SAFETY: a `Heap` owns its lines, as a `Vec` does, and has no state besides.
unsafe impl Send for Heap {}
// SAFETY: as above; a shared reference only reads.
unsafe impl Sync for Heap {}

impl Heap {
    /// This many empty lines.
    pub fn zeroed(lines: u64) -> Result<Self, ParamsError> {
        // SAFETY: all lines are written at once; zeros are lines.
        unsafe {
            let heap = Self::unwritten(addressable(lines)?)?;
            heap.start.write_bytes(0, heap.len);
            Ok(heap)
        }
    }

    /// The lines that a file holds. A last line that is cut short is filled up with zeros.
    pub fn from_le_bytes(bytes: &[u8]) -> Result<Self, ParamsError> {
        let (lines, rest) = bytes.as_chunks::<{ Line::BYTES }>();
        let mut last = [0; Line::BYTES];
        last[..rest.len()].copy_from_slice(rest);
        let last = (!rest.is_empty()).then_some(&last);
        // SAFETY: all lines are written: the whole ones and the last.
        unsafe {
            let heap = Self::unwritten(lines.len() + usize::from(last.is_some()))?;
            for (i, line) in lines.iter().chain(last).enumerate() {
                heap.start.add(i).write(Line::from_le_bytes(line));
            }
            Ok(heap)
        }
    }

    /// `len` bytes of a file, straight into lines.
    #[cfg(feature = "std")]
    pub(crate) fn read(input: &mut impl std::io::Read, len: u64) -> Result<Self, OpenError> {
        let mut heap = Self::zeroed(len / Line::BYTES as u64)?;
        input.read_exact(super::bytes_mut(heap.lines_mut()))?;
        for word in super::words_mut(heap.lines_mut()) {
            *word = u64::from_le(*word);
        }
        Ok(heap)
    }

    /// The same lines in memory of their own.
    pub fn copy_of(lines: &[Line]) -> Result<Self, ParamsError> {
        // SAFETY: all lines are written at once; new memory overlaps nothing.
        unsafe {
            let heap = Self::unwritten(lines.len())?;
            heap.start.copy_from_nonoverlapping(NonNull::from(lines).cast(), lines.len());
            Ok(heap)
        }
    }

    /// Keeps the first `lines` lines and gives the rest back, if there is memory to move them to.
    pub(crate) fn truncate(&mut self, lines: usize) {
        if lines >= self.len {
            return;
        }
        match Self::copy_of(&self.lines()[..lines]) {
            Ok(fewer) => *self = fewer,
            Err(_) => self.len = lines,
        }
    }

    /// Memory for so many lines.
    ///
    /// # Safety
    /// Every line must be written before it is read.
    unsafe fn unwritten(len: usize) -> Result<Self, ParamsError> {
        let bytes = len * Line::BYTES;
        let place = pages::layout(bytes, align_of::<Line>()).and_then(|layout| {
            if bytes == 0 {
                return Some(Self { start: NonNull::dangling(), len, layout });
            }
            // SAFETY: the layout is not empty.
            let start = NonNull::new(unsafe { alloc(layout) })?;
            // SAFETY: the memory is new, so ours, and holds nothing.
            unsafe { pages::advise(start.as_ptr(), bytes) };
            Some(Self { start: start.cast(), len, layout })
        });
        place.ok_or(ParamsError::OutOfMemory { bytes: bytes as u64 })
    }

    /// Where the lines begin, and how many there are.
    #[inline(always)]
    pub(super) fn raw(&self) -> (NonNull<Line>, usize) {
        (self.start, self.len)
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: it was allocated with this layout, and is given back once.
            unsafe { dealloc(self.start.as_ptr().cast(), self.layout) };
        }
    }
}

impl Clone for Heap {
    fn clone(&self) -> Self {
        Self::copy_of(self.lines()).unwrap_or_else(|_| handle_alloc_error(self.layout))
    }
}

impl PartialEq for Heap {
    fn eq(&self, other: &Self) -> bool {
        self.lines() == other.lines()
    }
}

impl Eq for Heap {}

impl fmt::Debug for Heap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Heap").field(&self.lines()).finish()
    }
}

impl Store for Heap {
    #[inline(always)]
    fn lines(&self) -> &[Line] {
        // SAFETY: `len` lines lie at `start`, all of them written, as `unwritten` asks.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl StoreMut for Heap {
    #[inline(always)]
    fn lines_mut(&mut self) -> &mut [Line] {
        // SAFETY: as in `lines`; the exclusive borrow is handed on.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_kept_through_copies_cuts_and_files() {
        for len in [0usize, 1, 7, 65_535, 65_536, 70_000] {
            let mut heap = Heap::zeroed(len as u64).unwrap();
            assert!(heap.lines().len() == len && heap.lines().iter().all(|line| *line == Line::ZERO));
            heap.lines_mut().iter_mut().enumerate().for_each(|(i, line)| line.0[i % 8] = i as u64);
            let copy = heap.clone();
            assert_eq!(copy, heap);
            let bytes: Vec<u8> = heap.lines().iter().flat_map(|line| line.to_le_bytes()).collect();
            assert_eq!(Heap::from_le_bytes(&bytes).unwrap(), heap);
            assert_eq!(Heap::read(&mut &bytes[..], bytes.len() as u64).unwrap(), heap);

            for keep in [len + 1, len, len / 2, 0] {
                heap.truncate(keep);
                assert_eq!(heap.lines(), &copy.lines()[..keep.min(len)]);
            }
        }
    }

    #[test]
    fn a_line_that_is_cut_short_ends_in_zeros() {
        let heap = Heap::from_le_bytes(&[0xff; 64 + 12]).unwrap();
        assert_eq!(heap.lines(), [Line([u64::MAX; 8]), Line([u64::MAX, 0xffff_ffff, 0, 0, 0, 0, 0, 0])]);
    }

    #[test]
    fn large_memory_begins_on_a_huge_page_where_there_are_any() {
        let large = Heap::zeroed(1 << 16).unwrap();
        let align = large.layout.align();
        assert_eq!(large.start.as_ptr() as usize % align, 0);
        assert_eq!(align, if cfg!(all(target_os = "linux", not(miri))) { 2 << 20 } else { 64 });
        assert_eq!(Heap::zeroed((1 << 16) - 1).unwrap().layout.align(), 64);
    }

    #[test]
    fn more_than_there_is_is_an_error() {
        assert!(matches!(Heap::zeroed(1 << 56), Err(ParamsError::OutOfMemory { .. })));
    }
}
