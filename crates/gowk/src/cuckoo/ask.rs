//! Lookups in bulk, of the common shape: two buckets of four slots, each read by one load.
//!
//! Where a print moves a key depends on nothing else, and there are few prints. So a long call begins with a table of it, which
//! takes a quarter of the first-level cache and saves three of the six multiplications of a key.

use super::{
    layout::Layout,
    slots::{Lanes, Word},
};
use crate::{
    bulk::{Ahead, Source, Stages},
    hash::Digest,
    store::Line,
};

/// The most bits of a print that the table is made for.
const TABLE_BITS: u32 = 10;

/// Answers whether the tags of these digests are in their buckets.
#[inline(always)]
pub(super) fn ask(layout: Layout, lanes: &Lanes, lines: &[Line], source: impl Source, answers: &mut [bool]) {
    let prints = layout.prints();
    let pays = prints <= 1 << TABLE_BITS && answers.len() >= 8 * prints;
    let (ones, highs) = lanes.narrow_masks();
    let ahead = Ahead::<128>::of(2, size_of_val(lines));
    if !pays {
        let ask = Ask::<false> { layout, lanes, lines, ones, highs, table: &[0; 1 << TABLE_BITS] };
        return source.answered(ahead, ask, answers);
    }
    let mut table = [0; 1 << TABLE_BITS];
    for (print, shift) in (0..).zip(&mut table[..prints]) {
        *shift = layout.shift(1, print);
    }
    let ask = Ask::<true> { layout, lanes, lines, ones, highs, table: &table };
    source.answered(ahead, ask, answers);
}

struct Ask<'a, const TABLE: bool> {
    layout: Layout,
    lanes: &'a Lanes,
    lines: &'a [Line],
    ones: u64,
    highs: u64,
    table: &'a [u64; 1 << TABLE_BITS],
}

/// A bucket on its way, and what it is compared with.
#[derive(Clone, Copy)]
struct Nest {
    bit: u64,
    tags: u64,
}

impl<const TABLE: bool> Stages for Ask<'_, TABLE> {
    type Item = Digest;
    type Answer = bool;
    type Place = [Nest; 2];

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> [Nest; 2] {
        let Self { layout, lanes, lines, ones, .. } = self;
        let print = layout.print(digest);
        let shift = match TABLE {
            // The remainder is the print itself; it shows that the table has it.
            true => self.table[print as usize % self.table.len()],
            false => layout.shift(1, print),
        };
        let spot = layout.spot_of_two(digest, print, shift);
        spot.places.map(|place| {
            let bucket = layout.bucket(place);
            lanes.fetch::<4>(lines, bucket);
            Nest { bit: lanes.bit::<4>(bucket), tags: ones.wrapping_mul(layout.tag(place, spot.print)) }
        })
    }

    #[inline(always)]
    fn act(&mut self, nests: [Nest; 2]) -> bool {
        let Self { lines, ones, highs, .. } = self;
        let found = nests.iter().fold(0, |found, nest| {
            let differ = u64::read(lines, nest.bit) ^ nest.tags;
            found | differ.wrapping_sub(*ones) & !differ
        });
        found & *highs != 0
    }
}
