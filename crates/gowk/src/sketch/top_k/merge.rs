//! Two summaries into one.

use super::summary::{Heavy, TopK};
use crate::{
    error::MergeError,
    filter::Merge,
    store::{Store, StoreMut, words, words_mut},
};
use alloc::vec::Vec;

impl Merge for TopK {
    /// The summary of both streams. Sizes and hashers must be the same.
    ///
    /// Every bound still holds, and so does the one on all errors, [`error`](TopK::error) of the new total. The order of merging
    /// makes no difference to the counts of two; of three or more it may, within the bounds.
    fn union(&mut self, other: &Self) -> Result<(), MergeError> {
        self.hasher.fits(&other.hasher)?;
        MergeError::unless_same("k", self.params.k(), other.params.k())?;
        MergeError::unless_same("slots", self.params.slots(), other.params.slots())?;
        MergeError::unless_same("cells", self.params.cells(), other.params.cells())?;

        let mut keys = self.kept();
        for heavy in &mut keys {
            add(heavy, other);
        }
        let mut others = other.kept();
        // What both keep is already among ours.
        others.retain(|heavy| !self.keeps(&heavy.key));
        for heavy in &mut others {
            add(heavy, self);
        }
        keys.append(&mut others);
        keys.sort_unstable_by(|a, b| b.count.cmp(&a.count).then_with(|| a.key.cmp(&b.key)));

        let total = self.total.saturating_add(other.total);
        let cells: Vec<u64> = words(self.cells.lines())
            .iter()
            .zip(words(other.cells.lines()))
            .map(|(a, b)| a.saturating_add(*b))
            .collect();
        self.clear();
        self.total = total;
        words_mut(self.cells.lines_mut()).copy_from_slice(&cells);
        for (i, heavy) in keys.iter().enumerate() {
            let digest = self.hasher.bytes(&heavy.key);
            if (i as u64) < self.params.slots() {
                self.fill_slot(digest, &heavy.key, heavy.count, heavy.error);
            } else {
                let cell = self.cell(digest);
                let most = &mut words_mut(self.cells.lines_mut())[cell];
                *most = (*most).max(heavy.count);
            }
        }
        Ok(())
    }
}

/// Adds what the other summary knows of a key.
fn add(heavy: &mut Heavy, other: &TopK) {
    let theirs = other.estimate(&heavy.key);
    heavy.count = heavy.count.saturating_add(theirs.count);
    heavy.error = heavy.error.saturating_add(theirs.error);
}
