//! Values that have no place in the maps of a pass, kept on disk, so that the input need not be read again for them.

use crate::{
    engine::spill::{Space, Spill},
    error::JobError,
};

/// Values aside.
#[derive(Debug, Default)]
pub(super) struct Aside {
    spill: Option<Spill>,
    count: u64,
    too_many: bool,
}

/// Values that are handed back at a time.
const BATCH: usize = 1 << 16;

impl Aside {
    /// Keeps some more, unless there are more than `most` in all: then reading the input again costs less.
    pub(super) fn put(
        &mut self,
        space: &Space,
        values: &[u64],
        block: usize,
        most: u64,
    ) -> Result<(), JobError> {
        self.count += values.len() as u64;
        if self.count > most {
            (self.spill, self.too_many) = (None, true);
        }
        if values.is_empty() || self.too_many {
            return Ok(());
        }
        let spill = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert(Spill::new(space, 1, block, false)?),
        };
        values.iter().try_for_each(|value| spill.put(space, 0, 0, &value.to_le_bytes(), &[]))
    }

    /// Whether it has all of them, and not just some.
    pub(super) fn finish(mut self, space: &Space) -> Result<Option<Self>, JobError> {
        self.spill.as_mut().map_or(Ok(()), |spill| spill.finish(space))?;
        Ok(Some(self).filter(|aside| !aside.too_many))
    }

    /// Hands them out, some at a time.
    pub(super) fn each(&self, space: &Space, mut each: impl FnMut(&[u64])) -> Result<(), JobError> {
        let Some(spill) = &self.spill else { return Ok(()) };
        let (mut reader, mut values) = (spill.read(0), Vec::with_capacity(BATCH));
        while let Some(spilled) = reader.next(space)? {
            values.extend(spilled.key.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)));
            if values.len() == BATCH {
                each(&values);
                values.clear();
            }
        }
        each(&values);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_come_back_unless_there_are_too_many() {
        let dir = tempfile::tempdir().unwrap();
        let space = Space::new(dir.path());
        let values: Vec<u64> = (0..200_000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let kept = |most| {
            let mut aside = Aside::default();
            values.chunks(999).try_for_each(|some| aside.put(&space, some, 4096, most)).unwrap();
            aside.finish(&space).unwrap()
        };
        let mut back = Vec::new();
        kept(200_000).unwrap().each(&space, |some| back.extend_from_slice(some)).unwrap();
        assert!(back == values);
        assert!(kept(199_999).is_none());
    }
}
