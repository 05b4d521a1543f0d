//! Sets of ids: flat, mapped or Roaring.

use super::sink::{each_chunk, expect_id, id};
use crate::{
    column::Nulls,
    error::{AtPath, OrRaise, ReadOnlyException},
    file,
    filter::bools,
    lock::Lock,
};
use gowk::{
    Bitmap as FlatSet, IntegerSet as _, IntegerSetMut, Merge, Persist, RoaringSet as Roaring,
    format::roaring::{self, Width},
    store::Mapped,
};
use pyo3::{
    exceptions::{PyIndexError, PyKeyError, PyTypeError, PyValueError},
    prelude::*,
    types::{PyBytes, PyRange, PyTuple, PyType},
};
use std::{ops::Range, path::PathBuf};

/// The set itself.
pub(crate) enum Ids {
    Flat(FlatSet),
    Mapped(FlatSet<Mapped>),
    Roaring(Roaring),
}

/// Does the same with whichever it is.
macro_rules! each {
    ($ids:expr, $set:ident => $call:expr) => {
        match $ids {
            Ids::Flat($set) => $call,
            Ids::Mapped($set) => $call,
            Ids::Roaring($set) => $call,
        }
    };
}

/// As `each`, to change it.
macro_rules! each_mut {
    ($ids:expr, $set:ident => $call:expr) => {
        match $ids {
            Ids::Flat($set) => $call,
            Ids::Roaring($set) => $call,
            Ids::Mapped(_) => return Err(mapped()),
        }
    };
}

fn mapped() -> PyErr {
    ReadOnlyException::new_err(
        "the set is a mapped file, which is only read; change a copy of it, from gowk.load(path) or set.copy()",
    )
}

/// What to make of two sets.
#[derive(Clone, Copy)]
enum Algebra {
    Or,
    And,
    Sub,
    Xor,
}

impl Ids {
    fn copy(&self) -> PyResult<Self> {
        Ok(match self {
            Self::Flat(set) => Self::Flat(set.clone()),
            Self::Mapped(set) => Self::Flat(set.to_heap().or_raise()?),
            Self::Roaring(set) => Self::Roaring(set.clone()),
        })
    }

    fn combine(&mut self, algebra: Algebra, other: &Self) -> PyResult<()> {
        match (self, other) {
            (Self::Mapped(_), _) => Err(mapped()),
            (Self::Flat(ours), Self::Flat(theirs)) => flat(ours, algebra, theirs),
            (Self::Flat(ours), Self::Mapped(theirs)) => flat(ours, algebra, theirs),
            (Self::Flat(ours), Self::Roaring(theirs)) => {
                let mut same = FlatSet::new(ours.range()).or_raise()?;
                for id in theirs.iter() {
                    // What is outside the range of ours is not in ours.
                    if let (Err(outside), Algebra::Or | Algebra::Xor) = (same.insert(id), algebra) {
                        return Err(outside).or_raise();
                    }
                }
                flat(ours, algebra, &same)
            }
            (Self::Roaring(ours), Self::Roaring(theirs)) => compressed(ours, algebra, theirs),
            (Self::Roaring(ours), Self::Flat(theirs)) => compressed(ours, algebra, &theirs.into()),
            (Self::Roaring(ours), Self::Mapped(theirs)) => compressed(ours, algebra, &theirs.into()),
        }
    }
}

fn flat<O: gowk::store::Store>(ours: &mut FlatSet, algebra: Algebra, theirs: &FlatSet<O>) -> PyResult<()> {
    match algebra {
        Algebra::Or => ours.union(theirs).or_raise(),
        Algebra::Xor => ours.xor(theirs).or_raise(),
        Algebra::And => {
            ours.intersect(theirs);
            Ok(())
        }
        Algebra::Sub => {
            ours.subtract(theirs);
            Ok(())
        }
    }
}

fn compressed(ours: &mut Roaring, algebra: Algebra, theirs: &Roaring) -> PyResult<()> {
    match algebra {
        Algebra::Or => ours.union(theirs).or_raise(),
        Algebra::Xor => ours.xor(theirs).or_raise(),
        Algebra::And => {
            ours.intersect(theirs);
            Ok(())
        }
        Algebra::Sub => {
            ours.subtract(theirs);
            Ok(())
        }
    }
}

/// An exact set of integers from 0 on.
#[pyclass(module = "gowk", subclass, frozen, weakref)]
pub(crate) struct IntegerSet {
    ids: Lock<Ids>,
}

/// A bit for each id of a range: Bitmap(range(0, 1000)), or Bitmap(1000).
///
/// >>> odd = Bitmap(10, [1, 3, 5, 7, 9])
/// >>> list(odd - Bitmap(10, [3, 4]))
/// [1, 5, 7, 9]
/// >>> odd.rank(5), odd.select(0)
/// (2, 1)
#[pyclass(module = "gowk", extends = IntegerSet, subclass, frozen)]
pub(crate) struct Bitmap;

/// A compressed set, for ids that lie far apart; its bytes are Roaring's portable format.
///
/// >>> 10**12 in RoaringSet([5, 10**12])
/// True
#[pyclass(module = "gowk", extends = IntegerSet, subclass, frozen)]
pub(crate) struct RoaringSet;

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<IntegerSet>()?;
    module.add_class::<Bitmap>()?;
    module.add_class::<RoaringSet>()
}

pub(super) fn wrap(py: Python<'_>, ids: Ids) -> PyResult<Bound<'_, PyAny>> {
    let roaring = matches!(ids, Ids::Roaring(_));
    let set = PyClassInitializer::from(IntegerSet { ids: Lock::new(ids) });
    Ok(match roaring {
        true => Bound::new(py, set.add_subclass(RoaringSet))?.into_any(),
        false => Bound::new(py, set.add_subclass(Bitmap))?.into_any(),
    })
}

/// A range of ids as Python gives it: range(start, stop), or how many from 0.
pub(super) fn range_of(range: &Bound<'_, PyAny>) -> PyResult<Range<u64>> {
    if let Ok(range) = range.cast::<PyRange>() {
        let step = range.getattr("step")?.extract::<i64>()?;
        if step != 1 {
            return Err(PyValueError::new_err(format!("the range has steps of {step}, and ids have 1")));
        }
        let end = |name| -> PyResult<u64> {
            let end = range.getattr(name)?;
            end.extract().map_err(|_| PyValueError::new_err(format!("{end} is not among 0..2**64 - 1")))
        };
        return Ok(end("start")?..end("stop")?);
    }
    match range.extract::<u64>() {
        Ok(end) => Ok(0..end),
        Err(_) => Err(PyTypeError::new_err("the ids of a set are range(start, stop), or a number of them")),
    }
}

impl IntegerSet {
    fn update(&self, keys: &Bound<'_, PyAny>, nulls: Nulls) -> PyResult<()> {
        each_chunk(keys, nulls, false, |ids| {
            each_mut!(&mut *self.ids.write_detached(), set => set.insert_many(ids)).or_raise()
        })?;
        Ok(())
    }

    fn combined<'py>(
        slf: &Bound<'py, Self>,
        algebra: Algebra,
        other: &Bound<'py, Self>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let (ours, theirs) = (&slf.get().ids, &other.get().ids);
        let ids = py.detach(|| {
            let mut ids = ours.read_detached().copy()?;
            ids.combine(algebra, &theirs.read_detached())?;
            PyResult::Ok(ids)
        })?;
        wrap(py, ids)
    }

    fn change(slf: &Bound<'_, Self>, algebra: Algebra, other: &Bound<'_, Self>) -> PyResult<()> {
        let (ours, theirs) = (&slf.get().ids, &other.get().ids);
        slf.py()
            .detach(|| Lock::with_both(ours, theirs, Ids::copy, |ours, theirs| ours.combine(algebra, theirs)))
    }

    fn data(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        py.detach(|| {
            Ok(match &*self.ids.read_detached() {
                Ids::Flat(set) => set.to_bytes(),
                Ids::Mapped(set) => set.to_bytes(),
                Ids::Roaring(set) => roaring::to_bytes(set, Width::Bits64).or_raise()?,
            })
        })
    }
}

/// An array of numpy of these numbers.
pub(super) fn array<'py>(py: Python<'py>, ids: &[u64]) -> PyResult<Bound<'py, PyAny>> {
    let bytes = pyo3::types::PyByteArray::new_with(py, 8 * ids.len(), |bytes| {
        bytes.as_chunks_mut::<8>().0.iter_mut().zip(ids).for_each(|(to, id)| *to = id.to_le_bytes());
        Ok(())
    })?;
    let numpy = py.import("numpy")?;
    match ids.len() {
        0 => numpy.call_method1("zeros", (0, "<u8")),
        _ => numpy.call_method1("frombuffer", (bytes, "<u8")),
    }
}

#[pymethods]
impl IntegerSet {
    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(id) = id(key)? else { return Ok(false) };
        Ok(each!(&*self.ids.read(key.py()), set => set.contains(id)))
    }

    /// Whether each of these ids is in the set, as a numpy array of bool.
    #[pyo3(signature = (ids, /, *, nulls = Nulls::Error), text_signature = "($self, ids, /, *, nulls='error')")]
    fn contains_many<'py>(&self, ids: &Bound<'py, PyAny>, nulls: Nulls) -> PyResult<Bound<'py, PyAny>> {
        let mut answers = Vec::new();
        let null_places = each_chunk(ids, nulls, true, |ids| {
            let start = answers.len();
            answers.resize(start + ids.len(), false);
            each!(&*self.ids.read_detached(), set => set.contains_many_into(ids, &mut answers[start..]));
            Ok(())
        })?;
        null_places.into_iter().for_each(|place| answers[place] = false);
        bools(ids.py(), &answers)
    }

    /// Puts an id in. True if it was not there before.
    #[pyo3(signature = (id, /))]
    fn add(&self, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = id.py();
        let id = expect_id(id)?;
        each_mut!(&mut *self.ids.write(py), set => set.insert(id)).or_raise()
    }

    /// Puts many ids in, from arrays and iterables.
    #[pyo3(name = "update", signature = (*ids, nulls = Nulls::Error), text_signature = "($self, *ids, nulls='error')")]
    fn update_all(slf: &Bound<'_, Self>, ids: &Bound<'_, PyTuple>, nulls: Nulls) -> PyResult<()> {
        for ids in ids {
            match ids.cast::<Self>() {
                Ok(other) => Self::change(slf, Algebra::Or, other)?,
                Err(_) => slf.get().update(&ids, nulls)?,
            }
        }
        Ok(())
    }

    /// Takes an id out, if it is there; whether it was.
    #[pyo3(signature = (id, /))]
    fn discard(&self, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = id.py();
        let Some(id) = super::sink::id(id)? else { return Ok(false) };
        Ok(each_mut!(&mut *self.ids.write(py), set => set.remove(id)))
    }

    /// Takes an id out; KeyError if it is not there.
    #[pyo3(signature = (id, /))]
    fn remove(&self, id: &Bound<'_, PyAny>) -> PyResult<()> {
        match self.discard(id)? {
            true => Ok(()),
            false => Err(PyKeyError::new_err(id.clone().unbind())),
        }
    }

    /// Forgets all ids.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        each_mut!(&mut *self.ids.write(py), set => set.clear());
        Ok(())
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| each!(&*self.ids.read_detached(), set => set.len())) as usize
    }

    fn __bool__(&self, py: Python<'_>) -> bool {
        !each!(&*self.ids.read(py), set => set.is_empty())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // A copy of them: the set may change while someone goes through it.
        let ids: Vec<u64> = py.detach(|| each!(&*self.ids.read_detached(), set => set.iter().collect()));
        Ok(Bound::new(py, IdIterator { ids: std::sync::Mutex::new(ids.into_iter()) })?.into_any())
    }

    /// All ids in ascending order, as a numpy array of uint64.
    fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let ids: Vec<u64> = py.detach(|| each!(&*self.ids.read_detached(), set => set.iter().collect()));
        array(py, &ids)
    }

    /// How many ids of the set are smaller.
    #[pyo3(signature = (id, /))]
    fn rank(&self, py: Python<'_>, id: u64) -> u64 {
        each!(&*self.ids.read(py), set => set.rank(id))
    }

    /// The id with n smaller ones in the set; IndexError if there is none.
    #[pyo3(signature = (n, /))]
    fn select(&self, py: Python<'_>, n: u64) -> PyResult<u64> {
        let id = each!(&*self.ids.read(py), set => set.select(n));
        id.ok_or_else(|| PyIndexError::new_err(format!("the set has no more than {n} ids")))
    }

    /// How many ids from start to stop, without it, are in the set.
    #[pyo3(signature = (start, stop, /))]
    fn count_in(&self, py: Python<'_>, start: u64, stop: u64) -> u64 {
        each!(&*self.ids.read(py), set => set.count_in(start..stop))
    }

    /// The memory that the set takes, in bytes.
    #[getter]
    fn size_in_bytes(&self, py: Python<'_>) -> usize {
        each!(&*self.ids.read(py), set => set.size_in_bytes())
    }

    /// Whether the bits are in a mapped file, which can be asked but not changed.
    #[getter]
    fn is_mapped(&self, py: Python<'_>) -> bool {
        matches!(&*self.ids.read(py), Ids::Mapped(_))
    }

    /// The ids that the set has a place for.
    #[getter]
    fn range<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let range = each!(&*self.ids.read(py), set => set.range());
        py.import("builtins")?.call_method1("range", (range.start, range.end))
    }

    fn __or__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::combined(slf, Algebra::Or, other)
    }

    fn __and__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::combined(slf, Algebra::And, other)
    }

    fn __sub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::combined(slf, Algebra::Sub, other)
    }

    fn __xor__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::combined(slf, Algebra::Xor, other)
    }

    fn __ior__(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<()> {
        Self::change(slf, Algebra::Or, other)
    }

    fn __iand__(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<()> {
        Self::change(slf, Algebra::And, other)
    }

    fn __isub__(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<()> {
        Self::change(slf, Algebra::Sub, other)
    }

    fn __ixor__(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<()> {
        Self::change(slf, Algebra::Xor, other)
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        let Ok(other) = other.cast::<Self>() else { return Ok(py.NotImplemented()) };
        let (ours, theirs) = (&slf.get().ids, &other.get().ids);
        let same = slf.is(other)
            || py.detach(|| {
                let ours = ours.read_detached().copy()?;
                let theirs = theirs.read_detached();
                let same =
                    each!(&ours, a => each!(&*theirs, b => a.len() == b.len() && a.iter().eq(b.iter())));
                PyResult::Ok(same)
            })?;
        Ok(same.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (py, set) = (slf.py(), slf.get());
        let (range, len) = each!(&*set.ids.read(py), set => (set.range(), set.len()));
        let mapped = if set.is_mapped(py) { " mapped" } else { "" };
        let bytes = set.size_in_bytes(py);
        Ok(format!(
            "<gowk.{} range({}, {}) ids={len} bytes={bytes}{mapped}>",
            slf.get_type().name()?,
            range.start,
            range.end
        ))
    }

    /// Another set of the same ids, in memory, which can be changed.
    fn copy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        wrap(py, py.detach(|| self.ids.read_detached().copy())?)
    }

    fn __copy__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.copy(py)
    }

    fn __deepcopy__<'py>(&self, py: Python<'py>, _memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.copy(py)
    }

    /// Writes the set to a file: whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| match &*self.ids.read_detached() {
            Ids::Flat(set) => set.save(&path).at(&path),
            Ids::Mapped(set) => set.save(&path).at(&path),
            Ids::Roaring(set) => {
                let bytes = roaring::to_bytes(set, Width::Bits64).or_raise()?;
                file::replace(&path, |file| std::io::Write::write_all(file, &bytes)).at(&path)
            }
        })
    }

    /// The bytes of the file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.data(py)?))
    }
}

#[pymethods]
impl Bitmap {
    #[new]
    #[pyo3(signature = (range, ids = None, /))]
    fn new(range: &Bound<'_, PyAny>, ids: Option<&Bound<'_, PyAny>>) -> PyResult<PyClassInitializer<Self>> {
        let set = FlatSet::new(range_of(range)?).or_raise()?;
        let set = IntegerSet { ids: Lock::new(Ids::Flat(set)) };
        if let Some(ids) = ids {
            set.update(ids, Nulls::Error)?;
        }
        Ok(PyClassInitializer::from(set).add_subclass(Self))
    }

    /// The set in these bytes of a file, every one of them checked.
    #[classmethod]
    #[pyo3(signature = (data, /))]
    fn from_bytes<'py>(
        class: &Bound<'py, PyType>,
        data: &Bound<'py, PyBytes>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let set = FlatSet::from_bytes(data.as_bytes()).or_raise()?;
        wrap(class.py(), Ids::Flat(set))
    }

    /// Puts all ids from start to stop, without it, in.
    #[pyo3(signature = (start, stop, /))]
    fn add_range(slf: &Bound<'_, Self>, start: u64, stop: u64) -> PyResult<()> {
        match &mut *slf.as_super().get().ids.write(slf.py()) {
            Ids::Flat(set) => set.insert_range(start..stop).or_raise(),
            _ => Err(mapped()),
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let rebuild = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((rebuild, PyTuple::new(py, [slf.as_super().get().to_bytes(py)?])?))
    }
}

#[pymethods]
impl RoaringSet {
    #[new]
    #[pyo3(signature = (ids = None, /))]
    fn new(ids: Option<&Bound<'_, PyAny>>) -> PyResult<PyClassInitializer<Self>> {
        let set = Roaring::new(0..u64::MAX).or_raise()?;
        let set = IntegerSet { ids: Lock::new(Ids::Roaring(set)) };
        if let Some(ids) = ids {
            set.update(ids, Nulls::Error)?;
        }
        Ok(PyClassInitializer::from(set).add_subclass(Self))
    }

    /// The set in these bytes of Roaring's portable format, for 32 or 64 bits.
    #[classmethod]
    #[pyo3(signature = (data, /))]
    fn from_bytes<'py>(
        class: &Bound<'py, PyType>,
        data: &Bound<'py, PyBytes>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (set, _) = roaring::from_bytes(data.as_bytes()).or_raise()?;
        let range = 0..u64::MAX;
        let set = Roaring::from_treemap(range, set.into_treemap()).or_raise()?;
        wrap(class.py(), Ids::Roaring(set))
    }

    /// Finds runs, which take less where ids follow each other; whether there were any.
    fn optimize(slf: &Bound<'_, Self>) -> PyResult<bool> {
        match &mut *slf.as_super().get().ids.write(slf.py()) {
            Ids::Roaring(set) => Ok(set.optimize()),
            _ => Err(mapped()),
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let rebuild = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((rebuild, PyTuple::new(py, [slf.as_super().get().to_bytes(py)?])?))
    }
}

/// Goes through ids.
#[pyclass(module = "gowk", frozen)]
pub(crate) struct IdIterator {
    ids: std::sync::Mutex<std::vec::IntoIter<u64>>,
}

#[pymethods]
impl IdIterator {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self) -> Option<u64> {
        self.ids.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next()
    }
}
