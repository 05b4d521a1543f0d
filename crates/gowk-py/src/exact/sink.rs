//! Keys as ids: integers from 0 on.

use crate::{
    column::{CHUNK, Column, Nulls},
    error::RangeException,
    key::{self, Sink},
};
use pyo3::{exceptions::PyTypeError, prelude::*};

/// Takes ids; what is none is noted.
pub(super) struct IdSink {
    pub(super) ids: Vec<u64>,
    /// The first one below 0.
    negative: Option<i64>,
    is_bytes: bool,
}

impl Sink for IdSink {
    #[inline(always)]
    fn int(&mut self, word: u64, negative: bool) {
        if negative && self.negative.is_none() {
            self.negative = Some(word as i64);
        }
        self.ids.push(word);
    }

    fn bytes(&mut self, _: &[u8]) {
        self.is_bytes = true;
        self.ids.push(0);
    }

    fn null(&mut self) {
        self.ids.push(0);
    }
}

impl IdSink {
    pub(super) fn new() -> Self {
        Self { ids: Vec::with_capacity(CHUNK), negative: None, is_bytes: false }
    }

    /// An error if one of them was no id.
    pub(super) fn check(&self) -> PyResult<()> {
        match self.negative {
            _ if self.is_bytes => Err(PyTypeError::new_err("ids are integers from 0 to 2**64 - 1")),
            Some(id) => Err(RangeException::new_err(format!("{id} is below 0, and ids are not"))),
            None => Ok(()),
        }
    }
}

/// An id; none for an integer that cannot be one.
pub(super) fn id(key: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
    let mut sink = IdSink { ids: Vec::with_capacity(1), negative: None, is_bytes: false };
    if key.is_instance_of::<pyo3::types::PyString>() || key.is_instance_of::<pyo3::types::PyBytes>() {
        return Err(PyTypeError::new_err("ids are integers from 0 to 2**64 - 1"));
    }
    key::feed(key, &mut sink)?;
    // What has more than 64 bits comes as bytes.
    Ok(if sink.is_bytes || sink.negative.is_some() { None } else { sink.ids.pop() })
}

/// As [`id`], where there must be one.
pub(super) fn expect_id(key: &Bound<'_, PyAny>) -> PyResult<u64> {
    id(key)?.ok_or_else(|| RangeException::new_err(format!("{key} is not among the ids 0..2**64 - 1")))
}

/// All ids of a column, in chunks, to `each`; gives the places of nulls.
pub(super) fn each_chunk(
    keys: &Bound<'_, PyAny>,
    nulls: Nulls,
    keep_places: bool,
    mut each: impl FnMut(&[u64]) -> PyResult<()> + Send,
) -> PyResult<Vec<usize>> {
    let column = Column::new(keys)?;
    column.refuse_bytes("set of ids")?;
    let mut sink = IdSink::new();
    column.each_chunk(keys.py(), nulls, keep_places, &mut sink, |sink| {
        sink.check()?;
        each(&sink.ids)?;
        sink.ids.clear();
        Ok(())
    })
}
