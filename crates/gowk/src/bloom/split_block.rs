//! The split-block Bloom filter of Impala and Parquet: 32 bytes a key, one bit in each of eight words.
//!
//! The digest's high half chooses a block of 256 bits, its low half times one of eight odd constants a bit in each 32-bit
//! word. With n keys in N blocks a block holds Poisson(n/N) of them, so
//!
//! ```text
//! fpp = sum over i of P(i keys in a block) (1 - (31/32)^i)^8
//! ```
//!
//! The blocks are small and the eight bits fixed, which costs space, the more so the smaller the rate. It is here because
//! Parquet files carry it; [`BlockedBloom`](crate::BlockedBloom) is as fast, in less. Asserted by
//! `tests::doc_table_is_true`:
//!
//! | rate | bits/key |
//! |---|---|
//! | 10 % | 5.99 |
//! | 1 % | 10.53 |
//! | 0.1 % | 16.89 |
//! | 2^-16 | 37.8 |

use super::mixture::mean_over_blocks;
use crate::{
    builder::{Build, Builder},
    bulk::{Ahead, Source, Stages, Stream},
    error::{Full, MergeError, ParamsError},
    filter::{Filter, Insert, Inserted, Merge},
    format::{Body, Fields, Head, OpenError, ParamsWriter, Persist},
    hash::{Digest, Hasher, Key},
    params::{Promise, checked_fpp, checked_items, keys_for_empty, least, textbook_bits},
    simd::{Isa, Lanes, Machine, Task},
    stats::{Family, Stats},
    store::{Fetch, Heap, Line, Store, StoreMut, addressable, ones, split_blocks, split_blocks_mut},
};
use alloc::{vec, vec::Vec};
use core::fmt;
use libm::{expm1, log};

/// The constants of the Parquet format.
const SALTS: Lanes = Lanes([
    0x47b6_137b,
    0x4497_4d91,
    0x8824_ad5b,
    0xa2b7_289d,
    0x7054_95c7,
    0x2df1_424b,
    0x9efc_4947,
    0x5c6b_fb31,
]);

/// The size of a split-block filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SplitBlockParams {
    blocks: u64,
    promise: Promise,
}

impl SplitBlockParams {
    /// The bits of a block.
    pub const BLOCK_BITS: u64 = 256;
    /// The most blocks that 32 bits of digest can choose from.
    const MOST_BLOCKS: u64 = u32::MAX as u64;

    /// The smallest filter that keeps `fpp` with `items` keys in it.
    pub fn for_fpp(items: u64, fpp: f64) -> Result<Self, ParamsError> {
        let promise = Promise { items: checked_items(items)?, fpp: checked_fpp(fpp)? };
        let likely = (textbook_bits(items, fpp) / Self::BLOCK_BITS as f64) as u64;
        let blocks = least(likely, 1, Self::MOST_BLOCKS, |blocks| rate(items, blocks) <= fpp);
        if rate(items, blocks) > fpp {
            // Parquet's index formula ends here; a rate out of reach is as good as a size out of reach.
            return Err(ParamsError::TooLarge { bytes: u128::from(blocks) * 32 });
        }
        Ok(Self { blocks, promise })
    }

    /// The largest filter of at most `bits` bits (but at least one block); its promise is the rate it keeps.
    pub fn for_bits(bits: u64, items: u64) -> Result<Self, ParamsError> {
        Self::with_blocks((bits / Self::BLOCK_BITS).max(1), items)
    }

    /// A filter of so many blocks.
    pub fn with_blocks(blocks: u64, items: u64) -> Result<Self, ParamsError> {
        let items = checked_items(items)?;
        if !(1..=Self::MOST_BLOCKS).contains(&blocks) {
            return Err(ParamsError::OutOfRange {
                what: "blocks",
                value: blocks,
                least: 1,
                most: Self::MOST_BLOCKS,
            });
        }
        addressable(blocks.div_ceil(2))?;
        Ok(Self { blocks, promise: Promise { items, fpp: rate(items, blocks) } })
    }

    /// The same size, with the promise as it was asked for.
    pub(crate) fn with_promise(self, promise: Promise) -> Self {
        Self { promise, ..self }
    }

    /// The blocks of 32 bytes.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// What was promised.
    pub fn promise(&self) -> Promise {
        self.promise
    }

    /// The size in bits.
    pub fn bits(&self) -> u64 {
        self.blocks * Self::BLOCK_BITS
    }

    /// The size in bits over the keys promised.
    pub fn bits_per_key(&self) -> f64 {
        self.bits() as f64 / self.promise.items as f64
    }

    /// The lines that hold the blocks, two in each.
    pub fn lines(&self) -> u64 {
        self.blocks.div_ceil(2)
    }

    /// The false-positive rate with `items` keys inside.
    pub fn fpp_at(&self, items: u64) -> f64 {
        rate(items, self.blocks)
    }

    /// How many keys it takes before the rate rises above `fpp`.
    pub fn items_at(&self, fpp: f64) -> u64 {
        let most = self.blocks.saturating_mul(4096);
        least(self.promise.items, 1, most, |items| rate(items, self.blocks) > fpp) - 1
    }

    /// How many keys have come, judging by the part of the bits that are set.
    pub fn items_for_fill(&self, fill: f64) -> f64 {
        let empty = (1.0 - fill).max(0.5 / self.bits() as f64);
        keys_for_empty(empty, 1.0 / (32.0 * self.blocks as f64))
    }
}

fn rate(items: u64, blocks: u64) -> f64 {
    let kept = log(31.0 / 32.0);
    mean_over_blocks(items, blocks, |keys| {
        let set = -expm1(kept * keys as f64);
        let four = set * set * set * set;
        four * four
    })
}

impl fmt::Display for SplitBlockParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} blocks of 256 bits, 8 bits a key", self.blocks)
    }
}

/// Parquet's filter.
///
/// ```
/// use gowk::{Filter, Insert, SplitBlockBloom};
///
/// let mut column = SplitBlockBloom::builder().items(10_000).fpp(0.01).build()?;
/// column.insert(&42u64);
/// assert!(column.may_contain(&42u64));
/// # Ok::<(), gowk::ParamsError>(())
/// ```
#[derive(Clone)]
pub struct SplitBlockBloom<S = Heap> {
    params: SplitBlockParams,
    hasher: Hasher,
    isa: Isa,
    store: S,
}

impl SplitBlockBloom {
    /// Describes a filter by what it is for: `items`, `fpp`, and more where it matters.
    pub fn builder() -> Builder<Self> {
        Builder::default()
    }
}

impl Build for SplitBlockBloom {
    type Params = SplitBlockParams;

    fn params_for_fpp(items: u64, fpp: f64) -> Result<SplitBlockParams, ParamsError> {
        SplitBlockParams::for_fpp(items, fpp)
    }

    fn params_for_bits(bits: u64, items: u64) -> Result<SplitBlockParams, ParamsError> {
        SplitBlockParams::for_bits(bits, items)
    }

    fn with_params(params: SplitBlockParams, hasher: Hasher) -> Result<Self, ParamsError> {
        Ok(Self { params, hasher, isa: Isa::best(), store: Heap::zeroed(params.lines())? })
    }
}

/// The block of a key among `blocks`, as Parquet has it.
#[inline(always)]
fn block_of(digest: Digest, blocks: u64) -> usize {
    (((digest.h1 >> 32) * blocks) >> 32) as usize
}

impl<S> SplitBlockBloom<S> {
    /// A filter whose bits are already there. The caller has checked that there are as many lines as the parameters say.
    pub(crate) fn over(params: SplitBlockParams, hasher: Hasher, store: S) -> Self {
        Self { params, hasher, isa: Isa::best(), store }
    }

    /// Size and promise.
    pub fn params(&self) -> &SplitBlockParams {
        &self.params
    }

    fn fits<O>(&self, other: &SplitBlockBloom<O>) -> Result<(), MergeError> {
        self.hasher.fits(&other.hasher)?;
        let (ours, theirs) = (self.params.blocks, other.params.blocks);
        if ours == theirs { Ok(()) } else { Err(MergeError::Sizes { ours, theirs }) }
    }
}

impl<S: Store> SplitBlockBloom<S> {
    /// The bits, two blocks to a line.
    pub fn lines(&self) -> &[Line] {
        self.store.lines()
    }

    /// The part of the bits that are set.
    pub fn fill(&self) -> f64 {
        ones(self.lines()) as f64 / self.params.bits() as f64
    }

    /// How many different keys have come, as far as the bits tell.
    pub fn estimated_items(&self) -> f64 {
        self.params.items_for_fill(self.fill())
    }

    fn measured_fpp(&self) -> f64 {
        let block_fpp =
            |block: &[u32; 8]| block.iter().map(|word| f64::from(word.count_ones()) / 32.0).product::<f64>();
        let blocks = split_blocks(self.lines()).iter().take(self.params.blocks as usize);
        blocks.map(block_fpp).sum::<f64>() / self.params.blocks as f64
    }
}

impl<S: Store> Filter for SplitBlockBloom<S> {
    #[inline(always)]
    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    #[inline(always)]
    fn may_contain_digest(&self, digest: Digest) -> bool {
        self.may_contain(&digest)
    }

    #[inline(always)]
    fn may_contain<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.isa.run(Covers { filter: self, key })
    }

    fn answer(&self, digests: impl Iterator<Item = Digest>, answers: &mut [bool]) {
        self.answer_source(Stream(digests), answers);
    }

    fn answer_source(&self, source: impl Source, answers: &mut [bool]) {
        self.isa.run(Answer { filter: self, source, answers });
    }

    fn stats(&self) -> Stats {
        let fill = self.fill();
        Stats {
            family: Family::SplitBlockBloom,
            items: self.params.promise.items,
            fpp: self.params.promise.fpp,
            bits: self.params.bits(),
            fill,
            estimated_items: self.params.items_for_fill(fill),
            fpp_now: self.measured_fpp(),
        }
    }

    fn size_in_bytes(&self) -> usize {
        size_of_val(self.lines())
    }
}

impl<S: StoreMut> Insert for SplitBlockBloom<S> {
    type Outcome<T> = T;

    fn settled<T>(outcome: T) -> Result<T, Full> {
        Ok(outcome)
    }

    #[inline(always)]
    fn insert_digest(&mut self, digest: Digest) -> Inserted {
        self.insert(&digest)
    }

    #[inline(always)]
    fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Inserted {
        self.isa.run(Set { filter: self, key })
    }

    fn insert_from(&mut self, digests: impl Iterator<Item = Digest>) {
        self.insert_source(Stream(digests));
    }

    fn insert_source(&mut self, source: impl Source) {
        self.isa.run(SetAll { filter: self, source });
    }
}

impl<S: StoreMut> SplitBlockBloom<S> {
    /// Forgets all keys.
    pub fn clear(&mut self) {
        self.store.lines_mut().fill(Line::ZERO);
    }
}

impl<S: StoreMut, O: Store> Merge<SplitBlockBloom<O>> for SplitBlockBloom<S> {
    fn union(&mut self, other: &SplitBlockBloom<O>) -> Result<(), MergeError> {
        self.fits(other)?;
        self.store.lines_mut().iter_mut().zip(other.lines()).for_each(|(to, from)| to.or(from));
        Ok(())
    }
}

impl<S: Store, O: Store> PartialEq<SplitBlockBloom<O>> for SplitBlockBloom<S> {
    /// Same size, same hasher, same bits.
    fn eq(&self, other: &SplitBlockBloom<O>) -> bool {
        self.fits(other).is_ok() && self.lines() == other.lines()
    }
}

impl<S> fmt::Debug for SplitBlockBloom<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SplitBlockBloom")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}

/// `docs/format.md`, family 3.
impl<S: Body> Persist for SplitBlockBloom<S> {
    type Store = S;

    fn head(&self) -> Head {
        Head {
            family: Family::SplitBlockBloom,
            promise: self.params.promise,
            keys: libm::round(self.estimated_items()) as u64,
            hasher: self.hasher,
        }
    }

    fn write_params(&self, params: &mut ParamsWriter) {
        params.u64(self.params.blocks);
    }

    fn sections(&self) -> Vec<&[Line]> {
        vec![self.lines()]
    }

    fn from_parts(head: &Head, mut fields: Fields<'_>, store: S) -> Result<Self, OpenError> {
        head.expect(Family::SplitBlockBloom)?;
        let blocks = fields.u64("the number of blocks")?;
        fields.end()?;
        let params = SplitBlockParams::with_blocks(blocks, head.promise.items)?;
        head.expect_lines(params.lines(), store.lines().len())?;
        head.expect_no_bits_beyond(params.bits(), store.lines())?;
        Ok(Self {
            params: SplitBlockParams { promise: head.promise, ..params },
            hasher: head.hasher,
            isa: Isa::best(),
            store,
        })
    }
}

struct Covers<'a, S, K: ?Sized> {
    filter: &'a SplitBlockBloom<S>,
    key: &'a K,
}

impl<S: Store, K: Key + ?Sized> Task for Covers<'_, S, K> {
    type Output = bool;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> bool {
        let digest = self.filter.hasher.digest(self.key);
        let block = &split_blocks(self.filter.store.lines())[block_of(digest, self.filter.params.blocks)];
        machine.split_covers(block, digest.h1 as u32, &SALTS)
    }
}

struct Set<'a, S, K: ?Sized> {
    filter: &'a mut SplitBlockBloom<S>,
    key: &'a K,
}

impl<S: StoreMut, K: Key + ?Sized> Task for Set<'_, S, K> {
    type Output = Inserted;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> Inserted {
        let digest = self.filter.hasher.digest(self.key);
        let at = block_of(digest, self.filter.params.blocks);
        let block = &mut split_blocks_mut(self.filter.store.lines_mut())[at];
        Inserted::from_new(machine.split_set(block, digest.h1 as u32, &SALTS))
    }
}

struct Answer<'a, S, I> {
    filter: &'a SplitBlockBloom<S>,
    source: I,
    answers: &'a mut [bool],
}

impl<S: Store, I: Source> Task for Answer<'_, S, I> {
    type Output = ();

    #[inline(always)]
    fn run(self, machine: impl Machine) {
        let blocks = split_blocks(self.filter.store.lines());
        let by = Fetch::of(size_of_val(blocks));
        let questions = Answering { machine, count: self.filter.params.blocks, blocks, by };
        let ahead = Ahead::<128>::of(1, size_of_val(blocks));
        self.source.answered(ahead, questions, self.answers);
    }
}

struct Answering<'a, M> {
    machine: M,
    count: u64,
    blocks: &'a [[u32; 8]],
    by: Fetch,
}

impl<M: Machine> Stages for Answering<'_, M> {
    type Item = Digest;
    type Place = (usize, u32);
    type Answer = bool;

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> (usize, u32) {
        fetch(self.by, self.blocks, self.count, digest)
    }

    #[inline(always)]
    fn act(&mut self, (at, word): (usize, u32)) -> bool {
        self.machine.split_covers(&self.blocks[at], word, &SALTS)
    }
}

struct SetAll<'a, S, I> {
    filter: &'a mut SplitBlockBloom<S>,
    source: I,
}

impl<S: StoreMut, I: Source> Task for SetAll<'_, S, I> {
    type Output = ();

    #[inline(always)]
    fn run(self, machine: impl Machine) {
        let count = self.filter.params.blocks;
        let blocks = split_blocks_mut(self.filter.store.lines_mut());
        let (ahead, by) = (Ahead::<128>::of(1, size_of_val(blocks)), Fetch::of(size_of_val(blocks)));
        let stages = Setting { machine, count, blocks, by };
        self.source.staged(ahead, stages);
    }
}

struct Setting<'a, M> {
    machine: M,
    count: u64,
    blocks: &'a mut [[u32; 8]],
    by: Fetch,
}

impl<M: Machine> Stages for Setting<'_, M> {
    type Item = Digest;
    type Place = (usize, u32);
    type Answer = ();

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> (usize, u32) {
        fetch(self.by, self.blocks, self.count, digest)
    }

    #[inline(always)]
    fn act(&mut self, (at, word): (usize, u32)) {
        self.machine.split_set(&mut self.blocks[at], word, &SALTS);
    }
}

/// The place of a key, its block on its way.
#[inline(always)]
fn fetch(by: Fetch, blocks: &[[u32; 8]], count: u64, digest: Digest) -> (usize, u32) {
    let at = block_of(digest, count);
    by.place(&blocks[at]);
    (at, digest.h1 as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doc_table_is_true() {
        for (fpp, bits) in [(0.1, 5.99), (0.01, 10.53), (0.001, 16.89), (1.0 / 65536.0, 37.8)] {
            let params = SplitBlockParams::for_fpp(1_000_000, fpp).unwrap();
            assert!((params.bits_per_key() - bits).abs() < 0.06, "{} bits at {fpp}", params.bits_per_key());
            assert_eq!(
                params.items_at(fpp),
                params.items_at(params.fpp_at(1_000_000)).max(params.items_at(fpp))
            );
        }
    }

    #[test]
    fn an_odd_number_of_blocks_wastes_half_a_line_and_nothing_else() {
        let params = SplitBlockParams::with_blocks(7, 50).unwrap();
        let mut filter = SplitBlockBloom::with_params(params, Hasher::new(1)).unwrap();
        filter.insert_many(&(0..50u64).collect::<Vec<_>>());
        assert!((0..50u64).all(|key| filter.may_contain(&key)));
        assert_eq!(split_blocks(filter.lines())[7], [0; 8]);
    }
}
