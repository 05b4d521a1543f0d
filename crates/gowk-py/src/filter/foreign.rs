//! Filters of other systems: Guava, Spark, Parquet, RedisBloom, DCSO.

use super::{
    base::{Filter, MutableFilter},
    held::Held,
    wrap,
};
use crate::{
    column::{Column, Nulls},
    error::{AtPath, OrRaise},
    hash::Hash,
};
use gowk::{
    Filter as _,
    format::{
        dcso::DcsoBloom,
        foreign::{
            Foreign, Format,
            keys::{MakersHash, Number},
        },
        guava::GuavaBloom,
        parquet::{self, Physical},
        redisbloom::{RedisBloom, RedisCuckoo},
        spark::{SparkBloom, Version},
    },
};
use pyo3::{
    buffer::PyBuffer,
    exceptions::PyValueError,
    prelude::*,
    types::{PyBytes, PyTuple},
};
use std::path::{Path, PathBuf};

/// A filter of another system, which reads what save() and to_bytes() write.
///
/// >>> guava = ForeignFilter("guava", [1, 2, 3], items=100, key_type="i32")
/// >>> ForeignFilter.from_bytes(guava.to_bytes(), key_type="i32") == guava
/// True
#[pyclass(module = "gowk", extends = MutableFilter, subclass, frozen)]
pub(crate) struct ForeignFilter;

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ForeignFilter>()?;
    module.add_function(wrap_pyfunction!(_foreign_from_bytes, module)?)
}

/// What pickle calls.
#[pyfunction]
fn _foreign_from_bytes<'py>(
    data: &Bound<'py, PyBytes>,
    format: &str,
    key_type: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let foreign = parse(format_of(format)?, data.as_bytes())?;
    wrap(data.py(), filter_of(foreign, Some(key_type))?)
}

/// The names under which Python knows the formats.
const NAMES: [(&str, Format); 8] = [
    ("guava", Format::Guava),
    ("spark", Format::Spark),
    ("spark-v1", Format::Spark),
    ("spark-v2", Format::Spark),
    ("parquet", Format::Parquet),
    ("redisbloom", Format::RedisBloom),
    ("redis-cuckoo", Format::RedisCuckoo),
    ("dcso", Format::Dcso),
];

fn format_of(name: &str) -> PyResult<Format> {
    match NAMES.iter().find(|(known, _)| *known == name) {
        Some((_, format)) => Ok(*format),
        None => {
            let names = NAMES.map(|(name, _)| name).join(", ");
            Err(PyValueError::new_err(format!("there is no format {name:?}; there are {names}")))
        }
    }
}

fn name_of(filter: &Foreign) -> &'static str {
    match filter {
        Foreign::Spark(filter) => match filter.maker().version() {
            Version::V1 => "spark-v1",
            Version::V2 { .. } => "spark-v2",
        },
        other => {
            NAMES.iter().find(|(_, format)| *format == other.format()).map_or("unknown", |(name, _)| name)
        }
    }
}

/// What integers are in the maker's terms.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyType {
    I32,
    I64,
    U64,
}

impl KeyType {
    fn new(name: Option<&str>, filter: &Foreign) -> PyResult<Self> {
        match name {
            // As the column has them; else as most have them.
            None => Ok(match filter {
                Foreign::Parquet(filters) if filters.physical() == Physical::Int32 => Self::I32,
                _ => Self::I64,
            }),
            Some("i32") => Ok(Self::I32),
            Some("i64") => Ok(Self::I64),
            Some("u64") => Ok(Self::U64),
            Some(other) => Err(PyValueError::new_err(format!(
                "there is no key type {other:?}; integers are \"i32\", \"i64\" or \"u64\""
            ))),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::U64 => "u64",
        }
    }

    fn number(self) -> Number {
        match self {
            Self::I32 => Number::I32,
            Self::I64 => Number::I64,
            Self::U64 => Number::U64,
        }
    }
}

fn filter_of(foreign: Foreign, key_type: Option<&str>) -> PyResult<Filter> {
    let key_type = KeyType::new(key_type, &foreign)?;
    let hash = MakersHash::new(*foreign.hasher(), foreign.number_form(key_type.number()));
    Ok(Filter::new(Hash::Makers { hash, key_type: key_type.name() }, Held::Foreign(foreign)))
}

/// The filter of another system in a file.
pub(super) fn open<'py>(
    py: Python<'py>,
    path: &Path,
    format: Format,
    key_type: Option<&str>,
    column: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    if format == Format::Roaring {
        return crate::exact::open_roaring(py, path);
    }
    let foreign = py.detach(|| Foreign::open_as(path, format, column)).at(path)?;
    wrap(py, filter_of(foreign, key_type)?)
}

/// An empty filter, sized as its maker would size it.
fn empty(name: &str, items: u64, fpp: f64, seed: i32) -> PyResult<Foreign> {
    Ok(match format_of(name)? {
        Format::Guava => GuavaBloom::create(items, fpp).or_raise()?.into(),
        Format::Spark if name == "spark-v1" => SparkBloom::create(items, fpp, Version::V1).or_raise()?.into(),
        Format::Spark => SparkBloom::create(items, fpp, Version::V2 { seed }).or_raise()?.into(),
        Format::Parquet => Foreign::Parquet(parquet::create(items, fpp).or_raise()?.into()),
        Format::RedisBloom => Foreign::RedisBloom(RedisBloom::reserve(fpp, items, Some(2)).or_raise()?),
        Format::RedisCuckoo => Foreign::RedisCuckoo(RedisCuckoo::reserve(items).or_raise()?),
        Format::Dcso => DcsoBloom::create(items, fpp).or_raise()?.into(),
        _ => return Err(PyValueError::new_err("this format has no filters to be made")),
    })
}

fn parse(format: Format, bytes: &[u8]) -> PyResult<Foreign> {
    Ok(match format {
        Format::Guava => GuavaBloom::from_bytes(bytes).or_raise()?.into(),
        Format::Spark => SparkBloom::from_bytes(bytes).or_raise()?.into(),
        Format::Parquet => Foreign::Parquet(parquet::from_bytes(bytes).or_raise()?.into()),
        Format::RedisBloom => Foreign::RedisBloom(RedisBloom::from_bytes(bytes).or_raise()?),
        Format::RedisCuckoo => Foreign::RedisCuckoo(RedisCuckoo::from_bytes(bytes).or_raise()?),
        Format::Dcso => DcsoBloom::from_bytes(bytes).or_raise()?.into(),
        _ => return Err(PyValueError::new_err("this format has no filters")),
    })
}

#[pymethods]
impl ForeignFilter {
    #[new]
    #[pyo3(signature = (format, keys = None, /, *, items = None, fpp = 0.01, key_type = None, seed = 0))]
    fn new<'py>(
        py: Python<'py>,
        format: &str,
        keys: Option<&Bound<'py, PyAny>>,
        items: Option<u64>,
        fpp: f64,
        key_type: Option<&str>,
        seed: i32,
    ) -> PyResult<PyClassInitializer<Self>> {
        let column = keys.map(Column::new).transpose()?;
        let known = column.as_ref().and_then(Column::len).map(|len| (len as u64).max(1));
        let Some(items) = items.or(known) else { return Err(gowk::ParamsError::Unsized).or_raise() };
        let filter = filter_of(empty(format, items, fpp, seed)?, key_type)?;
        if let Some(column) = column {
            filter.update(py, &column, Nulls::Error)?;
        }
        Ok(PyClassInitializer::from(filter).add_subclass(MutableFilter).add_subclass(Self))
    }

    /// Whose filter it is: guava, spark-v1, spark-v2, parquet, redisbloom, redis-cuckoo or dcso.
    #[getter]
    fn format(slf: &Bound<'_, Self>) -> &'static str {
        match &*slf.as_super().as_super().get().read(slf.py()) {
            Held::Foreign(filter) => name_of(filter),
            _ => "gowk",
        }
    }

    /// What its integers are: i32, i64 or u64.
    #[getter]
    fn key_type(slf: &Bound<'_, Self>) -> &'static str {
        match slf.as_super().as_super().get().hash {
            Hash::Makers { key_type, .. } => key_type,
            Hash::Own(_) => "i64",
        }
    }

    /// The filter in these bytes, as its maker writes them.
    #[staticmethod]
    #[pyo3(name = "from_bytes", signature = (data, /, *, format = None, key_type = None))]
    fn of_bytes<'py>(
        data: &Bound<'py, PyAny>,
        format: Option<&str>,
        key_type: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = data.py();
        let bytes = PyBuffer::<u8>::get(data)?.to_vec(py)?;
        let format = match format {
            Some(name) => format_of(name)?,
            None => Format::sniff(&bytes, bytes.len() as u64).ok_or_else(|| {
                crate::error::FormatException::new_err(
                    "the bytes are of no format that can be told from them; say which with format=",
                )
            })?,
        };
        wrap(py, filter_of(py.detach(|| parse(format, &bytes))?, key_type)?)
    }

    /// The filter in a file, as its maker writes it; of a Parquet file, that of a column.
    #[staticmethod]
    #[pyo3(name = "open", signature = (path, *, format = None, key_type = None, column = None))]
    fn of_file<'py>(
        py: Python<'py>,
        path: PathBuf,
        format: Option<&str>,
        key_type: Option<&str>,
        column: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let format = match format {
            Some(name) => format_of(name)?,
            None => py.detach(|| super::sniff(&path))?.ok_or_else(|| {
                crate::error::FormatException::new_err(format!(
                    "{}: the file is of no format that can be told from its bytes; say which with format=",
                    path.display()
                ))
            })?,
        };
        open(py, &path, format, key_type, column)
    }

    /// As open(): these filters are copied into memory when they are changed.
    #[staticmethod]
    #[pyo3(name = "load", signature = (path, *, format = None, key_type = None, column = None))]
    fn of_file_in_memory<'py>(
        py: Python<'py>,
        path: PathBuf,
        format: Option<&str>,
        key_type: Option<&str>,
        column: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::of_file(py, path, format, key_type, column)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let filter = slf.as_super().as_super().get();
        let data = PyBytes::new(py, &filter.bytes(py)?);
        let rebuild = py.import("gowk._gowk")?.getattr("_foreign_from_bytes")?;
        let arguments = (data, Self::format(slf), Self::key_type(slf)).into_pyobject(py)?;
        Ok((rebuild, arguments))
    }
}
