//! Keys that are there more often than slots hold them: a class and a count each. Exact; grows as it must.
//!
//! A hash table with linear probing over lines, so that it lies in a file as it lies in memory. Entries are two words: the
//! root of the class, and the count above the 16 bits of the print; a count of 0 is an empty entry.

use super::layout::Class;
use crate::{
    error::ParamsError,
    hash::Digest,
    store::{Heap, Line, Store, StoreMut, words, words_mut},
};

/// The side table.
#[derive(Clone, Debug)]
pub(super) struct Extras<S = Heap> {
    store: S,
    /// How many classes are in it.
    classes: u64,
    /// How many keys.
    total: u64,
}

/// The entries of a line.
const PER_LINE: u64 = 4;

impl Extras {
    pub(super) fn none() -> Self {
        Self { store: Heap::zeroed(0).expect("nothing always fits"), classes: 0, total: 0 }
    }
}

impl<S: Store> Extras<S> {
    /// The table of a file, if it can be one.
    pub(super) fn over(store: S, classes: u64, total: u64) -> Option<Self> {
        let lines = store.lines().len() as u64;
        let sound = if lines == 0 {
            classes == 0 && total == 0
        } else {
            // At least one entry is empty, where a search ends.
            lines.is_power_of_two() && classes < lines * PER_LINE && classes <= total
        };
        sound.then_some(Self { store, classes, total })
    }

    pub(super) fn classes(&self) -> u64 {
        self.classes
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    pub(super) fn lines(&self) -> &[Line] {
        self.store.lines()
    }

    /// How many keys of a class are here.
    pub(super) fn count(&self, class: Class) -> u64 {
        if self.classes == 0 {
            return 0;
        }
        match find(words(self.store.lines()), class) {
            Some((_, count)) => count,
            None => 0,
        }
    }

    /// All classes with their counts.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Class, u64)> {
        let (entries, _) = words(self.store.lines()).as_chunks::<2>();
        entries
            .iter()
            .filter(|[_, word]| word >> 16 != 0)
            .map(|&[root, word]| (Class { root, print: word & 0xffff }, word >> 16))
    }

    pub(super) fn to_heap(&self) -> Result<Extras, ParamsError> {
        Ok(Extras { store: Heap::copy_of(self.lines())?, classes: self.classes, total: self.total })
    }
}

impl<S: StoreMut> Extras<S> {
    /// One less of a class; false if there was none.
    pub(super) fn take(&mut self, class: Class) -> bool {
        if self.classes == 0 {
            return false;
        }
        let table = words_mut(self.store.lines_mut());
        let Some((at, count @ 1..)) = find(table, class) else { return false };
        self.total = self.total.saturating_sub(1);
        if count > 1 {
            table[2 * at + 1] -= 1 << 16;
        } else {
            self.classes = self.classes.saturating_sub(1);
            close_gap(table, at);
        }
        true
    }

    pub(super) fn clear(&mut self) {
        self.store.lines_mut().fill(Line::ZERO);
        (self.classes, self.total) = (0, 0);
    }
}

impl Extras {
    /// `more` more of a class. On an error nothing has changed.
    pub(super) fn add(&mut self, class: Class, more: u64) -> Result<(), ParamsError> {
        let lines = self.lines().len() as u64;
        if (self.classes + 1) * 4 > lines * PER_LINE * 3 || find(words(self.lines()), class).is_none() {
            self.rehash((lines * 2).max(1))?;
        }
        self.classes += u64::from(put(words_mut(self.store.lines_mut()), class, more));
        self.total = self.total.saturating_add(more);
        Ok(())
    }

    /// As small as it can be.
    pub(super) fn shrink(&mut self) -> Result<(), ParamsError> {
        let least = match self.classes {
            0 => 0,
            classes => (classes * 4 / 3 + 1).div_ceil(PER_LINE).next_power_of_two(),
        };
        if least < self.lines().len() as u64 { self.rehash(least) } else { Ok(()) }
    }

    fn rehash(&mut self, lines: u64) -> Result<(), ParamsError> {
        let mut larger = Heap::zeroed(lines)?;
        for (class, count) in self.iter() {
            put(words_mut(larger.lines_mut()), class, count);
        }
        self.store = larger;
        Ok(())
    }
}

/// The entry where the search for a class begins, of `entries`, a power of two.
fn start(root: u64, print: u64, entries: usize) -> usize {
    let mixed = (root.wrapping_mul(Digest::SPREAD) ^ print).wrapping_mul(Digest::SPREAD);
    (mixed >> 32) as usize & entries.wrapping_sub(1)
}

/// The entry of a class and its count, or an empty one for it. `None` if the table is full of others, which only that of a
/// forged file is.
fn find(table: &[u64], class: Class) -> Option<(usize, u64)> {
    let entries = table.len() / 2;
    let first = start(class.root, class.print, entries);
    (0..entries).map(|step| (first + step) & (entries - 1)).find_map(|at| {
        let (root, word) = (table[2 * at], table[2 * at + 1]);
        match word >> 16 {
            0 => Some((at, 0)),
            count if root == class.root && word & 0xffff == class.print => Some((at, count)),
            _ => None,
        }
    })
}

/// Adds to the count of a class; true if the class is new.
fn put(table: &mut [u64], class: Class, more: u64) -> bool {
    let (at, count) = find(table, class).expect("a quarter of the entries is empty");
    table[2 * at] = class.root;
    table[2 * at + 1] = (count + more) << 16 | class.print;
    count == 0
}

/// Empties an entry, and moves back those after it that were only there because it was not empty.
fn close_gap(table: &mut [u64], mut gap: usize) {
    let entries = table.len() / 2;
    let mut at = gap;
    for _ in 1..entries {
        at = (at + 1) & (entries - 1);
        let (root, word) = (table[2 * at], table[2 * at + 1]);
        if word >> 16 == 0 {
            break;
        }
        // It may move if its search begins at the gap or before.
        let begin = start(root, word & 0xffff, entries);
        if at.wrapping_sub(begin) & (entries - 1) >= at.wrapping_sub(gap) & (entries - 1) {
            (table[2 * gap], table[2 * gap + 1]) = (root, word);
            gap = at;
        }
    }
    (table[2 * gap], table[2 * gap + 1]) = (0, 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn it_counts_like_a_map(steps in prop::collection::vec((0u64..60, 1u64..4, any::<bool>()), 0..400)) {
            let mut extras = Extras::none();
            let mut model: HashMap<(u64, u64), u64> = HashMap::new();
            for (root, print, add) in steps {
                let class = Class { root, print };
                let count = model.entry((root, print)).or_default();
                if add {
                    extras.add(class, 1).unwrap();
                    *count += 1;
                } else {
                    prop_assert_eq!(extras.take(class), *count > 0);
                    *count = count.saturating_sub(1);
                }
                prop_assert_eq!(extras.count(class), *count);
            }
            model.retain(|_, count| *count > 0);
            prop_assert_eq!(extras.classes(), model.len() as u64);
            prop_assert_eq!(extras.total(), model.values().sum::<u64>());
            extras.shrink().unwrap();
            let found: HashMap<_, _> = extras.iter().map(|(class, count)| ((class.root, class.print), count)).collect();
            prop_assert_eq!(found, model);
        }
    }
}
