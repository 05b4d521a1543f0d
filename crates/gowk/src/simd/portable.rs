//! The specification of every line operation, in plain Rust.

use super::{Arithmetic, EightTask, Lanes, Machine, SALTS, Shares, Task, Windows};
use crate::store::{Line, SharedLine};

/// Any processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Portable;

/// Runs a task on any processor. Where nearly all have something better, it stays out of the caller's way, which keeps the
/// loops around the better one short.
#[cfg_attr(target_arch = "x86_64", cold, inline(never))]
#[cfg_attr(not(target_arch = "x86_64"), inline(always))]
pub(super) fn run<T: Task>(task: T) -> T::Output {
    task.run(Portable)
}

/// As [`run`], by eight.
#[cfg_attr(target_arch = "x86_64", cold, inline(never))]
#[cfg_attr(not(target_arch = "x86_64"), inline(always))]
pub(super) fn run_by_eight(task: impl EightTask) {
    task.run(Portable);
}

impl Arithmetic for Portable {}

/// Where lane `lane` of a line keeps the bit of a key: (word of the line, mask in it).
///
/// A lane has 64 bits: dword `lane` of the first half of the line and dword `lane` of the second. So all eight lanes fit
/// into one 256-bit register as dwords, and the half is chosen by a blend.
#[inline(always)]
fn place(lane: usize, word: u32) -> (usize, u64) {
    let product = word.wrapping_mul(SALTS.0[lane]);
    let (half, bit) = ((product >> 31) as usize, product >> 26 & 31);
    let dword = lane + 8 * half;
    (dword / 2, 1 << (bit + 32 * (dword as u32 % 2)))
}

/// The bits that a key sets in its line.
#[inline(always)]
pub(crate) fn mask(word: u32, windows: &Windows) -> Line {
    let window = &windows.0[(word >> 5) as usize & 7];
    let mut mask = Line::ZERO;
    for (lane, &used) in window.0.iter().enumerate() {
        let (index, bit) = place(lane, word);
        mask.0[index] |= bit * u64::from(used);
    }
    mask
}

/// The bit of a split-block key in each of its eight words.
#[inline(always)]
fn split_mask(word: u32, salts: &Lanes) -> [u32; 8] {
    salts.0.map(|salt| 1 << (word.wrapping_mul(salt) >> 27))
}

impl Machine for Portable {
    #[inline(always)]
    fn covers(self, line: &Line, word: u32, windows: &Windows) -> bool {
        let mask = mask(word, windows);
        let missing = line.0.iter().zip(mask.0).fold(0, |missing, (have, want)| missing | (want & !have));
        missing == 0
    }

    #[inline(always)]
    fn cover<const N: usize>(self, lines: [&Line; N], word: u32, shares: &Shares) -> bool {
        let mut all = true;
        for (line, windows) in lines.into_iter().zip(&shares.each) {
            all &= self.covers(line, word, windows);
        }
        all
    }

    #[inline(always)]
    fn set(self, line: &mut Line, word: u32, windows: &Windows) -> bool {
        let mask = mask(word, windows);
        let mut fresh = 0;
        for (have, want) in line.0.iter_mut().zip(mask.0) {
            fresh |= want & !*have;
            *have |= want;
        }
        fresh != 0
    }

    #[inline(always)]
    fn shared_covers(self, line: &SharedLine, word: u32, windows: &Windows) -> bool {
        self.covers(&line.load(), word, windows)
    }

    #[inline(always)]
    fn shared_set(self, line: &SharedLine, word: u32, windows: &Windows) -> bool {
        let mask = mask(word, windows);
        let mut fresh = false;
        for (i, want) in mask.0.into_iter().enumerate() {
            // A word that already holds its bits is only read: no line is dirtied and passed between cores for nothing.
            if want & !line.word(i) != 0 {
                fresh |= line.or(i, want);
            }
        }
        fresh
    }

    #[inline(always)]
    fn split_covers(self, block: &[u32; 8], word: u32, salts: &Lanes) -> bool {
        let missing = block
            .iter()
            .zip(split_mask(word, salts))
            .fold(0, |missing, (have, want)| missing | (want & !have));
        missing == 0
    }

    #[inline(always)]
    fn split_set(self, block: &mut [u32; 8], word: u32, salts: &Lanes) -> bool {
        let mut fresh = 0;
        for (have, want) in block.iter_mut().zip(split_mask(word, salts)) {
            fresh |= want & !*have;
            *have |= want;
        }
        fresh != 0
    }
}
