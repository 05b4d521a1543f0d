//! What the constructors take, and what they do with it.

use super::{base::Filter, held::Held};
use crate::{
    column::{Column, Digests, Nulls},
    error::{OrRaise, ParamsException},
    hash::{Hash, PySeed},
};
use gowk::{AnyFilter, Build, Builder, Digest, Hasher, Seed};
use pyo3::{exceptions::PyValueError, prelude::*};

/// The words of the Rust builder.
pub(super) struct Ask<'a, 'py> {
    pub(super) keys: Option<&'a Bound<'py, PyAny>>,
    pub(super) items: Option<u64>,
    pub(super) fpp: Option<f64>,
    pub(super) bits: Option<u64>,
    pub(super) seed: Option<PySeed>,
    pub(super) hardened: bool,
    pub(super) hasher: Option<&'a Bound<'py, Filter>>,
}

impl Ask<'_, '_> {
    /// The hash that the filter shall have.
    pub(super) fn make_hasher(&self) -> PyResult<Hasher> {
        match (&self.seed, self.hasher) {
            (Some(_), Some(_)) => Err(PyValueError::new_err("seed= and hasher= both say the seed; give one")),
            (_, Some(_)) if self.hardened => {
                Err(PyValueError::new_err("hardened= and hasher= both say the hash; give one"))
            }
            (None, Some(other)) => match other.get().hash {
                Hash::Own(hasher) => Ok(hasher),
                Hash::Makers { .. } => {
                    Err(PyValueError::new_err("the hash of another system is for its own filters"))
                }
            },
            (seed, None) => {
                let seed = seed.as_ref().map_or_else(Seed::random, |seed| seed.0);
                Ok(if self.hardened { Hasher::hardened(seed) } else { Hasher::new(seed) })
            }
        }
    }

    /// The filter, with the keys in it.
    pub(super) fn build<F: Build + Send>(
        &self,
        py: Python<'_>,
        any: fn(F) -> AnyFilter,
        make: impl FnOnce(&Builder<F>) -> Result<F, gowk::ParamsError> + Send,
    ) -> PyResult<Filter> {
        let hasher = self.make_hasher()?;
        if self.bits.is_some() && self.fpp.is_some() {
            return Err(ParamsException::new_err("bits= and fpp= both say the size; give one"));
        }
        let column = self.keys.map(Column::new).transpose()?;
        let make = |items: u64| -> PyResult<Filter> {
            let mut builder = Builder::<F>::default().items(items).hasher(&hasher);
            if let Some(fpp) = self.fpp {
                builder = builder.fpp(fpp);
            }
            if let Some(bits) = self.bits {
                builder = builder.bits(bits);
            }
            Ok(Filter::new(Hash::Own(hasher), Held::Heap(any(make(&builder).or_raise()?))))
        };
        let known = column.as_ref().and_then(Column::len).map(|len| (len as u64).max(1));
        match (self.items.or(known), &column) {
            (Some(items), None) => make(items),
            (Some(items), Some(column)) => {
                let filter = make(items)?;
                filter.update(py, column, Nulls::Error)?;
                Ok(filter)
            }
            // How many will come is only known when they have come.
            (None, Some(column)) => {
                let digests = gather(py, column, &hasher)?;
                let filter = make((digests.len() as u64).max(1))?;
                filter.change(py, |held| held.insert_from(&digests))?;
                Ok(filter)
            }
            (None, None) => Err(gowk::ParamsError::Unsized).or_raise(),
        }
    }
}

/// The digests of all keys.
pub(super) fn gather(py: Python<'_>, column: &Column<'_>, hasher: &Hasher) -> PyResult<Vec<Digest>> {
    let mut all = Vec::new();
    let mut digests = Digests::new(hasher);
    column.each_chunk(py, Nulls::Error, false, &mut digests, |digests| {
        all.append(&mut digests.held);
        Ok(())
    })?;
    Ok(all)
}
