//! numpy's arrays, and what is as good: `array.array`, memoryviews, Series and Indexes of pandas that have numpy memory.

use super::{Column, Part, Parts, memory::Lent};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    intern,
    prelude::*,
    types::{PyDict, PyMemoryView},
};

/// The keys of an object of numpy's or pandas' kind; none if it is something else.
pub(super) fn part<'py>(keys: &Bound<'py, PyAny>) -> PyResult<Option<Column<'py>>> {
    let py = keys.py();
    let class = keys.get_type();
    let module = class.module()?;
    let module = module.to_str()?;
    if module.starts_with("pandas") && keys.hasattr(intern!(py, "array"))? {
        return of_pandas(keys);
    }
    if class.name()? == "array" && module == "array" || keys.is_instance_of::<PyMemoryView>() {
        let array = py.import("numpy")?.call_method1("asarray", (keys,))?;
        return of_numpy(&array).map(Some);
    }
    // Who has not loaded numpy has no array of it.
    let loaded = py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
    match loaded.get_item("numpy")? {
        Some(numpy) if keys.is_instance(&numpy.getattr("ndarray")?)? => of_numpy(keys).map(Some),
        _ => Ok(None),
    }
}

/// A Series or Index.
fn of_pandas<'py>(series: &Bound<'py, PyAny>) -> PyResult<Option<Column<'py>>> {
    let py = series.py();
    if series.getattr("dtype")?.is_instance(&py.import("numpy")?.getattr("dtype")?)? {
        return of_numpy(&series.call_method0("to_numpy")?).map(Some);
    }
    let array = series.getattr("array")?;
    if array.hasattr("__arrow_array__")? {
        let arrow = array.call_method0("__arrow_array__")?;
        return Ok(super::arrow::parts(&arrow)?.map(|parts| Column::Parts(Parts(parts))));
    }
    // Categories and such.
    of_numpy(&series.call_method0("to_numpy")?).map(Some)
}

fn of_numpy<'py>(array: &Bound<'py, PyAny>) -> PyResult<Column<'py>> {
    let py = array.py();
    let numpy = py.import("numpy")?;
    let dimensions = array.getattr("ndim")?.extract::<usize>()?;
    if dimensions != 1 {
        return Err(PyValueError::new_err(format!(
            "the array has {dimensions} dimensions, and keys have one; give a column of it, or array.ravel()"
        )));
    }
    if array.is_instance(&numpy.getattr("ma")?.getattr("MaskedArray")?)? {
        return Err(PyTypeError::new_err("a masked array has no plain keys; give array.compressed()"));
    }
    let dtype = array.getattr("dtype")?;
    let kind = dtype.getattr("kind")?.extract::<String>()?;
    if !matches!(kind.as_str(), "i" | "u" | "b" | "S" | "U") {
        return match kind.as_str() {
            "O" | "T" => Ok(Column::Objects(array.clone())),
            "f" => Err(PyTypeError::new_err(format!(
                "an array of {dtype} has no keys: a key is str, bytes or int; if its values are whole numbers, give array.astype(\"int64\")"
            ))),
            "M" | "m" => Err(PyTypeError::new_err(format!(
                "an array of {dtype} has no keys: a key is str, bytes or int; give array.view(\"int64\")"
            ))),
            _ => Err(PyTypeError::new_err(format!(
                "an array of {dtype} has no keys: a key is str, bytes or int"
            ))),
        };
    }
    let count = array.len()?;
    let width = dtype.getattr("itemsize")?.extract::<usize>()?;
    let little = dtype.call_method1("newbyteorder", ("<",))?;
    // Both give the array itself if it is what they shall make of it.
    let options = PyDict::new(py);
    options.set_item("copy", false)?;
    let array = array.call_method("astype", (little,), Some(&options))?;
    let array = numpy.call_method1("ascontiguousarray", (array,))?;
    let bytes = match width {
        0 => numpy.call_method1("empty", (0, "uint8"))?,
        _ => array.call_method1("view", ("uint8",))?,
    };
    let memory = Lent::new(&bytes)?;
    let part = match kind.as_str() {
        "S" => Part::Fixed { memory, width, count },
        "U" if width == 0 => Part::Fixed { memory, width, count },
        "U" => {
            let valid = |unit: &[u8; 4]| char::from_u32(u32::from_le_bytes(*unit)).is_some();
            if !memory.bytes().as_chunks::<4>().0.iter().all(valid) {
                return Err(PyValueError::new_err("the array holds lone surrogates, which have no UTF-8"));
            }
            Part::Wide { memory, width }
        }
        kind => Part::Ints { memory, width, signed: kind == "i" },
    };
    Ok(Column::Parts(Parts(vec![part])))
}
