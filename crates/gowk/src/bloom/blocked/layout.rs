//! From a digest to its block and the words that choose bits in it. Pure; knows no memory.

use super::sizing::{Span, by_span};
use crate::{
    hash::Digest,
    simd::{Windows, portable},
    store::Line,
};
use alloc::vec::Vec;

/// The block of a key among `blocks`.
#[inline(always)]
pub(crate) fn block_of(digest: Digest, blocks: usize) -> usize {
    ((u128::from(digest.h1) * blocks as u128) >> 64) as usize
}

/// What chooses the bits in each of the lines of a block: the low half of the digest for the first, which the block has no
/// part in; for the others the high halves of products, which depend on all of it.
#[inline(always)]
pub(crate) fn words<const L: usize>(digest: Digest) -> [u32; L] {
    let mut product = digest.h2;
    core::array::from_fn(|line| {
        if line == 0 {
            return digest.h1 as u32;
        }
        let word = (product >> 32) as u32;
        product = product.wrapping_mul(Digest::SPREAD);
        word
    })
}

/// What a bulk call keeps of a digest while its lines are on their way: no address, which is a multiplication away. A ring of eight
/// bytes a key is a tenth quicker than one of addresses and words.
pub(super) trait Kept: Copy {
    fn keep(digest: Digest) -> Self;
    fn digest(self) -> Digest;
}

/// The first word alone, where the second is made of it, or where nobody asks for it, as a key of one line does not.
impl Kept for u64 {
    #[inline(always)]
    fn keep(digest: Digest) -> Self {
        digest.h1
    }

    #[inline(always)]
    fn digest(self) -> Digest {
        Digest::from(self)
    }
}

/// Both.
impl Kept for Digest {
    #[inline(always)]
    fn keep(digest: Digest) -> Self {
        digest
    }

    #[inline(always)]
    fn digest(self) -> Digest {
        self
    }
}

/// Runs the code with `$kept` as the type that keeps the digests of a source, for blocks of `$lines` lines.
macro_rules! by_kept {
    ($source:ty, $lines:ident, $kept:ident => $call:expr) => {
        match $lines == 1 || <$source>::IS_ONE_WORD {
            true => {
                type $kept = u64;
                $call
            }
            false => {
                type $kept = $crate::hash::Digest;
                $call
            }
        }
    };
}
pub(super) use by_kept;

/// The bits of a key among all bits of the filter.
pub(super) fn positions(digest: Digest, blocks: u64, span: Span, lanes: u32) -> Vec<u64> {
    by_span!(span, L => {
        let first = block_of(digest, blocks as usize) as u64 * L as u64;
        let bits = |(line, word): (usize, u32)| {
            let mask = portable::mask(word, windows(lanes));
            let start = (first + line as u64) * Line::BITS;
            (0..Line::BITS).filter(move |bit| mask.0[(bit / 64) as usize] >> (bit % 64) & 1 == 1).map(move |bit| start + bit)
        };
        words::<L>(digest).into_iter().enumerate().flat_map(bits).collect()
    })
}

/// The lanes that a key of `lanes` lanes uses, as a set of bits; one of eight rotations.
///
/// Neighbouring lanes would do. These sets overlap their own rotations more evenly, which takes 0.4 % off the space with
/// three to five lanes; with fewer or more there is nothing to choose. Part of the file format.
pub(super) const fn pattern(lanes: u32, start: u32) -> u8 {
    let set: u8 = match lanes {
        3 => 0b0000_1011,
        4 => 0b0001_0111,
        5 => 0b0010_1111,
        _ => ((1u16 << lanes) - 1) as u8,
    };
    set.rotate_left(start)
}

/// The eight rotations of the pattern of `lanes` lanes, as the line operations want them.
pub(crate) fn windows(lanes: u32) -> &'static Windows {
    static WINDOWS: [Windows; 8] = all_windows();
    &WINDOWS[lanes as usize - 1]
}

const fn all_windows() -> [Windows; 8] {
    let mut all = [Windows::EMPTY; 8];
    let mut i = 0;
    while i < 8 * 8 * 8 {
        let (lanes, start, lane) = (i / 64, i / 8 % 8, i % 8);
        all[lanes].0[start].0[lane] = (pattern(lanes as u32 + 1, start as u32) >> lane) as u32 & 1;
        i += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::portable::mask;

    #[test]
    fn a_key_sets_one_bit_in_each_of_its_lanes() {
        for lanes in 1..=8 {
            for word in (0..100_000u32).map(|i| i.wrapping_mul(0x0123_4567)).chain([0, 1, u32::MAX]) {
                let mask = mask(word, windows(lanes));
                assert_eq!(mask.ones(), lanes, "word {word:#x}");
            }
        }
    }

    #[test]
    fn positions_are_the_bits_that_an_insert_sets() {
        use crate::{
            Build, Filter, Hasher, Insert, bloom::blocked::BlockedBloom, bloom::blocked::BlockedParams,
        };
        for (span, lanes) in [(Span::Line, 6), (Span::Pair, 4), (Span::Quad, 3)] {
            let params = BlockedParams::with_shape(5, span, lanes, 10).unwrap();
            let hasher = Hasher::new(2);
            for key in 0..200u64 {
                let mut filter = BlockedBloom::with_params(params, hasher).unwrap();
                filter.insert(&key);
                let is_set = |bit: &u64| {
                    filter.lines()[(bit / 512) as usize].0[(bit % 512 / 64) as usize] >> (bit % 64) & 1 == 1
                };
                let set: Vec<u64> = (0..params.bits()).filter(is_set).collect();
                assert_eq!(params.positions(filter.hasher().digest(&key)), set);
                assert_eq!(set.len() as u32, params.probes());
            }
        }
    }

    #[test]
    fn what_is_kept_has_the_words_of_the_digest() {
        fn check<P: Kept>(digest: Digest) {
            let back = P::keep(digest).digest();
            assert_eq!((back.h1, words::<4>(back)), (digest.h1, words::<4>(digest)));
        }
        check::<Digest>(Digest { h1: 0x0123_4567_89ab_cdef, h2: 0xfedc_ba98_7654_3210 });
        check::<Digest>(Digest::from(7));
        check::<u64>(Digest::from(0x0123_4567_89ab_cdef));
    }

    #[test]
    fn all_bits_of_a_line_are_reached_alike() {
        for lanes in [1, 3, 6, 8] {
            let trials = 2_000_000u32;
            let mut hits = [0u32; 512];
            for i in 0..trials {
                let word = (u64::from(i).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 29) as u32;
                let mask = mask(word, windows(lanes));
                for (bit, hit) in hits.iter_mut().enumerate() {
                    *hit += (mask.0[bit / 64] >> (bit % 64) & 1) as u32;
                }
            }
            let expected = f64::from(trials * lanes) / 512.0;
            for (bit, &hit) in hits.iter().enumerate() {
                let off = (f64::from(hit) - expected).abs() / expected.sqrt();
                assert!(off < 8.0, "{lanes} lanes: bit {bit} was set {hit} times, expected {expected}");
            }
        }
    }
}
