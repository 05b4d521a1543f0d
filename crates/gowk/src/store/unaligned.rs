//! Words that begin at any byte.

use super::{Line, eight::see_that_none_is_behind};
use crate::simd::EIGHT;

/// The words of eight bytes that begin at each of these, the first byte lowest.
///
/// # Panics
/// If one of them does not lie inside the lines.
#[inline(always)]
pub(crate) fn eight_words(lines: &[Line], bytes: &[u64; EIGHT]) -> [u64; EIGHT] {
    // Without a byte there is no last one.
    let last = loadable(lines).checked_sub(1).expect("lines to read");
    see_that_none_is_behind(last, bytes);
    let mut words = [0; EIGHT];
    for i in 0..EIGHT {
        // SAFETY: as was just seen, there are eight bytes.
        words[i] = unsafe { alone_from_byte::<u64>(lines, bytes[i]) };
    }
    words
}

/// As many bytes as `T` has, an integer, the first of them lowest.
///
/// # Safety
/// There must be eight bytes from there on.
#[cfg(target_endian = "little")]
#[inline(always)]
pub(super) unsafe fn from_byte<T: Into<u64>>(lines: &[Line], byte: u64) -> u64 {
    // SAFETY: the lines reach that far, by the word of the caller; they are initialised and have no padding.
    unsafe { lines.as_ptr().cast::<u8>().add(byte as usize).cast::<T>().read_unaligned() }.into()
}

/// As [`from_byte`], by a load of its own.
///
/// # Safety
/// There must be eight bytes from there on.
#[inline(always)]
pub(super) unsafe fn alone_from_byte<T: Copy + Into<u64>>(lines: &[Line], byte: u64) -> u64 {
    #[cfg(all(target_endian = "little", not(miri)))]
    {
        /// At any address.
        #[derive(Clone, Copy)]
        #[repr(C, packed)]
        struct Anywhere<T>(T);
        // SAFETY: as in `from_byte`. Volatile is what keeps it alone.
        let word: Anywhere<T> =
            unsafe { lines.as_ptr().cast::<u8>().add(byte as usize).cast::<Anywhere<T>>().read_volatile() };
        word.0.into()
    }
    #[cfg(not(all(target_endian = "little", not(miri))))]
    // SAFETY: the caller's.
    unsafe {
        from_byte::<T>(lines, byte)
    }
}

/// As on the other machines.
///
/// # Safety
/// There must be eight bytes from there on.
#[cfg(not(target_endian = "little"))]
pub(super) unsafe fn from_byte<T: Into<u64>>(lines: &[Line], byte: u64) -> u64 {
    let (words, at, shift) = (super::words(lines), (byte / 8) as usize, 8 * (byte % 8));
    let high = if shift == 0 { 0 } else { words[at + 1] << (64 - shift) };
    (words[at] >> shift | high) & (u64::MAX >> (64 - 8 * size_of::<T>()))
}

/// The bytes that are the first of eight.
#[inline(always)]
pub(super) fn loadable(lines: &[Line]) -> u64 {
    (size_of_val(lines) as u64).saturating_sub(7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn eight_words_begin_at_any_byte() {
        let lines = [[1u64, 2, 3, 4, 5, 6, 7, 8], [9, 10, 11, 12, 13, 14, 15, 16]]
            .map(|words| Line(words.map(|n| n * 0x0123_4567_89ab_cdef)));
        let all: Vec<u8> = lines.iter().flat_map(|line| line.to_le_bytes()).collect();
        for first in 0..=113 {
            let starts = core::array::from_fn(|i| first + i as u64);
            let expected = starts.map(|at| u64::from_le_bytes(*all[at as usize..].first_chunk().unwrap()));
            assert_eq!(eight_words(&lines, &starts), expected);
        }
    }

    #[test]
    #[should_panic(expected = "inside this memory")]
    fn none_of_them_lies_behind_the_end() {
        eight_words(&[Line::ZERO], &[0, 0, 0, 57, 0, 0, 0, 0]);
    }
}
