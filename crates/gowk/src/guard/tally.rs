//! What a guard has counted, and what that was worth.

use core::{
    fmt,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

/// How a lookup ended.
#[derive(Clone, Copy)]
pub(super) enum End {
    Stopped,
    Found,
    Vain,
    Failed,
}

/// One counter for each end, so that a lookup writes one, and their sums always agree.
#[derive(Default)]
pub(super) struct Counters([AtomicU64; 4]);

impl Counters {
    #[inline]
    pub(super) fn count(&self, end: End) {
        // Relaxed: nobody concludes from a count that something else has happened.
        self.0[end as usize].fetch_add(1, Relaxed);
    }

    pub(super) fn ends(&self) -> Ends {
        let count = |end: End| self.0[end as usize].load(Relaxed);
        Ends {
            stopped: count(End::Stopped),
            found: count(End::Found),
            in_vain: count(End::Vain),
            failed: count(End::Failed),
        }
    }
}

/// The counters as they were.
#[derive(Clone, Copy, Default)]
pub(super) struct Ends {
    stopped: u64,
    found: u64,
    in_vain: u64,
    failed: u64,
}

impl Ends {
    /// What has come since `start`.
    pub(super) fn since(self, start: Self, fpp: f64) -> Tally {
        let passed = |ends: Self| ends.found + ends.in_vain + ends.failed;
        let tally = |ends: Self| (ends.stopped + passed(ends), ends.stopped, passed(ends));
        let ((asked, stopped, now), (asked_then, stopped_then, then)) = (tally(self), tally(start));
        Tally {
            asked: asked - asked_then,
            stopped: stopped - stopped_then,
            passed: now - then,
            in_vain: self.in_vain - start.in_vain,
            failed: self.failed - start.failed,
            fpp,
        }
    }
}

/// What a guard has counted. Lookups that are still on their way are not in it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tally {
    /// All lookups.
    pub asked: u64,
    /// Those that the filter answered: surely not there.
    pub stopped: u64,
    /// Those that went on to the dear thing.
    pub passed: u64,
    /// Those of them that found nothing there: false positives, and keys that were deleted.
    pub in_vain: u64,
    /// Those of them that ended in an error or were given up, which tells nothing about the filter.
    pub failed: u64,
    /// The rate of false positives that the filter promised.
    pub fpp: f64,
}

impl Tally {
    /// The lookups of keys that were not there.
    pub fn absent(&self) -> u64 {
        self.stopped + self.in_vain
    }

    /// The part of the lookups of absent keys that passed, as it was: false positives and deleted keys together. 0 if no
    /// absent key was asked for.
    pub fn fpp_measured(&self) -> f64 {
        match self.absent() {
            0 => 0.0,
            absent => self.in_vain as f64 / absent as f64,
        }
    }

    /// What the guard was worth, if a lookup that the filter stops takes `stopped` (C1), and one that goes all the way `passed`
    /// (C2).
    ///
    /// ```
    /// use gowk::{BlockedBloom, Guard};
    /// use std::time::Duration;
    ///
    /// let guard = Guard::new(BlockedBloom::builder().items(1_000).seed(1).build()?);
    /// for key in 0..1_000u64 {
    ///     guard.lookup(&key, |_| Ok::<_, ()>(None::<u64>));       // an empty store
    /// }
    /// let saved = guard.stats().saved(Duration::from_nanos(100), Duration::from_millis(1));
    /// assert_eq!(saved.lookups, 1_000);
    /// assert!((saved.seconds - 0.9998).abs() < 1e-9);
    /// # Ok::<(), gowk::ParamsError>(())
    /// ```
    pub fn saved(&self, stopped: Duration, passed: Duration) -> Saved {
        let (check, dear) = (stopped.as_secs_f64(), passed.as_secs_f64() - stopped.as_secs_f64());
        Saved {
            lookups: self.stopped,
            seconds: self.stopped as f64 * dear - self.asked as f64 * check,
            errors: self.in_vain as f64 * dear,
            errors_promised: self.absent() as f64 * self.fpp * dear,
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} asked, {} stopped, {} passed, {} of them in vain: {:.3} % of the absent keys passed, {:.3} % promised",
            self.asked,
            self.stopped,
            self.passed,
            self.in_vain,
            100.0 * self.fpp_measured(),
            100.0 * self.fpp
        )?;
        match self.failed {
            0 => Ok(()),
            failed => write!(f, "; {failed} failed"),
        }
    }
}

/// What a guard was worth, by the cost model of the [module page](super).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Saved {
    /// Dear lookups that were not made.
    pub lookups: u64,
    /// The time they would have taken, less that of asking the filter, each time. Negative where almost all keys are there
    /// and the dear lookup is cheap: then the guard is not worth having.
    pub seconds: f64,
    /// P2 (C2 - C1) with the rate as measured: what lookups in vain have cost.
    pub errors: f64,
    /// P2 (C2 - C1) with the rate as promised.
    pub errors_promised: f64,
}

impl fmt::Display for Saved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} lookups and {:.3} s saved; lookups in vain cost {:.4} s, {:.4} s by the rate promised",
            self.lookups, self.seconds, self.errors, self.errors_promised
        )
    }
}
