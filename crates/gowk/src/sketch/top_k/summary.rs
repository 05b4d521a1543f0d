//! The summary itself: slots of kept keys, and a filter before them.

use super::{
    arena::{Arena, Place},
    index::Index,
    queue::Queue,
    sizing::TopKParams,
};
use crate::{
    bulk::{Ahead, pipeline},
    error::ParamsError,
    hash::{Digest, Hasher},
    store::{Heap, Line, Store, StoreMut, prefetch, words, words_mut},
};
use alloc::vec::Vec;
use core::fmt;

/// A kept key and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heavy {
    /// Its bytes.
    pub key: Vec<u8>,
    /// How often it came, at most.
    pub count: u64,
    /// By how much `count` may be over, at most.
    pub error: u64,
    /// Whether it is surely one of the k keys that came most often (or as often as the last of them).
    pub sure: bool,
}

impl Heavy {
    /// How often it came, at least.
    pub fn at_least(&self) -> u64 {
        self.count - self.error
    }
}

/// What is known of the count of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// How often it came, at most.
    pub count: u64,
    /// By how much `count` may be over, at most.
    pub error: u64,
}

/// The keys that may be among the k that came most often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidates {
    /// Them, the highest count first.
    pub keys: Vec<Heavy>,
    /// Whether all keys that may be are named. If so, a second pass that counts just these finds the exact answer.
    pub complete: bool,
}

/// A slot as it lies in memory and in a file: digest, count, error, place of the key.
pub(super) type Slot = [u64; 4];
pub(super) const H1: usize = 0;
pub(super) const COUNT: usize = 1;
pub(super) const ERROR: usize = 2;
pub(super) const PLACE: usize = 3;

/// The keys that came most often, with their bytes and counts; each count with a bound on its error that always holds.
///
/// See [the module page](crate::sketch::top_k) for how it works and what it was chosen over.
///
/// ```
/// use gowk::TopK;
///
/// let mut queries = TopK::new(2)?;
/// for query in ["rust", "cuckoo", "rust", "bloom", "rust", "cuckoo"] {
///     queries.add(query);
/// }
/// let top = queries.top();
/// assert_eq!((top[0].key.as_slice(), top[0].count, top[0].error), (&b"rust"[..], 3, 0));
/// assert_eq!(top[1].key, b"cuckoo");
/// assert!(top.iter().all(|heavy| heavy.sure));
/// # Ok::<(), gowk::ParamsError>(())
/// ```
#[derive(Clone)]
pub struct TopK {
    pub(super) params: TopKParams,
    pub(super) hasher: Hasher,
    pub(super) total: u64,
    pub(super) used: usize,
    pub(super) slots: Heap,
    pub(super) cells: Heap,
    pub(super) arena: Arena,
    index: Index,
    /// There once all slots are used.
    queue: Option<Queue>,
}

impl TopK {
    /// An empty summary that names `k` keys, with a random seed.
    #[cfg(feature = "std")]
    pub fn new(k: u64) -> Result<Self, ParamsError> {
        Self::with_params(TopKParams::for_k(k)?, Hasher::new(crate::hash::Seed::random()))
    }

    /// An empty summary. Equal parameters, hashers and streams give equal summaries, bit for bit.
    pub fn with_params(params: TopKParams, hasher: Hasher) -> Result<Self, ParamsError> {
        let slots = params.slots() as usize;
        Ok(Self {
            params,
            hasher,
            total: 0,
            used: 0,
            slots: Heap::zeroed(params.slots().div_ceil(2))?,
            cells: Heap::zeroed(params.cells() / 8)?,
            arena: Arena::with_room(2 * slots)?,
            index: Index::new(slots),
            queue: None,
        })
    }

    /// The size.
    pub fn params(&self) -> &TopKParams {
        &self.params
    }

    /// How it hashes keys.
    pub fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    /// All occurrences of all keys.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// By how much any count may be over now. Each has a bound of its own, mostly far lower.
    pub fn error(&self) -> u64 {
        self.params.error_at(self.total)
    }

    /// The memory it takes, without that of an allocator.
    pub fn size_in_bytes(&self) -> usize {
        let lines = self.slots.lines().len() + self.cells.lines().len() + self.arena.lines().len();
        lines * 64 + self.params.slots() as usize * (16 + 8 * 2)
    }

    /// Counts a key.
    #[inline]
    pub fn add<K: AsRef<[u8]> + ?Sized>(&mut self, key: &K) {
        self.add_times(key, 1);
    }

    /// Counts a key that came so many times.
    #[inline]
    pub fn add_times<K: AsRef<[u8]> + ?Sized>(&mut self, key: &K, times: u64) {
        let key = key.as_ref();
        self.add_digest(self.hasher.bytes(key), key, times);
    }

    /// Counts each of these keys; faster than one by one where the summary is larger than the cache.
    pub fn add_many<K: AsRef<[u8]>>(&mut self, keys: &[K]) {
        let hasher = self.hasher;
        let ahead = Ahead::of(2, size_of_val(self.cells.lines()));
        let summary = core::cell::RefCell::new(self);
        pipeline(
            keys.iter().map(AsRef::as_ref),
            ahead,
            |key: &[u8]| {
                let digest = hasher.bytes(key);
                let summary = summary.borrow();
                prefetch(summary.index.home(digest.h1));
                prefetch(&words(summary.cells.lines())[summary.cell(digest)]);
                (digest, key)
            },
            |(digest, key)| summary.borrow_mut().add_digest(digest, key, 1),
        );
    }

    /// Counts a key whose digest under [`hasher`](Self::hasher) the caller has at hand.
    ///
    /// # Panics
    /// If there is no memory for the bytes of the key.
    pub fn add_digest(&mut self, digest: Digest, key: &[u8], times: u64) {
        if times == 0 {
            return;
        }
        self.total = self.total.saturating_add(times);
        if let Some(slot) = self.find(digest, key) {
            let count = &mut self.slots_mut()[slot as usize][COUNT];
            *count = count.saturating_add(times);
            return;
        }
        let cell = self.cell(digest);
        let error = words(self.cells.lines())[cell];
        let count = error.saturating_add(times);
        let Some(queue) = &mut self.queue else {
            self.fill_slot(digest, key, count, error);
            return;
        };
        let slots = words(self.slots.lines()).as_chunks::<4>().0;
        // The bound first: it is at hand, and turns most of the rare keys away.
        if count <= queue.bound() || count <= queue.least(|slot| slots[slot as usize][COUNT]).0 {
            words_mut(self.cells.lines_mut())[cell] = count;
            return;
        }
        let (_, slot) = queue.least(|slot| slots[slot as usize][COUNT]);
        self.replace_slot(slot, digest, key, count, error);
    }

    /// What is known of the count of a key.
    pub fn estimate<K: AsRef<[u8]> + ?Sized>(&self, key: &K) -> Estimate {
        let digest = self.hasher.bytes(key.as_ref());
        if let Some(slot) = self.find(digest, key.as_ref()) {
            let slot = self.slots()[slot as usize];
            return Estimate { count: slot[COUNT], error: slot[ERROR] };
        }
        // It may as well not have come at all.
        let most = words(self.cells.lines())[self.cell(digest)];
        Estimate { count: most, error: most }
    }

    /// The k keys with the highest counts, the highest first; equal ones in the order of their bytes. Fewer, if fewer came.
    pub fn top(&self) -> Vec<Heavy> {
        let mut top = self.ranked();
        top.truncate(self.params.k() as usize);
        top
    }

    /// All keys that may be among the k that came most often: for a second pass over the data, which then has to count no
    /// others.
    pub fn candidates(&self) -> Candidates {
        let mut keys = self.ranked();
        let mut least: Vec<u64> = keys.iter().map(Heavy::at_least).collect();
        least.sort_unstable_by(|a, b| b.cmp(a));
        // The last of the k came so often at least: what surely came less often is out.
        let bar = least.get(self.params.k() as usize - 1).copied().unwrap_or(0);
        keys.retain(|heavy| heavy.count >= bar);
        Candidates { keys, complete: self.most_of_others() <= bar }
    }

    /// All kept keys, the highest count first, the sure ones of the first k marked.
    fn ranked(&self) -> Vec<Heavy> {
        let mut kept = self.kept();
        let k = self.params.k() as usize;
        let rival = kept.get(k).map_or(0, |next| next.count).max(self.most_of_others());
        for heavy in kept.iter_mut().take(k) {
            heavy.sure = heavy.at_least() >= rival;
        }
        kept
    }

    /// All kept keys, the highest count first; equal ones in the order of their bytes.
    pub(super) fn kept(&self) -> Vec<Heavy> {
        let heavy = |slot: &Slot| Heavy {
            key: self.arena.key(Place(slot[PLACE])),
            count: slot[COUNT],
            error: slot[ERROR],
            sure: false,
        };
        let mut kept: Vec<Heavy> = self.slots()[..self.used].iter().map(heavy).collect();
        kept.sort_unstable_by(|a, b| b.count.cmp(&a.count).then_with(|| a.key.cmp(&b.key)));
        kept
    }

    /// No key that is not kept came more often.
    fn most_of_others(&self) -> u64 {
        words(self.cells.lines()).iter().copied().max().unwrap_or(0)
    }

    #[inline(always)]
    pub(super) fn slots(&self) -> &[Slot] {
        words(self.slots.lines()).as_chunks().0
    }

    #[inline(always)]
    fn slots_mut(&mut self) -> &mut [Slot] {
        words_mut(self.slots.lines_mut()).as_chunks_mut().0
    }

    #[inline(always)]
    fn find(&self, digest: Digest, key: &[u8]) -> Option<u32> {
        let slots = self.slots();
        self.index.find(digest.h1, |slot| {
            let slot = &slots[slot as usize];
            slot[H1] == digest.h1 && self.arena.holds(Place(slot[PLACE]), key)
        })
    }

    /// Whether a key is kept.
    pub(super) fn keeps(&self, key: &[u8]) -> bool {
        self.find(self.hasher.bytes(key), key).is_some()
    }

    /// The filter's cell of a key. By the second word of the digest, so that it is not tied to the place in the index.
    #[inline(always)]
    pub(super) fn cell(&self, digest: Digest) -> usize {
        ((u128::from(digest.h2) * u128::from(self.params.cells())) >> 64) as usize
    }

    /// Keeps a key in a free slot.
    pub(super) fn fill_slot(&mut self, digest: Digest, key: &[u8], count: u64, error: u64) {
        let slot = self.used;
        self.used += 1;
        let place = self.store_key(key);
        self.slots_mut()[slot] = [digest.h1, count, error, place.0];
        self.index.insert(digest.h1, slot as u32);
        if self.used as u64 == self.params.slots() {
            self.queue = Some(Queue::new(self.slots()[..self.used].iter().map(|slot| slot[COUNT])));
        }
    }

    /// Keeps a key instead of another, whose count becomes what the filter knows of it.
    fn replace_slot(&mut self, slot: u32, digest: Digest, key: &[u8], count: u64, error: u64) {
        let slots = words(self.slots.lines()).as_chunks::<4>().0;
        let [old_h1, old_count, _, old_place] = slots[slot as usize];
        self.index.remove(old_h1, slot, |other| slots[other as usize][H1]);
        self.index.insert(digest.h1, slot);
        let cell = self.cell(Digest::from(old_h1));
        let most = &mut words_mut(self.cells.lines_mut())[cell];
        *most = (*most).max(old_count);

        let old_place = Place(old_place);
        let place = if key.len().div_ceil(8) <= old_place.words() {
            self.arena.replace(old_place, key)
        } else {
            self.arena.clear(old_place);
            // So that packing the arena does not keep it.
            self.slots_mut()[slot as usize][PLACE] = Place::new(0, 0).0;
            self.store_key(key)
        };
        self.slots_mut()[slot as usize] = [digest.h1, count, error, place.0];
    }

    fn store_key(&mut self, key: &[u8]) -> Place {
        if !self.arena.has_room_for(key) {
            self.pack(key.len().div_ceil(8)).expect("memory for the bytes of the kept keys");
        }
        self.arena.push(key)
    }

    /// Moves the keys together, into an arena half of which is free once `more` words have come.
    fn pack(&mut self, more: usize) -> Result<(), ParamsError> {
        let mut arena = Arena::with_room(2 * (self.arena.live() + more))?;
        for slot in &mut words_mut(self.slots.lines_mut()).as_chunks_mut::<4>().0[..self.used] {
            slot[PLACE] = arena.push(&self.arena.key(Place(slot[PLACE]))).0;
        }
        self.arena = arena;
        Ok(())
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        let places: Vec<Place> = self.slots()[..self.used].iter().map(|slot| Place(slot[PLACE])).collect();
        for place in places {
            self.arena.clear(place);
        }
        self.arena.reset();
        self.index.clear();
        self.queue = None;
        self.slots.lines_mut().fill(Line::ZERO);
        self.cells.lines_mut().fill(Line::ZERO);
        (self.total, self.used) = (0, 0);
    }
}

impl PartialEq for TopK {
    /// Same size, same hasher, same keys in the same slots with the same counts, same filter: what comes next finds them equal.
    fn eq(&self, other: &Self) -> bool {
        let same_slot = |(ours, theirs): (&Slot, &Slot)| {
            ours[..PLACE] == theirs[..PLACE]
                && self.arena.key(Place(ours[PLACE])) == other.arena.key(Place(theirs[PLACE]))
        };
        self.params == other.params
            && self.hasher == other.hasher
            && (self.total, self.used) == (other.total, other.used)
            && self.cells == other.cells
            && self.slots()[..self.used].iter().zip(other.slots()).all(same_slot)
    }
}

impl fmt::Debug for TopK {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TopK")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .field("total", &self.total)
            .finish_non_exhaustive()
    }
}

impl<K: AsRef<[u8]>> Extend<K> for TopK {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| self.add(&key));
    }
}
