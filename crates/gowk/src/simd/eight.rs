//! The work on the lines of eight keys, in AVX-512.
//!
//! A register holds the eight lanes of two lines: of two keys, or the two of one key. The words of the keys stand in one register, out of which a
//! permutation brings each to all lanes of its line. The top bit of a lane's product chooses between the two dwords of the lane; for both lines at once that
//! is a permutation of two registers, which are the lines as they lie in memory. A rotation brings the key's bit down to bit 0, and a test makes a
//! bit of each lane. So a line becomes a byte, and what a key wants is a byte as well, looked up by where its window begins: eight
//! keys are answered by one comparison, and nothing of it passes through a general register.
//!
//! With the hashes of [`avx512`](super::avx512) a lookup is 17 instructions where it is 36 key by key; on a Zen 5, in bulk, ns a key of a million and
//! of ten million: 1.33 -> 1.02 and 1.65 -> 1.06, of two lines 1.95 -> 1.65 and 2.6 -> 2.1; inserts 1.32 -> 1.15 and 1.55 -> 1.2. To hash by eight and then
//! work on the lines one by one gains nothing.

#![expect(clippy::unused_self, reason = "that there is one is the proof")]
#![allow(clippy::wildcard_imports, reason = "two dozen names that all begin with _mm")]

use super::{EIGHT, SALTS, Windows, avx512::Avx512};
use crate::store::{EightBlocks, EightBlocksMut, Line};
use core::{
    arch::{asm, x86_64::*},
    hint::black_box,
    mem::transmute,
};

/// The lanes of a key, as the bits of a byte, for the eight places where its window may begin.
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

    #[inline(always)]
    unsafe fn table(self) -> __m128i {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm_cvtsi64_si128(i64::from_le_bytes(self.lanes)) }
    }
}

impl Avx512 {
    /// Whether each block has, in each of its lines, every bit of its key. Of a key's words the low half is for the first line, the high one
    /// for the second.
    #[inline(always)]
    pub(crate) fn cover_eight<const L: usize>(
        self,
        blocks: EightBlocks<'_, L>,
        words: &[u64; EIGHT],
        sets: Sets,
        answers: &mut [bool; EIGHT],
    ) {
        // SAFETY: `self` proves AVX-512; any bytes of zeros and ones are answers.
        unsafe {
            let words = transmute::<[u64; EIGHT], __m512i>(*words);
            let one = _mm512_set1_epi32(sets.one);
            // Written out, so that what comes of them stays in registers.
            macro_rules! have {
                ($($pair:literal)*) => { four([$(lanes_with_bits(blocks, words, $pair, one)),*]) };
            }
            let low = have!(0 1 2 3);
            let all = _mm_set1_epi8(1);
            let covered = if L == 1 {
                let lacks = _mm_andnot_si128(_mm_cvtsi64_si128(low), wanted_by_one(words, sets));
                _mm_and_si128(_mm_cmpeq_epi8(lacks, _mm_setzero_si128()), all)
            } else {
                let have = _mm_set_epi64x(have!(4 5 6 7), low);
                let lacks = _mm_andnot_si128(have, wanted_by_two(words, sets));
                let covered = _mm_cmpeq_epi16(lacks, _mm_setzero_si128());
                _mm_and_si128(_mm_packs_epi16(covered, covered), all)
            };
            *answers = transmute::<[u8; EIGHT], [bool; EIGHT]>(_mm_cvtsi128_si64(covered).to_le_bytes());
        }
    }

    /// Sets the bits of each key in each line of its block.
    #[inline(always)]
    pub(crate) fn mark_eight<const L: usize>(
        self,
        mut blocks: EightBlocksMut<'_, L>,
        words: &[u64; EIGHT],
        sets: Sets,
    ) {
        // SAFETY: `self` proves AVX-512.
        unsafe {
            let words = transmute::<[u64; EIGHT], __m512i>(*words);
            let wanted = if L == 1 { wanted_by_one(words, sets) } else { wanted_by_two(words, sets) };
            let wanted = [_mm_cvtsi128_si64(wanted), _mm_extract_epi64::<1>(wanted)].map(in_register);
            for pair in 0..4 * L {
                let [(key, line), (other, second)] = lines_of::<L>(pair);
                let products = products::<L>(words, pair);
                let bit = _mm512_maskz_rolv_epi32(
                    (wanted[pair / 4] >> (16 * (pair % 4))) as u16,
                    _mm512_set1_epi32(1),
                    places(products),
                );
                let in_second = _mm512_maskz_mov_epi32(_mm512_movepi32_mask(products), bit);
                let in_first = _mm512_xor_si512(bit, in_second);
                // From the halves of two lines to the lines.
                or(blocks.line(key, line), _mm512_shuffle_i64x2::<0x44>(in_first, in_second));
                or(blocks.line(other, second), _mm512_shuffle_i64x2::<0xee>(in_first, in_second));
            }
        }
    }
}

/// Which two lines a register holds, of which keys.
#[inline(always)]
fn lines_of<const L: usize>(pair: usize) -> [(usize, usize); 2] {
    const { assert!(L == 1 || L == 2) };
    if L == 1 { [(2 * pair, 0), (2 * pair + 1, 0)] } else { [(pair, 0), (pair, 1)] }
}

/// The products of a pair's two words with the salts, one a lane.
#[inline(always)]
unsafe fn products<const L: usize>(words: __m512i, pair: usize) -> __m512i {
    let (first, second) = if L == 1 { (4 * pair, 4 * pair + 2) } else { (2 * pair, 2 * pair + 1) };
    let (a, b) = (first as i32, second as i32);
    // SAFETY: the caller has AVX-512; `Lanes` are the 32 bytes of a register.
    unsafe {
        let both = _mm512_permutexvar_epi32(
            _mm512_setr_epi32(a, a, a, a, a, a, a, a, b, b, b, b, b, b, b, b),
            words,
        );
        _mm512_mullo_epi32(both, _mm512_broadcast_i64x4(transmute::<[u32; 8], __m256i>(SALTS.0)))
    }
}

/// Where in its dword each lane has the key's bit, in the low five bits; a rotation asks for no others.
#[inline(always)]
unsafe fn places(products: __m512i) -> __m512i {
    // SAFETY: the caller has AVX-512.
    unsafe { _mm512_srli_epi32::<26>(products) }
}

/// The key's bit of each lane of two lines, brought down to bit 0.
#[inline(always)]
unsafe fn bits(first: __m512i, second: __m512i, products: __m512i) -> __m512i {
    /// a | b & c
    const A_OR_B_AND_C: i32 = 0xf8;
    // SAFETY: the caller has AVX-512.
    unsafe {
        // Dword j of a line, or j + 8 if the product says so; those of the second line count on from 16.
        let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
        let chosen = _mm512_ternarylogic_epi32::<A_OR_B_AND_C>(
            lanes,
            _mm512_srli_epi32::<28>(products),
            _mm512_set1_epi32(8),
        );
        _mm512_rorv_epi32(_mm512_permutex2var_epi32(first, chosen, second), places(products))
    }
}

/// The lanes that each key wants of its one line: a byte a key, in the first eight.
#[inline(always)]
unsafe fn wanted_by_one(words: __m512i, sets: Sets) -> __m128i {
    // SAFETY: the caller has AVX-512.
    unsafe {
        let starts = _mm512_and_si512(_mm512_srli_epi64::<5>(words), _mm512_set1_epi64(7));
        _mm_shuffle_epi8(sets.table(), _mm512_cvtepi64_epi8(starts))
    }
}

/// The lanes that each key wants of its two lines: two bytes a key.
#[inline(always)]
unsafe fn wanted_by_two(words: __m512i, sets: Sets) -> __m128i {
    // SAFETY: the caller has AVX-512.
    unsafe {
        let starts = _mm512_and_si512(_mm512_srli_epi32::<5>(words), _mm512_set1_epi32(7));
        _mm_shuffle_epi8(sets.table(), _mm512_cvtepi32_epi8(starts))
    }
}

/// Which of the lanes of a pair of lines have their key's bit.
#[inline(always)]
unsafe fn lanes_with_bits<const L: usize>(
    blocks: EightBlocks<'_, L>,
    words: __m512i,
    pair: usize,
    one: __m512i,
) -> u16 {
    // SAFETY: the caller has AVX-512.
    unsafe {
        let [(key, line), (other, second)] = lines_of::<L>(pair);
        let products = products::<L>(words, pair);
        let bits = bits(load(blocks.line(key, line)), load(blocks.line(other, second)), products);
        _mm512_test_epi32_mask(bits, one)
    }
}

/// Four masks of sixteen lanes as one of 64.
#[inline(always)]
unsafe fn four([a, b, c, d]: [u16; 4]) -> i64 {
    // SAFETY: the caller has AVX-512.
    unsafe {
        let (low, high) = (_mm512_kunpackw(b.into(), a.into()), _mm512_kunpackw(d.into(), c.into()));
        // Else the compiler writes the masks to memory one by one and reads them together, which a processor can do only when it has done all
        // before.
        in_register(_mm512_kunpackd(high.into(), low.into()) as i64)
    }
}

/// The same word, of which the compiler does not know where it comes from.
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
