//! How many slots a top-k summary needs. Pure functions of numbers.

use crate::error::ParamsError;
use libm::ceil;

/// Slots for each of the k keys that are asked for, unless the caller says otherwise.
const SLOTS_PER_KEY: u64 = 16;

/// Fewer slots than this, 200 KB with all that belongs to them, save nothing worth having.
const LEAST_SLOTS: u64 = 1024;

/// Cells of the filter to a slot. A multiple of 8, so that the cells fill whole lines.
const CELLS_PER_SLOT: u64 = 16;

/// Slots are numbered with 32 bits, less a few.
pub(super) const MOST_SLOTS: u64 = 1 << 30;

/// The size of a top-k summary.
///
/// ```
/// use gowk::TopKParams;
/// let params = TopKParams::for_k(10)?;
/// assert_eq!(params.slots(), 1024);
/// let params = TopKParams::for_error(10, 0.001)?;      // counts right to 0.1 % of all that came
/// assert_eq!(params.slots(), 1000);
/// # Ok::<(), gowk::ParamsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopKParams {
    k: u64,
    slots: u64,
    cells: u64,
}

impl TopKParams {
    /// A summary that names `k` keys, with as many slots as measured well at any skew: sixteen for each, 1,024 at least.
    pub fn for_k(k: u64) -> Result<Self, ParamsError> {
        Self::with_slots(k, k.saturating_mul(SLOTS_PER_KEY).max(LEAST_SLOTS))
    }

    /// A summary that names `k` keys, each count right to `error` times all occurrences. Every key that makes up a
    /// larger part than that is kept.
    pub fn for_error(k: u64, error: f64) -> Result<Self, ParamsError> {
        // Written so that NaN fails.
        if !(error > 0.0 && error < 1.0) {
            return Err(ParamsError::Fpp { asked: error });
        }
        Self::with_slots(k, (ceil(1.0 / error) as u64).max(k))
    }

    /// A summary that names `k` keys and keeps `slots` of them.
    pub fn with_slots(k: u64, slots: u64) -> Result<Self, ParamsError> {
        Self::with_cells(k, slots, slots.saturating_mul(CELLS_PER_SLOT))
    }

    /// As [`with_slots`](Self::with_slots), with a filter of `cells` cells, a multiple of eight.
    pub fn with_cells(k: u64, slots: u64, cells: u64) -> Result<Self, ParamsError> {
        let within = |what, value, least, most| {
            let inside = (least..=most).contains(&value);
            if inside { Ok(()) } else { Err(ParamsError::OutOfRange { what, value, least, most }) }
        };
        within("slots", slots, 1, MOST_SLOTS)?;
        within("k", k, 1, slots)?;
        within("cells", cells, 8, MOST_SLOTS * 64)?;
        within("the rest of the cells by eight", cells % 8, 0, 0)?;
        Ok(Self { k, slots, cells })
    }

    /// The keys that are named.
    pub fn k(&self) -> u64 {
        self.k
    }

    /// The keys that are kept.
    pub fn slots(&self) -> u64 {
        self.slots
    }

    /// The cells of the filter.
    pub fn cells(&self) -> u64 {
        self.cells
    }

    /// By how much a count may be over after `total` occurrences.
    pub fn error_at(&self, total: u64) -> u64 {
        total / self.slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_gives_the_slots_that_keep_it() {
        for error in [0.5, 0.1, 0.003, 1e-5] {
            let params = TopKParams::for_error(1, error).unwrap();
            assert!(params.error_at(1 << 40) as f64 <= error * (1u64 << 40) as f64);
        }
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(TopKParams::for_k(0).is_err());
        assert!(TopKParams::for_k(u64::MAX).is_err());
        assert!(TopKParams::with_slots(10, 9).is_err());
        assert!(TopKParams::with_cells(1, 10, 9).is_err());
        assert!(TopKParams::with_cells(1, 10, 0).is_err());
        for error in [0.0, 1.0, -1.0, f64::NAN] {
            assert!(TopKParams::for_error(1, error).is_err());
        }
    }
}
