//! The filter itself: a layout over a store.

use super::{
    builder::FuseBuilder,
    layout::Layout,
    sizing::{Arity, FuseParams},
};
use crate::{
    bulk::{Ahead, GROUP, Groups, Source, Stages, Stream, first, grouped, texts_come_by_eight},
    error::ParamsError,
    filter::Filter,
    hash::{Digest, Hasher, Key, RapidBy},
    simd::{Arithmetic, EightTask, Isa},
    stats::{Family, Stats},
    store::{By, Bytes, Fetch, Found, FoundEight, Heap, Line, Long, Short, Slots, Store},
};
use core::fmt;

/// The small filter for a set that does not change: built once from all its keys, never inserted into.
///
/// See [the module page](crate::fuse) for how it works and what it costs.
///
/// ```
/// use gowk::{BinaryFuse, Filter};
///
/// let banned = BinaryFuse::builder().fpp(0.001).build_from(["heron", "gowk", "whaup", "gowk"])?;
/// assert!(banned.may_contain("gowk"));
/// assert_eq!(banned.len(), 3);                     // repeats are one key
/// # Ok::<(), gowk::ParamsError>(())
/// ```
#[derive(Clone)]
pub struct BinaryFuse<S = Heap> {
    params: FuseParams,
    pub(super) layout: Layout,
    keys: u64,
    hasher: Hasher,
    pub(super) isa: Isa,
    shape: Shape,
    usual: Usual,
    store: S,
}

/// Whether keys get the default hash, and three slots that are read by loads of at most four bytes: the cases that are made fast,
/// told apart by one question.
#[derive(Clone, Copy, Debug)]
enum Usual {
    No,
    Bytes(Bytes),
    Short(Short<4>),
    /// On a processor that has the proof in it.
    BytesBy(By<Bytes>),
    /// The same. Read by two bytes slots lie in two lines less often yet, a twentieth of the time of a million keys.
    NarrowBy(By<Short<2>>),
    ShortBy(By<Short<4>>),
}

impl Usual {
    fn new(params: &FuseParams, hasher: &Hasher, isa: Isa) -> Self {
        if hasher.as_rapid().is_none() {
            return Self::No;
        }
        match (Shape::of(params), isa.bmi2()) {
            (Shape::Bytes(bytes), None) => Self::Bytes(bytes),
            (Shape::Bytes(bytes), Some(bmi2)) => Self::BytesBy(By(bytes, bmi2)),
            (Shape::Short(short), None) => Self::Short(short),
            (Shape::Short(short), Some(bmi2)) => match Short::new(params.width()) {
                Some(narrow) => Self::NarrowBy(By(narrow, bmi2)),
                None => Self::ShortBy(By(short, bmi2)),
            },
            (Shape::Long(_) | Shape::Four(_), _) => Self::No,
        }
    }
}

/// How many slots a key has, and how they are read.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Bytes(Bytes),
    Short(Short<4>),
    Long(Long),
    Four(Long),
}

impl Shape {
    fn of(params: &FuseParams) -> Self {
        let long = Long::new(params.width()).expect("parameters have at most 32 bits");
        match (params.arity(), params.width(), Short::new(params.width())) {
            (Arity::Three, 8, _) => Self::Bytes(Bytes),
            (Arity::Three, _, Some(short)) => Self::Short(short),
            (Arity::Three, _, None) => Self::Long(long),
            (Arity::Four, ..) => Self::Four(long),
        }
    }
}

impl BinaryFuse {
    /// Describes a filter by what it is for, and then builds it from keys.
    pub fn builder() -> FuseBuilder {
        FuseBuilder::default()
    }
}

impl<S> BinaryFuse<S> {
    /// A filter whose slots are already there. The caller has checked that there are as many lines as the parameters say.
    pub(super) fn over(params: FuseParams, layout: Layout, keys: u64, hasher: Hasher, store: S) -> Self {
        let (shape, isa) = (Shape::of(&params), Isa::best());
        let usual = Usual::new(&params, &hasher, isa);
        Self { params, layout, keys, hasher, isa, shape, usual, store }
    }

    /// Size, shape and promise.
    pub fn params(&self) -> &FuseParams {
        &self.params
    }

    /// How many different keys it was built from.
    pub fn len(&self) -> u64 {
        self.keys
    }

    /// Whether it was built from no key.
    pub fn is_empty(&self) -> bool {
        self.keys == 0
    }
}

impl<S: Store> BinaryFuse<S> {
    /// The slots.
    pub fn lines(&self) -> &[Line] {
        self.store.lines()
    }

    /// The same filter in memory of its own.
    pub fn to_heap(&self) -> Result<BinaryFuse, ParamsError> {
        Ok(BinaryFuse::over(self.params, self.layout, self.keys, self.hasher, Heap::copy_of(self.lines())?))
    }
}

impl<S: Store> Filter for BinaryFuse<S> {
    #[inline(always)]
    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    #[inline(always)]
    fn may_contain_digest(&self, digest: Digest) -> bool {
        self.holds_any(digest.h1)
    }

    #[inline(always)]
    fn may_contain<K: Key + ?Sized>(&self, key: &K) -> bool {
        // Not a task: the instruction sets gain less here than the call costs, and inlined, what does not change from key to
        // key stays in registers. Only what is usual is inlined, by as few questions as can be.
        let rapid = self.hasher.rapid();
        match self.usual {
            Usual::NarrowBy(narrow) => self.holds_by(narrow, key),
            Usual::ShortBy(short) => self.holds_by(short, key),
            Usual::BytesBy(bytes) => self.holds_by(bytes, key),
            Usual::Bytes(bytes) => self.holds::<3>(bytes, key.digest(rapid).h1),
            Usual::Short(short) => self.holds::<3>(short, key.digest(rapid).h1),
            Usual::No => self.holds_any(self.hasher.digest(key).h1),
        }
    }

    fn answer(&self, digests: impl Iterator<Item = Digest>, answers: &mut [bool]) {
        self.answer_source(Stream(digests), answers);
    }

    fn answer_source(&self, source: impl Source, answers: &mut [bool]) {
        match texts_come_by_eight(&source) {
            true => self.answer_by_shape::<_, true>(source, answers),
            false => self.answer_by_shape::<_, false>(source, answers),
        }
    }

    fn stats(&self) -> Stats {
        Stats {
            family: Family::BinaryFuse,
            items: self.params.promise().items,
            fpp: self.params.promise().fpp,
            bits: self.params.bits(),
            fill: self.keys as f64 / self.params.slots() as f64,
            estimated_items: self.keys as f64,
            fpp_now: self.params.fpp(),
        }
    }

    fn size_in_bytes(&self) -> usize {
        size_of_val(self.lines())
    }
}

impl<S: Store, O: Store> PartialEq<BinaryFuse<O>> for BinaryFuse<S> {
    /// Same shape, same hasher, same slots.
    fn eq(&self, other: &BinaryFuse<O>) -> bool {
        self.layout == other.layout
            && (self.params.arity(), self.params.width()) == (other.params.arity(), other.params.width())
            && self.hasher == other.hasher
            && self.lines() == other.lines()
    }
}

impl<S> fmt::Debug for BinaryFuse<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BinaryFuse")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}

/// Each shape is a task of its own: of all in one, the loops take three megabytes of stack where nothing is optimised, more than a thread has.
impl<S: Store> BinaryFuse<S> {
    fn answer_by_shape<I: Source, const TEXTS: bool>(&self, source: I, answers: &mut [bool]) {
        match self.shape {
            Shape::Bytes(width) => self.answer_by::<3, TEXTS>(width, source, answers),
            // As in `Usual`: two bytes lie in two lines less often, which at three million keys is a tenth of the time. To put eight of them together
            // takes longer than as many double words; who hashes by vectors has time for it.
            Shape::Short(width) => match Short::<2>::new(width.bits()) {
                Some(width) if self.isa.avx512().is_some() => {
                    self.answer_by::<3, TEXTS>(width, source, answers)
                }
                _ => self.answer_by::<3, TEXTS>(width, source, answers),
            },
            Shape::Long(width) => self.answer_by::<3, TEXTS>(width, source, answers),
            Shape::Four(width) => self.answer_by::<4, TEXTS>(width, source, answers),
        }
    }

    fn answer_by<const K: usize, const TEXTS: bool>(
        &self,
        width: impl Slots,
        source: impl Source,
        answers: &mut [bool],
    ) {
        let (layout, lines) = (self.layout, self.lines());
        let asking = Asking::<_, K> { layout, lines, width, by: Fetch::of(size_of_val(lines)) };
        if layout.is_short() {
            self.isa.run_by_eight(Answer::<_, _, K, TEXTS> { asking, source, answers });
        } else {
            self.isa.run_by_eight(AnswerSingly { asking, source, answers });
        }
    }
}

struct Answer<'a, W, I, const K: usize, const TEXTS: bool> {
    asking: Asking<'a, W, K>,
    source: I,
    answers: &'a mut [bool],
}

impl<W: Slots, I: Source, const K: usize, const TEXTS: bool> EightTask for Answer<'_, W, I, K, TEXTS> {
    #[inline(always)]
    fn run(self, arithmetic: impl Arithmetic) {
        let hashes = self.source.hashes::<_, TEXTS>(arithmetic);
        grouped(hashes, K, size_of_val(self.asking.lines), self.asking, self.answers);
    }
}

/// Of filters so large that a slot's number does not fit 32 bits.
struct AnswerSingly<'a, W, I, const K: usize> {
    asking: Asking<'a, W, K>,
    source: I,
    answers: &'a mut [bool],
}

impl<W: Slots, I: Source, const K: usize> EightTask for AnswerSingly<'_, W, I, K> {
    #[inline(always)]
    fn run(self, _: impl Arithmetic) {
        let ahead = Ahead::<64>::of(K, size_of_val(self.asking.lines));
        self.source.answered(ahead, self.asking, self.answers);
    }
}

#[derive(Clone, Copy)]
struct Asking<'a, W, const K: usize> {
    layout: Layout,
    lines: &'a [Line],
    width: W,
    by: Fetch,
}

impl<W: Slots, const K: usize> Groups for Asking<'_, W, K> {
    type Places = (FoundEight<K>, [u64; GROUP]);
    type Answer = bool;

    #[inline(always)]
    fn find(&self, hashes: [u64; GROUP]) -> Self::Places {
        (self.layout.find_eight(&hashes, self.width), hashes)
    }

    #[inline(always)]
    fn fetch<const FAR: bool>(&self, (found, _): &Self::Places, by: Fetch) {
        match FAR {
            true => found.prefetch_whole(self.lines, by),
            false => found.prefetch(self.lines),
        }
    }

    #[inline(always)]
    fn act(&mut self, (found, hashes): &Self::Places, answers: &mut [bool; GROUP]) {
        let differ = found.xor(self.lines, self.width, hashes);
        for i in 0..GROUP {
            answers[i] = differ[i] == 0;
        }
    }

    #[inline(always)]
    fn act_on_some(&mut self, places: &Self::Places, answers: &mut [bool]) {
        first(self, places, answers);
    }
}

/// Of filters so large that a slot's number does not fit 32 bits.
impl<W: Slots, const K: usize> Stages for Asking<'_, W, K> {
    type Item = Digest;
    type Place = (Found<K>, u64);
    type Answer = bool;

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> Self::Place {
        let found = self.layout.find::<K>(digest.h1, self.width);
        found.prefetch(self.lines, self.width, self.by);
        (found, digest.h1)
    }

    #[inline(always)]
    fn act(&mut self, (found, h1): Self::Place) -> bool {
        found.xor(self.lines, self.width, h1) == 0
    }
}

impl<S: Store> BinaryFuse<S> {
    /// Whether the slots xor to the key's fingerprint.
    #[inline(always)]
    fn holds<const K: usize>(&self, width: impl Slots, h1: u64) -> bool {
        self.layout.find::<K>(h1, width).xor(self.lines(), width, h1) == 0
    }

    /// The same of a key with three slots, where the processor has what makes it short.
    #[inline(always)]
    fn holds_by<K: Key + ?Sized>(&self, width: By<impl Slots>, key: &K) -> bool {
        let hash = RapidBy { rapid: self.hasher.rapid(), by: width.1 };
        self.holds::<3>(width, key.digest(&hash).h1)
    }

    #[inline(never)]
    fn holds_any(&self, h1: u64) -> bool {
        match self.shape {
            Shape::Bytes(bytes) => self.holds::<3>(bytes, h1),
            Shape::Short(short) => self.holds::<3>(short, h1),
            Shape::Long(long) => self.holds::<3>(long, h1),
            Shape::Four(long) => self.holds::<4>(long, h1),
        }
    }
}
