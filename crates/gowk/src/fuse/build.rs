//! From digests to the slots of a filter: order them, peel them, write them; again, if they got stuck.

use super::{
    layout::{self, Layout, multiplier},
    peel::{self, Wave},
    sizing::{Arity, FuseParams},
};
use crate::{
    error::ParamsError,
    store::{Heap, Shared, prefetch},
};
use alloc::vec::Vec;
use core::{
    ops::Range,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

/// Multipliers that are tried before giving up. From the fourth on, each gets a filter 4 % larger, so the last have more
/// than twice the slots. Digests that still do not peel are not what a hash gives.
const ATTEMPTS: u32 = 24;

/// What a build gives.
pub(super) struct Built {
    pub(super) params: FuseParams,
    pub(super) multiplier: u64,
    /// The different digests.
    pub(super) keys: u64,
    pub(super) slots: Heap,
}

/// The filter of these digests, in any order and with any repeats; `plan` says how large for so many keys.
pub(super) fn build(
    mut digests: Vec<u64>,
    threads: usize,
    plan: impl Fn(u64) -> Result<FuseParams, ParamsError>,
) -> Result<Built, ParamsError> {
    let mut failed = 0;
    for attempt in 0..ATTEMPTS {
        let keys = digests.len();
        let params = plan(keys as u64)?.enlarged(failed);
        let layout = params.layout(multiplier(attempt));
        let solved = match params.arity() {
            Arity::Three => solve::<3>(&mut digests, layout, &params, threads)?,
            Arity::Four => solve::<4>(&mut digests, layout, &params, threads)?,
        };
        if let Some(slots) = solved {
            return Ok(Built { params, multiplier: layout.multiplier, keys: keys as u64, slots });
        }
        // The keys, some twice. Two equal digests never peel, so it may also have been the caller's repeats.
        digests.sort_unstable();
        digests.dedup();
        failed += u32::from(digests.len() == keys);
    }
    Err(ParamsError::Stuck { attempts: ATTEMPTS })
}

/// One attempt. `None` if it got stuck; all keys are then in `digests`, some twice.
fn solve<const K: usize>(
    digests: &mut Vec<u64>,
    layout: Layout,
    params: &FuseParams,
    threads: usize,
) -> Result<Option<Heap>, ParamsError> {
    let keys = digests.len();
    let ends = order_by_start(digests, layout);
    let gap = peel::gap::<K>(&ends);
    let both = params.two_fronts();
    reserve(digests, gap * (1 + usize::from(both)))?;
    digests.resize(keys + gap * (1 + usize::from(both)), 0);
    digests.copy_within(0..keys, gap);

    if !both {
        let bounds: Vec<usize> = ends.iter().map(|end| gap + end).collect();
        let mut wave = Wave::<false> { memory: digests, bounds: &bounds, alone: true };
        let front = wave.run::<K>(layout);
        if !front.is_done(keys) {
            let parts = wave.all_keys(&front);
            keep(digests, &parts);
            return Ok(None);
        }
        drop(front);
        let writer = Writer::new(layout, params)?;
        writer.write::<K>(digests[..keys].iter().rev());
        return Ok(Some(writer.slots.into_heap()));
    }

    let middle = layout.starts() / 2;
    let left_bounds: Vec<usize> = ends[..=middle].iter().map(|end| gap + end).collect();
    let right_bounds: Vec<usize> = ends[middle..].iter().map(|end| end - ends[middle]).collect();
    let cut = gap + ends[middle];
    let (left_memory, right_memory) = digests.split_at_mut(cut);
    let mut left = Wave::<false> { memory: left_memory, bounds: &left_bounds, alone: false };
    let mut right = Wave::<true> { memory: right_memory, bounds: &right_bounds, alone: false };
    let (left_front, right_front) =
        side_by_side(threads, || left.run::<K>(layout), || right.run::<K>(layout));
    let left_over = keys - left_front.peeled - right_front.peeled;
    let Some(between) = peel::meet::<K>(layout, &left_front, &right_front, middle, left_over) else {
        let [a, b] = left.all_keys(&left_front);
        let [c, d] = right.all_keys(&right_front).map(|part| part.start + cut..part.end + cut);
        keep(digests, &[a, b, c, d]);
        return Ok(None);
    };
    let (on_left, on_right) = (left_front.peeled, right_front.peeled);
    drop((left_front, right_front));

    let writer = Writer::new(layout, params)?;
    writer.write::<K>(between.iter().rev());
    // The segments that both sides read are as they will stay: neither side may choose a slot there.
    writer.close(middle as u64..(middle + K - 1) as u64);
    let right_order = &digests[digests.len() - on_right..];
    side_by_side(
        threads,
        || writer.write::<K>(digests[..on_left].iter().rev()),
        || writer.write::<K>(right_order.iter()),
    );
    Ok(Some(writer.slots.into_heap()))
}

fn reserve(digests: &mut Vec<u64>, more: usize) -> Result<(), ParamsError> {
    let bytes = 8 * (digests.len() + more) as u64;
    digests.try_reserve_exact(more).map_err(|_| ParamsError::OutOfMemory { bytes })
}

/// Both, on two threads if that many are allowed and there are threads.
fn side_by_side<A, B: Send>(
    threads: usize,
    left: impl FnOnce() -> A,
    right: impl FnOnce() -> B + Send,
) -> (A, B) {
    #[cfg(feature = "std")]
    if threads > 1 {
        return std::thread::scope(|scope| {
            let right = scope.spawn(right);
            let left = left();
            match right.join() {
                Ok(right) => (left, right),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        });
    }
    let _ = threads;
    (left(), right())
}

/// Keeps these parts, which rise, and forgets the rest.
fn keep(digests: &mut Vec<u64>, parts: &[Range<usize>]) {
    let mut len = 0;
    for part in parts {
        digests.copy_within(part.clone(), len);
        len += part.len();
    }
    digests.truncate(len);
}

/// Brings the digests into the order of their starts, in place, and says where each start begins, and where the last ends.
fn order_by_start(digests: &mut [u64], layout: Layout) -> Vec<usize> {
    let starts = layout.starts();
    let mut bounds = alloc::vec![0usize; starts + 1];
    let (mut sorted, mut last) = (true, 0);
    for &h1 in &*digests {
        let start = layout.start(h1);
        bounds[start + 1] += 1;
        sorted &= last <= start;
        last = start;
    }
    for i in 0..starts {
        bounds[i + 1] += bounds[i];
    }
    if sorted {
        return bounds;
    }
    settle(digests, layout, &bounds);
    bounds
}

/// Brings every digest between the bounds of its start.
///
/// One pass of American flag sort [`McIlroy`, Bostic 1993]: a digest is lifted out, put where its start has the next place,
/// and the one that was there goes on. Each step waits for memory, so [`LIFTED`] digests are on their way at once. Each began in
/// a start of its own, its home, which has a hole at its next place until some digest comes home.
fn settle(digests: &mut [u64], layout: Layout, bounds: &[usize]) {
    let starts = bounds.len() - 1;
    let mut heads = bounds[..starts].to_vec();
    let mut is_home = alloc::vec![false; starts];
    let mut homes = 0..starts;
    let mut lift = |digests: &[u64], heads: &[usize], is_home: &mut [bool]| {
        let home = homes.find(|&start| heads[start] < bounds[start + 1])?;
        is_home[home] = true;
        Some(digests[heads[home]])
    };
    let mut lifted = [0; LIFTED];
    let mut flying = 0;
    while flying < LIFTED {
        let Some(h1) = lift(digests, &heads, &mut is_home) else { break };
        lifted[flying] = h1;
        flying += 1;
    }
    while flying > 0 {
        let mut i = 0;
        while i < flying {
            let start = layout.start(lifted[i]);
            let head = heads[start];
            heads[start] = head + 1;
            if !is_home[start] {
                core::mem::swap(&mut lifted[i], &mut digests[head]);
                // Starts are filled from front to back, but more of them at once than the processor follows by itself.
                if let Some(soon) = digests.get(head + 16) {
                    prefetch(soon);
                }
                i += 1;
                continue;
            }
            digests[head] = lifted[i];
            // The hole moves on, or to another home, or there are no more to be settled.
            let next = if head + 1 < bounds[start + 1] {
                Some(digests[head + 1])
            } else {
                is_home[start] = false;
                lift(digests, &heads, &mut is_home)
            };
            if let Some(h1) = next {
                lifted[i] = h1;
                i += 1;
            } else {
                flying -= 1;
                lifted[i] = lifted[flying];
            }
        }
    }
}

/// Digests that [`settle`] moves at once.
const LIFTED: usize = 4;

/// Writes fingerprints, the last peeled key first.
///
/// A key owns the first of its slots that no key before it has used; peeling made sure that there is one. Words are atomic
/// so that two threads can write, each in segments of its own.
struct Writer {
    layout: Layout,
    width: u32,
    slots: Shared,
    /// A bit for each slot that has its last value.
    used: Vec<AtomicU64>,
}

impl Writer {
    fn new(layout: Layout, params: &FuseParams) -> Result<Self, ParamsError> {
        let used = (0..params.slots().div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Ok(Self { layout, width: params.width(), slots: Shared::zeroed(params.lines())?, used })
    }

    /// The word that a slot begins in, and where.
    #[inline(always)]
    fn find(&self, slot: u64) -> (usize, u32) {
        let bit = slot * u64::from(self.width);
        ((bit / 64) as usize, (bit % 64) as u32)
    }

    /// The bits from a slot on, at least those of the slot.
    #[inline(always)]
    fn read(&self, words: &[AtomicU64], slot: u64) -> u64 {
        let (word, shift) = self.find(slot);
        // The word after is there: the lines have one to spare.
        let (low, high) = (words[word].load(Relaxed), words[word + 1].load(Relaxed));
        low >> shift | high << 1 << (63 - shift)
    }

    /// Sets the bits of a slot that has none.
    #[inline(always)]
    fn set(&self, words: &[AtomicU64], slot: u64, value: u64) {
        let (word, shift) = self.find(slot);
        let low = &words[word];
        low.store(low.load(Relaxed) | value << shift, Relaxed);
        if shift + self.width > 64 {
            let high = &words[word + 1];
            high.store(high.load(Relaxed) | value >> (64 - shift), Relaxed);
        }
    }

    #[inline(always)]
    fn is_used(&self, slot: u64) -> bool {
        self.used[(slot / 64) as usize].load(Relaxed) >> (slot % 64) & 1 == 1
    }

    #[inline(always)]
    fn mark(&self, slot: u64) {
        let word = &self.used[(slot / 64) as usize];
        word.store(word.load(Relaxed) | 1 << (slot % 64), Relaxed);
    }

    /// Marks all slots of these segments.
    fn close(&self, segments: Range<u64>) {
        let log = self.layout.log();
        (segments.start << log..segments.end << log).for_each(|slot| self.mark(slot));
    }

    #[inline(always)]
    fn write<'a, const K: usize>(&self, order: impl Iterator<Item = &'a u64>) {
        let (mask, words) = (layout::mask(self.width), self.slots.words());
        for &h1 in order {
            let slots = self.layout.slots::<K>(h1);
            // A slot that is not used yet reads as 0, so all may be xored.
            let value = slots.iter().fold(h1, |value, &slot| value ^ self.read(words, slot)) & mask;
            let mut own = slots[K - 1];
            for &slot in slots[..K - 1].iter().rev() {
                own = if self.is_used(slot) { own } else { slot };
            }
            self.set(words, own, value);
            for slot in slots {
                self.mark(slot);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        store::{Short, Store},
        testing::members,
    };
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn digests_are_ordered_by_start_and_none_is_lost(
            mut digests in prop::collection::vec(any::<u64>(), 0..300), range in 1u64..300,
        ) {
            let layout = Layout::new(range, 3, 1);
            let mut sorted = digests.clone();
            sorted.sort_unstable();
            let bounds = order_by_start(&mut digests, layout);
            for start in 0..layout.starts() {
                let keys = &digests[bounds[start]..bounds[start + 1]];
                prop_assert!(keys.iter().all(|&h1| layout.start(h1) == start));
            }
            digests.sort_unstable();
            prop_assert_eq!(digests, sorted);
        }
    }

    #[test]
    fn nothing_is_written_into_closed_segments() {
        let params = FuseParams::with_shape(Arity::Three, 11, 4 << 6, 6, 100).unwrap();
        // A fingerprint of zeros would not be seen.
        for key in members(200).filter(|key| key & 0x7ff != 0) {
            let writer = Writer::new(params.layout(multiplier(0)), &params).unwrap();
            writer.close(2..4);
            writer.write::<3>([key].iter());
            let written = |slot: &u64| writer.read(writer.slots.words(), *slot) & 0x7ff != 0;
            let slots = writer.layout.slots::<3>(key);
            let open = slots
                .iter()
                .position(|slot| !(2..4).contains(&(slot >> 6)))
                .expect("three slots do not fit into two");
            assert_eq!(slots.iter().position(written), Some(open));
        }
    }

    /// Too few slots for any order: every attempt must leave all keys behind.
    #[test]
    fn an_attempt_that_gets_stuck_loses_no_key() {
        for (keys, range, log) in [
            (40_000, 38_000, 9),
            (40_000, 38_000, 11),
            (40_000, 43_000, 9),
            (40_000, 20_000, 13),
            (200_000, 170_000, 8),
            (200_000, 225_000, 8),
        ] {
            let mut sorted: Vec<u64> = members(keys).collect();
            sorted.sort_unstable();
            let params = FuseParams::with_shape(Arity::Three, 8, range, log, keys).unwrap();
            assert_eq!(params.two_fronts(), keys == 200_000);
            for threads in [1, 2] {
                let mut digests: Vec<u64> = members(keys).collect();
                let solved =
                    solve::<3>(&mut digests, params.layout(multiplier(0)), &params, threads).unwrap();
                assert!(solved.is_none(), "{range}, {log}");
                digests.sort_unstable();
                digests.dedup();
                assert!(digests == sorted, "{range}, {log}: {} keys are left", digests.len());
            }
        }
    }

    #[test]
    fn two_fronts_meet_and_bytes_do_not_depend_on_threads() {
        let keys = 200_000;
        for (arity, range) in [(Arity::Three, 260_000), (Arity::Four, 240_000)] {
            let params = FuseParams::with_shape(arity, 13, range, 8, keys).unwrap();
            assert!(params.two_fronts());
            let build = |threads| build(members(keys).collect(), threads, |_| Ok(params)).unwrap();
            let (one, two) = (build(1), build(2));
            assert!(one.slots == two.slots);
            let layout = two.params.layout(two.multiplier);
            let missed = |h1: &u64| {
                let (lines, width) = (two.slots.lines(), Short::<4>::new(13).unwrap());
                let xor = match arity {
                    Arity::Three => layout.find::<3>(*h1, width).xor(lines, width, *h1),
                    Arity::Four => layout.find::<4>(*h1, width).xor(lines, width, *h1),
                };
                xor != 0
            };
            assert_eq!(members(keys).filter(missed).count(), 0);
        }
    }
}
