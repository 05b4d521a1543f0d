//! The filter itself: a layout over a store.

use super::{
    eight::{self, by_eight},
    layout::windows,
    many::{Answer, SetAll},
    single::Here,
    sizing::BlockedParams,
};
use crate::{
    builder::{Build, Builder},
    bulk::{Source, Stream},
    error::{Full, MergeError, ParamsError},
    filter::{Filter, Insert, Inserted, Merge},
    hash::{Digest, Hasher, Key},
    simd::{Isa, Lanes, Machine, Windows},
    stats::{Family, Stats},
    store::{Heap, Line, NonEmpty, Store, StoreMut, ones},
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
    pub(super) windows: &'static Windows,
    pub(super) hasher: Hasher,
    pub(super) isa: Isa,
    /// The short way of keys of one line, and of two.
    pub(super) line: Here,
    pub(super) pair: Here,
    pub(super) store: NonEmpty<S>,
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
        let (windows, (line, pair)) = (windows(params.lanes()), Here::of(params.span(), &hasher, isa));
        Self { windows, params, hasher, isa, line, pair, store: NonEmpty::new(store) }
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
            blocks.map(|block| block.iter().map(|line| line_fpp(line, self.windows)).product::<f64>()).sum();
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

    #[inline(always)]
    fn may_contain<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.covers_one(key)
    }

    fn answer(&self, digests: impl Iterator<Item = Digest>, answers: &mut [bool]) {
        self.answer_source(Stream(digests), answers);
    }

    fn answer_source(&self, source: impl Source, answers: &mut [bool]) {
        match by_eight(self, &source) {
            Some(by) => by.run_by_eight(eight::Answer { filter: self, by, source, answers }),
            None => self.isa.run(Answer { filter: self, source, answers }),
        }
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
        self.set_one(key)
    }

    fn insert_from(&mut self, digests: impl Iterator<Item = Digest>) {
        self.insert_source(Stream(digests));
    }

    fn insert_source(&mut self, source: impl Source) {
        match by_eight(self, &source) {
            Some(by) => by.run_by_eight(eight::SetAll { filter: self, by, source }),
            None => self.isa.run(SetAll { filter: self, source }),
        }
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

/// Sets the bits of a key in its block; true if one of them was not set before. A loop, for the reason given at [`Machine::covers_block`].
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
