//! Filters on Redis, Valkey and their clusters: what `gowk.redis` (blocking) and `gowk.redis.asyncio` in `python/` are made of.
//!
//! ```text
//! keys --column/--> digests --gowk-redis--> future --reply.rs--> waited for here, without the interpreter, heeding Ctrl-C
//!                                                           \--> or told to a function of Python's, from where it ends
//! ```
//!
//! So each operation is here once, and takes `reply`: none to wait, or the function that is told.

mod filter;
mod info;
mod raise;
mod reply;
mod servers;

use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    raise::register(module)?;
    module.add_class::<servers::RedisServers>()?;
    module.add_class::<filter::RedisFilter>()?;
    // By the name that it has here, not by that which `gowk.redis` gives it.
    module.add("RedisInfo", module.py().get_type::<info::RedisInfo>())
}
