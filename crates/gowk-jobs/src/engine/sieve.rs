//! A filter for each lane, so that several threads fill them without an atomic operation: one at a time is at a lane's.
//!
//! They are made, filled and folded by all threads, and small enough, each, for the processor to know the addresses of its pages.

use super::{Engine, chunk::Chunk, chunk::Rec};
use crate::error::JobError;
use gowk::{BlockedBloom, BlockedParams, Build, Digest, Filter, Insert, ParamsError};
use rayon::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What may have been among the keys that came, and what surely was not.
pub(crate) struct Sieve {
    lanes: Vec<BlockedBloom>,
}

impl Sieve {
    /// Whether each of these records of a lane may have a key that came.
    pub(crate) fn answer(&self, lane: usize, recs: &[Rec], answers: &mut Vec<bool>) {
        answers.clear();
        answers.resize(recs.len(), false);
        let bits = bits_of(self.lanes.len());
        self.lanes[lane].answer(recs.iter().map(|rec| digest(rec.hash, bits)), answers);
    }

    pub(crate) fn size_in_bytes(&self) -> u64 {
        self.lanes.iter().map(|filter| filter.size_in_bytes() as u64).sum()
    }

    /// The chance that a key that did not come passes.
    pub(crate) fn fpp(&self) -> f64 {
        let sum: f64 = self.lanes.iter().map(|filter| filter.stats().fpp_now).sum();
        sum / self.lanes.len() as f64
    }

    /// As small as keeps the rate: repeated keys leave filters emptier than they need be.
    pub(crate) fn fold(&mut self, engine: &Engine<'_>) {
        engine.pool.install(|| self.lanes.par_iter_mut().for_each(BlockedBloom::fold_to_fit));
    }
}

/// A sieve that is being filled.
pub(crate) struct Filling {
    lanes: Vec<Mutex<BlockedBloom>>,
}

impl Filling {
    /// For so many keys at this rate; at a worse one, if that would take more than `most` bytes.
    pub(crate) fn new(engine: &Engine<'_>, items: u64, fpp: f64, most: u64) -> Result<Self, JobError> {
        let lanes = engine.sizes.lanes;
        // Some lanes have a few more than others.
        let mean = items.div_ceil(lanes as u64);
        let params = params(mean + 3 * mean.isqrt(), fpp, most * 8 / lanes as u64)?;
        let hasher = engine.hasher(0);
        let empty = |_| BlockedBloom::with_params(params, hasher).map(Mutex::new);
        let filters: Result<_, ParamsError> =
            engine.pool.install(|| (0..lanes).into_par_iter().map(empty).collect());
        Ok(Self { lanes: filters? })
    }

    /// Puts in the keys of a chunk. For many threads at once.
    pub(crate) fn insert(&self, chunk: &Chunk) {
        let bits = bits_of(self.lanes.len());
        let put = |lane: usize, mut filter: MutexGuard<'_, BlockedBloom>| {
            filter.insert_from(chunk.lanes[lane].iter().map(|rec| digest(rec.hash, bits)));
        };
        // Lanes that another thread is at come later.
        let mut later = Vec::new();
        for (lane, filter) in self.lanes.iter().enumerate() {
            match filter.try_lock() {
                Ok(filter) => put(lane, filter),
                Err(_) => later.push(lane),
            }
        }
        for lane in later {
            put(lane, self.lanes[lane].lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Puts in keys of one lane, by their hashes.
    pub(crate) fn insert_lane(&self, lane: usize, hashes: impl Iterator<Item = u64>) {
        let bits = bits_of(self.lanes.len());
        let mut filter = self.lanes[lane].lock().unwrap_or_else(PoisonError::into_inner);
        filter.insert_from(hashes.map(|hash| digest(hash, bits)));
    }

    pub(crate) fn finish(self) -> Sieve {
        let filters = self.lanes.into_iter();
        Sieve { lanes: filters.map(|f| f.into_inner().unwrap_or_else(PoisonError::into_inner)).collect() }
    }
}

fn bits_of(lanes: usize) -> u32 {
    lanes.trailing_zeros()
}

/// All keys of a lane share the highest bits, which choose lines: these come last.
#[inline(always)]
fn digest(hash: u64, bits: u32) -> Digest {
    Digest::from(hash.rotate_left(bits))
}

/// With many sizes to fold to, and of at most so many bits.
fn params(items: u64, fpp: f64, most: u64) -> Result<BlockedParams, ParamsError> {
    let items = items.max(1);
    match BlockedParams::foldable(items, fpp)? {
        params if params.bits() > most => BlockedParams::for_bits(most.max(512), items),
        params => Ok(params),
    }
}
