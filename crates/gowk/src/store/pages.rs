//! Huge pages: what large memory lies on, so that finding its address is not dearer than reading it.
//!
//! A lookup in a filter that is larger than the cache first walks the page tables. Of small pages (4 KiB) a filter of
//! ten million keys has 3,000, more than the processor remembers; of huge ones (2 MiB) it has six. Memory that begins
//! anywhere has two ends on small pages, up to 4 MiB, which at ten million keys is a third of all. So it begins on a huge page,
//! and asks for the one that it ends in as well: bulk lookups there take 3.8 to 4.3 ns instead of 4.6 to 5.6.

use alloc::vec::Vec;
use core::{
    alloc::Layout,
    sync::atomic::{AtomicBool, Ordering},
};

/// The size of a huge page.
const HUGE: usize = 2 << 20;

/// From this size on memory asks for huge pages. Below it, the page tables of small ones stay in the cache anyway, and a
/// huge page half empty would be memory that nobody asked for.
const HUGE_FROM: usize = 4 << 20;

/// From this size on small pages are asked for all at once: each by itself, when it is first written, costs more than to clear it.
#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
const POPULATED_FROM: usize = 256 << 10;

/// Whether large memory begins on a huge page.
static WHOLE: AtomicBool = AtomicBool::new(cfg!(all(feature = "std", target_os = "linux", not(miri))));

/// From now on no memory is aligned to more than a line. For programs whose allocator pads what it aligns and counts the
/// padding, as that of a Redis server does.
pub fn align_to_lines_only() {
    WHOLE.store(false, Ordering::Relaxed);
}

/// The layout of `bytes` of memory, aligned to a huge page where that pays and to `align` otherwise.
pub(super) fn layout(bytes: usize, align: usize) -> Option<Layout> {
    let whole = bytes >= HUGE_FROM && WHOLE.load(Ordering::Relaxed);
    Layout::from_size_align(bytes, if whole { HUGE } else { align }).ok()
}

/// Asks for huge pages under the spare memory of a vector, if there is enough of it.
pub fn advise_huge<T>(memory: &mut Vec<T>) {
    let spare = memory.spare_capacity_mut();
    let (start, bytes) = (spare.as_mut_ptr(), size_of_val(spare));
    // SAFETY: memory of the vector, and none of its elements.
    unsafe { advise(start.cast(), bytes) };
}

/// Asks for huge pages, if there is enough memory, before any of it is touched: a page is made huge when it is faulted in,
/// not later. Memory that an allocator hands out again may still lie on the small pages of its last owner; those are given
/// back first.
///
/// # Safety
/// The memory is owned by the caller and holds nothing.
#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
pub(super) unsafe fn advise(start: *mut u8, bytes: usize) {
    const PAGE: usize = 4096;
    if bytes < POPULATED_FROM {
        return;
    }
    let skipped = start.align_offset(PAGE);
    let len = (bytes - skipped) & !(PAGE - 1);
    let first = start.wrapping_add(skipped);
    if bytes < HUGE_FROM {
        // SAFETY: whole pages inside memory that is the caller's; what they hold stays. A kernel before 5.14 does not know it, and gives
        // pages one by one.
        unsafe { libc::madvise(first.cast(), len, libc::MADV_POPULATE_WRITE) };
        return;
    }
    let to_the_end_of_a_huge_page = (start as usize + bytes).next_multiple_of(HUGE) - first as usize;
    // SAFETY: whole pages inside memory that is the caller's, which says that what they hold may be lost. The second call goes on to
    // where the last huge page ends: it changes no content, and the page would be a small one else, though what lies behind us
    // is mapped more often than not. Results are ignored: a kernel without huge pages costs speed, not answers.
    unsafe {
        libc::madvise(first.cast(), len, libc::MADV_DONTNEED);
        libc::madvise(first.cast(), to_the_end_of_a_huge_page, libc::MADV_HUGEPAGE);
    }
}

/// Asks for huge pages, where there are any.
///
/// # Safety
/// None is needed here; see the other one.
#[cfg(not(all(feature = "std", target_os = "linux", not(miri))))]
pub(super) unsafe fn advise(_: *mut u8, _: usize) {}
