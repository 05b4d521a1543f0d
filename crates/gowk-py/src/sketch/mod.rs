//! Counts of bounded size: [`CountMin`](count_min::CountMin) and [`TopK`](top_k::TopK).

mod count_min;
mod top_k;

pub(crate) use count_min::wrap as wrap_count_min;
pub(crate) use top_k::wrap as wrap_top_k;

use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    count_min::register(module)?;
    top_k::register(module)
}
