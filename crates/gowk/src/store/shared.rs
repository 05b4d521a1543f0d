//! Lines of atomic words, for inserting from many threads at once.

use super::{Heap, Line, StoreMut};
use crate::error::ParamsError;
use alloc::vec::Vec;
use core::mem::ManuallyDrop;
use core::sync::atomic::{AtomicU64, Ordering};

/// A line whose words are atomic.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct SharedLine(pub(crate) [AtomicU64; 8]);

/// Lines that threads set bits in through a shared reference.
///
/// Every access is relaxed: a bit is set or it is not, and no other memory is published by it. A thread that must see
/// another's inserts needs an ordering of its own (joining it, a channel, a lock), as with any shared set.
#[derive(Debug)]
pub struct Shared(Vec<SharedLine>);

impl Shared {
    /// This many empty lines.
    pub fn zeroed(lines: u64) -> Result<Self, ParamsError> {
        Heap::zeroed(lines).map(Self::from)
    }

    /// The lines, for relaxed reads and writes.
    #[inline(always)]
    pub(crate) fn lines(&self) -> &[SharedLine] {
        &self.0
    }

    /// The lines as one run of words.
    #[inline(always)]
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: `SharedLine` is `repr(C)` around `[AtomicU64; 8]` and 64 bytes long, so lines lie as words without gaps.
        unsafe { core::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() * 8) }
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
        // SAFETY: see `recast`.
        Heap(unsafe { recast(self.0) })
    }
}

impl From<Heap> for Shared {
    fn from(heap: Heap) -> Self {
        // SAFETY: see `recast`.
        Self(unsafe { recast(heap.0) })
    }
}

/// The same memory under another name.
///
/// # Safety
/// `A` and `B` must have the same size, alignment and valid bit patterns, as `Line` and `SharedLine` do: both are 64-byte
/// aligned arrays of eight words, and an `AtomicU64` is laid out as a `u64`.
unsafe fn recast<A, B>(memory: Vec<A>) -> Vec<B> {
    const { assert!(size_of::<A>() == size_of::<B>() && align_of::<A>() == align_of::<B>()) };
    let mut memory = ManuallyDrop::new(memory);
    // SAFETY: pointer, length and capacity come from one `Vec` that is not dropped; the caller vouches for the types.
    unsafe { Vec::from_raw_parts(memory.as_mut_ptr().cast(), memory.len(), memory.capacity()) }
}

impl SharedLine {
    /// The line as it is now, word by word.
    #[inline(always)]
    pub(crate) fn load(&self) -> Line {
        Line(core::array::from_fn(|i| self.0[i].load(Ordering::Relaxed)))
    }

    /// Whether all bits of `mask` are set.
    #[inline(always)]
    pub(crate) fn covers(&self, mask: &Line) -> bool {
        let mut missing = 0;
        for (word, &bits) in self.0.iter().zip(&mask.0) {
            missing |= bits & !word.load(Ordering::Relaxed);
        }
        missing == 0
    }

    /// Sets the bits of `mask`; true if at least one of them was new to this call.
    #[inline(always)]
    pub(crate) fn set(&self, mask: &Line) -> bool {
        let mut fresh = 0;
        for (word, &bits) in self.0.iter().zip(&mask.0) {
            // A word that already holds its bits is only read: no line is dirtied and passed between cores for nothing.
            if bits & !word.load(Ordering::Relaxed) != 0 {
                fresh |= bits & !word.fetch_or(bits, Ordering::Relaxed);
            }
        }
        fresh != 0
    }
}
