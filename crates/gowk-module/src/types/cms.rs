//! A Count-Min sketch under a key: how often an item came, never too low.
//!
//! Sketches are made to be merged, which asks that they hash alike. So all of them have the same seed unless one is given: unlike
//! the filters they have no secret by default.

use super::{
    bytes::Reader,
    image::{self, Body},
    loaded::Imaged,
};
use crate::{
    callbacks::Handle,
    error::LoadError,
    types::bloom::codec::{read_hasher, write_hasher},
};
use gowk::Hasher;
use std::ffi::CStr;

pub(crate) struct Cms {
    pub(crate) width: u64,
    pub(crate) depth: u64,
    /// All occurrences.
    pub(crate) count: u64,
    pub(crate) hasher: Hasher,
    pub(crate) counters: Vec<u32>,
}

/// The next word of a digest: products by powers of this are as good as independent.
const SPREAD: u64 = 0xd134_2543_de82_ef95;

/// The bytes that the counters of such a sketch take; none if they are too many to count.
pub(crate) fn bytes(width: u64, depth: u64) -> Option<u64> {
    width.checked_mul(depth)?.checked_mul(4).filter(|bytes| i64::try_from(*bytes).is_ok())
}

impl Cms {
    /// An empty sketch; none if there is no memory for it.
    pub(crate) fn new(width: u64, depth: u64, hasher: Hasher) -> Option<Self> {
        let len = usize::try_from(bytes(width, depth)? / 4).ok().filter(|len| *len > 0)?;
        let mut counters = Vec::new();
        counters.try_reserve_exact(len).ok()?;
        counters.resize(len, 0);
        Some(Self { width, depth, count: 0, hasher, counters })
    }

    fn places(&self, item: &[u8]) -> impl Iterator<Item = usize> + use<> {
        let (width, mut word) = (self.width, self.hasher.bytes(item).h1);
        (0..self.depth).map(move |row| {
            let place = row * width + ((u128::from(word) * u128::from(width)) >> 64) as u64;
            word = word.wrapping_mul(SPREAD);
            place as usize
        })
    }

    /// How often it came, or more.
    pub(crate) fn query(&self, item: &[u8]) -> u32 {
        self.places(item).map(|place| self.counters[place]).min().unwrap_or(0)
    }

    /// Counts an item; the new estimate, or none if a counter has reached its end.
    pub(crate) fn increase(&mut self, item: &[u8], by: u64) -> Option<u32> {
        let by_32 = u32::try_from(by).unwrap_or(u32::MAX);
        let (mut least, mut over) = (u32::MAX, false);
        for place in self.places(item) {
            let counter = &mut self.counters[place];
            *counter = counter.saturating_add(by_32);
            over |= *counter == u32::MAX;
            least = least.min(*counter);
        }
        self.count = self.count.saturating_add(by);
        (!over).then_some(least)
    }
}

static HANDLE: Handle = Handle::new();

impl Imaged for Cms {
    const NAME: &'static CStr = c"CMSk-TYPE";
    const LOAD_COMMAND: &'static CStr = c"CMS.LOADCHUNK";
    const LOADED: &'static CStr = c"cms.loadchunk";

    fn handle() -> &'static Handle {
        &HANDLE
    }

    fn image(&self) -> (Vec<u8>, Body<'_>) {
        let bytes: Vec<u8> = self.counters.iter().flat_map(|counter| counter.to_le_bytes()).collect();
        let mut header = image::header(1, bytes.len() as u64);
        header.u64(self.width).u64(self.depth).u64(self.count);
        write_hasher(&mut header, &self.hasher);
        (header.done(), Body::Bytes(bytes.into()))
    }

    fn from_image(kind: u8, mut fields: Reader<'_>, body: &[u8]) -> Result<Self, LoadError> {
        if kind != 1 {
            return Err(LoadError::Encoding { found: kind.into() });
        }
        let (width, depth, count) = (fields.u64()?, fields.u64()?, fields.u64()?);
        let hasher = read_hasher(&mut fields)?;
        fields.end()?;
        let (words, rest) = body.as_chunks::<4>();
        if width == 0 || depth == 0 || bytes(width, depth) != Some(body.len() as u64) || !rest.is_empty() {
            return Err(LoadError::field("the counters", "are not as many as width and depth say"));
        }
        let counters = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        Ok(Self { width, depth, count, hasher, counters })
    }

    fn memory(&self) -> usize {
        4 * self.counters.capacity()
    }

    fn copy(&self) -> Result<Self, LoadError> {
        Ok(Self { counters: self.counters.clone(), ..*self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_never_too_low_and_seldom_too_high() {
        let mut cms = Cms::new(1000, 5, Hasher::new(1)).unwrap();
        for i in 0..1000u32 {
            cms.increase(&i.to_le_bytes(), u64::from(i % 10));
        }
        let over = (0..1000u32).filter(|i| cms.query(&i.to_le_bytes()) > i % 10).count();
        assert!((0..1000u32).all(|i| cms.query(&i.to_le_bytes()) >= i % 10));
        assert!(over < 150, "{over} of 1000 are over");
    }

    #[test]
    fn a_counter_stops_at_its_end() {
        let mut cms = Cms::new(10, 2, Hasher::new(1)).unwrap();
        assert_eq!(cms.increase(b"a", 5), Some(5));
        assert_eq!(cms.increase(b"a", u64::MAX), None);
        assert_eq!(cms.query(b"a"), u32::MAX);
    }

    #[test]
    fn sizes_that_are_none_are_refused() {
        for (width, depth) in [(0, 5), (5, 0), (u64::MAX, 2), (1 << 40, 1 << 40)] {
            assert!(Cms::new(width, depth, Hasher::new(1)).is_none(), "{width} x {depth}");
        }
    }
}
