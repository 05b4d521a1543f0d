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
    loaded::Imaged,
};
use crate::{
    callbacks::Handle,
    error::{CommandError, LoadError},
    types::bloom::{Limit, NotAdded},
};
use gowk::{Build, CuckooParams, Filter, Hasher, Insert, Persist, Remove, Removed};
use std::ffi::CStr;

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
    pub(crate) filter: gowk::Cuckoo,
    pub(crate) deletes: u64,
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
        Ok(Self { spec, filter, deletes: 0 })
    }

    /// Adds an item, once more if it is there.
    pub(crate) fn add(&mut self, item: &[u8], limit: Limit) -> Result<(), CommandError> {
        if limit.is_some() && self.filter.len() >= self.filter.params().capacity() {
            // It is about to double.
            super::bloom::within(limit, 2 * self.filter.size_in_bytes() as u64)?;
        }
        loop {
            if self.filter.insert(item).is_ok() {
                return Ok(());
            }
            if self.spec.expansion == 0 {
                return Err(CommandError::Refused("Filter is full"));
            }
            super::bloom::within(limit, 2 * self.filter.size_in_bytes() as u64)?;
            self.filter.grow().map_err(|why| match why {
                gowk::ParamsError::OutOfMemory { .. } => CommandError::Refused("ERR Insufficient memory"),
                _ => CommandError::Refused("Maximum expansions reached"),
            })?;
        }
    }

    pub(crate) fn remove(&mut self, item: &[u8]) -> bool {
        let gone = self.filter.remove(item) == Removed::Gone;
        self.deletes += u64::from(gone);
        gone
    }
}

static HANDLE: Handle = Handle::new();

impl Imaged for Cuckoo {
    const NAME: &'static CStr = c"MBbloomCF";
    const LOAD_COMMAND: &'static CStr = c"CF.LOADCHUNK";
    const LOADED: &'static CStr = c"cf.loadchunk";

    fn handle() -> &'static Handle {
        &HANDLE
    }

    fn image(&self) -> (Vec<u8>, Body<'_>) {
        let bytes = self.filter.to_bytes();
        let mut header = image::header(1, bytes.len() as u64);
        let Spec { capacity, error, expansion, growing, bucket_size, max_iterations } = self.spec;
        header.u64(capacity).f64(error).u32(expansion).u8(growing.into());
        header.u32(bucket_size).u32(max_iterations).u64(self.deletes);
        (header.done(), Body::Bytes(bytes.into()))
    }

    fn from_image(kind: u8, mut fields: Reader<'_>, body: &[u8]) -> Result<Self, LoadError> {
        if kind != 1 {
            return Err(LoadError::Encoding { found: kind.into() });
        }
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
        Ok(Self { spec, filter: gowk::Cuckoo::from_bytes(body)?, deletes })
    }

    fn memory(&self) -> usize {
        self.filter.size_in_bytes()
    }

    fn copy(&self) -> Result<Self, LoadError> {
        Ok(Self { spec: self.spec, filter: self.filter.to_heap()?, deletes: self.deletes })
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
        assert!((0..200_000u32).all(|i| filter.filter.may_contain(&i.to_le_bytes()[..])));
        let wrong =
            (1_000_000..1_100_000u32).filter(|i| filter.filter.may_contain(&i.to_le_bytes()[..])).count();
        assert!(wrong < 1_100, "{wrong} of 100,000");
    }

    #[test]
    fn one_that_may_not_grow_gets_full() {
        let mut filter = Cuckoo::new(spec(100, 0), Hasher::new(1), None).unwrap();
        let full = (0..1000u32).find_map(|i| filter.add(&i.to_le_bytes(), None).err());
        assert_eq!(full, Some(CommandError::Refused("Filter is full")));
        assert!(filter.filter.len() >= 100);
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
        assert_eq!((again.spec, again.deletes, again.filter.len()), (filter.spec, 1, 2999));
        assert!(
            (0..2000u32).all(
                |i| again.filter.count(&i.to_le_bytes()[..]) == filter.filter.count(&i.to_le_bytes()[..])
            )
        );
    }
}
