//! A Bloom filter in the bytes of another system, asked and changed where they lie.
//!
//! What the systems differ in is a [`Maker`]: the hash, the walk from a digest to its bits, the head of the file. What they share
//! is here: asking, in bulk and with memory fetched ahead, inserting, merging, counting. Bits are found by the byte, so the file
//! needs no unpacking and no alignment: Java's big-endian longs have bit i in byte (i / 8) xor 7, plain bytes and little-endian
//! words in byte i / 8.

use super::Format;
use crate::{
    error::{Full, MergeError, ParamsError},
    filter::{Filter, Insert, Inserted, Merge},
    hash::{Digest, Hasher, Key, KeyHash},
    params::{Promise, keys_for_empty},
    stats::{Family, Stats},
    store::{advise_huge, prefetch},
};
use alloc::vec::Vec;
use core::fmt;

/// Where a key is on its way from bit to bit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Walk {
    /// Where it is.
    pub x: u64,
    /// How far it goes each time.
    pub y: u64,
}

/// One system's way: its shape, its hash, its walk.
pub trait Maker: Clone + fmt::Debug {
    /// Which it is.
    const FORMAT: Format;
    /// What the number of a bit's byte is flipped by: 7 for big-endian words of 64 bits, 0 for bytes and little-endian words.
    const FLIP: usize;
    /// The hash.
    type Hash: KeyHash;

    /// The hash of this filter.
    fn hash(&self) -> Self::Hash;
    /// The same, as a value that can be compared.
    fn hasher(&self) -> Hasher;
    /// The bits that can be set.
    fn bits(&self) -> u64;
    /// How many of them each key sets.
    fn probes(&self) -> u32;
    /// What the filter was made for, or as good as.
    fn promise(&self) -> Promise;
    /// The start of a key's walk.
    fn walk(&self, digest: Digest) -> Walk;
    /// The next bit of a walk.
    fn next(&self, walk: &mut Walk) -> u64;
    /// Whether the bits of the other mean the same keys; the error names what differs.
    fn fits(&self, other: &Self) -> Result<(), MergeError>;

    /// The bytes of the bits.
    fn bytes(&self) -> u64 {
        8 * self.bits().div_ceil(64)
    }

    /// Takes note of new keys, where the maker counts them.
    fn count(&mut self, _new: u64) {}

    /// The keys that the maker has counted, if it does.
    fn counted(&self) -> u64 {
        0
    }
}

/// The most probes that a file may ask for. No system makes so many; a file that does would only cost time.
pub const MOST_PROBES: u32 = 255;

/// A Bloom filter of another system.
///
/// `B` is where the bits are: a `Vec<u8>`, a slice, or a mapped file.
#[derive(Clone)]
pub struct ForeignBloom<M, B = Vec<u8>> {
    maker: M,
    hasher: Hasher,
    bytes: B,
}

/// How many keys are in flight in a bulk call.
const BATCH: usize = 32;
/// How many probes of a key are looked at before the first question: with half of the bits set, a key that is not there is
/// known by then three times in four.
const AT_ONCE: u32 = 2;

impl<M: Maker> ForeignBloom<M> {
    /// An empty filter.
    pub fn empty(maker: M) -> Result<Self, ParamsError> {
        let len = maker.bytes();
        let out_of_memory = ParamsError::OutOfMemory { bytes: len };
        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(usize::try_from(len).map_err(|_| out_of_memory)?)
            .map_err(|_| out_of_memory)?;
        advise_huge(&mut bytes);
        bytes.resize(len as usize, 0);
        Ok(Self::over(maker, bytes))
    }
}

impl<M: Maker, B> ForeignBloom<M, B> {
    /// A filter whose bits are already there. The caller has checked that there are as many bytes as the maker says.
    pub(crate) fn over(maker: M, bytes: B) -> Self {
        Self { hasher: maker.hasher(), maker, bytes }
    }

    /// Its shape, as its maker has it.
    pub fn maker(&self) -> &M {
        &self.maker
    }

    /// The same filter with its bytes elsewhere.
    #[cfg(feature = "std")]
    pub(crate) fn map_bytes<O>(self, change: impl FnOnce(B) -> O) -> ForeignBloom<M, O> {
        ForeignBloom { maker: self.maker, hasher: self.hasher, bytes: change(self.bytes) }
    }

    pub(crate) fn maker_mut(&mut self) -> &mut M {
        &mut self.maker
    }
}

/// Byte and bit of a place.
#[inline(always)]
fn place<M: Maker>(bit: u64) -> (usize, u32) {
    ((bit >> 3) as usize ^ M::FLIP, (bit & 7) as u32)
}

impl<M: Maker, B: AsRef<[u8]>> ForeignBloom<M, B> {
    /// The bytes of the bits, as they stand in the file.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// The same filter in memory of its own, ready for inserts.
    pub fn to_heap(&self) -> ForeignBloom<M> {
        ForeignBloom::over(self.maker.clone(), self.bytes().to_vec())
    }

    /// The part of the bits that are set.
    pub fn fill(&self) -> f64 {
        let (words, rest) = self.bytes().as_chunks::<8>();
        let ones: u64 = words.iter().map(|word| u64::from(u64::from_le_bytes(*word).count_ones())).sum();
        let rest: u64 = rest.iter().map(|byte| u64::from(byte.count_ones())).sum();
        (ones + rest) as f64 / self.maker.bits() as f64
    }

    /// Whether the next `probes` bits of a walk are all set.
    #[inline(always)]
    fn all_set(&self, bytes: &[u8], walk: &mut Walk, probes: u32) -> bool {
        let mut all = 1;
        for _ in 0..probes {
            let (byte, bit) = place::<M>(self.maker.next(walk));
            all &= bytes[byte] >> bit;
        }
        all & 1 == 1
    }

    /// Asks for the memory of the next `probes` bits of a walk.
    #[inline(always)]
    fn fetch(&self, bytes: &[u8], mut walk: Walk, probes: u32) {
        for _ in 0..probes {
            prefetch(&bytes[place::<M>(self.maker.next(&mut walk)).0]);
        }
    }
}

impl<M: Maker, B: AsRef<[u8]>> Filter for ForeignBloom<M, B> {
    #[inline(always)]
    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    #[inline]
    fn may_contain_digest(&self, digest: Digest) -> bool {
        let first = self.maker.probes().min(AT_ONCE);
        let (bytes, mut walk) = (self.bytes(), self.maker.walk(digest));
        self.all_set(bytes, &mut walk, first) && self.all_set(bytes, &mut walk, self.maker.probes() - first)
    }

    #[inline]
    fn may_contain<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.may_contain_digest(key.digest(&self.maker.hash()))
    }

    fn may_contain_many_into<K: Key>(&self, keys: &[K], answers: &mut [bool]) {
        assert_eq!(keys.len(), answers.len(), "one answer for each key");
        let hash = self.maker.hash();
        self.answer(keys.iter().map(|key| key.digest(&hash)), answers);
    }

    /// Batch by batch: fetches the first probes of all, then the others of those that are still in question.
    fn answer(&self, mut digests: impl Iterator<Item = Digest>, answers: &mut [bool]) {
        let bytes = self.bytes();
        let first = self.maker.probes().min(AT_ONCE);
        let others = self.maker.probes() - first;
        let mut batch = [Walk::default(); BATCH];
        for answers in answers.chunks_mut(BATCH) {
            let mut filled = 0;
            for (walk, digest) in batch[..answers.len()].iter_mut().zip(&mut digests) {
                *walk = self.maker.walk(digest);
                self.fetch(bytes, *walk, first);
                filled += 1;
            }
            for (walk, answer) in batch[..filled].iter_mut().zip(&mut *answers) {
                *answer = self.all_set(bytes, walk, first);
                if *answer {
                    self.fetch(bytes, *walk, others);
                }
            }
            for (walk, answer) in batch[..filled].iter_mut().zip(&mut *answers) {
                *answer = *answer && self.all_set(bytes, walk, others);
            }
        }
    }

    fn stats(&self) -> Stats {
        let (bits, probes) = (self.maker.bits() as f64, f64::from(self.maker.probes()));
        let (fill, promise) = (self.fill(), self.maker.promise());
        let empty = (1.0 - fill).max(0.5 / bits);
        Stats {
            family: Family::Bloom,
            items: promise.items,
            fpp: promise.fpp,
            bits: self.maker.bits(),
            fill,
            estimated_items: if bits > 1.0 { keys_for_empty(empty, 1.0 / bits) / probes } else { fill },
            fpp_now: libm::pow(fill, probes),
        }
    }

    fn size_in_bytes(&self) -> usize {
        self.bytes().len()
    }
}

impl<M: Maker, B: AsRef<[u8]> + AsMut<[u8]>> ForeignBloom<M, B> {
    /// Forgets all keys.
    pub fn clear(&mut self) {
        self.bytes.as_mut().fill(0);
    }

    /// Sets the bits of a walk; tells if one of them was not set before.
    #[inline(always)]
    fn set(&mut self, mut walk: Walk) -> bool {
        let bytes = self.bytes.as_mut();
        let mut before = 1;
        for _ in 0..self.maker.probes() {
            let (byte, bit) = place::<M>(self.maker.next(&mut walk));
            before &= bytes[byte] >> bit;
            bytes[byte] |= 1 << bit;
        }
        before & 1 == 0
    }
}

impl<M: Maker, B: AsRef<[u8]> + AsMut<[u8]>> Insert for ForeignBloom<M, B> {
    type Outcome<T> = T;

    fn settled<T>(outcome: T) -> Result<T, Full> {
        Ok(outcome)
    }

    #[inline]
    fn insert_digest(&mut self, digest: Digest) -> Inserted {
        let new = self.set(self.maker.walk(digest));
        self.maker.count(new.into());
        Inserted::from_new(new)
    }

    #[inline]
    fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Inserted {
        let digest = key.digest(&self.maker.hash());
        self.insert_digest(digest)
    }

    fn insert_many<K: Key>(&mut self, keys: &[K]) {
        let hash = self.maker.hash();
        self.insert_from(keys.iter().map(|key| key.digest(&hash)));
    }

    fn insert_from(&mut self, mut digests: impl Iterator<Item = Digest>) {
        let mut batch = [Walk::default(); BATCH];
        loop {
            let mut filled = 0;
            for (walk, digest) in batch.iter_mut().zip(&mut digests) {
                *walk = self.maker.walk(digest);
                self.fetch(self.bytes.as_ref(), *walk, self.maker.probes());
                filled += 1;
            }
            let new: u64 = batch[..filled].iter().map(|walk| u64::from(self.set(*walk))).sum();
            self.maker.count(new);
            if filled < BATCH {
                return;
            }
        }
    }
}

impl<M: Maker, B: AsRef<[u8]> + AsMut<[u8]>, O: AsRef<[u8]>> Merge<ForeignBloom<M, O>>
    for ForeignBloom<M, B>
{
    fn union(&mut self, other: &ForeignBloom<M, O>) -> Result<(), MergeError> {
        self.hasher.fits(&other.hasher)?;
        self.maker.fits(&other.maker)?;
        self.bytes.as_mut().iter_mut().zip(other.bytes()).for_each(|(to, from)| *to |= from);
        // Which of the other's keys were new, the bits no longer tell; systems that count add up.
        self.maker.count(other.maker.counted());
        Ok(())
    }
}

impl<M: Maker, B: AsRef<[u8]>, O: AsRef<[u8]>> PartialEq<ForeignBloom<M, O>> for ForeignBloom<M, B> {
    /// Same shape, same hash, same bits.
    fn eq(&self, other: &ForeignBloom<M, O>) -> bool {
        self.hasher == other.hasher && self.maker.fits(&other.maker).is_ok() && self.bytes() == other.bytes()
    }
}

impl<M: fmt::Debug, B> fmt::Debug for ForeignBloom<M, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForeignBloom").field("maker", &self.maker).finish_non_exhaustive()
    }
}
