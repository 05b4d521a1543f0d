//! A filter on servers, and what it is asked and told.

use super::{info::RedisInfo, reply::Talk, servers::seconds};
use crate::{
    column::{Column, Digests, Nulls},
    filter::{self, Held, bools},
};
use gowk::{AnyFilter, Digest, Hasher, Inserted, Removed};
use gowk_redis::{BatchError, Bloom, Counting};
use pyo3::{exceptions::PyTypeError, prelude::*, types::PyBytes};

/// A filter of one of the kinds that there are on servers.
#[derive(Clone)]
pub(super) enum On {
    Bloom(Bloom),
    Counting(Counting),
}

/// A filter on servers.
#[pyclass(module = "gowk.redis", frozen)]
pub(super) struct RedisFilter {
    pub(super) talk: Talk,
    pub(super) on: On,
}

/// Keys to send, and which of them stand for nulls.
struct Keys {
    digests: Vec<Digest>,
    nulls: Vec<usize>,
}

impl On {
    fn hasher(&self) -> Hasher {
        match self {
            Self::Bloom(filter) => filter.hasher(),
            Self::Counting(filter) => filter.hasher(),
        }
    }

    async fn add(&self, keys: &[Digest]) -> Result<Vec<bool>, BatchError> {
        let inserted = match self {
            Self::Bloom(filter) => filter.add_many(keys).await?,
            Self::Counting(filter) => filter.add_many(keys).await?,
        };
        Ok(inserted.into_iter().map(|inserted| inserted == Inserted::New).collect())
    }

    async fn may_contain(&self, keys: &[Digest]) -> Result<Vec<bool>, BatchError> {
        match self {
            Self::Bloom(filter) => filter.may_contain_many(keys).await,
            Self::Counting(filter) => {
                Ok(filter.count_many(keys).await?.into_iter().map(|count| count > 0).collect())
            }
        }
    }
}

#[pymethods]
impl RedisFilter {
    #[getter]
    fn name(&self) -> &str {
        match &self.on {
            On::Bloom(filter) => filter.name(),
            On::Counting(filter) => filter.name(),
        }
    }

    #[getter]
    fn kind(&self) -> &'static str {
        match &self.on {
            On::Bloom(_) => "bloom",
            On::Counting(_) => "counting",
        }
    }

    #[getter]
    fn promise(&self) -> (u64, f64) {
        let promise = match &self.on {
            On::Bloom(filter) => filter.params().promise(),
            On::Counting(filter) => filter.params().promise(),
        };
        (promise.items, promise.fpp)
    }

    #[getter]
    fn seed<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.on.hasher().seed().to_bytes())
    }

    /// Puts keys in: which of them were surely new.
    fn add(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        nulls: Nulls,
        reply: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let Keys { digests, .. } = self.keys(keys, nulls, false)?;
        let on = self.on.clone();
        self.talk.answer(
            py,
            reply,
            async move || on.add(&digests).await,
            |py, new| Ok(bools(py, &new)?.unbind()),
        )
    }

    /// Which of these keys may be in the set.
    fn ask(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        nulls: Nulls,
        reply: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let Keys { digests, nulls } = self.keys(keys, nulls, true)?;
        let on = self.on.clone();
        self.talk.answer(
            py,
            reply,
            async move || on.may_contain(&digests).await,
            |py, mut answers| {
                nulls.into_iter().for_each(|place| answers[place] = false);
                Ok(bools(py, &answers)?.unbind())
            },
        )
    }

    /// Takes keys out: which of them were there.
    fn remove(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        reply: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let filter = self.counting()?.clone();
        let Keys { digests, .. } = self.keys(keys, Nulls::Error, false)?;
        self.talk.answer(
            py,
            reply,
            async move || filter.remove_many(&digests).await,
            |py, removed| {
                let removed: Vec<bool> =
                    removed.into_iter().map(|removed| removed == Removed::Gone).collect();
                Ok(bools(py, &removed)?.unbind())
            },
        )
    }

    /// How often each of these keys was put in, at most.
    fn count(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        reply: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let filter = self.counting()?.clone();
        let Keys { digests, .. } = self.keys(keys, Nulls::Error, false)?;
        self.talk.answer(
            py,
            reply,
            async move || filter.count_many(&digests).await,
            |py, counts| Ok(counts.into_pyobject(py)?.unbind()),
        )
    }

    /// What it holds: exactly, or from some of the shards.
    fn info(&self, py: Python<'_>, exact: bool, reply: Option<Py<PyAny>>) -> PyResult<Py<PyAny>> {
        let on = self.on.clone();
        let info = async move || match on {
            On::Bloom(filter) => filter.info(exact).await,
            On::Counting(filter) => filter.info(exact).await,
        };
        self.talk.answer(py, reply, info, |py, info| {
            Ok(Bound::new(py, RedisInfo::from(info))?.into_any().unbind())
        })
    }

    /// Forgets all keys, for all clients at once.
    fn clear(&self, py: Python<'_>, reply: Option<Py<PyAny>>) -> PyResult<Py<PyAny>> {
        let on = self.on.clone();
        let clear = async move || match on {
            On::Bloom(filter) => filter.clear().await,
            On::Counting(filter) => filter.clear().await,
        };
        self.talk.answer(py, reply, clear, |py, ()| Ok(py.None()))
    }

    /// Lets it expire in so many seconds, or never.
    fn expire(&self, py: Python<'_>, after: Option<f64>, reply: Option<Py<PyAny>>) -> PyResult<Py<PyAny>> {
        let after = after.map(|after| seconds("the time", after)).transpose()?;
        let on = self.on.clone();
        let expire = async move || match on {
            On::Bloom(filter) => filter.expire(after).await,
            On::Counting(filter) => filter.expire(after).await,
        };
        self.talk.answer(py, reply, expire, |py, ()| Ok(py.None()))
    }

    /// The filter in memory.
    fn download(&self, py: Python<'_>, reply: Option<Py<PyAny>>) -> PyResult<Py<PyAny>> {
        let on = self.on.clone();
        let download = async move || {
            Ok::<_, gowk_redis::Error>(match on {
                On::Bloom(filter) => AnyFilter::BlockedBloom(filter.export().await?),
                On::Counting(filter) => AnyFilter::CountingBloom(filter.export().await?),
            })
        };
        self.talk
            .answer(py, reply, download, |py, filter| Ok(filter::wrap_own(py, Held::Heap(filter))?.unbind()))
    }

    /// Takes in all keys of a filter in memory or a file.
    fn merge(
        &self,
        py: Python<'_>,
        other: &Bound<'_, filter::Filter>,
        reply: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let (On::Bloom(ours), Held::Heap(AnyFilter::BlockedBloom(theirs))) =
            (self.on.clone(), other.get().ask(py, Held::copy)?)
        else {
            return Err(PyTypeError::new_err("only a BlockedBloom can be merged into a Bloom on servers"));
        };
        self.talk.answer(py, reply, async move || ours.merge(&theirs).await, |py, ()| Ok(py.None()))
    }
}

impl RedisFilter {
    fn counting(&self) -> PyResult<&Counting> {
        match &self.on {
            On::Counting(filter) => Ok(filter),
            On::Bloom(_) => Err(PyTypeError::new_err(
                "a Bloom filter cannot count or forget keys; create one that counts",
            )),
        }
    }

    /// The digests of all keys: all generations of a filter hash alike.
    fn keys(&self, keys: &Bound<'_, PyAny>, nulls: Nulls, keep_places: bool) -> PyResult<Keys> {
        let column = Column::new(keys)?;
        let hasher = self.on.hasher();
        let mut digests = Digests::new(&hasher);
        // They stay where they are until all are there.
        let nulls = column.each_chunk(keys.py(), nulls, keep_places, &mut digests, |_| Ok(()))?;
        Ok(Keys { digests: digests.held, nulls })
    }
}
