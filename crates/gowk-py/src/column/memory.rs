//! Memory that Python owns, lent to us: the buffer protocol, and the capsules of Arrow.
//!
//! The interpreter keeps it alive while we hold it. That nobody writes to an array while another thread adds it to a filter is up to the
//! caller, as it is with numpy's own functions, which let go of the interpreter as well.

use arrow_array::{
    ArrayRef,
    ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi},
    ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream},
    make_array,
};
use arrow_schema::ArrowError;
use pyo3::{
    buffer::PyBuffer,
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyCapsule, PyTuple},
};

/// The bytes of an object that has a contiguous buffer of them.
pub(crate) struct Lent(PyBuffer<u8>);

impl Lent {
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyBuffer::get(object)?;
        match buffer.is_c_contiguous() {
            true => Ok(Self(buffer)),
            false => Err(PyValueError::new_err("the memory is in pieces; make a contiguous copy")),
        }
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match self.0.len_bytes() {
            0 => &[],
            // SAFETY: the buffer is contiguous (`new` has asked) and so long, and the view that we hold keeps it in place. Its bytes have
            // been written, as numpy and Python give out no other memory.
            len => unsafe { std::slice::from_raw_parts(self.0.buf_ptr().cast(), len) },
        }
    }
}

/// The arrays of an object that speaks the Arrow C data interface; none if it does not.
pub(crate) fn arrow_arrays(object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<ArrayRef>>> {
    if object.hasattr("__arrow_c_stream__")? {
        let capsule = object.call_method0("__arrow_c_stream__")?;
        let capsule = capsule.cast::<PyCapsule>()?;
        let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<FFI_ArrowArrayStream>();
        // SAFETY: a capsule of this name holds such a stream; that is what the interface promises. It is moved out of the capsule, which
        // is then marked as empty.
        let reader = unsafe { ArrayStreamReader::from_raw(stream.as_ptr()) }.map_err(broken)?;
        return reader.collect::<Result<_, _>>().map_err(broken).map(Some);
    }
    if object.hasattr("__arrow_c_array__")? {
        let pair = object.call_method0("__arrow_c_array__")?;
        let pair = pair.cast::<PyTuple>()?;
        let (schema, array) = (pair.get_item(0)?, pair.get_item(1)?);
        let (schema, array) = (schema.cast::<PyCapsule>()?, array.cast::<PyCapsule>()?);
        let schema = schema.pointer_checked(Some(c"arrow_schema"))?.cast::<FFI_ArrowSchema>();
        let array = array.pointer_checked(Some(c"arrow_array"))?.cast::<FFI_ArrowArray>();
        // SAFETY: capsules of these names hold such structures, and the schema is that of the array; both are moved out.
        let data = unsafe {
            let schema = FFI_ArrowSchema::from_raw(schema.as_ptr());
            from_ffi(FFI_ArrowArray::from_raw(array.as_ptr()), &schema)
        };
        return Ok(Some(vec![make_array(data.map_err(broken)?)]));
    }
    Ok(None)
}

fn broken(error: ArrowError) -> PyErr {
    match error {
        ArrowError::CDataInterface(_) => PyTypeError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}
