//! How large a Count-Min table must be for an error. Pure functions of numbers.

use crate::{
    error::ParamsError,
    store::{Line, addressable},
};
use core::f64::consts::E;
use libm::{ceil, exp, log};

/// More rows than any chance on offer needs: e^-32 is 1.3 in 10^14.
pub(super) const MOST_ROWS: u32 = 32;

/// Counters to a line.
pub(super) const PER_LINE: u64 = Line::BITS / 32;

/// The shape of a Count-Min table.
///
/// ```
/// use gowk::CountMinParams;
/// let params = CountMinParams::for_error(0.001, 0.01)?;   // off by 0.1 % of all, in 99 of 100 cases
/// assert_eq!((params.width(), params.depth()), (2719, 5));
/// assert_eq!(params.error_at(1_000_000), 999.0);
/// # Ok::<(), gowk::ParamsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountMinParams {
    width: u64,
    depth: u32,
    conservative: bool,
}

impl CountMinParams {
    /// The smallest table whose estimates are over by at most `error` times all occurrences, except with the chance `miss`.
    pub fn for_error(error: f64, miss: f64) -> Result<Self, ParamsError> {
        let depth = rows(miss)?;
        // Written so that NaN fails.
        if !(error > 0.0 && error < 1.0) {
            return Err(ParamsError::Fpp { asked: error });
        }
        Self::with_shape(ceil(E / error) as u64, depth)
    }

    /// The best table of at most `bytes` bytes (but one counter a row at least) that misses its error with the chance `miss`.
    pub fn for_bytes(bytes: u64, miss: f64) -> Result<Self, ParamsError> {
        let depth = rows(miss)?;
        let counters = bytes / Line::BYTES as u64 * PER_LINE;
        Self::with_shape((counters / u64::from(depth)).max(1), depth)
    }

    /// A table of just this shape.
    pub fn with_shape(width: u64, depth: u32) -> Result<Self, ParamsError> {
        if !(1..=MOST_ROWS).contains(&depth) {
            return Err(ParamsError::OutOfRange {
                what: "depth",
                value: depth.into(),
                least: 1,
                most: MOST_ROWS.into(),
            });
        }
        let most = isize::MAX as u64 / 4 / u64::from(depth);
        if !(1..=most).contains(&width) {
            return Err(ParamsError::OutOfRange { what: "width", value: width, least: 1, most });
        }
        let params = Self { width, depth, conservative: true };
        addressable(params.lines()).map(|_| params)
    }

    /// Adds to all counters of a key, not only to those that need it: less exact, but sketches of parts add up to the very
    /// sketch of the whole.
    #[must_use]
    pub fn plain(self) -> Self {
        Self { conservative: false, ..self }
    }

    /// The counters of a row.
    pub fn width(&self) -> u64 {
        self.width
    }

    /// The rows.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Whether only those counters are raised that need it.
    pub fn is_conservative(&self) -> bool {
        self.conservative
    }

    /// The bound on the error, as a part of all occurrences.
    pub fn error(&self) -> f64 {
        E / self.width as f64
    }

    /// The chance that an estimate is over by more than [`error`](Self::error).
    pub fn miss(&self) -> f64 {
        exp(-f64::from(self.depth))
    }

    /// The bound on the error after `total` occurrences.
    pub fn error_at(&self, total: u64) -> f64 {
        libm::floor(self.error() * total as f64)
    }

    /// The lines of memory.
    pub fn lines(&self) -> u64 {
        (self.width * u64::from(self.depth)).div_ceil(PER_LINE)
    }
}

/// The rows that miss with at most this chance.
fn rows(miss: f64) -> Result<u32, ParamsError> {
    // Written so that NaN fails.
    if !(miss > 0.0 && miss < 1.0) {
        return Err(ParamsError::Fpp { asked: miss });
    }
    Ok((ceil(-log(miss)) as u32).clamp(1, MOST_ROWS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doc_table_is_true() {
        for (error, miss, width, depth, kilobytes) in [
            (0.01, 0.01, 272, 5, 5.44),
            (0.001, 0.01, 2_719, 5, 54.0),
            (0.0001, 0.001, 27_183, 7, 761.0),
            (0.000_001, 0.01, 2_718_282, 5, 54_366.0),
        ] {
            let params = CountMinParams::for_error(error, miss).unwrap();
            assert_eq!((params.width(), params.depth()), (width, depth), "{error} {miss}");
            let bytes = params.lines() as f64 * 64.0;
            assert!((bytes / 1000.0 / kilobytes - 1.0).abs() < 0.01, "{error} {miss}: {bytes}");
        }
    }

    #[test]
    fn a_shape_keeps_what_it_was_made_for_and_one_less_does_not() {
        for error in [0.5, 0.1, 0.01, 0.003, 1e-5] {
            for miss in [0.9, 0.5, 0.1, 0.01, 1e-6] {
                let params = CountMinParams::for_error(error, miss).unwrap();
                assert!(params.error() <= error && params.miss() <= miss);
                assert!(E / (params.width() - 1) as f64 > error);
                assert!(params.depth() == 1 || exp(1.0 - f64::from(params.depth())) > miss);
            }
        }
    }

    #[test]
    fn a_size_is_used_and_not_exceeded() {
        for bytes in [320, 1000, 65_536, 10_000_000] {
            let params = CountMinParams::for_bytes(bytes, 0.01).unwrap();
            assert!(
                params.lines() * 64 <= bytes && params.lines() * 64 + 64 + 4 * 5 > bytes,
                "{bytes}: {params:?}"
            );
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for bad in [0.0, 1.0, -1.0, f64::NAN] {
            assert!(CountMinParams::for_error(bad, 0.1).is_err());
            assert!(CountMinParams::for_error(0.1, bad).is_err());
        }
        assert!(CountMinParams::with_shape(0, 1).is_err());
        assert!(CountMinParams::with_shape(1, 0).is_err());
        assert!(CountMinParams::with_shape(u64::MAX / 2, 2).is_err());
    }
}
