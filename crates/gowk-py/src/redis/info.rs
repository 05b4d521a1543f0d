//! What a filter on servers tells about itself, for Python.

use gowk_redis::Info;
use pyo3::prelude::*;

/// What was promised, and what is.
#[pyclass(module = "gowk.redis", name = "Info", frozen)]
pub(super) struct RedisInfo(Info);

impl From<Info> for RedisInfo {
    fn from(info: Info) -> Self {
        Self(info)
    }
}

#[pymethods]
impl RedisInfo {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// What kind of filter it is.
    #[getter]
    fn family(&self) -> &'static str {
        self.0.family.name()
    }

    /// The keys that it was made for.
    #[getter]
    fn items(&self) -> u64 {
        self.0.items
    }

    /// The rate of false positives that was promised for that many.
    #[getter]
    fn fpp(&self) -> f64 {
        self.0.fpp
    }

    /// Its bits, over all shards.
    #[getter]
    fn bits(&self) -> u64 {
        self.0.bits
    }

    /// In how many parts it lies on the servers.
    #[getter]
    fn shards(&self) -> u64 {
        self.0.shards
    }

    /// The part of its bits that are set.
    #[getter]
    fn fill(&self) -> f64 {
        self.0.fill
    }

    /// How many different keys have come, as far as the bits tell.
    #[getter]
    fn estimated_items(&self) -> f64 {
        self.0.estimated_items
    }

    /// The rate at which it now answers "maybe" for keys that are not in it.
    #[getter]
    fn fpp_now(&self) -> f64 {
        self.0.fpp_now
    }

    /// How many shards were looked at for the last three.
    #[getter]
    fn sampled(&self) -> u64 {
        self.0.sampled
    }

    /// Whether a new generation is being built beside it.
    #[getter]
    fn rebuilding(&self) -> bool {
        self.0.rebuilding
    }

    /// In how many seconds it expires; None: never.
    #[getter]
    fn expires_in(&self) -> Option<f64> {
        self.0.expires_in.map(|left| left.as_secs_f64())
    }

    fn __repr__(&self) -> String {
        let Info { name, family, items, fpp, shards, fill, estimated_items, fpp_now, .. } = &self.0;
        format!(
            "Info(name={name:?}, family={:?}, items={items}, fpp={fpp}, shards={shards}, fill={fill:.3}, estimated_items={estimated_items:.0}, fpp_now={fpp_now:.3e})",
            family.name()
        )
    }
}
