//! The filter itself: positions over a store.

use super::{layout::Positions, sizing::BloomParams};
use crate::{
    builder::{Build, Builder},
    error::{Full, MergeError, ParamsError},
    filter::{Filter, Insert, Inserted, Merge},
    hash::{Digest, Hasher},
    stats::{Family, Stats},
    store::{Heap, Line, Store, StoreMut, ones, prefetch, words, words_mut},
};
use core::fmt;

/// The classic Bloom filter: the least space of its family, at k cache misses a key.
///
/// Take it where space counts more than time, or to read and write what other systems have. Else
/// [`BlockedBloom`](crate::BlockedBloom) is several times faster.
///
/// ```
/// use gowk::{Bloom, Filter, Insert, Merge};
///
/// let mut spring = Bloom::builder().items(1_000).fpp(0.01).seed(1).build()?;
/// let mut autumn = Bloom::builder().items(1_000).fpp(0.01).seed(1).build()?;
/// spring.insert_many(&["cuckoo", "swift"]);
/// autumn.insert_many(&["redwing", "fieldfare"]);
/// spring.union(&autumn)?;
/// assert!(spring.may_contain("redwing"));
/// assert_eq!(spring.stats().estimated_items.round(), 4.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Bloom<S = Heap> {
    params: BloomParams,
    hasher: Hasher,
    store: S,
}

impl Bloom {
    /// Describes a filter by what it is for: `items`, `fpp`, and more where it matters.
    pub fn builder() -> Builder<Self> {
        Builder::default()
    }
}

impl Build for Bloom {
    type Params = BloomParams;

    fn params_for_fpp(items: u64, fpp: f64) -> Result<BloomParams, ParamsError> {
        BloomParams::for_fpp(items, fpp)
    }

    fn params_for_bits(bits: u64, items: u64) -> Result<BloomParams, ParamsError> {
        BloomParams::for_bits(bits, items)
    }

    fn with_params(params: BloomParams, hasher: Hasher) -> Result<Self, ParamsError> {
        Ok(Self::over(params, hasher, Heap::zeroed(params.lines())?))
    }
}

impl<S> Bloom<S> {
    /// A filter whose bits are already there. The caller has checked that there are as many lines as the parameters say.
    pub(crate) fn over(params: BloomParams, hasher: Hasher, store: S) -> Self {
        Self { params, hasher, store }
    }

    /// Size, shape and promise.
    pub fn params(&self) -> &BloomParams {
        &self.params
    }

    #[inline(always)]
    fn positions(&self, digest: Digest) -> Positions {
        self.params.scheme().positions(digest, self.params.bits(), self.params.probes())
    }

    fn fits<O>(&self, other: &Bloom<O>) -> Result<(), MergeError> {
        self.hasher.fits(&other.hasher)?;
        let (ours, theirs) = (&self.params, &other.params);
        for (what, ours, theirs) in [
            ("bits", ours.bits(), theirs.bits()),
            ("probes", ours.probes().into(), theirs.probes().into()),
            ("scheme", ours.scheme() as u64, theirs.scheme() as u64),
        ] {
            if ours != theirs {
                return Err(MergeError::Params { what, ours, theirs });
            }
        }
        Ok(())
    }
}

/// Whether the bit at this position is set.
#[inline(always)]
fn is_set(words: &[u64], position: u64) -> bool {
    words[(position / 64) as usize] >> (position % 64) & 1 == 1
}

/// How many keys are in flight in a bulk call.
const BATCH: usize = 32;
/// How many of a key's probes are fetched before any is looked at. Half of the bits are set, so a key that is not there is
/// known by then three times in four.
const FIRST: usize = 2;

impl<S: Store> Bloom<S> {
    /// The bits.
    pub fn lines(&self) -> &[Line] {
        self.store.lines()
    }

    /// The same filter in memory of its own, ready for inserts.
    pub fn to_heap(&self) -> Result<Bloom, ParamsError> {
        Ok(Bloom::over(self.params, self.hasher, Heap::copy_of(self.lines())?))
    }

    /// The part of the bits that are set.
    pub fn fill(&self) -> f64 {
        ones(self.lines()) as f64 / self.params.bits() as f64
    }

    /// How many different keys have come, as far as the bits tell.
    pub fn estimated_items(&self) -> f64 {
        self.params.items_for_fill(self.fill())
    }

    /// Answers up to [`BATCH`] keys: fetches their first probes, then the others of those that are still in question.
    #[inline(always)]
    fn answer_batch(&self, batch: &mut [Positions], answers: &mut [bool]) {
        let words = words(self.store.lines());
        for positions in batch.iter_mut() {
            let ahead = *positions;
            ahead.take(FIRST).for_each(|at| prefetch(&words[(at / 64) as usize]));
        }
        for (positions, answer) in batch.iter_mut().zip(&mut *answers) {
            *answer = positions.by_ref().take(FIRST).fold(true, |all, at| all & is_set(words, at));
            if *answer {
                let ahead = *positions;
                ahead.for_each(|at| prefetch(&words[(at / 64) as usize]));
            }
        }
        for (positions, answer) in batch.iter_mut().zip(answers) {
            *answer = *answer && positions.all(|at| is_set(words, at));
        }
    }
}

impl<S: Store> Filter for Bloom<S> {
    #[inline(always)]
    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    #[inline(always)]
    fn may_contain_digest(&self, digest: Digest) -> bool {
        let words = words(self.store.lines());
        self.positions(digest).all(|at| is_set(words, at))
    }

    fn answer(&self, mut digests: impl Iterator<Item = Digest>, answers: &mut [bool]) {
        let mut batch = [self.positions(Digest::default()); BATCH];
        for answers in answers.chunks_mut(BATCH) {
            let mut filled = 0;
            for (slot, digest) in batch[..answers.len()].iter_mut().zip(&mut digests) {
                *slot = self.positions(digest);
                filled += 1;
            }
            self.answer_batch(&mut batch[..filled], &mut answers[..filled]);
        }
    }

    fn stats(&self) -> Stats {
        let fill = self.fill();
        Stats {
            family: Family::Bloom,
            items: self.params.promise().items,
            fpp: self.params.promise().fpp,
            bits: self.params.bits(),
            fill,
            estimated_items: self.params.items_for_fill(fill),
            fpp_now: libm::pow(fill, self.params.probes().into()),
        }
    }

    fn size_in_bytes(&self) -> usize {
        size_of_val(self.lines())
    }
}

impl<S: StoreMut> Bloom<S> {
    /// Forgets all keys.
    pub fn clear(&mut self) {
        self.store.lines_mut().fill(Line::ZERO);
    }

    /// Keeps what may be in both filters: every key of both, and at most as many others as either had.
    pub fn intersect<O: Store>(&mut self, other: &Bloom<O>) -> Result<(), MergeError> {
        self.fits(other)?;
        self.store.lines_mut().iter_mut().zip(other.lines()).for_each(|(to, from)| to.and(from));
        Ok(())
    }

    #[inline(always)]
    fn set(words: &mut [u64], positions: Positions) -> Inserted {
        let mut new = false;
        for at in positions {
            let (word, bit) = (&mut words[(at / 64) as usize], 1 << (at % 64));
            new |= *word & bit == 0;
            *word |= bit;
        }
        Inserted::from_new(new)
    }
}

impl<S: StoreMut> Insert for Bloom<S> {
    type Outcome<T> = T;

    fn settled<T>(outcome: T) -> Result<T, Full> {
        Ok(outcome)
    }

    #[inline(always)]
    fn insert_digest(&mut self, digest: Digest) -> Inserted {
        let positions = self.positions(digest);
        Self::set(words_mut(self.store.lines_mut()), positions)
    }

    fn insert_from(&mut self, mut digests: impl Iterator<Item = Digest>) {
        let mut batch = [self.positions(Digest::default()); BATCH];
        loop {
            let mut filled = 0;
            for (slot, digest) in batch.iter_mut().zip(&mut digests) {
                *slot = self.positions(digest);
                let words = words(self.store.lines());
                let ahead = *slot;
                ahead.for_each(|at| prefetch(&words[(at / 64) as usize]));
                filled += 1;
            }
            let words = words_mut(self.store.lines_mut());
            for positions in &batch[..filled] {
                Self::set(words, *positions);
            }
            if filled < BATCH {
                return;
            }
        }
    }
}

impl<S: StoreMut, O: Store> Merge<Bloom<O>> for Bloom<S> {
    fn union(&mut self, other: &Bloom<O>) -> Result<(), MergeError> {
        self.fits(other)?;
        self.store.lines_mut().iter_mut().zip(other.lines()).for_each(|(to, from)| to.or(from));
        Ok(())
    }
}

impl<S: Store, O: Store> PartialEq<Bloom<O>> for Bloom<S> {
    /// Same shape, same hasher, same bits.
    fn eq(&self, other: &Bloom<O>) -> bool {
        self.fits(other).is_ok() && self.lines() == other.lines()
    }
}

impl<S> fmt::Debug for Bloom<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bloom")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}
