//! What goes wrong with servers, as Python's OSError; and what was wrong with the question, as its ValueError.

use crate::error::Told;
use gowk_redis::{BatchError, Error};
use pyo3::{
    create_exception,
    exceptions::{PyConnectionError, PyOSError, PyTypeError, PyValueError},
    prelude::*,
    sync::PyOnceLock,
    types::{PyDict, PyType},
};

create_exception!(gowk.redis, RedisError, PyOSError, "What servers, or the way to them, did not do.");
create_exception!(
    gowk.redis,
    NotFoundError,
    RedisError,
    "There is no filter of that name: it was never created, was dropped, or has expired."
);
create_exception!(
    gowk.redis,
    ExistsError,
    RedisError,
    "There is a filter of that name already, or one that differs from what was asked for."
);
create_exception!(
    gowk.redis,
    LostError,
    RedisError,
    "A part of the filter has vanished, so that keys would be denied wrongly; it has to be built again."
);

/// A [`RedisError`] that is a `ConnectionError` as well.
static NO_SERVER: PyOnceLock<Py<PyType>> = PyOnceLock::new();

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let body = PyDict::new(py);
    body.set_item("__module__", "gowk.redis")?;
    body.set_item("__doc__", "Nobody answers, for as long as we are to be patient.")?;
    let bases = (py.get_type::<RedisError>(), py.get_type::<PyConnectionError>());
    let no_server = py.get_type::<PyType>().call1(("NoServerError", bases, body))?.cast_into::<PyType>()?;
    module.add("NoServerError", &no_server)?;
    let _ = NO_SERVER.set(py, no_server.unbind());
    module.add("RedisError", py.get_type::<RedisError>())?;
    module.add("NotFoundError", py.get_type::<NotFoundError>())?;
    module.add("ExistsError", py.get_type::<ExistsError>())?;
    module.add("LostError", py.get_type::<LostError>())
}

impl Told for Error {
    #[cold]
    fn told(self) -> PyErr {
        let words = self.to_string();
        match self {
            Self::Params(error) => error.told(),
            Self::Merge(error) => error.told(),
            Self::Name { .. } | Self::Url { .. } => PyValueError::new_err(words),
            Self::WrongType { .. } => PyTypeError::new_err(words),
            Self::NotFound { .. } => NotFoundError::new_err(words),
            Self::Exists { .. } | Self::Differs { .. } => ExistsError::new_err(words),
            Self::Lost { .. } => LostError::new_err(words),
            Self::NoServer { .. } => Python::attach(|py| match NO_SERVER.get(py) {
                Some(class) => PyErr::from_type(class.bind(py).clone(), (words,)),
                None => RedisError::new_err(words),
            }),
            _ => RedisError::new_err(words),
        }
    }
}

impl Told for BatchError {
    /// With the places of the keys that failed, as `failed`.
    #[cold]
    fn told(self) -> PyErr {
        let (words, failed) = (self.to_string(), self.failed);
        let error = match (*self.source).told() {
            error if self.keys == 1 => error,
            error => Python::attach(|py| PyErr::from_type(error.get_type(py), (words,))),
        };
        Python::attach(|py| {
            // An exception that takes no attribute is an exception all the same.
            let _ = error.value(py).setattr("failed", failed);
        });
        error
    }
}
