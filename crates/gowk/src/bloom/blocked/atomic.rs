//! The blocked filter for many threads at once.

use super::{
    filter::BlockedBloom,
    layout::{Kept, block_of, by_kept, windows, words},
    sizing::{BlockedParams, by_span},
};
use crate::{
    builder::{Build, Builder},
    bulk::{Ahead, Keys, Source, Stages, Stream},
    error::ParamsError,
    filter::Inserted,
    hash::{Digest, Hasher, Key},
    simd::{Isa, Machine, Task, Windows},
    store::{Fetch, Shared, SharedLine},
};
use alloc::{vec, vec::Vec};
use core::{fmt, marker::PhantomData};

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
    #[inline(always)]
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> Inserted {
        self.isa.run(Set { filter: self, key })
    }

    /// Puts the key of this digest into the set.
    #[inline(always)]
    pub fn insert_digest(&self, digest: Digest) -> Inserted {
        self.insert(&digest)
    }

    /// Puts many keys into the set, fetching memory ahead.
    pub fn insert_many<K: Key>(&self, keys: &[K]) {
        match self.hasher.as_rapid() {
            Some(hash) => self.isa.run(SetAll { filter: self, source: Keys::new(keys, *hash) }),
            None => self.insert_from(keys.iter().map(|key| self.hasher.digest(key))),
        }
    }

    /// Puts them all in, fetching memory ahead.
    pub fn insert_from(&self, digests: impl Iterator<Item = Digest>) {
        self.isa.run(SetAll { filter: self, source: Stream(digests) });
    }

    /// Whether the key may be in the set. `false` is certain.
    #[inline(always)]
    pub fn may_contain<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.isa.run(Covers { filter: self, key })
    }

    /// Whether the key of this digest may be in the set. `false` is certain.
    #[inline(always)]
    pub fn may_contain_digest(&self, digest: Digest) -> bool {
        self.may_contain(&digest)
    }

    /// Whether each of these keys may be in the set, fetching memory ahead.
    pub fn may_contain_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        let mut answers = vec![false; keys.len()];
        self.may_contain_many_into(keys, &mut answers);
        answers
    }

    /// As [`may_contain_many`](Self::may_contain_many), into memory of the caller.
    ///
    /// # Panics
    /// If there are not as many answers as keys.
    pub fn may_contain_many_into<K: Key>(&self, keys: &[K], answers: &mut [bool]) {
        assert_eq!(keys.len(), answers.len(), "one answer for each key");
        match self.hasher.as_rapid() {
            Some(hash) => self.isa.run(Answer { filter: self, source: Keys::new(keys, *hash), answers }),
            None => self.answer(keys.iter().map(|key| self.hasher.digest(key)), answers),
        }
    }

    /// Answers digests in bulk, fetching memory ahead. Stops at the end of the shorter side.
    pub fn answer(&self, digests: impl Iterator<Item = Digest>, answers: &mut [bool]) {
        self.isa.run(Answer { filter: self, source: Stream(digests), answers });
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
}

/// The block of a key.
#[inline(always)]
fn block<const L: usize>(lines: &[SharedLine], digest: Digest) -> &[SharedLine; L] {
    let (blocks, _) = lines.as_chunks::<L>();
    &blocks[block_of(digest, blocks.len())]
}

#[inline(always)]
fn covers<const L: usize>(
    machine: impl Machine,
    lines: &[SharedLine],
    digest: Digest,
    windows: &Windows,
) -> bool {
    let mut all = true;
    for (line, word) in block::<L>(lines, digest).iter().zip(words::<L>(digest)) {
        all &= machine.shared_covers(line, word, windows);
    }
    all
}

#[inline(always)]
fn set<const L: usize>(
    machine: impl Machine,
    lines: &[SharedLine],
    digest: Digest,
    windows: &Windows,
) -> bool {
    let mut new = false;
    for (line, word) in block::<L>(lines, digest).iter().zip(words::<L>(digest)) {
        new |= machine.shared_set(line, word, windows);
    }
    new
}

struct Set<'a, K: ?Sized> {
    filter: &'a AtomicBlockedBloom,
    key: &'a K,
}

impl<K: Key + ?Sized> Task for Set<'_, K> {
    type Output = Inserted;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> Inserted {
        let AtomicBlockedBloom { params, windows, hasher, store, .. } = self.filter;
        let digest = hasher.digest(self.key);
        by_span!(params.span(), L => Inserted::from_new(set::<L>(machine, store.lines(), digest, windows)))
    }
}

struct Covers<'a, K: ?Sized> {
    filter: &'a AtomicBlockedBloom,
    key: &'a K,
}

impl<K: Key + ?Sized> Task for Covers<'_, K> {
    type Output = bool;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> bool {
        let AtomicBlockedBloom { params, windows, hasher, store, .. } = self.filter;
        let digest = hasher.digest(self.key);
        by_span!(params.span(), L => covers::<L>(machine, store.lines(), digest, windows))
    }
}

struct SetAll<'a, I> {
    filter: &'a AtomicBlockedBloom,
    source: I,
}

impl<I: Source> Task for SetAll<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run(self, machine: impl Machine) {
        let AtomicBlockedBloom { params, windows, store, .. } = self.filter;
        by_span!(params.span(), L => by_kept!(I, L, Place => {
            let ahead = Ahead::<128>::of(L, size_of_val(store.lines()));
            let stages = Setting::<_, Place, L>(Fetched::new(machine, windows, store.lines()));
            self.source.staged(ahead, stages);
        }));
    }
}

struct Answer<'a, I> {
    filter: &'a AtomicBlockedBloom,
    source: I,
    answers: &'a mut [bool],
}

impl<I: Source> Task for Answer<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run(self, machine: impl Machine) {
        let AtomicBlockedBloom { params, windows, store, .. } = self.filter;
        by_span!(params.span(), L => by_kept!(I, L, Place => {
            let ahead = Ahead::<128>::of(L, size_of_val(store.lines()));
            let stages = Answering::<_, Place, L>(Fetched::new(machine, windows, store.lines()));
            self.source.answered(ahead, stages, self.answers);
        }));
    }
}

/// Where bulk calls look, and what they keep of keys meanwhile.
struct Fetched<'a, M, P> {
    machine: M,
    windows: &'a Windows,
    lines: &'a [SharedLine],
    by: Fetch,
    kept: PhantomData<P>,
}

impl<'a, M, P: Kept> Fetched<'a, M, P> {
    #[inline(always)]
    fn new(machine: M, windows: &'a Windows, lines: &'a [SharedLine]) -> Self {
        Self { machine, windows, lines, by: Fetch::of(size_of_val(lines)), kept: PhantomData }
    }

    #[inline(always)]
    fn fetch<const L: usize>(&self, digest: Digest) -> P {
        for line in block::<L>(self.lines, digest) {
            self.by.place(line);
        }
        P::keep(digest)
    }
}

struct Setting<'a, M, P, const L: usize>(Fetched<'a, M, P>);

impl<M: Machine, P: Kept, const L: usize> Stages for Setting<'_, M, P, L> {
    type Item = Digest;
    type Place = P;
    type Answer = ();

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> P {
        self.0.fetch::<L>(digest)
    }

    #[inline(always)]
    fn act(&mut self, place: P) {
        set::<L>(self.0.machine, self.0.lines, place.digest(), self.0.windows);
    }
}

struct Answering<'a, M, P, const L: usize>(Fetched<'a, M, P>);

impl<M: Machine, P: Kept, const L: usize> Stages for Answering<'_, M, P, L> {
    type Item = Digest;
    type Place = P;
    type Answer = bool;

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> P {
        self.0.fetch::<L>(digest)
    }

    #[inline(always)]
    fn act(&mut self, place: P) -> bool {
        covers::<L>(self.0.machine, self.0.lines, place.digest(), self.0.windows)
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
