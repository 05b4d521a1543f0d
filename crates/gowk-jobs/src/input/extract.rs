//! The key of a record: the whole line, a field of it, or what a pattern finds in it.

use super::{
    block::{Block, Record},
    error::{InputError, KeyError},
    key_type::{KeyType, Value},
};
use gowk::{Digest, Key, KeyHash, bytes::places_of};
use memchr::memchr;
use regex::bytes::{CaptureLocations, Regex};
use std::num::NonZeroUsize;

/// Which part of a record is its key.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum KeySpec {
    /// All of it.
    #[default]
    Line,
    /// The n-th of the parts between delimiters. Quotes mean nothing: this is `cut`, not CSV.
    Field {
        /// From 1.
        number: NonZeroUsize,
        /// What stands between fields.
        delimiter: u8,
    },
    /// The first group of the first match, or the whole match where the pattern has no group.
    Regex(Regex),
}

/// Which part of a record is its key, and what type it is of.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// Which part.
    pub spec: KeySpec,
    /// As what it is read.
    pub key_type: KeyType,
}

impl Keys {
    /// The bytes of whole lines.
    pub fn lines() -> Self {
        Self::default()
    }

    /// Whether the key is just the bytes of the line.
    pub fn are_lines(&self) -> bool {
        matches!(self.spec, KeySpec::Line) && self.key_type == KeyType::Text
    }

    /// What one thread takes keys out of records with.
    pub fn extractor(&self) -> Extractor {
        let groups = match &self.spec {
            KeySpec::Regex(regex) if regex.captures_len() > 1 => Some(regex.capture_locations()),
            _ => None,
        };
        Extractor { keys: self.clone(), groups, scratch: Vec::new(), skipped: 0 }
    }
}

/// Takes keys out of records, without an allocation for each. One a thread.
#[derive(Clone, Debug)]
pub struct Extractor {
    keys: Keys,
    groups: Option<CaptureLocations>,
    scratch: Vec<u8>,
    skipped: u64,
}

impl Extractor {
    /// The key as it is written; none if the record has no such field or match, which is counted in
    /// [`skipped`](Self::skipped).
    #[inline]
    pub fn text<'a>(&mut self, line: &'a [u8]) -> Option<&'a [u8]> {
        let text = match &self.keys.spec {
            KeySpec::Line => return Some(line),
            KeySpec::Field { number, delimiter } => field(line, number.get(), *delimiter),
            KeySpec::Regex(regex) => match &mut self.groups {
                None => regex.find(line).map(|found| found.as_bytes()),
                Some(groups) => regex
                    .captures_read(groups, line)
                    .and_then(|_| groups.get(1))
                    .map(|(start, end)| &line[start..end]),
            },
        };
        self.skipped += u64::from(text.is_none());
        text
    }

    /// The key as a value of its type; none as for [`text`](Self::text).
    #[inline]
    pub fn value<'a>(&'a mut self, line: &'a [u8]) -> Result<Option<Value<'a>>, KeyError> {
        let Some(text) = self.text(line) else { return Ok(None) };
        self.keys.key_type.parse(text, &mut self.scratch).map(Some)
    }

    /// As [`value`](Self::value), of a record of this block, which an error names.
    #[inline]
    pub fn value_of<'a>(
        &'a mut self,
        block: &Block,
        record: Record<'a>,
    ) -> Result<Option<Value<'a>>, InputError> {
        self.value(record.line).map_err(|error| InputError::Key {
            source: block.source().clone(),
            line: record.number,
            error,
        })
    }

    /// Appends the digest of every key of the block, in order. Records without a key give none.
    pub fn digests(
        &mut self,
        block: &Block,
        hash: &impl KeyHash,
        digests: &mut Vec<Digest>,
    ) -> Result<(), InputError> {
        digests.reserve(block.count() as usize);
        if self.keys.are_lines() {
            digests.extend(block.lines().map(|line| hash.bytes(line)));
            return Ok(());
        }
        for record in block.records() {
            digests.extend(self.value_of(block, record)?.map(|value| value.digest(hash)));
        }
        Ok(())
    }

    /// How many records had no key: too few fields, or no match.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }
}

#[inline]
fn field(line: &[u8], number: usize, delimiter: u8) -> Option<&[u8]> {
    let mut rest = line;
    for _ in 1..number {
        rest = &rest[find(delimiter, rest)? + 1..];
    }
    Some(find(delimiter, rest).map_or(rest, |end| &rest[..end]))
}

/// Where the byte first is. Most fields are short, and for those a call costs more than a look at 64 bytes.
#[inline(always)]
fn find(byte: u8, bytes: &[u8]) -> Option<usize> {
    match bytes.first_chunk::<64>().map(|start| places_of(start, byte)) {
        None => memchr(byte, bytes),
        Some(0) => memchr(byte, &bytes[64..]).map(|at| at + 64),
        Some(places) => Some(places.trailing_zeros() as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(spec: KeySpec, line: &str) -> Option<&str> {
        let keys = Keys { spec, key_type: KeyType::Text };
        keys.extractor().text(line.as_bytes()).map(|text| str::from_utf8(text).unwrap())
    }

    #[test]
    fn fields_are_counted_from_one_and_may_be_empty() {
        let field = |number, line| {
            text(KeySpec::Field { number: NonZeroUsize::new(number).unwrap(), delimiter: b',' }, line)
        };
        assert_eq!(field(1, "a,b,,d"), Some("a"));
        assert_eq!(field(2, "a,b,,d"), Some("b"));
        assert_eq!(field(3, "a,b,,d"), Some(""));
        assert_eq!(field(4, "a,b,,d"), Some("d"));
        assert_eq!(field(5, "a,b,,d"), None);
        assert_eq!(field(1, ""), Some(""));
        assert_eq!(field(2, ""), None);
        assert_eq!(field(2, "a,"), Some(""));
    }

    #[test]
    fn fields_of_any_length_are_found() {
        let number = NonZeroUsize::new(2).unwrap();
        for (before, within, after) in (0..300).flat_map(|n| [(n, 7, 90), (3, n, 90), (3, 7, n), (n, n, 0)]) {
            let (a, b, c) = ("a".repeat(before), "b".repeat(within), "c".repeat(after));
            let spec = KeySpec::Field { number, delimiter: b' ' };
            assert_eq!(text(spec, &format!("{a} {b} {c}")), Some(&*b));
        }
    }

    #[test]
    fn a_pattern_gives_its_first_group_or_its_match() {
        let regex = |pattern: &str, line| text(KeySpec::Regex(Regex::new(pattern).unwrap()), line);
        assert_eq!(regex(r"\d+", "user 42 of 99"), Some("42"));
        assert_eq!(regex(r"of (\d+)", "user 42 of 99"), Some("99"));
        assert_eq!(regex(r"\d+", "nobody"), None);
        // A group that takes no part in the match gives no key.
        assert_eq!(regex(r"x|user (\d+)", "x"), None);
        assert_eq!(regex(r"(?-u)\xff(.)", "a"), None);
    }

    #[test]
    fn records_without_a_key_are_counted() {
        let keys = Keys { spec: KeySpec::Regex(Regex::new("a").unwrap()), key_type: KeyType::Text };
        let mut extractor = keys.extractor();
        let found = ["a", "b", "c", "ba"].map(|line| extractor.text(line.as_bytes()).is_some());
        assert_eq!((found, extractor.skipped()), ([true, false, false, true], 2));
    }
}
