//! For keys whose number nobody knows: a chain of blocked filters, each larger and stricter than the one before.
//!
//! When a link holds the keys that it was made for, the next is begun: `growth` times as many keys, at `tightening` times
//! the rate. A key that was never inserted is answered "maybe" if any link says so, so with links of rates
//! f_0, f_0 r, f_0 r^2, ... the whole stays below f_0 / (1 - r) however long the chain; f_0 is chosen as (1 - r) times the
//! rate asked for [Almeida, Baquero, Preguiça, Hutchison 2007].
//!
//! A lookup asks every link, so links are few: each is four times the one before, and a billion keys from a first link of
//! four thousand make nine. Where the number of keys can be known in the end, a
//! [`FoldingBuilder`](crate::FoldingBuilder) gives one filter instead of a chain.
//!
//! Asserted by `tests::doc_table_is_true`; the rate asked for is 1 %, the first link is for 4096 keys:
//!
//! | keys | links | bits/key |
//! |---|---|---|
//! | 4,096 | 1 | 11.6 |
//! | 20,000 | 2 | 13.3 |
//! | 300,000 | 4 | 18.1 |
//! | 1,000,000 | 5 | 24.1 |

use super::blocked::{
    BlockedBloom, BlockedParams,
    codec::{read_shape, write_shape},
};
use crate::{
    builder::Build,
    error::{Full, MergeError, ParamsError},
    filter::{Filter, Insert, Inserted},
    format::{Body, Fields, Head, OpenError, ParamsWriter, Persist},
    hash::{Digest, Hasher},
    params::{Promise, checked_fpp, checked_items},
    stats::{Family, Stats},
    store::{Heap, Line, Store},
};
use alloc::{vec, vec::Vec};
use core::fmt;
use libm::pow;

/// How a chain grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScalableParams {
    first_items: u64,
    fpp: f64,
    growth: f64,
    tightening: f64,
}

/// The keys of the first link, unless said otherwise: 6 KB.
pub const FIRST_ITEMS: u64 = 4096;

impl ScalableParams {
    /// A chain that keeps `fpp` in all, and starts with room for `first_items`.
    pub fn new(first_items: u64, fpp: f64) -> Result<Self, ParamsError> {
        Ok(Self {
            first_items: checked_items(first_items)?,
            fpp: checked_fpp(fpp)?,
            growth: 4.0,
            tightening: 0.5,
        })
    }

    /// Each link is for so many times the keys of the one before; from 1 to 64.
    pub fn with_growth(self, growth: f64) -> Result<Self, ParamsError> {
        if !(1.0..=64.0).contains(&growth) {
            return Err(ParamsError::OutOfRange { what: "growth", value: growth as u64, least: 1, most: 64 });
        }
        Ok(Self { growth, ..self })
    }

    /// Each link keeps so many times the rate of the one before; above 0 and below 1.
    pub fn with_tightening(self, tightening: f64) -> Result<Self, ParamsError> {
        if !(tightening > 0.0 && tightening < 1.0) {
            return Err(ParamsError::Fpp { asked: tightening });
        }
        Ok(Self { tightening, ..self })
    }

    /// The keys of the first link.
    pub fn first_items(&self) -> u64 {
        self.first_items
    }

    /// The rate that the whole chain keeps.
    pub fn fpp(&self) -> f64 {
        self.fpp
    }

    /// How much larger each link is than the one before.
    pub fn growth(&self) -> f64 {
        self.growth
    }

    /// The shape of link number `index`.
    fn link(&self, index: usize) -> Result<BlockedParams, ParamsError> {
        let items = self.first_items as f64 * pow(self.growth, index as f64);
        let fpp = self.fpp * (1.0 - self.tightening) * pow(self.tightening, index as f64);
        BlockedParams::for_fpp(items as u64, fpp.max(crate::params::LEAST_FPP))
    }
}

/// The bits and links of a default chain that has grown to so many keys.
pub(crate) fn planned(promise: Promise) -> Result<(u64, usize), ParamsError> {
    let params = ScalableParams::new(FIRST_ITEMS, promise.fpp)?;
    let (mut bits, mut room, mut links) = (0, 0, 0);
    while room < promise.items {
        let link = params.link(links)?;
        bits += link.bits();
        room += link.promise().items;
        links += 1;
    }
    Ok((bits, links))
}

/// A filter that grows with its keys and keeps its rate.
///
/// ```
/// use gowk::{Filter, Insert, ScalableBloom};
///
/// let mut seen = ScalableBloom::new(0.01)?;
/// for key in 0..100_000u64 {
///     seen.insert(&key);
/// }
/// assert!((0..100_000u64).all(|key| seen.may_contain(&key)));
/// assert_eq!(seen.links(), 4);
/// # Ok::<(), gowk::ParamsError>(())
/// ```
///
/// # Growth that fails
/// An insert may need a new link. If there is no memory for it the key goes into the last link all the same: no key is
/// ever lost, [`stats`](Filter::stats) tells that the rate is no longer kept.
#[derive(Clone)]
pub struct ScalableBloom<S = Heap> {
    params: ScalableParams,
    hasher: Hasher,
    links: Vec<Link<S>>,
}

#[derive(Clone)]
struct Link<S> {
    filter: BlockedBloom<S>,
    /// The inserts that were new to the whole chain when they came.
    keys: u64,
}

impl ScalableBloom {
    /// An empty chain that keeps `fpp`, with a random seed.
    #[cfg(feature = "std")]
    pub fn new(fpp: f64) -> Result<Self, ParamsError> {
        Self::with_params(ScalableParams::new(FIRST_ITEMS, fpp)?, Hasher::new(crate::hash::Seed::random()))
    }

    /// An empty chain.
    pub fn with_params(params: ScalableParams, hasher: Hasher) -> Result<Self, ParamsError> {
        let first = BlockedBloom::with_params(params.link(0)?, hasher)?;
        Ok(Self { params, hasher, links: vec![Link { filter: first, keys: 0 }] })
    }

    /// A chain of one link that is there already, with so many keys counted in it.
    pub fn of_link(params: ScalableParams, filter: BlockedBloom, keys: u64) -> Self {
        Self { params, hasher: *filter.hasher(), links: vec![Link { filter, keys }] }
    }

    /// Puts a link that is there already behind the others. It must hash as they do.
    pub fn push_link(&mut self, filter: BlockedBloom, keys: u64) -> Result<(), MergeError> {
        self.hasher.fits(filter.hasher())?;
        self.links.push(Link { filter, keys });
        Ok(())
    }

    /// The links, each with the keys counted in it.
    pub fn into_links(self) -> impl Iterator<Item = (BlockedBloom, u64)> {
        self.links.into_iter().map(|link| (link.filter, link.keys))
    }

    /// The link that takes the next key: the last one, or a new one behind it.
    fn open_link(&mut self) -> &mut Link<Heap> {
        let last = self.links.last().expect("a chain has a link");
        if last.keys >= last.filter.params().promise().items {
            let next = self.params.link(self.links.len());
            if let Ok(filter) = next.and_then(|params| BlockedBloom::with_params(params, self.hasher)) {
                self.links.push(Link { filter, keys: 0 });
            }
        }
        self.links.last_mut().expect("a chain has a link")
    }
}

impl<S> ScalableBloom<S> {
    /// How the chain grows.
    pub fn params(&self) -> &ScalableParams {
        &self.params
    }

    /// How many links it has.
    pub fn links(&self) -> usize {
        self.links.len()
    }

    /// The keys that the links were made for.
    fn promised_items(&self) -> u64 {
        // Saturating, as a file may say anything.
        self.links.iter().fold(0, |sum, link| sum.saturating_add(link.filter.params().promise().items))
    }

    /// The keys that were new when they came: all but those that were taken for seen, at the rate of false positives.
    pub fn counted_items(&self) -> u64 {
        self.links.iter().fold(0, |sum, link| sum.saturating_add(link.keys))
    }
}

impl<S: Store> Filter for ScalableBloom<S> {
    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    /// The last link is asked first: it holds most of the keys.
    #[inline]
    fn may_contain_digest(&self, digest: Digest) -> bool {
        self.links.iter().rev().any(|link| link.filter.may_contain_digest(digest))
    }

    /// Link by link over parts of the keys, so that each link's memory is fetched ahead.
    fn answer(&self, mut digests: impl Iterator<Item = Digest>, answers: &mut [bool]) {
        const PART: usize = 512;
        let (mut part, mut hits) = ([Digest::default(); PART], [false; PART]);
        for answers in answers.chunks_mut(PART) {
            let mut filled = 0;
            for (slot, digest) in part[..answers.len()].iter_mut().zip(&mut digests) {
                *slot = digest;
                filled += 1;
            }
            answers[..filled].fill(false);
            for link in &self.links {
                link.filter.answer(part[..filled].iter().copied(), &mut hits[..filled]);
                answers.iter_mut().zip(&hits[..filled]).for_each(|(answer, hit)| *answer |= hit);
            }
        }
    }

    fn stats(&self) -> Stats {
        let links = self.links.iter().map(|link| link.filter.stats());
        let start = Stats {
            family: Family::ScalableBloom,
            items: self.promised_items(),
            fpp: self.params.fpp,
            bits: 0,
            fill: 0.0,
            estimated_items: 0.0,
            fpp_now: 0.0,
        };
        let mut sum = links.fold(start, |sum, link| Stats {
            bits: sum.bits + link.bits,
            fill: sum.fill + link.fill * link.bits as f64,
            estimated_items: sum.estimated_items + link.estimated_items,
            fpp_now: 1.0 - (1.0 - sum.fpp_now) * (1.0 - link.fpp_now),
            ..sum
        });
        sum.fill /= sum.bits as f64;
        sum
    }

    fn size_in_bytes(&self) -> usize {
        self.links.iter().map(|link| link.filter.size_in_bytes()).sum()
    }
}

impl Insert for ScalableBloom {
    type Outcome<T> = T;

    fn settled<T>(outcome: T) -> Result<T, Full> {
        Ok(outcome)
    }

    /// A key that the chain already answers "maybe" for is not inserted again: repeats do not make it grow.
    fn insert_digest(&mut self, digest: Digest) -> Inserted {
        let older = self.links.len() - 1;
        if self.links[..older].iter().any(|link| link.filter.may_contain_digest(digest)) {
            return Inserted::MaybeSeen;
        }
        // Into the last link before asking for a new one, which that answer may make needless.
        if self.links[older].filter.may_contain_digest(digest) {
            return Inserted::MaybeSeen;
        }
        let link = self.open_link();
        link.keys += 1;
        link.filter.insert_digest(digest);
        Inserted::New
    }

    fn insert_from(&mut self, digests: impl Iterator<Item = Digest>) {
        digests.for_each(|digest| {
            self.insert_digest(digest);
        });
    }
}

impl<S: Store, O: Store> PartialEq<ScalableBloom<O>> for ScalableBloom<S> {
    /// Same rule of growth, same hasher, same links.
    fn eq(&self, other: &ScalableBloom<O>) -> bool {
        let pairs = || self.links.iter().zip(&other.links);
        self.params == other.params
            && self.hasher == other.hasher
            && self.links.len() == other.links.len()
            && pairs().all(|(a, b)| a.keys == b.keys && a.filter == b.filter)
    }
}

impl<S> fmt::Debug for ScalableBloom<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScalableBloom")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .field("links", &self.links.len())
            .finish_non_exhaustive()
    }
}

/// `docs/format.md`, family 4.
impl<S: Body> Persist for ScalableBloom<S> {
    type Store = S;

    fn head(&self) -> Head {
        Head {
            family: Family::ScalableBloom,
            promise: Promise { items: self.promised_items(), fpp: self.params.fpp },
            keys: self.counted_items(),
            hasher: self.hasher,
        }
    }

    fn write_params(&self, params: &mut ParamsWriter) {
        let rule = &self.params;
        params
            .u64(rule.first_items)
            .f64(rule.growth)
            .f64(rule.tightening)
            .u32(self.links.len() as u32)
            .u32(0);
        for link in &self.links {
            let promise = link.filter.params().promise();
            write_shape(link.filter.params(), params);
            params.u64(promise.items).f64(promise.fpp).u64(link.keys);
        }
    }

    fn sections(&self) -> Vec<&[Line]> {
        self.links.iter().map(|link| link.filter.lines()).collect()
    }

    fn from_parts(head: &Head, mut fields: Fields<'_>, body: S) -> Result<Self, OpenError> {
        head.expect(Family::ScalableBloom)?;
        let params = ScalableParams::new(fields.u64("the items of the first link")?, head.promise.fpp)?
            .with_growth(fields.f64("the growth")?)?
            .with_tightening(fields.f64("the tightening")?)?;
        let count = fields.u32("the number of links")?;
        fields.zeros::<4>("the reserved bytes after the links")?;
        if count == 0 {
            return Err(fields.wrong("the number of links", 8, "is 0"));
        }
        let mut links = Vec::new();
        let mut start = 0;
        for _ in 0..count {
            let shape = read_shape(&mut fields, 1)?;
            let items = checked_items(fields.u64("the items of a link")?)?;
            let fpp = fields.f64("the rate of a link")?;
            let keys = fields.u64("the keys of a link")?;
            let shape = shape.with_promise(Promise { items, fpp });
            let end = shape.lines().checked_add(start).filter(|end| *end <= body.lines().len() as u64);
            let end =
                end.ok_or_else(|| fields.wrong("the blocks of a link", 40, "are more than the body holds"))?;
            let filter = BlockedBloom::over(shape, head.hasher, body.part(start as usize..end as usize)?);
            links.push(Link { filter, keys });
            start = end;
        }
        fields.end()?;
        head.expect_lines(start, body.lines().len())?;
        Ok(Self { params, hasher: head.hasher, links })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{binomial_band, members, strangers};

    fn chain(keys: u64) -> ScalableBloom {
        let mut chain =
            ScalableBloom::with_params(ScalableParams::new(FIRST_ITEMS, 0.01).unwrap(), Hasher::new(5))
                .unwrap();
        chain.extend_from(members(keys));
        chain
    }

    impl ScalableBloom {
        fn extend_from(&mut self, keys: impl Iterator<Item = u64>) {
            let hasher = self.hasher;
            self.insert_from(keys.map(|key| hasher.digest(&key)));
        }
    }

    #[test]
    fn doc_table_is_true() {
        for (keys, links, bits) in
            [(4096, 1, 11.6), (20_000, 2, 13.3), (300_000, 4, 18.1), (1_000_000, 5, 24.1)]
        {
            let chain = chain(keys);
            let measured = chain.size_in_bytes() as f64 * 8.0 / keys as f64;
            assert_eq!(chain.links(), links, "{keys} keys");
            assert!((measured - bits).abs() < 0.06, "{measured} bits at {keys} keys");
        }
    }

    #[test]
    fn the_rate_holds_however_many_keys_come() {
        for keys in [1_000, 4_096, 4_097, 50_000, 400_000] {
            let chain = chain(keys);
            assert!(members(keys).all(|key| chain.may_contain(&key)));
            let hits = strangers(500_000).filter(|key| chain.may_contain(key)).count() as u64;
            assert!(hits <= *binomial_band(500_000, 0.01).end(), "{hits} false positives with {keys} keys");
            assert!(
                binomial_band(500_000, chain.stats().fpp_now).contains(&hits),
                "{hits}: {}",
                chain.stats()
            );
        }
    }

    #[test]
    fn a_chain_taken_apart_and_put_together_is_the_same() {
        let whole = chain(20_000);
        let mut links = whole.clone().into_links();
        let (first, keys) = links.next().unwrap();
        let mut again = ScalableBloom::of_link(whole.params, first, keys);
        for (link, keys) in links {
            again.push_link(link, keys).unwrap();
        }
        assert!(again == whole);
        let stranger = BlockedBloom::builder().items(10).seed(99).build().unwrap();
        assert_eq!(again.push_link(stranger, 0), Err(MergeError::Seed));
    }

    #[test]
    fn repeats_do_not_make_it_grow() {
        let mut chain = chain(4096);
        for _ in 0..50 {
            chain.extend_from(members(4096));
        }
        assert_eq!(chain.links(), 1);
    }

    #[test]
    fn bulk_answers_are_the_answers_one_by_one() {
        let chain = chain(30_000);
        let keys: Vec<u64> = members(2_000).chain(strangers(2_000)).collect();
        let one_by_one: Vec<bool> = keys.iter().map(|key| chain.may_contain(key)).collect();
        assert_eq!(chain.may_contain_many(&keys), one_by_one);
    }
}
