//! The mean over blocks that fill by chance: what every blocked layout is sized by.

use libm::{exp, lgamma, log, log1p};

/// The mean of `rate(i)` over blocks, i being how many of `items` keys fell into one of `blocks`.
///
/// `rate` rises to 1; it is asked for few of the i, those that occur.
pub(crate) fn mean_over_blocks(items: u64, blocks: u64, mut rate: impl FnMut(u64) -> f64) -> f64 {
    let mean = items as f64 / blocks as f64;
    // No bit of a line is left unset, for all that floating point can tell.
    if mean > 16_384.0 {
        return 1.0;
    }
    if blocks == 1 || items == 0 {
        return rate(items);
    }
    // Outwards from the likeliest number of keys, by the ratio of neighbouring probabilities.
    let (n, odds) = (items as f64, 1.0 / (blocks as f64 - 1.0));
    let middle = mean as u64;
    let peak = binomial(items, middle, blocks, mean);
    let mut sum = peak * rate(middle);
    let mut chance = peak;
    for keys in middle + 1..=items {
        chance *= (n - keys as f64 + 1.0) / keys as f64 * odds;
        if chance < NEGLIGIBLE {
            break;
        }
        sum += chance * rate(keys);
    }
    let mut chance = peak;
    for keys in (0..middle).rev() {
        chance *= (keys as f64 + 1.0) / ((n - keys as f64) * odds);
        if chance < NEGLIGIBLE {
            break;
        }
        sum += chance * rate(keys);
    }
    sum.min(1.0)
}

/// What adds nothing to a rate of 10^-12.
const NEGLIGIBLE: f64 = 1e-18;

/// The chance that of `items` keys just `keys` fall into one of `blocks` blocks.
fn binomial(items: u64, keys: u64, blocks: u64, mean: f64) -> f64 {
    let k = keys as f64;
    // Above some thousand blocks the binomial is a Poisson to four digits, and its factorials lose more than that.
    if blocks > 10_000 {
        return exp(k * log(mean) - mean - lgamma(k + 1.0));
    }
    let n = items as f64;
    let choose = lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0);
    exp(choose - k * log(blocks as f64) + (n - k) * log1p(-1.0 / blocks as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chances_add_up_to_one() {
        for (items, blocks) in
            [(1, 1), (1, 2), (5, 3), (1000, 20), (52_000, 1000), (5_000_000, 100_000), (3, 1 << 40)]
        {
            let total = mean_over_blocks(items, blocks, |_| 1.0);
            assert!((total - 1.0).abs() < 1e-5, "{items} keys in {blocks} blocks: {total}");
            let mean = mean_over_blocks(items, blocks, |keys| keys as f64 / (1u64 << 50) as f64)
                * (1u64 << 50) as f64;
            let expected = items as f64 / blocks as f64;
            assert!(
                (mean - expected).abs() < 3e-5 * expected,
                "{items} keys in {blocks} blocks: mean {mean}"
            );
        }
    }
}
