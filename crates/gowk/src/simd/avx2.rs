//! The line operations in AVX2.
//!
//! A lookup is eleven instructions. The eight lanes are the eight dwords of a register, multiplied by the salts all at
//! once; the top bit of a product says whether the key's bit is in the first or the second half of the line, which is where
//! a blend looks for it, and the next five where in the dword. Instead of building a mask and comparing, the *line* is shifted: each lane's bit is brought
//! down to bit 0 and one `vptest` compares all lanes with the window. Building two masks of 64-bit lanes, as one would
//! first write it, takes nineteen; out of the cache, where the reorder buffer holds only so many instructions, that is the
//! difference between four lookups in flight and six.

#![allow(clippy::wildcard_imports, reason = "two dozen names that all begin with _mm256")]
#![expect(
    clippy::cast_ptr_alignment,
    reason = "lines are aligned to 64 bytes, more than any register asks for"
)]

use super::{Arithmetic, EightTask, Lanes, Machine, SALTS, Shares, Task, Windows};
use crate::store::{Line, SharedLine};
use core::arch::{asm, x86_64::*};

/// Proof that the processor has AVX2 and BMI2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// The proof, if there is one.
    pub(super) fn detect() -> Option<Self> {
        #[cfg(feature = "std")]
        let has = std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("bmi2");
        #[cfg(not(feature = "std"))]
        let has = cfg!(all(target_feature = "avx2", target_feature = "bmi2"));
        has.then_some(Self(()))
    }

    /// Runs a task compiled for this instruction set.
    #[inline(always)]
    pub(crate) fn run<T: Task>(self, task: T) -> T::Output {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn compiled_for_avx2<T: Task>(machine: Avx2, task: T) -> T::Output {
            task.run(machine)
        }
        // SAFETY: an `Avx2` only comes out of `detect`, which asked the processor; the smaller sets named beside AVX2
        // and BMI2 are on every processor that has those two.
        unsafe { compiled_for_avx2(self, task) }
    }

    /// As [`run`](Self::run), by eight.
    #[inline(always)]
    pub(crate) fn run_by_eight(self, task: impl EightTask) {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn compiled_for_avx2(arithmetic: Avx2, task: impl EightTask) {
            task.run(arithmetic);
        }
        // SAFETY: as in `run`.
        unsafe { compiled_for_avx2(self, task) }
    }
}

/// Multiplications of 64 bits by 64 are no part of it: of pieces they take as long as one after the other.
impl Arithmetic for Avx2 {}

/// The products of a key's word with the salts, one a lane.
#[inline(always)]
unsafe fn products(word: u32, salts: &Lanes) -> __m256i {
    // SAFETY: the caller has AVX2; `Lanes` is 32 aligned bytes.
    unsafe { _mm256_mullo_epi32(_mm256_set1_epi32(word as i32), _mm256_load_si256(salts.0.as_ptr().cast())) }
}

/// The window that begins where the key says.
#[inline(always)]
unsafe fn window(word: u32, windows: &Windows) -> __m256i {
    // SAFETY: the caller has AVX2; three bits of the word times 32 bytes stay inside the 256 of `Windows`.
    unsafe { _mm256_load_si256(windows.0.as_ptr().cast::<u8>().add((word & 0xe0) as usize).cast()) }
}

/// Where in its dword each lane has the key's bit: the five bits below the top one. A shift and a mask: of two shifts the
/// compiler makes a second multiplication, by twice the salts.
#[inline(always)]
unsafe fn places(products: __m256i) -> __m256i {
    // SAFETY: the caller has AVX2.
    unsafe { _mm256_and_si256(_mm256_srli_epi32::<26>(products), _mm256_set1_epi32(31)) }
}

/// The two halves of a line.
#[inline(always)]
unsafe fn halves(line: &Line) -> (__m256i, __m256i) {
    // SAFETY: the caller has AVX2; a `Line` is 64 bytes on a 64-byte boundary.
    unsafe {
        let first = line.0.as_ptr().cast::<__m256i>();
        (_mm256_load_si256(first), _mm256_load_si256(first.add(1)))
    }
}

/// The two halves of a line that other threads may be writing, as they are now.
///
/// By sixteen aligned bytes, which every processor with AVX reads at once, so that no word is read in parts: the same as
/// eight relaxed loads, of which the compiler would make eight instructions, and as many to bring them into registers.
/// For it to load registers itself would be a race.
#[inline(always)]
unsafe fn shared_halves(line: &SharedLine) -> (__m256i, __m256i) {
    let [a, b, c, d]: [__m128i; 4];
    // SAFETY: the caller has AVX2; a `SharedLine` is 64 bytes on a 64-byte boundary, read and nothing else.
    unsafe {
        asm!(
            "vmovdqa {a}, [{line}]",
            "vmovdqa {b}, [{line} + 16]",
            "vmovdqa {c}, [{line} + 32]",
            "vmovdqa {d}, [{line} + 48]",
            line = in(reg) line,
            a = out(xmm_reg) a,
            b = out(xmm_reg) b,
            c = out(xmm_reg) c,
            d = lateout(xmm_reg) d,
            options(nostack, preserves_flags, readonly),
        );
        (_mm256_set_m128i(b, a), _mm256_set_m128i(d, c))
    }
}

/// The dword of each lane that has the key's bit: of the half that the top bit of the product says.
#[inline(always)]
unsafe fn dwords((first, second): (__m256i, __m256i), products: __m256i) -> __m256 {
    // SAFETY: the caller has AVX2.
    unsafe {
        let (first, second) = (_mm256_castsi256_ps(first), _mm256_castsi256_ps(second));
        _mm256_blendv_ps(first, second, _mm256_castsi256_ps(products))
    }
}

/// The key's bit of each lane of a line, brought down to bit 0.
#[inline(always)]
unsafe fn bits(halves: (__m256i, __m256i), word: u32) -> __m256i {
    // SAFETY: the caller has AVX2.
    unsafe {
        let product = products(word, &SALTS);
        _mm256_srlv_epi32(_mm256_castps_si256(dwords(halves, product)), places(product))
    }
}

/// Whether a line of these halves has every bit of this key's mask.
#[inline(always)]
unsafe fn covered(halves: (__m256i, __m256i), word: u32, windows: &Windows) -> bool {
    // SAFETY: the caller has AVX2.
    unsafe { _mm256_testc_si256(bits(halves, word), window(word, windows)) != 0 }
}

/// The key's bits in the two halves of its line.
#[inline(always)]
unsafe fn masks(word: u32, windows: &Windows) -> (__m256i, __m256i) {
    // SAFETY: the caller has AVX2.
    unsafe {
        let product = products(word, &SALTS);
        let bit = _mm256_sllv_epi32(window(word, windows), places(product));
        let second = _mm256_and_si256(_mm256_srai_epi32::<31>(product), bit);
        (_mm256_xor_si256(bit, second), second)
    }
}

impl Machine for Avx2 {
    #[inline(always)]
    fn covers(self, line: &Line, word: u32, windows: &Windows) -> bool {
        // SAFETY: `self` proves AVX2.
        unsafe { covered(halves(line), word, windows) }
    }

    /// What the lines lack is gathered, and asked for once.
    #[inline(always)]
    fn covers_block<const L: usize>(self, lines: &[Line; L], words: [u32; L], windows: &Windows) -> bool {
        if L == 1 {
            return self.covers(&lines[0], words[0], windows);
        }
        // SAFETY: as in `covers`.
        unsafe {
            let mut lacking = _mm256_setzero_si256();
            for (line, word) in lines.iter().zip(words) {
                let lacks = _mm256_andnot_si256(bits(halves(line), word), window(word, windows));
                lacking = _mm256_or_si256(lacking, lacks);
            }
            _mm256_testz_si256(lacking, lacking) != 0
        }
    }

    /// The lanes of the lines are blended into one register before anything is done with them.
    #[inline(always)]
    fn cover<const N: usize>(self, lines: [&Line; N], word: u32, shares: &Shares) -> bool {
        // SAFETY: as in `covers`.
        unsafe {
            let product = products(word, &SALTS);
            // Not by a closure, which would not know the instruction set.
            let mut blended = dwords(halves(lines[0]), product);
            for (line, masks) in lines[1..].iter().zip(&shares.masks) {
                let mine = _mm256_castsi256_ps(window(word, masks));
                blended = _mm256_blendv_ps(blended, dwords(halves(line), product), mine);
            }
            let bits = _mm256_srlv_epi32(_mm256_castps_si256(blended), places(product));
            _mm256_testc_si256(bits, window(word, &shares.all)) != 0
        }
    }

    #[inline(always)]
    fn set(self, line: &mut Line, word: u32, windows: &Windows) -> bool {
        // SAFETY: as in `covers`.
        unsafe {
            let (want, have) = (masks(word, windows), halves(line));
            let first = line.0.as_mut_ptr().cast::<__m256i>();
            _mm256_store_si256(first, _mm256_or_si256(have.0, want.0));
            _mm256_store_si256(first.add(1), _mm256_or_si256(have.1, want.1));
            let fresh =
                _mm256_or_si256(_mm256_andnot_si256(have.0, want.0), _mm256_andnot_si256(have.1, want.1));
            _mm256_testz_si256(fresh, fresh) == 0
        }
    }

    #[inline(always)]
    fn shared_covers(self, line: &SharedLine, word: u32, windows: &Windows) -> bool {
        // SAFETY: `self` proves AVX2.
        unsafe { covered(shared_halves(line), word, windows) }
    }

    /// Words that already hold their bits are only read, so that no line is dirtied and passed between cores for nothing. The
    /// others are counted off by one loop: eight branches that no processor foresees took longer than the atomic steps.
    #[inline(always)]
    fn shared_set(self, line: &SharedLine, word: u32, windows: &Windows) -> bool {
        let mut want = Line::ZERO;
        // SAFETY: as in `covers`; a `Line` is 64 bytes on a 64-byte boundary.
        let mut lacking = unsafe {
            let (masks, have) = (masks(word, windows), shared_halves(line));
            let to = want.0.as_mut_ptr().cast::<__m256i>();
            _mm256_store_si256(to, masks.0);
            _mm256_store_si256(to.add(1), masks.1);
            lacks(have.0, masks.0) | lacks(have.1, masks.1) << 4
        };
        let mut fresh = false;
        while lacking != 0 {
            let i = lacking.trailing_zeros() as usize;
            fresh |= line.or(i, want.0[i % 8]);
            lacking &= lacking - 1;
        }
        fresh
    }

    #[inline(always)]
    fn split_covers(self, block: &[u32; 8], word: u32, salts: &Lanes) -> bool {
        // SAFETY: `self` proves AVX2; a block is 32 bytes, loaded without asking for alignment.
        unsafe {
            let want = split_mask(word, salts);
            _mm256_testc_si256(_mm256_loadu_si256(block.as_ptr().cast()), want) != 0
        }
    }

    #[inline(always)]
    fn split_set(self, block: &mut [u32; 8], word: u32, salts: &Lanes) -> bool {
        // SAFETY: as in `split_covers`.
        unsafe {
            let want = split_mask(word, salts);
            let have = _mm256_loadu_si256(block.as_ptr().cast());
            _mm256_storeu_si256(block.as_mut_ptr().cast(), _mm256_or_si256(have, want));
            _mm256_testc_si256(have, want) == 0
        }
    }
}

/// Which of four words lack a bit that is wanted.
#[inline(always)]
unsafe fn lacks(have: __m256i, want: __m256i) -> u32 {
    // SAFETY: the caller has AVX2.
    unsafe {
        let whole = _mm256_cmpeq_epi64(_mm256_andnot_si256(have, want), _mm256_setzero_si256());
        !_mm256_movemask_pd(_mm256_castsi256_pd(whole)) as u32 & 0b1111
    }
}

#[inline(always)]
unsafe fn split_mask(word: u32, salts: &Lanes) -> __m256i {
    // SAFETY: the caller has AVX2.
    unsafe { _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32::<27>(products(word, salts))) }
}
