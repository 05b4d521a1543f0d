//! A class for each family: how it is made, and what only it can do.

use super::{
    ask::{Ask, gather},
    base::{Filter, MutableFilter},
    foreign::ForeignFilter,
    held::Held,
    one::give_add,
};
use crate::{
    column::Column,
    error::OrRaise,
    hash::{Hash, PySeed},
    key,
};
use gowk::{AnyFilter, Family, Filter as _, Removed, fuse::Arity};
use pyo3::{
    exceptions::{PyKeyError, PyTypeError, PyValueError},
    prelude::*,
};

/// Describes the class of a family that is made by the builder of all families.
macro_rules! built {
    ($(#[$doc:meta])* $class:ident, $variant:ident) => {
        $(#[$doc])*
        #[pyclass(module = "gowk", extends = MutableFilter, subclass, frozen)]
        pub(crate) struct $class;

        #[pymethods]
        impl $class {
            #[new]
            #[pyo3(signature = (keys = None, /, *, items = None, fpp = None, bits = None, seed = None, hardened = false, hasher = None))]
            #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
            fn new<'py>(
                py: Python<'py>,
                keys: Option<&Bound<'py, PyAny>>,
                items: Option<u64>,
                fpp: Option<f64>,
                bits: Option<u64>,
                seed: Option<PySeed>,
                hardened: bool,
                hasher: Option<&Bound<'py, Filter>>,
            ) -> PyResult<PyClassInitializer<Self>> {
                let ask = Ask { keys, items, fpp, bits, seed, hardened, hasher };
                let filter = ask.build(py, AnyFilter::$variant, |builder| builder.build())?;
                Ok(mutable(filter).add_subclass(Self))
            }
        }
    };
}

built! {
    /// Insert and ask, fastest: one cache line a key.
    ///
    /// >>> seen = BlockedBloom(items=1000, fpp=0.01)
    /// >>> seen.add("10.0.0.1")
    /// True
    /// >>> "10.0.0.1" in seen
    /// True
    /// >>> seen.update([1, 2, 3])
    /// >>> seen.contains_many([1, 2, 3]).tolist()
    /// [True, True, True]
    BlockedBloom, BlockedBloom
}
built! {
    /// The classic Bloom filter: the least bits of those that take inserts.
    ///
    /// >>> a = Bloom(["heron"], items=100)
    /// >>> b = Bloom(["gowk"], items=100, hasher=a)
    /// >>> both = a | b
    /// >>> "heron" in both and "gowk" in both
    /// True
    Bloom, Bloom
}
built! {
    /// Parquet's split-block filter.
    SplitBlockBloom, SplitBlockBloom
}
built! {
    /// Insert, ask and remove; "seen at least t times".
    ///
    /// >>> words = CountingBloom(["a", "b", "a"], items=100)
    /// >>> words.count("a"), words.seen_at_least("b", 2)
    /// (2, False)
    CountingBloom, CountingBloom
}
built! {
    /// Insert, ask and remove, at 95 % load; counts duplicates; grows.
    ///
    /// >>> online = Cuckoo(["ann", "bob"], items=100)
    /// >>> online.remove("ann")
    /// >>> "ann" in online, "bob" in online, len(online)
    /// (False, True, 1)
    Cuckoo, Cuckoo
}

/// A chain that keeps its rate however many keys come.
///
/// >>> seen = ScalableBloom(fpp=0.01)
/// >>> seen.update(range(100_000))
/// >>> seen.links > 1 and 99_999 in seen
/// True
#[pyclass(module = "gowk", extends = MutableFilter, subclass, frozen)]
pub(crate) struct ScalableBloom;

/// Forgets what is old: the last `items` inserts, or the last `lasting` ticks of a clock.
///
/// >>> recent = Window(items=1000, lasting=3600)
/// >>> recent.add_at(12, "10.0.0.1")
/// True
/// >>> recent.advance(3612)
/// >>> "10.0.0.1" in recent
/// True
/// >>> recent.advance(7212)
/// >>> "10.0.0.1" in recent
/// False
#[pyclass(module = "gowk", extends = MutableFilter, subclass, frozen)]
pub(crate) struct Window;

/// Built once of all its keys; small.
///
/// >>> fuse = BinaryFuse(["heron", "gowk"])
/// >>> "gowk" in fuse, len(fuse)
/// (True, 2)
#[pyclass(module = "gowk", extends = Filter, subclass, frozen)]
pub(crate) struct BinaryFuse;

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<BlockedBloom>()?;
    module.add_class::<Bloom>()?;
    module.add_class::<SplitBlockBloom>()?;
    module.add_class::<ScalableBloom>()?;
    module.add_class::<CountingBloom>()?;
    module.add_class::<Cuckoo>()?;
    module.add_class::<Window>()?;
    module.add_class::<BinaryFuse>()?;
    let py = module.py();
    for class in [
        py.get_type::<MutableFilter>(),
        py.get_type::<BlockedBloom>(),
        py.get_type::<Bloom>(),
        py.get_type::<SplitBlockBloom>(),
        py.get_type::<CountingBloom>(),
        py.get_type::<Cuckoo>(),
    ] {
        give_add(&class)?;
    }
    Ok(())
}

fn mutable(filter: Filter) -> PyClassInitializer<MutableFilter> {
    PyClassInitializer::from(filter).add_subclass(MutableFilter)
}

/// The Python object of a filter, of the class of its family.
pub(super) fn wrap(py: Python<'_>, filter: Filter) -> PyResult<Bound<'_, PyAny>> {
    let family = match &*filter.read(py) {
        Held::Heap(held) => family(held),
        Held::Mapped(held) => family(held),
        Held::Foreign(_) => None,
    };
    Ok(match family {
        Some(Family::BinaryFuse) => {
            Bound::new(py, PyClassInitializer::from(filter).add_subclass(BinaryFuse))?.into_any()
        }
        Some(Family::BlockedBloom) => Bound::new(py, mutable(filter).add_subclass(BlockedBloom))?.into_any(),
        Some(Family::Bloom) => Bound::new(py, mutable(filter).add_subclass(Bloom))?.into_any(),
        Some(Family::SplitBlockBloom) => {
            Bound::new(py, mutable(filter).add_subclass(SplitBlockBloom))?.into_any()
        }
        Some(Family::ScalableBloom) => {
            Bound::new(py, mutable(filter).add_subclass(ScalableBloom))?.into_any()
        }
        Some(Family::CountingBloom) => {
            Bound::new(py, mutable(filter).add_subclass(CountingBloom))?.into_any()
        }
        Some(Family::Window) => Bound::new(py, mutable(filter).add_subclass(Window))?.into_any(),
        Some(_) => Bound::new(py, mutable(filter).add_subclass(Cuckoo))?.into_any(),
        None => Bound::new(py, mutable(filter).add_subclass(ForeignFilter))?.into_any(),
    })
}

fn family<S: gowk::store::Store>(filter: &AnyFilter<S>) -> Option<Family> {
    Some(match filter {
        AnyFilter::BlockedBloom(_) => Family::BlockedBloom,
        AnyFilter::Bloom(_) => Family::Bloom,
        AnyFilter::SplitBlockBloom(_) => Family::SplitBlockBloom,
        AnyFilter::ScalableBloom(_) => Family::ScalableBloom,
        AnyFilter::CountingBloom(_) => Family::CountingBloom,
        AnyFilter::Window(_) => Family::Window,
        AnyFilter::Cuckoo(_) => Family::Cuckoo,
        AnyFilter::BinaryFuse(_) => Family::BinaryFuse,
        _ => return None,
    })
}

/// The filter behind an object of a class below.
fn base<'a, T>(object: &'a Bound<'_, T>) -> &'a Filter
where
    T: pyo3::PyClass<BaseType = MutableFilter>,
{
    object.as_super().as_super().get()
}

/// Calls what a family alone has; objects of its class hold no other.
macro_rules! only {
    ($held:expr, $variant:ident, $filter:ident => $call:expr) => {
        match $held {
            Held::Heap(AnyFilter::$variant($filter)) => $call,
            Held::Mapped(AnyFilter::$variant($filter)) => $call,
            _ => return Err(another_family()),
        }
    };
}

/// As `only`, to change it.
macro_rules! only_mut {
    ($held:expr, $variant:ident, $filter:ident => $call:expr) => {
        match $held.heap()? {
            AnyFilter::$variant($filter) => $call,
            _ => return Err(another_family()),
        }
    };
}

#[cold]
fn another_family() -> PyErr {
    PyTypeError::new_err("the object holds a filter of another family")
}

/// Takes a key out; whether a trace of it was there.
fn discard(filter: &Filter, key: &Bound<'_, PyAny>) -> PyResult<bool> {
    let digest = key::digest(key, &filter.hash)?;
    Ok(filter.write(key.py()).remove(digest)? == Removed::Gone)
}

fn remove(filter: &Filter, key: &Bound<'_, PyAny>) -> PyResult<()> {
    match discard(filter, key)? {
        true => Ok(()),
        false => Err(PyKeyError::new_err(key.clone().unbind())),
    }
}

#[pymethods]
impl BlockedBloom {
    /// Halves and halves again, while the rate that was promised is kept for the keys that have come.
    fn fold_to_fit(slf: &Bound<'_, Self>) -> PyResult<()> {
        only_mut!(base(slf).write(slf.py()), BlockedBloom, filter => filter.fold_to_fit());
        Ok(())
    }
}

#[pymethods]
impl CountingBloom {
    /// Takes a key out, if a trace of it is there; whether it was. Only for keys that were put in.
    #[pyo3(signature = (key, /))]
    fn discard(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        discard(base(slf), key)
    }

    /// Takes a key out; KeyError if it was surely not there. Only for keys that were put in.
    #[pyo3(signature = (key, /))]
    fn remove(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        remove(base(slf), key)
    }

    /// How often the key came, at most; counts stop at 15.
    #[pyo3(signature = (key, /))]
    fn count(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<u32> {
        let filter = base(slf);
        let digest = key::digest(key, &filter.hash)?;
        Ok(only!(&*filter.read(slf.py()), CountingBloom, filter => filter.estimate(&digest)))
    }

    /// Whether the key may have come so many times.
    #[pyo3(signature = (key, times, /))]
    fn seen_at_least(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>, times: u32) -> PyResult<bool> {
        let filter = base(slf);
        let digest = key::digest(key, &filter.hash)?;
        Ok(only!(&*filter.read(slf.py()), CountingBloom, filter => filter.seen_at_least(&digest, times)))
    }
}

#[pymethods]
impl Cuckoo {
    /// Takes a key out, if a trace of it is there; whether it was. Only for keys that were put in.
    #[pyo3(signature = (key, /))]
    fn discard(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        discard(base(slf), key)
    }

    /// Takes a key out; KeyError if it was surely not there. Only for keys that were put in.
    #[pyo3(signature = (key, /))]
    fn remove(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        remove(base(slf), key)
    }

    /// How often the key came, at most.
    #[pyo3(signature = (key, /))]
    fn count(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<u64> {
        let filter = base(slf);
        let digest = key::digest(key, &filter.hash)?;
        Ok(only!(&*filter.read(slf.py()), Cuckoo, filter => filter.count(&digest)))
    }

    fn __len__(slf: &Bound<'_, Self>) -> PyResult<usize> {
        Ok(only!(&*base(slf).read(slf.py()), Cuckoo, filter => filter.len()) as usize)
    }

    /// The part of the slots that are used.
    #[getter]
    fn load_factor(slf: &Bound<'_, Self>) -> PyResult<f64> {
        Ok(only!(&*base(slf).read(slf.py()), Cuckoo, filter => filter.load()))
    }

    /// Doubles the slots; the rate that stats() tells is then twice as high.
    fn grow(slf: &Bound<'_, Self>) -> PyResult<()> {
        base(slf).change(slf.py(), |held| {
            only_mut!(held, Cuckoo, filter => filter.grow().or_raise()?);
            Ok(())
        })
    }

    /// Halves the slots as often as the keys allow; whether it did.
    fn shrink_to_fit(slf: &Bound<'_, Self>) -> PyResult<bool> {
        base(slf).change(slf.py(), |held| {
            Ok(only_mut!(held, Cuckoo, filter => filter.shrink_to_fit().or_raise()?))
        })
    }
}

#[pymethods]
impl ScalableBloom {
    #[new]
    #[pyo3(signature = (keys = None, /, *, items = 1024, fpp = 0.01, growth = None, seed = None, hardened = false, hasher = None))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn new<'py>(
        py: Python<'py>,
        keys: Option<&Bound<'py, PyAny>>,
        items: u64,
        fpp: f64,
        growth: Option<f64>,
        seed: Option<PySeed>,
        hardened: bool,
        hasher: Option<&Bound<'py, Filter>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let hasher =
            Ask { keys, items: None, fpp: None, bits: None, seed, hardened, hasher }.make_hasher()?;
        let mut params = gowk::ScalableParams::new(items, fpp).or_raise()?;
        if let Some(growth) = growth {
            params = params.with_growth(growth).or_raise()?;
        }
        let chain = gowk::ScalableBloom::with_params(params, hasher).or_raise()?;
        let filter = Filter::new(Hash::Own(hasher), Held::Heap(AnyFilter::ScalableBloom(chain)));
        if let Some(keys) = keys {
            filter.update(py, &Column::new(keys)?, crate::column::Nulls::Error)?;
        }
        Ok(mutable(filter).add_subclass(Self))
    }

    /// How many filters the chain has.
    #[getter]
    fn links(slf: &Bound<'_, Self>) -> PyResult<usize> {
        Ok(only!(&*base(slf).read(slf.py()), ScalableBloom, filter => filter.links()))
    }
}

#[pymethods]
impl Window {
    #[new]
    #[pyo3(signature = (keys = None, /, *, items = None, fpp = None, bits = None, lasting = None, seed = None, hardened = false, hasher = None))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn new<'py>(
        py: Python<'py>,
        keys: Option<&Bound<'py, PyAny>>,
        items: Option<u64>,
        fpp: Option<f64>,
        bits: Option<u64>,
        lasting: Option<u64>,
        seed: Option<PySeed>,
        hardened: bool,
        hasher: Option<&Bound<'py, Filter>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let ask = Ask { keys, items, fpp, bits, seed, hardened, hasher };
        let filter =
            ask.build(py, AnyFilter::Window, |builder: &gowk::Builder<gowk::Window>| match lasting {
                Some(ticks) => builder.build_lasting(ticks),
                None => builder.build(),
            })?;
        Ok(mutable(filter).add_subclass(Self))
    }

    /// Puts a key in at this time of the clock, which does not go back. True if it was surely not there before.
    #[pyo3(signature = (now, key, /))]
    fn add_at(slf: &Bound<'_, Self>, now: u64, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let filter = base(slf);
        let digest = key::digest(key, &filter.hash)?;
        let inserted = only_mut!(filter.write(slf.py()), Window, filter => filter.insert_at(now, &digest));
        Ok(inserted == gowk::Inserted::New)
    }

    /// Moves the clock on, and forgets what is too old by then.
    #[pyo3(signature = (now, /))]
    fn advance(slf: &Bound<'_, Self>, now: u64) -> PyResult<()> {
        only_mut!(base(slf).write(slf.py()), Window, filter => filter.advance(now));
        Ok(())
    }

    /// Where the clock stands: inserts, or ticks.
    #[getter]
    fn now(slf: &Bound<'_, Self>) -> PyResult<u64> {
        Ok(only!(&*base(slf).read(slf.py()), Window, filter => filter.now()))
    }

    /// A key is surely remembered for so long.
    #[getter]
    fn remembers(slf: &Bound<'_, Self>) -> PyResult<u64> {
        Ok(only!(&*base(slf).read(slf.py()), Window, filter => filter.remembers()))
    }

    /// A key is surely forgotten after so long.
    #[getter]
    fn forgets(slf: &Bound<'_, Self>) -> PyResult<u64> {
        Ok(only!(&*base(slf).read(slf.py()), Window, filter => filter.forgets()))
    }
}

#[pymethods]
impl BinaryFuse {
    #[new]
    #[pyo3(signature = (keys, /, *, fpp = None, width = None, arity = 3, seed = None, hardened = false, hasher = None))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn new<'py>(
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        fpp: Option<f64>,
        width: Option<u32>,
        arity: u32,
        seed: Option<PySeed>,
        hardened: bool,
        hasher: Option<&Bound<'py, Filter>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let ask = Ask { keys: Some(keys), items: None, fpp, bits: None, seed, hardened, hasher };
        let hasher = ask.make_hasher()?;
        let mut builder = gowk::BinaryFuse::builder().hasher(&hasher).arity(match arity {
            3 => Arity::Three,
            4 => Arity::Four,
            _ => return Err(PyValueError::new_err(format!("arity is {arity}, but must be 3 or 4"))),
        });
        match (fpp, width) {
            (Some(_), Some(_)) => {
                return Err(PyValueError::new_err("fpp= and width= both say the size; give one"));
            }
            (Some(fpp), None) => builder = builder.fpp(fpp),
            (None, Some(width)) => builder = builder.width(width),
            (None, None) => {}
        }
        let digests = gather(py, &Column::new(keys)?, &hasher)?;
        let built = py.detach(|| builder.build_from(digests)).or_raise()?;
        let filter = Filter::new(Hash::Own(*built.hasher()), Held::Heap(AnyFilter::BinaryFuse(built)));
        Ok(PyClassInitializer::from(filter).add_subclass(Self))
    }

    fn __len__(slf: &Bound<'_, Self>) -> PyResult<usize> {
        let held = slf.as_super().get().read(slf.py());
        Ok(only!(&*held, BinaryFuse, filter => filter.len()) as usize)
    }
}
