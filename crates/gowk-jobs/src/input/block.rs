//! A block of whole records, and the ways through it.

use super::source::Source;
use memchr::{Memchr, memchr_iter};

/// What ends a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Separator {
    /// `\n`, with or without a `\r` before it.
    #[default]
    Newline,
    /// A zero byte, as of `find -print0`; then newlines are part of a record.
    Nul,
}

impl Separator {
    /// The byte.
    pub fn byte(self) -> u8 {
        match self {
            Self::Newline => b'\n',
            Self::Nul => 0,
        }
    }
}

/// Whole records of one source, in a buffer that is used again and again.
#[derive(Debug)]
pub struct Block {
    pub(super) buffer: Vec<u8>,
    pub(super) len: usize,
    pub(super) source: Source,
    pub(super) separator: Separator,
    pub(super) number: u64,
    pub(super) source_number: usize,
    pub(super) first_line: u64,
    pub(super) count: u64,
}

impl Default for Block {
    /// An empty block, to be read into.
    fn default() -> Self {
        Self {
            buffer: Vec::new(),
            len: 0,
            source: Source::stdin(),
            separator: Separator::Newline,
            number: 0,
            source_number: 0,
            first_line: 1,
            count: 0,
        }
    }
}

impl Block {
    /// The records with their ends; the last record of a source may have none.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[..self.len]
    }

    /// Which block this is, from 0, over all sources.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// What ends its records.
    pub fn separator(&self) -> Separator {
        self.separator
    }

    /// Where it is from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The place of its source among the sources of the input, from 0.
    pub fn source_number(&self) -> usize {
        self.source_number
    }

    /// The line of its first record in the source, from 1.
    pub fn first_line(&self) -> u64 {
        self.first_line
    }

    /// How many records it holds. Known without looking at them.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The records, without their ends.
    pub fn lines(&self) -> Lines<'_> {
        Lines::new(self.bytes(), self.separator)
    }

    /// The records with their line numbers.
    pub fn records(&self) -> Records<'_> {
        Records { lines: self.lines(), number: self.first_line }
    }
}

/// The records of some bytes, without their ends.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    bytes: &'a [u8],
    start: usize,
    ends: Memchr<'a>,
    newline: bool,
}

impl<'a> Lines<'a> {
    /// Those of `bytes`: each ends with a separator, but for the last, which may.
    pub fn new(bytes: &'a [u8], separator: Separator) -> Self {
        let ends = memchr_iter(separator.byte(), bytes);
        Self { bytes, start: 0, ends, newline: separator == Separator::Newline }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let Some(end) = self.ends.next() else {
            // The last record of a source, if it lacks its end. There was no `\n`, so a `\r` is a byte like others.
            let last = &self.bytes[self.start..];
            self.start = self.bytes.len();
            return (!last.is_empty()).then_some(last);
        };
        let line = &self.bytes[self.start..end];
        self.start = end + 1;
        match line {
            [line @ .., b'\r'] if self.newline => Some(line),
            _ => Some(line),
        }
    }
}

impl std::iter::FusedIterator for Lines<'_> {}

/// A record and its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The record without its end.
    pub line: &'a [u8],
    /// The line of its source, from 1.
    pub number: u64,
}

/// The records of a block, with their line numbers.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    lines: Lines<'a>,
    number: u64,
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    #[inline]
    fn next(&mut self) -> Option<Record<'a>> {
        let line = self.lines.next()?;
        let number = self.number;
        self.number += 1;
        Some(Record { line, number })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &'static str, separator: Separator) -> Vec<&'static str> {
        Lines::new(text.as_bytes(), separator).map(|line| str::from_utf8(line).unwrap()).collect()
    }

    #[test]
    fn a_record_ends_with_its_separator_or_with_the_bytes() {
        let lines = |text| split(text, Separator::Newline);
        assert_eq!(lines(""), Vec::<&str>::new());
        assert_eq!(lines("\n"), [""]);
        assert_eq!(lines("a"), ["a"]);
        assert_eq!(lines("a\n"), ["a"]);
        assert_eq!(lines("a\n\nb\n\n"), ["a", "", "b", ""]);
        assert_eq!(lines("a\r\n\r\nb\r\r\nc\r"), ["a", "", "b\r", "c\r"]);
    }

    #[test]
    fn nul_leaves_newlines_alone() {
        assert_eq!(split("a\r\n\0b\n\0", Separator::Nul), ["a\r\n", "b\n"]);
    }
}
