//! What the parameters of all families share: the promise, the checks, the search for the least that suffices.

use crate::error::ParamsError;
use core::f64::consts::LN_2;
use libm::{fabs, log, log1p};

/// What a filter was asked to keep: a rate, for so many keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Promise {
    /// The keys.
    pub items: u64,
    /// The rate of false positives with that many keys inside, from 0 to 1.
    pub fpp: f64,
}

/// The smallest rate on offer. A 64-bit hash cannot tell apart much more.
pub const LEAST_FPP: f64 = 1e-12;

/// The number of keys, if it is one.
pub(crate) fn checked_items(items: u64) -> Result<u64, ParamsError> {
    if items == 0 { Err(ParamsError::NoItems) } else { Ok(items) }
}

/// The rate, if it is one.
pub(crate) fn checked_fpp(fpp: f64) -> Result<f64, ParamsError> {
    match fpp {
        // Written so that NaN fails.
        _ if !(fpp > 0.0 && fpp < 1.0) => Err(ParamsError::Fpp { asked: fpp }),
        _ if fpp < LEAST_FPP => Err(ParamsError::FppTooSmall { asked: fpp, least: LEAST_FPP }),
        _ => Ok(fpp),
    }
}

/// How many keys it took to leave this share of places empty, each hitting a given place with this chance.
///
/// Both logarithms are of numbers below 1; without their signs, no keys are 0 and not -0.
pub(crate) fn keys_for_empty(empty: f64, chance: f64) -> f64 {
    fabs(log(empty)) / fabs(log1p(-chance))
}

/// The bits that a classic filter of the best shape has: near what any family has, and so where to begin to look.
pub(crate) fn textbook_bits(items: u64, fpp: f64) -> f64 {
    -(items as f64) * log(fpp) / (LN_2 * LN_2)
}

/// The least number from `low` to `high` that suffices, where all numbers above one that suffices do; `high` if none.
///
/// Looked for from `guess` outwards, in steps that double: far from the answer a question may cost a thousand times what it costs
/// near it, as blocks that are far too few hold thousands of keys each.
pub(crate) fn least(guess: u64, low: u64, high: u64, mut suffices: impl FnMut(u64) -> bool) -> u64 {
    let guess = guess.clamp(low, high);
    let mut step = guess / 64 + 1;
    let (mut fails, mut works) = (guess, guess);
    if suffices(guess) {
        loop {
            if works == low {
                return low;
            }
            fails = works.saturating_sub(step).max(low);
            if !suffices(fails) {
                break;
            }
            works = fails;
            step = step.saturating_mul(2);
        }
    } else {
        loop {
            works = fails.saturating_add(step).min(high);
            if works == high || suffices(works) {
                break;
            }
            fails = works;
            step = step.saturating_mul(2);
        }
    }
    while works - fails > 1 {
        let middle = fails + (works - fails) / 2;
        if suffices(middle) {
            works = middle;
        } else {
            fails = middle;
        }
    }
    works
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_that_suffices_is_found() {
        for high in [1, 2, 3, 7, 100, u64::MAX] {
            for guess in [0, 1, 2, 98, 99, 100, 101, 1 << 20, 1 << 41, u64::MAX] {
                for wanted in [1, 2, 3, 50, 99, 100, 1 << 40].into_iter().filter(|wanted| *wanted <= high) {
                    let found = least(guess, 1, high, |n| n >= wanted);
                    assert_eq!(found, wanted, "from {guess} up to {high}");
                }
                assert_eq!(least(guess, 1, high, |_| false), high);
            }
        }
    }

    #[test]
    fn rates_that_are_none_are_refused() {
        for fpp in [0.0, 1.0, -0.1, 1.5, f64::NAN, f64::INFINITY] {
            assert!(matches!(checked_fpp(fpp), Err(ParamsError::Fpp { .. })), "{fpp}");
        }
        assert!(matches!(checked_fpp(1e-13), Err(ParamsError::FppTooSmall { .. })));
        assert_eq!(checked_fpp(0.5), Ok(0.5));
    }
}
