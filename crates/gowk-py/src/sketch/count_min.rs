//! How often each key came, in a table of fixed size.

use crate::{
    column::{Column, Digests, Nulls},
    error::{AtPath, OrRaise},
    hash::PySeed,
    key,
    lock::{Lock, MOST_ALIGNED},
};
use gowk::{Hasher, Merge, Persist, Seed};
use pyo3::{
    prelude::*,
    types::{PyByteArray, PyBytes, PyTuple, PyType},
};
use std::path::PathBuf;

/// How often each key came; never too low, and too high by at most a part `error` of all, but with the chance `miss`.
///
/// >>> CountMin(["a", "a", "b"])["a"]
/// 2
#[pyclass(module = "gowk", frozen)]
pub(crate) struct CountMin {
    hasher: Hasher,
    table: Lock<gowk::CountMin>,
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<CountMin>()
}

pub(crate) fn wrap(py: Python<'_>, table: gowk::CountMin) -> PyResult<Bound<'_, PyAny>> {
    Ok(Bound::new(py, CountMin::of(table))?.into_any())
}

const _: () = assert!(align_of::<CountMin>() <= MOST_ALIGNED);

impl CountMin {
    fn of(table: gowk::CountMin) -> Self {
        Self { hasher: *table.hasher(), table: Lock::new(table) }
    }
}

#[pymethods]
impl CountMin {
    #[new]
    #[pyo3(signature = (keys = None, /, *, error = 0.0001, miss = 0.01, seed = None, hardened = false))]
    fn new(
        keys: Option<&Bound<'_, PyAny>>,
        error: f64,
        miss: f64,
        seed: Option<PySeed>,
        hardened: bool,
    ) -> PyResult<Self> {
        let seed = seed.map_or_else(Seed::random, |seed| seed.0);
        let hasher = if hardened { Hasher::hardened(seed) } else { Hasher::new(seed) };
        let params = gowk::CountMinParams::for_error(error, miss).or_raise()?;
        let table = Self::of(gowk::CountMin::with_params(params, hasher).or_raise()?);
        if let Some(keys) = keys {
            table.update(keys, Nulls::Error)?;
        }
        Ok(table)
    }

    /// Counts a key.
    #[pyo3(signature = (key, times = 1, /))]
    fn add(&self, key: &Bound<'_, PyAny>, times: u64) -> PyResult<()> {
        let digest = key::digest(key, &self.hasher)?;
        self.table.write(key.py()).add_digest(digest, times);
        Ok(())
    }

    /// Counts many keys, from arrays and iterables.
    #[pyo3(signature = (keys, /, *, nulls = Nulls::Error), text_signature = "($self, keys, /, *, nulls='error')")]
    fn update(&self, keys: &Bound<'_, PyAny>, nulls: Nulls) -> PyResult<()> {
        let mut digests = Digests::new(&self.hasher);
        Column::new(keys)?.each_chunk(keys.py(), nulls, false, &mut digests, |digests| {
            self.table.write_detached().add_many(&digests.held);
            digests.held.clear();
            Ok(())
        })?;
        Ok(())
    }

    /// How often the key came, at most.
    #[pyo3(signature = (key, /))]
    fn count(&self, key: &Bound<'_, PyAny>) -> PyResult<u64> {
        let digest = key::digest(key, &self.hasher)?;
        Ok(self.table.read(key.py()).estimate_digest(digest))
    }

    fn __getitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<u64> {
        self.count(key)
    }

    /// How often each of these keys came, at most, as a numpy array of uint64.
    #[pyo3(signature = (keys, /, *, nulls = Nulls::Error), text_signature = "($self, keys, /, *, nulls='error')")]
    fn count_many<'py>(&self, keys: &Bound<'py, PyAny>, nulls: Nulls) -> PyResult<Bound<'py, PyAny>> {
        let py = keys.py();
        let mut counts = Vec::new();
        let mut digests = Digests::new(&self.hasher);
        let null_places = Column::new(keys)?.each_chunk(py, nulls, true, &mut digests, |digests| {
            counts.append(&mut self.table.read_detached().estimate_many(&digests.held));
            digests.held.clear();
            Ok(())
        })?;
        null_places.into_iter().for_each(|place| counts[place] = 0);
        let bytes: Vec<u8> = counts.iter().flat_map(|count| count.to_le_bytes()).collect();
        let numpy = py.import("numpy")?;
        match counts.len() {
            0 => numpy.call_method1("zeros", (0, "<u8")),
            _ => numpy.call_method1("frombuffer", (PyByteArray::new(py, &bytes), "<u8")),
        }
    }

    /// How many keys were counted, each as often as it came.
    #[getter]
    fn total(&self, py: Python<'_>) -> u64 {
        self.table.read(py).total()
    }

    /// By how much a count may now be too high, but with the chance that was given.
    #[getter]
    fn error(&self, py: Python<'_>) -> f64 {
        self.table.read(py).error()
    }

    /// The memory that the table takes, in bytes.
    #[getter]
    fn size_in_bytes(&self, py: Python<'_>) -> usize {
        self.table.read(py).size_in_bytes()
    }

    /// Forgets all counts.
    fn clear(&self, py: Python<'_>) {
        self.table.write(py).clear();
    }

    fn __ior__(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<()> {
        let (ours, theirs) = (&slf.get().table, &other.get().table);
        slf.py().detach(|| {
            Lock::with_both(
                ours,
                theirs,
                |table| Ok(table.clone()),
                |ours, theirs| ours.union(theirs).or_raise(),
            )
        })
    }

    fn __or__(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<Self> {
        let mut both = slf.get().table.read(slf.py()).clone();
        both.union(&*other.get().table.read(slf.py())).or_raise()?;
        Ok(Self::of(both))
    }

    /// Another table of the same counts.
    fn copy(&self, py: Python<'_>) -> Self {
        Self::of(self.table.read(py).clone())
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        let Ok(other) = other.cast::<Self>() else { return Ok(py.NotImplemented()) };
        let same = slf.is(other) || {
            let ours = slf.get().table.read(py).clone();
            ours == *other.get().table.read(py)
        };
        Ok(same.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let table = self.table.read(py);
        let params = table.params();
        format!("<gowk.CountMin width={} depth={} total={}>", params.width(), params.depth(), table.total())
    }

    /// Writes the table to a file: whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.table.read_detached().save(&path).at(&path))
    }

    /// The bytes of the file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.table.read_detached().to_bytes());
        PyBytes::new(py, &bytes)
    }

    /// The table in these bytes of a file, every one of them checked.
    #[classmethod]
    #[pyo3(signature = (data, /))]
    fn from_bytes(_class: &Bound<'_, PyType>, data: &Bound<'_, PyBytes>) -> PyResult<Self> {
        Ok(Self::of(gowk::CountMin::from_bytes(data.as_bytes()).or_raise()?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let rebuild = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((rebuild, PyTuple::new(py, [self.to_bytes(py)])?))
    }
}
