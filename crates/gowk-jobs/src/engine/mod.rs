//! The engine under all jobs: records in chunks, a table in memory, and a spill for what does not fit.
//!
//! ```text
//! Feed --chunks--> deal: cut, hash, prune --lanes--> work: table or spill --kept--> write
//!                  each chunk on some thread         each lane on some thread       in the order of the input
//! ```
//! A round is some chunks. All keys with the same high bits of their hash are of one lane, and one thread at a time
//! works on a lane, through the chunks in their order: so tables need no locks, and what is found does not depend
//! on the number of threads.
//!
//! When the tables reach the limit they are frozen: hits are still answered, misses go to partitions on disk by other bits of
//! their hashes. Each partition is then a feed like any other, with a fresh table and a fresh hash; one that is too large
//! as well is partitioned again.

pub(crate) mod chunk;
pub(crate) mod lane;
pub(crate) mod merge;
pub(crate) mod pass;
pub(crate) mod reduce;
pub(crate) mod sieve;
pub(crate) mod sought;
pub(crate) mod spill;
pub(crate) mod split;
pub(crate) mod table;
pub(crate) mod varint;

use self::{lane::Lane, lane::Spilling, spill::Space, table::Shape};
use crate::{
    error::JobError,
    input::Progress,
    options::Options,
    records::{Feed, Records},
};
use gowk::{Hasher, Seed};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// What a job runs on.
pub(crate) struct Engine<'o> {
    pub(crate) options: &'o Options,
    pub(crate) pool: ThreadPool,
    pub(crate) space: Space,
    seed: [u8; 16],
    pub(crate) sizes: Sizes,
}

/// How the memory is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) lanes: usize,
    pub(crate) shards: usize,
    /// Bytes of a chunk.
    pub(crate) block: usize,
    /// Chunks of a round.
    pub(crate) round: usize,
    /// Partitions of a lane.
    pub(crate) parts: usize,
    /// Bytes of a spilled block before compression.
    pub(crate) spill_block: usize,
    /// What tables and filters may take.
    pub(crate) tables: u64,
}

impl Sizes {
    /// Three rounds are on their way at a time; a block has a copy as records, or as output.
    const COPIES: usize = 6;

    pub(crate) fn new(memory: u64, threads: usize) -> Self {
        // More of them than threads: the table of one and its part of a filter are small enough for the processor to know the
        // addresses of their pages.
        let lanes = (4 * threads).next_power_of_two().min(64);
        let block = (memory / 512).clamp(16 << 10, 256 << 10) as usize;
        // Many chunks, so that many keys of a lane come together, but no more than a fifth of the memory is good for.
        let most = memory / 5 / (Self::COPIES * block) as u64;
        let round = (16 * threads).clamp(8, (most as usize).clamp(8, 64));
        // Entries have addresses of four bytes.
        let shards = (memory / lanes as u64).div_ceil(2 << 30).next_power_of_two() as usize;
        let parts = 64.max(lanes) / lanes;
        let spill_block = (memory / 64 / 64).clamp(4 << 10, 64 << 10) as usize;
        let buffers = (Self::COPIES * round * block + parts * lanes * spill_block) as u64;
        let tables = memory.saturating_sub(buffers).max(memory / 2).max(64 << 10);
        Self { lanes, shards, block, round, parts, spill_block, tables }
    }

    /// What is set aside for the records of all rounds.
    pub(crate) fn records(&self) -> usize {
        Self::COPIES / 2 * self.round * self.block
    }
}

impl<'o> Engine<'o> {
    pub(crate) fn new(options: &'o Options) -> Result<Self, JobError> {
        let threads = options.thread_count().get();
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|i| format!("gowk-job-{i}"))
            .build()
            .map_err(|error| JobError::Output(std::io::Error::other(error)))?;
        let seed = options.fixed_seed().map_or_else(Seed::random, Seed::from);
        Ok(Self {
            options,
            pool,
            space: Space::new(options.temp_path()),
            seed: seed.to_bytes(),
            sizes: Sizes::new(options.memory_limit(), threads),
        })
    }

    /// A hash of its own for each level, so that the keys of one partition spread again.
    pub(crate) fn hasher(&self, level: u32) -> Hasher {
        let mut seed = self.seed;
        for (byte, level) in seed.iter_mut().zip(level.to_le_bytes()) {
            *byte ^= level;
        }
        Hasher::new(Seed::from_bytes(seed))
    }

    pub(crate) fn progress(&self) -> &Progress {
        self.options.watcher()
    }

    /// Begins a pass over records.
    pub(crate) fn feed<'r>(&self, records: &'r Records<'_>) -> Result<Feed<'r>, JobError> {
        records.feed(self.sizes.block, self.progress())
    }

    /// Empty tables.
    pub(crate) fn lanes(&self, shape: Shape) -> Vec<Lane> {
        let share = self.sizes.tables as usize / (self.sizes.lanes * self.sizes.shards);
        (0..self.sizes.lanes)
            .map(|_| Lane::new(self.sizes.shards, self.sizes.lanes.trailing_zeros(), shape, share))
            .collect()
    }

    pub(crate) fn spilling(&self, lines: bool) -> Spilling {
        Spilling { parts: self.sizes.parts, block: self.sizes.spill_block, lines }
    }
}
