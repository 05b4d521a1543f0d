//! The work on the lines of eight keys, in AVX-512.
//!
//! A register holds the eight lanes of a line of two neighbouring keys. The words of the keys stand in one register, out of which a
//! permutation brings each to all lanes of its line. The top bit of a lane's product chooses between the two dwords of the lane; for both lines at once that
//! is a permutation of two registers, which are the lines as they lie in memory. A rotation brings the key's bit down to bit 0, and a test makes a
//! bit of each lane: four pairs of keys are a mask of 64. Spread to bytes it is a word a key, and so is what the keys want, looked up by where their
//! windows begin: one test answers all eight, and nothing of it passes through a general register.
//!
//! Where keys have several lines by one word, all that is made of the product is made once: of three lines a lookup takes 1.8 ns in the cache of a
//! Zen 5, and 2.3 with a product for each. By turns there, in bulk, ns a key of a million, key by key, with the first such code, and so:
//! one line 1.33, 1.14, 1.07; two 1.95, 1.87, 1.62; inserts 1.32, 1.23, 1.14. To hash by eight and then work on the lines one by one gains nothing.
//!
//! To compare where lines begin with the end by a vector takes one instruction instead of eight, and 1.06 ns instead of 0.97: what is short here is
//! vectors, and not numbers.

#![expect(clippy::unused_self, reason = "that there is one is the proof")]
#![allow(clippy::wildcard_imports, reason = "two dozen names that all begin with _mm")]

use super::{EIGHT, SALTS, Windows, avx512::Avx512};
use crate::store::{Line, LinesOfEight, LinesOfEightMut};
use core::{
    arch::{asm, x86_64::*},
    hint::black_box,
    mem::transmute,
};

/// The lanes of a key in a line, a byte of ones for each, for the eight places where its window may begin.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Sets {
    lanes: [u64; 8],
    /// 1, of which the compiler does not know: to test for a bit that it knows it takes two instructions.
    one: i32,
}

impl Sets {
    pub(crate) fn of(windows: &Windows) -> Self {
        let lanes = windows.0.map(|lanes| u64::from_le_bytes(lanes.0.map(|lane| 0xff * lane as u8)));
        Self { lanes, one: black_box(1) }
    }

    /// The lanes that keys want whose windows begin where these say: in the low three bits, and no others are asked for.
    #[inline(always)]
    unsafe fn at(&self, starts: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512; eight words are the 64 bytes of a register.
        unsafe { _mm512_permutexvar_epi64(starts, transmute::<[u64; 8], __m512i>(self.lanes)) }
    }
}

impl Avx512 {
    /// Whether all `N` lines of each key have every bit of it.
    ///
    /// The low half of a word is for all lines of its key. But if lines have words of their `OWN`, the high half is for the second.
    #[expect(clippy::needless_range_loop, reason = "pairs and lines are numbers of other things as well")]
    #[inline(always)]
    pub(crate) fn cover_eight<const N: usize, const OWN: bool>(
        self,
        lines: &impl LinesOfEight,
        words: &[u64; EIGHT],
        sets: &[Sets; N],
        answers: &mut [bool; EIGHT],
    ) {
        const { assert!(1 <= N && N <= 3 && (N == 2 || !OWN)) };
        // SAFETY: `self` proves AVX-512; any bytes of zeros and ones are answers.
        unsafe {
            let words = transmute::<[u64; EIGHT], __m512i>(*words);
            let one = _mm512_set1_epi32(sets[0].one);
            let mut lacking = [[0; EIGHT / 2]; N];
            for pair in 0..EIGHT / 2 {
                let mut bits = Bits::of::<false>(words, pair);
                for line in 0..N {
                    if OWN && line == 1 {
                        bits = Bits::of::<true>(words, pair);
                    }
                    let [first, second] = [lines.line(2 * pair, line), lines.line(2 * pair + 1, line)];
                    lacking[line][pair] = bits.lacking(first, second, one);
                }
            }
            let mut covered = 0xff;
            for line in 0..N {
                let starts = starts::<OWN>(words, line);
                covered =
                    _mm512_mask_testn_epi64_mask(covered, each_byte(lacking[line]), sets[line].at(starts));
            }
            let yes = _mm_maskz_mov_epi8(covered.into(), _mm_set1_epi8(1));
            *answers = transmute::<[u8; EIGHT], [bool; EIGHT]>(_mm_cvtsi128_si64(yes).to_le_bytes());
        }
    }

    /// Sets the bits of each key in all `N` lines of it. As for [`cover_eight`](Self::cover_eight).
    #[inline(always)]
    pub(crate) fn mark_eight<const N: usize, const OWN: bool>(
        self,
        lines: &mut impl LinesOfEightMut,
        words: &[u64; EIGHT],
        sets: &[Sets; N],
    ) {
        const { assert!(1 <= N && N <= 3 && (N == 2 || !OWN)) };
        // SAFETY: `self` proves AVX-512.
        unsafe {
            let words = transmute::<[u64; EIGHT], __m512i>(*words);
            let mut wanted = [_mm512_setzero_si512(); N];
            for line in 0..N {
                let starts = starts::<OWN>(words, line);
                wanted[line] = _mm512_and_si512(sets[line].at(starts), _mm512_set1_epi8(1));
            }
            macro_rules! pairs {
                ($($pair:literal)*) => { $(
                    let mut bits = Bits::of::<false>(words, $pair);
                    for line in 0..N {
                        if OWN && line == 1 {
                            bits = Bits::of::<true>(words, $pair);
                        }
                        let [first, second] = bits.in_lines(_mm512_extracti32x4_epi32::<$pair>(wanted[line]));
                        or(lines.line(2 * $pair, line), first);
                        or(lines.line(2 * $pair + 1, line), second);
                    }
                )* };
            }
            pairs!(0 1 2 3);
        }
    }
}

/// Where the windows of the words for a line begin, in the low three bits.
#[inline(always)]
unsafe fn starts<const OWN: bool>(words: __m512i, line: usize) -> __m512i {
    // SAFETY: the caller has AVX-512.
    unsafe {
        match OWN && line == 1 {
            false => _mm512_srli_epi64::<5>(words),
            true => _mm512_srli_epi64::<37>(words),
        }
    }
}

/// Where two neighbouring keys have their bits, in all lanes: the eight of the first key, then those of the second.
#[derive(Clone, Copy)]
struct Bits {
    /// In the top bit whether it is in the second half of a line; below, in which of 32 bits.
    products: __m512i,
}

impl Bits {
    /// By the high halves of their words, or the low ones.
    #[inline(always)]
    unsafe fn of<const HIGH: bool>(words: __m512i, pair: usize) -> Self {
        // SAFETY: the caller has AVX-512; `Lanes` are the 32 bytes of a register.
        unsafe {
            let first = 4 * pair as i32 + i32::from(HIGH);
            let second = first + 2;
            let lanes = _mm512_mask_blend_epi32(0xff00, _mm512_set1_epi32(first), _mm512_set1_epi32(second));
            let salts = _mm512_broadcast_i64x4(transmute::<[u32; 8], __m256i>(SALTS.0));
            Self { products: _mm512_mullo_epi32(_mm512_permutexvar_epi32(lanes, words), salts) }
        }
    }

    /// Where in its dword each lane has its bit, in the low five bits; a rotation asks for no others.
    #[inline(always)]
    unsafe fn places(self) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_srli_epi32::<26>(self.products) }
    }

    /// Which lanes of a line of each key lack their bit.
    #[inline(always)]
    unsafe fn lacking(self, first: &Line, second: &Line, one: __m512i) -> __mmask16 {
        /// a | b & c
        const A_OR_B_AND_C: i32 = 0xf8;
        // SAFETY: the caller has AVX-512.
        unsafe {
            // Dword j of a line, or j + 8 if the product says so; those of the second line count on from 16.
            let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
            let (high, eight) = (_mm512_srli_epi32::<28>(self.products), _mm512_set1_epi32(8));
            let chosen = _mm512_ternarylogic_epi32::<A_OR_B_AND_C>(lanes, high, eight);
            let dwords = _mm512_permutex2var_epi32(load(first), chosen, load(second));
            _mm512_testn_epi32_mask(_mm512_rorv_epi32(dwords, self.places()), one)
        }
    }

    /// The bits in a line of each key, of the lanes that have a one among these bytes.
    #[inline(always)]
    unsafe fn in_lines(self, wanted: __m128i) -> [__m512i; 2] {
        // SAFETY: the caller has AVX-512.
        unsafe {
            let bit = _mm512_rolv_epi32(_mm512_cvtepu8_epi32(wanted), self.places());
            let in_second_half = _mm512_maskz_mov_epi32(_mm512_movepi32_mask(self.products), bit);
            let in_first_half = _mm512_xor_si512(bit, in_second_half);
            // From the halves of two lines to the lines.
            [
                _mm512_shuffle_i64x2::<0b01_00_01_00>(in_first_half, in_second_half),
                _mm512_shuffle_i64x2::<0b11_10_11_10>(in_first_half, in_second_half),
            ]
        }
    }
}

/// Four masks of sixteen lanes, each lane as a byte: by assembly, as the compiler writes masks to memory one by one and reads them together,
/// which a processor can do only when it has done all before.
///
/// A function for its instruction set, which assembly must be in to have masks; put in its place all the same, as those of `core::arch` are.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn each_byte([a, b, c, d]: [__mmask16; 4]) -> __m512i {
    let bytes;
    // SAFETY: it works on registers alone.
    unsafe {
        asm!(
            "kunpckwd {b}, {b}, {a}",
            "kunpckwd {d}, {d}, {c}",
            "kunpckdq {b}, {d}, {b}",
            "vpmovm2b {bytes}, {b}",
            a = in(kreg) a,
            b = inout(kreg) b => _,
            c = in(kreg) c,
            d = inout(kreg) d => _,
            bytes = lateout(zmm_reg) bytes,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    bytes
}

#[inline(always)]
unsafe fn load(line: &Line) -> __m512i {
    // SAFETY: the caller has AVX-512; a `Line` is the 64 bytes of a register, on a boundary of as many.
    unsafe { _mm512_load_si512(line.0.as_ptr().cast()) }
}

#[inline(always)]
unsafe fn or(line: &mut Line, bits: __m512i) {
    // SAFETY: as in `load`.
    unsafe { _mm512_store_si512(line.0.as_mut_ptr().cast(), _mm512_or_si512(load(line), bits)) }
}
