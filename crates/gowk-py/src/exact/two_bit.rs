//! Never, once, or more often: two bits a value.

use super::{
    ids::{array, range_of},
    sink::{each_chunk, expect_id, id},
};
use crate::{
    column::Nulls,
    error::{AtPath, OrRaise},
    lock::Lock,
};
use gowk::{Merge, Persist, Seen};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyTuple, PyType},
};
use std::path::PathBuf;

/// Which values of a range occur never, once, or more often; exact.
///
/// >>> TwoBitMap(10, [1, 2, 2]).once().tolist()
/// [1]
#[pyclass(module = "gowk", frozen)]
pub(crate) struct TwoBitMap {
    map: Lock<gowk::TwoBitMap>,
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<TwoBitMap>()
}

pub(super) fn wrap(py: Python<'_>, map: gowk::TwoBitMap) -> PyResult<Bound<'_, PyAny>> {
    Ok(Bound::new(py, TwoBitMap { map: Lock::new(map) })?.into_any())
}

fn times(seen: Seen) -> u8 {
    match seen {
        Seen::Never => 0,
        Seen::Once => 1,
        Seen::More => 2,
    }
}

#[pymethods]
impl TwoBitMap {
    #[new]
    #[pyo3(signature = (range, values = None, /))]
    fn new(range: &Bound<'_, PyAny>, values: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let map = Self { map: Lock::new(gowk::TwoBitMap::new(range_of(range)?).or_raise()?) };
        if let Some(values) = values {
            map.update(values, Nulls::Error)?;
        }
        Ok(map)
    }

    /// Notes a value. How often it had come before: 0, 1, or 2 for more.
    #[pyo3(signature = (value, /))]
    fn add(&self, value: &Bound<'_, PyAny>) -> PyResult<u8> {
        let py = value.py();
        let value = expect_id(value)?;
        self.map.write(py).add(value).or_raise().map(times)
    }

    /// Notes many values, from arrays and iterables.
    #[pyo3(signature = (values, /, *, nulls = Nulls::Error), text_signature = "($self, values, /, *, nulls='error')")]
    fn update(&self, values: &Bound<'_, PyAny>, nulls: Nulls) -> PyResult<()> {
        each_chunk(values, nulls, false, |values| self.map.write_detached().add_many(values).or_raise())?;
        Ok(())
    }

    /// How often a value has come: 0, 1, or 2 for more.
    #[pyo3(signature = (value, /))]
    fn count(&self, value: &Bound<'_, PyAny>) -> PyResult<u8> {
        let py = value.py();
        Ok(id(value)?.map_or(0, |value| times(self.map.read(py).state(value))))
    }

    fn __contains__(&self, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.count(value)? > 0)
    }

    /// The values that came once, in ascending order, as a numpy array of uint64.
    fn once<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let values: Vec<u64> = py.detach(|| self.map.read_detached().once().collect());
        array(py, &values)
    }

    /// The values that came more often, in ascending order, as a numpy array of uint64.
    fn more<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let values: Vec<u64> = py.detach(|| self.map.read_detached().more().collect());
        array(py, &values)
    }

    /// How many values came never, once, and more often.
    fn counts(&self, py: Python<'_>) -> (u64, u64, u64) {
        let counts = py.detach(|| self.map.read_detached().counts());
        (counts.never, counts.once, counts.more)
    }

    /// The values that the map has a place for.
    #[getter]
    fn range<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let range = self.map.read(py).range();
        py.import("builtins")?.call_method1("range", (range.start, range.end))
    }

    /// The memory that the map takes, in bytes.
    #[getter]
    fn size_in_bytes(&self, py: Python<'_>) -> usize {
        self.map.read(py).size_in_bytes()
    }

    /// Forgets all values.
    fn clear(&self, py: Python<'_>) {
        self.map.write(py).clear();
    }

    fn __ior__(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<()> {
        let (ours, theirs) = (&slf.get().map, &other.get().map);
        slf.py().detach(|| {
            Lock::with_both(ours, theirs, |map| Ok(map.clone()), |ours, theirs| ours.union(theirs).or_raise())
        })
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        let Ok(other) = other.cast::<Self>() else { return Ok(py.NotImplemented()) };
        let (ours, theirs) = (&slf.get().map, &other.get().map);
        let same = slf.is(other)
            || py.detach(|| {
                let ours = ours.read_detached().clone();
                ours == *theirs.read_detached()
            });
        Ok(same.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    /// Another map of the same values.
    fn copy(&self, py: Python<'_>) -> Self {
        Self { map: Lock::new(self.map.read(py).clone()) }
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (never, once, more) = self.counts(py);
        let range = self.map.read(py).range();
        format!(
            "<gowk.TwoBitMap range({}, {}) never={never} once={once} more={more}>",
            range.start, range.end
        )
    }

    /// Writes the map to a file: whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.map.read_detached().save(&path).at(&path))
    }

    /// The bytes of the file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.map.read_detached().to_bytes());
        PyBytes::new(py, &bytes)
    }

    /// The map in these bytes of a file, every one of them checked.
    #[classmethod]
    #[pyo3(signature = (data, /))]
    fn from_bytes(_class: &Bound<'_, PyType>, data: &Bound<'_, PyBytes>) -> PyResult<Self> {
        let map = gowk::TwoBitMap::from_bytes(data.as_bytes()).or_raise()?;
        Ok(Self { map: Lock::new(map) })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let rebuild = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((rebuild, PyTuple::new(py, [self.to_bytes(py)])?))
    }
}
