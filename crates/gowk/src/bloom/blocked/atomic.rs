//! The blocked filter for many threads at once.

use super::{
    filter::BlockedBloom,
    layout::{block_of, windows, words},
    sizing::BlockedParams,
};
use crate::{
    builder::{Build, Builder},
    bulk::{Stages, staged},
    error::ParamsError,
    filter::Inserted,
    hash::{Digest, Hasher, Key},
    simd::{Isa, Machine, Task, Windows},
    store::{Shared, SharedLine, prefetch},
};
use alloc::{vec, vec::Vec};
use core::fmt;

/// A [`BlockedBloom`] that threads insert into through a shared reference. Same layout, same bits.
///
/// An insert sets up to eight words with one atomic *or* each, and only those that lack a bit. It is not one atomic step: a
/// reader may see some bits of a key that is just being inserted and answer "surely not", as it would have an instant
/// before. Once `insert` has returned and the reader knows of it, the key is never denied.
///
/// ```
/// use gowk::AtomicBlockedBloom;
///
/// let seen = AtomicBlockedBloom::builder().items(10_000).fpp(0.01).build()?;
/// std::thread::scope(|scope| {
///     for thread in 0..4u64 {
///         let seen = &seen;
///         scope.spawn(move || (0..1_000u64).for_each(|i| { seen.insert(&(thread * 1_000 + i)); }));
///     }
/// });
/// assert!((0..4_000u64).all(|key| seen.may_contain(&key)));
/// let plain = seen.into_plain();       // free; writes files, merges, folds
/// # Ok::<(), gowk::ParamsError>(())
/// ```
pub struct AtomicBlockedBloom {
    params: BlockedParams,
    windows: &'static Windows,
    hasher: Hasher,
    isa: Isa,
    store: Shared,
}

impl Build for AtomicBlockedBloom {
    type Params = BlockedParams;

    fn params_for_fpp(items: u64, fpp: f64) -> Result<BlockedParams, ParamsError> {
        BlockedParams::for_fpp(items, fpp)
    }

    fn params_for_bits(bits: u64, items: u64) -> Result<BlockedParams, ParamsError> {
        BlockedParams::for_bits(bits, items)
    }

    fn with_params(params: BlockedParams, hasher: Hasher) -> Result<Self, ParamsError> {
        BlockedBloom::with_params(params, hasher).map(Self::from)
    }
}

impl From<BlockedBloom> for AtomicBlockedBloom {
    /// The same filter, shared. Costs nothing.
    fn from(plain: BlockedBloom) -> Self {
        Self {
            params: plain.params,
            windows: windows(plain.params.lanes()),
            hasher: plain.hasher,
            isa: plain.isa,
            store: Shared::from(plain.store.into_inner()),
        }
    }
}

impl AtomicBlockedBloom {
    /// Describes a filter by what it is for: `items`, `fpp`, and more where it matters.
    pub fn builder() -> Builder<Self> {
        Builder::default()
    }

    /// Size, shape and promise.
    pub fn params(&self) -> &BlockedParams {
        &self.params
    }

    /// How this filter hashes keys.
    pub fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    /// Puts a key into the set.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> Inserted {
        self.insert_digest(self.hasher.digest(key))
    }

    /// Puts the key of this digest into the set.
    #[inline]
    pub fn insert_digest(&self, digest: Digest) -> Inserted {
        self.isa.run(Set(self, digest))
    }

    /// Puts many keys into the set, fetching memory ahead.
    pub fn insert_many<K: Key>(&self, keys: &[K]) {
        self.insert_from(keys.iter().map(|key| self.hasher.digest(key)));
    }

    /// Puts them all in, fetching memory ahead.
    pub fn insert_from(&self, digests: impl Iterator<Item = Digest>) {
        self.isa.run(SetAll(self, digests));
    }

    /// Whether the key may be in the set. `false` is certain.
    #[inline]
    pub fn may_contain<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.may_contain_digest(self.hasher.digest(key))
    }

    /// Whether the key of this digest may be in the set. `false` is certain.
    #[inline]
    pub fn may_contain_digest(&self, digest: Digest) -> bool {
        self.isa.run(Covers(self, digest))
    }

    /// Whether each of these keys may be in the set, fetching memory ahead.
    pub fn may_contain_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        let mut answers = vec![false; keys.len()];
        self.isa.run(Answer(self, keys.iter().map(|key| self.hasher.digest(key)), &mut answers));
        answers
    }

    /// A copy as it is now, while others go on inserting.
    pub fn snapshot(&self) -> Result<BlockedBloom, ParamsError> {
        Ok(BlockedBloom::over(self.params, self.hasher, self.store.snapshot()?))
    }

    /// The plain filter. Costs nothing.
    pub fn into_plain(self) -> BlockedBloom {
        BlockedBloom::over(self.params, self.hasher, self.store.into_heap())
    }

    /// The memory that the bits take.
    pub fn size_in_bytes(&self) -> usize {
        size_of_val(self.store.lines())
    }

    #[inline(always)]
    fn first_line(&self, digest: Digest) -> usize {
        let span = self.params.span() as usize;
        block_of(digest, self.store.lines().len() / span) * span
    }

    #[inline(always)]
    fn block(&self, first: usize) -> &[SharedLine] {
        &self.store.lines()[first..first + self.params.span() as usize]
    }

    #[inline(always)]
    fn fetch(&self, digest: Digest) -> (usize, Digest) {
        let at = self.first_line(digest);
        self.block(at).iter().for_each(prefetch);
        (at, digest)
    }

    #[inline(always)]
    fn set(&self, machine: impl Machine, first: usize, digest: Digest) -> bool {
        let mut new = false;
        for (line, word) in self.block(first).iter().zip(words::<4>(digest)) {
            new |= line.set(&machine.mask(word, self.windows));
        }
        new
    }

    #[inline(always)]
    fn covers(&self, machine: impl Machine, first: usize, digest: Digest) -> bool {
        let mut all = true;
        for (line, word) in self.block(first).iter().zip(words::<4>(digest)) {
            all &= line.covers(&machine.mask(word, self.windows));
        }
        all
    }
}

struct Set<'a>(&'a AtomicBlockedBloom, Digest);

impl Task for Set<'_> {
    type Output = Inserted;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> Inserted {
        Inserted::from_new(self.0.set(machine, self.0.first_line(self.1), self.1))
    }
}

struct Covers<'a>(&'a AtomicBlockedBloom, Digest);

impl Task for Covers<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> bool {
        self.0.covers(machine, self.0.first_line(self.1), self.1)
    }
}

struct SetAll<'a, I>(&'a AtomicBlockedBloom, I);

impl<I: Iterator<Item = Digest>> Task for SetAll<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run(self, machine: impl Machine) {
        staged(self.1, Setting(self.0, machine));
    }
}

struct Setting<'a, M>(&'a AtomicBlockedBloom, M);

impl<M: Machine> Stages for Setting<'_, M> {
    type Item = Digest;
    type Place = (usize, Digest);

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> (usize, Digest) {
        self.0.fetch(digest)
    }

    #[inline(always)]
    fn act(&mut self, (at, digest): (usize, Digest)) {
        self.0.set(self.1, at, digest);
    }
}

struct Answer<'a, I>(&'a AtomicBlockedBloom, I, &'a mut [bool]);

impl<I: Iterator<Item = Digest>> Task for Answer<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run(self, machine: impl Machine) {
        staged(self.1, Answering(self.0, machine, self.2.iter_mut()));
    }
}

struct Answering<'a, M>(&'a AtomicBlockedBloom, M, core::slice::IterMut<'a, bool>);

impl<M: Machine> Stages for Answering<'_, M> {
    type Item = Digest;
    type Place = (usize, Digest);

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> (usize, Digest) {
        self.0.fetch(digest)
    }

    #[inline(always)]
    fn act(&mut self, (at, digest): (usize, Digest)) {
        if let Some(answer) = self.2.next() {
            *answer = self.0.covers(self.1, at, digest);
        }
    }
}

impl fmt::Debug for AtomicBlockedBloom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicBlockedBloom")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
