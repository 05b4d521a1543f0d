//! Where the bits live: lines of 64 bytes on the heap, in a mapped file, or shared between threads.
//!
//! A filter is generic over its [`Store`], so that a mapped file is asked by the same code as the heap:
//!
//! | store | type | insert |
//! |---|---|---|
//! | [`Heap`] | 64-byte aligned memory, on huge pages where it is large | yes |
//! | [`Mapped`] | a file, opened in O(1), shared by every process that maps it | no |
//! | [`Shared`] | atomic words | through `&self`, from many threads |

#[cfg(feature = "std")]
mod bytes;
mod chain;
mod eight;
mod fetch;
mod heap;
#[cfg(feature = "std")]
mod mapped;
mod nearby;
mod non_empty;
mod pages;
mod shared;
mod unaligned;

#[cfg(feature = "std")]
pub use bytes::MappedBytes;
pub(crate) use chain::{By, Bytes, Chain, Found, FoundEight, Long, MOST_LOG, Short, Slots};
pub(crate) use eight::{
    LinesFor, LinesForMut, LinesOfEight, LinesOfEightMut, OfTheFirst, are_short, of_the_first,
};
pub use fetch::prefetch;
pub(crate) use fetch::{Fetch, is_far, is_soon_there, prefetch_beyond};
pub use heap::Heap;
#[cfg(feature = "std")]
pub use mapped::Mapped;
pub(crate) use nearby::{Nearby, NearbyLines, NearbyLinesMut, Stepping, near};
pub(crate) use non_empty::{Blocks, BlocksMut, NonEmpty, Place, PlaceMut};
pub use pages::{advise_huge, align_to_lines_only};
pub use shared::Shared;
pub(crate) use shared::SharedLine;
pub(crate) use unaligned::eight_words;

use crate::error::ParamsError;

/// 512 bits in one cache line, as eight words. On disk each word is little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(C, align(64))]
pub struct Line(pub [u64; 8]);

impl Line {
    /// The bytes of a line.
    pub const BYTES: usize = 64;
    /// The bits of a line.
    pub const BITS: u64 = 512;
    /// No bit set.
    pub const ZERO: Self = Self([0; 8]);

    /// How many bits are set.
    #[inline]
    pub fn ones(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Sets all bits that are set in the other.
    #[inline(always)]
    pub fn or(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(to, from)| *to |= from);
    }

    /// Clears all bits that are not set in the other.
    #[inline(always)]
    pub fn and(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(to, from)| *to &= from);
    }

    /// The line as it stands in a file.
    pub fn to_le_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip(self.0) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// The line that a file holds.
    pub fn from_le_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let (words, _) = bytes.as_chunks::<8>();
        Self(core::array::from_fn(|i| u64::from_le_bytes(words[i])))
    }
}

/// Memory that can be read as lines. Only the stores of this module are such.
pub trait Store: sealed::Sealed {
    /// All of it; always the same number of lines, unless the owner of the store itself cuts it.
    fn lines(&self) -> &[Line];
}

/// The length that a store once had is relied upon: see [`NonEmpty`].
mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Heap {}
    #[cfg(feature = "std")]
    impl Sealed for super::Mapped {}
    impl<S: Sealed + ?Sized> Sealed for &S {}
}

/// Memory that can be written, too.
pub trait StoreMut: Store {
    /// All of it.
    fn lines_mut(&mut self) -> &mut [Line];
}

impl<S: Store + ?Sized> Store for &S {
    #[inline(always)]
    fn lines(&self) -> &[Line] {
        (**self).lines()
    }
}

/// Some words, at least one, that a number names alike often: number x stands for bit x mod 64 of word x W / 2^64.
pub(crate) struct SpreadBits<W>(W);

impl<W: AsRef<[u64]>> SpreadBits<W> {
    #[inline(always)]
    fn index(&self, x: u64) -> usize {
        let words = self.0.as_ref();
        let at = ((u128::from(x) * words.len() as u128) >> 64) as usize;
        debug_assert!(at < words.len());
        at
    }
}

impl<'a> SpreadBits<&'a [u64]> {
    /// The first `count` words of these lines.
    #[inline(always)]
    pub(crate) fn new(lines: &'a [Line], count: u64) -> Self {
        assert!(count > 0, "at least one word");
        Self(&words(lines)[..count as usize])
    }

    /// The bit, above it what comes.
    #[inline(always)]
    pub(crate) fn bit(&self, x: u64) -> u64 {
        // SAFETY: x < 2^64, so x W / 2^64 < W, and `new` saw that W > 0.
        unsafe { self.0.get_unchecked(self.index(x)) >> (x % 64) }
    }

    /// Asks for the word.
    #[inline(always)]
    pub(crate) fn prefetch(&self, x: u64) {
        // SAFETY: as in `bit`.
        prefetch(unsafe { self.0.get_unchecked(self.index(x)) });
    }
}

impl<'a> SpreadBits<&'a mut [u64]> {
    /// The first `count` words of these lines, to write.
    #[inline(always)]
    pub(crate) fn new_mut(lines: &'a mut [Line], count: u64) -> Self {
        assert!(count > 0, "at least one word");
        Self(&mut words_mut(lines)[..count as usize])
    }

    /// Sets the bit and gives what was there before, above it what comes.
    #[inline(always)]
    pub(crate) fn set(&mut self, x: u64) -> u64 {
        let at = self.index(x);
        // SAFETY: as in `SpreadBits::bit`.
        let word = unsafe { self.0.get_unchecked_mut(at) };
        let before = *word >> (x % 64);
        *word |= 1 << (x % 64);
        before
    }
}

/// How many bits are set in all.
pub(crate) fn ones(lines: &[Line]) -> u64 {
    lines.iter().map(|line| u64::from(line.ones())).sum()
}

/// The lines as one run of words.
#[inline(always)]
pub(crate) fn words(lines: &[Line]) -> &[u64] {
    // SAFETY: `Line` is `repr(C)` around `[u64; 8]` and 64 bytes long, so lines lie as words without gaps.
    unsafe { core::slice::from_raw_parts(lines.as_ptr().cast(), lines.len() * 8) }
}

/// The lines as one run of words, to write.
#[inline(always)]
pub(crate) fn words_mut(lines: &mut [Line]) -> &mut [u64] {
    // SAFETY: as in `words`; the exclusive borrow is handed on.
    unsafe { core::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), lines.len() * 8) }
}

/// The lines as blocks of eight 32-bit words, two to a line.
///
/// On a big-endian machine the two words of each half of a `u64` change places; the bits are the same in number, and files
/// are written by the line, so only a filter that is shared between such machines in memory would see it.
#[inline(always)]
pub(crate) fn split_blocks(lines: &[Line]) -> &[[u32; 8]] {
    // SAFETY: a `Line` is 64 bytes without padding, more strictly aligned than the words.
    unsafe { core::slice::from_raw_parts(lines.as_ptr().cast(), lines.len() * 2) }
}

/// As [`split_blocks`], to write.
#[inline(always)]
pub(crate) fn split_blocks_mut(lines: &mut [Line]) -> &mut [[u32; 8]] {
    // SAFETY: as in `split_blocks`; the exclusive borrow is handed on.
    unsafe { core::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), lines.len() * 2) }
}

/// The lines as the bytes of a file. Only where the machine's own order is the file's.
#[cfg(target_endian = "little")]
#[inline(always)]
pub(crate) fn bytes(lines: &[Line]) -> &[u8] {
    // SAFETY: a `Line` is 64 initialised bytes without padding.
    unsafe { core::slice::from_raw_parts(lines.as_ptr().cast(), size_of_val(lines)) }
}

/// The lines as bytes in the machine's own order, to read a file into, or to write across words.
#[inline(always)]
pub(crate) fn bytes_mut(lines: &mut [Line]) -> &mut [u8] {
    // SAFETY: a `Line` is 64 bytes without padding, and any bytes are a `Line`.
    unsafe { core::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), size_of_val(lines)) }
}

/// `lines` as a length that this machine can address, or what to do about it.
pub(crate) fn addressable(lines: u64) -> Result<usize, ParamsError> {
    let bytes = u128::from(lines) * Line::BYTES as u128;
    match isize::try_from(bytes) {
        Ok(_) => Ok(lines as usize),
        Err(_) => Err(ParamsError::TooLarge { bytes }),
    }
}
