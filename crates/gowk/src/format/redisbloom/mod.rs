//! RedisBloom's filters as `BF.SCANDUMP` and `CF.SCANDUMP` give them, and `LOADCHUNK` takes them.
//!
//! A dump is a sequence of pairs (iterator, bytes). The first has iterator 1 and a header; the others carry the filters' bytes one
//! after another, at most 16 MiB at a time and never of two links at once, and their iterator is 1 + the bytes sent so far. An
//! end of (0, nothing) is not kept. In a file (`.chunks`) each pair is an i64 iterator, a u64 length and the bytes,
//! little-endian; that is gowk's own container, since Redis has none.
//!
//! **Keys** are bytes, as Redis has them: the number 7 that `BF.ADD` was given is the text `"7"`.
//!
//! [`RedisBloom`] is the scaling chain of Bloom filters, [`RedisCuckoo`] the cuckoo filter. Both grow, insert and answer as the
//! module does, so that what they hold is what the module would hold.

mod bloom;
mod chunks;
mod cuckoo;

pub use bloom::{Link, Options, RedisBloom};
pub use chunks::{Chunk, Chunks, MOST_CHUNK};
pub use cuckoo::RedisCuckoo;

/// Whether a file is a dump of `BF.SCANDUMP`, by its first chunk.
pub(super) fn looks_like_bloom(bytes: &[u8]) -> bool {
    chunks::header(bytes).is_some_and(|header| bloom::Header::parse(header).is_ok())
}

/// Whether a file is a dump of `CF.SCANDUMP`, by its first chunk.
pub(super) fn looks_like_cuckoo(bytes: &[u8]) -> bool {
    chunks::header(bytes).is_some_and(|header| cuckoo::Header::parse(header).is_ok())
}
