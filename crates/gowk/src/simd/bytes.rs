//! What is in 64 bytes of text, a bit for each: where lines end, where words are.

/// The places of `byte` in the block, the first lowest.
#[inline(always)]
pub fn places_of(block: &[u8; 64], byte: u8) -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    return sse2::places_of(block, byte);
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    return portable::places_of(block, byte);
}

/// The places of ASCII letters, digits and underscores; and those of bytes that are not ASCII.
#[inline(always)]
pub fn words_in(block: &[u8; 64]) -> (u64, u64) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    return sse2::words_in(block);
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    return portable::words_in(block);
}

#[cfg(any(test, miri, not(target_arch = "x86_64")))]
mod portable {
    fn bits(block: &[u8; 64], is: impl Fn(u8) -> bool) -> u64 {
        block.iter().enumerate().fold(0, |bits, (i, byte)| bits | u64::from(is(*byte)) << i)
    }

    pub(super) fn places_of(block: &[u8; 64], byte: u8) -> u64 {
        bits(block, |b| b == byte)
    }

    pub(super) fn words_in(block: &[u8; 64]) -> (u64, u64) {
        (bits(block, |b| b.is_ascii_alphanumeric() || b == b'_'), bits(block, |b| !b.is_ascii()))
    }
}

/// SSE2 is part of x86-64, so nothing has to be asked at run time.
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod sse2 {
    use core::arch::x86_64::{
        __m128i, _mm_add_epi8, _mm_cmpeq_epi8, _mm_cmpgt_epi8, _mm_loadu_si128, _mm_movemask_epi8,
        _mm_or_si128, _mm_set1_epi8,
    };

    #[inline(always)]
    fn quarters(block: &[u8; 64], bits: impl Fn(__m128i) -> __m128i) -> u64 {
        let quarter = |i: usize| {
            // SAFETY: 16 bytes from 16 i on lie inside the block for i < 4, and SSE2 is always there.
            unsafe {
                let bytes = _mm_loadu_si128(block.as_ptr().add(16 * i).cast());
                u64::from(_mm_movemask_epi8(bits(bytes)) as u16)
            }
        };
        quarter(0) | quarter(1) << 16 | quarter(2) << 32 | quarter(3) << 48
    }

    #[inline(always)]
    pub(super) fn places_of(block: &[u8; 64], byte: u8) -> u64 {
        // SAFETY: SSE2 is always there.
        quarters(block, |bytes| unsafe { _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8)) })
    }

    #[inline(always)]
    pub(super) fn words_in(block: &[u8; 64]) -> (u64, u64) {
        // Moved up so that the last of the range is 127, which makes it one signed comparison; what is not ASCII lands
        // below the range.
        // SAFETY: SSE2 is always there.
        let range = |bytes, last: u8, len: i8| unsafe {
            _mm_cmpgt_epi8(_mm_add_epi8(bytes, _mm_set1_epi8((127 - last) as i8)), _mm_set1_epi8(127 - len))
        };
        // SAFETY: SSE2 is always there.
        let word = |bytes| unsafe {
            let letter = range(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), b'z', 26);
            let other =
                _mm_or_si128(range(bytes, b'9', 10), _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'_' as i8)));
            _mm_or_si128(letter, other)
        };
        (quarters(block, word), quarters(block, |bytes| bytes))
    }
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn the_fast_way_is_the_portable_way() {
        for shift in 0..=255u8 {
            let block: [u8; 64] = core::array::from_fn(|i| (i as u8).wrapping_mul(4).wrapping_add(shift));
            assert_eq!(words_in(&block), portable::words_in(&block), "from {shift}");
            for byte in [shift, b'\n', 0, 0xff] {
                assert_eq!(places_of(&block, byte), portable::places_of(&block, byte), "{byte} from {shift}");
            }
        }
    }
}
