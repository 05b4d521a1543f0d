//! The keys that came most often.

use crate::{
    column::{CHUNK, Column, Nulls},
    error::{AtPath, OrRaise},
    hash::PySeed,
    key::{self, Sink},
    lock::Lock,
};
use gowk::{Hasher, Merge, Persist, Seed};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyBytes, PyInt, PyString, PyTuple, PyType},
};
use std::path::PathBuf;

/// The keys that came most often, with counts whose error is known. Keys are of one type: str, bytes or int.
///
/// >>> TopK(1, ["a", "b", "a"]).top()
/// [Heavy(key='a', count=2, error=0, sure=True)]
#[pyclass(module = "gowk", frozen)]
pub(crate) struct TopK {
    keys: KeyKind,
    summary: Lock<gowk::TopK>,
}

/// A key that came often.
#[pyclass(module = "gowk", frozen, get_all)]
pub(crate) struct Heavy {
    /// It.
    key: Py<PyAny>,
    /// How often it came, at most.
    count: u64,
    /// By how much `count` may be over, at most.
    error: u64,
    /// Whether it is surely one of the k that came most often.
    sure: bool,
}

#[pymethods]
impl Heavy {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let key = self.key.bind(py).repr()?;
        Ok(format!(
            "Heavy(key={key}, count={}, error={}, sure={})",
            self.count,
            self.error,
            if self.sure { "True" } else { "False" }
        ))
    }
}

/// What keys are, to be given back as they came.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyKind {
    Text,
    Bytes,
    Int,
}

impl KeyKind {
    fn new(class: Option<&Bound<'_, PyType>>) -> PyResult<Self> {
        let Some(class) = class else { return Ok(Self::Text) };
        let py = class.py();
        match () {
            () if class.is(py.get_type::<PyString>()) => Ok(Self::Text),
            () if class.is(py.get_type::<PyBytes>()) => Ok(Self::Bytes),
            () if class.is(py.get_type::<PyInt>()) => Ok(Self::Int),
            () => Err(PyTypeError::new_err(format!("keys= is str, bytes or int, not {}", class.name()?))),
        }
    }

    fn class(self, py: Python<'_>) -> Bound<'_, PyType> {
        match self {
            Self::Text => py.get_type::<PyString>(),
            Self::Bytes => py.get_type::<PyBytes>(),
            Self::Int => py.get_type::<PyInt>(),
        }
    }

    /// The key as Python has it.
    fn show(self, py: Python<'_>, bytes: &[u8]) -> PyResult<Py<PyAny>> {
        Ok(match self {
            Self::Text => {
                let text = PyBytes::new(py, bytes).call_method1("decode", ("utf-8", "surrogateescape"))?;
                text.unbind()
            }
            Self::Bytes => PyBytes::new(py, bytes).into_any().unbind(),
            Self::Int => match bytes.try_into().map(i64::from_le_bytes) {
                Ok(int) => int.into_pyobject(py)?.into_any().unbind(),
                Err(_) => {
                    return Err(PyValueError::new_err(
                        "a key is not the 8 bytes of an integer; say keys=bytes",
                    ));
                }
            },
        })
    }
}

/// Keys as their bytes, one after another.
struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    ints: bool,
    others: bool,
}

impl Texts {
    fn new() -> Self {
        Self { bytes: Vec::new(), ends: Vec::with_capacity(CHUNK), ints: false, others: false }
    }

    /// An error if keys are not of the kind that they shall be.
    fn check(&self, kind: KeyKind) -> PyResult<()> {
        match kind {
            KeyKind::Int if self.others => Err(PyTypeError::new_err(
                "these keys are int of 64 bits; make another TopK with keys=str or keys=bytes",
            )),
            KeyKind::Text | KeyKind::Bytes if self.ints => {
                Err(PyTypeError::new_err("these keys are str or bytes; make another TopK with keys=int"))
            }
            _ => Ok(()),
        }
    }

    fn keys(&self) -> Vec<&[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.bytes[start..*end]).collect()
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

impl Sink for Texts {
    fn int(&mut self, word: u64, negative: bool) {
        // Those above the signed ones would come back as others.
        self.others |= !negative && word > i64::MAX as u64;
        self.bytes.extend_from_slice(&word.to_le_bytes());
        self.ends.push(self.bytes.len());
        self.ints = true;
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.ends.push(self.bytes.len());
        self.others = true;
    }

    fn null(&mut self) {}
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Heavy>()?;
    module.add_class::<TopK>()
}

pub(crate) fn wrap(py: Python<'_>, summary: gowk::TopK) -> PyResult<Bound<'_, PyAny>> {
    Ok(Bound::new(py, TopK { keys: KeyKind::Text, summary: Lock::new(summary) })?.into_any())
}

#[pymethods]
impl TopK {
    #[new]
    #[pyo3(signature = (k, values = None, /, *, keys = None, seed = None))]
    fn new(
        k: u64,
        values: Option<&Bound<'_, PyAny>>,
        keys: Option<&Bound<'_, PyType>>,
        seed: Option<PySeed>,
    ) -> PyResult<Self> {
        let seed = seed.map_or_else(Seed::random, |seed| seed.0);
        let params = gowk::TopKParams::for_k(k).or_raise()?;
        let summary = gowk::TopK::with_params(params, Hasher::new(seed)).or_raise()?;
        let top = Self { keys: KeyKind::new(keys)?, summary: Lock::new(summary) };
        if let Some(values) = values {
            top.update(values, Nulls::Error)?;
        }
        Ok(top)
    }

    /// Counts a key.
    #[pyo3(signature = (key, times = 1, /))]
    fn add(&self, key: &Bound<'_, PyAny>, times: u64) -> PyResult<()> {
        let mut texts = Texts::new();
        key::feed(key, &mut texts)?;
        texts.check(self.keys)?;
        self.summary.write(key.py()).add_times(&texts.bytes, times);
        Ok(())
    }

    /// Counts many keys, from arrays and iterables.
    #[pyo3(signature = (keys, /, *, nulls = Nulls::Error), text_signature = "($self, keys, /, *, nulls='error')")]
    fn update(&self, keys: &Bound<'_, PyAny>, nulls: Nulls) -> PyResult<()> {
        let mut texts = Texts::new();
        Column::new(keys)?.each_chunk(keys.py(), nulls, false, &mut texts, |texts| {
            texts.check(self.keys)?;
            self.summary.write_detached().add_many(&texts.keys());
            texts.clear();
            Ok(())
        })?;
        Ok(())
    }

    /// The k keys that came most often, the highest count first.
    fn top(&self, py: Python<'_>) -> PyResult<Vec<Heavy>> {
        let top = py.detach(|| self.summary.read_detached().top());
        top.into_iter()
            .map(|heavy| {
                let key = self.keys.show(py, &heavy.key)?;
                Ok(Heavy { key, count: heavy.count, error: heavy.error, sure: heavy.sure })
            })
            .collect()
    }

    /// How often the key came, at most, and by how much that may be over.
    #[pyo3(signature = (key, /))]
    fn count(&self, key: &Bound<'_, PyAny>) -> PyResult<(u64, u64)> {
        let mut texts = Texts::new();
        key::feed(key, &mut texts)?;
        texts.check(self.keys)?;
        let estimate = self.summary.read(key.py()).estimate(&texts.bytes);
        Ok((estimate.count, estimate.error))
    }

    /// How many keys were counted, each as often as it came.
    #[getter]
    fn total(&self, py: Python<'_>) -> u64 {
        self.summary.read(py).total()
    }

    /// The most by which a count may be over.
    #[getter]
    fn error(&self, py: Python<'_>) -> u64 {
        self.summary.read(py).error()
    }

    /// How many keys are wanted.
    #[getter]
    fn k(&self, py: Python<'_>) -> u64 {
        self.summary.read(py).params().k()
    }

    /// The memory that the summary takes, in bytes.
    #[getter]
    fn size_in_bytes(&self, py: Python<'_>) -> usize {
        self.summary.read(py).size_in_bytes()
    }

    /// Forgets all keys.
    fn clear(&self, py: Python<'_>) {
        self.summary.write(py).clear();
    }

    fn __ior__(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<()> {
        if slf.get().keys != other.get().keys {
            return Err(PyTypeError::new_err("the keys of the two are of different types"));
        }
        let (ours, theirs) = (&slf.get().summary, &other.get().summary);
        slf.py().detach(|| {
            Lock::with_both(ours, theirs, |top| Ok(top.clone()), |ours, theirs| ours.union(theirs).or_raise())
        })
    }

    /// Another summary of the same counts.
    fn copy(&self, py: Python<'_>) -> Self {
        Self { keys: self.keys, summary: Lock::new(self.summary.read(py).clone()) }
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        let Ok(other) = other.cast::<Self>() else { return Ok(py.NotImplemented()) };
        let same = slf.is(other) || {
            let ours = slf.get().summary.read(py).clone();
            slf.get().keys == other.get().keys && ours == *other.get().summary.read(py)
        };
        Ok(same.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let summary = self.summary.read(py);
        format!("<gowk.TopK k={} total={} error={}>", summary.params().k(), summary.total(), summary.error())
    }

    /// Writes the summary to a file: whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.summary.read_detached().save(&path).at(&path))
    }

    /// The bytes of the file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.summary.read_detached().to_bytes());
        PyBytes::new(py, &bytes)
    }

    /// The summary in these bytes of a file, every one of them checked; what its keys are, the file does not say.
    #[staticmethod]
    #[pyo3(signature = (data, keys = None, /))]
    fn from_bytes(data: &Bound<'_, PyBytes>, keys: Option<&Bound<'_, PyType>>) -> PyResult<Self> {
        let summary = gowk::TopK::from_bytes(data.as_bytes()).or_raise()?;
        Ok(Self { keys: KeyKind::new(keys)?, summary: Lock::new(summary) })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let rebuild = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((rebuild, (self.to_bytes(py), self.keys.class(py)).into_pyobject(py)?))
    }
}
