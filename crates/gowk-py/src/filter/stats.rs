//! What a filter tells of itself, for Python.

use gowk::Stats;
use pyo3::prelude::*;

/// What was promised, and what is.
#[pyclass(module = "gowk", name = "Stats", frozen)]
pub(crate) struct PyStats {
    /// What kind of filter it is.
    #[pyo3(get)]
    family: &'static str,
    /// The keys that it was made for.
    #[pyo3(get)]
    items: u64,
    /// The rate of false positives that was promised for that many.
    #[pyo3(get)]
    fpp: f64,
    /// Its bits, or the bits of its slots.
    #[pyo3(get)]
    bits: u64,
    /// The part of its bits that are set, or of its slots that are used.
    #[pyo3(get)]
    fill: f64,
    /// How many different keys have come, as far as the bits tell.
    #[pyo3(get)]
    estimated_items: f64,
    /// The rate at which it now answers "maybe" for keys that are not in it.
    #[pyo3(get)]
    fpp_now: f64,
    /// How many more keys may come before the promise is broken.
    #[pyo3(get)]
    room: u64,
    /// Whether more keys have come than were promised.
    #[pyo3(get)]
    is_overfull: bool,
    text: String,
}

impl From<Stats> for PyStats {
    fn from(stats: Stats) -> Self {
        Self {
            family: stats.family.name(),
            items: stats.items,
            fpp: stats.fpp,
            bits: stats.bits,
            fill: stats.fill,
            estimated_items: stats.estimated_items,
            fpp_now: stats.fpp_now,
            room: stats.room(),
            is_overfull: stats.is_overfull(),
            text: stats.to_string(),
        }
    }
}

#[pymethods]
impl PyStats {
    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!(
            "Stats(family={:?}, items={}, fpp={}, bits={}, fill={}, estimated_items={}, fpp_now={})",
            self.family, self.items, self.fpp, self.bits, self.fill, self.estimated_items, self.fpp_now
        )
    }
}
