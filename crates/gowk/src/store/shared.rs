//! Lines of atomic words, for inserting from many threads at once.

use super::{Heap, Line, StoreMut};
use crate::error::ParamsError;
use core::sync::atomic::{AtomicU64, Ordering};
use core::{fmt, slice};

/// A line whose words are atomic.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct SharedLine(pub(crate) [AtomicU64; 8]);

/// Lines that threads set bits in through a shared reference.
///
/// Every access is relaxed: a bit is set or it is not, and no other memory is published by it. A thread that must see
/// another's inserts needs an ordering of its own (joining it, a channel, a lock), as with any shared set.
///
/// The heap within is never looked at as plain lines while it is here.
pub struct Shared(Heap);

impl Shared {
    /// This many empty lines.
    pub fn zeroed(lines: u64) -> Result<Self, ParamsError> {
        Heap::zeroed(lines).map(Self::from)
    }

    /// The lines, for relaxed reads and writes.
    #[inline(always)]
    pub(crate) fn lines(&self) -> &[SharedLine] {
        let (start, len) = self.0.raw();
        // SAFETY: a `SharedLine` has the size, the alignment and the values of a `Line`, and an `AtomicU64` may be written
        // through a shared reference: the memory is raw to the heap, and nobody holds it as plain lines.
        unsafe { slice::from_raw_parts(start.cast().as_ptr(), len) }
    }

    /// The lines as one run of words.
    #[inline(always)]
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: `SharedLine` is `repr(C)` around `[AtomicU64; 8]` and 64 bytes long, so lines lie as words without gaps.
        unsafe { slice::from_raw_parts(self.lines().as_ptr().cast(), self.lines().len() * 8) }
    }

    /// A copy of the lines as they are now; bits that are being set meanwhile may or may not be in it.
    pub fn snapshot(&self) -> Result<Heap, ParamsError> {
        let mut heap = Heap::zeroed(self.lines().len() as u64)?;
        for (to, from) in heap.lines_mut().iter_mut().zip(self.lines()) {
            *to = from.load();
        }
        Ok(heap)
    }

    /// The lines, no longer shared. Costs nothing.
    pub fn into_heap(self) -> Heap {
        self.0
    }
}

impl From<Heap> for Shared {
    fn from(heap: Heap) -> Self {
        Self(heap)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shared").field(&self.lines()).finish()
    }
}

impl SharedLine {
    /// The line as it is now, word by word.
    #[inline(always)]
    pub(crate) fn load(&self) -> Line {
        Line(core::array::from_fn(|i| self.word(i)))
    }

    /// One of the eight words, as it is now.
    #[inline(always)]
    pub(crate) fn word(&self, i: usize) -> u64 {
        self.0[i % 8].load(Ordering::Relaxed)
    }

    /// Sets bits of one of the eight words; true if one of them was not set before.
    #[inline(always)]
    pub(crate) fn or(&self, i: usize, bits: u64) -> bool {
        bits & !self.0[i % 8].fetch_or(bits, Ordering::Relaxed) != 0
    }
}
