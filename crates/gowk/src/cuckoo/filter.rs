//! The filter itself: a layout over packed slots, and the counts of what is in them.

use super::{
    evict::{self, Node},
    extras::Extras,
    layout::{Layout, Spot},
    sizing::{CuckooParams, Shape},
    slots::{Lanes, Word},
};
use crate::{
    builder::{Build, Builder},
    bulk::pipeline,
    error::{Full, ParamsError},
    filter::{Filter, Insert, Inserted, Remove, Removed},
    hash::{Digest, Hasher, Key},
    simd::{Isa, Machine, Task},
    stats::{Family, Stats},
    store::{Heap, Line, Store, StoreMut, prefetch},
};
use alloc::vec::Vec;
use core::{
    cell::{Cell, RefCell},
    fmt,
    hint::select_unpredictable,
};

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
    common: bool,
    hasher: Hasher,
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
        Self {
            layout: Layout::of(&params),
            lanes: Lanes::new(slots, params.width()),
            common: params.shape() == Shape::TwoByFour && Lanes::narrow(slots, params.width()),
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
    fn holds<const D: usize, const B: usize, W: Word>(&self, spot: &Spot<D>) -> bool {
        let Self { layout, lanes, store, .. } = self;
        spot.places.iter().fold(false, |any, &place| {
            let value: W = lanes.peek::<B, W>(store.lines(), layout.bucket(place));
            any | lanes.has(value, layout.tag(place, spot.print))
        })
    }

    /// The lookup for shapes other than the common one.
    #[inline(never)]
    fn holds_uncommon(&self, digest: Digest) -> bool {
        by_shape!(self.params, D, B, W => self.holds::<D, B, W>(&self.layout.spot::<D>(digest)))
    }

    /// The places of a key, the lines of its buckets on their way.
    #[inline(always)]
    fn fetch<const D: usize, const B: usize>(&self, digest: Digest) -> Spot<D> {
        let spot = self.layout.spot::<D>(digest);
        for place in spot.places {
            let bit = self.lanes.bit::<B>(self.layout.bucket(place));
            prefetch(&self.store.lines()[(bit / Line::BITS) as usize]);
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

    #[inline(always)]
    fn may_contain<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.isa.run(Holds { filter: self, key })
    }

    fn answer(&self, digests: impl Iterator<Item = Digest>, answers: &mut [bool]) {
        self.isa.run(Answer { filter: self, digests, answers });
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

    /// Puts a key in: into the emptier of its buckets, where that is all there is to do.
    #[inline(always)]
    pub(super) fn add<const D: usize, const B: usize, W: Word>(
        &mut self,
        spot: &Spot<D>,
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
            return self.add_with_effort::<D, B, W>(spot, seen);
        }
        lanes.write::<B>(store.lines_mut(), bucket, lanes.used::<B, W>(value), tag);
        self.counts.used += 1;
        Ok(Inserted::New)
    }

    /// Puts a key in whose buckets are full, or whose class is already there.
    #[inline(never)]
    fn add_with_effort<const D: usize, const B: usize, W: Word>(
        &mut self,
        spot: &Spot<D>,
        seen: bool,
    ) -> Result<Inserted, Full> {
        if seen {
            // Two different keys of one class are rare, and a slot is the cheapest place for the second. A key that comes again
            // and again is only counted. So are both when slots run short.
            let stacks = !self.counts.swept
                && self.counts.used < self.capacity
                && self.copies::<D, B, W>(spot) < self.stack_limit;
            if stacks && self.place::<D, B, W>(spot) {
                self.counts.used += 1;
                self.counts.stacked += 1;
            } else {
                self.extras.add(spot.class(), 1).map_err(|_| self.full())?;
            }
            return Ok(Inserted::MaybeSeen);
        }
        while !self.place::<D, B, W>(spot) {
            if !self.make_room() {
                return Err(self.full());
            }
        }
        self.counts.used += 1;
        Ok(Inserted::New)
    }

    pub(super) fn place<const D: usize, const B: usize, W: Word>(&mut self, spot: &Spot<D>) -> bool {
        let Self { layout, lanes, store, queue, .. } = self;
        evict::place::<D, B, W>(layout, lanes, store.lines_mut(), queue, spot)
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

struct Holds<'a, S, K: ?Sized> {
    filter: &'a Cuckoo<S>,
    key: &'a K,
}

impl<S: Store, K: Key + ?Sized> Task for Holds<'_, S, K> {
    type Output = bool;

    #[inline(always)]
    fn run(self, _: impl Machine) -> bool {
        let digest = self.filter.hasher.digest(self.key);
        if self.filter.common {
            self.filter.holds::<2, 4, u64>(&self.filter.layout.spot(digest))
        } else {
            self.filter.holds_uncommon(digest)
        }
    }
}

struct Answer<'a, S, I> {
    filter: &'a Cuckoo<S>,
    digests: I,
    answers: &'a mut [bool],
}

impl<S: Store, I: Iterator<Item = Digest>> Task for Answer<'_, S, I> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: impl Machine) {
        let filter = self.filter;
        let digests = self.digests.take(self.answers.len());
        let mut answers = self.answers.iter_mut();
        by_shape!(filter.params, D, B, W => pipeline(digests, |digest| filter.fetch::<D, B>(digest), |spot| {
            if let Some(answer) = answers.next() {
                *answer = filter.holds::<D, B, W>(&spot);
            }
        }));
    }
}

struct Add<'a, K: ?Sized> {
    filter: &'a mut Cuckoo,
    key: &'a K,
}

impl<K: Key + ?Sized> Task for Add<'_, K> {
    type Output = Result<Inserted, Full>;

    #[inline(always)]
    fn run(self, _: impl Machine) -> Self::Output {
        let digest = self.filter.hasher.digest(self.key);
        if self.filter.common {
            self.filter.add::<2, 4, u64>(&self.filter.layout.spot(digest))
        } else {
            self.filter.add_uncommon(digest)
        }
    }
}

impl Cuckoo {
    /// The insert for shapes other than the common one.
    #[inline(never)]
    fn add_uncommon(&mut self, digest: Digest) -> Result<Inserted, Full> {
        by_shape!(self.params, D, B, W => self.add::<D, B, W>(&self.layout.spot::<D>(digest)))
    }
}

struct AddAll<'a, I> {
    filter: &'a mut Cuckoo,
    digests: I,
}

impl<I: Iterator<Item = Digest>> Task for AddAll<'_, I> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run(self, _: impl Machine) -> Self::Output {
        let full = Cell::new(None);
        let digests = self.digests.take_while(|_| full.get().is_none());
        let params = self.filter.params;
        let filter = RefCell::new(self.filter);
        // A filter that grows meanwhile has narrower buckets, which the same word holds.
        by_shape!(params, D, B, W => pipeline(
            digests,
            |digest| filter.borrow().fetch::<D, B>(digest),
            |spot| {
                if full.get().is_none() {
                    full.set(filter.borrow_mut().add::<D, B, W>(&spot).err());
                }
            },
        ));
        full.get().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{binomial_band, key, members, strangers};
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn filled(params: CuckooParams, n: u64, seed: u64) -> Cuckoo {
        let mut filter = Cuckoo::with_params(params, Hasher::new(seed)).unwrap();
        for key in members(n) {
            filter.insert(&key).unwrap();
        }
        filter
    }

    #[test]
    fn the_rate_is_the_one_asked_for_at_every_size() {
        for (n, seeds, trials) in
            [(1, 300, 20_000), (10, 200, 20_000), (1_000, 20, 100_000), (1_000_000, 1, 4_000_000)]
        {
            for fpp in [0.2, 0.01, 0.001] {
                let params = CuckooParams::for_fpp(n, fpp).unwrap();
                let expected = params.fpp_at(n);
                assert!(expected <= fpp);
                let mut hits = 0;
                for seed in 0..seeds {
                    let filter = filled(params, n, seed);
                    assert!(members(n).all(|key| filter.may_contain(&key)));
                    hits += strangers(trials).filter(|key| filter.may_contain(key)).count() as u64;
                }
                let band = binomial_band(seeds * trials, expected);
                // Seeds with few keys differ by whole keys: one more or less of the same class.
                let (low, high) = if n < 1_000 {
                    (band.start() * 9 / 10, band.end() * 11 / 10)
                } else {
                    (*band.start(), *band.end())
                };
                assert!(
                    (low..=high).contains(&hits),
                    "{n} keys at {fpp}: {hits} of {}, expected {band:?}",
                    seeds * trials
                );
            }
        }
    }

    #[test]
    fn stats_tell_what_is_there() {
        let n = 100_000;
        let params = CuckooParams::for_fpp(n, 0.01).unwrap();
        let mut filter = filled(params, n, 3);
        let stats = filter.stats();
        assert!((stats.estimated_items / n as f64 - 1.0).abs() < 0.002, "{}", stats.estimated_items);
        assert!((stats.fpp_now / params.fpp_at(n) - 1.0).abs() < 0.01);
        assert!(stats.to_string().contains("never inserted"), "{stats}");
        // Keys that come again are no new ones.
        for key in members(n / 2) {
            filter.insert(&key).unwrap();
        }
        assert_eq!(filter.len(), n + n / 2);
        assert!((filter.stats().estimated_items / n as f64 - 1.0).abs() < 0.002);
    }

    #[test]
    fn the_same_key_a_thousand_times_is_counted_and_removed_as_often() {
        let mut filter = Cuckoo::builder().items(100).fpp(0.01).seed(5).build().unwrap();
        for key in members(80) {
            filter.insert(&key).unwrap();
        }
        let before = filter.load();
        for _ in 0..1_000 {
            assert!(filter.insert("again").is_ok());
        }
        assert!(filter.load() - before < 0.03);
        assert_eq!((filter.len(), filter.count("again")), (1_080, 1_000));
        for left in (0..1_000).rev() {
            assert_eq!(filter.remove("again"), Removed::Gone);
            assert_eq!(filter.count("again"), left);
            assert_eq!(filter.may_contain("again"), left > 0);
        }
        assert_eq!(filter.remove("again"), Removed::Absent);
        assert_eq!(filter.len(), 80);
        assert!(members(80).all(|key| filter.may_contain(&key)));
    }

    #[test]
    fn as_many_different_keys_fit_when_each_comes_twice() {
        let n = 20_000;
        for fpp in [0.3, 0.01, 1e-6] {
            let mut filter = Cuckoo::builder().items(n).fpp(fpp).seed(5).build().unwrap();
            let slots = filter.params().slots();
            for key in members(n) {
                filter.insert(&key).unwrap();
                filter.insert(&key).unwrap();
            }
            assert_eq!(filter.len(), 2 * n);
            assert_eq!(filter.params().slots(), slots, "it did not have to grow");
            for key in members(n).chain(members(n)) {
                assert_eq!(filter.remove(&key), Removed::Gone);
            }
            assert!(filter.is_empty());
            assert!(filter.lines().iter().all(|line| *line == Line::ZERO));
        }
    }

    #[test]
    fn a_refused_insert_changes_nothing() {
        for shape in Shape::ALL {
            let params = CuckooParams::with_shape(shape, 1_200, 7, 3, 1).unwrap();
            let mut filter = Cuckoo::with_params(params, Hasher::new(1)).unwrap();
            let mut inside = Vec::new();
            let mut refused = 0;
            for i in 0..8_000 {
                let before = filter.clone();
                match filter.insert(&key(i)) {
                    Ok(_) => inside.push(key(i)),
                    Err(full) => {
                        assert_eq!(filter, before);
                        assert_eq!(full.items, filter.len());
                        refused += 1;
                    }
                }
            }
            assert!(refused > 100, "{shape}: {refused}");
            assert_eq!(filter.len(), inside.len() as u64);
            assert!(inside.iter().all(|key| filter.may_contain(key)), "{shape}");
            // Removing makes room again.
            for key in &inside {
                assert_eq!(filter.remove(key), Removed::Gone, "{shape}");
            }
            assert!(filter.is_empty());
        }
    }

    #[test]
    fn a_bulk_insert_stops_where_it_is_full() {
        let params = CuckooParams::with_shape(Shape::TwoByFour, 500, 7, 3, 1).unwrap();
        let keys: Vec<u64> = members(5_000).collect();
        let mut bulk = Cuckoo::with_params(params, Hasher::new(1)).unwrap();
        assert!(bulk.insert_many(&keys).is_err());
        let mut single = Cuckoo::with_params(params, Hasher::new(1)).unwrap();
        for key in &keys {
            if single.insert(key).is_err() {
                break;
            }
        }
        assert_eq!(bulk, single);
    }

    #[test]
    fn bulk_and_single_calls_agree() {
        for shape in Shape::ALL {
            for fpp in [0.2, 0.01, 1e-7] {
                let params = CuckooParams::for_shape(shape, 3_000, fpp).unwrap();
                let keys: Vec<u64> = members(3_000).collect();
                let mut bulk = Cuckoo::with_params(params, Hasher::new(2)).unwrap();
                bulk.insert_many(&keys).unwrap();
                let single = filled(params, 3_000, 2);
                assert_eq!(bulk, single, "{shape} at {fpp}");
                let asked: Vec<u64> = (0..10_000).map(key).collect();
                let answers = bulk.may_contain_many(&asked);
                for (key, answer) in asked.iter().zip(answers) {
                    assert_eq!(single.may_contain(key), answer);
                    assert!(answer || !keys.contains(key));
                }
            }
        }
    }

    #[test]
    fn a_made_filter_takes_all_the_keys_it_was_made_for() {
        for n in (1..60).chain([100, 300, 1_000, 30_000]) {
            for fpp in [0.4, 0.05, 0.01] {
                let params = CuckooParams::for_fpp(n, fpp).unwrap();
                for seed in 0..(20_000 / n).clamp(1, 300) {
                    let filter = filled(params, n, seed);
                    assert_eq!(filter.len(), n);
                    assert_eq!(filter.params().promise(), params.promise());
                }
            }
        }
    }

    /// What is promised about any sequence of calls, held against a multiset.
    fn behaves_like_a_multiset(params: CuckooParams, steps: &[(u8, u16)]) -> Result<(), TestCaseError> {
        let mut filter = Cuckoo::with_params(params, Hasher::new(7)).unwrap();
        let mut model: HashMap<u16, u64> = HashMap::new();
        for &(step, id) in steps {
            match step {
                // A few keys often, many rarely.
                0..100 => {
                    let id = if step < 50 { id % 8 } else { id % 3_000 };
                    let seen = filter.may_contain(&id);
                    match filter.insert(&id) {
                        Ok(inserted) => {
                            *model.entry(id).or_default() += 1;
                            prop_assert_eq!(inserted == Inserted::MaybeSeen, seen);
                        }
                        Err(full) => prop_assert_eq!(full.items, filter.len()),
                    }
                }
                100..180 => {
                    let id = if step < 140 { id % 8 } else { id % 3_000 };
                    if model.get(&id).is_some_and(|count| *count > 0) {
                        prop_assert_eq!(filter.remove(&id), Removed::Gone);
                        *model.get_mut(&id).unwrap() -= 1;
                    } else if !filter.may_contain(&id) {
                        prop_assert_eq!(filter.remove(&id), Removed::Absent);
                    }
                }
                180..183 => {
                    filter.grow().ok();
                }
                183..190 => {
                    filter.shrink_to_fit().unwrap();
                }
                190 => {
                    filter = crate::Persist::from_bytes(&crate::Persist::to_bytes(&filter)).unwrap();
                }
                _ => {
                    let id = id % 3_000;
                    let count = model.get(&id).copied().unwrap_or(0);
                    prop_assert!(filter.may_contain(&id) || count == 0);
                    prop_assert!(filter.count(&id) >= count);
                }
            }
            prop_assert_eq!(filter.len(), model.values().sum::<u64>());
        }
        for (id, count) in &model {
            prop_assert!(*count == 0 || filter.may_contain(id));
        }
        // All out again: nothing is left.
        for (id, count) in &model {
            for _ in 0..*count {
                prop_assert_eq!(filter.remove(id), Removed::Gone);
            }
        }
        prop_assert_eq!((filter.len(), filter.counts.stacked), (0, 0));
        prop_assert!(filter.lines().iter().all(|line| *line == Line::ZERO));
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn any_sequence_of_calls_behaves_like_a_multiset(
            steps in prop::collection::vec(any::<(u8, u16)>(), 0..3_000),
            shape in prop::sample::select(Shape::ALL.to_vec()),
            buckets in 1u64..300, print in 4u32..9, spare in 0u32..10, items in 1u64..2_000,
        ) {
            let buckets = buckets.next_multiple_of(12);
            behaves_like_a_multiset(CuckooParams::with_shape(shape, buckets, print, spare, items).unwrap(), &steps)?;
        }
    }

    /// The load before the first refusal, at a million slots.
    fn first_refusal(shape: Shape, print: u32, spare: u32, seed: u64) -> f64 {
        let buckets = ((1u64 << 20) / shape.slots()).next_multiple_of(12);
        let params = CuckooParams::with_shape(shape, buckets, print, spare, 1).unwrap();
        let mut filter = Cuckoo::with_params(params, Hasher::new(seed)).unwrap();
        let _ = (0..2u64 << 20).map(key).find(|key| filter.insert(key).is_err());
        filter.load()
    }

    #[test]
    fn doc_table_of_loads_is_true() {
        for (shape, print, spare, load, within) in [
            (Shape::TwoByFour, 7, 9, 0.973, 0.004),
            (Shape::TwoByTwo, 7, 9, 0.883, 0.006),
            (Shape::TwoByOne, 16, 0, 0.50, 0.02),
            (Shape::ThreeByOne, 16, 0, 0.90, 0.01),
            (Shape::FourByOne, 16, 0, 0.963, 0.01),
            (Shape::FourByTwo, 7, 9, 0.993, 0.004),
        ] {
            let reached = first_refusal(shape, print, spare, 1);
            assert!((reached - load).abs() < within, "{shape} reached {reached}, not {load}");
        }
    }

    #[test]
    fn single_slots_with_short_prints_fill_badly() {
        let reached = first_refusal(Shape::TwoByOne, 7, 9, 1);
        assert!((0.05..0.40).contains(&reached), "{reached}");
    }
}
