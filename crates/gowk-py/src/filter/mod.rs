//! The filters: one class a family, all of them [`Filter`](base::Filter)s.
//!
//! ```text
//! Filter            in, contains_many, |, &, ==, copy, save, to_bytes, stats ...
//!   BinaryFuse      built once
//!   MutableFilter   add, update, |=, &=, clear
//!     BlockedBloom Bloom SplitBlockBloom ScalableBloom Window
//!     Cuckoo CountingBloom     discard, remove, count
//!     ForeignFilter            another system's
//! ```

mod ask;
mod base;
mod families;
mod foreign;
#[allow(unsafe_code, reason = "a filter that is reached without a lock while the interpreter is one")]
mod guarded;
mod held;
#[allow(unsafe_code, reason = "a method as the interpreter itself calls it")]
mod one;
mod stats;

pub(crate) use base::{Filter, bools};
pub(crate) use held::Held;

use crate::{
    error::{AtPath, OrRaise, at_path},
    hash::Hash,
};
use base::MutableFilter;
use gowk::{AnyFilter, Filter as _, OpenError, Persist, format::foreign::Format};
use pyo3::{buffer::PyBuffer, prelude::*, types::PyBytes};
use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Filter>()?;
    module.add_class::<MutableFilter>()?;
    module.add_class::<stats::PyStats>()?;
    families::register(module)?;
    foreign::register(module)?;
    module.add_function(wrap_pyfunction!(open, module)?)?;
    module.add_function(wrap_pyfunction!(load, module)?)?;
    module.add_function(wrap_pyfunction!(from_bytes, module)?)
}

/// The Python object of a filter, of the class of its family.
fn wrap(py: Python<'_>, filter: Filter) -> PyResult<Bound<'_, PyAny>> {
    families::wrap(py, filter)
}

/// The Python object of a filter of our own.
pub(crate) fn wrap_own(py: Python<'_>, held: Held) -> PyResult<Bound<'_, PyAny>> {
    let hasher = match &held {
        Held::Heap(filter) => *filter.hasher(),
        Held::Mapped(filter) => *filter.hasher(),
        Held::Foreign(filter) => *filter.hasher(),
    };
    wrap(py, Filter::new(Hash::Own(hasher), held))
}

/// Maps a filter or set of any kind, told by the bytes of its file: one of gowk's own, or another system's.
///
/// O(1): the bits are read as they are asked for, and shared by all processes that map the file. `key_type` says what the
/// integers of another system's filter are ("i32", "i64", "u64"), where that matters.
#[pyfunction]
#[pyo3(signature = (path, *, key_type = None))]
fn open<'py>(py: Python<'py>, path: PathBuf, key_type: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
    if let Some(format) = py.detach(|| sniff(&path))? {
        return foreign::open(py, &path, format, key_type, None);
    }
    match py.detach(|| AnyFilter::open(&path)) {
        Ok(filter) => wrap_own(py, Held::Mapped(filter)),
        Err(error) => other_kind(py, &path, error, true),
    }
}

/// Reads a filter or set of any kind into memory, every byte of it checked; it can be changed.
#[pyfunction]
#[pyo3(signature = (path, *, key_type = None))]
fn load<'py>(py: Python<'py>, path: PathBuf, key_type: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
    if let Some(format) = py.detach(|| sniff(&path))? {
        return foreign::open(py, &path, format, key_type, None);
    }
    match py.detach(|| AnyFilter::load(&path)) {
        Ok(filter) => wrap_own(py, Held::Heap(filter)),
        Err(error) => other_kind(py, &path, error, false),
    }
}

/// The filter or set of any kind in these bytes of a file, every one of them checked.
#[pyfunction]
#[pyo3(signature = (data, /))]
fn from_bytes<'py>(data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    let copy;
    let bytes = match data.cast::<PyBytes>() {
        Ok(bytes) => bytes.as_bytes(),
        Err(_) => {
            copy = PyBuffer::<u8>::get(data)?.to_vec(py)?;
            &copy
        }
    };
    match py.detach(|| AnyFilter::from_bytes(bytes)) {
        Ok(filter) => wrap_own(py, Held::Heap(filter)),
        Err(OpenError::Family { found, .. }) => crate::exact::from_bytes(py, found, bytes),
        Err(error) => Err(error).or_raise(),
    }
}

/// A file that is no filter of keys: a set of integers or a sketch, or a fault.
fn other_kind<'py>(py: Python<'py>, path: &Path, error: OpenError, map: bool) -> PyResult<Bound<'py, PyAny>> {
    match error {
        OpenError::Family { found, .. } => crate::exact::open(py, found, path, map),
        error => Err(error).at(path),
    }
}

/// The format of another system, if the bytes of the file tell one.
fn sniff(path: &Path) -> PyResult<Option<Format>> {
    let read = || {
        let mut file = File::open(path)?;
        let len = file.metadata()?.len();
        let mut beginning = Vec::new();
        Read::by_ref(&mut file).take(64 << 10).read_to_end(&mut beginning)?;
        Ok((beginning, len))
    };
    let (beginning, len) = read().map_err(|error| at_path(&error, path))?;
    Ok(Format::sniff(&beginning, len))
}
