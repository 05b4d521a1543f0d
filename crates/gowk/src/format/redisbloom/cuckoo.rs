//! RedisBloom's cuckoo filter.
//!
//! ```text
//! header: u64 keys, u64 buckets, u64 deletes, u64 filters, u16 slots a bucket, u16 most kicks, u16 expansion         38 bytes
//! ```
//!
//! Filter i has buckets * expansion^i buckets of one-byte fingerprints, 0 for an empty slot. A key with hash h has the fingerprint
//! h mod 255 + 1, and lives in bucket h or h xor fingerprint * 0x5bd1e995, modulo the buckets of a filter, in any of the filters.

use super::chunks::{Arrays, Chunk, Chunks, scan};
use crate::{
    bulk::{Ahead, pipeline},
    error::{Full, ParamsError},
    filter::{Filter, Insert, Inserted, Remove, Removed},
    format::foreign::{ForeignError, Format, fields::Fields},
    hash::{Digest, HashId, Hasher, Key, Seed, foreign::Murmur2},
    params::checked_items,
    stats::{Family, Stats},
    store::prefetch,
};
use alloc::{vec, vec::Vec};

/// The bytes of a header.
const HEADER: usize = 38;
/// What a fingerprint is multiplied by to find the other bucket.
const ALT: u64 = 0x5bd1_e995;
/// The fingerprints: 1 to 255.
const FINGERPRINTS: u64 = 255;

/// What the first chunk says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    keys: u64,
    buckets: u64,
    deletes: u64,
    filters: u64,
    slots: u16,
    kicks: u16,
    expansion: u16,
}

impl Header {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, ForeignError> {
        // In a file the header stands behind the 16 bytes of its chunk.
        let mut fields = Fields::starting_at(Format::RedisCuckoo, bytes, 16);
        let keys = fields.le_u64("the number of keys")?;
        let buckets = fields.le_u64("the number of buckets")?;
        if !buckets.is_power_of_two() {
            return Err(fields.wrong("the number of buckets", 8, buckets, "it must be a power of two"));
        }
        let deletes = fields.le_u64("the number of deletes")?;
        let filters = fields.le_u64("the number of filters")?;
        if !(1..=64).contains(&filters) {
            return Err(fields.wrong("the number of filters", 8, filters, "it must be from 1 to 64"));
        }
        let slots = fields.le_u16("the slots of a bucket")?;
        if !(1..=255).contains(&slots) {
            return Err(fields.wrong("the slots of a bucket", 2, slots, "they must be from 1 to 255"));
        }
        let kicks = fields.le_u16("the most iterations")?;
        let expansion = fields.le_u16("the expansion")?;
        let powers = if filters == 1 {
            expansion <= 1 || expansion.is_power_of_two()
        } else {
            expansion.is_power_of_two()
        };
        if !powers {
            return Err(fields.wrong("the expansion", 2, expansion, "it must be a power of two"));
        }
        fields.end()?;
        let header = Self { keys, buckets, deletes, filters, slots, kicks, expansion };
        match header.total() {
            Some(_) => Ok(header),
            None => Err(ForeignError::Field {
                format: Format::RedisCuckoo,
                field: "the number of buckets",
                offset: 16 + 8,
                value: buckets.into(),
                why: "the filters would be larger than any memory",
            }),
        }
    }

    /// The slots of filter `i`, if they can be counted.
    fn len(&self, i: u64) -> Option<u64> {
        let growth = u64::from(self.expansion).checked_pow(i as u32)?;
        self.buckets.checked_mul(growth)?.checked_mul(self.slots.into())
    }

    fn total(&self) -> Option<u64> {
        let total = (0..self.filters).try_fold(0u64, |sum, i| sum.checked_add(self.len(i)?))?;
        isize::try_from(total).is_ok().then_some(total)
    }

    fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER);
        for field in [self.keys, self.buckets, self.deletes, self.filters] {
            bytes.extend_from_slice(&field.to_le_bytes());
        }
        for field in [self.slots, self.kicks, self.expansion] {
            bytes.extend_from_slice(&field.to_le_bytes());
        }
        bytes
    }
}

/// A key as the filter sees it.
#[derive(Clone, Copy)]
struct Trace {
    hash: u64,
    fingerprint: u8,
}

impl Trace {
    #[inline(always)]
    fn of(digest: Digest) -> Self {
        Self { hash: digest.h1, fingerprint: (digest.h1 % FINGERPRINTS) as u8 + 1 }
    }

    /// Both hashes that choose a bucket.
    #[inline(always)]
    fn hashes(self) -> [u64; 2] {
        [self.hash, other(self.hash, self.fingerprint)]
    }
}

/// The other place of a fingerprint.
#[inline(always)]
fn other(place: u64, fingerprint: u8) -> u64 {
    place ^ u64::from(fingerprint).wrapping_mul(ALT)
}

/// A filter of RedisBloom's: what `CF.RESERVE` makes.
///
/// ```
/// use gowk::{Filter, Insert, Remove, format::redisbloom::RedisCuckoo};
///
/// let mut seen = RedisCuckoo::reserve(1000)?;                          // CF.RESERVE seen 1000
/// seen.insert("heron")?;                                               // CF.ADD seen heron
/// let mut again = RedisCuckoo::from_bytes(&seen.to_bytes())?;
/// assert!(again.may_contain("heron"));
/// again.remove("heron");                                               // CF.DEL seen heron
/// assert!(!again.may_contain("heron"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RedisCuckoo {
    header: Header,
    hasher: Hasher,
    /// The slots of each filter; the newest is the last.
    filters: Vec<Vec<u8>>,
}

impl RedisCuckoo {
    /// An empty filter, as `CF.RESERVE key items` makes it: two slots a bucket, 20 kicks, filters of equal size.
    pub fn reserve(items: u64) -> Result<Self, ParamsError> {
        Self::reserve_with(items, 2, 20, 1)
    }

    /// `CF.RESERVE key items BUCKETSIZE slots MAXITERATIONS kicks EXPANSION expansion`. An expansion of 0 does not grow.
    pub fn reserve_with(items: u64, slots: u16, kicks: u16, expansion: u16) -> Result<Self, ParamsError> {
        let out = |what, value: u16, least, most| ParamsError::OutOfRange {
            what,
            value: value.into(),
            least,
            most,
        };
        if !(1..=255).contains(&slots) {
            return Err(out("slots of a bucket", slots, 1, 255));
        }
        if expansion > 32768 {
            return Err(out("expansion", expansion, 0, 32768));
        }
        if kicks == 0 {
            return Err(out("iterations", kicks, 1, u16::MAX.into()));
        }
        let buckets = (checked_items(items)? / u64::from(slots)).max(1).checked_next_power_of_two();
        let too_large = ParamsError::TooLarge { bytes: items.into() };
        let expansion = if expansion == 0 { 0 } else { expansion.next_power_of_two() };
        let buckets = buckets.ok_or(too_large)?;
        let header = Header { keys: 0, buckets, deletes: 0, filters: 1, slots, kicks, expansion };
        let len = header.total().ok_or(too_large)?;
        let hasher = Hasher::with_id(HashId::Murmur2, Seed::from(0));
        Ok(Self { header, hasher, filters: vec![zeroed(len)?] })
    }

    /// The filter in a file of chunks.
    pub fn from_bytes(file: &[u8]) -> Result<Self, ForeignError> {
        let mut chunks = Chunks::new(file);
        let (offset, first) = chunks.next().unwrap_or(Err(ForeignError::Cut {
            format: Format::RedisCuckoo,
            field: "the header chunk",
            offset: 0,
            needed: (16 + HEADER) as u64,
            found: 0,
        }))?;
        if first.iterator != 1 {
            return Err(ForeignError::Field {
                format: Format::RedisCuckoo,
                field: "the iterator of the first chunk",
                offset: offset - 16,
                value: first.iterator.into(),
                why: "it must be 1, the header",
            });
        }
        let header = Header::parse(&first.bytes)?;
        let lens = (0..header.filters).map(|i| header.len(i).expect("counted before")).collect();
        let mut arrays = Arrays::new(Format::RedisCuckoo, lens);
        for chunk in chunks {
            let (offset, chunk) = chunk?;
            arrays.push(offset, &chunk)?;
        }
        let filters = arrays.finish(file.len() as u64)?;
        Ok(Self { header, hasher: Hasher::with_id(HashId::Murmur2, Seed::from(0)), filters })
    }

    /// The filter that these chunks hold, as `SCANDUMP` returned them.
    pub fn from_chunks<'a>(chunks: impl IntoIterator<Item = Chunk<'a>>) -> Result<Self, ForeignError> {
        Self::from_bytes(&Chunks::to_file(chunks))
    }

    /// The file of chunks.
    pub fn to_bytes(&self) -> Vec<u8> {
        Chunks::to_file(self.chunks())
    }

    /// All chunks, as `CF.SCANDUMP` returns them one by one.
    pub fn chunks(&self) -> impl Iterator<Item = Chunk<'_>> {
        let mut next = 0;
        core::iter::from_fn(move || {
            let chunk = self.scan(next)?;
            next = chunk.iterator;
            Some(chunk)
        })
    }

    /// The chunk after `iterator`, as `CF.SCANDUMP` returns it: 0 asks for the header; `None` is the end.
    pub fn scan(&self, iterator: i64) -> Option<Chunk<'_>> {
        scan(iterator, || self.header.write(), self.filters.iter().map(Vec::as_slice))
    }

    /// The keys inside, duplicates counted.
    pub fn keys(&self) -> u64 {
        self.header.keys
    }

    /// The keys that were taken out.
    pub fn deletes(&self) -> u64 {
        self.header.deletes
    }

    /// The buckets of the first filter.
    pub fn buckets(&self) -> u64 {
        self.header.buckets
    }

    /// The slots of a bucket.
    pub fn slots(&self) -> u16 {
        self.header.slots
    }

    /// The most kicks of an insert.
    pub fn most_kicks(&self) -> u16 {
        self.header.kicks
    }

    /// How much larger each further filter is; 0 if there are none to come.
    pub fn expansion(&self) -> u16 {
        self.header.expansion
    }

    /// How many filters there are.
    pub fn filters(&self) -> usize {
        self.filters.len()
    }

    /// How often the key of this digest is there, as `CF.COUNT` counts it.
    pub fn count_digest(&self, digest: Digest) -> u64 {
        let trace = Trace::of(digest);
        let slots = self.filters.iter().flat_map(|filter| {
            let [home, alt] = self.places(filter, trace);
            let other = (home != alt).then(|| self.bucket(filter, alt));
            core::iter::once(self.bucket(filter, home)).chain(other).flatten()
        });
        slots.map(|slot| u64::from(*slot == trace.fingerprint)).sum()
    }

    /// The first slots of the two buckets of a key in a filter.
    #[inline(always)]
    fn places(&self, filter: &[u8], trace: Trace) -> [usize; 2] {
        trace.hashes().map(|hash| self.place(filter, hash))
    }

    /// The first slot of the bucket of a hash. Buckets are a power of two.
    #[inline(always)]
    fn place(&self, filter: &[u8], hash: u64) -> usize {
        let slots = usize::from(self.header.slots);
        (hash as usize & (filter.len() / slots - 1)) * slots
    }

    #[inline(always)]
    fn bucket<'a>(&self, filter: &'a [u8], place: usize) -> &'a [u8] {
        &filter[place..place + usize::from(self.header.slots)]
    }

    #[inline(always)]
    fn holds(&self, filter: &[u8], trace: Trace) -> bool {
        self.places(filter, trace)
            .iter()
            .any(|place| self.bucket(filter, *place).contains(&trace.fingerprint))
    }

    /// Puts the fingerprint into the first slot of its buckets that holds `now`, in the newest filter that has one.
    fn swap_in(&mut self, trace: Trace, now: u8, new: u8) -> bool {
        for at in (0..self.filters.len()).rev() {
            for place in self.places(&self.filters[at], trace) {
                let bucket = &mut self.filters[at][place..place + usize::from(self.header.slots)];
                if let Some(slot) = bucket.iter_mut().find(|slot| **slot == now) {
                    *slot = new;
                    return true;
                }
            }
        }
        false
    }

    /// Kicks fingerprints of the newest filter to their other buckets until one finds an empty slot; else all is as it was.
    fn kick(&mut self, trace: Trace) -> bool {
        let slots = usize::from(self.header.slots);
        let filter = self.filters.last().expect("a filter");
        let (mut place, mut homeless, mut victim) = (self.place(filter, trace.hash), trace.fingerprint, 0);
        let next = |filter: &[u8], place: usize, fingerprint: u8| {
            let bucket = other((place / slots) as u64, fingerprint);
            (bucket as usize & (filter.len() / slots - 1)) * slots
        };
        let filter = self.filters.last_mut().expect("a filter");
        for _ in 0..self.header.kicks {
            core::mem::swap(&mut filter[place + victim], &mut homeless);
            place = next(filter, place, homeless);
            if let Some(slot) = filter[place..place + slots].iter_mut().find(|slot| **slot == 0) {
                *slot = homeless;
                return true;
            }
            victim = (victim + 1) % slots;
        }
        for _ in 0..self.header.kicks {
            victim = (victim + slots - 1) % slots;
            place = next(filter, place, homeless);
            core::mem::swap(&mut filter[place + victim], &mut homeless);
        }
        false
    }

    /// Begins a new filter.
    fn grow(&mut self) -> Result<(), Full> {
        let full = Full { items: self.header.keys, capacity: self.size_in_bytes() as u64 };
        if self.header.expansion == 0 {
            return Err(full);
        }
        let grown = Header { filters: self.header.filters + 1, ..self.header.clone() };
        let len = grown.len(self.header.filters).filter(|_| grown.filters <= 64 && grown.total().is_some());
        self.filters.push(zeroed(len.ok_or(full)?).map_err(|_| full)?);
        self.header = grown;
        Ok(())
    }
}

fn zeroed(len: u64) -> Result<Vec<u8>, ParamsError> {
    let mut slots = Vec::new();
    slots.try_reserve_exact(len as usize).map_err(|_| ParamsError::OutOfMemory { bytes: len })?;
    slots.resize(len as usize, 0);
    Ok(slots)
}

impl Filter for RedisCuckoo {
    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    #[inline]
    fn may_contain_digest(&self, digest: Digest) -> bool {
        let trace = Trace::of(digest);
        self.filters.iter().rev().any(|filter| self.holds(filter, trace))
    }

    #[inline]
    fn may_contain<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.may_contain_digest(key.digest(&Murmur2))
    }

    fn may_contain_many_into<K: Key>(&self, keys: &[K], answers: &mut [bool]) {
        assert_eq!(keys.len(), answers.len(), "one answer for each key");
        self.answer(keys.iter().map(|key| key.digest(&Murmur2)), answers);
    }

    fn answer(&self, digests: impl Iterator<Item = Digest>, answers: &mut [bool]) {
        let fetch = |digest: Digest| {
            for filter in &self.filters {
                self.places(filter, Trace::of(digest)).iter().for_each(|place| prefetch(&filter[*place]));
            }
            digest
        };
        let digests = digests.take(answers.len());
        let mut answers = answers.iter_mut();
        pipeline(digests, Ahead::of(2 * self.filters.len(), self.size_in_bytes()), fetch, |digest| {
            if let Some(answer) = answers.next() {
                *answer = self.may_contain_digest(digest);
            }
        });
    }

    fn stats(&self) -> Stats {
        let all = self.size_in_bytes() as f64;
        let used = |filter: &Vec<u8>| filter.iter().filter(|slot| **slot != 0).count() as f64;
        let load: f64 = self.filters.iter().map(used).sum::<f64>() / all;
        // Two buckets a filter, of which each slot that is used has one of 255 fingerprints.
        let slots = f64::from(self.header.slots);
        let miss = |filter: &Vec<u8>| {
            libm::pow(1.0 - 1.0 / FINGERPRINTS as f64, 2.0 * slots * used(filter) / filter.len() as f64)
        };
        let rate = |filters: f64| 1.0 - libm::pow(1.0 - 1.0 / FINGERPRINTS as f64, 2.0 * slots * filters);
        Stats {
            family: Family::Cuckoo,
            items: self.size_in_bytes() as u64,
            fpp: rate(self.filters.len() as f64),
            bits: 8 * self.size_in_bytes() as u64,
            fill: load,
            estimated_items: self.header.keys as f64,
            fpp_now: 1.0 - self.filters.iter().map(miss).product::<f64>(),
        }
    }

    fn size_in_bytes(&self) -> usize {
        self.filters.iter().map(Vec::len).sum()
    }
}

impl Insert for RedisCuckoo {
    type Outcome<T> = Result<T, Full>;

    fn settled<T>(outcome: Result<T, Full>) -> Result<T, Full> {
        outcome
    }

    /// As `CF.ADD`: a key that is there comes in once more.
    fn insert_digest(&mut self, digest: Digest) -> Result<Inserted, Full> {
        let trace = Trace::of(digest);
        let new = !self.may_contain_digest(digest);
        while !(self.swap_in(trace, 0, trace.fingerprint) || self.kick(trace)) {
            self.grow()?;
        }
        self.header.keys += 1;
        Ok(Inserted::from_new(new))
    }

    fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<Inserted, Full> {
        self.insert_digest(key.digest(&Murmur2))
    }

    fn insert_from(&mut self, mut digests: impl Iterator<Item = Digest>) -> Result<(), Full> {
        digests.try_for_each(|digest| self.insert_digest(digest).map(|_| ()))
    }
}

impl Remove for RedisCuckoo {
    /// As `CF.DEL`, without the compaction that the module begins after many of them.
    fn remove_digest(&mut self, digest: Digest) -> Removed {
        let trace = Trace::of(digest);
        if !self.swap_in(trace, trace.fingerprint, 0) {
            return Removed::Absent;
        }
        self.header.keys = self.header.keys.saturating_sub(1);
        self.header.deletes += 1;
        Removed::Gone
    }

    fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Removed {
        self.remove_digest(key.digest(&Murmur2))
    }
}
