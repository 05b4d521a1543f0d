//! What RedisBloom wrote: dumps of its filters, and its values in a snapshot. Only the frame is here; the filters are the core's.

use super::bytes::{Reader, Writer};
use crate::{callbacks::RdbIn, error::LoadError};
use gowk::format::redisbloom::{Chunk, RedisBloom, RedisCuckoo};

/// Links of a dump, at most.
const MOST_LINKS: u64 = 4096;

/// The bytes that follow the header of a `BF.SCANDUMP`, if it is one.
pub(crate) fn bloom_body(header: &[u8]) -> Option<u64> {
    let mut fields = Reader::new(header);
    let (_, links, _, _) = (fields.u64().ok()?, fields.u32().ok()?, fields.u32().ok()?, fields.u32().ok()?);
    if links == 0 || header.len() as u64 != 20 + 53 * u64::from(links) {
        return None;
    }
    (0..links).try_fold(0u64, |sum, _| {
        let bytes = fields.u64().ok()?;
        fields.slice(45).ok()?;
        sum.checked_add(bytes)
    })
}

/// The bytes that follow the header of a `CF.SCANDUMP`, if it is one.
pub(crate) fn cuckoo_body(header: &[u8]) -> Option<u64> {
    if header.len() != 38 {
        return None;
    }
    let mut fields = Reader::new(header);
    let (_, buckets, _, filters) =
        (fields.u64().ok()?, fields.u64().ok()?, fields.u64().ok()?, fields.u64().ok()?);
    let (slots, _, expansion) = (fields.u16().ok()?, fields.u16().ok()?, fields.u16().ok()?);
    if filters == 0 || filters > MOST_LINKS {
        return None;
    }
    let mut size = buckets.checked_mul(slots.into())?;
    let mut sum = 0u64;
    for _ in 0..filters {
        sum = sum.checked_add(size)?;
        size = size.checked_mul(expansion.into())?;
    }
    Some(sum)
}

fn chunks<'a>(header: &'a [u8], body: &'a [u8]) -> [Chunk<'a>; 2] {
    let end = 1 + body.len() as i64;
    [Chunk { iterator: 1, bytes: header.into() }, Chunk { iterator: end, bytes: body.into() }]
}

fn refused(why: impl std::fmt::Display) -> LoadError {
    LoadError::field("the filter of RedisBloom", format!("is refused: {why}"))
}

pub(crate) fn bloom(header: &[u8], body: &[u8]) -> Result<RedisBloom, LoadError> {
    RedisBloom::from_chunks(chunks(header, body)).map_err(refused)
}

pub(crate) fn cuckoo(header: &[u8], body: &[u8]) -> Result<RedisCuckoo, LoadError> {
    RedisCuckoo::from_chunks(chunks(header, body)).map_err(refused)
}

/// A Bloom filter of a snapshot, encodings 2 to 4.
pub(crate) fn load_bloom(input: &mut RdbIn<'_>, encoding: i32) -> Result<RedisBloom, LoadError> {
    let (size, links, options) = (input.u64()?, input.u64()?, input.u64()?);
    let growth = if encoding < 4 { 2 } else { input.u64()? };
    if links == 0 || links > MOST_LINKS {
        return Err(LoadError::field("the number of links", format!("is {links}")));
    }
    let mut header = Writer::default();
    header.u64(size).u32(narrow(links)?).u32(narrow(options)?).u32(narrow(growth)?);
    let mut body = Vec::new();
    for _ in 0..links {
        let (entries, error, hashes, bits_per_entry) =
            (input.u64()?, input.f64()?, input.u64()?, input.f64()?);
        let (bits, log2, bytes, size) = (input.u64()?, input.u64()?, input.bytes()?, input.u64()?);
        header.u64(bytes.len() as u64).u64(bits).u64(size).f64(error).f64(bits_per_entry);
        header.u32(narrow(hashes)?).u64(entries).u8(narrow(log2)?);
        body.try_reserve(bytes.len()).map_err(|_| LoadError::Memory { bytes: bytes.len() as u64 })?;
        body.extend_from_slice(&bytes);
    }
    bloom(&header.done(), &body)
}

/// A cuckoo filter of a snapshot, encoding 4.
pub(crate) fn load_cuckoo(input: &mut RdbIn<'_>) -> Result<RedisCuckoo, LoadError> {
    let (filters, buckets, items, deletes) = (input.u64()?, input.u64()?, input.u64()?, input.u64()?);
    let (slots, kicks, expansion) = (input.u64()?, input.u64()?, input.u64()?);
    if filters == 0 || filters > MOST_LINKS {
        return Err(LoadError::field("the number of filters", format!("is {filters}")));
    }
    let mut header = Writer::default();
    header.u64(items).u64(buckets).u64(deletes).u64(filters);
    header.u16(narrow(slots)?).u16(narrow(kicks)?).u16(narrow(expansion)?);
    let mut body = Vec::new();
    for _ in 0..filters {
        input.u64()?;
        let bytes = input.bytes()?;
        body.try_reserve(bytes.len()).map_err(|_| LoadError::Memory { bytes: bytes.len() as u64 })?;
        body.extend_from_slice(&bytes);
    }
    cuckoo(&header.done(), &body)
}

fn narrow<T: TryFrom<u64>>(value: u64) -> Result<T, LoadError> {
    T::try_from(value).map_err(|_| LoadError::field("a field", format!("is {value}, which is too much")))
}
