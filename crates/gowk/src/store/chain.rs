//! Packed numbers along a chain of segments, read several at once with one question about the end of memory.
//!
//! A key has a slot in each of some neighbouring segments: in the last one at its place, in the others moved to anywhere in the
//! segment. So the last slot is the farthest, and where it can be read, all can.

use super::{
    Fetch, Line,
    unaligned::{alone_from_byte, from_byte, loadable},
};
use crate::{
    range::{MOST_SHORT, scale, scale_short},
    simd::{Bmi2, EIGHT},
};

/// A chain: segments of 2^`log` slots, and `range` places that a key may begin at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chain {
    range: u64,
    segment: u64,
    log: u32,
}

/// The most places of a chain, more than any machine has memory for.
const MOST_RANGE: u64 = 1 << 48;

/// The largest segment, as a power of two: the places of two slots come out of one word.
pub(crate) const MOST_LOG: u32 = 27;

impl Chain {
    /// # Panics
    /// If it has more than 2^48 places, or segments of more than 2^[`MOST_LOG`] slots.
    pub(crate) fn new(range: u64, log: u32) -> Self {
        assert!(range <= MOST_RANGE && log <= MOST_LOG, "a chain that can be counted");
        Self { range, segment: 1 << log, log }
    }

    /// The places that a key may begin at.
    pub(crate) fn range(self) -> u64 {
        self.range
    }

    /// The slots of a segment, as a power of two.
    #[inline(always)]
    pub(crate) fn log(self) -> u32 {
        self.log
    }

    /// The place that a number names: all alike often, rising with the number.
    #[inline(always)]
    pub(crate) fn place(self, n: u64) -> u64 {
        scale(n, self.range)
    }

    /// Slot j of K of the key at a place, moved by a number below that of a segment's slots.
    ///
    /// None overflows, and none but the last is at `place + (K - 1) * segment` or beyond: moving leaves a slot in its segment,
    /// so slot j is below `place + (j + 1) * segment`.
    #[inline(always)]
    fn slot<const K: usize>(self, place: u64, j: usize, moved: u64) -> u64 {
        let slot = place + j as u64 * self.segment;
        if j == K - 1 { slot } else { slot ^ moved }
    }

    /// The slots from a number's place on, one a segment, all but the last moved within their segments to where the bits of a word say, from so many
    /// on.
    #[inline(always)]
    pub(crate) fn slots<const K: usize>(self, n: u64, moves: [(u64, u32); K], by: impl Slots) -> Found<K> {
        let place = by.scale(n, self.range);
        Found(core::array::from_fn(|j| {
            let (word, from) = moves[j];
            self.slot::<K>(place, j, by.field(word, from, self.log))
        }))
    }

    /// Whether every slot has a number of 32 bits, so that eight can be looked for at once.
    pub(crate) fn is_short(self) -> bool {
        self.range + 4 * self.segment <= MOST_SHORT
    }

    /// As [`slots`](Self::slots), of eight numbers in a chain that [is short](Self::is_short), as what is read of memory.
    ///
    /// A loop over arrays and no multiplication of more than 32 bits by 32, so that the compiler makes vectors of it.
    #[expect(
        clippy::needless_range_loop,
        reason = "all arrays of eight by one index, so that they become vectors"
    )]
    #[inline(always)]
    pub(crate) fn eight<const K: usize, W: Slots>(
        self,
        numbers: &[u64; EIGHT],
        moves: &[[u64; EIGHT]; K],
        width: W,
    ) -> FoundEight<K> {
        let end = width.find(self.slot::<K>(self.place(u64::MAX), K - 1, 0)).0;
        let mut found = FoundEight { bytes: [[0; EIGHT]; K], shifts: [[0; EIGHT]; K], end };
        for i in 0..EIGHT {
            let place = scale_short(numbers[i], self.range);
            for j in 0..K {
                (found.bytes[j][i], found.shifts[j][i]) =
                    width.find(self.slot::<K>(place, j, moves[j][i] & (self.segment - 1)) & LOW);
            }
        }
        found
    }
}

/// The lower half of a word.
const LOW: u64 = u32::MAX as u64;

/// The slots of eight numbers. None begins behind the end, for only chains make them.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct FoundEight<const K: usize> {
    bytes: [[u64; EIGHT]; K],
    shifts: [[u64; EIGHT]; K],
    /// The byte in which the last slot of the chain begins.
    end: u64,
}

impl<const K: usize> FoundEight<K> {
    /// Asks for the lines in which they begin.
    #[inline(always)]
    pub(crate) fn prefetch(&self, lines: &[Line]) {
        for &byte in self.bytes.as_flattened() {
            Fetch::SOON.byte(lines, byte as usize);
        }
    }

    /// Asks for them, also where they go on in the next line.
    #[inline(always)]
    pub(crate) fn prefetch_whole(&self, lines: &[Line], fetch: Fetch) {
        for bytes in &self.bytes {
            for &byte in bytes {
                fetch.byte(lines, byte as usize);
                fetch.byte(lines, byte as usize + 3);
            }
        }
    }

    /// For each number the xor of its slots and of the number itself, in as many bits as a slot has.
    ///
    /// # Panics
    /// If there are not eight bytes from the last slot of the chain on.
    #[expect(
        clippy::needless_range_loop,
        reason = "all arrays of eight by one index, so that they become vectors"
    )]
    #[inline(always)]
    pub(crate) fn xor<W: Slots>(&self, lines: &[Line], width: W, numbers: &[u64; EIGHT]) -> [u64; EIGHT] {
        assert!(self.end < loadable(lines), "inside the lines");
        let mut sums = *numbers;
        for i in 0..EIGHT {
            for j in 0..K {
                // SAFETY: as in `Found::xor`; no slot of the chain begins behind its end.
                let word = unsafe { W::load_alone(lines, self.bytes[j][i]) };
                sums[i] ^= word >> (self.shifts[j][i] & 63);
            }
            sums[i] &= (1 << width.bits()) - 1;
        }
        sums
    }
}

/// The slots of a number. None lies beyond the last, for only chains make them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found<const K: usize>([u64; K]);

impl<const K: usize> Found<K> {
    #[inline(always)]
    pub(crate) fn get(self) -> [u64; K] {
        self.0
    }

    /// Asks for them.
    #[inline(always)]
    pub(crate) fn prefetch(self, lines: &[Line], width: impl Slots, fetch: Fetch) {
        for slot in self.0 {
            fetch.byte(lines, width.find(slot).0 as usize);
        }
    }

    /// The xor of the slots and of the number `n`, in as many bits as a slot has.
    ///
    /// # Panics
    /// If there are not eight bytes from the last slot on.
    #[inline(always)]
    pub(crate) fn xor<W: Slots>(self, lines: &[Line], width: W, n: u64) -> u64 {
        assert!(width.find(self.0[K - 1]).0 < loadable(lines), "inside the lines");
        let sum = self.0.iter().fold(n, |sum, &slot| {
            let (byte, shift) = width.find(slot);
            // SAFETY: there are eight bytes from the last slot on, and the others lie before it, as said at `Chain::slot`; with a
            // place below 2^48, a segment of 2^27 and a width of 2^5 no product overflows.
            sum ^ width.shifted(unsafe { W::load(lines, byte) }, shift)
        });
        sum & ((1 << width.bits()) - 1)
    }
}

/// How wide slots are, and so how they are found and read.
pub(crate) trait Slots: Copy {
    /// Whether slots are whole bytes, which need no shift.
    const ARE_BYTES: bool = false;

    /// The bits of a slot, 1 to 32.
    fn bits(self) -> u32;

    /// Where a slot begins: its byte, and the bits before it in that byte.
    #[inline(always)]
    fn find(self, slot: u64) -> (u64, u64) {
        let bit = slot * u64::from(self.bits());
        (bit / 8, bit % 8)
    }

    /// The place that a number names, of so many.
    #[inline(always)]
    fn scale(self, n: u64, range: u64) -> u64 {
        scale(n, range)
    }

    /// So many bits of a word.
    #[inline(always)]
    fn field(self, word: u64, from: u32, count: u32) -> u64 {
        (word >> from) & ((1 << count) - 1)
    }

    /// A word that was read, without the bits before the slot.
    #[inline(always)]
    fn shifted(self, word: u64, shift: u64) -> u64 {
        word >> shift
    }

    /// What is from a byte on: seven bits more than a slot has, or more, or just it where slots are bytes.
    ///
    /// # Safety
    /// There must be eight bytes.
    unsafe fn load(lines: &[Line], byte: u64) -> u64;

    /// As [`load`](Self::load), never together with others: of eight loads the compiler makes one instruction that gathers, which takes
    /// longer than they do.
    ///
    /// # Safety
    /// There must be eight bytes.
    unsafe fn load_alone(lines: &[Line], byte: u64) -> u64;
}

/// Slots that are bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes;

/// Slots that so many bytes hold wherever they begin, two or four: they lie in two lines less often than eight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Short<const BYTES: usize>(u8);

/// The same, and [`Bytes`], where the processor shifts in one step, takes bits out of a word in one, and multiplies without moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct By<W>(pub W, pub Bmi2);

/// Slots of up to 32 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Long(u8);

impl<const BYTES: usize> Short<BYTES> {
    /// Of up to 9 bits, or 25.
    pub(crate) fn new(width: u32) -> Option<Self> {
        const { assert!(BYTES == 2 || BYTES == 4) };
        (1..=8 * BYTES as u32 - 7).contains(&width).then_some(Self(width as u8))
    }
}

impl Long {
    pub(crate) fn new(width: u32) -> Option<Self> {
        (1..=32).contains(&width).then_some(Self(width as u8))
    }
}

impl Slots for Bytes {
    const ARE_BYTES: bool = true;

    #[inline(always)]
    fn bits(self) -> u32 {
        8
    }

    #[inline(always)]
    fn find(self, slot: u64) -> (u64, u64) {
        (slot, 0)
    }

    #[inline(always)]
    unsafe fn load(lines: &[Line], byte: u64) -> u64 {
        // SAFETY: the caller's.
        unsafe { from_byte::<u8>(lines, byte) }
    }

    #[inline(always)]
    unsafe fn load_alone(lines: &[Line], byte: u64) -> u64 {
        // SAFETY: the caller's.
        unsafe { alone_from_byte::<u8>(lines, byte) }
    }
}

impl<const BYTES: usize> Slots for Short<BYTES> {
    #[inline(always)]
    fn bits(self) -> u32 {
        self.0.into()
    }

    #[inline(always)]
    unsafe fn load(lines: &[Line], byte: u64) -> u64 {
        // SAFETY: the caller's.
        unsafe { if BYTES == 2 { from_byte::<u16>(lines, byte) } else { from_byte::<u32>(lines, byte) } }
    }

    #[inline(always)]
    unsafe fn load_alone(lines: &[Line], byte: u64) -> u64 {
        // SAFETY: the caller's.
        unsafe {
            if BYTES == 2 { alone_from_byte::<u16>(lines, byte) } else { alone_from_byte::<u32>(lines, byte) }
        }
    }
}

impl<W: Slots> Slots for By<W> {
    const ARE_BYTES: bool = W::ARE_BYTES;

    #[inline(always)]
    fn bits(self) -> u32 {
        self.0.bits()
    }

    #[inline(always)]
    fn find(self, slot: u64) -> (u64, u64) {
        self.0.find(slot)
    }

    #[inline(always)]
    fn scale(self, n: u64, range: u64) -> u64 {
        self.1.widening_mul(n, range).1
    }

    #[inline(always)]
    fn field(self, word: u64, from: u32, count: u32) -> u64 {
        self.1.bits(word, from, count)
    }

    #[inline(always)]
    fn shifted(self, word: u64, shift: u64) -> u64 {
        if W::ARE_BYTES { word } else { self.1.shift_right(word, shift) }
    }

    #[inline(always)]
    unsafe fn load(lines: &[Line], byte: u64) -> u64 {
        // SAFETY: the caller's.
        unsafe { W::load(lines, byte) }
    }

    #[inline(always)]
    unsafe fn load_alone(lines: &[Line], byte: u64) -> u64 {
        // SAFETY: the caller's.
        unsafe { W::load_alone(lines, byte) }
    }
}

impl Slots for Long {
    #[inline(always)]
    fn bits(self) -> u32 {
        self.0.into()
    }

    #[inline(always)]
    unsafe fn load(lines: &[Line], byte: u64) -> u64 {
        // SAFETY: the caller's.
        unsafe { from_byte::<u64>(lines, byte) }
    }

    #[inline(always)]
    unsafe fn load_alone(lines: &[Line], byte: u64) -> u64 {
        // SAFETY: the caller's.
        unsafe { alone_from_byte::<u64>(lines, byte) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Isa;
    use proptest::prelude::*;

    /// The xor of the slots, bit by bit.
    fn plainly<const K: usize>(lines: &[Line], found: Found<K>, bits: u32) -> u64 {
        let one = |bit: usize| lines[bit / 512].0[bit % 512 / 64] >> (bit % 64) & 1;
        let slot = |slot: u64| {
            (0..bits as usize).fold(0, |sum, i| sum | one(slot as usize * bits as usize + i) << i)
        };
        found.get().into_iter().fold(0, |sum, at| sum ^ slot(at))
    }

    fn check<const K: usize>(
        lines: &[Line],
        chain: Chain,
        width: impl Slots,
        numbers: &[u64],
    ) -> Result<(), TestCaseError> {
        let moves = |n: u64| core::array::from_fn::<u64, K, _>(|j| n.rotate_left(21 * j as u32 + 7));
        let from_the_first = |n: u64| moves(n).map(|word| (word.rotate_left(9), 9));
        for &n in numbers {
            let found = chain.slots(n, from_the_first(n), width);
            let differ = (plainly(lines, found, width.bits()) ^ n) & ((1 << width.bits()) - 1);
            prop_assert_eq!(found.xor(lines, width, n), differ);
        }
        for numbers in numbers.as_chunks().0 {
            let mut moved = [[0; EIGHT]; K];
            for (i, &n) in numbers.iter().enumerate() {
                for (moved, by) in moved.iter_mut().zip(moves(n)) {
                    moved[i] = by;
                }
            }
            let found = chain.eight(numbers, &moved, width);
            let singly = numbers.map(|n| chain.slots(n, from_the_first(n), width).xor(lines, width, n));
            prop_assert_eq!(found.xor(lines, width, numbers), singly);
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn slots_of_every_width_are_read_wherever_they_begin(
            words in prop::collection::vec(any::<[u64; 8]>(), 48), bits in 1u32..=32, range in 1u64..500, log in 1u32..=5,
            numbers in prop::collection::vec(any::<u64>(), 0..40),
        ) {
            let lines: Vec<Line> = words.into_iter().map(Line).collect();
            let chain = Chain::new(range, log);
            check::<3>(&lines, chain, Long::new(bits).unwrap(), &numbers)?;
            check::<4>(&lines, chain, Long::new(bits).unwrap(), &numbers)?;
            check::<3>(&lines, chain, Bytes, &numbers)?;
            let (two, four) = (Short::<2>::new(bits), Short::<4>::new(bits));
            if let Some(short) = two {
                check::<3>(&lines, chain, short, &numbers)?;
            }
            if let Some(short) = four {
                check::<3>(&lines, chain, short, &numbers)?;
            }
            if let Some(bmi2) = Isa::best().bmi2() {
                check::<3>(&lines, chain, By(Bytes, bmi2), &numbers)?;
                check::<3>(&lines, chain, By(two.unwrap_or(Short::new(9).unwrap()), bmi2), &numbers)?;
                check::<3>(&lines, chain, By(four.unwrap_or(Short::new(25).unwrap()), bmi2), &numbers)?;
            }
        }

        #[test]
        fn eight_slots_are_where_each_is(
            numbers: [u64; EIGHT], moves: [u64; 4], range in 1u64..=LOW - (4 << MOST_LOG), log in 0..=MOST_LOG, bits in 1u32..=32,
        ) {
            let (chain, width) = (Chain::new(range, log), Long::new(bits).unwrap());
            let found = chain.eight(&numbers, &moves.map(|moved| [moved; EIGHT]), width);
            for (i, &n) in numbers.iter().enumerate() {
                let places = chain.slots(n, moves.map(|word| (word, 0)), width).get().map(|slot| width.find(slot));
                prop_assert_eq!(found.bytes.map(|bytes| bytes[i]), places.map(|place| place.0));
                prop_assert_eq!(found.shifts.map(|shifts| shifts[i]), places.map(|place| place.1));
                prop_assert!(found.bytes[3][i] <= found.end);
            }
        }

        #[test]
        fn no_slot_lies_beyond_the_last(n: u64, moves: [u64; 4], range in 1..=MOST_RANGE, log in 0..=MOST_LOG) {
            let found = Chain::new(range, log).slots(n, moves.map(|word| (word, 0)), Bytes).get();
            prop_assert!(found.is_sorted() && found[3] < range + (3 << log));
        }
    }

    /// The greatest number names the last slot of the chain.
    fn last_slot_of(slots: u64, lines: &[Line]) -> u64 {
        Chain::new(slots - 4, 1).slots(u64::MAX, [(0, 0); 3], Bytes).xor(lines, Bytes, 0)
    }

    #[test]
    fn the_last_slot_may_have_seven_bytes_behind_it() {
        assert_eq!(last_slot_of(64 - 7, &[Line::ZERO]), 0);
    }

    #[test]
    #[should_panic(expected = "inside the lines")]
    fn slots_behind_the_end_are_not_read() {
        last_slot_of(64 - 6, &[Line::ZERO]);
    }

    #[test]
    #[should_panic(expected = "inside the lines")]
    fn of_eight_none_is_read_behind_the_end() {
        let chain = Chain::new(64 - 6 - 4, 1);
        chain.eight::<3, _>(&[0; EIGHT], &[[0; EIGHT]; 3], Bytes).xor(&[Line::ZERO], Bytes, &[0; EIGHT]);
    }

    #[test]
    #[should_panic(expected = "inside the lines")]
    fn no_lines_have_no_slots() {
        Chain::new(1, 0).slots(0, [(0, 0); 3], Bytes).xor(&[], Bytes, 0);
    }
}
