//! The work on the lines of eight keys, in AVX-512.
//!
//! A register holds the eight lanes of two lines: of two keys, or two of one key. The words of the keys stand in one register, out of which a
//! permutation brings each to all lanes of its line. The top bit of a lane's product chooses between the two dwords of the lane; for both lines at once that
//! is a permutation of two registers, which are the lines as they lie in memory. A rotation brings the key's bit down to bit 0, and a test makes a
//! bit of each lane. So a line becomes a byte, and what a key wants is a byte as well, looked up by where its window begins: eight
//! keys are answered by one comparison, and nothing of it passes through a general register.
//!
//! With the hashes of [`avx512`](super::avx512) a lookup of one line is 17 instructions where it is 36 key by key; on a Zen 5, in bulk, ns a key of a
//! million and of ten million: 1.33 -> 1.02 and 1.65 -> 1.06, of two lines 1.95 -> 1.65 and 2.6 -> 2.0; inserts 1.32 -> 1.15 and 1.55 -> 1.2. To hash by
//! eight and then work on the lines one by one gains nothing.

#![expect(clippy::unused_self, reason = "that there is one is the proof")]
#![allow(clippy::wildcard_imports, reason = "two dozen names that all begin with _mm")]

use super::{EIGHT, SALTS, Windows, avx512::Avx512};
use crate::store::{Line, LinesOfEight, LinesOfEightMut};
use core::{
    arch::{asm, x86_64::*},
    hint::black_box,
    mem::transmute,
};

/// The lanes of a key in a line, as the bits of a byte, for the eight places where its window may begin.
#[derive(Clone, Copy)]
pub(crate) struct Sets {
    lanes: [u8; 8],
    /// 1, of which the compiler does not know: to test for a bit that it knows it takes two instructions.
    one: i32,
}

impl Sets {
    pub(crate) fn of(windows: &Windows) -> Self {
        let lanes = windows.0.map(|lanes| lanes.0.iter().rev().fold(0, |set, lane| set << 1 | *lane as u8));
        Self { lanes, one: black_box(1) }
    }

    /// The lanes that keys want whose windows begin at these places.
    #[inline(always)]
    unsafe fn at(self, starts: __m128i) -> __m128i {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm_shuffle_epi8(_mm_cvtsi64_si128(i64::from_le_bytes(self.lanes)), starts) }
    }
}

impl Avx512 {
    /// Whether all `N` lines of each key have every bit of it.
    ///
    /// The low half of a word is for all lines of its key. But if two lines have words of their `OWN`, the high half is for the second; then they
    /// want lanes by the same sets.
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
            let mut covered = _mm_set1_epi8(1);
            if N >= 2 {
                covered = _mm_and_si128(covered, two_lines_cover::<OWN>(lines, words, [sets[0], sets[1]]));
            }
            if N != 2 {
                covered = _mm_and_si128(covered, one_line_covers(lines, N - 1, words, sets[N - 1]));
            }
            *answers = transmute::<[u8; EIGHT], [bool; EIGHT]>(_mm_cvtsi128_si64(covered).to_le_bytes());
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
            if N >= 2 {
                let wanted = wanted_by_two::<OWN>(words, [sets[0], sets[1]]);
                let wanted = [_mm_cvtsi128_si64(wanted), _mm_extract_epi64::<1>(wanted)].map(in_register);
                for key in 0..EIGHT {
                    let [first, second] =
                        bits(words, of_one_key(key, OWN), wanted[key / 4] >> (16 * (key % 4)));
                    or(lines.line(key, 0), first);
                    or(lines.line(key, 1), second);
                }
            }
            if N != 2 {
                let wanted = in_register(_mm_cvtsi128_si64(sets[N - 1].at(starts(words))));
                for pair in 0..EIGHT / 2 {
                    let [first, second] = bits(words, of_two_keys(pair), wanted >> (16 * pair));
                    or(lines.line(2 * pair, N - 1), first);
                    or(lines.line(2 * pair + 1, N - 1), second);
                }
            }
        }
    }
}

/// Which dwords of the words are those of two neighbouring keys.
#[inline(always)]
fn of_two_keys(pair: usize) -> [i32; 2] {
    [4 * pair as i32, 4 * pair as i32 + 2]
}

/// And of the two lines of a key.
#[inline(always)]
fn of_one_key(key: usize, own: bool) -> [i32; 2] {
    [2 * key as i32, 2 * key as i32 + i32::from(own)]
}

/// Whether a line of each key has the key's bits: 255 in a byte a key, the first eight.
#[inline(always)]
unsafe fn one_line_covers(lines: &impl LinesOfEight, line: usize, words: __m512i, sets: Sets) -> __m128i {
    // SAFETY: the caller has AVX-512.
    unsafe {
        // Written out, so that what comes of them stays in registers.
        macro_rules! have {
            ($($pair:literal)*) => { four([$(
                lanes_with_bits(lines.line(2 * $pair, line), lines.line(2 * $pair + 1, line), words, of_two_keys($pair), sets.one)
            ),*]) };
        }
        let have = _mm_cvtsi64_si128(have!(0 1 2 3));
        let lacks = _mm_andnot_si128(have, sets.at(starts(words)));
        _mm_cmpeq_epi8(lacks, _mm_setzero_si128())
    }
}

/// Whether the first two lines of each key have.
#[inline(always)]
unsafe fn two_lines_cover<const OWN: bool>(
    lines: &impl LinesOfEight,
    words: __m512i,
    sets: [Sets; 2],
) -> __m128i {
    // SAFETY: the caller has AVX-512.
    unsafe {
        macro_rules! have {
            ($($key:literal)*) => { four([$(
                lanes_with_bits(lines.line($key, 0), lines.line($key, 1), words, of_one_key($key, OWN), sets[0].one)
            ),*]) };
        }
        let low = have!(0 1 2 3);
        let have = _mm_set_epi64x(have!(4 5 6 7), low);
        let lacks = _mm_andnot_si128(have, wanted_by_two::<OWN>(words, sets));
        let covered = _mm_cmpeq_epi16(lacks, _mm_setzero_si128());
        _mm_packs_epi16(covered, covered)
    }
}

/// The lanes that each key wants of its first two lines: two bytes a key.
#[inline(always)]
unsafe fn wanted_by_two<const OWN: bool>(words: __m512i, [first, second]: [Sets; 2]) -> __m128i {
    // SAFETY: the caller has AVX-512.
    unsafe {
        if OWN {
            let starts = _mm512_and_si512(_mm512_srli_epi32::<5>(words), _mm512_set1_epi32(7));
            first.at(_mm512_cvtepi32_epi8(starts))
        } else {
            let starts = starts(words);
            _mm_unpacklo_epi8(first.at(starts), second.at(starts))
        }
    }
}

/// Where the windows of the first words begin: a byte a key, the first eight.
#[inline(always)]
unsafe fn starts(words: __m512i) -> __m128i {
    // SAFETY: the caller has AVX-512.
    unsafe { _mm512_cvtepi64_epi8(_mm512_and_si512(_mm512_srli_epi64::<5>(words), _mm512_set1_epi64(7))) }
}

/// The products of two words with the salts, one a lane.
#[inline(always)]
unsafe fn products(words: __m512i, [a, b]: [i32; 2]) -> __m512i {
    // SAFETY: the caller has AVX-512; `Lanes` are the 32 bytes of a register.
    unsafe {
        let lanes = _mm512_setr_epi32(a, a, a, a, a, a, a, a, b, b, b, b, b, b, b, b);
        let salts = _mm512_broadcast_i64x4(transmute::<[u32; 8], __m256i>(SALTS.0));
        _mm512_mullo_epi32(_mm512_permutexvar_epi32(lanes, words), salts)
    }
}

/// Where in its dword each lane has the key's bit, in the low five bits; a rotation asks for no others.
#[inline(always)]
unsafe fn places(products: __m512i) -> __m512i {
    // SAFETY: the caller has AVX-512.
    unsafe { _mm512_srli_epi32::<26>(products) }
}

/// Which of the lanes of two lines have their key's bit.
#[inline(always)]
unsafe fn lanes_with_bits(first: &Line, second: &Line, words: __m512i, which: [i32; 2], one: i32) -> u16 {
    /// a | b & c
    const A_OR_B_AND_C: i32 = 0xf8;
    // SAFETY: the caller has AVX-512.
    unsafe {
        let products = products(words, which);
        // Dword j of a line, or j + 8 if the product says so; those of the second line count on from 16.
        let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
        let (high, eight) = (_mm512_srli_epi32::<28>(products), _mm512_set1_epi32(8));
        let chosen = _mm512_ternarylogic_epi32::<A_OR_B_AND_C>(lanes, high, eight);
        let dwords = _mm512_permutex2var_epi32(load(first), chosen, load(second));
        _mm512_test_epi32_mask(_mm512_rorv_epi32(dwords, places(products)), _mm512_set1_epi32(one))
    }
}

/// The bits of two words in their lines, of the lanes that are wanted.
#[inline(always)]
unsafe fn bits(words: __m512i, which: [i32; 2], wanted: i64) -> [__m512i; 2] {
    // SAFETY: the caller has AVX-512.
    unsafe {
        let products = products(words, which);
        let bit = _mm512_maskz_rolv_epi32(wanted as u16, _mm512_set1_epi32(1), places(products));
        let in_second_half = _mm512_maskz_mov_epi32(_mm512_movepi32_mask(products), bit);
        let in_first_half = _mm512_xor_si512(bit, in_second_half);
        // From the halves of two lines to the lines.
        [
            _mm512_shuffle_i64x2::<0b01_00_01_00>(in_first_half, in_second_half),
            _mm512_shuffle_i64x2::<0b11_10_11_10>(in_first_half, in_second_half),
        ]
    }
}

/// Four masks of sixteen lanes as one of 64.
#[inline(always)]
unsafe fn four([a, b, c, d]: [u16; 4]) -> i64 {
    // SAFETY: the caller has AVX-512.
    unsafe {
        let (low, high) = (_mm512_kunpackw(b.into(), a.into()), _mm512_kunpackw(d.into(), c.into()));
        in_register(_mm512_kunpackd(high.into(), low.into()) as i64)
    }
}

/// The same word, of which the compiler does not know where it comes from: else it writes masks to memory one by one and reads them together, which a
/// processor can do only when it has done all before.
#[inline(always)]
fn in_register(mut word: i64) -> i64 {
    // SAFETY: of nothing nothing can go wrong.
    unsafe {
        asm!("/* {word} */", word = inout(reg) word, options(pure, nomem, nostack, preserves_flags));
    }
    word
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
