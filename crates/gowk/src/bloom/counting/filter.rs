//! The filter itself: counters over a store.

use super::{
    counters::{Places, TOP, at_top, merge, nonzero},
    sizing::CountingParams,
};
use crate::{
    bloom::blocked::{block_of, by_span, windows, words},
    builder::{Build, Builder},
    bulk::{Ahead, Ring, Source, Stages, Stream},
    error::{Full, MergeError, ParamsError},
    filter::{Filter, Insert, Inserted, Merge, Remove, Removed},
    hash::{Digest, Hasher, Key},
    simd::{Isa, Machine, Task, Windows},
    stats::{Family, Stats},
    store::{Blocks, Fetch, Heap, Line, Store, StoreMut},
};
use core::fmt;

/// Keys can be put in, taken out and counted up to 15; one cache miss each.
///
/// See [the module page](crate::bloom::counting) for how it works and what it costs.
///
/// ```
/// use gowk::{CountingBloom, Filter, Insert, Remove, Removed};
///
/// let mut carts = CountingBloom::builder().items(10_000).fpp(0.01).seed(7).build()?;
/// carts.insert("apple");
/// carts.insert("apple");
/// assert!(carts.seen_at_least("apple", 2));
/// assert_eq!(carts.remove("apple"), Removed::Gone);
/// assert!(carts.may_contain("apple"));                     // the other one
/// assert_eq!(carts.remove("pear"), Removed::Absent);       // surely not there, so nothing has changed
/// # Ok::<(), gowk::ParamsError>(())
/// ```
///
/// A count never falls short, so `false` is certain in every answer. It may be too high: for a part of the keys that is
/// the false-positive rate, and where a counter has reached 15, which it then keeps. So a key that was inserted 15 times
/// or more stays in, however often it is removed; [`stuck`](Self::stuck) tells how many counters have come to that.
#[derive(Clone)]
pub struct CountingBloom<S = Heap> {
    pub(super) params: CountingParams,
    windows: &'static Windows,
    hasher: Hasher,
    isa: Isa,
    store: S,
}

impl CountingBloom {
    /// Describes a filter by what it is for: `items` (different keys), `fpp`, and more where it matters.
    pub fn builder() -> Builder<Self> {
        Builder::default()
    }

    /// An empty filter for `items` different keys at the rate `fpp`, with a random seed.
    #[cfg(feature = "std")]
    pub fn new(items: u64, fpp: f64) -> Result<Self, ParamsError> {
        Self::builder().items(items).fpp(fpp).build()
    }
}

impl Build for CountingBloom {
    type Params = CountingParams;

    fn params_for_fpp(items: u64, fpp: f64) -> Result<CountingParams, ParamsError> {
        CountingParams::for_fpp(items, fpp)
    }

    fn params_for_bits(bits: u64, items: u64) -> Result<CountingParams, ParamsError> {
        CountingParams::for_bits(bits, items)
    }

    fn with_params(params: CountingParams, hasher: Hasher) -> Result<Self, ParamsError> {
        Ok(Self::over(params, hasher, Heap::zeroed(params.lines())?))
    }
}

impl<S> CountingBloom<S> {
    /// A filter whose counters are already there. The caller has checked that there are as many lines as the parameters
    /// say.
    pub(super) fn over(params: CountingParams, hasher: Hasher, store: S) -> Self {
        Self { windows: windows(params.lanes()), params, hasher, isa: Isa::best(), store }
    }

    /// Size, shape and promise.
    pub fn params(&self) -> &CountingParams {
        &self.params
    }

    /// Whether a key has the same counters in both.
    fn fits<O>(&self, other: &CountingBloom<O>) -> Result<(), MergeError> {
        self.hasher.fits(&other.hasher)?;
        let differs = |what, ours: u64, theirs: u64| {
            if ours == theirs { Ok(()) } else { Err(MergeError::Params { what, ours, theirs }) }
        };
        differs("lines per block", self.params.span().lines(), other.params.span().lines())?;
        differs("counters per key and line", self.params.lanes().into(), other.params.lanes().into())?;
        differs("blocks", self.params.blocks(), other.params.blocks())
    }
}

impl<S: Store> CountingBloom<S> {
    /// How often the key has come, or more; 15 stands for 15 or more. A part of the keys that is at most the
    /// false-positive rate is counted too high.
    #[inline(always)]
    pub fn estimate<K: Key + ?Sized>(&self, key: &K) -> u32 {
        self.isa.run(Count { filter: self, key })
    }

    /// Whether the key may have come `times` times. `false` is certain. Above 15 the answer is that for 15.
    #[inline(always)]
    pub fn seen_at_least<K: Key + ?Sized>(&self, key: &K, times: u32) -> bool {
        self.estimate(key) >= times.min(TOP)
    }

    /// The counters, 16 to a word.
    pub fn lines(&self) -> &[Line] {
        self.store.lines()
    }

    /// The same filter in memory of its own, ready for inserts.
    pub fn to_heap(&self) -> Result<CountingBloom, ParamsError> {
        Ok(CountingBloom::over(self.params, self.hasher, Heap::copy_of(self.lines())?))
    }

    /// The part of the counters that are not 0.
    pub fn fill(&self) -> f64 {
        self.count(nonzero) as f64 / self.params.counters() as f64
    }

    /// How many counters have reached the top, where they stay: what removes can no longer free.
    pub fn stuck(&self) -> u64 {
        self.count(at_top)
    }

    /// How many different keys are inside, as far as the counters tell.
    pub fn estimated_items(&self) -> f64 {
        self.params.items_for_fill(self.fill())
    }

    fn count(&self, of: impl Fn(u64) -> u32) -> u64 {
        self.lines().iter().flat_map(|line| line.0).map(|word| u64::from(of(word))).sum()
    }

    /// The mean over the blocks of the chance that a block covers a key that is not in it, from the counters as they are.
    fn measured_fpp(&self) -> f64 {
        let blocks = self.lines().chunks_exact(self.params.span() as usize);
        let covered: f64 =
            blocks.map(|block| block.iter().map(|line| line_fpp(line, self.windows)).product::<f64>()).sum();
        covered / self.params.blocks() as f64
    }
}

/// The chance that a line covers a key that is not in it: over the eight windows, the product of the fills of its lanes.
fn line_fpp(line: &Line, windows: &Windows) -> f64 {
    let fill = line.0.map(|lane| f64::from(nonzero(lane)) / 16.0);
    let window = |used: &[u32; 8]| {
        used.iter().zip(fill).map(|(&used, fill)| if used == 1 { fill } else { 1.0 }).product::<f64>()
    };
    windows.0.iter().map(|used| window(&used.0)).sum::<f64>() / 8.0
}

impl<S: Store> Filter for CountingBloom<S> {
    #[inline(always)]
    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    #[inline(always)]
    fn may_contain_digest(&self, digest: Digest) -> bool {
        self.may_contain(&digest)
    }

    #[inline(always)]
    fn may_contain<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.isa.run(Covers { filter: self, key })
    }

    fn answer(&self, digests: impl Iterator<Item = Digest>, answers: &mut [bool]) {
        self.answer_source(Stream(digests), answers);
    }

    fn answer_source(&self, source: impl Source, answers: &mut [bool]) {
        self.isa.run(Answer { filter: self, source, answers });
    }

    fn stats(&self) -> Stats {
        let fill = self.fill();
        Stats {
            family: Family::CountingBloom,
            items: self.params.promise().items,
            fpp: self.params.promise().fpp,
            bits: self.params.bits(),
            fill,
            estimated_items: self.params.items_for_fill(fill),
            fpp_now: self.measured_fpp(),
        }
    }

    fn size_in_bytes(&self) -> usize {
        size_of_val(self.lines())
    }
}

impl<S: StoreMut> Insert for CountingBloom<S> {
    type Outcome<T> = T;

    fn settled<T>(outcome: T) -> Result<T, Full> {
        Ok(outcome)
    }

    #[inline(always)]
    fn insert_digest(&mut self, digest: Digest) -> Inserted {
        self.insert(&digest)
    }

    #[inline(always)]
    fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Inserted {
        self.isa.run(Add { filter: self, key })
    }

    fn insert_from(&mut self, digests: impl Iterator<Item = Digest>) {
        self.isa.run(AddAll { filter: self, digests });
    }
}

impl<S: StoreMut> Remove for CountingBloom<S> {
    #[inline(always)]
    fn remove_digest(&mut self, digest: Digest) -> Removed {
        self.remove(&digest)
    }

    /// Takes one of the key's inserts back. [`Removed::Absent`] says that the key was surely not there, and nothing has
    /// changed.
    ///
    /// A key that was never inserted but is a false positive is taken for one that was: some other key then counts one
    /// less, and may be denied. Only remove what was inserted.
    #[inline(always)]
    fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Removed {
        self.isa.run(Take { filter: self, key })
    }
}

impl<S: StoreMut> CountingBloom<S> {
    /// Takes many keys (or [`Digest`]s) out, fetching memory ahead; gives how many of them were surely not there.
    pub fn remove_many<K: Key>(&mut self, keys: &[K]) -> u64 {
        let hasher = self.hasher;
        let digests = keys.iter().map(|key| hasher.digest(key));
        self.isa.run(TakeAll { filter: self, digests })
    }

    /// The counters, to write: for those who keep filters in a form of their own. Any counters are a filter.
    pub fn lines_mut(&mut self) -> &mut [Line] {
        self.store.lines_mut()
    }

    /// Forgets all keys, the counters at the top among them.
    pub fn clear(&mut self) {
        self.store.lines_mut().fill(Line::ZERO);
    }
}

impl<O: Store, S: StoreMut> Merge<CountingBloom<O>> for CountingBloom<S> {
    /// Adds the counters: each key has then come as often as into both.
    fn union(&mut self, other: &CountingBloom<O>) -> Result<(), MergeError> {
        self.fits(other)?;
        for (to, from) in self.store.lines_mut().iter_mut().zip(other.lines()) {
            merge(to, from);
        }
        Ok(())
    }
}

impl<S: Store, O: Store> PartialEq<CountingBloom<O>> for CountingBloom<S> {
    /// Same shape, same hasher, same counters.
    fn eq(&self, other: &CountingBloom<O>) -> bool {
        self.fits(other).is_ok() && self.lines() == other.lines()
    }
}

impl<S> fmt::Debug for CountingBloom<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountingBloom")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}

impl<K: Key, S: StoreMut> Extend<K> for CountingBloom<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        let hasher = self.hasher;
        self.insert_from(keys.into_iter().map(|key| hasher.digest(&key)));
    }
}

struct Covers<'a, S, K: ?Sized> {
    filter: &'a CountingBloom<S>,
    key: &'a K,
}

impl<S: Store, K: Key + ?Sized> Task for Covers<'_, S, K> {
    type Output = bool;

    #[inline(always)]
    fn run(self, _: impl Machine) -> bool {
        let CountingBloom { params, windows, hasher, store, .. } = self.filter;
        let digest = hasher.digest(self.key);
        by_span!(params.span(), L => {
            let (blocks, _) = store.lines().as_chunks::<L>();
            covers(&blocks[block_of(digest, blocks.len())], words(digest), windows)
        })
    }
}

struct Count<'a, S, K: ?Sized> {
    filter: &'a CountingBloom<S>,
    key: &'a K,
}

impl<S: Store, K: Key + ?Sized> Task for Count<'_, S, K> {
    type Output = u32;

    #[inline(always)]
    fn run(self, _: impl Machine) -> u32 {
        let CountingBloom { params, windows, hasher, store, .. } = self.filter;
        let digest = hasher.digest(self.key);
        by_span!(params.span(), L => {
            let (blocks, _) = store.lines().as_chunks::<L>();
            let block = &blocks[block_of(digest, blocks.len())];
            let least = block.iter().zip(words::<L>(digest)).map(|(line, word)| Places::new(word, windows).least(line));
            least.fold(TOP, u32::min)
        })
    }
}

struct Add<'a, S, K: ?Sized> {
    filter: &'a mut CountingBloom<S>,
    key: &'a K,
}

impl<S: StoreMut, K: Key + ?Sized> Task for Add<'_, S, K> {
    type Output = Inserted;

    #[inline(always)]
    fn run(self, _: impl Machine) -> Inserted {
        let CountingBloom { params, windows, hasher, store, .. } = self.filter;
        let digest = hasher.digest(self.key);
        by_span!(params.span(), L => {
            let (blocks, _) = store.lines_mut().as_chunks_mut::<L>();
            let at = block_of(digest, blocks.len());
            Inserted::from_new(add(&mut blocks[at], words(digest), windows))
        })
    }
}

struct Take<'a, S, K: ?Sized> {
    filter: &'a mut CountingBloom<S>,
    key: &'a K,
}

impl<S: StoreMut, K: Key + ?Sized> Task for Take<'_, S, K> {
    type Output = Removed;

    #[inline(always)]
    fn run(self, _: impl Machine) -> Removed {
        let CountingBloom { params, windows, hasher, store, .. } = self.filter;
        let digest = hasher.digest(self.key);
        by_span!(params.span(), L => {
            let (blocks, _) = store.lines_mut().as_chunks_mut::<L>();
            let at = block_of(digest, blocks.len());
            take(&mut blocks[at], words(digest), windows)
        })
    }
}

struct Answer<'a, S, I> {
    filter: &'a CountingBloom<S>,
    source: I,
    answers: &'a mut [bool],
}

impl<S: Store, I: Source> Task for Answer<'_, S, I> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: impl Machine) {
        let CountingBloom { params, windows, store, .. } = self.filter;
        by_span!(params.span(), L => {
            let fetch = Fetch::of(size_of_val(store.lines()));
            let questions = Answering { windows, blocks: Blocks::<L>::new(store.lines(), fetch) };
            self.source.answered(ahead::<L>(store.lines()), questions, self.answers);
        });
    }
}

struct Answering<'a, const L: usize> {
    windows: &'a Windows,
    blocks: Blocks<'a, L>,
}

impl<const L: usize> Stages for Answering<'_, L> {
    type Item = Digest;
    type Place = Digest;
    type Answer = bool;

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> Digest {
        self.blocks.fetch(digest.h1);
        digest
    }

    #[inline(always)]
    fn act(&mut self, digest: Digest) -> bool {
        covers(self.blocks.block(digest.h1), words(digest), self.windows)
    }
}

struct AddAll<'a, S, I> {
    filter: &'a mut CountingBloom<S>,
    digests: I,
}

impl<S: StoreMut, I: Iterator<Item = Digest>> Task for AddAll<'_, S, I> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: impl Machine) {
        let CountingBloom { params, windows, store, .. } = self.filter;
        by_span!(params.span(), L => {
            let (mut ring, by) = (Ring::<Digest, _>::new(ahead::<L>(store.lines())), Fetch::of(size_of_val(store.lines())));
            let (blocks, _) = store.lines_mut().as_chunks_mut::<L>();
            for digest in self.digests {
                by.block(&blocks[block_of(digest, blocks.len())]);
                if let Some(digest) = ring.push(digest) {
                    add(&mut blocks[block_of(digest, blocks.len())], words(digest), windows);
                }
            }
            while let Some(digest) = ring.pop() {
                add(&mut blocks[block_of(digest, blocks.len())], words(digest), windows);
            }
        });
    }
}

/// Takes keys out, and counts those that were surely not there.
struct TakeAll<'a, S, I> {
    filter: &'a mut CountingBloom<S>,
    digests: I,
}

impl<S: StoreMut, I: Iterator<Item = Digest>> Task for TakeAll<'_, S, I> {
    type Output = u64;

    #[inline(always)]
    fn run(self, _: impl Machine) -> u64 {
        let CountingBloom { params, windows, store, .. } = self.filter;
        let mut absent = 0;
        by_span!(params.span(), L => {
            let (mut ring, by) = (Ring::<Digest, _>::new(ahead::<L>(store.lines())), Fetch::of(size_of_val(store.lines())));
            let (blocks, _) = store.lines_mut().as_chunks_mut::<L>();
            for digest in self.digests {
                by.block(&blocks[block_of(digest, blocks.len())]);
                if let Some(digest) = ring.push(digest) {
                    let removed = take(&mut blocks[block_of(digest, blocks.len())], words(digest), windows);
                    absent += u64::from(removed == Removed::Absent);
                }
            }
            while let Some(digest) = ring.pop() {
                let removed = take(&mut blocks[block_of(digest, blocks.len())], words(digest), windows);
                absent += u64::from(removed == Removed::Absent);
            }
        });
        absent
    }
}

/// How many keys are on their way in a bulk call.
#[inline(always)]
fn ahead<const L: usize>(lines: &[Line]) -> Ahead<128> {
    Ahead::of(L, size_of_val(lines))
}

/// Whether all counters of a key are above 0. `&`, not `&&`, and a loop, not a fold, as in the blocked filter.
#[inline(always)]
fn covers<const L: usize>(block: &[Line; L], words: [u32; L], windows: &Windows) -> bool {
    let mut all = true;
    for line in 0..L {
        all &= Places::new(words[line], windows).all_count(&block[line]);
    }
    all
}

/// Counts a key once more; true if one of its counters was 0.
#[inline(always)]
fn add<const L: usize>(block: &mut [Line; L], words: [u32; L], windows: &Windows) -> bool {
    let mut new = false;
    for line in 0..L {
        new |= Places::new(words[line], windows).add(&mut block[line]);
    }
    new
}

/// Counts a key once less, if it may be there.
#[inline(always)]
fn take<const L: usize>(block: &mut [Line; L], words: [u32; L], windows: &Windows) -> Removed {
    if !covers(block, words, windows) {
        return Removed::Absent;
    }
    for line in 0..L {
        Places::new(words[line], windows).take(&mut block[line]);
    }
    Removed::Gone
}
