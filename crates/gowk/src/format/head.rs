//! The first 128 bytes of a file.

use super::{
    Persist, checksum,
    error::OpenError,
    fields::{Fields, ParamsWriter},
};
use crate::{
    hash::{HashId, Hasher, Seed},
    params::Promise,
    stats::Family,
    store::Line,
};
use alloc::vec::Vec;
use xxhash_rust::xxh3::Xxh3;

/// What every file says of its filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Head {
    /// What kind of filter it is.
    pub family: Family,
    /// What was promised.
    pub promise: Promise,
    /// The keys inside: counted where the family counts, else estimated when the file was written.
    pub keys: u64,
    /// How it hashes.
    pub hasher: Hasher,
}

impl Head {
    /// An error unless the file holds this family.
    pub fn expect(&self, wanted: Family) -> Result<(), OpenError> {
        match self.family == wanted {
            true => Ok(()),
            false => Err(OpenError::Family { wanted: wanted.name(), found: self.family.name() }),
        }
    }

    /// An error if a bit at or beyond `bits` is set in the last line of the body.
    pub fn expect_no_bits_beyond(&self, bits: u64, body: &[Line]) -> Result<(), OpenError> {
        let used = bits - (body.len() as u64 - 1) * Line::BITS;
        let beyond = |(i, word): (usize, &u64)| match used.saturating_sub(64 * i as u64) {
            0 => *word != 0,
            64.. => false,
            inside => word >> inside != 0,
        };
        match body.last().is_some_and(|line| line.0.iter().enumerate().any(beyond)) {
            false => Ok(()),
            true => {
                Err(OpenError::Field { name: "the body", offset: 16, why: "has bits set behind its end" })
            }
        }
    }

    /// An error unless a body of `found` lines is one of `expected`.
    pub fn expect_lines(&self, expected: u64, found: usize) -> Result<(), OpenError> {
        match expected == found as u64 {
            true => Ok(()),
            false => Err(OpenError::Field {
                name: "the body",
                offset: 16,
                why: "is not as long as the parameters say",
            }),
        }
    }
}

const MAGIC: [u8; 8] = *b"gowk\r\n\x1a\0";
const VERSION: u16 = 1;
/// The most parameter bytes that a file may have; more than any family writes, less than hurts to allocate.
const MOST_PARAMS: u32 = 1 << 20;

/// The head with what only a reader of files needs.
#[derive(Debug)]
pub(super) struct RawHead {
    pub(super) head: Head,
    pub(super) params_len: usize,
    pub(super) body_len: u64,
    body_sum: u64,
    head_sum: u64,
    /// The head as far as its checksum covers it.
    summed: [u8; SUMMED],
}

const SUMMED: usize = RawHead::BYTES - 8;

impl RawHead {
    pub(super) const BYTES: usize = 128;

    /// The head at the start of `bytes`, of a file of `file_len` bytes. Its checksum is checked with its parameters.
    pub(super) fn decode(bytes: &[u8], file_len: u64) -> Result<Self, OpenError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(OpenError::NotGowk);
        }
        let mut version = Fields::new(&bytes[8..], 8);
        // Before anything else: the fields of a later version are not ours to judge.
        match version.u16("the version")? {
            VERSION => {}
            0 => return Err(version.wrong("the version", 2, "is 0, which no version wrote")),
            found => return Err(OpenError::Version { found, newest: VERSION }),
        }
        let Some(bytes) = bytes.first_chunk::<{ Self::BYTES }>() else {
            return Err(OpenError::Length { expected: Self::BYTES as u64, found: file_len });
        };
        let mut fields = Fields::new(&bytes[10..], 10);
        let family = fields.u16("the family")?;
        let params_len = fields.u32("the length of the parameters")?;
        if params_len > MOST_PARAMS {
            return Err(fields.wrong("the length of the parameters", 4, "is over a mebibyte"));
        }
        let body_len = fields.u64("the length of the body")?;
        if !body_len.is_multiple_of(Line::BYTES as u64) {
            return Err(fields.wrong("the length of the body", 8, "is not a whole number of 64-byte lines"));
        }
        let items = fields.u64("the promised items")?;
        if items == 0 {
            return Err(fields.wrong("the promised items", 8, "is 0"));
        }
        let fpp = fields.f64("the promised rate")?;
        if !(fpp > 0.0 && fpp <= 1.0) {
            return Err(fields.wrong("the promised rate", 8, "is not between 0 and 1"));
        }
        let keys = fields.u64("the keys inside")?;
        let hash = fields.u8("the hash")?;
        fields.zeros::<7>("the reserved bytes after the hash")?;
        let seed = Seed::from_bytes(fields.bytes("the seed")?);
        fields.zeros::<32>("the reserved bytes after the seed")?;
        let body_sum = fields.u64("the checksum of the body")?;
        let expected = fields.u64("the length of the file")?;
        let head_sum = fields.u64("the checksum of the head")?;
        if expected != file_len {
            return Err(OpenError::Length { expected, found: file_len });
        }
        let parts = (body_start(params_len as usize) as u64).checked_add(body_len);
        if parts != Some(file_len) {
            return Err(OpenError::Field {
                name: "the length of the file",
                offset: 112,
                why: "is not that of its parts",
            });
        }
        let family = Family::from_tag(family).ok_or(OpenError::UnknownFamily { tag: family })?;
        let id = HashId::from_tag(hash).ok_or(OpenError::UnknownHash { tag: hash })?;
        Ok(Self {
            head: Head { family, promise: Promise { items, fpp }, keys, hasher: Hasher::with_id(id, seed) },
            params_len: params_len as usize,
            body_len,
            body_sum,
            head_sum,
            summed: *bytes.first_chunk().expect("shorter than the head"),
        })
    }

    /// Where the body begins.
    pub(super) fn body_start(&self) -> usize {
        body_start(self.params_len)
    }

    /// The parameters, of the bytes after the head; checked together with the head.
    pub(super) fn checked_params<'a>(&self, bytes: &'a [u8]) -> Result<Fields<'a>, OpenError> {
        let padded = &bytes[..self.body_start() - Self::BYTES];
        let (params, padding) = padded.split_at(self.params_len);
        if head_sum(&self.summed, params) != self.head_sum {
            return Err(OpenError::Checksum { part: "head" });
        }
        if padding.iter().any(|byte| *byte != 0) {
            return Err(OpenError::Checksum { part: "padding" });
        }
        Ok(Fields::new(params, Self::BYTES as u64))
    }

    /// Holds the body against its checksum.
    pub(super) fn check_body(&self, body: &[Line]) -> Result<(), OpenError> {
        self.check_sum(checksum([body]))
    }

    /// Holds the checksum of the body against the one in the head.
    pub(super) fn check_sum(&self, sum: u64) -> Result<(), OpenError> {
        match sum == self.body_sum {
            true => Ok(()),
            false => Err(OpenError::Checksum { part: "body" }),
        }
    }
}

pub(super) fn body_start(params_len: usize) -> usize {
    (RawHead::BYTES + params_len).next_multiple_of(Line::BYTES)
}

fn head_sum(head: &[u8], params: &[u8]) -> u64 {
    let mut sum = Xxh3::new();
    sum.update(head);
    sum.update(params);
    sum.digest()
}

/// Head, parameters and padding: all of a file but the body.
pub(super) fn encode(filter: &impl Persist) -> Vec<u8> {
    let sections = filter.sections();
    let body_len: usize = sections.iter().map(|section| size_of_val(*section)).sum();
    let mut params = ParamsWriter::default();
    filter.write_params(&mut params);
    encode_parts(&filter.head(), &params.into_bytes(), body_len as u64, checksum(sections))
}

/// The same, of a body of this length and checksum.
pub(super) fn encode_parts(head: &Head, params: &[u8], body_len: u64, body_sum: u64) -> Vec<u8> {
    let Head { family, promise, keys, hasher } = *head;
    let start = body_start(params.len());
    let mut head = ParamsWriter::default();
    head.bytes(&MAGIC).u16(VERSION).u16(family as u16).u32(params.len() as u32).u64(body_len);
    head.u64(promise.items).f64(promise.fpp).u64(keys);
    head.u8(hasher.id() as u8).bytes(&[0; 7]).bytes(&hasher.seed().to_bytes()).bytes(&[0; 32]);
    head.u64(body_sum).u64(start as u64 + body_len);
    let mut bytes = head.into_bytes();
    let sum = head_sum(&bytes, params);
    bytes.extend_from_slice(&sum.to_le_bytes());
    bytes.extend_from_slice(params);
    bytes.resize(start, 0);
    bytes
}
