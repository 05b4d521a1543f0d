//! The filter itself: a layout over a store.

use super::{
    builder::FuseBuilder,
    layout::Layout,
    sizing::{Arity, FuseParams},
};
use crate::{
    error::ParamsError,
    filter::Filter,
    hash::{Digest, Hasher, Key},
    simd::{Isa, Machine, Task},
    stats::{Family, Stats},
    store::{BATCH, Batch, Bytes, Found, Heap, Line, Long, Short, Slots, Store},
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
    isa: Isa,
    shape: Shape,
    /// Set where keys get the default hash, and three slots that are read by loads of at most four bytes: the case that is made
    /// fast.
    usual: Option<Short>,
    store: S,
}

/// How many slots a key has, and how they are read.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Bytes(Bytes),
    Short(Short),
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
        let shape = Shape::of(&params);
        let short = Short::new(params.width()).filter(|_| params.arity() == Arity::Three);
        let usual = short.filter(|_| hasher.as_rapid().is_some());
        Self { params, layout, keys, hasher, isa: Isa::best(), shape, usual, store }
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
        if let Some(short) = self.usual {
            let h1 = key.digest(self.hasher.rapid()).h1;
            match self.shape {
                Shape::Bytes(bytes) => self.holds::<3>(bytes, h1),
                _ => self.holds::<3>(short, h1),
            }
        } else {
            self.holds_any(self.hasher.digest(key).h1)
        }
    }

    fn answer(&self, digests: impl Iterator<Item = Digest>, answers: &mut [bool]) {
        self.isa.run(Answer { filter: self, digests, answers });
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

struct Answer<'a, S, I> {
    filter: &'a BinaryFuse<S>,
    digests: I,
    answers: &'a mut [bool],
}

impl<S: Store, I: Iterator<Item = Digest>> Task for Answer<'_, S, I> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: impl Machine) {
        let Self { filter, digests, answers } = self;
        match filter.shape {
            Shape::Bytes(bytes) => filter.answer_bytes(bytes, digests, answers),
            Shape::Short(short) => filter.answer_packed::<3>(short, digests, answers),
            Shape::Long(long) => filter.answer_packed::<3>(long, digests, answers),
            Shape::Four(long) => filter.answer_packed::<4>(long, digests, answers),
        }
    }
}

impl<S: Store> BinaryFuse<S> {
    /// Whether the slots xor to the key's fingerprint.
    #[inline(always)]
    fn holds<const K: usize>(&self, width: impl Slots, h1: u64) -> bool {
        self.layout.find::<K>(h1).xor(self.lines(), width, h1) == 0
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

    /// Batches in turns: the slots of one are fetched, then those of the one before are compared. Three places a key are too many
    /// for the registers of a loop that does both at once.
    #[inline(always)]
    fn answer_bytes(&self, width: Bytes, mut digests: impl Iterator<Item = Digest>, answers: &mut [bool]) {
        let (layout, lines) = (self.layout, self.lines());
        let mut batches = [[(Found::<3>::FIRST, 0); BATCH]; 2];
        let (mut turn, mut before, mut rest): (usize, &mut [bool], _) = (0, &mut [], answers);
        loop {
            let mut fetched = 0;
            let some = digests.by_ref().take(rest.len().min(BATCH));
            for (asked, digest) in batches[turn].iter_mut().zip(some) {
                let found = layout.find(digest.h1);
                found.prefetch(lines, width);
                *asked = (found, digest.h1);
                fetched += 1;
            }
            for (answer, &(found, h1)) in before.iter_mut().zip(&batches[1 - turn]) {
                *answer = found.xor(lines, width, h1) == 0;
            }
            if fetched == 0 {
                return;
            }
            (before, rest) = rest.split_at_mut(fetched);
            turn = 1 - turn;
        }
    }

    /// As [`answer_bytes`](Self::answer_bytes), for slots that take longer to find.
    #[inline(always)]
    fn answer_packed<const K: usize>(
        &self,
        width: impl Slots,
        mut digests: impl Iterator<Item = Digest>,
        answers: &mut [bool],
    ) {
        let (layout, lines) = (self.layout, self.lines());
        let mut batches = [Batch::<K, _>::new(layout.chain, width), Batch::new(layout.chain, width)];
        let (mut turn, mut before, mut rest): (usize, &mut [bool], _) = (0, &mut [], answers);
        loop {
            let some = digests.by_ref().take(rest.len().min(BATCH)).map(|digest| digest.h1);
            let fetched = batches[turn].fetch(lines, some, |h1| layout.moves(h1));
            if !before.is_empty() {
                before.copy_from_slice(&batches[1 - turn].equal(lines)[..before.len()]);
            }
            if fetched == 0 {
                return;
            }
            (before, rest) = rest.split_at_mut(fetched);
            turn = 1 - turn;
        }
    }
}
