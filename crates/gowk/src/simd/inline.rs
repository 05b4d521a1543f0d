//! The work for one key, in the midst of any code: BMI2, AVX2 and AVX-512 by inline assembly.
//!
//! Code for an instruction set is a function of its own, which other code cannot take in. For a single key the call, and the
//! `vzeroupper` at its end, are a fifth of the work; and the loop that calls it loads anew, for each key, what it could have kept in
//! registers. Assembly needs no such function. With AVX-512 it uses the registers from `ymm16` on, which code for any machine never has, and
//! whose upper halves nobody need clear; with AVX2 the first three, and clears what it leaves. None is wider than 256 bits: for those that are,
//! some processors lower their clock.
//!
//! What AVX-512 has besides: a word goes to all lanes in one step; the half of a line that has a lane's bit is a masked load, where a
//! blend by a register is two or three steps; rotations count round, so that the bits above the five that say where need not be
//! cut off. Six instructions less than in [`avx2`](super::avx2), and a sixth of the time of a lookup.
//!
//! In bulk it was no gain (a tenth slower): it may be that the compiler cannot keep salts in a register over assembly, nor mix it with the
//! rest of the loop.

#![expect(clippy::unused_self, reason = "that there is one is the proof")]

use super::{Constants, OnLine, Windows, avx2::Avx2};
use crate::store::{Place, PlaceMut};
use core::{arch::asm, mem::offset_of};

/// Proof that the processor has BMI2, of which code for any machine makes no use: Intel since 2013, AMD since 2015.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bmi2(Avx2);

impl Bmi2 {
    pub(super) fn new(has: Avx2) -> Self {
        Self(has)
    }

    /// The product of two words, low and high: without the moves into the two registers that code for any machine multiplies in.
    #[inline(always)]
    pub(crate) fn widening_mul(self, a: u64, b: u64) -> (u64, u64) {
        let (low, high);
        // SAFETY: `self` proves BMI2.
        unsafe {
            asm!(
                "mulx {high}, {low}, {b}",
                b = in(reg) b,
                in("rdx") a,
                low = lateout(reg) low,
                high = lateout(reg) high,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        (low, high)
    }

    /// `count` bits of a word from number `from` on, in one step of the processor instead of three. Both are below 64.
    #[inline(always)]
    pub(crate) fn bits(self, word: u64, from: u32, count: u32) -> u64 {
        let bits;
        // SAFETY: every processor with BMI2 has BMI1.
        unsafe {
            asm!(
                "bextr {bits}, {word}, {which}",
                word = in(reg) word,
                which = in(reg) u64::from(from | count << 8),
                bits = lateout(reg) bits,
                options(pure, nomem, nostack),
            );
        }
        bits
    }

    /// The word without its lowest `by % 64` bits, in one step of the processor instead of three.
    #[inline(always)]
    pub(crate) fn shift_right(self, word: u64, by: u64) -> u64 {
        let shifted;
        // SAFETY: `self` proves BMI2.
        unsafe {
            asm!(
                "shrx {shifted}, {word}, {by}",
                word = in(reg) word,
                by = in(reg) by,
                shifted = lateout(reg) shifted,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        shifted
    }
}

/// AVX2, on processors without AVX-512.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InlineAvx2(Bmi2);

impl InlineAvx2 {
    /// The proof, which AVX2 is. But in code that is all compiled for AVX, a call is none, and registers hold what clearing them would lose.
    pub(super) fn new(bmi2: Bmi2) -> Option<Self> {
        (!cfg!(target_feature = "avx")).then_some(Self(bmi2))
    }
}

/// Where assembly finds what lies behind the windows.
const SALTS: usize = offset_of!(Windows, 1) + offset_of!(Constants, salts);
const FIVE_BITS: usize = offset_of!(Windows, 1) + offset_of!(Constants, five_bits);

impl OnLine for InlineAvx2 {
    #[inline(always)]
    fn bmi2(self) -> Bmi2 {
        self.0
    }

    #[inline(always)]
    fn covers(self, place: Place<'_>, word: u64, windows: &Windows) -> bool {
        let (first, byte) = place.parts();
        let covered: u8;
        // SAFETY: `self` proves AVX2; there is a line at that place, and a window where three bits of the word say; lines and
        // windows, with what lies behind them, are aligned to 32 bytes. What is compiled for any machine keeps nothing in the upper halves of registers.
        unsafe {
            asm!(
                "vmovd xmm0, {word:e}",
                "vpbroadcastd ymm0, xmm0",
                "and {word:e}, 0xe0",
                "vpmulld ymm0, ymm0, [{windows} + {salts}]",
                "vmovaps ymm1, [{first} + {byte}]",
                "vblendvps ymm1, ymm1, [{first} + {byte} + 32], ymm0",
                "vpsrld ymm0, ymm0, 26",
                "vpand ymm0, ymm0, [{windows} + {five_bits}]",
                "vpsrlvd ymm1, ymm1, ymm0",
                "vptest ymm1, [{windows} + {word}]",
                "setc {covered}",
                "vzeroupper",
                word = inout(reg) word => _,
                covered = out(reg_byte) covered,
                salts = const SALTS,
                five_bits = const FIVE_BITS,
                first = in(reg) first,
                byte = in(reg) byte,
                windows = in(reg) windows,
                out("xmm0") _,
                out("xmm1") _,
                options(pure, readonly, nostack),
            );
        }
        covered != 0
    }

    #[inline(always)]
    fn mark(self, place: PlaceMut<'_>, word: u64, windows: &Windows) {
        let (first, byte) = place.parts();
        // SAFETY: as in `covers`; the place is ours to write.
        unsafe {
            asm!(
                "vmovd xmm0, {word:e}",
                "vpbroadcastd ymm0, xmm0",
                "and {word:e}, 0xe0",
                "vpmulld ymm0, ymm0, [{windows} + {salts}]",
                "vmovdqa ymm1, [{windows} + {word}]",
                "vpsrad ymm2, ymm0, 31",
                "vpsrld ymm0, ymm0, 26",
                "vpand ymm0, ymm0, [{windows} + {five_bits}]",
                "vpsllvd ymm1, ymm1, ymm0",
                "vpand ymm2, ymm2, ymm1",
                "vpxor ymm1, ymm1, ymm2",
                "vpor ymm1, ymm1, [{first} + {byte}]",
                "vpor ymm2, ymm2, [{first} + {byte} + 32]",
                "vmovdqa [{first} + {byte}], ymm1",
                "vmovdqa [{first} + {byte} + 32], ymm2",
                "vzeroupper",
                word = inout(reg) word => _,
                salts = const SALTS,
                five_bits = const FIVE_BITS,
                first = in(reg) first,
                byte = in(reg) byte,
                windows = in(reg) windows,
                out("xmm0") _,
                out("xmm1") _,
                out("xmm2") _,
                options(nostack),
            );
        }
    }
}

/// Proof that the processor has AVX-512 with its parts F, VL and DQ, and BMI2: Intel's servers since 2017, AMD since 2022.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inline(Bmi2);

impl Inline {
    /// The proof, if there is one.
    pub(super) fn detect(bmi2: Bmi2) -> Option<Self> {
        #[cfg(feature = "std")]
        let has = std::is_x86_feature_detected!("avx512f")
            && std::is_x86_feature_detected!("avx512vl")
            && std::is_x86_feature_detected!("avx512dq");
        #[cfg(not(feature = "std"))]
        let has =
            cfg!(all(target_feature = "avx512f", target_feature = "avx512vl", target_feature = "avx512dq"));
        has.then_some(Self(bmi2))
    }
}

impl OnLine for Inline {
    #[inline(always)]
    fn bmi2(self) -> Bmi2 {
        self.0
    }

    #[inline(always)]
    fn covers(self, place: Place<'_>, word: u64, windows: &Windows) -> bool {
        let (first, byte) = place.parts();
        let lacking: u64;
        // SAFETY: `self` proves AVX-512; there is a line at that place, and a window where three bits of the word say; lines and
        // windows, with what lies behind them, are aligned to 32 bytes.
        unsafe {
            asm!(
                "vpbroadcastd ymm16, {word:e}",
                "and {word:e}, 0xe0",
                "vpmulld ymm16, ymm16, [{windows} + {salts}]",
                "vpmovd2m k1, ymm16",
                "vmovdqa32 ymm17, [{first} + {byte}]",
                "vmovdqa32 ymm17 {{k1}}, [{first} + {byte} + 32]",
                "vpsrld ymm16, ymm16, 26",
                "vprorvd ymm17, ymm17, ymm16",
                "vpandnd ymm17, ymm17, [{windows} + {word}]",
                "vptestmd k1, ymm17, ymm17",
                "kmovb {word:e}, k1",
                word = inout(reg) word => lacking,
                salts = const SALTS,
                first = in(reg) first,
                byte = in(reg) byte,
                windows = in(reg) windows,
                out("xmm16") _,
                out("xmm17") _,
                out("k1") _,
                options(pure, readonly, nostack),
            );
        }
        lacking == 0
    }

    #[inline(always)]
    fn mark(self, place: PlaceMut<'_>, word: u64, windows: &Windows) {
        let (first, byte) = place.parts();
        // SAFETY: as in `covers`; the place is ours to write.
        unsafe {
            asm!(
                "vpbroadcastd ymm16, {word:e}",
                "and {word:e}, 0xe0",
                "vpmulld ymm16, ymm16, [{windows} + {salts}]",
                "vmovdqa32 ymm17, [{windows} + {word}]",
                "vpmovd2m k1, ymm16",
                "vpsrld ymm16, ymm16, 26",
                "vprolvd ymm17, ymm17, ymm16",
                "vmovdqa32 ymm18 {{k1}} {{z}}, ymm17",
                "vpxord ymm17, ymm17, ymm18",
                "vpord ymm17, ymm17, [{first} + {byte}]",
                "vpord ymm18, ymm18, [{first} + {byte} + 32]",
                "vmovdqa32 [{first} + {byte}], ymm17",
                "vmovdqa32 [{first} + {byte} + 32], ymm18",
                word = inout(reg) word => _,
                salts = const SALTS,
                first = in(reg) first,
                byte = in(reg) byte,
                windows = in(reg) windows,
                out("xmm16") _,
                out("xmm17") _,
                out("xmm18") _,
                out("k1") _,
                options(nostack),
            );
        }
    }
}
