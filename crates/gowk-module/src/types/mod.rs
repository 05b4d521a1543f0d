//! The values that a key can hold: what is inside, and how it gets to disk and to other servers.
//!
//! The types have the names that RedisBloom registers, so that `TYPE`, `SCAN ... TYPE` and an RDB file of a RedisBloom server mean
//! the same here; the encoding number tells whose bytes follow. Ours begins at [`ENCODING`], far above RedisBloom's.

pub(crate) mod bloom;
pub(crate) mod bytes;
pub(crate) mod cms;
pub(crate) mod cuckoo;
pub(crate) mod dump;
pub(crate) mod image;
pub(crate) mod loaded;
pub(crate) mod redisbloom;
pub(crate) mod topk;

use crate::{
    callbacks::{AofOut, Digest, Handle, RdbIn, RdbOut},
    error::LoadError,
};
use std::ffi::{CStr, c_int};

/// The number of our own encoding.
pub(crate) const ENCODING: c_int = 100;

/// What the server asks of a value.
pub(crate) trait Value: Sized {
    /// Nine characters, by which snapshots name the type.
    const NAME: &'static CStr;
    /// The number of the encoding that [`save`](Self::save) writes.
    const ENCODING: c_int = ENCODING;

    /// Where the server's handle of the type is kept.
    fn handle() -> &'static Handle;

    /// Writes it to a snapshot.
    fn save(&self, out: &mut RdbOut<'_>);

    /// Reads it from a snapshot, which may be anybody's.
    fn load(input: &mut RdbIn<'_>, encoding: c_int) -> Result<Self, LoadError>;

    /// Writes the commands that make it anew.
    fn rewrite(&self, out: &mut AofOut<'_>);

    /// The memory it takes beside itself.
    fn memory(&self) -> usize;

    /// All that matters to an answer.
    fn digest(&self, digest: &mut Digest<'_>);

    /// Another of the same.
    fn copy(&self) -> Result<Self, LoadError>;
}
