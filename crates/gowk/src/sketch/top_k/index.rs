//! Which slot a digest is in: a hash table of slot numbers with open addresses. Knows digests, not keys.

use alloc::{vec, vec::Vec};

/// An entry is 0 where it is free, else the slot and one, under 32 bits of the digest that spare most looks at the slot.
#[derive(Clone, Debug)]
pub(super) struct Index {
    entries: Vec<u64>,
}

impl Index {
    /// A table for so many slots, half full at most.
    pub(super) fn new(slots: usize) -> Self {
        Self { entries: vec![0; (2 * slots).next_power_of_two()] }
    }

    fn mask(&self) -> usize {
        self.entries.len() - 1
    }

    #[inline(always)]
    fn entry(h1: u64, slot: u32) -> u64 {
        h1 & 0xffff_ffff_0000_0000 | u64::from(slot + 1)
    }

    /// Where the search for a digest begins; for prefetching.
    #[inline(always)]
    pub(super) fn home(&self, h1: u64) -> &u64 {
        &self.entries[h1 as usize & self.mask()]
    }

    /// The slot of this digest for which `is_it`.
    #[inline(always)]
    pub(super) fn find(&self, h1: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.mask();
        let mut at = h1 as usize & mask;
        loop {
            let entry = self.entries[at];
            if entry == 0 {
                return None;
            }
            let slot = entry as u32 - 1;
            if (entry ^ h1) >> 32 == 0 && is_it(slot) {
                return Some(slot);
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds a slot that is not there yet.
    pub(super) fn insert(&mut self, h1: u64, slot: u32) {
        let mask = self.mask();
        let mut at = h1 as usize & mask;
        while self.entries[at] != 0 {
            at = (at + 1) & mask;
        }
        self.entries[at] = Self::entry(h1, slot);
    }

    /// Takes out a slot that is there. `h1_of` tells the digest of any other slot.
    pub(super) fn remove(&mut self, h1: u64, slot: u32, h1_of: impl Fn(u32) -> u64) {
        let mask = self.mask();
        let mut hole = h1 as usize & mask;
        while self.entries[hole] != Self::entry(h1, slot) {
            hole = (hole + 1) & mask;
        }
        // What follows moves up unless that would put it before its home, so that no search meets a hole too early.
        let mut at = (hole + 1) & mask;
        while self.entries[at] != 0 {
            let home = h1_of(self.entries[at] as u32 - 1) as usize & mask;
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(hole) & mask) {
                self.entries[hole] = self.entries[at];
                hole = at;
            }
            at = (at + 1) & mask;
        }
        self.entries[hole] = 0;
    }

    pub(super) fn clear(&mut self) {
        self.entries.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn finds_what_is_in_it_and_nothing_else(steps in prop::collection::vec((0u64..24, any::<bool>()), 0..200)) {
            // Few homes, so that runs are long and wrap around.
            let h1_of = |slot: u32| u64::from(slot) % 5 * 7 + 13;
            let mut index = Index::new(24);
            let mut model: BTreeSet<u32> = BTreeSet::new();
            for (slot, add) in steps {
                let slot = slot as u32;
                if add && model.insert(slot) {
                    index.insert(h1_of(slot), slot);
                } else if !add && model.remove(&slot) {
                    index.remove(h1_of(slot), slot, h1_of);
                }
                for slot in 0..24 {
                    let found = index.find(h1_of(slot), |other| other == slot);
                    prop_assert_eq!(found.is_some(), model.contains(&slot));
                }
            }
        }
    }
}
