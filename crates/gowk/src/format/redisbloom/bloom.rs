//! RedisBloom's scaling chain of Bloom filters.
//!
//! ```text
//! header: u64 keys, u32 links, u32 options, u32 growth                                  little-endian, 20 bytes
//! link:   u64 bytes, u64 bits, u64 keys, f64 rate, f64 bits a key, u32 probes, u64 capacity, u8 log2 bits or 0      53 bytes
//! ```
//!
//! A key goes into the newest link, if none has it; a full link is followed by one of `growth` times the capacity at half the
//! rate. A chain that grows begins at half of the rate asked for, so that all links together keep it.

use super::chunks::{Arrays, Chunk, Chunks, scan};
use crate::{
    error::{Full, MergeError, ParamsError},
    filter::{Filter, Insert, Inserted, Merge},
    format::foreign::{
        ForeignError, Format,
        bloom::{ForeignBloom, MOST_PROBES, Maker, Walk},
        fields::Fields,
        modulus::Modulus,
        sizing::ln,
    },
    hash::{Digest, HashId, Hasher, Key, Seed, foreign::Murmur2Twice},
    params::{Promise, checked_fpp, checked_items},
    stats::{Family, Stats},
};
use alloc::{vec, vec::Vec};
use libm::{ceil, fabs};

/// What a chain was made with, as the number in its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options(pub u32);

impl Options {
    /// Sizes are not rounded up to a power of two.
    pub const NO_ROUND: u32 = 1;
    /// The capacity was given in bits.
    pub const ENTRIES_ARE_BITS: u32 = 2;
    /// 64-bit hashes; all filters of the last years have it.
    pub const FORCE_64: u32 = 4;
    /// A full filter takes no more keys.
    pub const NO_SCALING: u32 = 8;

    fn has(self, option: u32) -> bool {
        self.0 & option != 0
    }
}

/// The shape of one filter of a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    modulus: Modulus,
    probes: u32,
    promise: Promise,
    bits_per_key: f64,
    log2_bits: u8,
    keys: u64,
}

/// Of RedisBloom's source, to its digits.
const LN2_SQUARED: f64 = 0.480453013918201;
#[expect(clippy::approx_constant, reason = "the digits are RedisBloom's")]
const LN2: f64 = 0.693147180559945;
/// The bytes of a header without links, and of a link.
const HEADER: usize = 20;
const LINK: usize = 53;
/// Each further link keeps this part of the rate of the one before.
const TIGHTENING: f64 = 0.5;

impl Link {
    /// The filter that RedisBloom makes for so many keys at this rate, without rounding.
    fn sized(items: u64, fpp: f64) -> Result<Self, ParamsError> {
        let promise = Promise { items: checked_items(items)?, fpp: checked_fpp(fpp)? };
        let bits_per_key = fabs(ln(fpp) / LN2_SQUARED);
        let bits = items as f64 * bits_per_key;
        if bits > isize::MAX as f64 {
            return Err(ParamsError::TooLarge { bytes: (bits / 8.0) as u128 });
        }
        let bits = (bits as u64).max(1).next_multiple_of(64);
        let probes = ceil(LN2 * bits_per_key) as u32;
        Ok(Self { modulus: Modulus::new(bits), probes, promise, bits_per_key, log2_bits: 0, keys: 0 })
    }

    /// The keys that have gone into it.
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// The keys that it is for.
    pub fn capacity(&self) -> u64 {
        self.promise.items
    }

    fn parse(fields: &mut Fields<'_>) -> Result<Self, ForeignError> {
        let bytes = fields.le_u64("the bytes of a link")?;
        let bits = fields.le_u64("the bits of a link")?;
        if bits == 0 || bytes.checked_mul(8) != Some(bits) || !bits.is_multiple_of(64) {
            return Err(fields.wrong(
                "the bits of a link",
                8,
                bits,
                "they must be 8 times its bytes, and whole words",
            ));
        }
        let keys = fields.le_u64("the keys of a link")?;
        let fpp = fields.le_rate("the rate of a link")?;
        let bits_per_key = fields.le_f64("the bits per key of a link")?;
        let probes = fields.le_u32("the probes of a link")?;
        if !(1..=MOST_PROBES).contains(&probes) {
            return Err(fields.wrong("the probes of a link", 4, probes, "they must be from 1 to 255"));
        }
        let items = fields.le_u64("the capacity of a link")?;
        let log2_bits = fields.u8("the log2 of the bits of a link")?;
        if log2_bits != 0 && 1u64.checked_shl(log2_bits.into()) != Some(bits) {
            return Err(fields.wrong(
                "the log2 of the bits of a link",
                1,
                log2_bits,
                "it must be that of its bits, or 0",
            ));
        }
        let promise = Promise { items, fpp };
        Ok(Self { modulus: Modulus::new(bits), probes, promise, bits_per_key, log2_bits, keys })
    }

    fn write(&self, header: &mut Vec<u8>) {
        let bits = self.modulus.get();
        for field in [bits / 8, bits, self.keys, self.promise.fpp.to_bits(), self.bits_per_key.to_bits()] {
            header.extend_from_slice(&field.to_le_bytes());
        }
        header.extend_from_slice(&self.probes.to_le_bytes());
        header.extend_from_slice(&self.promise.items.to_le_bytes());
        header.push(self.log2_bits);
    }
}

impl Maker for Link {
    const FORMAT: Format = Format::RedisBloom;
    const FLIP: usize = 0;
    type Hash = Murmur2Twice;

    #[inline(always)]
    fn hash(&self) -> Murmur2Twice {
        Murmur2Twice
    }

    fn hasher(&self) -> Hasher {
        Hasher::with_id(HashId::Murmur2Twice, Seed::from(0))
    }

    #[inline(always)]
    fn bits(&self) -> u64 {
        self.modulus.get()
    }

    #[inline(always)]
    fn probes(&self) -> u32 {
        self.probes
    }

    fn promise(&self) -> Promise {
        self.promise
    }

    #[inline(always)]
    fn walk(&self, digest: Digest) -> Walk {
        Walk { x: digest.h1, y: digest.h2 }
    }

    #[inline(always)]
    fn next(&self, walk: &mut Walk) -> u64 {
        let bit = self.modulus.of(walk.x);
        walk.x = walk.x.wrapping_add(walk.y);
        bit
    }

    fn fits(&self, other: &Self) -> Result<(), MergeError> {
        MergeError::unless_same("probes", self.probes.into(), other.probes.into())?;
        MergeError::unless_same("bits", self.bits(), other.bits())
    }

    fn count(&mut self, new: u64) {
        self.keys = self.keys.saturating_add(new);
    }

    fn counted(&self) -> u64 {
        self.keys
    }
}

/// What the first chunk says.
#[derive(Debug)]
pub(super) struct Header {
    keys: u64,
    options: Options,
    growth: u32,
    links: Vec<Link>,
}

impl Header {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, ForeignError> {
        // In a file the header stands behind the 16 bytes of its chunk.
        let mut fields = Fields::starting_at(Format::RedisBloom, bytes, 16);
        let keys = fields.le_u64("the number of keys")?;
        let count = fields.le_u32("the number of links")?;
        let found = bytes.len().saturating_sub(HEADER);
        if count == 0 || found != count as usize * LINK {
            return Err(fields.wrong("the number of links", 4, count, "the header has not as many"));
        }
        let options = Options(fields.le_u32("the options")?);
        if !options.has(Options::FORCE_64) {
            let why = "filters with 32-bit hashes, of RedisBloom before 2.0, are not known; BF.ADD the keys to a new one";
            return Err(fields.wrong("the options", 4, options.0, why));
        }
        let growth = fields.le_u32("the growth")?;
        let links = (0..count).map(|_| Link::parse(&mut fields)).collect::<Result<_, _>>()?;
        fields.end()?;
        Ok(Self { keys, options, growth, links })
    }
}

/// A filter of RedisBloom's: what `BF.RESERVE` makes.
///
/// ```
/// use gowk::{Filter, Insert, format::redisbloom::RedisBloom};
///
/// let mut seen = RedisBloom::reserve(0.01, 100, Some(2))?;              // BF.RESERVE seen 0.01 100 EXPANSION 2
/// for n in 0..1000 {
///     seen.insert(n.to_string().as_str())?;                              // BF.ADD seen n
/// }
/// assert_eq!(seen.links().count(), 4);
///
/// let again = RedisBloom::from_bytes(&seen.to_bytes())?;                // as a file of chunks
/// assert!(again.may_contain("999"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RedisBloom {
    keys: u64,
    options: Options,
    growth: u32,
    hasher: Hasher,
    /// At least one; the newest is the last.
    links: Vec<ForeignBloom<Link>>,
}

impl RedisBloom {
    /// An empty filter, as `BF.RESERVE key fpp items EXPANSION n` makes it, or with `NONSCALING` where there is no expansion.
    pub fn reserve(fpp: f64, items: u64, expansion: Option<u32>) -> Result<Self, ParamsError> {
        let fpp = checked_fpp(fpp)?;
        let (fpp, options) = match expansion {
            Some(_) => (fpp * TIGHTENING, 0),
            None => (fpp, Options::NO_SCALING),
        };
        let link = Link::sized(items, fpp)?;
        Ok(Self {
            keys: 0,
            options: Options(Options::NO_ROUND | Options::FORCE_64 | options),
            // What the module writes where nobody named an expansion.
            growth: expansion.unwrap_or(2),
            hasher: link.hasher(),
            links: vec![ForeignBloom::empty(link)?],
        })
    }

    /// The chain in a file of chunks.
    pub fn from_bytes(file: &[u8]) -> Result<Self, ForeignError> {
        let mut loader = None;
        for chunk in Chunks::new(file) {
            let (offset, chunk) = chunk?;
            match &mut loader {
                None => loader = Some(Loading::start(offset, &chunk)?),
                Some(Loading { arrays, .. }) => arrays.push(offset, &chunk)?,
            }
        }
        let loader = loader.ok_or(ForeignError::Cut {
            format: Format::RedisBloom,
            field: "the header chunk",
            offset: 0,
            needed: (16 + HEADER + LINK) as u64,
            found: 0,
        })?;
        loader.finish(file.len() as u64)
    }

    /// The chain that these chunks hold, as `SCANDUMP` returned them.
    pub fn from_chunks<'a>(chunks: impl IntoIterator<Item = Chunk<'a>>) -> Result<Self, ForeignError> {
        Self::from_bytes(&Chunks::to_file(chunks))
    }

    /// The file of chunks.
    pub fn to_bytes(&self) -> Vec<u8> {
        Chunks::to_file(self.chunks())
    }

    /// All chunks, as `BF.SCANDUMP` returns them one by one.
    pub fn chunks(&self) -> impl Iterator<Item = Chunk<'_>> {
        let mut next = 0;
        core::iter::from_fn(move || {
            let chunk = self.scan(next)?;
            next = chunk.iterator;
            Some(chunk)
        })
    }

    /// The chunk after `iterator`, as `BF.SCANDUMP` returns it: 0 asks for the header; `None` is the end.
    pub fn scan(&self, iterator: i64) -> Option<Chunk<'_>> {
        scan(iterator, || self.header(), self.links.iter().map(ForeignBloom::bytes))
    }

    fn header(&self) -> Vec<u8> {
        let mut header = Vec::with_capacity(HEADER + LINK * self.links.len());
        header.extend_from_slice(&self.keys.to_le_bytes());
        for field in [self.links.len() as u32, self.options.0, self.growth] {
            header.extend_from_slice(&field.to_le_bytes());
        }
        self.links.iter().for_each(|link| link.maker().write(&mut header));
        header
    }

    /// The keys that were new when they came.
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// The filters of the chain, the oldest first.
    pub fn links(&self) -> impl ExactSizeIterator<Item = &Link> {
        self.links.iter().map(ForeignBloom::maker)
    }

    /// What it was made with.
    pub fn options(&self) -> Options {
        self.options
    }

    /// What the capacity of each further link is multiplied by; `None` for a filter that does not grow.
    pub fn expansion(&self) -> Option<u32> {
        (!self.options.has(Options::NO_SCALING)).then_some(self.growth)
    }

    fn newest(&self) -> &ForeignBloom<Link> {
        self.links.last().expect("a chain has a link")
    }

    /// Begins a new link if the newest is full.
    /// What the next new key needs: a further link, once the newest is full; nothing, while there is room.
    fn next_link(&self) -> Result<Option<Link>, Full> {
        let link = self.newest().maker();
        if link.keys < link.capacity() {
            return Ok(None);
        }
        let full = Full { items: self.keys, capacity: link.capacity() };
        if self.options.has(Options::NO_SCALING) {
            return Err(full);
        }
        let items = link.capacity().saturating_mul(self.growth.into());
        Link::sized(items, link.promise.fpp * TIGHTENING).map(Some).map_err(|_| full)
    }

    /// The bytes by which the next new key will make it grow; 0 while there is room, or where it does not grow.
    pub fn growth_bytes(&self) -> u64 {
        self.next_link().ok().flatten().map_or(0, |link| link.bits() / 8)
    }

    fn make_room(&mut self) -> Result<(), Full> {
        if let Some(link) = self.next_link()? {
            let full = Full { items: self.keys, capacity: self.newest().maker().capacity() };
            self.links.push(ForeignBloom::empty(link).map_err(|_| full)?);
        }
        Ok(())
    }
}

/// A chain on its way in.
struct Loading {
    header: Header,
    arrays: Arrays,
}

impl Loading {
    fn start(offset: u64, chunk: &Chunk<'_>) -> Result<Self, ForeignError> {
        if chunk.iterator != 1 {
            return Err(ForeignError::Field {
                format: Format::RedisBloom,
                field: "the iterator of the first chunk",
                offset: offset - 16,
                value: chunk.iterator.into(),
                why: "it must be 1, the header",
            });
        }
        let header = Header::parse(&chunk.bytes)?;
        let lens = header.links.iter().map(Maker::bytes).collect();
        Ok(Self { arrays: Arrays::new(Format::RedisBloom, lens), header })
    }

    fn finish(self, offset: u64) -> Result<RedisBloom, ForeignError> {
        let Header { keys, options, growth, links } = self.header;
        let arrays = self.arrays.finish(offset)?;
        Ok(RedisBloom {
            keys,
            options,
            growth,
            hasher: links[0].hasher(),
            links: links
                .into_iter()
                .zip(arrays)
                .map(|(link, bytes)| ForeignBloom::over(link, bytes))
                .collect(),
        })
    }
}

impl Filter for RedisBloom {
    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    #[inline]
    fn may_contain_digest(&self, digest: Digest) -> bool {
        self.links.iter().rev().any(|link| link.may_contain_digest(digest))
    }

    #[inline]
    fn may_contain<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.may_contain_digest(key.digest(&Murmur2Twice))
    }

    fn may_contain_many_into<K: Key>(&self, keys: &[K], answers: &mut [bool]) {
        assert_eq!(keys.len(), answers.len(), "one answer for each key");
        self.answer(keys.iter().map(|key| key.digest(&Murmur2Twice)), answers);
    }

    /// Hashes once and asks link after link, each in bulk.
    fn answer(&self, digests: impl Iterator<Item = Digest>, answers: &mut [bool]) {
        const BATCH: usize = 256;
        let mut digests = digests.peekable();
        let mut batch = [Digest::default(); BATCH];
        for answers in answers.chunks_mut(BATCH) {
            let mut filled = 0;
            for (slot, digest) in batch[..answers.len()].iter_mut().zip(&mut digests) {
                *slot = digest;
                filled += 1;
            }
            let answers = &mut answers[..filled];
            answers.fill(false);
            let mut one = [false; BATCH];
            for link in self.links.iter().rev() {
                link.answer(batch[..filled].iter().copied(), &mut one[..filled]);
                answers.iter_mut().zip(one).for_each(|(all, one)| *all |= one);
            }
        }
    }

    fn stats(&self) -> Stats {
        let parts: Vec<Stats> = self.links.iter().map(Filter::stats).collect();
        let bits: u64 = parts.iter().map(|part| part.bits).sum();
        let set: f64 = parts.iter().map(|part| part.fill * part.bits as f64).sum();
        let first = self.links[0].maker().promise;
        Stats {
            family: Family::ScalableBloom,
            items: parts.iter().map(|part| part.items).fold(0, u64::saturating_add),
            fpp: match self.options.has(Options::NO_SCALING) {
                true => first.fpp,
                // Half of the rate asked for, then a quarter, and so on.
                false => (first.fpp / TIGHTENING).min(1.0),
            },
            bits,
            fill: set / bits as f64,
            // Counted by the module, and better than any estimate.
            estimated_items: self.keys as f64,
            fpp_now: 1.0 - parts.iter().map(|part| 1.0 - part.fpp_now).product::<f64>(),
        }
    }

    fn size_in_bytes(&self) -> usize {
        self.links.iter().map(Filter::size_in_bytes).sum()
    }
}

impl Insert for RedisBloom {
    type Outcome<T> = Result<T, Full>;

    fn settled<T>(outcome: Result<T, Full>) -> Result<T, Full> {
        outcome
    }

    /// As `BF.ADD`: into the newest link, if no link has it.
    fn insert_digest(&mut self, digest: Digest) -> Result<Inserted, Full> {
        if self.may_contain_digest(digest) {
            return Ok(Inserted::MaybeSeen);
        }
        self.make_room()?;
        let newest = self.links.last_mut().expect("a chain has a link");
        newest.insert_digest(digest);
        self.keys += 1;
        Ok(Inserted::New)
    }

    fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<Inserted, Full> {
        self.insert_digest(key.digest(&Murmur2Twice))
    }

    fn insert_from(&mut self, mut digests: impl Iterator<Item = Digest>) -> Result<(), Full> {
        digests.try_for_each(|digest| self.insert_digest(digest).map(|_| ()))
    }
}

impl Merge for RedisBloom {
    /// The links of both in one chain, the other's as the newest. It answers as both, so its rate is the sum of theirs.
    fn union(&mut self, other: &Self) -> Result<(), MergeError> {
        MergeError::unless_same("options", self.options.0.into(), other.options.0.into())?;
        self.links.extend_from_slice(&other.links);
        self.keys = self.keys.saturating_add(other.keys);
        Ok(())
    }
}
