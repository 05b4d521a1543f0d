//! A Bloom filter that grows: links of blocked filters, each larger than all before it.
//!
//! RedisBloom doubles the last link, so a filter that was created for 100 items has 15 links at two million. Here a new link makes
//! *all* of them `EXPANSION` times what they were, twice at least, and nine times while they are small: 9 links at two million.
//!
//! # The rate
//!
//! A key that was never added is answered "maybe" if any link says so, so the rates of the links must add up to no more than
//! the rate that was asked for. Each link takes a part of what the links before it have left:
//!
//! | link | takes | because |
//! |---|---|---|
//! | the only one (`NONSCALING`) | all | nothing comes after it |
//! | first, capacity given | 94 % | most filters stay within it: 10.1 bits an item at 1 %, not 11.03 |
//! | first, nothing given (`GROWING`) | 1/8 | it is tiny, and others will come |
//! | later, below [`SMALL`] items | 1/8 | as above |
//! | later | 1/4 | it may be the last, or not |

use gowk::{
    BlockedBloom, BlockedParams, Build, Digest, Filter, Hasher, Insert, Inserted, LEAST_FPP, ParamsError,
};

/// What a filter is asked to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spec {
    pub(crate) capacity: u64,
    pub(crate) error: f64,
    /// How many times what it holds a filter holds once it has grown; 0 if it does not grow.
    pub(crate) expansion: u32,
    /// Whether the capacity is only a beginning.
    pub(crate) growing: bool,
}

/// Links below this many items are small.
const SMALL: u64 = 1 << 16;
/// How many times all before it a small link holds at least.
const SMALL_STEP: u64 = 8;
/// The items that a link has at most.
const MOST_ITEMS: u64 = 1 << 40;

/// Keys that are worked on at a time: their digests and answers stay in the first-level cache.
const PART: usize = 256;

pub(crate) struct Link {
    pub(crate) filter: BlockedBloom,
    pub(crate) capacity: u64,
    /// Its part of the rate.
    pub(crate) rate: f64,
    /// The keys that were new to the whole chain when they came.
    pub(crate) keys: u64,
}

pub(crate) struct Chain {
    pub(crate) spec: Spec,
    pub(crate) links: Vec<Link>,
}

/// Why a key was not added.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NotAdded {
    /// It may not grow.
    Full,
    /// It would take more than one value may.
    Limit { bytes: u64, most: u64 },
    /// The next link cannot be made.
    Params(ParamsError),
}

/// How large a value may get, in bytes; none where the command must be obeyed.
pub(crate) type Limit = Option<u64>;

/// An error if so many bytes are more than the limit.
pub(crate) fn within(limit: Limit, bytes: u64) -> Result<(), NotAdded> {
    match limit {
        Some(most) if bytes > most => Err(NotAdded::Limit { bytes, most }),
        _ => Ok(()),
    }
}

impl Link {
    fn new(capacity: u64, rate: f64, hasher: Hasher, limit: Limit, beside: u64) -> Result<Self, NotAdded> {
        let params = BlockedParams::for_fpp(capacity, rate.max(LEAST_FPP)).map_err(NotAdded::Params)?;
        within(limit, beside.saturating_add(params.bits() / 8))?;
        let filter = BlockedBloom::with_params(params, hasher).map_err(NotAdded::Params)?;
        Ok(Self { filter, capacity, rate, keys: 0 })
    }

    fn is_full(&self) -> bool {
        self.keys >= self.capacity
    }

    pub(crate) fn copy(&self) -> Result<Self, ParamsError> {
        let &Self { capacity, rate, keys, .. } = self;
        Ok(Self { filter: self.filter.to_heap()?, capacity, rate, keys })
    }
}

impl Spec {
    fn first_rate(&self) -> f64 {
        match (self.expansion, self.growing) {
            (0, _) => self.error,
            (_, false) => self.error * 0.94,
            (_, true) => self.error / 8.0,
        }
    }

    /// The capacity of the link behind links that hold so many.
    fn next_capacity(&self, so_far: u64) -> u64 {
        let expansion = u64::from(self.expansion);
        let least = if so_far < SMALL / SMALL_STEP { SMALL_STEP } else { 1 };
        let step = expansion.saturating_sub(1).max(least);
        so_far.saturating_mul(step).min(MOST_ITEMS)
    }
}

impl Chain {
    pub(crate) fn new(spec: Spec, hasher: Hasher, limit: Limit) -> Result<Self, NotAdded> {
        let first = Link::new(spec.capacity, spec.first_rate(), hasher, limit, 0)?;
        Ok(Self { spec, links: vec![first] })
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.links.iter().fold(0, |sum, link| sum.saturating_add(link.capacity))
    }

    pub(crate) fn keys(&self) -> u64 {
        self.links.iter().fold(0, |sum, link| sum.saturating_add(link.keys))
    }

    pub(crate) fn size(&self) -> usize {
        self.links.iter().map(|link| link.filter.size_in_bytes()).sum()
    }

    /// The hasher of the link that takes new keys.
    pub(crate) fn hasher(&self) -> &Hasher {
        self.last().filter.hasher()
    }

    fn last(&self) -> &Link {
        self.links.last().expect("a chain has a link")
    }

    /// Whether a key may be in it. The last link is asked first: it holds most of the keys.
    #[inline]
    pub(crate) fn may_contain(&self, key: &[u8]) -> bool {
        if let [link] = &self.links[..] {
            return link.filter.may_contain(key);
        }
        self.links.iter().rev().any(|link| link.filter.may_contain(key))
    }

    /// Whether each key may be in it, in order.
    pub(crate) fn answer<'k>(&self, mut keys: impl Iterator<Item = &'k [u8]>, mut each: impl FnMut(bool)) {
        let mut part = Part::new();
        while part.fill(&mut keys) > 0 {
            part.ask(&self.links);
            part.answers().iter().for_each(|answer| each(*answer));
        }
    }

    /// Adds each key in order and tells which were surely new. Stops at the first that cannot be added.
    pub(crate) fn add<'k>(
        &mut self,
        mut keys: impl Iterator<Item = &'k [u8]>,
        limit: Limit,
        mut each: impl FnMut(Result<bool, NotAdded>),
    ) {
        let mut part = Part::new();
        while part.fill(&mut keys) > 0 {
            // Asking first fetches the memory of all keys ahead; then each is written where the caches have it.
            part.ask(&self.links);
            let asked = self.links.len();
            for (digest, seen) in part.digests().iter().zip(part.answers()) {
                // Links that were begun since, and the one before them, may have got this key meanwhile.
                let seen = *seen
                    || self.links.len() > asked
                        && self.links[asked - 1..].iter().any(|link| link.filter.may_contain_digest(*digest));
                let added = if seen { Ok(false) } else { self.put(*digest, limit) };
                let stop = added.is_err();
                each(added);
                if stop {
                    return;
                }
            }
        }
    }

    /// Adds a key that is in no link but perhaps the last.
    #[inline]
    fn put(&mut self, digest: Digest, limit: Limit) -> Result<bool, NotAdded> {
        if self.last().is_full() {
            if self.last().filter.may_contain_digest(digest) {
                return Ok(false);
            }
            self.extend(limit)?;
        }
        let link = self.links.last_mut().expect("a chain has a link");
        let new = link.filter.insert_digest(digest) == Inserted::New;
        link.keys += u64::from(new);
        Ok(new)
    }

    /// Begins another link.
    fn extend(&mut self, limit: Limit) -> Result<(), NotAdded> {
        if self.spec.expansion == 0 {
            return Err(NotAdded::Full);
        }
        let capacity = self.spec.next_capacity(self.capacity());
        let taken: f64 = self.links.iter().map(|link| link.rate).sum();
        // Of a merged chain nothing may be left; then the promise is broken already, and a small rate keeps it from getting worse.
        let left = (self.spec.error - taken).max(self.spec.error / 1024.0);
        let rate = if capacity < SMALL { left / 8.0 } else { left / 4.0 };
        self.links.push(Link::new(capacity, rate, *self.hasher(), limit, self.size() as u64)?);
        Ok(())
    }

    /// Forgets all keys and all links but the first.
    pub(crate) fn clear(&mut self) {
        self.links.truncate(1);
        self.links[0].filter.clear();
        self.links[0].keys = 0;
    }

    pub(crate) fn copy(&self) -> Result<Self, ParamsError> {
        Ok(Self { spec: self.spec, links: self.links.iter().map(Link::copy).collect::<Result<_, _>>()? })
    }
}

/// Some keys with their digests and answers.
struct Part<'k> {
    keys: [&'k [u8]; PART],
    digests: [Digest; PART],
    answers: [bool; PART],
    len: usize,
}

impl<'k> Part<'k> {
    #[inline(always)]
    fn new() -> Self {
        Self { keys: [b""; PART], digests: [Digest::default(); PART], answers: [false; PART], len: 0 }
    }

    /// Takes the next keys; how many there were.
    #[inline(always)]
    fn fill(&mut self, keys: &mut impl Iterator<Item = &'k [u8]>) -> usize {
        self.len = 0;
        for (slot, key) in self.keys.iter_mut().zip(keys) {
            *slot = key;
            self.len += 1;
        }
        self.len
    }

    /// Asks all links. The digests are those of the last one afterwards.
    fn ask(&mut self, links: &[Link]) {
        let len = self.len;
        let mut hashed: Option<&Hasher> = None;
        for (number, link) in links.iter().enumerate() {
            let hasher = link.filter.hasher();
            if hashed != Some(hasher) {
                // Links of a merged chain may hash differently.
                for (digest, key) in self.digests[..len].iter_mut().zip(&self.keys) {
                    *digest = hasher.bytes(key);
                }
                hashed = Some(hasher);
            }
            let digests = self.digests[..len].iter().copied();
            if number == 0 {
                link.filter.answer(digests, &mut self.answers[..len]);
            } else {
                let mut hits = [false; PART];
                link.filter.answer(digests, &mut hits[..len]);
                self.answers[..len].iter_mut().zip(hits).for_each(|(answer, hit)| *answer |= hit);
            }
        }
    }

    fn digests(&self) -> &[Digest] {
        &self.digests[..self.len]
    }

    fn answers(&self) -> &[bool] {
        &self.answers[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(capacity: u64, expansion: u32, growing: bool) -> Chain {
        Chain::new(Spec { capacity, error: 0.01, expansion, growing }, Hasher::new(3), None).unwrap()
    }

    fn add(chain: &mut Chain, keys: std::ops::Range<u32>) -> u64 {
        let keys: Vec<String> = keys.map(|i| i.to_string()).collect();
        let mut new = 0;
        chain.add(keys.iter().map(String::as_bytes), None, |added| new += u64::from(added.unwrap()));
        new
    }

    /// The figures of the module's page, of the README and of the issue that asked for them.
    #[test]
    fn a_reserved_filter_takes_ten_bits_an_item() {
        let bits = |capacity| chain(capacity, 2, false).size() as f64 * 8.0 / capacity as f64;
        for capacity in [10_000, 1_000_000, 10_000_000] {
            assert!(bits(capacity) <= 10.1, "{} bits at {capacity}", bits(capacity));
        }
    }

    #[test]
    fn an_autocreated_filter_has_nine_links_at_two_million() {
        let mut chain = chain(100, 2, true);
        add(&mut chain, 0..2_000_000);
        assert_eq!(chain.links.len(), 9);
        let bits = chain.size() as f64 * 8.0 / 2e6;
        assert!(bits < 21.0, "{bits} bits an item");
        assert!((0..2_000_000u32).step_by(17).all(|i| chain.may_contain(i.to_string().as_bytes())));
        let wrong = (3_000_000..4_000_000u32).filter(|i| chain.may_contain(i.to_string().as_bytes())).count();
        assert!(wrong <= 10_600, "{wrong} false positives in a million");
    }

    #[test]
    fn repeats_within_one_batch_are_told() {
        let mut chain = chain(1000, 2, false);
        let mut new = Vec::new();
        chain.add([b"a".as_slice(), b"b", b"a", b"b", b"c"].into_iter(), None, |added| {
            new.push(added.unwrap())
        });
        assert_eq!(new, [true, true, false, false, true]);
        assert_eq!(chain.keys(), 3);
    }

    #[test]
    fn repeats_across_a_link_that_begins_within_the_batch_are_told() {
        let mut chain = chain(100, 2, false);
        let keys: Vec<String> = (0..200).chain(0..200).map(|i: u32| i.to_string()).collect();
        let mut new = Vec::new();
        // Two batches' worth in one call: the second half repeats the first.
        chain.add(keys.iter().map(String::as_bytes), None, |added| new.push(added.unwrap()));
        assert!(chain.links.len() > 1);
        assert!(new[200..].iter().all(|new| !new));
        assert_eq!(chain.keys(), new.iter().filter(|new| **new).count() as u64);
    }

    #[test]
    fn one_that_may_not_grow_says_that_it_is_full_and_still_knows_its_keys() {
        let mut chain = chain(10, 0, false);
        let keys: Vec<String> = (0..100).map(|i| i.to_string()).collect();
        let mut last = None;
        chain.add(keys.iter().map(String::as_bytes), None, |added| last = Some(added));
        assert_eq!(last, Some(Err(NotAdded::Full)));
        assert_eq!(chain.keys(), 10);
        assert_eq!(add(&mut chain, 0..5), 0);
    }

    #[test]
    fn a_limit_stops_growth_and_creation() {
        let spec = Spec { capacity: 1_000_000, error: 0.01, expansion: 2, growing: false };
        assert!(matches!(
            Chain::new(spec, Hasher::new(1), Some(1000)),
            Err(NotAdded::Limit { most: 1000, .. })
        ));
        let mut chain = Chain::new(Spec { capacity: 100, ..spec }, Hasher::new(1), Some(1000)).unwrap();
        let keys: Vec<String> = (0..1000).map(|i| i.to_string()).collect();
        let mut last = None;
        chain.add(keys.iter().map(String::as_bytes), Some(1000), |added| last = Some(added));
        assert!(matches!(last, Some(Err(NotAdded::Limit { .. }))), "{last:?}");
    }

    #[test]
    fn one_key_is_answered_as_many_are() {
        let mut chain = chain(100, 2, true);
        add(&mut chain, 0..3000);
        let keys: Vec<String> = (0..6000).map(|i: u32| i.to_string()).collect();
        let mut answers = Vec::new();
        chain.answer(keys.iter().map(String::as_bytes), |answer| answers.push(answer));
        assert_eq!(answers, keys.iter().map(|key| chain.may_contain(key.as_bytes())).collect::<Vec<_>>());
    }
}
