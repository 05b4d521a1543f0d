//! Which family, how large, and what its false positives cost.
//!
//! A filter stands before something dear: a disk, a database, a network. A lookup costs the check, C1, and, when the filter
//! says "maybe", the dear thing, C2. What a key that is not there costs too much is P2 (C2 - C1), P2 the rate of false
//! positives: the price of the filter's errors, which a smaller rate lowers and more memory pays for.

use crate::{
    bloom::{
        blocked::BlockedParams, classic::BloomParams, counting::CountingParams, scalable,
        split_block::SplitBlockParams,
    },
    cuckoo::CuckooParams,
    error::ParamsError,
    fuse::FuseParams,
    params::{Promise, checked_fpp, checked_items},
    stats::Family,
    window::WindowParams,
};
use alloc::{format, string::String, vec::Vec};

/// What a filter must do.
///
/// ```
/// use gowk::{Costs, Family, Needs};
///
/// let needs = Needs::new(10_000_000, 0.01)?;
/// assert_eq!(needs.plan(Costs::default())[0].family, Family::BlockedBloom);
/// assert_eq!(needs.deletes().plan(Costs::default())[0].family, Family::Cuckoo);
/// # Ok::<(), gowk::ParamsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "needs are independent of each other, and each is there or not"
)]
pub struct Needs {
    promise: Promise,
    deletes: bool,
    grows: bool,
    is_static: bool,
    window: bool,
    counts: bool,
}

impl Needs {
    /// So many keys at such a rate; more by the methods below.
    pub fn new(items: u64, fpp: f64) -> Result<Self, ParamsError> {
        let promise = Promise { items: checked_items(items)?, fpp: checked_fpp(fpp)? };
        Ok(Self { promise, deletes: false, grows: false, is_static: false, window: false, counts: false })
    }

    /// Keys are taken out again.
    #[must_use]
    pub fn deletes(self) -> Self {
        Self { deletes: true, ..self }
    }

    /// More keys may come than were foreseen.
    #[must_use]
    pub fn grows(self) -> Self {
        Self { grows: true, ..self }
    }

    /// All keys are there when the filter is built, and none comes later.
    #[must_use]
    pub fn is_static(self) -> Self {
        Self { is_static: true, ..self }
    }

    /// Old keys are forgotten: "seen in the last hour".
    #[must_use]
    pub fn window(self) -> Self {
        Self { window: true, ..self }
    }

    /// How often a key came is asked as well.
    #[must_use]
    pub fn counts(self) -> Self {
        Self { counts: true, ..self }
    }

    /// The families that do what is needed, the best first: by what a lookup costs at the rate asked for, false positives
    /// included; then by memory; then by the check alone. Figures within a tenth of each other count as alike.
    pub fn plan(&self, costs: Costs) -> Vec<Choice> {
        let mut choices: Vec<Choice> = CANDIDATES
            .iter()
            .filter(|candidate| candidate.serves(self))
            .filter_map(|candidate| {
                candidate.size(self.promise).ok().map(|size| candidate.choice(size, self.promise, costs))
            })
            .collect();
        let false_positives = self.promise.fpp * costs.at_stake();
        choices.sort_by(|a, b| {
            let cost = class(a.check_cost + false_positives).cmp(&class(b.check_cost + false_positives));
            let memory = class(a.bits_per_key).cmp(&class(b.bits_per_key));
            cost.then(memory).then(a.check_cost.total_cmp(&b.check_cost))
        });
        choices
    }
}

/// Figures within a tenth of each other are alike: what stands behind them is no better than that.
fn class(figure: f64) -> i64 {
    libm::round(libm::log(figure.max(f64::MIN_POSITIVE)) * 10.0) as i64
}

/// What lookups cost, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// C1: asking the filter, for one cache miss.
    pub check: f64,
    /// C2: the dear lookup behind it.
    pub miss: f64,
    /// The part of all lookups that ask for a key that is not there.
    pub absent: f64,
}

impl Costs {
    /// What a false positive costs too much, times how often one could occur: P2 (C2 - C1) for a rate of 1.
    fn at_stake(self) -> f64 {
        self.absent * (self.miss - self.check).max(0.0)
    }
}

impl Default for Costs {
    /// A cache miss of 100 ns before a disk or network of 1 ms; half of the keys asked for are not there.
    fn default() -> Self {
        Self { check: 100e-9, miss: 1e-3, absent: 0.5 }
    }
}

/// A family as an answer to some needs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Choice {
    /// Which.
    pub family: Family,
    /// Bits for each key.
    pub bits_per_key: f64,
    /// Memory in all.
    pub bytes: u64,
    /// The cache lines that a lookup reads at the most.
    pub probes: f64,
    /// The rate it keeps: the one asked for, or a smaller one where the family has steps.
    pub fpp: f64,
    /// P2 (C2 - C1): what its false positives cost, in seconds a lookup.
    pub false_positive_cost: f64,
    /// What the check takes, in seconds a lookup.
    pub check_cost: f64,
}

impl Choice {
    /// Why this one comes before the others of a plan, in words.
    pub fn reason(&self, others: &[Self]) -> String {
        let smallest = others.iter().all(|other| self.bits_per_key <= other.bits_per_key);
        let quickest = others.iter().all(|other| self.check_cost <= other.check_cost);
        let can = match self.family {
            Family::BlockedBloom => "one cache line a lookup, inserts from many threads, unions",
            Family::Cuckoo => "it removes, counts repeats and grows",
            Family::CountingBloom => "it removes and counts up to 15",
            Family::BinaryFuse => "built once from all keys",
            Family::Window => "it forgets what is old, without a pause",
            Family::ScalableBloom => "it grows with its keys",
            Family::SplitBlockBloom => "one cache line a lookup; what Parquet reads",
            _ => "bits anywhere, unions and intersections",
        };
        let why = match (others.is_empty(), smallest, quickest) {
            (true, ..) => "the only family that does this",
            (_, true, true) => "the smallest and the quickest of those that do this",
            (_, true, false) => "the smallest of those whose lookups cost about the same here",
            (_, false, true) => "the quickest check, for about as much memory as the others",
            _ => "the best of time and memory here",
        };
        format!("{why}; {can}")
    }
}

/// What a family takes for a promise: (bits, the rate kept).
type Size = (u64, f64);

#[expect(clippy::struct_excessive_bools, reason = "abilities are independent of each other")]
struct Candidate {
    family: Family,
    /// Cache lines that a lookup reads.
    lines: fn(Promise) -> f64,
    /// What a lookup takes in cache misses: lines that are fetched side by side hardly add up.
    misses: f64,
    takes_inserts: bool,
    takes_removes: bool,
    grows: bool,
    forgets: bool,
    counts: bool,
    size: fn(Promise) -> Result<Size, ParamsError>,
}

impl Candidate {
    fn serves(&self, needs: &Needs) -> bool {
        (needs.is_static || self.takes_inserts)
            && (self.takes_removes || !needs.deletes)
            && (self.grows || !needs.grows)
            // A filter that forgets is no answer to someone who wants to keep.
            && self.forgets == needs.window
            && (self.counts || !needs.counts)
    }

    fn size(&self, promise: Promise) -> Result<Size, ParamsError> {
        (self.size)(promise)
    }

    fn choice(&self, (bits, fpp): Size, promise: Promise, costs: Costs) -> Choice {
        Choice {
            family: self.family,
            bits_per_key: bits as f64 / promise.items as f64,
            bytes: bits.div_ceil(8),
            probes: (self.lines)(promise),
            fpp,
            false_positive_cost: fpp * costs.at_stake(),
            check_cost: self.misses * costs.check,
        }
    }
}

const PLAIN: Candidate = Candidate {
    family: Family::BlockedBloom,
    lines: |_| 1.0,
    misses: 1.1,
    takes_inserts: true,
    takes_removes: false,
    grows: false,
    forgets: false,
    counts: false,
    size: |promise| {
        BlockedParams::for_fpp(promise.items, promise.fpp).map(|params| (params.bits(), promise.fpp))
    },
};

const CANDIDATES: [Candidate; 8] = [
    Candidate { lines: |promise| crate::bloom::blocked::Span::for_fpp(promise.fpp).lines() as f64, ..PLAIN },
    Candidate {
        family: Family::Bloom,
        lines: |promise| {
            BloomParams::for_fpp(promise.items, promise.fpp).map_or(0.0, |params| params.lines_a_key().into())
        },
        misses: 2.0,
        size: |promise| {
            BloomParams::for_fpp(promise.items, promise.fpp).map(|params| (params.bits(), promise.fpp))
        },
        ..PLAIN
    },
    Candidate {
        family: Family::SplitBlockBloom,
        size: |promise| {
            SplitBlockParams::for_fpp(promise.items, promise.fpp).map(|params| (params.bits(), promise.fpp))
        },
        ..PLAIN
    },
    Candidate {
        family: Family::ScalableBloom,
        misses: 2.0,
        lines: |promise| scalable::planned(promise).map_or(0.0, |(_, links)| links as f64),
        grows: true,
        size: |promise| scalable::planned(promise).map(|(bits, _)| (bits, promise.fpp)),
        ..PLAIN
    },
    Candidate {
        family: Family::Cuckoo,
        lines: |_| 2.0,
        misses: 1.2,
        takes_removes: true,
        grows: true,
        counts: true,
        size: |promise| {
            CuckooParams::for_fpp(promise.items, promise.fpp)
                .map(|params| (params.bits(), params.fpp_at(promise.items)))
        },
        ..PLAIN
    },
    Candidate {
        family: Family::CountingBloom,
        misses: 1.15,
        takes_removes: true,
        counts: true,
        size: |promise| {
            CountingParams::for_fpp(promise.items, promise.fpp).map(|params| (params.bits(), promise.fpp))
        },
        ..PLAIN
    },
    Candidate {
        family: Family::BinaryFuse,
        lines: |_| 3.0,
        misses: 1.3,
        takes_inserts: false,
        size: |promise| {
            FuseParams::for_fpp(promise.items, promise.fpp).map(|params| (params.bits(), params.fpp()))
        },
        ..PLAIN
    },
    Candidate {
        family: Family::Window,
        lines: |promise| {
            WindowParams::for_fpp(promise.items, promise.fpp)
                .map_or(0.0, |params| params.generations().into())
        },
        misses: 1.5,
        forgets: true,
        size: |promise| {
            WindowParams::for_fpp(promise.items, promise.fpp).map(|params| (params.bits(), promise.fpp))
        },
        ..PLAIN
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn families(needs: Needs) -> Vec<Family> {
        needs.plan(Costs::default()).into_iter().map(|choice| choice.family).collect()
    }

    #[test]
    fn every_need_has_an_answer_that_meets_it() {
        let needs = Needs::new(1_000_000, 0.01).unwrap();
        assert_eq!(families(needs)[0], Family::BlockedBloom);
        assert!(!families(needs).contains(&Family::BinaryFuse));
        assert!(families(needs.is_static()).contains(&Family::BinaryFuse));
        assert_eq!(families(needs.deletes()), [Family::Cuckoo, Family::CountingBloom]);
        assert_eq!(families(needs.window()), [Family::Window]);
        assert!(families(needs.grows()).contains(&Family::ScalableBloom));
        assert!(families(needs.counts()).contains(&Family::CountingBloom));
        assert!(families(needs.window().deletes()).is_empty());
    }

    #[test]
    fn dear_misses_make_room_for_a_slower_check() {
        let needs = Needs::new(1_000_000, 0.01).unwrap().is_static();
        // With a second behind each false positive the check is nothing: the smallest filter wins.
        let dear = needs.plan(Costs { miss: 1.0, ..Costs::default() });
        assert_eq!(dear[0].family, Family::BinaryFuse);
        let cheap = needs.plan(Costs { miss: 100e-9, ..Costs::default() });
        assert_eq!(cheap[0].family, Family::BlockedBloom);
        assert!(cheap[0].false_positive_cost.abs() < f64::EPSILON && cheap[0].probes <= 1.0);
    }

    #[test]
    fn sizes_are_those_of_the_params() {
        for choice in Needs::new(100_000, 0.001).unwrap().is_static().plan(Costs::default()) {
            // The chain has just begun a new link.
            let most = if choice.family == Family::ScalableBloom { 80.0 } else { 70.0 };
            assert!(choice.bits_per_key > 9.9 && choice.bits_per_key < most, "{choice:?}");
            assert_eq!(choice.bytes, ((choice.bits_per_key * 100_000.0).round() as u64).div_ceil(8));
            assert!(choice.fpp <= 0.001 && choice.fpp > 0.0003, "{choice:?}");
        }
    }
}
