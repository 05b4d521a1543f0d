//! A Bloom filter under a key, in one of the forms that it can have.

mod build;
mod chain;
pub(crate) mod codec;
mod merge;

pub(crate) use build::{Form, Reserve};
pub(crate) use chain::{Chain, Limit, NotAdded, Spec, within};
pub(crate) use merge::merge;

use super::{
    Value,
    dump::Dump,
    image::{self, Body, Pending},
    redisbloom,
};
use crate::{
    callbacks::{AofOut, Digest, Handle, RdbIn, RdbOut},
    error::{CommandError, LoadError},
};
use gowk::{AnyFilter, Filter, Insert, Inserted, Persist, format::redisbloom::RedisBloom, window::Pace};
use std::ffi::{CStr, c_int};

/// The filter of a key.
pub(crate) enum Bloom {
    /// One that grows, or not; the usual one.
    Chain(Chain),
    /// One that forgets, and the dump of it.
    Window(Box<gowk::Window>, Dump),
    /// One that was built elsewhere and takes no more keys.
    Fixed(Box<AnyFilter>),
    /// One of RedisBloom's, or as RedisBloom would have it.
    Compat(Box<RedisBloom>),
    /// One whose chunks are still coming.
    Pending(Pending),
}

/// The command that makes a key anew, in an append-only file.
pub(crate) const LOAD_COMMAND: &CStr = c"BF.LOADCHUNK";

const STILL_LOADING: CommandError =
    CommandError::Refused("ERR the filter is being loaded; send its other chunks first");

impl Bloom {
    /// Lets time pass, where it is a matter of time.
    pub(crate) fn advance(&mut self, now: u64) {
        let Self::Window(window, dump) = self else { return };
        dump.tidy(|| now);
        if window.pace() == Pace::Ticks {
            window.advance(now);
        }
    }

    /// Whether what it remembers depends on the clock.
    pub(crate) fn is_timed(&self) -> bool {
        matches!(self, Self::Window(window, _) if window.pace() == Pace::Ticks)
    }

    /// Whether adding a key that is there changes something.
    pub(crate) fn refreshes(&self) -> bool {
        matches!(self, Self::Window(..))
    }

    /// Whether a key may be in it.
    #[inline]
    pub(crate) fn may_contain(&self, key: &[u8]) -> Result<bool, CommandError> {
        match self {
            Self::Chain(chain) => Ok(chain.may_contain(key)),
            Self::Window(window, _) => Ok(window.may_contain(key)),
            Self::Fixed(filter) => Ok(filter.may_contain(key)),
            Self::Compat(filter) => Ok(filter.may_contain(key)),
            Self::Pending(_) => Err(STILL_LOADING),
        }
    }

    /// Whether each key may be in it, in order.
    pub(crate) fn answer<'k>(
        &self,
        keys: impl ExactSizeIterator<Item = &'k [u8]>,
        mut each: impl FnMut(bool),
    ) -> Result<(), CommandError> {
        match self {
            Self::Chain(chain) => chain.answer(keys, each),
            Self::Window(window, _) => in_bulk(&**window, keys, each),
            Self::Fixed(filter) => in_bulk(&**filter, keys, &mut each),
            Self::Compat(filter) => in_bulk(&**filter, keys, &mut each),
            Self::Pending(_) => return Err(STILL_LOADING),
        }
        Ok(())
    }

    /// Adds each key in order and tells which were surely new; stops at the first that cannot be added.
    pub(crate) fn add<'k>(
        &mut self,
        keys: impl Iterator<Item = &'k [u8]>,
        limit: Limit,
        mut each: impl FnMut(Result<bool, NotAdded>),
    ) -> Result<(), CommandError> {
        match self {
            Self::Chain(chain) => chain.add(keys, limit, each),
            Self::Window(window, _) => {
                keys.for_each(|key| each(Ok(window.insert(key) == Inserted::New)));
            }
            Self::Compat(filter) => {
                for key in keys {
                    let added = room_within(filter, key, limit).and_then(|()| {
                        filter.insert(key).map(|new| new == Inserted::New).map_err(|_| NotAdded::Full)
                    });
                    let stop = added.is_err();
                    each(added);
                    if stop {
                        break;
                    }
                }
            }
            Self::Fixed(filter) => {
                let family = filter.head().family;
                return Err(CommandError::Said(format!(
                    "ERR a {family} filter that was loaded is not added to; load another in its place"
                )));
            }
            Self::Pending(_) => return Err(STILL_LOADING),
        }
        Ok(())
    }

    /// The keys that were added, counted or estimated.
    pub(crate) fn keys(&self) -> u64 {
        match self {
            Self::Chain(chain) => chain.keys(),
            Self::Window(window, _) => window.estimated_items().round() as u64,
            Self::Fixed(filter) => filter.head().keys,
            Self::Compat(filter) => filter.keys(),
            Self::Pending(_) => 0,
        }
    }

    /// Forgets all keys.
    pub(crate) fn clear(&mut self) -> Result<(), CommandError> {
        match self {
            Self::Chain(chain) => chain.clear(),
            Self::Window(window, _) => window.clear(),
            Self::Fixed(_) | Self::Compat(_) => {
                return Err(CommandError::Refused("ERR a filter that was loaded is not cleared; delete it"));
            }
            Self::Pending(_) => return Err(STILL_LOADING),
        }
        Ok(())
    }

    /// Header and body of its image.
    pub(crate) fn image(&self) -> (Vec<u8>, Body<'_>) {
        match self {
            Self::Chain(chain) => codec::chain_image(chain),
            Self::Window(window, _) => codec::file_image(&**window),
            Self::Fixed(filter) => codec::file_image(&**filter),
            Self::Compat(filter) => codec::compat_image(filter),
            Self::Pending(pending) => (pending.header.clone(), Body::Bytes((&pending.body[..]).into())),
        }
    }

    /// A filter of which only the header has come: ours or RedisBloom's.
    pub(crate) fn begin(header: &[u8]) -> Result<Self, LoadError> {
        if image::is_ours(header) {
            return Ok(Self::Pending(Pending::new(header.to_vec())?));
        }
        let expected = redisbloom::bloom_body(header)
            .ok_or(LoadError::field("the header", "is neither gowk's nor RedisBloom's"))?;
        Ok(Self::Pending(Pending::foreign(header.to_vec(), expected)))
    }

    /// Takes the next chunk; becomes a filter with the last one.
    pub(crate) fn take_chunk(&mut self, iterator: u64, chunk: &[u8]) -> Result<(), CommandError> {
        let Self::Pending(pending) = self else {
            return Err(CommandError::Refused("ERR received bad data: the filter is complete"));
        };
        let bad = |why: LoadError| CommandError::Said(format!("ERR received bad data: {why}"));
        pending.take(iterator, chunk).map_err(bad)?;
        if pending.is_complete() {
            *self = codec::complete(pending).map_err(bad)?;
        }
        Ok(())
    }
}

/// An error if a new key would make the filter grow beyond the limit.
fn room_within(filter: &RedisBloom, key: &[u8], limit: Limit) -> Result<(), NotAdded> {
    match limit.map(|_| filter.growth_bytes()) {
        None | Some(0) => Ok(()),
        Some(_) if filter.may_contain(key) => Ok(()),
        Some(more) => within(limit, filter.size_in_bytes() as u64 + more),
    }
}

/// Asks a filter in bulk, so that it fetches ahead.
fn in_bulk<'k>(filter: &impl Filter, keys: impl Iterator<Item = &'k [u8]>, mut each: impl FnMut(bool)) {
    let keys: Vec<&[u8]> = keys.collect();
    filter.may_contain_many(&keys).into_iter().for_each(&mut each);
}

static HANDLE: Handle = Handle::new();

impl Value for Bloom {
    const NAME: &'static CStr = c"MBbloom--";

    fn handle() -> &'static Handle {
        &HANDLE
    }

    fn save(&self, out: &mut RdbOut<'_>) {
        let (header, body) = self.image();
        // What has come so far of a filter that is being loaded; the rest can still come after a restart.
        out.u64(u64::from(matches!(self, Self::Pending(_))));
        if let Self::Pending(pending) = self {
            out.bytes(&pending.header);
            out.bytes(&pending.body);
        } else {
            image::save(out, &header, &body);
        }
    }

    fn load(input: &mut RdbIn<'_>, encoding: c_int) -> Result<Self, LoadError> {
        match encoding {
            super::ENCODING => {}
            2..=4 => return Ok(Self::Compat(Box::new(redisbloom::load_bloom(input, encoding)?))),
            other => return Err(LoadError::Encoding { found: other as u64 }),
        }
        match input.u64()? {
            0 => codec::complete(&mut image::load(input)?),
            1 => {
                let mut begun = Self::begin(&input.bytes()?)?;
                let body = input.bytes()?;
                if let Self::Pending(pending) = &mut begun
                    && !body.is_empty()
                {
                    pending.take(1 + body.len() as u64, &body)?;
                }
                Ok(begun)
            }
            found => Err(LoadError::Encoding { found }),
        }
    }

    fn rewrite(&self, out: &mut AofOut<'_>) {
        let (header, body) = self.image();
        image::rewrite(out, LOAD_COMMAND, &header, &body);
    }

    fn memory(&self) -> usize {
        match self {
            Self::Chain(chain) => chain.size() + size_of_val(&chain.links[..]),
            Self::Window(window, dump) => window.size_in_bytes() + dump.memory(),
            Self::Fixed(filter) => filter.size_in_bytes(),
            Self::Compat(filter) => filter.size_in_bytes(),
            Self::Pending(pending) => pending.memory(),
        }
    }

    fn digest(&self, digest: &mut Digest<'_>) {
        let (header, body) = self.image();
        digest.add(&header);
        image::digest(digest, &body);
        digest.end();
    }

    fn copy(&self) -> Result<Self, LoadError> {
        Ok(match self {
            Self::Chain(chain) => Self::Chain(chain.copy()?),
            Self::Window(window, _) => Self::Window(Box::new(window.to_heap()?), Dump::default()),
            Self::Fixed(filter) => Self::Fixed(Box::new(AnyFilter::from_bytes(&filter.to_bytes())?)),
            Self::Compat(filter) => Self::Compat(filter.clone()),
            Self::Pending(pending) => Self::Pending(pending.clone()),
        })
    }
}
