//! The machine's floor: what touching one random 64-byte line costs when nothing else is done with it.
//!
//! No filter whose keys each live in one line can be faster than this, so bulk figures are read as a multiple of it.

use std::ffi::c_void;
use std::hint::black_box;
use std::ptr;

use serde::Serialize;

use crate::clock::best_of_pieces;
use crate::keys::{mix, scale};

/// How many lines ahead the memory is told what comes, and into which cache it goes: the best way is the floor. Far memory wants the longer
/// distance, and on some processors the second-level cache.
const WAYS: [(usize, Level); 4] =
    [(64, Level::First), (128, Level::First), (64, Level::Second), (128, Level::Second)];

/// A cache.
#[derive(Clone, Copy)]
enum Level {
    First,
    Second,
}
const HUGE_PAGE: usize = 2 << 20;

/// Nanoseconds per line, each line chosen at random and independently of the others.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct FloorFigures {
    pub(crate) bytes: usize,
    /// Read one word of the line, prefetched.
    pub(crate) read: f64,
    /// Read one word of the line in a plain loop: what the processor finds by looking ahead on its own.
    pub(crate) read_plain: f64,
    /// Set one bit in the line, prefetched.
    pub(crate) write: f64,
    /// The same for two neighbouring lines, of a region half as large again: what a key at 0.1 % touches.
    pub(crate) pair_read: f64,
    pub(crate) pair_write: f64,
}

impl FloorFigures {
    pub(crate) fn best(self, other: Self) -> Self {
        Self {
            bytes: self.bytes,
            read: self.read.min(other.read),
            read_plain: self.read_plain.min(other.read_plain),
            write: self.write.min(other.write),
            pair_read: self.pair_read.min(other.pair_read),
            pair_write: self.pair_write.min(other.pair_write),
        }
    }
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([u64; 8]);

/// Measures over 10 bits for each of `items` keys, and over 15 for pairs, touching `touches` places in each loop.
pub(crate) fn measure(items: usize, touches: usize) -> FloorFigures {
    let words: Vec<u64> = (0..touches as u64).map(mix).collect();
    let bytes = (items * 10 / 8).max(size_of::<Line>());
    let mut region = Region::new(bytes.div_ceil(size_of::<Line>()));
    let (_, read_plain) =
        best_of_pieces(&words, |words| black_box(read_plain(region.lines(), words)) as usize & 1);
    let (read, write) = measure_ahead::<1>(&mut region, &words);
    drop(region);
    let mut region = Region::new((items * 15 / 8).div_ceil(size_of::<Line>()).max(2));
    let (pair_read, pair_write) = measure_ahead::<2>(&mut region, &words);
    FloorFigures { bytes, read, read_plain, write, pair_read, pair_write }
}

/// Reading and writing blocks of `L` lines, each in the best of all ways.
fn measure_ahead<const L: usize>(region: &mut Region, words: &[u64]) -> (f64, f64) {
    let lines = region.lines();
    let mut best = (f64::INFINITY, f64::INFINITY);
    for (ahead, into) in WAYS {
        let read = |words: &[u64]| black_box(read_ahead::<L>(lines, words, ahead, into)) as usize & 1;
        best.0 = best.0.min(best_of_pieces(words, read).1);
        let write = |words: &[u64]| {
            write_ahead::<L>(lines, words, ahead, into);
            0
        };
        best.1 = best.1.min(best_of_pieces(words, write).1);
    }
    best
}

#[inline(never)]
fn read_plain(lines: &[Line], words: &[u64]) -> u64 {
    let count = lines.len() as u64;
    words.iter().fold(0, |sum, &word| sum ^ lines[scale(word, count) as usize].0[0])
}

#[inline(never)]
fn read_ahead<const L: usize>(lines: &[Line], words: &[u64], ahead: usize, into: Level) -> u64 {
    let (blocks, _) = lines.as_chunks::<L>();
    let count = blocks.len() as u64;
    let mut sum = 0;
    for (word, later) in words.iter().zip(looking_ahead(words, ahead)) {
        prefetch_words(later);
        for line in &blocks[scale(*later, count) as usize] {
            prefetch(line, into);
        }
        for line in &blocks[scale(*word, count) as usize] {
            sum ^= line.0[0];
        }
    }
    sum
}

#[inline(never)]
fn write_ahead<const L: usize>(lines: &mut [Line], words: &[u64], ahead: usize, into: Level) {
    let (blocks, _) = lines.as_chunks_mut::<L>();
    let count = blocks.len() as u64;
    for (word, later) in words.iter().zip(looking_ahead(words, ahead)) {
        prefetch_words(later);
        for line in &blocks[scale(*later, count) as usize] {
            prefetch(line, into);
        }
        for line in &mut blocks[scale(*word, count) as usize] {
            line.0[0] |= 1 << (word & 63);
        }
    }
}

/// The words from so many on, then the first ones again, so that both loops do equal work on every word.
fn looking_ahead(words: &[u64], ahead: usize) -> impl Iterator<Item = &u64> {
    let (first, later) = words.split_at(ahead.min(words.len()));
    later.iter().chain(first)
}

fn prefetch<T>(place: *const T, into: Level) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which no address makes wrong.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        match into {
            Level::First => _mm_prefetch::<_MM_HINT_T0>(place.cast()),
            Level::Second => _mm_prefetch::<_MM_HINT_T1>(place.cast()),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (place, into);
}

/// Asks for the words some way behind this one: a processor that fetches as many lines as it can does not do so by itself.
fn prefetch_words(word: &u64) {
    prefetch(ptr::from_ref(word).wrapping_add(256), Level::First);
}

/// Lines on huge pages, where the kernel gives them.
///
/// Mapped, not allocated: a block that the allocator has used before may sit on small pages, and stays there.
struct Region {
    mapping: *mut c_void,
    bytes: usize,
    count: usize,
}

impl Region {
    fn new(count: usize) -> Self {
        // One huge page more, so that whole ones fit wherever the mapping starts.
        let bytes = (count * size_of::<Line>()).next_multiple_of(HUGE_PAGE) + HUGE_PAGE;
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at an address of the kernel's choice; no existing memory is touched.
        let mapping = unsafe { libc::mmap(ptr::null_mut(), bytes, access, kind, -1, 0) };
        assert_ne!(mapping, libc::MAP_FAILED, "no {bytes} bytes for the floor");
        ask_for_huge_pages(mapping, bytes);
        let mut region = Self { mapping, bytes, count };
        // Fresh pages are one shared page of zeros until they are written.
        region.lines().fill(Line([1; 8]));
        region
    }

    fn lines(&mut self) -> &mut [Line] {
        let offset = self.mapping.align_offset(HUGE_PAGE);
        // SAFETY: skipping to a huge page leaves at least `bytes - HUGE_PAGE` mapped bytes, which hold `count` lines;
        // mapped memory starts as zeros, which are lines; `self` is borrowed for as long as they are.
        unsafe { std::slice::from_raw_parts_mut(self.mapping.byte_add(offset).cast(), self.count) }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, of this length, and no line of it outlives `self`.
        unsafe { libc::munmap(self.mapping, self.bytes) };
    }
}

fn ask_for_huge_pages(mapping: *mut c_void, bytes: usize) {
    #[cfg(target_os = "linux")]
    // SAFETY: advice about a mapping that is ours; refused advice changes nothing.
    unsafe {
        libc::madvise(mapping, bytes, libc::MADV_HUGEPAGE);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (mapping, bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_loop_visits_every_word() {
        let words: Vec<u64> = (0..1000).map(mix).collect();
        for (ahead, into) in WAYS {
            let mut region = Region::new(100);
            let lines = region.lines();
            assert_eq!(read_ahead::<1>(lines, &words, ahead, into), read_plain(lines, &words));
            write_ahead::<1>(lines, &words, ahead, into);
            let is_set = |word: u64, line: &Line| line.0[0] >> (word & 63) & 1 == 1;
            assert!(words.iter().all(|&word| is_set(word, &lines[scale(word, 100) as usize])));
            lines.fill(Line([0; 8]));
            write_ahead::<2>(lines, &words, ahead, into);
            let (pairs, _) = lines.as_chunks::<2>();
            assert!(words.iter().all(|&w| pairs[scale(w, 50) as usize].iter().all(|line| is_set(w, line))));
        }
    }
}
