//! Makes a filter of the right size and fills it.
//!
//! The size comes from `--items`, from the lines of files that can be read twice, or from the hashes that came through a pipe and were
//! kept. The default family is filled by all threads at once; of the others one thread inserts what the rest have hashed.

use super::{check_memory, family::FamilyName};
use crate::numbers::{bytes, grouped};
use anyhow::{Context, bail};
use gowk::{
    AnyFilter, AtomicBlockedBloom, BinaryFuse, BlockedBloom, BlockedParams, Bloom, BloomParams, Build,
    CountingBloom, CountingParams, Cuckoo, CuckooParams, Digest, FuseParams, Hasher, Insert, ScalableBloom,
    ScalableParams, SplitBlockBloom, SplitBlockParams, Window, WindowParams, format::ChangeError,
};
use gowk_jobs::input::{Block, Extractor, Input, Keys, for_each_block, map_in_order};
use std::num::NonZeroUsize;

/// What is put into a filter, and with what.
pub(super) struct Filling<'a> {
    pub(super) input: &'a Input,
    pub(super) keys: Keys,
    pub(super) hasher: Hasher,
    pub(super) threads: NonZeroUsize,
    pub(super) memory: u64,
}

/// A filter, and how many lines had no key.
type Filled = (AnyFilter, u64);

impl Filling<'_> {
    pub(super) fn build(&self, family: FamilyName, items: Option<u64>, fpp: f64) -> anyhow::Result<Filled> {
        match family {
            FamilyName::Auto | FamilyName::Blocked => self.blocked(items, fpp),
            FamilyName::Fuse => self.fuse(fpp),
            FamilyName::Scalable => {
                let params = ScalableParams::new(items.unwrap_or(100_000), fpp)?;
                let filter = ScalableBloom::with_params(params, self.hasher)?;
                self.insert_all(AnyFilter::ScalableBloom(filter))
            }
            FamilyName::Window if items.is_none() => {
                bail!("a window remembers the last keys; say how many with --items")
            }
            _ => self.sized(family, items, fpp),
        }
    }

    /// An empty filter of the same kind as another one, filled.
    pub(super) fn like(mut self, mut other: AnyFilter) -> anyhow::Result<Filled> {
        match &mut other {
            AnyFilter::BlockedBloom(filter) => {
                filter.clear();
                self.hasher = *gowk::Filter::hasher(filter);
                let params = *filter.params();
                drop(other);
                return self.shared(params, false);
            }
            AnyFilter::Bloom(filter) => filter.clear(),
            AnyFilter::SplitBlockBloom(filter) => filter.clear(),
            AnyFilter::CountingBloom(filter) => filter.clear(),
            AnyFilter::Cuckoo(filter) => filter.clear(),
            AnyFilter::Window(filter) => filter.clear(),
            _ => bail!("filters of this family cannot be merged, so there is nothing to be like"),
        }
        self.hasher = *gowk::Filter::hasher(&other);
        self.insert_all(other)
    }

    fn blocked(&self, items: Option<u64>, fpp: f64) -> anyhow::Result<Filled> {
        match items {
            Some(items) => self.shared(BlockedParams::for_fpp(items, fpp)?, false),
            None if self.input.can_be_read_twice() => {
                self.shared(BlockedParams::foldable(self.count_lines()?.max(1), fpp)?, true)
            }
            None => self.blocked_from_pipe(fpp),
        }
    }

    /// All threads insert at once.
    fn shared(&self, params: BlockedParams, fold: bool) -> anyhow::Result<Filled> {
        check_memory(params.bits() / 8, self.memory, "the filter")?;
        let filter = AtomicBlockedBloom::with_params(params, self.hasher)?;
        let states = for_each_block(
            self.input.blocks(),
            self.threads,
            || (self.keys.extractor(), Vec::new()),
            |(extractor, digests), block| {
                digests.clear();
                extractor.digests(block, &self.hasher, digests)?;
                filter.insert_many(digests);
                anyhow::Ok(())
            },
        )?;
        let mut filter = filter.into_plain();
        if fold {
            filter.fold_to_fit();
        }
        let skipped = states.iter().map(|(extractor, _)| extractor.skipped()).sum();
        Ok((AnyFilter::BlockedBloom(filter), skipped))
    }

    /// Hashes are kept while they take no more than half of the memory; then a filter of the other half takes them.
    fn blocked_from_pipe(&self, fpp: f64) -> anyhow::Result<Filled> {
        let (mut kept, mut large, most) = (Vec::new(), None::<BlockedBloom>, self.memory / 2 / 8);
        let skipped = self.hashed(|digests| {
            if let Some(filter) = &mut large {
                filter.insert_many(digests);
                return Ok(());
            }
            kept.extend(digests.iter().map(|digest| digest.h1));
            if kept.len() as u64 > most {
                let mut filter = BlockedBloom::with_params(self.largest(fpp)?, self.hasher)?;
                filter.insert_from(std::mem::take(&mut kept).into_iter().map(Digest::from));
                large = Some(filter);
            }
            Ok(())
        })?;
        let mut filter = match large {
            Some(filter) => filter,
            None => {
                let params = BlockedParams::foldable((kept.len() as u64).max(1), fpp)?;
                let mut filter = BlockedBloom::with_params(params, self.hasher)?;
                filter.insert_from(kept.into_iter().map(Digest::from));
                filter
            }
        };
        let promised = filter.params().promise().items;
        filter.fold_to_fit();
        let came = filter.params().promise().items;
        if came as f64 > 1.01 * promised as f64 {
            bail!(
                "about {} keys came, and {} of memory hold {} at this rate; raise --memory or --fpp, or say --items",
                grouped(came),
                bytes(self.memory as f64),
                grouped(promised)
            );
        }
        Ok((AnyFilter::BlockedBloom(filter), skipped))
    }

    /// As many keys as half of the memory holds.
    fn largest(&self, fpp: f64) -> anyhow::Result<BlockedParams> {
        let bits = self.memory / 2 * 8;
        let bits_per_key = BlockedParams::for_fpp(1_000_000, fpp)?.bits_per_key() * 1.15;
        let items = (bits as f64 / bits_per_key) as u64;
        Ok(BlockedParams::foldable(items.max(1), fpp)?)
    }

    /// All hashes, and then the filter.
    fn fuse(&self, fpp: f64) -> anyhow::Result<Filled> {
        let lines = if self.input.can_be_read_twice() { self.count_lines()? } else { 0 };
        check_memory(
            FuseParams::for_fpp(lines.max(1), fpp)?.build_bytes(),
            self.memory,
            "building the filter",
        )?;
        let (digests, skipped) = self.digests(lines, 2)?;
        check_memory(
            FuseParams::for_fpp((digests.len() as u64).max(1), fpp)?.build_bytes(),
            self.memory,
            "building the filter",
        )?;
        let builder = BinaryFuse::builder().fpp(fpp).hasher(&self.hasher).threads(self.threads.get());
        let filter = builder.build_from(digests.into_iter().map(Digest::from))?;
        Ok((AnyFilter::BinaryFuse(filter), skipped))
    }

    /// The families that must know how many keys will come.
    fn sized(&self, family: FamilyName, items: Option<u64>, fpp: f64) -> anyhow::Result<Filled> {
        if let Some(items) = items {
            return self.insert_all(self.empty(family, items, fpp)?);
        }
        if self.input.can_be_read_twice() {
            let lines = self.count_lines()?.max(1);
            return self.insert_all(self.empty(family, lines, fpp)?);
        }
        let (digests, skipped) = self.digests(0, 1)?;
        let mut filter = self.empty(family, (digests.len() as u64).max(1), fpp)?;
        filter.insert_from(digests.into_iter().map(Digest::from)).map_err(|error| full(error, None))?;
        Ok((filter, skipped))
    }

    fn empty(&self, family: FamilyName, items: u64, fpp: f64) -> anyhow::Result<AnyFilter> {
        let check = |bits: u64| check_memory(bits / 8, self.memory, "the filter");
        Ok(match family {
            FamilyName::SplitBlock => {
                let params = SplitBlockParams::for_fpp(items, fpp)?;
                check(params.bits())?;
                AnyFilter::SplitBlockBloom(SplitBlockBloom::with_params(params, self.hasher)?)
            }
            FamilyName::Counting => {
                let params = CountingParams::for_fpp(items, fpp)?;
                check(params.bits())?;
                AnyFilter::CountingBloom(CountingBloom::with_params(params, self.hasher)?)
            }
            FamilyName::Cuckoo => {
                let params = CuckooParams::for_fpp(items, fpp)?;
                check(params.bits())?;
                AnyFilter::Cuckoo(Cuckoo::with_params(params, self.hasher)?)
            }
            FamilyName::Window => {
                let params = WindowParams::for_fpp(items, fpp)?;
                check(params.bits())?;
                AnyFilter::Window(Window::with_params(params, self.hasher)?)
            }
            _ => {
                let params = BloomParams::for_fpp(items, fpp)?;
                check(params.bits())?;
                AnyFilter::Bloom(Bloom::with_params(params, self.hasher)?)
            }
        })
    }

    fn insert_all(&self, mut filter: AnyFilter) -> anyhow::Result<Filled> {
        let skipped = self
            .hashed(|digests| filter.insert_many(digests).map_err(|error| full(error, Some(self.input))))?;
        Ok((filter, skipped))
    }

    fn digests(&self, expected: u64, share: u64) -> anyhow::Result<(Vec<u64>, u64)> {
        let mut all = Vec::new();
        all.try_reserve_exact(expected as usize).context("no memory for the hashes of the keys")?;
        let skipped = self.hashed(|digests| {
            all.extend(digests.iter().map(|digest| digest.h1));
            match (8 * share * all.len() as u64).cmp(&self.memory) {
                std::cmp::Ordering::Greater => bail!(
                    "the hashes of {} keys already take more than --memory allows ({}); raise it, or say --items",
                    grouped(all.len() as u64), bytes(self.memory as f64)
                ),
                _ => Ok(()),
            }
        })?;
        Ok((all, skipped))
    }

    /// Hands the digests to `each`, block by block and in order; gives back how many lines had no key.
    fn hashed(&self, mut each: impl FnMut(&[Digest]) -> anyhow::Result<()> + Send) -> anyhow::Result<u64> {
        let hash = |extractor: &mut Extractor, block: &Block| {
            let mut digests = Vec::new();
            extractor.digests(block, &self.hasher, &mut digests)?;
            anyhow::Ok(digests)
        };
        let states = map_in_order(
            self.input.blocks(),
            self.threads,
            || self.keys.extractor(),
            hash,
            |digests| each(&digests),
        )?;
        Ok(states.iter().map(Extractor::skipped).sum())
    }

    fn count_lines(&self) -> anyhow::Result<u64> {
        let count = |count: &mut u64, block: &Block| {
            *count += block.count();
            anyhow::Ok(())
        };
        Ok(for_each_block(self.input.blocks(), self.threads, || 0, count)?.iter().sum())
    }
}

/// What to do when a filter is full.
fn full(error: ChangeError, input: Option<&Input>) -> anyhow::Error {
    match (error, input) {
        (ChangeError::Full(full), Some(_)) => anyhow::anyhow!(
            "the filter is full: it was made for {} keys and more came; raise --items, or leave it out",
            grouped(full.capacity)
        ),
        (error, _) => error.into(),
    }
}
