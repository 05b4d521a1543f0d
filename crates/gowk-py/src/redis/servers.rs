//! Connections, and the filters that are found or made over them.

use super::{
    filter::{On, RedisFilter},
    reply::Talk,
};
use crate::{
    filter::{self, Held},
    hash::PySeed,
};
use gowk::AnyFilter;
use gowk_redis::{Bloom, Counting, Error, Options, Servers, Spec};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
};
use std::time::Duration;

/// Connections to a server, or to all nodes of a cluster.
#[pyclass(module = "gowk.redis", frozen)]
pub(super) struct RedisServers {
    talk: Talk,
    servers: Servers,
}

/// What the words for a new filter say.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct Wanted {
    items: u64,
    fpp: f64,
    seed: Option<PySeed>,
    hardened: bool,
    shard_bytes: Option<u64>,
    allow_eviction: bool,
}

impl Wanted {
    fn spec(self) -> Spec {
        let mut spec = Spec::new(self.items, self.fpp).allow_eviction(self.allow_eviction);
        if let Some(seed) = self.seed {
            spec = spec.seed(seed.0);
        }
        if self.hardened {
            spec = spec.hardened();
        }
        match self.shard_bytes {
            Some(bytes) => spec.shard_bytes(bytes),
            None => spec,
        }
    }
}

/// How to talk to the servers; times are seconds.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(super) struct Manner {
    connect_timeout: Option<f64>,
    response_timeout: Option<f64>,
    patience: Option<f64>,
    read_replicas: bool,
    wait_replicas: usize,
    wait_timeout: f64,
    cluster: Option<bool>,
}

impl Manner {
    fn options(self) -> PyResult<Options> {
        let wait_timeout = seconds("wait_timeout", self.wait_timeout)?;
        let mut options =
            Options::default().read_replicas(self.read_replicas).wait(self.wait_replicas, wait_timeout);
        if let Some(time) = self.connect_timeout {
            options = options.connect_timeout(seconds("connect_timeout", time)?);
        }
        if let Some(time) = self.response_timeout {
            options = options.response_timeout(seconds("response_timeout", time)?);
        }
        if let Some(time) = self.patience {
            options = options.patience(seconds("patience", time)?);
        }
        Ok(match self.cluster {
            Some(cluster) => options.cluster(cluster),
            None => options,
        })
    }
}

pub(super) fn seconds(what: &str, time: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(time)
        .map_err(|_| PyValueError::new_err(format!("{what} is a number of seconds, not {time}")))
}

#[pymethods]
impl RedisServers {
    /// Connects to the servers of these URLs.
    #[staticmethod]
    fn connect(
        py: Python<'_>,
        urls: Vec<String>,
        manner: Manner,
        reply: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let options = manner.options()?;
        let talk = Talk::new()?;
        let connect = async move || Servers::connect(&urls, options).await;
        let kept = talk.clone();
        talk.answer(py, reply, connect, |py, servers| {
            Ok(Bound::new(py, Self { talk: kept, servers })?.into_any().unbind())
        })
    }

    /// How many nodes take keys.
    fn masters(&self) -> usize {
        self.servers.masters()
    }

    /// The filter of this name.
    fn open(&self, py: Python<'_>, name: String, reply: Option<Py<PyAny>>) -> PyResult<Py<PyAny>> {
        let servers = self.servers.clone();
        self.filter(py, reply, async move || {
            Ok(match servers.kind(&name).await? {
                Some("counting") => On::Counting(Counting::open(&servers, &name).await?),
                // One that is not there is told by this as well.
                _ => On::Bloom(Bloom::open(&servers, &name).await?),
            })
        })
    }

    /// A new filter, or one that is there and is as asked for.
    fn create(
        &self,
        py: Python<'_>,
        name: String,
        counting: bool,
        wanted: Wanted,
        reply: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let (servers, spec) = (self.servers.clone(), wanted.spec());
        self.filter(py, reply, async move || {
            Ok(match counting {
                true => On::Counting(Counting::create(&servers, &name, &spec).await?),
                false => On::Bloom(Bloom::create(&servers, &name, &spec).await?),
            })
        })
    }

    /// A filter of memory or a file, brought onto the servers.
    fn upload(
        &self,
        py: Python<'_>,
        name: String,
        filter: &Bound<'_, filter::Filter>,
        shard_bytes: Option<u64>,
        allow_eviction: bool,
        reply: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let copy = filter.get().ask(py, Held::copy)?;
        // The size is the filter's.
        let mut spec = Spec::new(1, 0.01).allow_eviction(allow_eviction);
        if let Some(bytes) = shard_bytes {
            spec = spec.shard_bytes(bytes);
        }
        let servers = self.servers.clone();
        match copy {
            Held::Heap(AnyFilter::BlockedBloom(filter)) => self.filter(py, reply, async move || {
                Ok(On::Bloom(Bloom::import(&servers, &name, &filter, &spec).await?))
            }),
            Held::Heap(AnyFilter::CountingBloom(filter)) => self.filter(py, reply, async move || {
                Ok(On::Counting(Counting::import(&servers, &name, &filter, &spec).await?))
            }),
            _ => Err(PyTypeError::new_err(format!(
                "on servers there are BlockedBloom and CountingBloom, not {}",
                filter.get_type().name()?
            ))),
        }
    }

    /// Removes the filter of this name, of whatever kind and in whatever state.
    fn drop(&self, py: Python<'_>, name: String, reply: Option<Py<PyAny>>) -> PyResult<Py<PyAny>> {
        let servers = self.servers.clone();
        let drop = async move || servers.drop_filter(&name).await;
        self.talk.answer(py, reply, drop, |py, ()| Ok(py.None()))
    }

    /// "bloom" or "counting"; None if there is no filter of this name.
    fn kind(&self, py: Python<'_>, name: String, reply: Option<Py<PyAny>>) -> PyResult<Py<PyAny>> {
        let servers = self.servers.clone();
        let kind = async move || servers.kind(&name).await;
        self.talk.answer(py, reply, kind, |py, kind| Ok(kind.into_pyobject(py)?.into_any().unbind()))
    }
}

impl RedisServers {
    /// The object of the filter that comes out of this.
    fn filter<F: Future<Output = Result<On, Error>> + 'static>(
        &self,
        py: Python<'_>,
        reply: Option<Py<PyAny>>,
        future: impl FnOnce() -> F + Send + 'static,
    ) -> PyResult<Py<PyAny>> {
        let talk = self.talk.clone();
        self.talk.answer(py, reply, future, |py, on| {
            Ok(Bound::new(py, RedisFilter { talk, on })?.into_any().unbind())
        })
    }
}
