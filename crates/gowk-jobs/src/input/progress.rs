//! How far the reading has come, and a way to stop it.

use std::{
    io::{self, Read},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

/// Shared between the one who reads and the one who watches. Clones are the same progress.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    read: AtomicU64,
    /// `u64::MAX` stands for unknown; a progress that nobody has told is 0 of 0.
    total: AtomicU64,
    cancelled: AtomicBool,
}

impl Progress {
    /// The bytes read so far, as they are on disk: compressed ones count as what they take there.
    pub fn read(&self) -> u64 {
        self.0.read.load(Ordering::Relaxed)
    }

    /// The bytes to be read in all, where that is known.
    pub fn total(&self) -> Option<u64> {
        Some(self.0.total.load(Ordering::Relaxed)).filter(|total| *total != u64::MAX)
    }

    /// Says how many more bytes will be read; none where that is not known, and then the total never is.
    pub fn expect(&self, bytes: Option<u64>) {
        let sum = |total: u64| Some(bytes.map_or(u64::MAX, |bytes| total.saturating_add(bytes)));
        self.0.total.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum).ok();
    }

    /// Makes the next read of a block end with [`InputError::Cancelled`](super::InputError::Cancelled).
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether somebody has cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, bytes: usize) {
        self.0.read.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// Counts what is read.
pub(super) struct Counted<R> {
    reader: R,
    progress: Progress,
}

impl<R> Counted<R> {
    pub(super) fn new(reader: R, progress: Progress) -> Self {
        Self { reader, progress }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.progress.add(read);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_total_is_known_while_every_part_of_it_is() {
        let progress = Progress::default();
        progress.expect(Some(10));
        progress.expect(Some(5));
        assert_eq!(progress.total(), Some(15));
        progress.expect(None);
        progress.expect(Some(1));
        assert_eq!(progress.total(), None);
    }
}
