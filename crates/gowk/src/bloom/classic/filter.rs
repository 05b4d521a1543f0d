//! The filter itself: positions over a store.

use super::{
    clustered::Rounds,
    eight::{self, by_eight},
    layout::{Scheme, Walk},
    rounds::{Ask, AskAll, AskShort, Layout, Put, PutAll, PutShort, Shape, by_shape},
    sizing::BloomParams,
};
use crate::{
    builder::{Build, Builder},
    bulk::{Source, Stream},
    error::{Full, MergeError, ParamsError},
    filter::{Filter, Insert, Inserted, Merge},
    hash::{Digest, Hasher, Key},
    simd::Isa,
    stats::{Family, Stats},
    store::{Heap, Line, SpreadBits, Store, StoreMut, ones, prefetch, words, words_mut},
};
use core::fmt;

/// The classic Bloom filter: the least space of its family, at two or three cache misses a key; or other systems' bits, at k.
///
/// Take it where space counts more than time, or to read and write what other systems have. Else
/// [`BlockedBloom`](crate::BlockedBloom) is faster.
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
    pub(super) hasher: Hasher,
    isa: Isa,
    /// What keys have that take the short way: the default hash, gowk's own scheme, one or two rounds.
    short: Option<Shape>,
    /// How gowk's own schemes have their lines and rounds; not asked under others.
    pub(super) clustered: Layout,
    pub(super) store: S,
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
        let rounds = Rounds::new(params.scheme(), params.probes());
        let clustered = Layout::new(params.lines() as usize, rounds);
        let short = clustered.shape.filter(|_| hasher.as_rapid().is_some());
        Self { params, hasher, isa: Isa::best(), short, clustered, store }
    }

    /// Size, shape and promise.
    pub fn params(&self) -> &BloomParams {
        &self.params
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

/// How many keys are in flight in a bulk call.
const BATCH: usize = 32;
/// How many of a key's probes are looked at before the first question: with half of the bits set, a key that is not there
/// is known by then three times in four. More would be guessed better, and cost lines that need not be fetched.
const AT_ONCE: u32 = 2;

/// Bits as a scheme names them, to read.
trait Bits: Copy {
    const STEP: u64;
    /// The bit, above it what comes.
    fn bit(self, x: u64) -> u64;
    /// Asks for the memory of the bit.
    fn prefetch(self, x: u64);
}

#[derive(Clone, Copy)]
struct Spread<'a>(&'a SpreadBits<&'a [u64]>);

impl Bits for Spread<'_> {
    const STEP: u64 = Scheme::Enhanced.step();

    #[inline(always)]
    fn bit(self, x: u64) -> u64 {
        self.0.bit(x)
    }

    #[inline(always)]
    fn prefetch(self, x: u64) {
        self.0.prefetch(x);
    }
}

#[derive(Clone, Copy)]
struct Modulo<'a> {
    words: &'a [u64],
    bits: u64,
}

impl Bits for Modulo<'_> {
    const STEP: u64 = Scheme::Double.step();

    #[inline(always)]
    fn bit(self, x: u64) -> u64 {
        let at = x % self.bits;
        self.words[(at / 64) as usize] >> (at % 64)
    }

    #[inline(always)]
    fn prefetch(self, x: u64) {
        prefetch(&self.words[(x % self.bits / 64) as usize]);
    }
}

/// Whether the next `probes` bits of a walk are all set.
#[inline(always)]
fn all_set<B: Bits>(bits: B, walk: &mut Walk, probes: u32) -> bool {
    let mut all = 1;
    for _ in 0..probes {
        all &= bits.bit(walk.next(B::STEP));
    }
    all & 1 == 1
}

/// Asks for the memory of the next `probes` bits of a walk.
#[inline(always)]
fn fetch<B: Bits>(bits: B, mut walk: Walk, probes: u32) {
    for _ in 0..probes {
        bits.prefetch(walk.next(B::STEP));
    }
}

/// Runs the code with `$bits` as the bits of this filter under its scheme, which walks.
macro_rules! by_scheme {
    ($filter:expr, $bits:ident => $call:expr) => {{
        let (lines, params) = ($filter.store.lines(), &$filter.params);
        match params.scheme() {
            Scheme::Enhanced => {
                let spread = SpreadBits::new(lines, params.bits() / 64);
                let $bits = Spread(&spread);
                $call
            }
            Scheme::Double | Scheme::Clustered | Scheme::Paired | Scheme::Fewest => {
                let $bits = Modulo { words: words(lines), bits: params.bits() };
                $call
            }
        }
    }};
}

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

    /// Whether a key may be in the set, the long way. A function of its own, out of the way of the short one.
    #[inline(never)]
    fn ask(&self, digest: Digest) -> bool {
        if self.params.scheme().shares_lines() {
            return self.isa.run(Ask { lines: self.store.lines(), layout: self.clustered, digest });
        }
        let first = self.params.probes().min(AT_ONCE);
        let others = self.params.probes() - first;
        let mut walk = Walk::new(digest);
        by_scheme!(self, bits => all_set(bits, &mut walk, first) && all_set(bits, &mut walk, others))
    }

    /// The chance that a key that is not in it finds all its bits set: from the bits as they are.
    fn measured_fpp(&self, fill: f64) -> f64 {
        match self.params.scheme() {
            Scheme::Enhanced | Scheme::Double => libm::pow(fill, self.params.probes().into()),
            Scheme::Clustered | Scheme::Paired | Scheme::Fewest => {
                self.clustered.rounds.measured_fpp(self.lines())
            }
        }
    }

    /// Answers digests [`BATCH`] by [`BATCH`]: fetches their first probes, then the others of those that are still in
    /// question.
    #[inline(always)]
    fn answer_with<B: Bits>(&self, bits: B, mut digests: impl Iterator<Item = Digest>, answers: &mut [bool]) {
        let first = self.params.probes().min(AT_ONCE);
        let others = self.params.probes() - first;
        let mut batch = [Walk::default(); BATCH];
        for answers in answers.chunks_mut(BATCH) {
            let mut filled = 0;
            for (walk, digest) in batch[..answers.len()].iter_mut().zip(&mut digests) {
                *walk = Walk::new(digest);
                fetch(bits, *walk, first);
                filled += 1;
            }
            for (walk, answer) in batch[..filled].iter_mut().zip(&mut *answers) {
                *answer = all_set(bits, walk, first);
                if *answer {
                    fetch(bits, *walk, others);
                }
            }
            for (walk, answer) in batch[..filled].iter_mut().zip(&mut *answers) {
                *answer = *answer && all_set(bits, walk, others);
            }
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
        self.may_contain(&digest)
    }

    #[inline(always)]
    fn may_contain<K: Key + ?Sized>(&self, key: &K) -> bool {
        by_shape!(self.short, R, N, APART => self.isa.run(AskShort::<_, _, R, N, APART> { filter: self, key }),
            else self.ask(self.hasher.digest(key)))
    }

    fn answer(&self, digests: impl Iterator<Item = Digest>, answers: &mut [bool]) {
        self.answer_source(Stream(digests), answers);
    }

    fn answer_source(&self, source: impl Source, answers: &mut [bool]) {
        if self.params.scheme().shares_lines() {
            let (lines, layout) = (self.store.lines(), self.clustered);
            return match by_eight(self.isa, &layout, lines, &source) {
                Some(by) => by.run_by_eight(eight::Answer { lines, layout, by, source, answers }),
                None => self.isa.run(AskAll { lines, layout, source, answers }),
            };
        }
        by_scheme!(self, bits => self.answer_with(bits, source.digests(), answers));
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
            fpp_now: self.measured_fpp(fill),
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

    /// Puts a key into the set, the long way; true if it was surely not there.
    #[inline(never)]
    fn put(&mut self, digest: Digest) -> bool {
        if self.params.scheme().shares_lines() {
            return self.isa.run(Put { lines: self.store.lines_mut(), layout: self.clustered, digest });
        }
        self.set(Walk::new(digest)) & 1 == 0
    }

    /// Sets the bits of a walk; gives 1 in the lowest bit if all of them were set before.
    #[inline(always)]
    fn set(&mut self, mut walk: Walk) -> u64 {
        let (lines, params) = (self.store.lines_mut(), &self.params);
        let mut before = 1;
        match params.scheme() {
            Scheme::Enhanced => {
                let mut bits = SpreadBits::new_mut(lines, params.bits() / 64);
                for _ in 0..params.probes() {
                    before &= bits.set(walk.next(Scheme::Enhanced.step()));
                }
            }
            Scheme::Double | Scheme::Clustered | Scheme::Paired | Scheme::Fewest => {
                let words = words_mut(lines);
                for _ in 0..params.probes() {
                    let at = walk.next(Scheme::Double.step()) % params.bits();
                    let word = &mut words[(at / 64) as usize];
                    before &= *word >> (at % 64);
                    *word |= 1 << (at % 64);
                }
            }
        }
        before
    }
}

impl<S: StoreMut> Insert for Bloom<S> {
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
        Inserted::from_new(
            by_shape!(self.short, R, N, _APART => self.isa.run(PutShort::<_, _, R, N> { filter: self, key }),
            else self.put(self.hasher.digest(key))),
        )
    }

    fn insert_from(&mut self, digests: impl Iterator<Item = Digest>) {
        self.insert_source(Stream(digests));
    }

    fn insert_source(&mut self, source: impl Source) {
        if self.params.scheme().shares_lines() {
            let (lines, layout) = (self.store.lines_mut(), self.clustered);
            return match by_eight(self.isa, &layout, lines, &source) {
                Some(by) => by.run_by_eight(eight::PutAll { lines, layout, by, source }),
                None => self.isa.run(PutAll { lines, layout, source }),
            };
        }
        let mut digests = source.digests();
        let mut batch = [Walk::default(); BATCH];
        loop {
            let mut filled = 0;
            by_scheme!(self, bits => {
                for (walk, digest) in batch.iter_mut().zip(&mut digests) {
                    *walk = Walk::new(digest);
                    fetch(bits, *walk, self.params.probes());
                    filled += 1;
                }
            });
            batch[..filled].iter().for_each(|walk| {
                self.set(*walk);
            });
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
