//! A value that may still be arriving in chunks, and that is dumped from a snapshot: what cuckoo filters and sketches share.
//!
//! Unlike the bits of a Bloom filter, which are only ever set, their bytes move, so that a dump is made from a copy.

use super::{
    ENCODING, Value,
    bytes::Reader,
    dump::Dump,
    image::{self, Body, Pending},
};
use crate::{
    callbacks::{AofOut, Digest, Handle, RdbIn, RdbOut},
    error::{CommandError, LoadError},
};
use std::ffi::{CStr, c_int};

/// A value that has an image.
pub(crate) trait Imaged: Sized {
    const NAME: &'static CStr;
    /// The command that takes the chunks of its image.
    const LOAD_COMMAND: &'static CStr;
    /// Begins the names of its events.
    const LOADED: &'static CStr;

    fn handle() -> &'static Handle;
    fn image(&self) -> (Vec<u8>, Body<'_>);
    fn from_image(kind: u8, fields: Reader<'_>, body: &[u8]) -> Result<Self, LoadError>;
    /// The bytes that follow a header of RedisBloom's, if this is one.
    fn foreign_body(_header: &[u8]) -> Option<u64> {
        None
    }
    /// The value of a dump of RedisBloom's.
    fn from_foreign(_header: &[u8], _body: &[u8]) -> Result<Self, LoadError> {
        Err(LoadError::Encoding { found: 0 })
    }
    /// The value of a snapshot of RedisBloom's.
    fn load_foreign(_input: &mut RdbIn<'_>, encoding: c_int) -> Result<Self, LoadError> {
        Err(LoadError::Encoding { found: encoding as u64 })
    }
    /// Its dump as RedisBloom has it, if it is one of those: what follows the iterator, or nothing at the end.
    fn foreign_scan(&self, _iterator: u64) -> Foreign {
        Foreign::No
    }
    fn memory(&self) -> usize;
    fn copy(&self) -> Result<Self, LoadError>;
}

/// Whether a value is dumped as RedisBloom does, and then the next iterator and chunk, or nothing at the end.
pub(crate) enum Foreign {
    No,
    Yes(Option<(u64, Vec<u8>)>),
}

pub(crate) struct Loaded<T> {
    state: State<T>,
    dump: Dump,
}

enum State<T> {
    Ready(T),
    Pending(Pending),
}

impl<T: Imaged> Loaded<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { state: State::Ready(value), dump: Dump::default() }
    }

    /// One of which only the header has come.
    pub(crate) fn begun(header: &[u8]) -> Result<Self, LoadError> {
        let pending = match T::foreign_body(header) {
            Some(expected) if !image::is_ours(header) => Pending::foreign(header.to_vec(), expected),
            _ => Pending::new(header.to_vec())?,
        };
        Ok(Self { state: State::Pending(pending), dump: Dump::default() })
    }

    /// The value, if it has come whole.
    pub(crate) fn get(&self) -> Result<&T, CommandError> {
        match &self.state {
            State::Ready(value) => Ok(value),
            State::Pending(_) => Err(STILL_LOADING),
        }
    }

    /// The value, to change.
    pub(crate) fn get_mut(&mut self, now: impl FnOnce() -> u64) -> Result<&mut T, CommandError> {
        self.dump.tidy(now);
        match &mut self.state {
            State::Ready(value) => Ok(value),
            State::Pending(_) => Err(STILL_LOADING),
        }
    }

    /// Takes the next chunk; becomes whole with the last.
    pub(crate) fn take_chunk(&mut self, iterator: u64, chunk: &[u8]) -> Result<(), LoadError> {
        let State::Pending(pending) = &mut self.state else {
            return Err(LoadError::field("the value", "is complete"));
        };
        pending.take(iterator, chunk)?;
        if pending.is_complete() {
            self.state = State::Ready(whole(pending)?);
        }
        Ok(())
    }

    /// The chunk that an iterator asks for, with the next iterator; none at the end.
    pub(crate) fn scan(&mut self, iterator: u64, now: u64) -> Result<Option<(u64, Vec<u8>)>, CommandError> {
        let State::Ready(value) = &self.state else { return Err(STILL_LOADING) };
        if let Foreign::Yes(chunk) = value.foreign_scan(iterator) {
            return Ok(chunk);
        }
        self.dump.scan(iterator, now, || value.image())
    }
}

const STILL_LOADING: CommandError =
    CommandError::Refused("ERR the value is being loaded; send its other chunks first");

fn whole<T: Imaged>(pending: &Pending) -> Result<T, LoadError> {
    if !image::is_ours(&pending.header) {
        return T::from_foreign(&pending.header, &pending.body);
    }
    let (kind, _, fields) = image::read_header(&pending.header)?;
    T::from_image(kind, fields, &pending.body)
}

impl<T: Imaged> Value for Loaded<T> {
    const NAME: &'static CStr = T::NAME;

    fn handle() -> &'static Handle {
        T::handle()
    }

    fn save(&self, out: &mut RdbOut<'_>) {
        match &self.state {
            State::Ready(value) => {
                out.u64(0);
                let (header, body) = value.image();
                image::save(out, &header, &body);
            }
            State::Pending(pending) => {
                out.u64(1);
                out.bytes(&pending.header);
                out.bytes(&pending.body);
            }
        }
    }

    fn load(input: &mut RdbIn<'_>, encoding: c_int) -> Result<Self, LoadError> {
        if encoding != ENCODING {
            return T::load_foreign(input, encoding).map(Self::new);
        }
        match input.u64()? {
            0 => Ok(Self::new(whole(&image::load(input)?)?)),
            1 => {
                let mut begun = Self::begun(&input.bytes()?)?;
                let body = input.bytes()?;
                if let State::Pending(pending) = &mut begun.state
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
        match &self.state {
            State::Ready(value) => {
                let (header, body) = value.image();
                image::rewrite(out, T::LOAD_COMMAND, &header, &body);
            }
            State::Pending(pending) => {
                let body = Body::Bytes((&pending.body[..]).into());
                image::rewrite(out, T::LOAD_COMMAND, &pending.header, &body);
            }
        }
    }

    fn memory(&self) -> usize {
        self.dump.memory()
            + match &self.state {
                State::Ready(value) => value.memory(),
                State::Pending(pending) => pending.memory(),
            }
    }

    fn digest(&self, digest: &mut Digest<'_>) {
        if let State::Ready(value) = &self.state {
            let (header, body) = value.image();
            digest.add(&header);
            image::digest(digest, &body);
        }
        digest.end();
    }

    fn copy(&self) -> Result<Self, LoadError> {
        let state = match &self.state {
            State::Ready(value) => State::Ready(value.copy()?),
            State::Pending(pending) => State::Pending(pending.clone()),
        };
        Ok(Self { state, dump: Dump::default() })
    }
}
