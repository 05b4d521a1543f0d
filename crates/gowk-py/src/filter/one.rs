//! `add` and `in`, as the interpreter calls them for one key after another.
//!
//! A filter needs some 10 ns for a key. What PyO3 puts around a method (a note that this thread has the interpreter, arguments to be sorted
//! out, a result handed over in memory) is as much again, so these two are functions of C with nothing around them: `add` takes its one
//! argument as it is, `in` is the slot itself.

use super::base::{Filter, MutableFilter};
use crate::{
    error::Raised,
    key::{self, Sink},
};
use gowk::Inserted;
use pyo3::{
    exceptions::PyRuntimeError,
    ffi,
    impl_::pyclass::{PyClassImpl, PyClassItems},
    prelude::*,
    types::{PyBool, PyType},
};
use std::{
    ffi::c_int,
    panic::{AssertUnwindSafe, catch_unwind},
};

// As `#[pymethods]` would, but with our own function. Should PyO3 change how it does this, it does not compile.
pyo3::inventory::submit! {
    type Inventory = <Filter as PyClassImpl>::Inventory;
    Inventory::new(PyClassItems {
        methods: &[],
        slots: &[ffi::PyType_Slot { slot: ffi::Py_sq_contains, pfunc: contains as ffi::objobjproc as *mut _ }],
    })
}

/// `key in self`
unsafe extern "C" fn contains(this: *mut ffi::PyObject, key: *mut ffi::PyObject) -> c_int {
    // SAFETY: the interpreter calls, so that this thread has it; both objects are the caller's and stay for the call; that the first is
    // of the class whose slot this is, or of one below it, the interpreter has seen to.
    let (py, this, key) = unsafe {
        let py = Python::assume_attached();
        let this = Borrowed::from_ptr(py, this).cast_unchecked::<Filter>();
        (py, this, Borrowed::from_ptr(py, key))
    };
    guarded(-1, || {
        let mut asked = Asked { filter: this.get(), py, answer: false };
        match key::feed(&key, &mut asked) {
            Ok(()) => c_int::from(asked.answer),
            Err(error) => {
                Raised::by(error);
                -1
            }
        }
    })
}

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
    // SAFETY: as in `contains`; the class which has the method is one of mutable filters.
    let (py, this, key) = unsafe {
        let py = Python::assume_attached();
        let this = Borrowed::from_ptr(py, this).cast_unchecked::<MutableFilter>();
        (py, this, Borrowed::from_ptr(py, key))
    };
    guarded(std::ptr::null_mut(), || {
        let mut put = Put { filter: this.as_super().get(), py, outcome: Ok(Inserted::New) };
        match key::feed(&key, &mut put).map_err(Raised::by).and(put.outcome) {
            Ok(inserted) => PyBool::new(py, inserted == Inserted::New).to_owned().into_ptr(),
            Err(Raised) => std::ptr::null_mut(),
        }
    })
}

/// Asks for the key that comes.
struct Asked<'a, 'py> {
    filter: &'a Filter,
    py: Python<'py>,
    answer: bool,
}

impl Sink for Asked<'_, '_> {
    #[inline(always)]
    fn int(&mut self, word: u64, _: bool) {
        self.answer = self.filter.held.ask(self.py, &self.filter.hash, &word);
    }

    #[inline(always)]
    fn bytes(&mut self, bytes: &[u8]) {
        self.answer = self.filter.held.ask(self.py, &self.filter.hash, bytes);
    }

    fn null(&mut self) {}
}

/// Puts the key that comes in.
struct Put<'a, 'py> {
    filter: &'a Filter,
    py: Python<'py>,
    outcome: Result<Inserted, Raised>,
}

impl Sink for Put<'_, '_> {
    #[inline(always)]
    fn int(&mut self, word: u64, _: bool) {
        self.outcome = self.filter.held.put(self.py, &self.filter.hash, &word);
    }

    #[inline(always)]
    fn bytes(&mut self, bytes: &[u8]) {
        self.outcome = self.filter.held.put(self.py, &self.filter.hash, bytes);
    }

    fn null(&mut self) {}
}

/// What the call gives, or `failed` if it panics: no panic may reach the interpreter.
#[inline(always)]
fn guarded<R>(failed: R, call: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
        Raised::by(PyRuntimeError::new_err("a filter panicked; please report it"));
        failed
    })
}
