//! The filter itself: a layout over packed slots, and the counts of what is in them.

use super::{
    evict::{self, Node},
    extras::Extras,
    layout::{Layout, Spot},
    observe::{Observer, Slot, Step},
    sizing::{CuckooParams, Shape},
    slots::{Lanes, Word},
    task::{Add, AddAll, Answer, Holds},
};
use crate::{
    builder::{Build, Builder},
    bulk::{Source, Stream},
    error::{Full, ParamsError},
    filter::{Filter, Insert, Inserted, Remove, Removed},
    hash::{Digest, Hasher, Key},
    simd::Isa,
    stats::{Family, Stats},
    store::{Fetch, Heap, Line, Store, StoreMut},
};
use alloc::vec::Vec;
use core::{fmt, hint::select_unpredictable};

/// A filter that keys can be taken out of again.
///
/// See [the module page](crate::cuckoo) for how it works and what it costs.
///
/// ```
/// use gowk::{Cuckoo, Filter, Insert, Remove, Removed};
///
/// let mut online = Cuckoo::builder().items(1_000_000).fpp(0.01).build()?;
/// online.insert("ann")?;
/// online.insert("bob")?;
/// online.insert("ann")?;                              // twice
/// assert_eq!(online.len(), 3);
///
/// assert_eq!(online.remove("ann"), Removed::Gone);
/// assert!(online.may_contain("ann"));                 // once more
/// assert_eq!(online.remove("ann"), Removed::Gone);
/// assert_eq!(online.remove("ann"), Removed::Absent);
/// assert!(online.may_contain("bob"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// **Remove only what was inserted.** A key that never was is usually reported as [`Removed::Absent`]; but with the
/// probability of a false positive ([`Stats::fpp_now`]) there is another key that the filter cannot tell from it, and then that
/// other key goes, and is denied from then on.
#[derive(Clone)]
pub struct Cuckoo<S = Heap> {
    pub(super) params: CuckooParams,
    pub(super) layout: Layout,
    pub(super) lanes: Lanes,
    /// Whether two buckets of four slots are read by one load each: the case that is made fast.
    pub(super) common: bool,
    /// And whether keys get the default hash as well: then single keys are worked on without a call.
    usual: bool,
    pub(super) hasher: Hasher,
    isa: Isa,
    pub(super) store: S,
    /// Keys that are not in slots because another of their class is.
    pub(super) extras: Extras<S>,
    pub(super) counts: Counts,
    /// As many keys as the table is made for, and how many of one class get slots.
    capacity: u64,
    stack_limit: u64,
    queue: Vec<Node>,
}

/// What is in the slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// The slots in use.
    pub(super) used: u64,
    /// Those of them that hold one more of a class that has another slot.
    pub(super) stacked: u64,
    /// Whether all of those have once been moved out to make room; none is stacked any more then.
    pub(super) swept: bool,
}

/// Runs the code with the candidates, the slots and the word of the parameters' shape as constants.
macro_rules! by_shape {
    ($params:expr, $D:ident, $B:ident, $W:ident => $call:expr) => {{
        macro_rules! with {
            ($d:literal, $b:literal, $w:ty) => {{
                const $D: usize = $d;
                const $B: usize = $b;
                type $W = $w;
                $call
            }};
        }
        let shape = $params.shape();
        match (shape, Lanes::narrow(shape.slots() as u32, $params.width())) {
            (Shape::TwoByFour, true) => with!(2, 4, u64),
            (Shape::TwoByFour, false) => with!(2, 4, u128),
            (Shape::TwoByTwo, true) => with!(2, 2, u64),
            (Shape::TwoByTwo, false) => with!(2, 2, u128),
            (Shape::TwoByOne, _) => with!(2, 1, u64),
            (Shape::ThreeByOne, _) => with!(3, 1, u64),
            (Shape::FourByOne, _) => with!(4, 1, u64),
            (Shape::FourByTwo, true) => with!(4, 2, u64),
            (Shape::FourByTwo, false) => with!(4, 2, u128),
        }
    }};
}
pub(super) use by_shape;

impl Cuckoo {
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

impl Build for Cuckoo {
    type Params = CuckooParams;

    fn params_for_fpp(items: u64, fpp: f64) -> Result<CuckooParams, ParamsError> {
        CuckooParams::for_fpp(items, fpp)
    }

    fn params_for_bits(bits: u64, items: u64) -> Result<CuckooParams, ParamsError> {
        CuckooParams::for_bits(bits, items)
    }

    fn with_params(params: CuckooParams, hasher: Hasher) -> Result<Self, ParamsError> {
        Ok(Self::over(params, hasher, Heap::zeroed(params.lines())?, Extras::none(), Counts::default()))
    }
}

impl<S> Cuckoo<S> {
    /// A filter whose slots are already there. The caller has checked that there are as many lines as the parameters say.
    pub(super) fn over(
        params: CuckooParams,
        hasher: Hasher,
        store: S,
        extras: Extras<S>,
        counts: Counts,
    ) -> Self {
        let slots = params.shape().slots() as u32;
        let common = params.shape() == Shape::TwoByFour && Lanes::narrow(slots, params.width());
        Self {
            layout: Layout::of(&params),
            lanes: Lanes::new(slots, params.width()),
            common,
            usual: common && hasher.as_rapid().is_some(),
            hasher,
            isa: Isa::best(),
            store,
            extras,
            counts,
            capacity: params.capacity(),
            stack_limit: params.stack_limit(),
            queue: Vec::new(),
            params,
        }
    }

    /// Size, shape and promise.
    pub fn params(&self) -> &CuckooParams {
        &self.params
    }
}

impl<S: Store> Cuckoo<S> {
    /// The slots.
    pub fn lines(&self) -> &[Line] {
        self.store.lines()
    }

    /// How many keys are in it: inserted and not removed, each as often as it was.
    pub fn len(&self) -> u64 {
        self.counts.used.saturating_add(self.extras.total())
    }

    /// Whether no key is in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The part of the slots that are used.
    pub fn load(&self) -> f64 {
        self.counts.used as f64 / self.params.slots() as f64
    }

    /// How many keys can be removed before this one is denied: as often as it was inserted, or more, where other keys
    /// cannot be told from it.
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> u64 {
        let digest = self.hasher.digest(key);
        by_shape!(self.params, D, B, W => {
            let spot = self.layout.spot::<D>(digest);
            self.copies::<D, B, W>(&spot) + self.extras.count(spot.class())
        })
    }

    /// Where a key may be: its buckets, and what it leaves in a slot of each.
    pub fn candidates<K: Key + ?Sized>(&self, key: &K) -> Vec<(u64, u32)> {
        let digest = self.hasher.digest(key);
        by_shape!(self.params, D, B, W => self.candidates_of::<D, B, W>(digest))
    }

    fn candidates_of<const D: usize, const B: usize, W: Word>(&self, digest: Digest) -> Vec<(u64, u32)> {
        let spot = self.layout.spot::<D>(digest);
        let candidate = |place: u64| (self.layout.bucket(place), self.layout.tag(place, spot.print) as u32);
        spot.places.map(candidate).to_vec()
    }

    /// What is in the slots of a bucket; 0 in an empty one.
    ///
    /// # Panics
    /// If there is no such bucket.
    pub fn bucket(&self, bucket: u64) -> Vec<u32> {
        assert!(bucket < self.params.buckets(), "there is no bucket {bucket}");
        by_shape!(self.params, D, B, W => self.tags::<D, B, W>(bucket))
    }

    fn tags<const D: usize, const B: usize, W: Word>(&self, bucket: u64) -> Vec<u32> {
        let value: W = self.lanes.read::<B, W>(self.lines(), bucket);
        (0..B).map(|slot| self.lanes.tag(value, slot) as u32).collect()
    }

    /// How many keys are counted beside the slots, because others that cannot be told from them have slots.
    pub fn counted(&self) -> u64 {
        self.extras.total()
    }

    /// The same filter in memory of its own, ready for inserts.
    pub fn to_heap(&self) -> Result<Cuckoo, ParamsError> {
        let store = Heap::copy_of(self.lines())?;
        Ok(Cuckoo::over(self.params, self.hasher, store, self.extras.to_heap()?, self.counts))
    }

    /// How many different classes of keys there are.
    fn classes(&self) -> u64 {
        self.counts.used.saturating_sub(self.counts.stacked)
    }

    /// How many slots hold keys of this class.
    pub(super) fn copies<const D: usize, const B: usize, W: Word>(&self, spot: &Spot<D>) -> u64 {
        let in_place = |place: u64| {
            let value: W = self.lanes.read::<B, W>(self.lines(), self.layout.bucket(place));
            self.lanes.count::<B, W>(value, self.layout.tag(place, spot.print))
        };
        // The mirror image of a place may be the place itself.
        let places =
            if D == 2 && spot.places[0] == spot.places[1] { &spot.places[..1] } else { &spot.places[..] };
        places.iter().map(|place| in_place(*place)).sum()
    }

    /// Whether one of the candidate buckets holds the tag. All are read at once: a branch on the first would cost more
    /// than it saves.
    #[inline(always)]
    pub(super) fn holds<const D: usize, const B: usize, W: Word>(&self, spot: &Spot<D>) -> bool {
        let Self { layout, lanes, store, .. } = self;
        spot.places.iter().fold(false, |any, &place| {
            let value: W = lanes.peek::<B, W>(store.lines(), layout.bucket(place));
            any | lanes.has(value, layout.tag(place, spot.print))
        })
    }

    /// The lookup for shapes other than the common one.
    #[inline(never)]
    pub(super) fn holds_uncommon(&self, digest: Digest) -> bool {
        by_shape!(self.params, D, B, W => self.holds::<D, B, W>(&self.layout.spot::<D>(digest)))
    }

    /// The places of a key, the lines of its buckets on their way.
    #[inline(always)]
    pub(super) fn fetch<const D: usize, const B: usize>(&self, by: Fetch, digest: Digest) -> Spot<D> {
        let spot = self.layout.spot::<D>(digest);
        for place in spot.places {
            self.lanes.fetch::<B>(by, self.store.lines(), self.layout.bucket(place));
        }
        spot
    }
}

impl<S: Store> Filter for Cuckoo<S> {
    #[inline(always)]
    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    #[inline(always)]
    fn may_contain_digest(&self, digest: Digest) -> bool {
        self.isa.run(Holds { filter: self, key: &digest })
    }

    /// Not a task, where it is short: instruction sets gain less here than the call costs.
    #[inline(always)]
    fn may_contain<K: Key + ?Sized>(&self, key: &K) -> bool {
        match self.usual {
            true => self.holds::<2, 4, u64>(&self.layout.spot(key.digest(self.hasher.rapid()))),
            false => self.isa.run(Holds { filter: self, key }),
        }
    }

    fn answer(&self, digests: impl Iterator<Item = Digest>, answers: &mut [bool]) {
        self.answer_source(Stream(digests), answers);
    }

    fn answer_source(&self, source: impl Source, answers: &mut [bool]) {
        self.isa.run_by_eight(Answer { filter: self, source, answers });
    }

    /// What is in it. The rate is also the chance that removing a key that was never inserted takes away another, which is then
    /// denied.
    fn stats(&self) -> Stats {
        Stats {
            family: Family::Cuckoo,
            items: self.params.promise().items,
            fpp: self.params.promise().fpp,
            bits: self.size_in_bytes() as u64 * 8,
            fill: self.load(),
            estimated_items: self.params.items_for_classes(self.classes()),
            fpp_now: self.params.fpp_of_classes(self.classes()),
        }
    }

    fn size_in_bytes(&self) -> usize {
        size_of_val(self.lines()) + size_of_val(self.extras.lines())
    }
}

impl Insert for Cuckoo {
    /// An insert fails when the filter is full, and has then changed nothing.
    type Outcome<T> = Result<T, Full>;

    fn settled<T>(outcome: Result<T, Full>) -> Result<T, Full> {
        outcome
    }

    #[inline(always)]
    fn insert_digest(&mut self, digest: Digest) -> Result<Inserted, Full> {
        self.isa.run(Add { filter: self, key: &digest })
    }

    #[inline(always)]
    fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<Inserted, Full> {
        self.isa.run(Add { filter: self, key })
    }

    fn insert_from(&mut self, digests: impl Iterator<Item = Digest>) -> Result<(), Full> {
        self.isa.run(AddAll { filter: self, digests })
    }
}

impl Remove for Cuckoo {
    fn remove_digest(&mut self, digest: Digest) -> Removed {
        by_shape!(self.params, D, B, W => self.drop_one::<D, B, W>(&self.layout.spot::<D>(digest)))
    }
}

impl Cuckoo {
    /// Forgets all keys.
    pub fn clear(&mut self) {
        self.store.lines_mut().fill(Line::ZERO);
        self.extras.clear();
        self.counts = Counts::default();
    }

    /// As [`insert`](Insert::insert), telling its steps as they are done. Does the same to the filter, no faster.
    pub fn insert_observed<K: Key + ?Sized>(
        &mut self,
        key: &K,
        observer: &mut impl Observer,
    ) -> Result<Inserted, Full> {
        let digest = self.hasher.digest(key);
        by_shape!(self.params, D, B, W => self.add_observed::<D, B, W>(&self.layout.spot::<D>(digest), observer))
    }

    /// Puts a key in: into the emptier of its buckets, where that is all there is to do.
    #[inline(always)]
    pub(super) fn add<const D: usize, const B: usize, W: Word>(
        &mut self,
        spot: &Spot<D>,
    ) -> Result<Inserted, Full> {
        self.add_observed::<D, B, W>(spot, &mut ())
    }

    #[inline(always)]
    fn add_observed<const D: usize, const B: usize, W: Word>(
        &mut self,
        spot: &Spot<D>,
        observer: &mut impl Observer,
    ) -> Result<Inserted, Full> {
        let Self { layout, lanes, store, .. } = self;
        let look = |place: u64| {
            let (bucket, tag) = (layout.bucket(place), layout.tag(place, spot.print));
            (lanes.read::<B, W>(store.lines(), bucket), bucket, tag)
        };
        let (mut value, mut bucket, mut tag) = look(spot.places[0]);
        let mut seen = lanes.has(value, tag);
        for &place in &spot.places[1..] {
            let other = look(place);
            seen |= lanes.has(other.0, other.2);
            // No branch: which bucket is emptier is a coin toss, and its loss would be known only when memory has answered.
            let less = other.0.less(value);
            value = select_unpredictable(less, other.0, value);
            bucket = select_unpredictable(less, other.1, bucket);
            tag = select_unpredictable(less, other.2, tag);
        }
        if seen | lanes.full::<B, W>(value) {
            return self.add_with_effort::<D, B, W>(spot, seen, observer);
        }
        let slot = lanes.used::<B, W>(value);
        lanes.write::<B>(store.lines_mut(), bucket, slot, tag);
        observer.step(Step::Placed { at: Slot { bucket, slot: slot as u64 }, tag: tag as u32 });
        self.counts.used += 1;
        Ok(Inserted::New)
    }

    /// Puts a key in whose buckets are full, or whose class is already there.
    #[inline(never)]
    fn add_with_effort<const D: usize, const B: usize, W: Word>(
        &mut self,
        spot: &Spot<D>,
        seen: bool,
        observer: &mut impl Observer,
    ) -> Result<Inserted, Full> {
        if seen {
            // Two different keys of one class are rare, and a slot is the cheapest place for the second. A key that comes again
            // and again is only counted. So are both when slots run short.
            let stacks = !self.counts.swept
                && self.counts.used < self.capacity
                && self.copies::<D, B, W>(spot) < self.stack_limit;
            if stacks && self.place_observed::<D, B, W>(spot, observer) {
                self.counts.used += 1;
                self.counts.stacked += 1;
            } else {
                self.extras.add(spot.class(), 1).map_err(|_| self.full())?;
                observer.step(Step::Counted);
            }
            return Ok(Inserted::MaybeSeen);
        }
        while !self.place_observed::<D, B, W>(spot, observer) {
            let buckets = self.params.buckets();
            if !self.make_room() {
                return Err(self.full());
            }
            observer.step(if self.params.buckets() == buckets { Step::Swept } else { Step::Doubled });
        }
        self.counts.used += 1;
        Ok(Inserted::New)
    }

    pub(super) fn place<const D: usize, const B: usize, W: Word>(&mut self, spot: &Spot<D>) -> bool {
        self.place_observed::<D, B, W>(spot, &mut ())
    }

    fn place_observed<const D: usize, const B: usize, W: Word>(
        &mut self,
        spot: &Spot<D>,
        observer: &mut impl Observer,
    ) -> bool {
        let Self { layout, lanes, store, queue, .. } = self;
        evict::place::<D, B, W>(layout, lanes, store.lines_mut(), queue, spot, observer)
    }

    /// Takes a key out: a counted one first, so that its class keeps a slot as long as it has keys.
    fn drop_one<const D: usize, const B: usize, W: Word>(&mut self, spot: &Spot<D>) -> Removed {
        if !self.holds::<D, B, W>(spot) {
            return Removed::Absent;
        }
        if self.extras.take(spot.class()) {
            return Removed::Gone;
        }
        let copies = self.copies::<D, B, W>(spot);
        let Self { layout, lanes, store, counts, .. } = self;
        for place in spot.places {
            let (bucket, tag) = (layout.bucket(place), layout.tag(place, spot.print));
            let value: W = lanes.read::<B, W>(store.lines(), bucket);
            if let Some(slot) = (0..B).find(|slot| lanes.tag(value, *slot) == tag) {
                lanes.take::<B, W>(store.lines_mut(), bucket, slot);
                counts.used = counts.used.saturating_sub(1);
                counts.stacked = counts.stacked.saturating_sub(u64::from(copies > 1));
                break;
            }
        }
        Removed::Gone
    }

    pub(super) fn full(&self) -> Full {
        Full { items: self.len(), capacity: self.params.promise().items }
    }
}

impl<S: Store, O: Store> PartialEq<Cuckoo<O>> for Cuckoo<S> {
    /// Same shape, same hasher, same slots, same counts.
    fn eq(&self, other: &Cuckoo<O>) -> bool {
        self.params == other.params
            && self.hasher == other.hasher
            && self.counts == other.counts
            && self.lines() == other.lines()
            && self.extras.lines() == other.extras.lines()
    }
}

impl<S> fmt::Debug for Cuckoo<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Cuckoo");
        debug.field("params", &self.params).field("hasher", &self.hasher).field("counts", &self.counts);
        debug.finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
