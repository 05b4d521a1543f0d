//! The core's errors as Python's: subclasses of ValueError and TypeError with the same words, OSError for what the system says.

use gowk::{
    Full, MergeError, OpenError, OutOfRange, ParamsError,
    format::{ChangeError, foreign::ForeignError},
};
use pyo3::{
    create_exception,
    exceptions::{PyMemoryError, PyOSError, PyTypeError, PyValueError},
    prelude::*,
};
use std::{io, path::Path};

create_exception!(gowk, ParamsException, PyValueError, "A filter that cannot be built as asked.");
create_exception!(
    gowk,
    FullException,
    PyValueError,
    "The filter has no place for the key, and is as it was before."
);
create_exception!(gowk, MergeException, PyValueError, "Two filters that do not fit each other.");
create_exception!(gowk, FormatException, PyValueError, "Bytes or a file that are not what they should be.");
create_exception!(gowk, RangeException, PyValueError, "An integer that the set was not made for.");
create_exception!(gowk, ReadOnlyException, PyTypeError, "A change to a filter that cannot be changed.");

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    for (name, exception) in [
        ("ParamsError", py.get_type::<ParamsException>()),
        ("FullError", py.get_type::<FullException>()),
        ("MergeError", py.get_type::<MergeException>()),
        ("FormatError", py.get_type::<FormatException>()),
        ("RangeError", py.get_type::<RangeException>()),
        ("ReadOnlyError", py.get_type::<ReadOnlyException>()),
    ] {
        // The name under which Python finds it again, as pickle does.
        exception.setattr("__name__", name)?;
        exception.setattr("__qualname__", name)?;
        module.add(name, exception)?;
    }
    Ok(())
}

/// The interpreter has the error. Takes no room, so that what comes of a call for one key stays in a register: a [`PyErr`] in its place is
/// 64 bytes that are copied each time, which waits for the byte that was just written among them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raised;

impl Raised {
    /// Hands the error to the interpreter, as a function of C does before it says that it has failed.
    #[cold]
    pub(crate) fn by(error: PyErr) -> Self {
        // PyO3 counts on its own note that this thread has the interpreter.
        Python::attach(|py| error.restore(py));
        Self
    }
}

/// An error of the core, for Python.
pub(crate) trait Told {
    fn told(self) -> PyErr;
}

/// `?` for errors of the core.
pub(crate) trait OrRaise<T> {
    fn or_raise(self) -> PyResult<T>;
}

impl<T, E: Told> OrRaise<T> for Result<T, E> {
    #[inline]
    fn or_raise(self) -> PyResult<T> {
        self.map_err(Told::told)
    }
}

impl Told for ParamsError {
    #[cold]
    fn told(self) -> PyErr {
        match self {
            Self::OutOfMemory { .. } => PyMemoryError::new_err(self.to_string()),
            // The core's words name the builder's method.
            Self::Unsized => ParamsException::new_err("say how many keys to expect, with items=n"),
            other => ParamsException::new_err(other.to_string()),
        }
    }
}

impl Told for Full {
    #[cold]
    fn told(self) -> PyErr {
        FullException::new_err(self.to_string())
    }
}

impl Told for OutOfRange {
    #[cold]
    fn told(self) -> PyErr {
        RangeException::new_err(self.to_string())
    }
}

impl Told for MergeError {
    #[cold]
    fn told(self) -> PyErr {
        match self {
            Self::Full(full) => full.told(),
            Self::OutOfRange(outside) => outside.told(),
            Self::Family { .. } | Self::Never { .. } => PyTypeError::new_err(self.to_string()),
            other => MergeException::new_err(other.to_string()),
        }
    }
}

impl Told for ChangeError {
    #[cold]
    fn told(self) -> PyErr {
        match self {
            Self::Full(full) => full.told(),
            Self::Merge(error) => error.told(),
            other => PyTypeError::new_err(other.to_string()),
        }
    }
}

impl Told for OpenError {
    #[cold]
    fn told(self) -> PyErr {
        match self {
            Self::Io(error) => error.into(),
            Self::Params(error @ ParamsError::OutOfMemory { .. }) => error.told(),
            other => FormatException::new_err(other.to_string()),
        }
    }
}

impl Told for ForeignError {
    #[cold]
    fn told(self) -> PyErr {
        match self {
            Self::Io(error) => error.into(),
            other => FormatException::new_err(other.to_string()),
        }
    }
}

/// An error of the system at a path, as Python's own `open` raises it: the right subclass, errno, text and file name.
#[cold]
pub(crate) fn at_path(error: &io::Error, path: &Path) -> PyErr {
    match error.raw_os_error() {
        Some(code) => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((code, text, path.to_path_buf()))
        }
        None => PyOSError::new_err(format!("{}: {error}", path.display())),
    }
}

/// An error of a file: with its path.
pub(crate) trait AtPath<T> {
    fn at(self, path: &Path) -> PyResult<T>;
}

impl<T> AtPath<T> for io::Result<T> {
    fn at(self, path: &Path) -> PyResult<T> {
        self.map_err(|error| at_path(&error, path))
    }
}

impl<T> AtPath<T> for Result<T, OpenError> {
    fn at(self, path: &Path) -> PyResult<T> {
        self.map_err(|error| match error {
            OpenError::Io(error) => at_path(&error, path),
            OpenError::Params(error @ ParamsError::OutOfMemory { .. }) => error.told(),
            other => FormatException::new_err(format!("{}: {other}", path.display())),
        })
    }
}

impl<T> AtPath<T> for Result<T, ForeignError> {
    fn at(self, path: &Path) -> PyResult<T> {
        self.map_err(|error| match error {
            ForeignError::Io(error) => at_path(&error, path),
            other => FormatException::new_err(format!("{}: {other}", path.display())),
        })
    }
}
