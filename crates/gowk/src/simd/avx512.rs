//! Arithmetic for eight keys in AVX-512: a register holds a word of each.
//!
//! Besides being twice as wide as AVX2 it multiplies words, which a hash is made of and the places of a key as well. One after the other, the hashes
//! of eight keys take 12.4 ns on a Zen 4, together 6.3. Lookups in bulk gain more than that, as all that follows stays in vectors: a million keys
//! of a fuse filter 3.7 -> 2.7 ns each, of a cuckoo filter 5.3 -> 3.0.
//!
//! Each product waits for the one before it. So a hash is computed in two steps, up to its last factors and from there on, and the loop that wants it has
//! a round between them: a fuse filter takes 0.99 ns a key so in the cache of a Zen 5, and 1.13 where a round takes hashes to their end.
//!
//! What is done to lines by eight is in [`eight`](super::eight).

#![allow(clippy::wildcard_imports, reason = "two dozen names that all begin with _mm")]

use super::{Arithmetic, EIGHT, EightTask, Factors};
use crate::hash::{TextSecrets, WordSecrets};
use core::{
    arch::{asm, x86_64::*},
    mem::transmute,
};

/// Proof that the processor has AVX-512 as Intel's servers have it since 2021 and AMD's since 2022. Those of Intel before lower their clock
/// for wide multiplications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// The proof, if there is one.
    pub(super) fn detect() -> Option<Self> {
        macro_rules! all {
            ($($feature:tt)*) => {{
                #[cfg(feature = "std")]
                let has = $(std::is_x86_feature_detected!($feature))&&*;
                #[cfg(not(feature = "std"))]
                let has = cfg!(all($(target_feature = $feature),*));
                has
            }};
        }
        all!("avx512f" "avx512vl" "avx512dq" "avx512bw" "avx512vbmi2").then_some(Self(()))
    }

    /// Runs a task compiled for this instruction set.
    #[inline(always)]
    pub(crate) fn run_by_eight(self, task: impl EightTask) {
        #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn compiled_for_avx512(arithmetic: Avx512, task: impl EightTask) {
            task.run(arithmetic);
        }
        // SAFETY: an `Avx512` only comes out of `detect`, which asked the processor; the smaller sets are on every one that has it.
        unsafe { compiled_for_avx512(self, task) }
    }
}

impl Arithmetic for Avx512 {
    const HASHES_EIGHT: bool = true;

    #[inline(always)]
    fn words(self, words: &[u64; EIGHT], secrets: &WordSecrets) -> Factors {
        // SAFETY: `self` proves AVX-512; eight words are the 64 bytes of a register, and any bytes are either.
        unsafe {
            let left = xor_each(transmute::<[u64; EIGHT], __m512i>(*words), secrets.left);
            let (low, high) = widening_mul(left, xor_each(left, secrets.right_of_left));
            factors(xor_each(low, secrets.finish_left), xor_each(high, secrets.finish_right))
        }
    }

    #[inline(always)]
    fn texts(self, texts: &[&[u8]; EIGHT], secrets: TextSecrets) -> Option<Factors> {
        let (least, most) = (*TextSecrets::LENGTHS.start() as i64, *TextSecrets::LENGTHS.end() as i64);
        // SAFETY: `self` proves AVX-512; words are read of texts that have 16 bytes, as is seen before.
        unsafe {
            let lengths = lengths(texts);
            // Below the least it is a large number.
            let above_least = _mm512_sub_epi64(lengths, _mm512_set1_epi64(least));
            if _mm512_cmpgt_epu64_mask(above_least, _mm512_set1_epi64(most - least)) != 0 {
                return None;
            }
            let more = _mm512_cmpgt_epu64_mask(lengths, _mm512_set1_epi64(16));
            let (head, next) = two_words::<false>(texts);
            let (low, high) = widening_mul(xor_each(head, secrets.head), xor_each(next, secrets.seed));
            let (a, b) = two_words::<true>(texts);
            let a = xor_each(_mm512_mask_xor_epi64(a, more, a, lengths), secrets.tail);
            let short = _mm512_set1_epi64((secrets.seed ^ 16) as i64);
            let b = _mm512_xor_si512(b, _mm512_mask_xor_epi64(short, more, low, high));
            let (low, high) = widening_mul(a, b);
            let right = _mm512_xor_si512(xor_each(high, secrets.tail), lengths);
            Some(factors(xor_each(low, TextSecrets::FINISH), right))
        }
    }

    #[inline(always)]
    fn fold(self, Factors { left, right }: Factors) -> [u64; EIGHT] {
        // SAFETY: `self` proves AVX-512; eight words are the 64 bytes of a register.
        unsafe {
            let (left, right) =
                (transmute::<[u64; EIGHT], __m512i>(left), transmute::<[u64; EIGHT], __m512i>(right));
            let (low, high) = widening_mul(left, right);
            transmute::<__m512i, [u64; EIGHT]>(_mm512_xor_si512(low, high))
        }
    }
}

#[inline(always)]
unsafe fn factors(left: __m512i, right: __m512i) -> Factors {
    // SAFETY: eight words are the 64 bytes of a register.
    unsafe {
        Factors {
            left: transmute::<__m512i, [u64; EIGHT]>(left),
            right: transmute::<__m512i, [u64; EIGHT]>(right),
        }
    }
}

/// Four registers as one.
macro_rules! together {
    ($a:expr, $b:expr, $c:expr, $d:expr) => {{
        let two = _mm512_inserti32x4::<1>(_mm512_castsi128_si512($a), $b);
        _mm512_inserti32x4::<3>(_mm512_inserti32x4::<2>(two, $c), $d)
    }};
}

/// The first two words of each text, or the last two.
#[inline(always)]
unsafe fn two_words<const LAST: bool>(texts: &[&[u8]; EIGHT]) -> (__m512i, __m512i) {
    // SAFETY: the caller has AVX-512, and texts of 16 bytes or more.
    unsafe {
        // Macros, as a closure may become a function that does not know the instruction set.
        macro_rules! two {
            ($i:literal) => {
                _mm_loadu_si128(texts[$i].as_ptr().add(if LAST { texts[$i].len() - 16 } else { 0 }).cast())
            };
        }
        let even = together!(two!(0), two!(2), two!(4), two!(6));
        let odd = together!(two!(1), two!(3), two!(5), two!(7));
        (_mm512_unpacklo_epi64(even, odd), _mm512_unpackhi_epi64(even, odd))
    }
}

/// The lengths of texts.
#[inline(always)]
unsafe fn lengths(texts: &[&[u8]; EIGHT]) -> __m512i {
    // SAFETY: the caller has AVX-512.
    unsafe {
        macro_rules! two {
            ($i:literal $j:literal) => {
                _mm_set_epi64x(alone(texts[$j].len()), alone(texts[$i].len()))
            };
        }
        together!(two!(0 1), two!(2 3), two!(4 5), two!(6 7))
    }
}

/// A word in a register of its own: of eight that are read from memory the compiler makes one instruction that gathers, which takes longer.
#[inline(always)]
fn alone(mut word: usize) -> i64 {
    // SAFETY: of nothing nothing can go wrong.
    unsafe {
        asm!("/* {word} */", word = inout(reg) word, options(pure, nomem, nostack, preserves_flags));
    }
    word as i64
}

/// Each of the words with this one.
#[inline(always)]
unsafe fn xor_each(words: __m512i, word: u64) -> __m512i {
    // SAFETY: the caller has AVX-512.
    unsafe { _mm512_xor_si512(words, _mm512_set1_epi64(word as i64)) }
}

/// The products of words, low and high, made of four products of halves each.
#[inline(always)]
unsafe fn widening_mul(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    // SAFETY: the caller has AVX-512.
    unsafe {
        let (a_high, b_high) = (_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
        let low = _mm512_mul_epu32(a, b);
        let high = _mm512_mul_epu32(a_high, b_high);
        // Neither sum overflows: a product of halves is at most (2^32 - 1)^2, which leaves room for two halves.
        let cross = _mm512_add_epi64(_mm512_mul_epu32(a_high, b), _mm512_srli_epi64::<32>(low));
        let half = _mm512_and_si512(cross, _mm512_set1_epi64(u32::MAX.into()));
        let other = _mm512_add_epi64(_mm512_mul_epu32(a, b_high), half);
        let high = _mm512_add_epi64(high, _mm512_srli_epi64::<32>(cross));
        let high = _mm512_add_epi64(high, _mm512_srli_epi64::<32>(other));
        let low = _mm512_mask_blend_epi32(0b1010_1010_1010_1010, low, _mm512_slli_epi64::<32>(other));
        (low, high)
    }
}
