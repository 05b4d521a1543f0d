//! Lookups in bulk, of the common shape: two buckets of four slots, each read by one load. Eight keys at once.

use super::{
    layout::Layout,
    slots::{Lanes, Word},
};
use crate::{
    bulk::{Ahead, GROUP, Groups, Source, Stages, first, grouped, texts_come_by_eight},
    hash::Digest,
    simd::Arithmetic,
    store::{Fetch, Line, eight_words},
};

/// Answers whether the tags of these digests are in their buckets.
#[inline(always)]
pub(super) fn ask(
    arithmetic: impl Arithmetic,
    layout: Layout,
    lanes: &Lanes,
    lines: &[Line],
    source: impl Source,
    answers: &mut [bool],
) {
    let (ones, highs) = lanes.narrow_masks();
    let bytes = size_of_val(lines);
    let ask = Ask { layout, lanes, lines, by: Fetch::of(bytes), ones, highs };
    match layout.is_short() {
        true if texts_come_by_eight(&source) => {
            grouped(source.hashes::<_, true>(arithmetic), 2, bytes, ask, answers)
        }
        true => grouped(source.hashes::<_, false>(arithmetic), 2, bytes, ask, answers),
        false => source.answered(Ahead::<128>::of(2, bytes), ask, answers),
    }
}

#[derive(Clone, Copy)]
struct Ask<'a> {
    layout: Layout,
    lanes: &'a Lanes,
    lines: &'a [Line],
    by: Fetch,
    ones: u64,
    highs: u64,
}

/// Both buckets of eight keys: where they begin, in bytes and in bits behind them, and what they are compared with.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Nests {
    bytes: [[u64; GROUP]; 2],
    shifts: [[u64; GROUP]; 2],
    tags: [[u64; GROUP]; 2],
}

/// Loops, not closures, which may be compiled for any machine.
#[expect(
    clippy::needless_range_loop,
    reason = "all arrays of eight by one index, so that they become vectors"
)]
impl Groups for Ask<'_> {
    type Places = Nests;
    type Answer = bool;

    #[inline(always)]
    fn find(&self, hashes: [u64; GROUP]) -> Nests {
        let empty = [[0; GROUP]; 2];
        let mut nests = Nests { bytes: empty, shifts: empty, tags: empty };
        let width = self.lanes.width;
        for i in 0..GROUP {
            let print = self.layout.print(hashes[i]);
            let places = self.layout.short_places(hashes[i], print);
            for j in 0..2 {
                let bit = self.lanes.short_bit::<4>(self.layout.bucket(places[j]));
                (nests.bytes[j][i], nests.shifts[j][i]) = (bit / 8, bit % 8);
                let tag = self.layout.tag(places[j], print);
                let two = tag | tag << width;
                nests.tags[j][i] = two | two << (2 * width);
            }
        }
        nests
    }

    #[inline(always)]
    fn fetch<const FAR: bool>(&self, nests: &Nests, by: Fetch) {
        for byte in nests.bytes.as_flattened() {
            by.byte(self.lines, *byte as usize);
            // Every ninth time the eight bytes of a bucket lie in two lines.
            by.byte(self.lines, *byte as usize + 7);
        }
    }

    #[inline(always)]
    fn act(&mut self, nests: &Nests, answers: &mut [bool; GROUP]) {
        let mut found = [0; GROUP];
        for j in 0..2 {
            let words = eight_words(self.lines, &nests.bytes[j]);
            for i in 0..GROUP {
                let differ = words[i] >> (nests.shifts[j][i] & 63) ^ nests.tags[j][i];
                found[i] |= differ.wrapping_sub(self.ones) & !differ;
            }
        }
        for i in 0..GROUP {
            answers[i] = found[i] & self.highs != 0;
        }
    }

    #[inline(always)]
    fn act_on_some(&mut self, nests: &Nests, answers: &mut [bool]) {
        first(self, nests, answers);
    }
}

/// A bucket on its way, and what it is compared with.
#[derive(Clone, Copy)]
struct Nest {
    bit: u64,
    tags: u64,
}

/// Of tables so large that a place does not fit 32 bits.
impl Stages for Ask<'_> {
    type Item = Digest;
    type Answer = bool;
    type Place = [Nest; 2];

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> [Nest; 2] {
        let Self { layout, lanes, lines, by, ones, .. } = self;
        let spot = layout.spot::<2>(digest);
        spot.places.map(|place| {
            let bucket = layout.bucket(place);
            lanes.fetch::<4>(*by, lines, bucket);
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
