//! A cuckoo filter under a key.
//!
//! RedisBloom's has buckets of two, and fills to 30 % before it adds another table; its fingerprints have 8 bits, whatever rate is
//! wanted. Here buckets hold four and fill to 95 %, the width follows from the rate, and the one table doubles when it is full.
//!
//! Doubling takes a bit of every fingerprint. A filter that may grow has bits in store for it up to [`EXPECTED`] items, or
//! [`EXPECTED_GROWING`] where nobody named a capacity: until then the rate is kept. Beyond, each doubling doubles the rate, until no bit
//! is left. A doubling is one pass over the table.

use super::{
    bytes::Reader,
    image::{self, Body},
    loaded::{Foreign, Imaged},
    redisbloom,
};
use crate::{
    callbacks::{Handle, RdbIn},
    error::{CommandError, LoadError},
    types::bloom::{Limit, NotAdded},
};
use gowk::{
    Build, CuckooParams, Filter, Hasher, Insert, Persist, Remove, Removed, format::redisbloom::RedisCuckoo,
};
use std::ffi::{CStr, c_int};

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spec {
    pub(crate) capacity: u64,
    pub(crate) error: f64,
    /// 0: it does not grow. Any other number lets it double.
    pub(crate) expansion: u32,
    pub(crate) growing: bool,
    /// Kept and told, for RedisBloom's sake; they decide nothing here.
    pub(crate) bucket_size: u32,
    pub(crate) max_iterations: u32,
}

pub(crate) struct Cuckoo {
    pub(crate) spec: Spec,
    filter: Table,
    deletes: u64,
}

enum Table {
    Own(Box<gowk::Cuckoo>),
    /// One of RedisBloom's.
    Compat(Box<RedisCuckoo>),
}

/// Does the same with either.
macro_rules! either {
    ($table:expr, $filter:ident => $call:expr) => {
        match $table {
            Table::Own($filter) => $call,
            Table::Compat($filter) => $call,
        }
    };
}

/// Items up to which the rate is kept while the filter grows.
const EXPECTED: u64 = 1 << 20;
/// The same, of a filter that was created by a `CF.ADD`.
const EXPECTED_GROWING: u64 = 1 << 26;

impl Cuckoo {
    pub(crate) fn new(spec: Spec, hasher: Hasher, limit: Limit) -> Result<Self, NotAdded> {
        let params = match (spec.expansion, spec.growing) {
            (0, _) => CuckooParams::for_fpp(spec.capacity, spec.error),
            (_, false) => CuckooParams::growing(spec.capacity, spec.capacity.max(EXPECTED), spec.error),
            (_, true) => {
                CuckooParams::growing(spec.capacity, spec.capacity.max(EXPECTED_GROWING), spec.error)
            }
        };
        let params = params.map_err(NotAdded::Params)?;
        super::bloom::within(limit, params.bits() / 8)?;
        let filter = gowk::Cuckoo::with_params(params, hasher).map_err(NotAdded::Params)?;
        Ok(Self { spec, filter: Table::Own(Box::new(filter)), deletes: 0 })
    }

    /// A filter of RedisBloom's.
    fn compat(filter: RedisCuckoo) -> Self {
        let spec = Spec {
            capacity: filter.buckets() * u64::from(filter.slots()),
            error: 0.01,
            expansion: filter.expansion().into(),
            growing: false,
            bucket_size: filter.slots().into(),
            max_iterations: filter.most_kicks().into(),
        };
        Self { spec, filter: Table::Compat(Box::new(filter)), deletes: 0 }
    }

    pub(crate) fn may_contain(&self, item: &[u8]) -> bool {
        either!(&self.filter, filter => filter.may_contain(item))
    }

    /// Whether each may be in it.
    pub(crate) fn answer(&self, items: &[&[u8]], answers: &mut [bool]) {
        either!(&self.filter, filter => filter.may_contain_many_into(items, answers));
    }

    pub(crate) fn count(&self, item: &[u8]) -> u64 {
        match &self.filter {
            Table::Own(filter) => filter.count(item),
            Table::Compat(filter) => filter.count_digest(filter.hasher().bytes(item)),
        }
    }

    /// The items inside, each as often as it was added.
    pub(crate) fn len(&self) -> u64 {
        match &self.filter {
            Table::Own(filter) => filter.len(),
            Table::Compat(filter) => filter.keys(),
        }
    }

    pub(crate) fn deletes(&self) -> u64 {
        match &self.filter {
            Table::Own(_) => self.deletes,
            Table::Compat(filter) => filter.deletes(),
        }
    }

    pub(crate) fn buckets(&self) -> u64 {
        match &self.filter {
            Table::Own(filter) => filter.params().buckets(),
            Table::Compat(filter) => filter.buckets(),
        }
    }

    pub(crate) fn tables(&self) -> u64 {
        match &self.filter {
            Table::Own(_) => 1,
            Table::Compat(filter) => filter.filters() as u64,
        }
    }

    /// Gives memory back; whether there was any. RedisBloom's stay as they are.
    pub(crate) fn compact(&mut self) -> Result<bool, gowk::ParamsError> {
        match &mut self.filter {
            Table::Own(filter) => filter.shrink_to_fit(),
            Table::Compat(_) => Ok(false),
        }
    }

    /// Adds an item, once more if it is there.
    pub(crate) fn add(&mut self, item: &[u8], limit: Limit) -> Result<(), CommandError> {
        const FULL: CommandError = CommandError::Refused("Filter is full");
        let filter = match &mut self.filter {
            Table::Own(filter) => filter,
            Table::Compat(filter) => return filter.insert(item).map(|_| ()).map_err(|_| FULL),
        };
        if limit.is_some() && filter.len() >= filter.params().capacity() {
            // It is about to double.
            super::bloom::within(limit, 2 * filter.size_in_bytes() as u64)?;
        }
        loop {
            if filter.insert(item).is_ok() {
                return Ok(());
            }
            if self.spec.expansion == 0 {
                return Err(FULL);
            }
            super::bloom::within(limit, 2 * filter.size_in_bytes() as u64)?;
            filter.grow().map_err(|why| match why {
                gowk::ParamsError::OutOfMemory { .. } => CommandError::Refused("ERR Insufficient memory"),
                _ => CommandError::Refused("Maximum expansions reached"),
            })?;
        }
    }

    pub(crate) fn remove(&mut self, item: &[u8]) -> bool {
        let gone = either!(&mut self.filter, filter => filter.remove(item)) == Removed::Gone;
        self.deletes += u64::from(gone);
        gone
    }
}

/// The bytes of a `.gowk` file.
const OWN: u8 = 1;
/// RedisBloom's chunks, one after another, each with its iterator and length.
const CHUNKS: u8 = 2;

static HANDLE: Handle = Handle::new();

impl Imaged for Cuckoo {
    const NAME: &'static CStr = c"MBbloomCF";
    const LOAD_COMMAND: &'static CStr = c"CF.LOADCHUNK";
    const LOADED: &'static CStr = c"cf.loadchunk";

    fn handle() -> &'static Handle {
        &HANDLE
    }

    fn image(&self) -> (Vec<u8>, Body<'_>) {
        let (kind, bytes) = match &self.filter {
            Table::Own(filter) => (OWN, filter.to_bytes()),
            Table::Compat(filter) => (CHUNKS, filter.to_bytes()),
        };
        let mut header = image::header(kind, bytes.len() as u64);
        let Spec { capacity, error, expansion, growing, bucket_size, max_iterations } = self.spec;
        header.u64(capacity).f64(error).u32(expansion).u8(growing.into());
        header.u32(bucket_size).u32(max_iterations).u64(self.deletes);
        (header.done(), Body::Bytes(bytes.into()))
    }

    fn from_image(kind: u8, mut fields: Reader<'_>, body: &[u8]) -> Result<Self, LoadError> {
        let spec = Spec {
            capacity: fields.u64()?,
            error: fields.f64()?,
            expansion: fields.u32()?,
            growing: fields.u8()? != 0,
            bucket_size: fields.u32()?,
            max_iterations: fields.u32()?,
        };
        let deletes = fields.u64()?;
        fields.end()?;
        let filter = match kind {
            OWN => Table::Own(Box::new(gowk::Cuckoo::from_bytes(body)?)),
            CHUNKS => {
                let filter = RedisCuckoo::from_bytes(body);
                Table::Compat(Box::new(
                    filter.map_err(|why| LoadError::field("the filter", why.to_string()))?,
                ))
            }
            other => return Err(LoadError::Encoding { found: other.into() }),
        };
        Ok(Self { spec, filter, deletes })
    }

    fn foreign_body(header: &[u8]) -> Option<u64> {
        redisbloom::cuckoo_body(header)
    }

    fn from_foreign(header: &[u8], body: &[u8]) -> Result<Self, LoadError> {
        redisbloom::cuckoo(header, body).map(Self::compat)
    }

    fn load_foreign(input: &mut RdbIn<'_>, encoding: c_int) -> Result<Self, LoadError> {
        match encoding {
            4 => redisbloom::load_cuckoo(input).map(Self::compat),
            other => Err(LoadError::Encoding { found: other as u64 }),
        }
    }

    fn foreign_scan(&self, iterator: u64) -> Foreign {
        let Table::Compat(filter) = &self.filter else { return Foreign::No };
        let chunk = filter.scan(i64::try_from(iterator).unwrap_or(i64::MAX));
        Foreign::Yes(chunk.map(|chunk| (chunk.iterator.unsigned_abs(), chunk.bytes.into_owned())))
    }

    fn memory(&self) -> usize {
        either!(&self.filter, filter => filter.size_in_bytes())
    }

    fn copy(&self) -> Result<Self, LoadError> {
        let filter = match &self.filter {
            Table::Own(filter) => Table::Own(Box::new(filter.to_heap()?)),
            Table::Compat(filter) => Table::Compat(filter.clone()),
        };
        Ok(Self { spec: self.spec, filter, deletes: self.deletes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(capacity: u64, expansion: u32) -> Spec {
        Spec { capacity, error: 0.01, expansion, growing: true, bucket_size: 2, max_iterations: 20 }
    }

    #[test]
    fn it_grows_far_beyond_its_capacity_and_keeps_its_rate() {
        let mut filter = Cuckoo::new(spec(1024, 1), Hasher::new(1), None).unwrap();
        for i in 0..200_000u32 {
            filter.add(&i.to_le_bytes(), None).unwrap();
        }
        assert!((0..200_000u32).all(|i| filter.may_contain(&i.to_le_bytes()[..])));
        let wrong = (1_000_000..1_100_000u32).filter(|i| filter.may_contain(&i.to_le_bytes()[..])).count();
        assert!(wrong < 1_100, "{wrong} of 100,000");
    }

    #[test]
    fn one_that_may_not_grow_gets_full() {
        let mut filter = Cuckoo::new(spec(100, 0), Hasher::new(1), None).unwrap();
        let full = (0..1000u32).find_map(|i| filter.add(&i.to_le_bytes(), None).err());
        assert_eq!(full, Some(CommandError::Refused("Filter is full")));
        assert!(filter.len() >= 100);
    }

    #[test]
    fn it_is_the_same_after_its_image() {
        let mut filter = Cuckoo::new(spec(1024, 1), Hasher::new(1), None).unwrap();
        for i in 0..3000u32 {
            filter.add(&(i % 2000).to_le_bytes(), None).unwrap();
        }
        filter.remove(&5u32.to_le_bytes());
        let (header, body) = filter.image();
        let (kind, _, fields) = image::read_header(&header).unwrap();
        let again = Cuckoo::from_image(kind, fields, &body.read(0, 1 << 30)).unwrap();
        assert_eq!((again.spec, again.deletes(), again.len()), (filter.spec, 1, 2999));
        assert!(
            (0..2000u32).all(|i| again.count(&i.to_le_bytes()[..]) == filter.count(&i.to_le_bytes()[..]))
        );
    }
}
