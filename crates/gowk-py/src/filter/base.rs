//! `Filter` and `MutableFilter`, the classes that all filters of Python descend from.

use super::{
    guarded::{Guarded, Reading, Writing},
    held::Held,
    stats::PyStats,
    wrap,
};
use crate::{
    column::{Column, Nulls},
    error::AtPath,
    hash::Hash,
    lock::MOST_ALIGNED,
};
use gowk::{AnyFilter, Persist};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyByteArray, PyBytes, PyTuple, PyType},
};
use std::path::PathBuf;

/// A set that says "surely not" or "maybe". What all filters can do; see the families for how to make one.
#[pyclass(module = "gowk", subclass, frozen, weakref)]
pub(crate) struct Filter {
    /// How keys are hashed, outside the lock: it never changes.
    pub(crate) hash: Hash,
    pub(super) held: Guarded,
}

const _: () = assert!(align_of::<Filter>() <= MOST_ALIGNED);

impl Filter {
    pub(crate) fn new(hash: Hash, held: Held) -> Self {
        Self { hash, held: Guarded::new(held) }
    }

    /// The filter, to be asked.
    pub(crate) fn read(&self, py: Python<'_>) -> Reading<'_> {
        self.held.read(py)
    }

    /// The filter, to be changed.
    pub(crate) fn write(&self, py: Python<'_>) -> Writing<'_> {
        self.held.write(py)
    }

    /// Asks something that takes time, without the interpreter.
    pub(crate) fn ask<R: Send>(&self, py: Python<'_>, question: impl FnOnce(&Held) -> R + Send) -> R {
        let outside = self.held.outside(py);
        py.detach(|| question(&outside.read()))
    }

    /// Does something that takes time, without the interpreter.
    pub(crate) fn change<R: Send>(&self, py: Python<'_>, change: impl FnOnce(&mut Held) -> R + Send) -> R {
        let outside = self.held.outside(py);
        py.detach(|| change(&mut outside.write()))
    }

    /// Puts many keys in.
    pub(crate) fn update(&self, py: Python<'_>, column: &Column<'_>, nulls: Nulls) -> PyResult<()> {
        let outside = self.held.outside(py);
        column.each_run(py, nulls, false, &self.hash, |run| outside.write().insert_run(&self.hash, run))?;
        Ok(())
    }

    /// Changes this by the other.
    fn combine(
        &self,
        py: Python<'_>,
        other: &Self,
        change: impl FnOnce(&mut Held, &Held) -> PyResult<()> + Send,
    ) -> PyResult<()> {
        Guarded::with_both(py, &self.held, &other.held, change)
    }

    /// On the heap, as an object of its own.
    fn copied(&self, py: Python<'_>) -> PyResult<Self> {
        let held = self.ask(py, Held::copy)?;
        Ok(Self::new(self.hash, held))
    }

    pub(crate) fn bytes(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        self.ask(py, |held| {
            Ok(match held {
                Held::Heap(filter) => filter.to_bytes(),
                Held::Mapped(filter) => filter.to_bytes(),
                Held::Foreign(filter) => filter.to_bytes().ok_or_else(|| {
                    PyValueError::new_err(
                        "filters of several row groups have no bytes of their own; take a Parquet file of one row group",
                    )
                })?,
            })
        })
    }
}

/// numpy's array of these answers.
pub(crate) fn bools<'py>(py: Python<'py>, answers: &[bool]) -> PyResult<Bound<'py, PyAny>> {
    let numpy = py.import("numpy").map_err(|error| needs_numpy(py, &error))?;
    if answers.is_empty() {
        return numpy.call_method1("zeros", (0, "bool"));
    }
    let bytes = PyByteArray::new_with(py, answers.len(), |bytes| {
        bytes.iter_mut().zip(answers).for_each(|(byte, answer)| *byte = u8::from(*answer));
        Ok(())
    })?;
    numpy.call_method1("frombuffer", (bytes, "bool"))
}

fn needs_numpy(py: Python<'_>, error: &PyErr) -> PyErr {
    let told = pyo3::exceptions::PyImportError::new_err(
        "answers to many keys come as an array of numpy; pip install numpy",
    );
    told.set_cause(py, Some(error.clone_ref(py)));
    told
}

#[pymethods]
impl Filter {
    /// Whether each of these keys may be in the set, as a numpy array of bool.
    #[pyo3(signature = (keys, /, *, nulls = Nulls::Error), text_signature = "($self, keys, /, *, nulls='error')")]
    fn contains_many<'py>(&self, keys: &Bound<'py, PyAny>, nulls: Nulls) -> PyResult<Bound<'py, PyAny>> {
        let py = keys.py();
        let column = Column::new(keys)?;
        let mut answers = Vec::with_capacity(column.len().unwrap_or(0));
        let outside = self.held.outside(py);
        let null_places = column.each_run(py, nulls, true, &self.hash, |run| {
            let start = answers.len();
            answers.resize(start + run.len(), false);
            outside.read().answer_run(&self.hash, run, &mut answers[start..]);
            Ok(())
        })?;
        null_places.into_iter().for_each(|place| answers[place] = false);
        bools(py, &answers)
    }

    /// About how many different keys have come. Reads the whole filter.
    fn approx_len(&self, py: Python<'_>) -> u64 {
        let estimate = self.ask(py, Held::stats).estimated_items;
        estimate.round() as u64
    }

    /// What the filter holds and how well. Reads the whole filter.
    fn stats(&self, py: Python<'_>) -> PyStats {
        self.ask(py, Held::stats).into()
    }

    /// The memory that the bits take, in bytes.
    #[getter]
    fn size_in_bytes(&self, py: Python<'_>) -> usize {
        self.read(py).size_in_bytes()
    }

    fn __sizeof__(&self, py: Python<'_>) -> usize {
        let held = self.read(py);
        let elsewhere = matches!(&*held, Held::Mapped(_));
        size_of::<Self>() + if elsewhere { 0 } else { held.size_in_bytes() }
    }

    /// The keys that the filter was made for.
    #[getter]
    fn items(&self, py: Python<'_>) -> u64 {
        self.promise(py).0
    }

    /// The rate of false positives that it keeps with that many.
    #[getter]
    fn fpp(&self, py: Python<'_>) -> f64 {
        self.promise(py).1
    }

    /// The name of the hash function.
    #[getter]
    fn hash_name(&self, py: Python<'_>) -> &'static str {
        match (&self.hash, &*self.read(py)) {
            (Hash::Own(hasher), _) => hasher.id().name(),
            (Hash::Makers { .. }, Held::Foreign(filter)) => gowk::Filter::hasher(filter).id().name(),
            (Hash::Makers { .. }, _) => "unknown",
        }
    }

    /// The 16 bytes of the seed; whoever knows them can prepare keys that are false positives.
    #[getter]
    fn seed<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        match &self.hash {
            Hash::Own(hasher) => Some(PyBytes::new(py, &hasher.seed().to_bytes())),
            Hash::Makers { .. } => None,
        }
    }

    /// Whether the bits are in a mapped file, which can be asked but not changed.
    #[getter]
    fn is_mapped(&self, py: Python<'_>) -> bool {
        matches!(&*self.read(py), Held::Mapped(_))
    }

    fn __bool__(&self, py: Python<'_>) -> bool {
        !self.read(py).is_empty()
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        let Ok(other) = other.cast::<Self>() else { return Ok(py.NotImplemented()) };
        if slf.is(other) {
            return true
                .into_pyobject(py)
                .map(|same| same.to_owned().into_any().unbind())
                .map_err(Into::into);
        }
        let same =
            Guarded::with_both(py, &slf.get().held, &other.get().held, |ours, theirs| Ok(*ours == *theirs))?;
        Ok(same.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        /// A larger filter takes too long to read for a line in a debugger.
        const MOST: usize = 256 << 20;
        let (py, filter) = (slf.py(), slf.get());
        let name = slf.get_type().name()?;
        if filter.read(py).size_in_bytes() > MOST {
            let (items, fpp) = filter.promise(py);
            let size = filter.read(py).size_in_bytes();
            return Ok(format!("<gowk.{name} items={items} fpp={fpp} bytes={size}>"));
        }
        let stats = filter.ask(py, Held::stats);
        let mapped = if filter.is_mapped(py) { " mapped" } else { "" };
        Ok(format!(
            "<gowk.{name} items={} fpp={} bits={} fill={:.3} keys~{:.0}{mapped}>",
            stats.items, stats.fpp, stats.bits, stats.fill, stats.estimated_items
        ))
    }

    /// Another filter of the same bits, in memory, which can be changed.
    fn copy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        wrap(slf.py(), slf.get().copied(slf.py())?)
    }

    fn __copy__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::copy(slf)
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::copy(slf)
    }

    /// A filter of the keys of both: self | other.
    fn __or__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let both = slf.get().copied(py)?;
        both.combine(py, other.get(), Held::union)?;
        wrap(py, both)
    }

    /// A filter of what both may hold, at least every key that is in both: self & other.
    fn __and__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let both = slf.get().copied(py)?;
        both.combine(py, other.get(), Held::intersect)?;
        wrap(py, both)
    }

    /// A filter of the keys of all of them.
    #[pyo3(signature = (*others))]
    fn union<'py>(slf: &Bound<'py, Self>, others: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        Self::combined(slf, others, Held::union)
    }

    /// A filter of what all of them may hold.
    #[pyo3(signature = (*others))]
    fn intersection<'py>(
        slf: &Bound<'py, Self>,
        others: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::combined(slf, others, Held::intersect)
    }

    /// Writes the filter to a file: whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.ask(py, |held| {
            match held {
                Held::Heap(filter) => filter.save(&path),
                Held::Mapped(filter) => filter.save(&path),
                Held::Foreign(filter) => filter.save(&path),
            }
            .at(&path)
        })
    }

    /// The bytes of the file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.bytes(py)?))
    }

    /// The filter in these bytes of a file, every one of them checked.
    #[classmethod]
    fn from_bytes<'py>(class: &Bound<'py, PyType>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        of_class(class, super::from_bytes(data)?)
    }

    /// Maps a file, whose bits are then read as they are asked for.
    #[classmethod]
    fn open<'py>(class: &Bound<'py, PyType>, path: PathBuf) -> PyResult<Bound<'py, PyAny>> {
        of_class(class, super::open(class.py(), path, None)?)
    }

    /// Reads a file into memory, every byte of it checked.
    #[classmethod]
    fn load<'py>(class: &Bound<'py, PyType>, path: PathBuf) -> PyResult<Bound<'py, PyAny>> {
        of_class(class, super::load(class.py(), path, None)?)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let rebuild = py.import("gowk._gowk")?.getattr("from_bytes")?;
        let data = slf.get().to_bytes(py)?;
        Ok((rebuild, PyTuple::new(py, [data])?))
    }
}

impl Filter {
    fn promise(&self, py: Python<'_>) -> (u64, f64) {
        let promise = match &*self.read(py) {
            Held::Heap(filter) => cheap_promise(filter),
            Held::Mapped(filter) => cheap_promise(filter),
            Held::Foreign(filter) => {
                let stats = gowk::Filter::stats(filter);
                return (stats.items, stats.fpp);
            }
        };
        (promise.items, promise.fpp)
    }

    fn combined<'py>(
        slf: &Bound<'py, Self>,
        others: &Bound<'py, PyTuple>,
        change: impl Fn(&mut Held, &Held) -> PyResult<()> + Copy + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let all = slf.get().copied(py)?;
        for other in others {
            let Ok(other) = other.cast::<Self>() else {
                return Err(PyTypeError::new_err(format!(
                    "filters can be combined with filters, not with {}; use update() for keys",
                    other.get_type().name()?
                )));
            };
            all.combine(py, other.get(), change)?;
        }
        wrap(py, all)
    }
}

/// What was promised, without reading the bits.
fn cheap_promise<S: gowk::store::Store>(filter: &AnyFilter<S>) -> gowk::Promise {
    match filter {
        AnyFilter::BlockedBloom(filter) => filter.params().promise(),
        AnyFilter::Bloom(filter) => filter.params().promise(),
        AnyFilter::SplitBlockBloom(filter) => filter.params().promise(),
        AnyFilter::CountingBloom(filter) => filter.params().promise(),
        AnyFilter::Window(filter) => filter.params().promise(),
        AnyFilter::Cuckoo(filter) => filter.params().promise(),
        AnyFilter::BinaryFuse(filter) => filter.params().promise(),
        other => {
            let stats = gowk::Filter::stats(other);
            gowk::Promise { items: stats.items, fpp: stats.fpp }
        }
    }
}

/// The filter, if it is one of this class; `BlockedBloom.open` of a cuckoo filter is an error.
fn of_class<'py>(class: &Bound<'py, PyType>, filter: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match filter.is_instance(class)? {
        true => Ok(filter),
        false => Err(PyTypeError::new_err(format!(
            "this is a {}, not a {}; use gowk.open, gowk.load or gowk.from_bytes for any family",
            filter.get_type().name()?,
            class.name()?
        ))),
    }
}

/// A filter that takes keys.
#[pyclass(module = "gowk", extends = Filter, subclass, frozen)]
pub(crate) struct MutableFilter;

#[pymethods]
impl MutableFilter {
    /// Puts many keys in, from arrays and iterables; those of another filter as well.
    #[pyo3(signature = (*keys, nulls = Nulls::Error), text_signature = "($self, *keys, nulls='error')")]
    fn update(slf: &Bound<'_, Self>, keys: &Bound<'_, PyTuple>, nulls: Nulls) -> PyResult<()> {
        let (py, filter) = (slf.py(), slf.as_super().get());
        for keys in keys {
            match keys.cast::<Filter>() {
                Ok(other) => filter.combine(py, other.get(), Held::union)?,
                Err(_) => filter.update(py, &Column::new(&keys)?, nulls)?,
            }
        }
        Ok(())
    }

    fn __ior__(slf: &Bound<'_, Self>, other: &Bound<'_, Filter>) -> PyResult<()> {
        slf.as_super().get().combine(slf.py(), other.get(), Held::union)
    }

    fn __iand__(slf: &Bound<'_, Self>, other: &Bound<'_, Filter>) -> PyResult<()> {
        slf.as_super().get().combine(slf.py(), other.get(), Held::intersect)
    }

    /// Forgets all keys.
    fn clear(slf: &Bound<'_, Self>) -> PyResult<()> {
        use gowk::ScalableBloom;
        let filter = slf.as_super().get();
        let mut held = filter.write(slf.py());
        match held.heap()? {
            AnyFilter::BlockedBloom(filter) => filter.clear(),
            AnyFilter::Bloom(filter) => filter.clear(),
            AnyFilter::SplitBlockBloom(filter) => filter.clear(),
            AnyFilter::CountingBloom(filter) => filter.clear(),
            AnyFilter::Window(filter) => filter.clear(),
            AnyFilter::Cuckoo(filter) => filter.clear(),
            AnyFilter::ScalableBloom(filter) => {
                let (params, hasher) = (*filter.params(), *gowk::Filter::hasher(filter));
                *filter = crate::error::OrRaise::or_raise(ScalableBloom::with_params(params, hasher))?;
            }
            _ => return Err(PyTypeError::new_err("a filter that is built once cannot be cleared")),
        }
        Ok(())
    }
}
