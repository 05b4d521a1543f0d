//! Many keys at once: arrays of numpy and Arrow, Series of pandas and polars, and any other iterable.
//!
//! | what | how | copies |
//! |---|---|---|
//! | numpy integers, `S` and `U` arrays; `array.array`, memoryviews | their memory | none, unless strided or of foreign byte order |
//! | whatever has `__arrow_c_stream__` or `__arrow_c_array__`: pyarrow, polars, ... | the Arrow C data interface | none |
//! | pandas Series and Index | their numpy or Arrow memory | none |
//! | object arrays, lists, generators, ... | one Python object after another | the digests of a chunk |
//!
//! All but the last work without the interpreter. Nulls are an error unless the caller says to skip them.

mod arrow;
#[allow(unsafe_code, reason = "memory that Python owns; the one door")]
mod memory;
mod numpy;
mod run;

use crate::key::{self, Sink};
use gowk::{Digest, KeyHash};
use memory::Lent;
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyByteArray, PyBytes, PyFloat, PyString},
};
use std::ops::Range;

pub(crate) use run::Run;

/// How many keys are put in a row before they are put in or asked: they stay in the first-level cache, and the memory that they
/// will touch is on its way for most of them.
pub(crate) const CHUNK: usize = 2048;

/// What to do about nulls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// Refuse.
    Error,
    /// Leave them out; asked for, they are not in the set.
    Skip,
}

impl<'py> FromPyObject<'_, 'py> for Nulls {
    type Error = PyErr;

    fn extract(word: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match word.extract::<&str>() {
            Ok("error") => Ok(Self::Error),
            Ok("skip") => Ok(Self::Skip),
            _ => Err(PyValueError::new_err("nulls= is \"error\" or \"skip\"")),
        }
    }
}

/// Many keys.
pub(crate) enum Column<'py> {
    /// Memory: to be worked on without the interpreter.
    Parts(Parts),
    /// Python objects.
    Objects(Bound<'py, PyAny>),
}

/// Runs of keys in memory.
pub(crate) struct Parts(Vec<Part>);

enum Part {
    /// Little-endian integers.
    Ints { memory: Lent, width: usize, signed: bool },
    /// Bytes of one width each; zeros at the end are padding, as numpy has it.
    Fixed { memory: Lent, width: usize, count: usize },
    /// Text in UTF-32 of one width each, the same.
    Wide { memory: Lent, width: usize },
    /// An array of Arrow.
    Arrow(arrow::Keys),
}

impl<'py> Column<'py> {
    /// The keys that this object holds.
    pub(crate) fn new(keys: &Bound<'py, PyAny>) -> PyResult<Self> {
        if keys.is_instance_of::<PyString>()
            || keys.is_instance_of::<PyBytes>()
            || keys.is_instance_of::<PyByteArray>()
        {
            return Err(PyTypeError::new_err(format!(
                "{} is one key, and many are wanted here; give a list of them, or use add() or in",
                keys.get_type().name()?
            )));
        }
        if let Some(part) = numpy::part(keys)? {
            return Ok(part);
        }
        match arrow::parts(keys)? {
            Some(parts) => Ok(Self::Parts(Parts(parts))),
            None => Ok(Self::Objects(keys.clone())),
        }
    }

    /// How many keys there are, as far as one can know beforehand.
    pub(crate) fn len(&self) -> Option<usize> {
        match self {
            Self::Parts(parts) => Some(parts.len()),
            Self::Objects(keys) => keys.len().ok(),
        }
    }

    /// Whether they are known to be text or bytes, for those who take only integers.
    pub(crate) fn refuse_bytes(&self, who: &str) -> PyResult<()> {
        match self {
            Self::Parts(Parts(parts)) if parts.iter().any(|part| !part.is_ints()) => {
                Err(PyTypeError::new_err(format!("a {who} holds integers, not text or bytes")))
            }
            _ => Ok(()),
        }
    }

    /// Hands the keys to `sink` and calls `done` whenever it holds a chunk of them, and at the end; `done` empties it. `done`
    /// works without the interpreter.
    ///
    /// Places matter to those who ask: with `keep_places` the sink is told of every null. Gives the places of the nulls.
    pub(crate) fn each_chunk<S: Sink + Send>(
        &self,
        py: Python<'_>,
        nulls: Nulls,
        keep_places: bool,
        sink: &mut S,
        mut done: impl FnMut(&mut S) -> PyResult<()> + Send,
    ) -> PyResult<Vec<usize>> {
        match self {
            Self::Parts(parts) => parts.each_range(py, nulls, |part, range| {
                part.feed(range, keep_places, sink);
                done(sink)
            }),
            Self::Objects(keys) => {
                let (mut places, mut held, mut at) = (Vec::new(), 0, 0);
                for item in keys.try_iter()? {
                    let item = item?;
                    if nulls == Nulls::Skip && is_null(&item) {
                        places.push(at);
                        if keep_places {
                            sink.null();
                            held += 1;
                        }
                    } else {
                        key::feed(&item, sink)?;
                        held += 1;
                    }
                    at += 1;
                    if held == CHUNK {
                        py.detach(|| done(sink))?;
                        held = 0;
                    }
                }
                py.detach(|| done(sink))?;
                Ok(places)
            }
        }
    }
}

/// None, a float that is not a number, and what pandas has for "not available".
fn is_null(item: &Bound<'_, PyAny>) -> bool {
    item.is_none()
        || item.cast::<PyFloat>().is_ok_and(|float| float.value().is_nan())
        || item.get_type().name().is_ok_and(|name| name == "NAType" || name == "NaTType")
}

impl Parts {
    fn len(&self) -> usize {
        self.0.iter().map(Part::len).sum()
    }

    /// Calls `work` for one chunk of keys after another, without the interpreter. Gives the places of the nulls.
    fn each_range<'a>(
        &'a self,
        py: Python<'_>,
        nulls: Nulls,
        mut work: impl FnMut(&'a Part, Range<usize>) -> PyResult<()> + Send,
    ) -> PyResult<Vec<usize>> {
        if nulls == Nulls::Error {
            self.refuse_nulls()?;
        }
        py.detach(|| {
            for part in &self.0 {
                for at in (0..part.len()).step_by(CHUNK) {
                    work(part, at..part.len().min(at + CHUNK))?;
                }
            }
            Ok(self.null_places())
        })
    }

    fn refuse_nulls(&self) -> PyResult<()> {
        let nulls: usize = self.0.iter().map(Part::null_count).sum();
        match nulls {
            0 => Ok(()),
            _ => Err(PyValueError::new_err(format!(
                "{nulls} of {} keys are null; drop them, or say nulls=\"skip\"",
                self.len()
            ))),
        }
    }

    /// Where the nulls are.
    fn null_places(&self) -> Vec<usize> {
        let (mut places, mut start) = (Vec::new(), 0);
        for part in &self.0 {
            if let Part::Arrow(keys) = part {
                places.extend(keys.null_places().map(|place| start + place));
            }
            start += part.len();
        }
        places
    }
}

impl Part {
    fn len(&self) -> usize {
        match self {
            Self::Ints { memory, width, .. } | Self::Wide { memory, width } => memory.bytes().len() / width,
            Self::Fixed { count, .. } => *count,
            Self::Arrow(keys) => keys.len(),
        }
    }

    fn null_count(&self) -> usize {
        match self {
            Self::Arrow(keys) => keys.null_count(),
            _ => 0,
        }
    }

    fn is_ints(&self) -> bool {
        match self {
            Self::Ints { .. } => true,
            Self::Fixed { .. } | Self::Wide { .. } => false,
            Self::Arrow(keys) => keys.are_ints(),
        }
    }

    /// Hands some of the keys to a sink.
    fn feed(&self, range: Range<usize>, keep_places: bool, sink: &mut impl Sink) {
        let cut = |memory: &'_ Lent, width: usize| -> Range<usize> {
            debug_assert!(range.end * width <= memory.bytes().len());
            range.start * width..range.end * width
        };
        match self {
            Self::Ints { memory, width, signed } => {
                let bytes = &memory.bytes()[cut(memory, *width)];
                match (width, signed) {
                    (1, false) => bytes.iter().for_each(|value| sink.int(u64::from(*value), false)),
                    (1, true) => bytes.iter().for_each(|value| signed_int(i64::from(*value as i8), sink)),
                    (2, false) => chunks(bytes, u16::from_le_bytes, |value| sink.int(value.into(), false)),
                    (2, true) => chunks(bytes, i16::from_le_bytes, |value| signed_int(value.into(), sink)),
                    (4, false) => chunks(bytes, u32::from_le_bytes, |value| sink.int(value.into(), false)),
                    (4, true) => chunks(bytes, i32::from_le_bytes, |value| signed_int(value.into(), sink)),
                    (_, false) => chunks(bytes, u64::from_le_bytes, |value| sink.int(value, false)),
                    (_, true) => chunks(bytes, i64::from_le_bytes, |value| signed_int(value, sink)),
                }
            }
            Self::Wide { memory, width } => {
                let mut text = String::new();
                for wide in memory.bytes()[cut(memory, *width)].chunks_exact(*width) {
                    text.clear();
                    let (units, _) = wide.as_chunks::<4>();
                    let end = units.iter().rposition(|unit| *unit != [0; 4]).map_or(0, |last| last + 1);
                    // `numpy::part` has seen that they are characters.
                    text.extend(
                        units[..end].iter().filter_map(|unit| char::from_u32(u32::from_le_bytes(*unit))),
                    );
                    sink.bytes(text.as_bytes());
                }
            }
            Self::Arrow(keys) if keys.are_ints() => keys.feed_ints(range, keep_places, sink),
            Self::Fixed { .. } | Self::Arrow(_) => {
                let mut slices = Vec::with_capacity(range.len());
                self.slices(range, keep_places, &mut slices);
                slices.into_iter().for_each(|bytes| sink.bytes(bytes));
            }
        }
    }

    /// The bytes of some of the keys, where they lie in memory as they are.
    fn slices<'a>(&'a self, range: Range<usize>, keep_places: bool, slices: &mut Vec<&'a [u8]>) {
        match self {
            Self::Fixed { width: 0, .. } => slices.extend(range.map(|_| &b""[..])),
            Self::Fixed { memory, width, .. } => {
                let bytes = &memory.bytes()[range.start * width..range.end * width];
                slices.extend(bytes.chunks_exact(*width).map(|bytes| {
                    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                    &bytes[..end]
                }));
            }
            Self::Arrow(keys) => keys.slices(range, keep_places, slices),
            Self::Ints { .. } | Self::Wide { .. } => {
                unreachable!("integers and UTF-32 are not keys as they lie")
            }
        }
    }
}

#[inline(always)]
fn signed_int(value: i64, sink: &mut impl Sink) {
    sink.int(value as u64, value < 0);
}

#[inline(always)]
fn chunks<const N: usize, T>(bytes: &[u8], read: impl Fn([u8; N]) -> T, each: impl FnMut(T)) {
    bytes.as_chunks::<N>().0.iter().map(|chunk| read(*chunk)).for_each(each);
}

/// A sink of digests.
pub(crate) struct Digests<'a, H> {
    hash: &'a H,
    pub(crate) held: Vec<Digest>,
}

impl<'a, H: KeyHash> Digests<'a, H> {
    pub(crate) fn new(hash: &'a H) -> Self {
        Self { hash, held: Vec::with_capacity(CHUNK) }
    }
}

impl<H: KeyHash> Sink for Digests<'_, H> {
    #[inline(always)]
    fn int(&mut self, word: u64, _: bool) {
        self.held.push(self.hash.word(word));
    }

    #[inline(always)]
    fn bytes(&mut self, bytes: &[u8]) {
        self.held.push(self.hash.bytes(bytes));
    }

    fn null(&mut self) {
        self.held.push(Digest::default());
    }
}
