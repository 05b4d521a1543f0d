//! The filter itself: a layout over a store.

use super::{
    layout::{block_of, keep, kept, windows, words},
    sizing::{BlockedParams, Span, by_span},
};
use crate::{
    builder::{Build, Builder},
    bulk::{Ahead, Source, Stages, Stream},
    error::{Full, MergeError, ParamsError},
    filter::{Filter, Insert, Inserted, Merge},
    hash::{Digest, Hashed, Hasher, Key, RapidBy},
    simd::{Inline, InlineAvx2, Isa, Lanes, Machine, OnLine, Task, Wide, Windows},
    stats::{Family, Stats},
    store::{Blocks, BlocksMut, Heap, Line, NonEmpty, Store, StoreMut, ones},
};
use core::fmt;

/// The default filter: inserts and lookups that cost one cache miss, within 4 % of the space of a classic Bloom filter.
///
/// See [the module page](crate::bloom::blocked) for how it works and what it costs.
///
/// ```
/// use gowk::{BlockedBloom, Filter, Insert};
///
/// let mut seen = BlockedBloom::builder().items(1_000_000).fpp(0.01).build()?;
/// seen.insert_many(&[2u64, 3, 5, 7, 11]);
/// assert_eq!(seen.may_contain_many(&[5u64, 7]), [true, true]);
/// # Ok::<(), gowk::ParamsError>(())
/// ```
#[derive(Clone)]
pub struct BlockedBloom<S = Heap> {
    pub(super) params: BlockedParams,
    /// Here and not behind a pointer: one load less on the way of each key.
    pub(super) windows: Windows,
    pub(super) hasher: Hasher,
    pub(super) isa: Isa,
    here: Here,
    short: Short,
    pub(super) store: NonEmpty<S>,
}

/// Whether keys take a short way, which is that of the default hash and one line or two, by far the commonest shapes, on a
/// machine that is more than plain: one question for all three.
///
#[derive(Clone, Copy)]
enum Short {
    No,
    Line(Wide),
    Pair(Wide),
}

impl Short {
    fn new(span: Span, hasher: &Hasher, isa: Isa) -> Self {
        let (Some(wide), Some(_)) = (isa.wide(), hasher.as_rapid()) else { return Self::No };
        match span {
            Span::Line => Self::Line(wide),
            Span::Pair => Self::Pair(wide),
            Span::Quad => Self::No,
        }
    }

    /// What works on one line without a call, if that is all that keys ask for.
    fn here(self, isa: Isa) -> Here {
        match (self, isa.inline(), isa.inline_avx2()) {
            (Self::Line(_), Some(avx512), _) => Here::Avx512(avx512),
            (Self::Line(_), None, Some(avx2)) => Here::Avx2(avx2),
            _ => Here::No,
        }
    }
}

/// What works on one line without a call. Asked first, of a field by itself: as one of [`Short`] it would be a jump through a table, for each
/// key that is inserted.
#[derive(Clone, Copy, Debug)]
enum Here {
    No,
    Avx512(Inline),
    Avx2(InlineAvx2),
}

impl BlockedBloom {
    /// Describes a filter by what it is for: `items`, `fpp`, and more where it matters.
    pub fn builder() -> Builder<Self> {
        Builder::default()
    }

    /// An empty filter for `items` keys at the rate `fpp`, with a random seed.
    #[cfg(feature = "std")]
    pub fn new(items: u64, fpp: f64) -> Result<Self, ParamsError> {
        Self::builder().items(items).fpp(fpp).build()
    }
}

impl Build for BlockedBloom {
    type Params = BlockedParams;

    fn params_for_fpp(items: u64, fpp: f64) -> Result<BlockedParams, ParamsError> {
        BlockedParams::for_fpp(items, fpp)
    }

    fn params_for_bits(bits: u64, items: u64) -> Result<BlockedParams, ParamsError> {
        BlockedParams::for_bits(bits, items)
    }

    fn with_params(params: BlockedParams, hasher: Hasher) -> Result<Self, ParamsError> {
        Ok(Self::over(params, hasher, Heap::zeroed(params.lines())?))
    }
}

impl<S> BlockedBloom<S> {
    /// Size, shape and promise.
    pub fn params(&self) -> &BlockedParams {
        &self.params
    }
}

impl<S: Store> BlockedBloom<S> {
    /// A filter whose bits are already there. The caller has checked that there are as many lines as the parameters say.
    pub(crate) fn over(params: BlockedParams, hasher: Hasher, store: S) -> Self {
        let isa = Isa::best();
        let short = Short::new(params.span(), &hasher, isa);
        let (windows, here) = (*windows(params.lanes()), short.here(isa));
        Self { windows, params, hasher, isa, here, short, store: NonEmpty::new(store) }
    }

    /// The bits.
    pub fn lines(&self) -> &[Line] {
        self.store.lines()
    }

    /// The same filter in memory of its own, ready for inserts.
    pub fn to_heap(&self) -> Result<BlockedBloom, ParamsError> {
        Ok(BlockedBloom::over(self.params, self.hasher, Heap::copy_of(self.lines())?))
    }

    /// The part of the bits that are set.
    pub fn fill(&self) -> f64 {
        ones(self.lines()) as f64 / self.params.bits() as f64
    }

    /// How many different keys have come, as far as the bits tell.
    pub fn estimated_items(&self) -> f64 {
        self.params.items_for_fill(self.fill())
    }

    /// The mean over the blocks of the chance that a block covers a key that is not in it: from the bits as they are, not
    /// from how many keys should have set them.
    fn measured_fpp(&self) -> f64 {
        let blocks = self.lines().chunks_exact(self.params.span() as usize);
        let covered: f64 =
            blocks.map(|block| block.iter().map(|line| line_fpp(line, &self.windows)).product::<f64>()).sum();
        covered / self.params.blocks() as f64
    }
}

/// The chance that a line covers a key that is not in it: over the eight windows, the product of the fills of its lanes.
pub(crate) fn line_fpp(line: &Line, windows: &Windows) -> f64 {
    let dword = |i: usize| (line.0[i / 2] >> (32 * (i % 2))) as u32;
    let fill: [f64; 8] = core::array::from_fn(|lane| {
        f64::from(dword(lane).count_ones() + dword(lane + 8).count_ones()) / 64.0
    });
    let window = |used: &Lanes| {
        used.0.iter().zip(fill).map(|(&used, fill)| if used == 1 { fill } else { 1.0 }).product::<f64>()
    };
    windows.0.iter().map(window).sum::<f64>() / 8.0
}

impl<S: Store> Filter for BlockedBloom<S> {
    #[inline(always)]
    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    #[inline(always)]
    fn may_contain_digest(&self, digest: Digest) -> bool {
        self.may_contain(&digest)
    }

    /// The key is hashed on the far side of the choice of instruction set: one call, and multiplications that the wider
    /// set does without moves.
    #[inline(always)]
    fn may_contain<K: Key + ?Sized>(&self, key: &K) -> bool {
        match self.here {
            Here::Avx512(here) => return self.covers_here(here, key),
            Here::Avx2(here) => return self.covers_here(here, key),
            Here::No => {}
        }
        match self.short {
            Short::Line(wide) => self.covers_short::<K, 1>(wide, key),
            Short::Pair(wide) => self.covers_short::<K, 2>(wide, key),
            Short::No => self.isa.run(Covers { filter: self, key }),
        }
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
            family: Family::BlockedBloom,
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

impl<S: StoreMut> Insert for BlockedBloom<S> {
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
        match self.here {
            Here::Avx512(here) => return self.set_here(here, key),
            Here::Avx2(here) => return self.set_here(here, key),
            Here::No => {}
        }
        match self.short {
            Short::Line(wide) => self.set_short::<K, 1>(wide, key),
            Short::Pair(wide) => self.set_short::<K, 2>(wide, key),
            Short::No => self.isa.run(Set { filter: self, key }),
        }
    }

    fn insert_from(&mut self, digests: impl Iterator<Item = Digest>) {
        self.insert_source(Stream(digests));
    }

    fn insert_source(&mut self, source: impl Source) {
        self.isa.run(SetAll { filter: self, source });
    }
}

impl<S: StoreMut> BlockedBloom<S> {
    /// The bits, to write: for those who keep filters in a form of their own. Any bits are a filter.
    pub fn lines_mut(&mut self) -> &mut [Line] {
        self.store.lines_mut()
    }

    /// Forgets all keys.
    pub fn clear(&mut self) {
        self.store.lines_mut().fill(Line::ZERO);
    }

    /// Keeps what may be in both filters: every key of both, and at most as many others as either had.
    ///
    /// Sizes must be equal; [`BlockedBloom::fold`] the larger one first where they are not.
    pub fn intersect<O: Store>(&mut self, other: &BlockedBloom<O>) -> Result<(), MergeError> {
        self.fits(other)?;
        if self.params.blocks() != other.params.blocks() {
            return Err(MergeError::Sizes { ours: self.params.blocks(), theirs: other.params.blocks() });
        }
        for (to, from) in self.store.lines_mut().iter_mut().zip(other.lines()) {
            to.and(from);
        }
        Ok(())
    }

    /// Ors in the bits of a filter of our size, or of a multiple of it.
    fn or(&mut self, other: &[Line]) {
        let span = self.params.span() as usize;
        let factor = other.len() / self.store.lines().len();
        for (i, block) in other.chunks_exact(span).enumerate() {
            let to = i / factor * span;
            for (to, from) in self.store.lines_mut()[to..to + span].iter_mut().zip(block) {
                to.or(from);
            }
        }
    }
}

impl<S> BlockedBloom<S> {
    /// Whether a key has the same bits in both, up to their sizes.
    fn fits<O>(&self, other: &BlockedBloom<O>) -> Result<(), MergeError> {
        self.hasher.fits(&other.hasher)?;
        let differs = |what, ours: u64, theirs: u64| match ours == theirs {
            true => Ok(()),
            false => Err(MergeError::Params { what, ours, theirs }),
        };
        differs("lines per block", self.params.span().lines(), other.params.span().lines())?;
        differs("bits per key and line", self.params.lanes().into(), other.params.lanes().into())
    }
}

impl<O: Store> Merge<BlockedBloom<O>> for BlockedBloom {
    /// The union. Of two sizes the larger is folded to the smaller, which is then the size of this one.
    fn union(&mut self, other: &BlockedBloom<O>) -> Result<(), MergeError> {
        self.fits(other)?;
        let (ours, theirs) = (self.params.blocks(), other.params.blocks());
        if ours.is_multiple_of(theirs) {
            self.fold(ours / theirs).expect("it divides");
        } else if !theirs.is_multiple_of(ours) {
            return Err(MergeError::Sizes { ours, theirs });
        }
        self.or(other.lines());
        Ok(())
    }
}

impl<S: Store, O: Store> PartialEq<BlockedBloom<O>> for BlockedBloom<S> {
    /// Same shape, same hasher, same bits.
    fn eq(&self, other: &BlockedBloom<O>) -> bool {
        self.params.blocks() == other.params.blocks()
            && self.fits(other).is_ok()
            && self.lines() == other.lines()
    }
}

impl<S> fmt::Debug for BlockedBloom<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockedBloom")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}

impl<K: Key, S: StoreMut> Extend<K> for BlockedBloom<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        let hasher = self.hasher;
        self.insert_from(keys.into_iter().map(|key| hasher.digest(&key)));
    }
}

/// The shortest way: the key is hashed, and its line worked on, right where it is asked for.
impl<S: Store> BlockedBloom<S> {
    #[inline(always)]
    fn covers_here<K: Key + ?Sized>(&self, here: impl OnLine, key: &K) -> bool {
        let h1 = key.digest(&RapidBy { rapid: self.hasher.rapid(), by: here.bmi2() }).h1;
        here.covers(self.store.place(h1, here.bmi2()), h1, &self.windows)
    }
}

impl<S: StoreMut> BlockedBloom<S> {
    #[inline(always)]
    fn set_here<K: Key + ?Sized>(&mut self, here: impl OnLine, key: &K) -> Inserted {
        let h1 = key.digest(&RapidBy { rapid: self.hasher.rapid(), by: here.bmi2() }).h1;
        // Left out by the compiler where nobody asks what came of the insert, which is most often.
        let new = !here.covers(self.store.place(h1, here.bmi2()), h1, &self.windows);
        here.mark(self.store.place_mut(h1, here.bmi2()), h1, &self.windows);
        Inserted::from_new(new)
    }
}

/// The short way. What a task has of a key is no longer than a word, so that it is handed over in registers: a reference, or, where
/// that is of two words, as for text, the hash, which is all that one line asks for.
impl<S: Store> BlockedBloom<S> {
    #[inline(always)]
    fn covers_short<K: Key + ?Sized, const L: usize>(&self, wide: Wide, key: &K) -> bool {
        match L == 1 && size_of::<&K>() > size_of::<Hashed>() {
            true => wide.run(CoversShort::<_, _, L> { filter: self, key: self.hasher.rapid().hashed(key) }),
            false => wide.run(CoversShort::<_, _, L> { filter: self, key }),
        }
    }
}

impl<S: StoreMut> BlockedBloom<S> {
    #[inline(always)]
    fn set_short<K: Key + ?Sized, const L: usize>(&mut self, wide: Wide, key: &K) -> Inserted {
        match L == 1 && size_of::<&K>() > size_of::<Hashed>() {
            true => {
                let key = self.hasher.rapid().hashed(key);
                wide.run(SetShort::<_, _, L> { filter: self, key })
            }
            false => wide.run(SetShort::<_, _, L> { filter: self, key }),
        }
    }
}

/// [`Covers`] without the questions that [`Short`] has answered. A lookup that misses the cache is paid by the instruction: 34 for
/// one line, instead of 56.
struct CoversShort<'a, S, K, const L: usize> {
    filter: &'a BlockedBloom<S>,
    key: K,
}

impl<S: Store, K: Key, const L: usize> Task for CoversShort<'_, S, K, L> {
    type Output = bool;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> bool {
        let BlockedBloom { windows, hasher, store, .. } = self.filter;
        let digest = self.key.digest(hasher.rapid());
        covers(machine, store.block::<L>(digest.h1), words(digest), windows)
    }
}

/// [`Set`], the short way.
struct SetShort<'a, S, K, const L: usize> {
    filter: &'a mut BlockedBloom<S>,
    key: K,
}

impl<S: StoreMut, K: Key, const L: usize> Task for SetShort<'_, S, K, L> {
    type Output = Inserted;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> Inserted {
        let BlockedBloom { windows, hasher, store, .. } = self.filter;
        let digest = self.key.digest(hasher.rapid());
        Inserted::from_new(set(machine, store.block_mut::<L>(digest.h1), words(digest), windows))
    }
}

struct Covers<'a, S, K: ?Sized> {
    filter: &'a BlockedBloom<S>,
    key: &'a K,
}

impl<S: Store, K: Key + ?Sized> Task for Covers<'_, S, K> {
    type Output = bool;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> bool {
        let BlockedBloom { params, windows, hasher, store, .. } = self.filter;
        let digest = hasher.digest(self.key);
        by_span!(params.span(), L => {
            let (blocks, _) = store.lines().as_chunks::<L>();
            covers(machine, &blocks[block_of(digest, blocks.len())], words(digest), windows)
        })
    }
}

struct Set<'a, S, K: ?Sized> {
    filter: &'a mut BlockedBloom<S>,
    key: &'a K,
}

impl<S: StoreMut, K: Key + ?Sized> Task for Set<'_, S, K> {
    type Output = Inserted;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> Inserted {
        let BlockedBloom { params, windows, hasher, store, .. } = self.filter;
        let digest = hasher.digest(self.key);
        by_span!(params.span(), L => {
            let (blocks, _) = store.lines_mut().as_chunks_mut::<L>();
            let at = block_of(digest, blocks.len());
            Inserted::from_new(set(machine, &mut blocks[at], words(digest), windows))
        })
    }
}

/// How many keys are between the prefetch and the use, with `L` lines each.
#[inline(always)]
fn ahead<const L: usize>(lines: &[Line]) -> Ahead<128> {
    Ahead::of(L, size_of_val(lines))
}

struct Answer<'a, S, I> {
    filter: &'a BlockedBloom<S>,
    source: I,
    answers: &'a mut [bool],
}

impl<S: Store, I: Source> Task for Answer<'_, S, I> {
    type Output = ();

    #[inline(always)]
    fn run(self, machine: impl Machine) {
        let BlockedBloom { params, windows, store, .. } = self.filter;
        by_span!(params.span(), L => {
            let questions = Answering { machine, windows, blocks: Blocks::<L>::new(store.lines()) };
            self.source.answered(ahead::<L>(store.lines()), questions, self.answers);
        });
    }
}

struct Answering<'a, M, const L: usize> {
    machine: M,
    windows: &'a Windows,
    blocks: Blocks<'a, L>,
}

impl<M: Machine, const L: usize> Stages for Answering<'_, M, L> {
    type Item = Digest;
    type Place = [u64; L];
    type Answer = bool;

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> [u64; L] {
        self.blocks.fetch(digest.h1);
        keep(digest)
    }

    #[inline(always)]
    fn act(&mut self, place: [u64; L]) -> bool {
        let digest = kept(place);
        covers(self.machine, self.blocks.block(digest.h1), words(digest), self.windows)
    }
}

struct SetAll<'a, S, I> {
    filter: &'a mut BlockedBloom<S>,
    source: I,
}

impl<S: StoreMut, I: Source> Task for SetAll<'_, S, I> {
    type Output = ();

    #[inline(always)]
    fn run(self, machine: impl Machine) {
        let BlockedBloom { params, windows, store, .. } = self.filter;
        by_span!(params.span(), L => {
            let ahead = ahead::<L>(store.lines());
            let stages = Setting { machine, windows, blocks: BlocksMut::<L>::new(store.lines_mut()) };
            self.source.staged(ahead, stages);
        });
    }
}

struct Setting<'a, M, const L: usize> {
    machine: M,
    windows: &'a Windows,
    blocks: BlocksMut<'a, L>,
}

impl<M: Machine, const L: usize> Stages for Setting<'_, M, L> {
    type Item = Digest;
    type Place = [u64; L];
    type Answer = ();

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> [u64; L] {
        self.blocks.prefetch(digest.h1);
        keep(digest)
    }

    #[inline(always)]
    fn act(&mut self, place: [u64; L]) {
        let digest = kept(place);
        set(self.machine, self.blocks.block(digest.h1), words(digest), self.windows);
    }
}

/// Whether a block has all the bits of a key. `&`, not `&&`: all lines of the block are on their way, and a branch
/// on the first would cost more than it saves.
///
/// A loop, not a fold, here and in [`set`]: a closure that the compiler does not put into its caller does not know the
/// instruction set, and each instruction of it becomes a call, which is ten times slower.
#[inline(always)]
pub(crate) fn covers<const L: usize>(
    machine: impl Machine,
    block: &[Line; L],
    words: [u32; L],
    windows: &Windows,
) -> bool {
    let mut all = true;
    for (line, word) in block.iter().zip(words) {
        all &= machine.covers(line, word, windows);
    }
    all
}

/// Sets the bits of a key in its block; true if one of them was not set before.
#[inline(always)]
pub(crate) fn set<const L: usize>(
    machine: impl Machine,
    block: &mut [Line; L],
    words: [u32; L],
    windows: &Windows,
) -> bool {
    let mut new = false;
    for (line, word) in block.iter_mut().zip(words) {
        new |= machine.set(line, word, windows);
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each way that this processor has, for keys of a word and of text.
    #[test]
    fn every_short_way_comes_to_the_same() {
        let (isa, hasher) = (Isa::best(), Hasher::new(5));
        for (items, fpp) in [(3, 0.01), (2000, 0.01), (2000, 0.001)] {
            let params = BlockedParams::for_fpp(items, fpp).unwrap();
            let by = |short, here| BlockedBloom {
                here,
                short,
                ..BlockedBloom::with_params(params, hasher).unwrap()
            };
            let short = Short::new(params.span(), &hasher, isa);
            let line = params.span() == Span::Line;
            let avx2 = isa.inline_avx2().filter(|_| line).map_or(Here::No, Here::Avx2);
            for here in [Here::No, avx2, short.here(isa)] {
                let (mut expected, mut got) = (by(Short::No, Here::No), by(short, here));
                for key in 0..items {
                    let text = alloc::format!("key number {key}");
                    assert_eq!(got.insert(&key), expected.insert(&key));
                    assert_eq!(got.insert(text.as_str()), expected.insert(text.as_str()));
                    assert_eq!(got.insert(&key), Inserted::MaybeSeen);
                }
                assert!(got == expected);
                assert!((0..items).all(|key| got.may_contain(&key)));
                assert!((0..10 * items).all(|key| got.may_contain(&key) == expected.may_contain(&key)));
            }
        }
    }
}
