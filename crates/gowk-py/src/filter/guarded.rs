//! A filter behind two locks: the interpreter's, for those who have it, and one of its own, for those who have let go of it.
//!
//! A call for one key takes some 15 ns, and taking and giving back a lock 10 more. Whoever has the interpreter needs none while nobody is at
//! work without it: no two threads have it at once. So whoever lets go of it to work on the filter says so before, in a count, and as long as
//! that is not 0 everybody takes the lock.
//!
//! Where the interpreter has no such lock (free-threaded builds) everybody always does.

use super::held::Held;
use crate::{error::Raised, hash::Hash};
use gowk::{AnyFilter, BlockedBloom, Inserted, Key};
use pyo3::{PyResult, Python, sync::RwLockExt};
use std::{
    cell::UnsafeCell,
    ops::{Deref, DerefMut},
    sync::{
        PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Whether threads that have the interpreter exclude each other.
const HAS_GIL: bool = cfg!(not(Py_GIL_DISABLED));

/// See [`Inner::outside`].
const OTHER: usize = 1 << (usize::BITS - 1);

/// The filter and its locks. In a box, as filters hold lines of 64 bytes that must lie on such a boundary, and Python's memory has
/// boundaries of 16.
pub(crate) struct Guarded(Box<Inner>);

struct Inner {
    /// How many [`Outside`]s there are, and [`OTHER`] on top if the filter is not one of the default family in memory: with 0 the commonest
    /// calls know all that they need.
    outside: AtomicUsize,
    lock: RwLock<()>,
    held: UnsafeCell<Held>,
}

// SAFETY: the filter is only reached through the lock, or by a thread that excludes all others: see `alone`.
unsafe impl Sync for Inner {}

impl Inner {
    /// What is said of the filter beside the count.
    fn mark(held: &Held) -> usize {
        match held {
            Held::Heap(AnyFilter::BlockedBloom(_)) => 0,
            _ => OTHER,
        }
    }
}

impl Guarded {
    pub(crate) fn new(held: Held) -> Self {
        Self(Box::new(Inner {
            outside: AtomicUsize::new(Inner::mark(&held)),
            lock: RwLock::new(()),
            held: UnsafeCell::new(held),
        }))
    }

    /// The filter, if this thread has it to itself until it lets go of the interpreter, which it must not do while it uses what it gets: no
    /// Python code may run, and none does in a filter.
    #[inline(always)]
    fn alone(&self, _: Python<'_>) -> Option<*mut Held> {
        // Acquire: what was done outside has been done.
        (HAS_GIL && self.0.outside.load(Ordering::Acquire) & !OTHER == 0).then_some(self.0.held.get())
    }

    /// The filter, if it is one of the default family in memory and this thread has it to itself until it lets go of the interpreter.
    #[inline(always)]
    pub(crate) fn at_once(&self, _: Python<'_>) -> Option<*mut BlockedBloom> {
        if !HAS_GIL || self.0.outside.load(Ordering::Acquire) != 0 {
            return None;
        }
        // SAFETY: nobody is outside, and whoever would go there needs the interpreter first, which we have for the length of this call. The
        // reference ends with it.
        match unsafe { &mut *self.0.held.get() } {
            Held::Heap(AnyFilter::BlockedBloom(filter)) => Some(filter),
            // SAFETY: there is no mark on the count, and whoever changes the filter renews it.
            _ => unsafe { std::hint::unreachable_unchecked() },
        }
    }

    /// Whether the key may be in the filter, whose hash is this.
    pub(crate) fn ask<K: Key + ?Sized>(&self, py: Python<'_>, hash: &Hash, key: &K) -> bool {
        match self.alone(py) {
            // SAFETY: nobody is outside, and whoever would go there needs the interpreter first, which we have until this call is over.
            Some(held) => unsafe { &*held }.may_contain(hash, key),
            None => self.read(py).may_contain(hash, key),
        }
    }

    /// Puts the key into the filter, whose hash is this.
    pub(crate) fn put<K: Key + ?Sized>(
        &self,
        py: Python<'_>,
        hash: &Hash,
        key: &K,
    ) -> Result<Inserted, Raised> {
        match self.alone(py) {
            // SAFETY: as in `ask`; and another reference of ours is not alive, as none outlives its call.
            Some(held) => unsafe { &mut *held }.insert(hash, key),
            None => self.write(py).insert(hash, key),
        }
    }

    /// Tells that someone may use the filter without the interpreter, from now until what is given back is dropped.
    pub(crate) fn outside(&self, _: Python<'_>) -> Outside<'_> {
        self.0.outside.fetch_add(1, Ordering::Relaxed);
        Outside(&self.0)
    }

    /// The filter, to be read by one who has the interpreter; waits without it, as whoever has the lock may be about to need it.
    pub(crate) fn read(&self, py: Python<'_>) -> Reading<'_> {
        let outside = self.outside(py);
        let guard = self.0.lock.read_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        Reading { held: self.0.held.get(), _guard: guard, _outside: Some(outside) }
    }

    /// The filter, to be changed by one who has the interpreter.
    pub(crate) fn write(&self, py: Python<'_>) -> Writing<'_> {
        let outside = self.outside(py);
        let guard = self.0.lock.write_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        Writing { inner: &self.0, _guard: guard, _outside: Some(outside) }
    }

    /// Changes one by another, without the interpreter. Two threads that do this crosswise do not wait for each other for ever:
    /// locks are taken in the order of their addresses. By itself a filter is changed by a copy.
    pub(crate) fn with_both<R: Send>(
        py: Python<'_>,
        ours: &Self,
        theirs: &Self,
        change: impl FnOnce(&mut Held, &Held) -> PyResult<R> + Send,
    ) -> PyResult<R> {
        let (a, b) = (ours.outside(py), theirs.outside(py));
        py.detach(|| {
            if std::ptr::eq(a.0, b.0) {
                let copy = a.read().copy()?;
                return change(&mut a.write(), &copy);
            }
            if std::ptr::from_ref(a.0) < std::ptr::from_ref(b.0) {
                let mut ours = a.write();
                change(&mut ours, &b.read())
            } else {
                let theirs = b.read();
                change(&mut a.write(), &theirs)
            }
        })
    }
}

/// The right to use the filter without the interpreter.
pub(crate) struct Outside<'a>(&'a Inner);

impl Drop for Outside<'_> {
    fn drop(&mut self) {
        self.0.outside.fetch_sub(1, Ordering::Release);
    }
}

impl Outside<'_> {
    /// The filter, to be read.
    pub(crate) fn read(&self) -> Reading<'_> {
        let guard = self.0.lock.read().unwrap_or_else(PoisonError::into_inner);
        Reading { held: self.0.held.get(), _guard: guard, _outside: None }
    }

    /// The filter, to be changed.
    pub(crate) fn write(&self) -> Writing<'_> {
        let guard = self.0.lock.write().unwrap_or_else(PoisonError::into_inner);
        Writing { inner: self.0, _guard: guard, _outside: None }
    }
}

/// A filter that is being read.
pub(crate) struct Reading<'a> {
    held: *const Held,
    _guard: RwLockReadGuard<'a, ()>,
    _outside: Option<Outside<'a>>,
}

impl Deref for Reading<'_> {
    type Target = Held;

    fn deref(&self) -> &Held {
        // SAFETY: the lock is held for reading, and as there is an `Outside` (ours, or that which we borrow) nobody goes without it.
        unsafe { &*self.held }
    }
}

/// A filter that is being changed.
pub(crate) struct Writing<'a> {
    inner: &'a Inner,
    _guard: RwLockWriteGuard<'a, ()>,
    _outside: Option<Outside<'a>>,
}

impl Deref for Writing<'_> {
    type Target = Held;

    fn deref(&self) -> &Held {
        // SAFETY: the lock is held for writing, and as there is an `Outside` nobody goes without it.
        unsafe { &*self.inner.held.get() }
    }
}

impl DerefMut for Writing<'_> {
    fn deref_mut(&mut self) -> &mut Held {
        // SAFETY: as in `deref`.
        unsafe { &mut *self.inner.held.get() }
    }
}

impl Drop for Writing<'_> {
    /// Renews the mark: it may be another filter now. Before the count goes down, as `_outside` is dropped after this.
    fn drop(&mut self) {
        match Inner::mark(self) {
            OTHER => self.inner.outside.fetch_or(OTHER, Ordering::Relaxed),
            _ => self.inner.outside.fetch_and(!OTHER, Ordering::Relaxed),
        };
    }
}
