//! How much memory a structure takes, seen from the allocator: what it holds in the end and what it held at its peak.
//!
//! Knows bytes that were asked for. It does not know pages, nor memory that a crate maps behind the allocator's back.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counting.
pub(crate) struct Counting;

fn grew(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(live, Relaxed);
}

fn shrank(bytes: usize) {
    LIVE.fetch_sub(bytes, Relaxed);
}

// SAFETY: every call goes to `System` with its arguments unchanged; the counters touch no memory of the caller.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grew(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`, which is the contract of `System.alloc`.
        unsafe { System.alloc(layout) }
    }

    // Forwarded on its own: zeroed memory straight from the kernel is free, and some rivals live on that.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grew(layout.size());
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        shrank(layout.size());
        // SAFETY: `block` came out of `System` with this layout, because all of the above forward to it.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // Large blocks are moved by remapping pages, so old and new never exist side by side: count the difference.
        if new_size >= layout.size() {
            grew(new_size - layout.size());
        } else {
            shrank(layout.size() - new_size);
        }
        // SAFETY: as in `dealloc`, and the caller vouches for `new_size`.
        unsafe { System.realloc(block, layout, new_size) }
    }
}

/// Bytes that came to life since a [`Meter`] was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) held: usize,
    pub(crate) peak: usize,
}

/// Watches the allocator from its start on.
pub(crate) struct Meter {
    before: usize,
}

impl Meter {
    pub(crate) fn start() -> Self {
        let before = LIVE.load(Relaxed);
        PEAK.store(before, Relaxed);
        Self { before }
    }

    pub(crate) fn read(&self) -> Memory {
        let since = |now: &AtomicUsize| now.load(Relaxed).saturating_sub(self.before);
        Memory { held: since(&LIVE), peak: since(&PEAK) }
    }
}

/// Has every large block mapped by itself, from now on.
///
/// glibc begins so, but once one was freed it takes blocks of up to 32 MiB from its heap, where a row gets what the row before it
/// left: small pages, though it asks for huge ones, or huge ones that it never asked for. Either way it would be faster or slower
/// for reasons that are not its own.
pub(crate) fn map_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: a setting of the allocator, made before there are other threads.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 128 << 10);
    }
}

/// Gives free memory back to the kernel, so that no row runs on pages that the row before it has warmed up.
pub(crate) fn return_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: touches only memory that nobody holds.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_outlives_the_block() {
        const MIB: usize = 1 << 20;
        let meter = Meter::start();
        let kept = vec![0u8; 256 * MIB];
        drop(vec![0u8; 1024 * MIB]);
        let memory = meter.read();
        drop(kept);
        // Other tests allocate and free at the same time, but not as much.
        assert!(memory.held.abs_diff(256 * MIB) < 64 * MIB);
        assert!(memory.peak.abs_diff(1280 * MIB) < 64 * MIB);
    }
}
