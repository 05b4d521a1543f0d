//! Exact sets of integers: [`Bitmap`](ids::Bitmap), [`RoaringSet`](ids::RoaringSet) and [`TwoBitMap`](two_bit::TwoBitMap).

mod ids;
mod sink;
mod two_bit;

use crate::{
    error::{AtPath, OrRaise},
    sketch,
};
use gowk::{Family, Persist, format::roaring};
use pyo3::{exceptions::PyTypeError, prelude::*};
use std::path::Path;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    ids::register(module)?;
    two_bit::register(module)
}

/// What a file holds whose family is no filter's.
pub(crate) fn open<'py>(
    py: Python<'py>,
    family: &str,
    path: &Path,
    map: bool,
) -> PyResult<Bound<'py, PyAny>> {
    match family {
        _ if family == Family::Bitmap.name() && map => {
            ids::wrap(py, ids::Ids::Mapped(py.detach(|| gowk::Bitmap::open(path)).at(path)?))
        }
        _ if family == Family::Bitmap.name() => {
            ids::wrap(py, ids::Ids::Flat(py.detach(|| gowk::Bitmap::load(path)).at(path)?))
        }
        _ if family == Family::TwoBitMap.name() => {
            two_bit::wrap(py, py.detach(|| gowk::TwoBitMap::load(path)).at(path)?)
        }
        _ if family == Family::CountMin.name() => {
            sketch::wrap_count_min(py, py.detach(|| gowk::CountMin::load(path)).at(path)?)
        }
        _ if family == Family::TopK.name() => {
            sketch::wrap_top_k(py, py.detach(|| gowk::TopK::load(path)).at(path)?)
        }
        other => Err(PyTypeError::new_err(format!("{}: {other} is not known here", path.display()))),
    }
}

/// What these bytes hold, whose family is no filter's.
pub(crate) fn from_bytes<'py>(py: Python<'py>, family: &str, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    match family {
        _ if family == Family::Bitmap.name() => {
            ids::wrap(py, ids::Ids::Flat(gowk::Bitmap::from_bytes(bytes).or_raise()?))
        }
        _ if family == Family::TwoBitMap.name() => {
            two_bit::wrap(py, gowk::TwoBitMap::from_bytes(bytes).or_raise()?)
        }
        _ if family == Family::CountMin.name() => {
            sketch::wrap_count_min(py, gowk::CountMin::from_bytes(bytes).or_raise()?)
        }
        _ if family == Family::TopK.name() => {
            sketch::wrap_top_k(py, gowk::TopK::from_bytes(bytes).or_raise()?)
        }
        other => Err(PyTypeError::new_err(format!("{other} is not known here"))),
    }
}

/// The Roaring set in a file.
pub(crate) fn open_roaring<'py>(py: Python<'py>, path: &Path) -> PyResult<Bound<'py, PyAny>> {
    let set = py.detach(|| {
        let bytes = std::fs::read(path).at(path)?;
        roaring::from_bytes(&bytes).at(path)
    })?;
    ids::wrap(py, ids::Ids::Roaring(set.0))
}
