//! The table of counters.

use super::{layout::counters, sizing::CountMinParams};
use crate::{
    bulk::{Ahead, pipeline},
    error::{MergeError, ParamsError},
    filter::Merge,
    hash::{Digest, Hasher, Key},
    store::{Heap, Line, Store, StoreMut, prefetch, words, words_mut},
};
use alloc::vec::Vec;
use core::{cell::RefCell, fmt};

/// Estimates how often each key has come, never too low.
///
/// See [the module page](crate::sketch::count_min) for how it works and how far off it may be.
///
/// ```
/// use gowk::CountMin;
///
/// let mut hits = CountMin::new(0.0001, 0.01)?;       // over by 0.01 % of all at most, in 99 of 100 cases
/// hits.add("/index.html");
/// hits.add_times("/index.html", 41);
/// hits.add_many(&["/a", "/b", "/a"]);
/// assert_eq!(hits.estimate("/index.html"), 42);
/// assert_eq!(hits.total(), 45);
/// # Ok::<(), gowk::ParamsError>(())
/// ```
#[derive(Clone)]
pub struct CountMin<S = Heap> {
    pub(super) params: CountMinParams,
    pub(super) hasher: Hasher,
    pub(super) total: u64,
    pub(super) store: S,
}

impl CountMin {
    /// An empty sketch whose estimates are over by at most `error` times all occurrences, except with the chance `miss`;
    /// with a random seed.
    #[cfg(feature = "std")]
    pub fn new(error: f64, miss: f64) -> Result<Self, ParamsError> {
        Self::with_params(CountMinParams::for_error(error, miss)?, Hasher::new(crate::hash::Seed::random()))
    }

    /// An empty sketch.
    pub fn with_params(params: CountMinParams, hasher: Hasher) -> Result<Self, ParamsError> {
        Ok(Self { params, hasher, total: 0, store: Heap::zeroed(params.lines())? })
    }
}

impl<S> CountMin<S> {
    /// The shape.
    pub fn params(&self) -> &CountMinParams {
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

    /// By how much an estimate may be over now, except with the chance that [`CountMinParams::miss`] gives.
    pub fn error(&self) -> f64 {
        self.params.error_at(self.total)
    }
}

impl<S: Store> CountMin<S> {
    /// The counters.
    pub fn lines(&self) -> &[Line] {
        self.store.lines()
    }

    /// How often the key of this digest has come, or more. A key that came [`CEILING`](Self::CEILING) times or more gets that.
    #[inline(always)]
    pub fn estimate_digest(&self, digest: Digest) -> u64 {
        least(words(self.store.lines()), self.params, digest).into()
    }

    /// How often a key has come, or more. A key that came [`CEILING`](Self::CEILING) times or more gets that.
    #[inline(always)]
    pub fn estimate<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.estimate_digest(self.hasher.digest(key))
    }

    /// How often each of these keys (or [`Digest`]s) has come, or more; faster than one by one where the table is larger than
    /// the cache.
    pub fn estimate_many<K: Key>(&self, keys: &[K]) -> Vec<u64> {
        let words = words(self.store.lines());
        let mut estimates = Vec::with_capacity(keys.len());
        pipeline(
            keys.iter().map(|key| self.hasher.digest(key)),
            ahead(self.params),
            |digest| fetch(words, self.params, digest),
            |digest| estimates.push(least(words, self.params, digest).into()),
        );
        estimates
    }

    /// The same sketch in memory of its own, ready for more.
    pub fn to_heap(&self) -> Result<CountMin, ParamsError> {
        let Self { params, hasher, total, .. } = *self;
        Ok(CountMin { params, hasher, total, store: Heap::copy_of(self.lines())? })
    }

    /// The memory that the counters take.
    pub fn size_in_bytes(&self) -> usize {
        size_of_val(self.lines())
    }

    /// Where a counter stops. It never wraps: what has reached this came at least so often.
    pub const CEILING: u64 = u32::MAX as u64;
}

impl<S: StoreMut> CountMin<S> {
    /// Counts a key.
    #[inline(always)]
    pub fn add<K: Key + ?Sized>(&mut self, key: &K) {
        self.add_times(key, 1);
    }

    /// Counts a key that came so many times.
    #[inline(always)]
    pub fn add_times<K: Key + ?Sized>(&mut self, key: &K, times: u64) {
        let digest = self.hasher.digest(key);
        self.add_digest(digest, times);
    }

    /// Counts the key of this digest, that came so many times.
    #[inline(always)]
    pub fn add_digest(&mut self, digest: Digest, times: u64) {
        self.total = self.total.saturating_add(times);
        raise(words_mut(self.store.lines_mut()), self.params, digest, clamp(times));
    }

    /// Counts each of these keys (or [`Digest`]s); faster than one by one where the table is larger than the cache.
    pub fn add_many<K: Key>(&mut self, keys: &[K]) {
        let hasher = self.hasher;
        self.total = self.total.saturating_add(keys.len() as u64);
        self.add_from(keys.iter().map(|key| hasher.digest(key)));
    }

    fn add_from(&mut self, digests: impl Iterator<Item = Digest>) {
        let params = self.params;
        let words = RefCell::new(words_mut(self.store.lines_mut()));
        pipeline(
            digests,
            ahead(params),
            |digest| fetch(&words.borrow(), params, digest),
            |digest| raise(&mut words.borrow_mut(), params, digest, 1),
        );
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.total = 0;
        self.store.lines_mut().fill(Line::ZERO);
    }
}

impl<S: StoreMut, O: Store> Merge<CountMin<O>> for CountMin<S> {
    /// Adds up the counters. Shape, hash and way of updating must be the same.
    ///
    /// Plain sketches become the very sketch of both streams. Conservative ones keep both bounds, for the sum of two counters
    /// that are not too low is not, and is no higher than the plain one; but had one sketch seen both streams it would be
    /// lower still.
    fn union(&mut self, other: &CountMin<O>) -> Result<(), MergeError> {
        self.hasher.fits(&other.hasher)?;
        let (ours, theirs) = (self.params, other.params);
        MergeError::unless_same("width", ours.width(), theirs.width())?;
        MergeError::unless_same("depth", ours.depth().into(), theirs.depth().into())?;
        MergeError::unless_same(
            "conservative update",
            ours.is_conservative().into(),
            theirs.is_conservative().into(),
        )?;
        self.total = self.total.saturating_add(other.total);
        for (ours, &theirs) in words_mut(self.store.lines_mut()).iter_mut().zip(words(other.lines())) {
            let low = (*ours as u32).saturating_add(theirs as u32);
            let high = ((*ours >> 32) as u32).saturating_add((theirs >> 32) as u32);
            *ours = u64::from(high) << 32 | u64::from(low);
        }
        Ok(())
    }
}

impl<S: Store, O: Store> PartialEq<CountMin<O>> for CountMin<S> {
    /// Same shape, same hasher, same counters.
    fn eq(&self, other: &CountMin<O>) -> bool {
        self.params == other.params
            && self.hasher == other.hasher
            && self.total == other.total
            && self.lines() == other.lines()
    }
}

impl<S> fmt::Debug for CountMin<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountMin")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .field("total", &self.total)
            .finish_non_exhaustive()
    }
}

impl<K: Key, S: StoreMut> Extend<K> for CountMin<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        let hasher = self.hasher;
        let mut came = 0u64;
        self.add_from(keys.into_iter().map(|key| hasher.digest(&key)).inspect(|_| came += 1));
        self.total = self.total.saturating_add(came);
    }
}

/// Two counters share a word; in a file they stand one after the other.
#[inline(always)]
fn counter(words: &[u64], at: usize) -> u32 {
    (words[at / 2] >> (at % 2 * 32)) as u32
}

#[inline(always)]
fn set_counter(words: &mut [u64], at: usize, value: u32) {
    let shift = at % 2 * 32;
    let word = &mut words[at / 2];
    *word = *word & !(u64::from(u32::MAX) << shift) | u64::from(value) << shift;
}

/// The smallest of a key's counters.
#[inline(always)]
fn least(words: &[u64], params: CountMinParams, digest: Digest) -> u32 {
    counters(params, digest).fold(u32::MAX, |least, at| least.min(counter(words, at)))
}

/// Adds to a key's counters, or raises them to the new estimate.
#[inline(always)]
fn raise(words: &mut [u64], params: CountMinParams, digest: Digest, times: u32) {
    if params.is_conservative() {
        let estimate = least(words, params, digest).saturating_add(times);
        for at in counters(params, digest) {
            let value = counter(words, at).max(estimate);
            set_counter(words, at, value);
        }
    } else {
        for at in counters(params, digest) {
            let value = counter(words, at).saturating_add(times);
            set_counter(words, at, value);
        }
    }
}

/// How many keys are on their way in a bulk call, each with a counter in every row.
fn ahead(params: CountMinParams) -> Ahead<128> {
    Ahead::of(params.depth() as usize, params.lines() as usize * Line::BYTES)
}

#[inline(always)]
fn fetch(words: &[u64], params: CountMinParams, digest: Digest) -> Digest {
    counters(params, digest).for_each(|at| prefetch(&words[at / 2]));
    digest
}

#[inline(always)]
fn clamp(times: u64) -> u32 {
    u32::try_from(times).unwrap_or(u32::MAX)
}
