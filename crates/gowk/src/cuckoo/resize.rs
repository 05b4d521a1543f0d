//! Tables that grow, shrink and take in others, without the keys: bucket and tag tell all that is known of one.

use super::{
    filter::{Counts, Cuckoo, by_shape},
    layout::Spot,
    sizing::{CuckooParams, Shape},
    slots::{Lanes, Word},
};
use crate::{
    error::{Full, MergeError, ParamsError},
    filter::{Filter, Merge},
    params::Promise,
    store::{Store, StoreMut},
};
use alloc::vec::Vec;

impl Cuckoo {
    /// Doubles the number of slots, which takes one bit of each fingerprint. The rate for a number of keys stays as it was: with
    /// twice the keys it will be twice as high, and [`params`](Self::params) then promises that rate for them.
    ///
    /// A filter of [`CuckooParams::growing`] has bits in store for this and calls it by itself; so does one that was shrunk. Fails
    /// when no bit is left, or no memory, and has then changed nothing.
    ///
    /// ```
    /// use gowk::{Cuckoo, Filter, Insert};
    ///
    /// let mut seen = Cuckoo::builder().items(1_000).fpp(0.01).build()?;
    /// let before = seen.params().promise();
    /// seen.grow()?;
    /// assert!(seen.params().promise().items >= 2 * before.items);
    /// assert!(seen.params().promise().fpp <= 2.5 * before.fpp);
    /// # Ok::<(), gowk::ParamsError>(())
    /// ```
    pub fn grow(&mut self) -> Result<(), ParamsError> {
        self.double()?;
        let capacity = self.params.capacity();
        if capacity > self.params.promise().items {
            let promise = Promise { items: capacity, fpp: self.params.fpp_at(capacity) };
            self.params = self.params.with_promise(promise);
        }
        Ok(())
    }

    /// Doubles the slots and leaves the promise.
    fn double(&mut self) -> Result<(), ParamsError> {
        let Some(params) = self.params.doubled() else {
            return Err(ParamsError::OutOfRange {
                what: "spare bits to grow by",
                value: 0,
                least: 1,
                most: 24,
            });
        };
        let mut larger = self.empty(params)?;
        // Each bucket becomes two, which hold it whatever is in it.
        by_shape!(self.params, D, B, W => self.each::<D, B, W>(|spot, place| larger.put_down::<B>(place, spot.print)));
        larger.counts = Counts { swept: false, ..self.counts };
        larger.extras = self.extras.clone();
        *self = larger;
        Ok(())
    }

    /// Gives memory back after many removes: halves the table as often as the keys still fit. Each halving gives the fingerprints
    /// a bit back, so no answer changes. True if it is smaller now.
    ///
    /// The promise stays: the filter doubles by itself if the keys come back.
    ///
    /// ```
    /// use gowk::{Cuckoo, Filter, Insert, Remove};
    ///
    /// let mut online = Cuckoo::builder().items(100_000).fpp(0.01).build()?;
    /// for id in 0..100_000u64 { online.insert(&id)?; }
    /// for id in 1_000..100_000u64 { online.remove(&id); }
    /// let before = online.size_in_bytes();
    /// assert!(online.shrink_to_fit()?);
    /// assert!(online.size_in_bytes() < before / 4);
    /// assert!((0..1_000u64).all(|id| online.may_contain(&id)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shrink_to_fit(&mut self) -> Result<bool, ParamsError> {
        self.extras.shrink()?;
        for times in (1..MOST_HALVINGS).rev() {
            let Some(params) = self.params.halved(times) else { continue };
            if self.counts.used > params.capacity() {
                continue;
            }
            let mut smaller = self.empty(params)?;
            let fits = by_shape!(self.params, D, B, W => {
                let mut fits = true;
                self.each::<D, B, W>(|spot, _| fits = fits && smaller.settle(&spot));
                fits
            });
            if fits {
                smaller.counts = self.counts;
                smaller.extras = self.extras.clone();
                *self = smaller;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What can be done when a key finds no place; true if something was.
    pub(super) fn make_room(&mut self) -> bool {
        // Slots that hold a class twice are the first to go, where they are many; that takes one pass, once in a table's life.
        if !self.counts.swept && self.counts.stacked > self.counts.used / 32 {
            by_shape!(self.params, D, B, W => self.sweep::<D, B, W>());
            return true;
        }
        // As long as there are fewer keys than were promised a place is due to them. A table that was made for fewer, or shrunk,
        // is doubled then; one that has room for all only if chance is against it, as in one of a million.
        self.counts.used < self.params.promise().items && self.double().is_ok()
    }

    /// Moves what is stacked out of the slots into the counts.
    fn sweep<const D: usize, const B: usize, W: Word>(&mut self) {
        self.counts.swept = true;
        for bucket in 0..self.params.buckets() {
            // From the last slot down: taking one moves the last into its place, which has been looked at.
            for slot in (0..B).rev() {
                let value: W = self.lanes.read::<B, W>(self.store.lines(), bucket);
                let tag = self.lanes.tag(value, slot);
                if tag == 0 {
                    continue;
                }
                let spot: Spot<D> = self.layout.spot_of_tag(bucket, tag);
                let earlier = |place: &u64| {
                    let other = self.layout.bucket(*place);
                    let value: W = self.lanes.peek::<B, W>(self.store.lines(), other);
                    other < bucket && self.lanes.has(value, self.layout.tag(*place, spot.print))
                };
                // One of each class stays: that in the first slot of the first bucket.
                let again = (0..slot).any(|before| self.lanes.tag(value, before) == tag);
                if again || spot.places.iter().any(earlier) {
                    if self.extras.add(spot.class(), 1).is_err() {
                        return;
                    }
                    self.lanes.take::<B, W>(self.store.lines_mut(), bucket, slot);
                    self.counts.used = self.counts.used.saturating_sub(1);
                    self.counts.stacked = self.counts.stacked.saturating_sub(1);
                }
            }
        }
    }

    /// An empty filter of the same hasher.
    fn empty(&self, params: CuckooParams) -> Result<Self, ParamsError> {
        crate::builder::Build::with_params(params, *self.hasher())
    }

    /// Writes a tag into the first empty slot of the bucket of a place.
    fn put_down<const B: usize>(&mut self, place: u64, print: u64) {
        let bucket = self.layout.bucket(place);
        let value: u128 = self.lanes.read::<B, u128>(self.store.lines(), bucket);
        let (slot, tag) = (self.lanes.used::<B, u128>(value), self.layout.tag(place, print));
        if slot < B {
            self.lanes.write::<B>(self.store.lines_mut(), bucket, slot, tag);
        }
    }

    /// Puts in a key of the other's, whatever the widths of the two.
    fn add_spot<const D: usize>(&mut self, spot: &Spot<D>) -> Result<(), Full> {
        match self.params.shape().slots() {
            4 => self.add::<D, 4, u128>(spot),
            2 => self.add::<D, 2, u128>(spot),
            _ => self.add::<D, 1, u128>(spot),
        }
        .map(|_| ())
    }

    /// Puts a tag into any slot that is not taken by others, or by others that can move.
    fn settle<const D: usize>(&mut self, spot: &Spot<D>) -> bool {
        match self.params.shape().slots() {
            4 => self.place::<D, 4, u128>(spot),
            2 => self.place::<D, 2, u128>(spot),
            _ => self.place::<D, 1, u128>(spot),
        }
    }
}

/// Halvings that give fingerprints of more than 32 bits are none.
const MOST_HALVINGS: u32 = 29;

impl<S: Store> Cuckoo<S> {
    /// At place i, how many buckets have i slots in use. Reads all of the filter.
    pub fn bucket_loads(&self) -> Vec<u64> {
        by_shape!(self.params, D, B, W => self.loads::<D, B, W>())
    }

    /// How many slots of a bucket are in use.
    ///
    /// # Panics
    /// If there is no such bucket.
    pub fn bucket_load(&self, bucket: u64) -> u64 {
        assert!(bucket < self.params.buckets(), "there is no bucket {bucket}");
        by_shape!(self.params, D, B, W => self.load_of::<D, B, W>(bucket)) as u64
    }

    fn load_of<const D: usize, const B: usize, W: Word>(&self, bucket: u64) -> usize {
        let value: W = self.lanes.read::<B, W>(self.store.lines(), bucket);
        (0..B).filter(|slot| self.lanes.tag(value, *slot) != 0).count()
    }

    fn loads<const D: usize, const B: usize, W: Word>(&self) -> Vec<u64> {
        let mut loads = alloc::vec![0; B + 1];
        for bucket in 0..self.params.buckets() {
            loads[self.load_of::<D, B, W>(bucket)] += 1;
        }
        loads
    }

    /// Calls `f` with the spot and the place of every used slot.
    pub(super) fn each<const D: usize, const B: usize, W: Word>(&self, mut f: impl FnMut(Spot<D>, u64)) {
        for bucket in 0..self.params.buckets() {
            let value: W = self.lanes.read::<B, W>(self.store.lines(), bucket);
            for tag in (0..B).map(|slot| self.lanes.tag(value, slot)).filter(|tag| *tag != 0) {
                f(self.layout.spot_of_tag(bucket, tag), self.layout.place_of_tag(bucket, tag));
            }
        }
    }
}

impl<O: Store> Merge<Cuckoo<O>> for Cuckoo {
    /// The union, each key as often as it was in both. The filters must have been made with the same parameters; they may have
    /// grown or shrunk since. Fails if there is no room for all keys.
    ///
    /// Works on a copy, which takes memory for a second filter meanwhile.
    fn union(&mut self, other: &Cuckoo<O>) -> Result<(), MergeError> {
        self.hasher().fits(other.hasher())?;
        let differs = |what, ours: u64, theirs: u64| {
            if ours == theirs { Ok(()) } else { Err(MergeError::Params { what, ours, theirs }) }
        };
        let (ours, theirs) = (self.params, other.params);
        differs("candidate buckets", ours.shape().candidates(), theirs.shape().candidates())?;
        differs("slots per bucket", ours.shape().slots(), theirs.shape().slots())?;
        differs("print bits", ours.print_bits().into(), theirs.print_bits().into())?;
        differs("places", ours.grid(), theirs.grid())?;
        let mut union = self.clone();
        let mut outcome = Ok(());
        by_shape!(other.params, D, B, W => other.each::<D, B, W>(|spot, _| {
            if outcome.is_ok() {
                outcome = union.add_spot(&spot);
            }
        }));
        for (class, count) in other.extras.iter() {
            if outcome.is_ok() {
                outcome = union.extras.add(class, count).map_err(|_| union.full());
            }
        }
        outcome.map_err(MergeError::Full)?;
        *self = union;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Build, Hasher, Insert, Remove,
        testing::{binomial_band, key, members, strangers},
    };

    #[test]
    fn growing_changes_no_answer() {
        for shape in Shape::ALL {
            let params = CuckooParams::with_shape(shape, 1_200, 7, 12, 1_000).unwrap();
            let mut filter = Cuckoo::with_params(params, Hasher::new(1)).unwrap();
            for key in members(300) {
                filter.insert(&key).unwrap();
                filter.insert(&key).unwrap();
            }
            let before: Vec<(bool, u64)> =
                (0..20_000).map(key).map(|k| (filter.may_contain(&k), filter.count(&k))).collect();
            for _ in 0..6 {
                filter.grow().unwrap();
                let after: Vec<_> =
                    (0..20_000).map(key).map(|k| (filter.may_contain(&k), filter.count(&k))).collect();
                assert_eq!(after, before, "{shape}");
                assert_eq!(filter.len(), 600);
            }
            assert!(filter.shrink_to_fit().unwrap());
            assert!(filter.params().buckets() <= 2_400);
            let after: Vec<_> =
                (0..20_000).map(key).map(|k| (filter.may_contain(&k), filter.count(&k))).collect();
            assert_eq!(after, before, "{shape}");
        }
    }

    #[test]
    fn a_growing_filter_takes_what_it_was_told_and_keeps_the_rate() {
        let params = CuckooParams::growing(1_000, 300_000, 0.01).unwrap();
        let mut filter = Cuckoo::with_params(params, Hasher::new(1)).unwrap();
        let start = filter.size_in_bytes();
        assert!(start < 4_000, "{start}");
        let keys: Vec<u64> = members(300_000).collect();
        for key in &keys[..150_000] {
            filter.insert(key).unwrap();
        }
        filter.insert_many(&keys[150_000..]).unwrap();
        assert_eq!(filter.len(), 300_000);
        assert!(keys.iter().all(|key| filter.may_contain(key)));
        let expected = params.fpp_at(300_000);
        assert!(expected <= 0.01);
        let hits = strangers(1_000_000).filter(|key| filter.may_contain(key)).count() as u64;
        assert!(binomial_band(1_000_000, expected).contains(&hits), "{hits}");
        assert!((filter.stats().fpp_now / expected - 1.0).abs() < 0.01);
        for key in &keys {
            assert_eq!(filter.remove(key), crate::Removed::Gone);
        }
        assert!(filter.is_empty());
    }

    #[test]
    fn growing_on_request_reports_the_rate_that_it_costs() {
        let mut filter = Cuckoo::builder().items(10_000).fpp(0.01).seed(1).build().unwrap();
        let first = filter.params().promise();
        let mut times = 0;
        while filter.grow().is_ok() {
            times += 1;
            let promise = filter.params().promise();
            assert!(promise.items >= first.items << times);
            assert!((promise.fpp / filter.params().fpp_at(promise.items) - 1.0).abs() < 1e-9);
        }
        assert_eq!(times, 3);
        let promise = filter.params().promise();
        for key in members(promise.items) {
            filter.insert(&key).unwrap();
        }
        let hits = strangers(200_000).filter(|key| filter.may_contain(key)).count() as u64;
        assert!(binomial_band(200_000, promise.fpp).contains(&hits), "{hits}, promised {}", promise.fpp);
    }

    #[test]
    fn a_shrunk_filter_is_small_and_grows_back_by_itself() {
        let mut filter = Cuckoo::builder().items(200_000).fpp(0.01).seed(1).build().unwrap();
        let before = filter.size_in_bytes();
        for key in members(200_000) {
            filter.insert(&key).unwrap();
        }
        for key in members(200_000).skip(2_000) {
            filter.remove(&key);
        }
        assert!(filter.shrink_to_fit().unwrap());
        assert!(filter.size_in_bytes() * 20 < before, "{} of {before}", filter.size_in_bytes());
        assert!(members(2_000).all(|key| filter.may_contain(&key)));
        let hits = strangers(1_000_000).filter(|key| filter.may_contain(key)).count() as u64;
        assert!(binomial_band(1_000_000, filter.stats().fpp_now).contains(&hits), "{hits}");
        for key in members(200_000).skip(2_000) {
            filter.insert(&key).unwrap();
        }
        assert_eq!((filter.len(), size_of_val(filter.lines())), (200_000, before));
    }

    #[test]
    fn a_union_holds_each_key_as_often_as_both() {
        let make = |seed: u64, from: u64, to: u64| {
            let mut filter = Cuckoo::builder().items(10_000).fpp(0.01).seed(seed).build().unwrap();
            for i in from..to {
                filter.insert(&i).unwrap();
            }
            filter
        };
        let (mut a, mut b) = (make(1, 0, 5_000), make(1, 4_000, 8_000));
        for _ in 0..50 {
            b.insert(&7_000u64).unwrap();
        }
        b.grow().unwrap();
        a.union(&b).unwrap();
        assert_eq!(a.len(), 9_050);
        assert!((0..8_000u64).all(|i| a.may_contain(&i)));
        for i in (0..5_000u64).chain(4_000..8_000) {
            assert_eq!(a.remove(&i), crate::Removed::Gone);
        }
        assert_eq!(a.len(), 50);
        let before = a.clone();
        assert!(matches!(a.union(&make(2, 0, 1)), Err(MergeError::Seed)));
        let larger = Cuckoo::builder().items(20_000).fpp(0.01).seed(1).build().unwrap();
        assert!(matches!(a.union(&larger), Err(MergeError::Params { .. })));
        assert_eq!(a, before);
    }

    #[test]
    fn a_union_that_does_not_fit_changes_nothing() {
        let params = CuckooParams::with_shape(Shape::TwoByFour, 100, 7, 3, 1).unwrap();
        let fill = |from: u64| {
            let mut filter = Cuckoo::with_params(params, Hasher::new(1)).unwrap();
            for i in from..from + 300 {
                filter.insert(&i).unwrap();
            }
            filter
        };
        let (mut a, b) = (fill(0), fill(1_000));
        let before = a.clone();
        assert!(matches!(a.union(&b), Err(MergeError::Full(_))));
        assert_eq!(a, before);
    }
}
