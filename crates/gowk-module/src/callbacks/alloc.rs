//! Memory from the server's allocator, so that it counts towards `used_memory` and `maxmemory`.
//!
//! Unlike the one of `redis-module` it answers "no memory" instead of ending the server, and it gives lines the alignment
//! that they ask for whatever allocator the server was built with.

use redis_module::raw;
use std::{
    alloc::{GlobalAlloc, Layout, System},
    ptr,
};

struct ServerMemory;

#[global_allocator]
static MEMORY: ServerMemory = ServerMemory;

/// What every allocator gives unasked.
const PLAIN_ALIGN: usize = 16;

impl ServerMemory {
    /// # Safety
    /// As [`GlobalAlloc::alloc`], for layouts of plain alignment.
    unsafe fn raw_alloc(size: usize) -> *mut u8 {
        // SAFETY: plain calls of allocators. In tests there is no server; then nothing was ever allocated by one either.
        unsafe {
            match (raw::RedisModule_TryAlloc, raw::RedisModule_Alloc) {
                (Some(alloc), _) | (None, Some(alloc)) => alloc(size).cast(),
                (None, None) => System.alloc(Layout::from_size_align_unchecked(size, PLAIN_ALIGN)),
            }
        }
    }

    /// # Safety
    /// `place` came from [`raw_alloc`](Self::raw_alloc) with this size.
    unsafe fn raw_free(place: *mut u8, size: usize) {
        // SAFETY: the caller's, and as above.
        unsafe {
            match raw::RedisModule_Free {
                Some(free) => free(place.cast()),
                None => System.dealloc(place, Layout::from_size_align_unchecked(size, PLAIN_ALIGN)),
            }
        }
    }
}

/// What an aligned place takes: itself, the way to the next multiple, and the address that was allocated just before it.
fn padded(layout: Layout) -> Option<usize> {
    layout.size().checked_add(layout.align() + size_of::<usize>())
}

/// Where the address of the allocation of an aligned place is kept.
///
/// # Safety
/// The word before `place` must lie in its allocation.
#[expect(clippy::cast_ptr_alignment, reason = "it is called for places aligned to more than a pointer")]
unsafe fn before(place: *mut u8) -> *mut *mut u8 {
    // SAFETY: the caller's.
    unsafe { place.cast::<*mut u8>().sub(1) }
}

// SAFETY: places are disjoint because the server's are; an aligned one lies inside its own padded allocation, whose address is kept
// in the word before it, and is given back by that address.
unsafe impl GlobalAlloc for ServerMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's layout is not empty. The word before the aligned place lies behind `base`, as the place is the first
        // multiple that leaves room for it.
        unsafe {
            if layout.align() <= PLAIN_ALIGN {
                return Self::raw_alloc(layout.size());
            }
            let Some(size) = padded(layout) else { return ptr::null_mut() };
            let base = Self::raw_alloc(size);
            if base.is_null() {
                return base;
            }
            let start = (base as usize + size_of::<usize>()).next_multiple_of(layout.align());
            let place = base.add(start - base as usize);
            before(place).write(base);
            place
        }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the place came from `alloc` with this layout.
        unsafe {
            if layout.align() <= PLAIN_ALIGN {
                return Self::raw_free(place, layout.size());
            }
            let base = before(place).read();
            Self::raw_free(base, padded(layout).unwrap_or(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_aligned_and_given_back() {
        for (size, align) in [(1, 1), (8, 8), (64, 64), (100, 64), (4096, 4096), (1 << 20, 64)] {
            let layout = Layout::from_size_align(size, align).unwrap();
            // SAFETY: written within its size, freed once with its layout.
            unsafe {
                let place = MEMORY.alloc(layout);
                assert_eq!(place as usize % align, 0, "{size} at {align}");
                place.write_bytes(0xa5, size);
                MEMORY.dealloc(place, layout);
            }
        }
    }
}
