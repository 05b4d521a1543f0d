//! Which family, how large, and what its false positives cost.

use crate::error::OrRaise;
use gowk::{Costs, Needs};
use pyo3::prelude::*;

/// A family as an answer to some needs.
#[pyclass(module = "gowk", frozen, get_all)]
pub(crate) struct Choice {
    /// Which.
    family: &'static str,
    /// Bits for each key.
    bits_per_key: f64,
    /// Memory in all.
    bytes: u64,
    /// The cache lines that a lookup reads at the most.
    probes: f64,
    /// The rate it keeps.
    fpp: f64,
    /// What its false positives cost, in seconds a lookup.
    false_positive_cost: f64,
    /// What the check takes, in seconds a lookup.
    check_cost: f64,
}

#[pymethods]
impl Choice {
    fn __repr__(&self) -> String {
        format!(
            "Choice(family={:?}, bits_per_key={:.2}, bytes={}, fpp={:.4e})",
            self.family, self.bits_per_key, self.bytes, self.fpp
        )
    }
}

/// The families that do what is needed, the best first, with their sizes and costs.
///
/// >>> plan(10_000_000, 0.01)[0].family
/// 'blocked bloom'
///
/// `cost_check` and `cost_miss` are the seconds that a cache miss and the lookup behind the filter take; `absent` is the part of lookups that
/// ask for a key that is not there.
#[pyfunction]
#[pyo3(signature = (items, fpp = 0.01, *, deletes = false, grows = false, is_static = false, window = false, counts = false, cost_check = 100e-9, cost_miss = 1e-3, absent = 0.5))]
#[expect(clippy::too_many_arguments, clippy::fn_params_excessive_bools, reason = "they have names in Python")]
fn plan(
    items: u64,
    fpp: f64,
    deletes: bool,
    grows: bool,
    is_static: bool,
    window: bool,
    counts: bool,
    cost_check: f64,
    cost_miss: f64,
    absent: f64,
) -> PyResult<Vec<Choice>> {
    let mut needs = Needs::new(items, fpp).or_raise()?;
    for (wanted, with) in [
        (deletes, Needs::deletes as fn(Needs) -> Needs),
        (grows, Needs::grows),
        (is_static, Needs::is_static),
        (window, Needs::window),
        (counts, Needs::counts),
    ] {
        if wanted {
            needs = with(needs);
        }
    }
    let choices = needs.plan(Costs { check: cost_check, miss: cost_miss, absent });
    Ok(choices
        .into_iter()
        .map(|choice| Choice {
            family: choice.family.name(),
            bits_per_key: choice.bits_per_key,
            bytes: choice.bytes,
            probes: choice.probes,
            fpp: choice.fpp,
            false_positive_cost: choice.false_positive_cost,
            check_cost: choice.check_cost,
        })
        .collect())
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Choice>()?;
    module.add_function(wrap_pyfunction!(plan, module)?)
}
