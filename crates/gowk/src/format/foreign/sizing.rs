//! What several makers compute alike when they size a filter, rounding included.

use crate::{error::ParamsError, params::Promise};
use core::f64::consts::LN_2;
use libm::round;

/// What may be asked of a filter of another system: a rate between 0 and 1; and no keys mean one, as Guava has it.
pub(crate) fn checked(items: u64, fpp: f64) -> Result<Promise, ParamsError> {
    // Written so that NaN fails.
    match fpp > 0.0 && fpp < 1.0 {
        true => Ok(Promise { items: items.max(1), fpp }),
        false => Err(ParamsError::Fpp { asked: fpp }),
    }
}

/// The natural logarithm as the makers get it. The C library's is right to the last bit but for one case in fifty; ours is not
/// as close, and RedisBloom writes the result into its header.
pub(crate) fn ln(x: f64) -> f64 {
    #[cfg(feature = "std")]
    return x.ln();
    #[cfg(not(feature = "std"))]
    return libm::log(x);
}

/// `optimalNumOfBits` of Guava and Spark: cut, not rounded.
pub(crate) fn java_bits(items: u64, fpp: f64) -> u64 {
    (-(items as f64) * ln(fpp) / (LN_2 * LN_2)) as u64
}

/// `optimalNumOfHashFunctions` of Guava up to 33.3, and of Spark.
pub(crate) fn java_probes(bits: u64, items: u64) -> f64 {
    round(bits as f64 / items as f64 * LN_2).max(1.0)
}

/// The promise of a filter that does not say what it was made for: the keys that fill half of its bits.
pub(crate) fn promise_of(bits: u64, probes: u32) -> Promise {
    let items = round(bits as f64 * LN_2 / f64::from(probes)).max(1.0) as u64;
    Promise { items, fpp: libm::pow(0.5, probes.into()) }
}
