//! `add` and `in`, as the interpreter calls them for one key after another.
//!
//! A filter needs some 10 ns for a key. What PyO3 puts around a method (a note that this thread has the interpreter, arguments to be sorted
//! out, a result handed over in memory) is as much again, so these two are functions of C with nothing around them: `add` takes its one
//! argument as it is, `in` is the slot itself. A plain key and a filter of the default family meet without anything that could fail or panic;
//! all others take the longer way.

use super::base::{Filter, MutableFilter};
use crate::{
    error::Raised,
    key::{self, Sink},
};
use gowk::{Filter as _, Insert, Inserted};
use pyo3::{
    exceptions::PyRuntimeError,
    ffi,
    impl_::pyclass::{PyClassImpl, PyClassItems},
    prelude::*,
    types::PyType,
};
use std::{
    ffi::{c_int, c_long, c_longlong},
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
    let filter = this.get();
    if let Some(filter) = filter.held.at_once(py)
        && let Some(key) = plain(key)
    {
        // SAFETY: nothing runs Python code or lets go of the interpreter while the filter is borrowed.
        let filter = unsafe { &*filter };
        return c_int::from(match key {
            Plain::Word(word) => filter.may_contain(&word),
            Plain::Bytes(bytes) => filter.may_contain(bytes),
        });
    }
    contains_any(filter, key)
}

/// [`contains`], whatever the filter and the key.
#[inline(never)]
fn contains_any(filter: &Filter, key: Borrowed<'_, '_, PyAny>) -> c_int {
    guarded(-1, || {
        let mut asked = Asked { filter, py: key.py(), answer: false };
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
    let filter = this.as_super().get();
    let inserted = if let Some(filter) = filter.held.at_once(py)
        && let Some(key) = plain(key)
    {
        // SAFETY: as in `contains`; and no other reference is alive, as none outlives its call.
        let filter = unsafe { &mut *filter };
        match key {
            Plain::Word(word) => filter.insert(&word),
            Plain::Bytes(bytes) => filter.insert(bytes),
        }
    } else {
        match add_any(filter, key) {
            Ok(inserted) => inserted,
            Err(Raised) => return std::ptr::null_mut(),
        }
    };
    // SAFETY: this thread has the interpreter. Not PyO3's way, which finds the object and then calls to count it: one call does both.
    unsafe { ffi::PyBool_FromLong(c_long::from(inserted == Inserted::New)) }
}

/// [`add`], whatever the filter and the key.
#[inline(never)]
fn add_any(filter: &Filter, key: Borrowed<'_, '_, PyAny>) -> Result<Inserted, Raised> {
    guarded(Err(Raised), || {
        let mut put = Put { filter, py: key.py(), outcome: Ok(Inserted::New) };
        key::feed(&key, &mut put).map_err(Raised::by).and(put.outcome)
    })
}

/// A key of one of the three types themselves, an integer of 64 bits: nearly all are.
enum Plain<'a> {
    /// As the 64 bits of its two's complement.
    Word(u64),
    Bytes(&'a [u8]),
}

/// The key, if it is a plain one. Leaves no error behind; [`key::feed`] says what is wrong with a key.
#[inline(always)]
fn plain<'a>(key: Borrowed<'a, '_, PyAny>) -> Option<Plain<'a>> {
    // SAFETY: this thread has the interpreter, as it has the object. The types are compared before the calls that need them; the bytes
    // are those of the object, which cannot change and is borrowed for as long.
    unsafe {
        let (object, class) = (key.as_ptr(), ffi::Py_TYPE(key.as_ptr()));
        let (start, len) = if class == &raw mut ffi::PyUnicode_Type {
            let mut len = 0;
            (ffi::PyUnicode_AsUTF8AndSize(object, &raw mut len), len)
        } else if class == &raw mut ffi::PyLong_Type {
            // Where both have 64 bits, the former is by far the quicker one.
            let int = match size_of::<c_long>() {
                8 => ffi::PyLong_AsLong(object) as c_longlong,
                _ => ffi::PyLong_AsLongLong(object),
            };
            if int != -1 || ffi::PyErr_Occurred().is_null() {
                return Some(Plain::Word(int as u64));
            }
            (std::ptr::null(), 0)
        } else if class == &raw mut ffi::PyBytes_Type {
            let (mut start, mut len) = (std::ptr::null_mut(), 0);
            ffi::PyBytes_AsStringAndSize(object, &raw mut start, &raw mut len);
            (start.cast_const(), len)
        } else {
            return None;
        };
        if start.is_null() {
            ffi::PyErr_Clear();
            return None;
        }
        Some(Plain::Bytes(std::slice::from_raw_parts(start.cast(), len as usize)))
    }
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
