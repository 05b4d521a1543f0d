//! A well mixed word as a number below a range: all alike often, rising with the word.

/// The number.
#[inline(always)]
pub(crate) fn scale(word: u64, range: u64) -> u64 {
    ((u128::from(word) * u128::from(range)) >> 64) as u64
}

/// As [`scale`], for a range of 32 bits: by multiplications of 32 bits by 32, which the compiler makes vectors of.
#[inline(always)]
pub(crate) fn scale_short(word: u64, range: u64) -> u64 {
    let range = u64::from(range as u32);
    ((word >> 32) * range + ((u64::from(word as u32) * range) >> 32)) >> 32
}

/// The largest range that is short: 32 bits, and fewer in tests, which have none that large.
pub(crate) const MOST_SHORT: u64 = if cfg!(test) { 1 << 14 } else { u32::MAX as u64 };

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn short_ranges_are_scaled_to_alike(word: u64, range in 1..=u64::from(u32::MAX)) {
            prop_assert_eq!(scale_short(word, range), scale(word, range));
        }
    }
}
