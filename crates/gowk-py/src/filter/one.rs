//! `add`, as the interpreter calls it for one key after another: with one argument as it is, not with a list of them to be sorted out.

use super::base::MutableFilter;
use crate::key;
use gowk::Inserted;
use pyo3::{
    exceptions::PyRuntimeError,
    ffi,
    prelude::*,
    types::{PyBool, PyType},
};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Gives this class, of mutable filters, its method `add`. In each class for itself, as the interpreter is quicker to see that an
/// object is of just that class than of one below it.
pub(super) fn give_add(class: &Bound<'_, PyType>) -> PyResult<()> {
    // It lives as long as the class, which is for ever.
    let definition = Box::leak(Box::new(ffi::PyMethodDef {
        ml_name: c"add".as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunction: add },
        ml_flags: ffi::METH_O,
        ml_doc: c"add($self, key, /)\n--\n\nPuts a key in. True if it was surely not there before.".as_ptr(),
    }));
    let py = class.py();
    // SAFETY: the class is one, and the definition is complete and stays.
    let method =
        unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyDescr_NewMethod(class.as_type_ptr(), definition)) }?;
    class.setattr("add", method)
}

/// `self.add(key)`
unsafe extern "C" fn add(this: *mut ffi::PyObject, key: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls, so that this thread has it; both objects are the caller's and stay for the call; that the first is
    // of the class which has the method, and so a mutable filter, the interpreter has seen to.
    let (py, this, key) = unsafe {
        let py = Python::assume_attached();
        let this = Borrowed::from_ptr(py, this).cast_unchecked::<MutableFilter>();
        (py, this, Borrowed::from_ptr(py, key))
    };
    let added = catch_unwind(AssertUnwindSafe(|| {
        let filter = this.as_super().get();
        let digest = key::digest(&key, &filter.hash)?;
        filter.held.put(py, digest)
    }));
    match added {
        Ok(Ok(inserted)) => PyBool::new(py, inserted == Inserted::New).to_owned().into_ptr(),
        failed => fail(failed),
    }
}

#[cold]
fn fail(failed: std::thread::Result<PyResult<Inserted>>) -> *mut ffi::PyObject {
    // What follows counts on PyO3's own note that this thread has the interpreter.
    Python::attach(|py| {
        match failed {
            Ok(Err(error)) => error.restore(py),
            _ => PyRuntimeError::new_err("a filter panicked; please report it").restore(py),
        }
        std::ptr::null_mut()
    })
}
