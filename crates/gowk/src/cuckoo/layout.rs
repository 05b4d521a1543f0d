//! From a digest to its candidate places and the tag it leaves there. Pure; knows no memory.
//!
//! Places are counted on a grid that never changes: `grid` places, each bucket of the table covering 2^spare neighbouring
//! ones. A tag is the print of the key and, below it, the `spare` low bits of its place, so that bucket and tag together
//! tell the place. Doubling the table gives the top one of those bits to the bucket; halving takes it back.

use super::sizing::CuckooParams;
use crate::{
    hash::Digest,
    range::{MOST_SHORT, scale, scale_short},
};

/// The most bits of a print.
pub(super) const MOST_PRINT: u32 = 16;

/// What a table of `D` candidate buckets needs to know to place a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The places that a candidate is drawn from: all of them for two candidates, else those of its own part.
    range: u64,
    /// The bits of a place that are in the tag.
    pub(super) spare: u32,
    print_mask: u64,
    spare_mask: u64,
    /// The bits of a tag.
    pub(super) width: u32,
}

/// The candidate places of a key, and its print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot<const D: usize> {
    pub(super) places: [u64; D],
    pub(super) print: u64,
}

/// All that a filter can tell apart: keys of one class have the same candidate places and the same print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) root: u64,
    pub(super) print: u64,
}

impl<const D: usize> Spot<D> {
    /// The class, named by its least place.
    pub(super) fn class(&self) -> Class {
        Class { root: self.places.iter().fold(u64::MAX, |least, place| least.min(*place)), print: self.print }
    }
}

impl Layout {
    pub(super) fn of(params: &CuckooParams) -> Self {
        let parts = if params.shape().candidates() == 2 { 1 } else { params.shape().candidates() };
        Self {
            range: params.grid() / parts,
            spare: params.spare_bits(),
            print_mask: (1 << params.print_bits()) - 1,
            spare_mask: (1 << params.spare_bits()) - 1,
            width: params.width(),
        }
    }

    /// Where a key may be.
    #[inline(always)]
    pub(super) fn spot<const D: usize>(&self, digest: Digest) -> Spot<D> {
        let print = self.print(digest.h1);
        self.around(scale(digest.h1, self.range), print)
    }

    /// Whether a place is a number of 32 bits.
    pub(super) fn is_short(&self) -> bool {
        self.range <= MOST_SHORT
    }

    /// The two candidates of a key, of places that [are short](Self::is_short): without a multiplication of more than 32 bits by 32, or of
    /// which the upper half counts, so that the compiler makes vectors of them.
    #[inline(always)]
    pub(super) fn short_places(&self, h1: u64, print: u64) -> [u64; 2] {
        let first = scale_short(h1, self.range);
        [first, self.mirror(first, scale_short(mixed(1, print), self.range))]
    }

    /// The print of a key. 0 marks an empty slot, so 0 becomes 1. That makes 1 twice as likely; `sizing` counts with it.
    #[inline(always)]
    pub(super) fn print(&self, h1: u64) -> u64 {
        let print = h1 & self.print_mask;
        print + u64::from(print == 0)
    }

    /// The place of the tag that is in a bucket.
    #[inline(always)]
    pub(super) fn place_of_tag(&self, bucket: u64, tag: u64) -> u64 {
        bucket << self.spare | tag & self.spare_mask
    }

    /// The spot of the tag that is in a bucket.
    #[inline(always)]
    pub(super) fn spot_of_tag<const D: usize>(&self, bucket: u64, tag: u64) -> Spot<D> {
        let place = self.place_of_tag(bucket, tag);
        let print = tag >> self.spare;
        if D == 2 {
            return self.around(place, print);
        }
        let part = (1..D as u64).filter(|part| place >= part * self.range).count() as u64;
        let offset = place - part * self.range;
        let shift = self.shift(part, print);
        let base = if offset >= shift { offset - shift } else { offset + self.range - shift };
        self.around(base, print)
    }

    /// All candidates of a key, from the first. Two candidates mirror each other: the second is `shift - first`, and so the
    /// first is `shift - second`, in a ring of any size. More candidates lie each in a part of its own, at a distance from
    /// the first that the print tells.
    #[inline(always)]
    fn around<const D: usize>(&self, first: u64, print: u64) -> Spot<D> {
        let places = core::array::from_fn(|part| {
            let part = part as u64;
            match part {
                0 => first,
                _ if D == 2 => self.mirror(first, self.shift(1, print)),
                _ => {
                    let place = first + self.shift(part, print);
                    part * self.range + if place >= self.range { place - self.range } else { place }
                }
            }
        });
        Spot { places, print }
    }

    #[inline(always)]
    fn mirror(&self, first: u64, shift: u64) -> u64 {
        let (place, below) = shift.overflowing_sub(first);
        place.wrapping_add(if below { self.range } else { 0 })
    }

    /// Where the print moves a key in part `part`.
    #[inline(always)]
    pub(super) fn shift(&self, part: u64, print: u64) -> u64 {
        if part == 0 {
            return 0;
        }
        scale(mixed(part, print), self.range)
    }

    /// The bucket of a place.
    #[inline(always)]
    pub(super) fn bucket(&self, place: u64) -> u64 {
        place >> self.spare
    }

    /// What a key of this print leaves in the bucket of a place. Never 0.
    #[inline(always)]
    pub(super) fn tag(&self, place: u64, print: u64) -> u64 {
        print << self.spare | place & self.spare_mask
    }
}

/// What says how far a print moves a key in a part.
#[inline(always)]
fn mixed(part: u64, print: u64) -> u64 {
    let mixed = (print << 2 | part).wrapping_mul(Digest::SPREAD);
    (mixed ^ mixed >> 32).wrapping_mul(Digest::SPREAD)
}

#[cfg(test)]
mod tests {
    use super::{super::sizing::Shape, *};
    use proptest::prelude::*;

    fn check<const D: usize>(
        shape: Shape,
        buckets: u64,
        print: u32,
        spare: u32,
        h1: u64,
    ) -> Result<(), TestCaseError> {
        let params = CuckooParams::with_shape(shape, buckets, print, spare, 1).unwrap();
        let layout = Layout::of(&params);
        let spot = layout.spot::<D>(Digest::from(h1));
        prop_assert!((1..1 << print).contains(&spot.print));
        for place in spot.places {
            prop_assert!(place < params.grid());
            let (bucket, tag) = (layout.bucket(place), layout.tag(place, spot.print));
            prop_assert!(bucket < params.buckets());
            prop_assert!(tag != 0 && tag >> layout.width == 0);
            // Whichever of its tags is met, the same key is meant.
            let again = layout.spot_of_tag::<D>(bucket, tag);
            prop_assert_eq!(again.class(), spot.class());
            let (mut ours, mut theirs) = (spot.places, again.places);
            ours.sort_unstable();
            theirs.sort_unstable();
            prop_assert_eq!(ours, theirs);
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn each_candidate_tells_all_others(
            buckets in prop_oneof![1u64..20, 1u64..1 << 28], print in 4u32..=16, spare in 0u32..=16, h1: u64,
        ) {
            check::<2>(Shape::TwoByFour, buckets, print, spare, h1)?;
            check::<2>(Shape::TwoByOne, buckets, print, spare, h1)?;
            check::<3>(Shape::ThreeByOne, buckets * 3, print, spare, h1)?;
            check::<4>(Shape::FourByTwo, buckets * 4, print, spare, h1)?;
        }
    }

    #[test]
    fn candidates_are_spread_over_the_whole_table() {
        let params = CuckooParams::with_shape(Shape::TwoByFour, 1000, 7, 3, 1).unwrap();
        let layout = Layout::of(&params);
        let mut hits = [0u32; 1000];
        for i in 0..1_000_000 {
            let spot = layout.spot::<2>(Digest::from(crate::testing::key(i)));
            hits[layout.bucket(spot.places[1]) as usize] += 1;
        }
        assert!(hits.iter().all(|&hits| (800..1200).contains(&hits)), "{hits:?}");
    }
}
