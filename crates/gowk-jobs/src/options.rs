//! What a job may use: memory, threads, a place for temporary data; and who watches it.

use crate::input::Progress;
use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

/// What a job may use.
///
/// ```
/// use gowk_jobs::Options;
/// let options = Options::default().memory(256 << 20).threads(2.try_into()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    memory: u64,
    threads: NonZeroUsize,
    temp_dir: PathBuf,
    progress: Progress,
    seed: Option<u64>,
}

impl Default for Options {
    /// 1 GiB, all cores, the system's directory for temporary files, a random seed.
    fn default() -> Self {
        Self {
            memory: 1 << 30,
            threads: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            temp_dir: std::env::temp_dir(),
            progress: Progress::default(),
            seed: None,
        }
    }
}

impl Options {
    /// The most memory that tables, filters and buffers take together, in bytes. The process itself takes some tens of
    /// megabytes more.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Self {
        Self { memory: bytes, ..self }
    }

    /// How many threads work. The answer does not depend on it.
    #[must_use]
    pub fn threads(self, threads: NonZeroUsize) -> Self {
        Self { threads, ..self }
    }

    /// Where what does not fit into memory goes. Its files have no names, so nothing is left of them, whatever happens.
    #[must_use]
    pub fn temp_dir(self, dir: impl Into<PathBuf>) -> Self {
        Self { temp_dir: dir.into(), ..self }
    }

    /// Who watches, and may cancel.
    #[must_use]
    pub fn progress(self, progress: &Progress) -> Self {
        Self { progress: progress.clone(), ..self }
    }

    /// A fixed seed for the hashes, for tests. Random unless said, so that nobody can prepare keys that collide.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self }
    }

    /// The most memory, in bytes.
    pub fn memory_limit(&self) -> u64 {
        self.memory
    }

    /// How many threads.
    pub fn thread_count(&self) -> NonZeroUsize {
        self.threads
    }

    /// Where temporary data goes.
    pub fn temp_path(&self) -> &Path {
        &self.temp_dir
    }

    pub(crate) fn watcher(&self) -> &Progress {
        &self.progress
    }

    pub(crate) fn fixed_seed(&self) -> Option<u64> {
        self.seed
    }
}
