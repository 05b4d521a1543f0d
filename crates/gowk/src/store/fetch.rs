//! Asking for memory before it is used.

use super::Line;

/// From so many bytes on, memory is far: below, it is in a cache, or in good part. A third-level cache may be much larger, but others use it, too.
const FAR_FROM: usize = if cfg!(test) { 4096 } else { 8 << 20 };
/// For a processor that takes many lines at once, which waits for less of them.
const FAR_FROM_FOR_MANY: usize = if cfg!(test) { 4096 } else { 16 << 20 };
/// About what a second-level cache holds.
const NOT_SOON_FROM: usize = if cfg!(test) { 4096 } else { 2 << 20 };

/// Whether memory of so many bytes is far.
#[inline(always)]
pub(crate) fn is_far(bytes: usize) -> bool {
    bytes >= if first_level_takes_many() { FAR_FROM_FOR_MANY } else { FAR_FROM }
}

/// Whether short code need not ask for memory of so many bytes ahead: a processor holds so many keys of it at once that asking takes longer than
/// waiting.
///
/// Three slots a key, in a megabyte of a Zen 5, take 1.6 ns so, in ten megabytes 1.9, and with asking 2.4; in 29 megabytes 9.3 and 4.1. An Ice Lake takes 27
/// ns in ten megabytes, and 14 with asking.
#[inline(always)]
pub(crate) fn is_soon_there(bytes: usize) -> bool {
    bytes < if first_level_takes_many() { FAR_FROM_FOR_MANY } else { NOT_SOON_FROM }
}

/// Asks for places in memory of one size.
///
/// A processor fetches into its first-level cache through a few buffers; when all are taken, it waits. Into the second-level cache it fetches through
/// several times as many. Of far memory, where a fetch holds its buffer longest, that counts for more than the fifteen cycles from there to the work. A hundred million keys in bulk on a Zen 4, ns a lookup by the first level and by
/// the second: `BlockedBloom` 10.0 and 3.4, `Bloom` 19 and 7.2, `BinaryFuse` 28 and 13, `Cuckoo` 29 and 10; on an Ice Lake two neighbouring lines of
/// 190 MB 19 and 15, single ones 11.3 and 10.6. On a Zen 3 both take as long. Near memory is no quicker so (5.1 to 4.6 ns for a pair in 4 MB on the Ice
/// Lake).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fetch {
    into_second: bool,
}

impl Fetch {
    /// For what is used next, and for near memory. Compared with it outside of a loop, a fetch is without a question inside.
    pub(crate) const SOON: Self = Self { into_second: false };
    /// For far memory, where the second-level cache takes more of it at once.
    pub(crate) const LATER: Self = Self { into_second: true };

    /// For a memory of so many bytes.
    #[inline(always)]
    pub(crate) fn of(bytes: usize) -> Self {
        if is_far(bytes) && !first_level_takes_many() { Self::LATER } else { Self::SOON }
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

/// Whether the first-level cache takes more than a hundred lines at once, as that of AMD's processors since Zen 5 does. They are known by an
/// instruction that of all servers only they have.
#[inline(always)]
fn first_level_takes_many() -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri), feature = "std"))]
    {
        std::is_x86_feature_detected!("avx512vp2intersect")
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri), feature = "std")))]
    {
        cfg!(all(target_arch = "x86_64", target_feature = "avx512vp2intersect"))
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
