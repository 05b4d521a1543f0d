//! Parquet's split-block Bloom filters: the bare bytes, and straight out of a Parquet file's column chunks.
//!
//! ```text
//! 15 <bytes of the blocks, zigzag varint>  1c 1c 00 00  1c 1c 00 00  1c 1c 00 00  00       a Thrift struct: split-block, XXH64,
//! blocks of 32 bytes: eight u32, little-endian                                            uncompressed
//! ```
//!
//! The bits are those of a [`SplitBlockBloom`] whose hash is XXH64 with seed 0.
//!
//! **Keys** are values in Parquet's plain encoding without a length: INT32 is 4 bytes ([`Int`](super::foreign::keys::Int)), INT64
//! is `7i64`, FLOAT and DOUBLE are [`Float`](super::foreign::keys::Float) and [`Double`](super::foreign::keys::Double), BYTE_ARRAY
//! and FIXED_LEN_BYTE_ARRAY their bytes, so that text is UTF-8.
//!
//! A file has one filter for each column chunk; [`ColumnFilters`] asks those of all row groups together.

mod column;
#[cfg(feature = "parquet")]
mod file;
mod header;

pub use column::{ColumnFilters, Physical};
#[cfg(feature = "parquet")]
pub use file::{columns, read_column};

use super::foreign::{ForeignError, Format, fields::Fields};
use crate::{
    bloom::split_block::{SplitBlockBloom, SplitBlockParams},
    builder::Build,
    error::ParamsError,
    hash::{HashId, Hasher, Seed},
    params::{Promise, checked_fpp, checked_items},
    store::{Heap, Store},
};
use alloc::vec::Vec;

/// What a Parquet file begins and ends with.
pub(super) const MAGIC: &[u8; 4] = b"PAR1";
const BLOCK: u64 = 32;
/// The largest filter that the writers of Arrow make.
const MOST_BYTES: u64 = 128 << 20;

fn hasher() -> Hasher {
    Hasher::with_id(HashId::Xxh64, Seed::from(0))
}

/// An empty filter for so many distinct values at this rate, as the writers of Arrow size it: a power of two, from 32 bytes to
/// 128 MiB.
///
/// ```
/// use gowk::{Filter, Insert, format::parquet};
///
/// let mut column = parquet::create(1_000, 0.01)?;
/// column.insert(&42i64);
/// let bytes = parquet::to_bytes(&column);                 // as a writer puts them at bloom_filter_offset
/// assert_eq!(bytes.len(), 16 + 2048);
/// assert!(parquet::from_bytes(&bytes)?.may_contain(&42i64));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn create(items: u64, fpp: f64) -> Result<SplitBlockBloom, ParamsError> {
    let promise = Promise { items: checked_items(items)?, fpp: checked_fpp(fpp)? };
    let bits = -8.0 * items as f64 / libm::log(1.0 - libm::pow(fpp, 1.0 / 8.0));
    let bytes = libm::ceil(bits / 8.0).clamp(BLOCK as f64, MOST_BYTES as f64) as u64;
    let params = SplitBlockParams::with_blocks(bytes.next_power_of_two() / BLOCK, items)?;
    SplitBlockBloom::with_params(params.with_promise(promise), hasher())
}

/// The filter in these bytes: header and blocks, and nothing behind them.
pub fn from_bytes(bytes: &[u8]) -> Result<SplitBlockBloom, ForeignError> {
    let mut fields = Fields::new(Format::Parquet, bytes);
    let filter = read(&mut fields)?;
    fields.end()?;
    Ok(filter)
}

/// The filter at the start of these fields.
pub(super) fn read(fields: &mut Fields<'_>) -> Result<SplitBlockBloom, ForeignError> {
    let len = header::read(fields)?;
    let bytes = fields.take("the blocks", len)?;
    let blocks = len / BLOCK;
    // Nobody wrote down how many values it was made for: as many as keep 1 %.
    let params = SplitBlockParams::with_blocks(blocks, (256 * blocks * 100 / 1053).max(1))?;
    Ok(SplitBlockBloom::over(params, hasher(), Heap::from_le_bytes(bytes)?))
}

/// The bytes of a filter: header and blocks.
///
/// # Panics
/// If it does not hash as Parquet does: its bits would mean nothing to a reader.
pub fn to_bytes<S: Store>(filter: &SplitBlockBloom<S>) -> Vec<u8> {
    use crate::filter::Filter;
    assert!(*filter.hasher() == hasher(), "a filter of Parquet hashes by XXH64 with seed 0");
    let len = filter.params().blocks() * BLOCK;
    let mut bytes = header::write(len);
    let end = bytes.len() + len as usize;
    filter.lines().iter().for_each(|line| bytes.extend_from_slice(&line.to_le_bytes()));
    bytes.truncate(end);
    bytes
}

/// Whether it is a Parquet file, or the bare bytes of a filter.
pub(super) fn looks_like(bytes: &[u8], len: u64) -> bool {
    let mut fields = Fields::new(Format::Parquet, bytes);
    // A list of keys may begin with PAR1, but hardly end so.
    let is_file = bytes.starts_with(MAGIC) && (bytes.ends_with(MAGIC) || (bytes.len() as u64) < len);
    is_file || header::read(&mut fields).is_ok_and(|blocks| fields.offset() + blocks == len)
}
