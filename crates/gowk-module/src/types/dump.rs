//! A dump of a value whose bytes move: copied when it begins, and handed out chunk by chunk, so that it is of one moment.
//!
//! The copy is dropped at the end; or with the next dump, or when a change comes after it was left alone for [`PATIENCE`].

use super::image::{Body, DUMP_CHUNK};
use crate::error::CommandError;

/// Milliseconds for which a dump that nobody continues is kept.
const PATIENCE: u64 = 300_000;

/// The dump of a value, if one is under way.
#[derive(Default)]
pub(crate) struct Dump(Option<Box<Copied>>);

struct Copied {
    bytes: Vec<u8>,
    touched: u64,
}

impl Dump {
    /// Forgets a dump that nobody has continued for long.
    pub(crate) fn tidy(&mut self, now: impl FnOnce() -> u64) {
        if self.0.as_ref().is_some_and(|copied| copied.touched + PATIENCE < now()) {
            self.0 = None;
        }
    }

    /// The memory of the copy.
    pub(crate) fn memory(&self) -> usize {
        self.0.as_ref().map_or(0, |copied| copied.bytes.capacity())
    }

    /// The chunk that an iterator asks for, with the next iterator; none at the end. Iterator 0 begins, with a copy of what `image` gives.
    pub(crate) fn scan<'a>(
        &mut self,
        iterator: u64,
        now: u64,
        image: impl FnOnce() -> (Vec<u8>, Body<'a>),
    ) -> Result<Option<(u64, Vec<u8>)>, CommandError> {
        let Some(offset) = iterator.checked_sub(1) else {
            let (header, body) = image();
            let bytes = body.read(0, usize::try_from(body.len()).unwrap_or(usize::MAX));
            self.0 = Some(Box::new(Copied { bytes, touched: now }));
            return Ok(Some((1, header)));
        };
        let gone = CommandError::Refused("ERR there is no such dump any more; begin again with iterator 0");
        let copied = self.0.as_mut().ok_or(gone)?;
        copied.touched = now;
        let chunk = Body::Bytes((&copied.bytes[..]).into()).read(offset, DUMP_CHUNK);
        if chunk.is_empty() {
            self.0 = None;
            return Ok(None);
        }
        Ok(Some((iterator + chunk.len() as u64, chunk)))
    }
}
