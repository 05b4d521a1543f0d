//! A lock that waits without the interpreter, so that nobody who holds it and needs the interpreter waits for us in turn.

use pyo3::{prelude::*, sync::RwLockExt};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

/// What an object of Python holds. A panic while it is held leaves nothing that memory could suffer from, so that it is no reason
/// to refuse what comes later.
///
/// In a box, as filters hold lines of 64 bytes that must lie on such a boundary, and Python's memory has boundaries of 16.
pub(crate) struct Lock<T>(Box<RwLock<T>>);

/// What an object of Python may ask of its place in memory.
pub(crate) const MOST_ALIGNED: usize = 16;

impl<T> Lock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Box::new(RwLock::new(value)))
    }

    /// To be read, by one who has the interpreter.
    #[inline]
    pub(crate) fn read(&self, py: Python<'_>) -> RwLockReadGuard<'_, T> {
        match self.0.try_read() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                self.0.read_py_attached(py).unwrap_or_else(PoisonError::into_inner)
            }
        }
    }

    /// To be changed, by one who has the interpreter.
    #[inline]
    pub(crate) fn write(&self, py: Python<'_>) -> RwLockWriteGuard<'_, T> {
        match self.0.try_write() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                self.0.write_py_attached(py).unwrap_or_else(PoisonError::into_inner)
            }
        }
    }

    /// To be read, by one who has let go of the interpreter.
    pub(crate) fn read_detached(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// To be changed, by one who has let go of the interpreter.
    pub(crate) fn write_detached(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes one by another, without the interpreter. Two threads that do this crosswise do not wait for each other for ever:
    /// locks are taken in the order of their addresses. By itself it is changed by a copy.
    pub(crate) fn with_both<R>(
        ours: &Self,
        theirs: &Self,
        copy: impl FnOnce(&T) -> PyResult<T>,
        change: impl FnOnce(&mut T, &T) -> PyResult<R>,
    ) -> PyResult<R> {
        if std::ptr::eq(ours, theirs) {
            let copy = copy(&ours.read_detached())?;
            return change(&mut ours.write_detached(), &copy);
        }
        if std::ptr::from_ref(ours) < std::ptr::from_ref(theirs) {
            let mut ours = ours.write_detached();
            change(&mut ours, &theirs.read_detached())
        } else {
            let theirs = theirs.read_detached();
            change(&mut ours.write_detached(), &theirs)
        }
    }
}
