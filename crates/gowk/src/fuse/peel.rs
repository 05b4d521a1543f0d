//! Finds the order in which keys can be given their slots: peeling, as a wave along the chain.
//!
//! A slot that only one key uses can be left to that key, whatever the other keys need; so the key is *peeled*: taken out,
//! which may leave another slot to one key alone. If all keys can be peeled, writing them in the reverse order satisfies
//! every one of them.
//!
//! In a chain of segments peeling begins at the ends, where slots have fewer keys, and moves inwards as a front a dozen
//! segments deep. So no more than [`WINDOW`] segments are ever in work: a ring that moves with the front. Keys lie in
//! memory in the order of their segments; what the front has passed is free, and the peeled keys are written there. A gap as
//! long as the window is deep keeps the two apart:
//!
//! ```text
//!   memory   [ peeled keys, in order | free | keys in the window (copied into it) | keys to come ]
//! ```
//!
//! Nothing is lost if the front gets stuck: every key is still there, once or twice.

use super::layout::Layout;
use alloc::{vec, vec::Vec};
use core::ops::Range;

/// The segments in work. The front is 11 to 13 deep when all goes well; one that needs more will seldom make it.
pub(super) const WINDOW: usize = 16;

/// What the slots in work know of their keys: how many, and the xor of their digests. A ring: slot number `i` of the chain is
/// at `i` modulo its length, a power of two.
pub(super) struct Slots {
    xors: Vec<u64>,
    counts: Vec<u8>,
    log: u32,
}

impl Slots {
    fn new(segments: usize, log: u32) -> Self {
        let len = segments.next_power_of_two() << log;
        Self { xors: vec![0; len], counts: vec![0; len], log }
    }

    /// The segments that fit.
    fn segments(&self) -> usize {
        self.counts.len() >> self.log
    }

    #[inline(always)]
    fn at(&self, slot: u64) -> usize {
        slot as usize & (self.counts.len() - 1)
    }

    /// Where a segment is.
    fn range(&self, segment: usize) -> Range<usize> {
        let base = self.at((segment as u64) << self.log);
        base..base + (1 << self.log)
    }

    fn is_clear(&self, segment: usize) -> bool {
        self.counts[self.range(segment)].iter().fold(0, |any, count| any | count) == 0
    }

    /// Adds a key; returns its slots' counts, or-ed.
    #[inline(always)]
    fn add<const K: usize>(&mut self, h1: u64, slots: [u64; K]) -> u8 {
        let mut any = 0;
        for slot in slots {
            let at = self.at(slot);
            self.xors[at] ^= h1;
            let count = self.counts[at].wrapping_add(1);
            self.counts[at] = count;
            any |= count;
        }
        any
    }

    /// Queues the slots of a segment that one key has alone.
    fn queue_segment(&self, segment: usize, queue: &mut Queue) {
        let range = self.range(segment);
        queue.reserve(range.len());
        for (at, count) in range.clone().zip(&self.counts[range]) {
            queue.push_if(at, u8::from(*count == 1));
        }
    }

    /// Peels from the queued slots on, as far as the slots below `end` allow; those beyond will get more keys.
    #[inline(always)]
    fn drain<const K: usize>(
        &mut self,
        queue: &mut Queue,
        end: u64,
        slots: impl Fn(u64) -> [u64; K],
        mut peeled: impl FnMut(u64),
    ) {
        while let Some(at) = queue.pop() {
            if self.counts[at] != 1 {
                continue;
            }
            let h1 = self.xors[at];
            peeled(h1);
            queue.reserve(K);
            for slot in slots(h1) {
                let at = self.at(slot);
                self.xors[at] ^= h1;
                let left = self.counts[at].wrapping_sub(1);
                self.counts[at] = left;
                queue.push_if(at, u8::from(left == 1) & u8::from(slot < end));
            }
        }
    }
}

/// Slots to look at. The first comes first: what it brings is queued behind all others, so that the processor may begin with the
/// next one before it has seen it; the last first would have each wait for the one before.
struct Queue {
    slots: Vec<u32>,
    /// Those before are taken.
    head: usize,
    len: usize,
}

impl Queue {
    fn new() -> Self {
        Self { slots: vec![0; 1024], head: 0, len: 0 }
    }

    #[inline(always)]
    fn reserve(&mut self, more: usize) {
        if self.slots.len() - self.len < more {
            self.grow(more);
        }
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        self.slots.resize(2 * self.slots.len() + more, 0);
    }

    /// Queues a slot if `wanted` is 1. Without a branch: every third is, and nobody could predict which.
    #[inline(always)]
    fn push_if(&mut self, slot: usize, wanted: u8) {
        self.slots[self.len] = slot as u32;
        self.len += wanted as usize;
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<usize> {
        if self.head == self.len {
            (self.head, self.len) = (0, 0);
            return None;
        }
        self.head += 1;
        Some(self.slots[self.head - 1] as usize)
    }
}

/// One front and its memory: from the left end of the chain, or as in a mirror from the right one.
pub(super) struct Wave<'a, const MIRRORED: bool> {
    /// Keys in the order of their segments, the gap before them (mirrored: after them).
    pub(super) memory: &'a mut [u64],
    /// Where the keys of each start begin in memory; one more for the end. In the order of the chain, also if mirrored.
    pub(super) bounds: &'a [usize],
    /// Set if these are all keys, and not set if another front comes from the other end.
    pub(super) alone: bool,
}

/// How far a front has come.
pub(super) struct Front {
    /// The keys that are peeled, at the outer end of the memory.
    pub(super) peeled: usize,
    /// The starts behind the front: all their keys are peeled.
    cleared: usize,
    /// Whether it met the end, and not a place where it got stuck.
    arrived: bool,
    slots: Slots,
}

/// The memory of the keys of starts that a window spans, at most: as much gap must be before the keys.
pub(super) fn gap<const K: usize>(bounds: &[usize]) -> usize {
    let deep = WINDOW - (K - 1);
    let first = bounds.iter().copied();
    let last = bounds.iter().skip(deep).copied().chain(core::iter::repeat(bounds[bounds.len() - 1]));
    first.zip(last).map(|(first, last)| last - first).max().unwrap_or(0)
}

impl<const MIRRORED: bool> Wave<'_, MIRRORED> {
    /// Peels until the end, or until the front is stuck.
    pub(super) fn run<const K: usize>(&mut self, layout: Layout) -> Front {
        let starts = self.bounds.len() - 1;
        // Segments that no key starts in, at the end, are open for peeling once all keys are known.
        let segments = if self.alone { starts + K - 1 } else { starts };
        let mut front = Front {
            peeled: 0,
            cleared: 0,
            arrived: false,
            slots: Slots::new((starts + K - 1).min(WINDOW), layout.log()),
        };
        let mut queue = Queue::new();
        // As seen from the other end, slots count down.
        let last = (((layout.starts() + K - 1) << layout.log()) - 1) as u64;
        let slots = |h1: u64| {
            let slots = layout.slots::<K>(h1);
            if MIRRORED { slots.map(|slot| last - slot) } else { slots }
        };
        for segment in 0..segments {
            let fits =
                segment >= starts || front.make_room(segment + K) && self.load(segment, &mut front, slots);
            if !fits {
                return front;
            }
            front.slots.queue_segment(segment, &mut queue);
            let (memory, peeled) = (&mut *self.memory, &mut front.peeled);
            front.slots.drain(&mut queue, (segment as u64 + 1) << layout.log(), slots, |h1| {
                let at = if MIRRORED { memory.len() - 1 - *peeled } else { *peeled };
                memory[at] = h1;
                *peeled += 1;
            });
        }
        front.arrived = true;
        front
    }

    /// Brings the keys of a start into the window. False if some slot has so many keys that they must be copies of one.
    fn load<const K: usize>(
        &self,
        segment: usize,
        front: &mut Front,
        slots: impl Fn(u64) -> [u64; K],
    ) -> bool {
        let most =
            self.memory[self.keys(segment)].iter().fold(0, |any, &h1| any | front.slots.add(h1, slots(h1)));
        most < 0x80
    }

    /// Where the keys of a start are, counted from our end of the chain.
    fn keys(&self, start: usize) -> Range<usize> {
        let start = if MIRRORED { self.bounds.len() - 2 - start } else { start };
        self.bounds[start]..self.bounds[start + 1]
    }

    /// The two parts of memory that hold all keys of a front that got stuck; those in the window may be in both.
    pub(super) fn all_keys(&self, front: &Front) -> [Range<usize>; 2] {
        let (len, starts) = (self.memory.len(), self.bounds.len() - 1);
        if MIRRORED {
            [self.bounds[0]..self.bounds[starts - front.cleared], len - front.peeled..len]
        } else {
            [0..front.peeled, self.bounds[front.cleared]..self.bounds[starts]]
        }
    }
}

impl Front {
    /// Lets go of segments at the back until those up to `end` fit; false if one of them is not done.
    fn make_room(&mut self, end: usize) -> bool {
        while end - self.cleared > self.slots.segments() {
            if !self.slots.is_clear(self.cleared) {
                return false;
            }
            self.cleared += 1;
        }
        true
    }

    /// Whether all `keys` keys are peeled.
    pub(super) fn is_done(&self, keys: usize) -> bool {
        self.arrived && self.peeled == keys
    }
}

/// Peels the `keys` keys that two fronts have left between them. `None` if they got stuck, or get stuck now.
pub(super) fn meet<const K: usize>(
    layout: Layout,
    left: &Front,
    right: &Front,
    middle: usize,
    keys: usize,
) -> Option<Vec<u64>> {
    if !left.arrived || !right.arrived {
        return None;
    }
    // From here on all is counted from the left end.
    let segments = layout.starts() + K - 1;
    let first = left.cleared;
    let end = segments - right.cleared;
    let mut slots = Slots::new(end - first, layout.log());
    let mut take = |slot: usize, from: &Slots, theirs: usize| {
        let (at, theirs) = (slots.at(slot as u64), from.at(theirs as u64));
        slots.xors[at] ^= from.xors[theirs];
        slots.counts[at] += from.counts[theirs];
    };
    (first << layout.log()..(middle + K - 1) << layout.log()).for_each(|slot| take(slot, &left.slots, slot));
    let last = (segments << layout.log()) - 1;
    (middle << layout.log()..end << layout.log()).for_each(|slot| take(slot, &right.slots, last - slot));

    let mut queue = Queue::new();
    (first..end).for_each(|segment| slots.queue_segment(segment, &mut queue));
    let mut order = Vec::with_capacity(keys);
    slots.drain(&mut queue, u64::MAX, |h1| layout.slots::<K>(h1), |h1| order.push(h1));
    (order.len() == keys).then_some(order)
}
