//! The slot with the smallest count. Knows counts, not keys.

use alloc::vec::Vec;

/// A heap of slots by counts that may be out of date. Counts only grow, so an old one is a lower bound: it is enough to
/// bring the top up to date until it stays there, when the smallest is asked for. A key that is counted again costs nothing here.
///
/// Equal counts are ordered by slot. So there is one smallest, whatever way the heap came about: a summary that was
/// written and read goes on as the one that was not.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    heap: Vec<(u64, u32)>,
}

/// Children of a node: four pairs are a cache line.
const ARITY: usize = 4;

impl Queue {
    /// Of all slots, by these counts.
    pub(super) fn new(counts: impl Iterator<Item = u64>) -> Self {
        let mut queue = Self { heap: counts.zip(0..).collect() };
        for at in (0..queue.heap.len().div_ceil(ARITY)).rev() {
            queue.sift_down(at);
        }
        queue
    }

    /// No count is smaller than this.
    #[inline(always)]
    pub(super) fn bound(&self) -> u64 {
        self.heap[0].0
    }

    /// The smallest count and its slot; `count_of` tells the count of any.
    pub(super) fn least(&mut self, count_of: impl Fn(u32) -> u64) -> (u64, u32) {
        loop {
            let (old, slot) = self.heap[0];
            let count = count_of(slot);
            if old == count {
                return (count, slot);
            }
            self.heap[0].0 = count;
            self.sift_down(0);
        }
    }

    fn sift_down(&mut self, mut at: usize) {
        let moved = self.heap[at];
        loop {
            let children = ARITY * at + 1..(ARITY * at + 1 + ARITY).min(self.heap.len());
            let Some(least) = children.min_by_key(|child| self.heap[*child]) else { break };
            if moved <= self.heap[least] {
                break;
            }
            self.heap[at] = self.heap[least];
            at = least;
        }
        self.heap[at] = moved;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_least_is_the_least((mut counts, steps) in (1usize..50).prop_flat_map(|n| {
            (prop::collection::vec(0u64..20, n), prop::collection::vec((0..n, 0u64..5), 0..300))
        })) {
            let mut queue = Queue::new(counts.iter().copied());
            for (slot, more) in steps {
                counts[slot] += more;
                let expected = counts.iter().copied().zip(0..).min().unwrap();
                prop_assert!(queue.bound() <= expected.0);
                prop_assert_eq!(queue.least(|slot| counts[slot as usize]), expected);
            }
        }
    }
}
