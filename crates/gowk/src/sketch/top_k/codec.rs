//! The summary as a file. `docs/format.md`, family 12.

use super::{
    arena::{Arena, Place, read_key},
    sizing::TopKParams,
    summary::{COUNT, ERROR, H1, PLACE, Slot, TopK},
};
use crate::{
    format::{Fields, Head, OpenError, ParamsWriter, Persist},
    params::Promise,
    stats::Family,
    store::{Heap, Line, Store, StoreMut, words},
};
use alloc::{vec, vec::Vec};

/// What the head promises: the slots, and the error as a part of all occurrences.
fn promise(params: &TopKParams) -> Promise {
    Promise { items: params.slots(), fpp: 1.0 / params.slots() as f64 }
}

/// The fault of a body that could not come from a summary.
fn body(why: &'static str) -> OpenError {
    OpenError::Field { name: "the body", offset: 16, why }
}

impl Persist for TopK {
    type Store = Heap;

    fn head(&self) -> Head {
        Head { family: Family::TopK, promise: promise(&self.params), keys: self.total, hasher: self.hasher }
    }

    fn write_params(&self, params: &mut ParamsWriter) {
        params.u64(self.params.k()).u64(self.params.slots()).u64(self.params.cells());
        params.u64(self.used as u64).u64(self.arena.used() as u64);
    }

    fn sections(&self) -> Vec<&[Line]> {
        vec![self.slots.lines(), self.cells.lines(), self.arena.lines()]
    }

    fn from_parts(head: &Head, mut fields: Fields<'_>, store: Heap) -> Result<Self, OpenError> {
        head.expect(Family::TopK)?;
        let (k, slots, cells) = (fields.u64("k")?, fields.u64("the slots")?, fields.u64("the cells")?);
        let params = TopKParams::with_cells(k, slots, cells)?;
        let used = fields.u64("the slots in use")?;
        if used > slots {
            return Err(fields.wrong("the slots in use", 8, "are more than there are"));
        }
        let key_words = fields.u64("the words of keys")?;
        fields.end()?;
        if head.promise != promise(&params) {
            return Err(OpenError::Field {
                name: "the promise",
                offset: 24,
                why: "is not that of the slots",
            });
        }
        let (slot_lines, cell_lines) = (slots.div_ceil(2), cells / 8);
        let lines = key_words.div_ceil(8).checked_add(slot_lines + cell_lines);
        // Before anything is allocated by what the file says.
        head.expect_lines(lines.unwrap_or(u64::MAX), store.lines().len())?;

        let (slot_part, rest) = store.lines().split_at(slot_lines as usize);
        let (cell_part, key_part) = rest.split_at(cell_lines as usize);
        let mut summary = TopK::with_params(params, head.hasher)?;
        summary.total = head.keys;
        summary.cells.lines_mut().copy_from_slice(cell_part);
        if words(cell_part).iter().any(|most| *most > params.error_at(head.keys)) {
            return Err(body("has a cell above the bound on errors"));
        }
        let (kept, free) = words(slot_part).split_at(4 * used as usize);
        if free.iter().any(|word| *word != 0) {
            return Err(body("has something in a slot that is not in use"));
        }
        summary.keep_all(kept.as_chunks().0, &words(key_part)[..key_words as usize])?;
        Ok(summary)
    }
}

impl TopK {
    /// Fills the slots from a file, each one held against the keys and against the others.
    fn keep_all(&mut self, slots: &[Slot], keys: &[u64]) -> Result<(), OpenError> {
        let taken: u64 = slots.iter().map(|slot| Place(slot[PLACE]).words() as u64).sum();
        if taken > keys.len() as u64 {
            return Err(body("has keys that overlap"));
        }
        let counts: u128 = slots.iter().map(|slot| u128::from(slot[COUNT])).sum();
        if counts > u128::from(self.total) && self.total != u64::MAX {
            return Err(body("has counts of more than came"));
        }
        self.arena = Arena::with_room(keys.len())?;
        for slot in slots {
            let key = read_key(keys, Place(slot[PLACE])).ok_or_else(|| body("has a key outside of it"))?;
            let digest = self.hasher.bytes(&key);
            if digest.h1 != slot[H1] {
                return Err(body("has a key that is not that of its digest"));
            }
            if slot[COUNT] == 0 || slot[ERROR] >= slot[COUNT] || self.keeps(&key) {
                return Err(body("has a slot that no stream of keys leaves behind"));
            }
            self.fill_slot(digest, &key, slot[COUNT], slot[ERROR]);
        }
        Ok(())
    }
}
