//! Asking for memory before it is used.

use super::Line;

/// From so many bytes on, memory is far: below, it is in a cache, or in good part.
const FAR_FROM: usize = if cfg!(test) { 4096 } else { 16 << 20 };

/// Whether memory of so many bytes is far.
#[inline(always)]
pub(crate) fn is_far(bytes: usize) -> bool {
    bytes >= FAR_FROM
}

/// Asks for places in memory of one size.
///
/// A processor fetches into its first-level cache through a few buffers, on Intel's ten to sixteen; when all are taken, it waits. Into the
/// second-level cache it fetches through some fifty. Of far memory, where a fetch holds its buffer longest, that counts for more than the
/// fifteen cycles from there to the work: on an Ice Lake two neighbouring lines of 190 MB take 15 ns a key instead of 19, single ones 10.6
/// instead of 11.3. Near memory is no quicker so (5.1 to 4.6 ns for a pair in 4 MB). On AMD's processors, of which a Zen 5 has more than a
/// hundred lines on their way into the first level, it was not measured and is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fetch {
    into_second: bool,
}

impl Fetch {
    /// For what is used next, and for near memory. Compared with it outside of a loop, a fetch is without a question inside.
    pub(crate) const SOON: Self = Self { into_second: false };

    /// For a memory of so many bytes.
    #[inline(always)]
    pub(crate) fn of(bytes: usize) -> Self {
        Self { into_second: is_far(bytes) && has_few_buffers() }
    }

    /// Asks for the line of byte number `byte`.
    #[inline(always)]
    pub(crate) fn byte(self, lines: &[Line], byte: usize) {
        self.beyond(lines.as_ptr(), byte);
    }

    /// Asks for a place.
    #[inline(always)]
    pub(crate) fn place<T>(self, place: &T) {
        self.beyond(place, 0);
    }

    /// Asks for all lines of a block.
    #[inline(always)]
    pub(crate) fn block(self, block: &[Line]) {
        for line in block {
            self.place(line);
        }
    }

    #[inline(always)]
    fn beyond<T>(self, place: *const T, bytes: usize) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: as in `prefetch_beyond`.
        unsafe {
            use core::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
            let place = place.cast::<i8>().wrapping_add(bytes);
            match self.into_second {
                false => _mm_prefetch::<_MM_HINT_T0>(place),
                true => _mm_prefetch::<_MM_HINT_T1>(place),
            }
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        let _ = (self, place, bytes);
    }
}

/// Asks for a place, into the first-level cache.
#[inline(always)]
pub fn prefetch<T>(place: &T) {
    prefetch_beyond(place, 0);
}

/// Asks for the place this many bytes beyond another, if there is one.
#[inline(always)]
pub(crate) fn prefetch_beyond<T>(place: *const T, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch changes nothing that a program can see, and of an address that is not there nothing comes.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(place.cast::<i8>().wrapping_add(bytes));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (place, bytes);
}

/// Whether this is one of Intel's processors, asked once: the question itself takes longer than many a bulk call.
#[inline(always)]
fn has_few_buffers() -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use core::sync::atomic::{AtomicU8, Ordering};
        const UNKNOWN: u8 = 2;
        static INTEL: AtomicU8 = AtomicU8::new(UNKNOWN);

        #[cold]
        fn ask() -> u8 {
            let maker = core::arch::x86_64::__cpuid(0);
            let name = [b"Genu", b"ineI", b"ntel"].map(|part| u32::from_le_bytes(*part));
            let intel = u8::from([maker.ebx, maker.edx, maker.ecx] == name);
            INTEL.store(intel, Ordering::Relaxed);
            intel
        }
        match INTEL.load(Ordering::Relaxed) {
            UNKNOWN => ask() == 1,
            intel => intel == 1,
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    false
}
