//! gowk for Python: the extension module `gowk._gowk`, which the package `gowk` in `python/` shows to the world.
//!
//! ```text
//! Python object --key.rs--> bytes | integer ----------\
//! numpy, Arrow, pandas, polars --column/--> parts -----> digests --> filter/ (one lock each) --> answers
//! any iterable --------------------------- chunks ----/
//! ```
//!
//! What Python sees is frozen (no `&mut self`): a filter lives behind a lock of its own, so that bulk calls let go of the interpreter and
//! two threads may use one filter, with the GIL or without it.
//!
//! `unsafe` has three doors: `column/memory.rs`, for memory that Python owns, lent to us while we work; `filter/guarded.rs` and `filter/one.rs`,
//! for calls of one key, which take so little time that a lock or a list of arguments would double it.
#![deny(unsafe_code)]
#![expect(clippy::doc_link_with_quotes, reason = "documentation of classes is Python's, with lists of text")]
#![expect(clippy::needless_pass_by_value, reason = "what Python hands over is made for the call")]

mod column;
mod error;
mod exact;
mod file;
mod filter;
mod hash;
mod jobs;
mod key;
mod lock;
mod plan;
mod redis;
mod sketch;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _gowk(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    error::register(module)?;
    filter::register(module)?;
    exact::register(module)?;
    sketch::register(module)?;
    plan::register(module)?;
    jobs::register(module)?;
    redis::register(module)
}
