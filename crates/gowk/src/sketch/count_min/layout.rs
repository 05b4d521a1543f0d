//! From a digest to its counter in each row. Pure; knows no memory.

use super::sizing::CountMinParams;
use crate::hash::Digest;

/// The counters of a key, one a row, numbered through all rows.
#[inline(always)]
pub(super) fn counters(params: CountMinParams, digest: Digest) -> impl Iterator<Item = usize> {
    let width = params.width();
    let (mut word, mut row) = (digest.h1, 0);
    (0..params.depth()).map(move |_| {
        let counter = row + ((u128::from(word) * u128::from(width)) >> 64) as u64;
        // The product with an odd number: as good as another hash, see `Digest::SPREAD`.
        word = word.wrapping_mul(Digest::SPREAD);
        row += width;
        counter as usize
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{binomial_band, key};

    #[test]
    fn each_counter_lies_in_its_row() {
        for (width, depth) in [(1, 1), (1, 5), (7, 3), (1000, 32)] {
            let params = CountMinParams::with_shape(width, depth).unwrap();
            for h1 in (0..1000).map(key).chain([0, 1, u64::MAX]) {
                let counters: Vec<usize> = counters(params, Digest::from(h1)).collect();
                assert_eq!(counters.len(), depth as usize);
                for (row, counter) in counters.into_iter().enumerate() {
                    assert_eq!(counter / width as usize, row);
                }
            }
        }
    }

    /// The bound multiplies the chances of the rows. So keys that meet in one row must not meet in the next more often.
    #[test]
    fn rows_collide_independently() {
        let params = CountMinParams::with_shape(32, 4).unwrap();
        let rows = |h1| -> Vec<usize> { counters(params, Digest::from(h1)).collect() };
        let trials = 1_000_000;
        let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        let mut together = [0u64; 6];
        for i in 0..trials {
            let (a, b) = (rows(key(2 * i)), rows(key(2 * i + 1)));
            for (met, (r, s)) in together.iter_mut().zip(pairs) {
                *met += u64::from(a[r] == b[r] && a[s] == b[s]);
            }
        }
        let band = binomial_band(trials, 1.0 / (32.0 * 32.0));
        for (met, (r, s)) in together.iter().zip(pairs) {
            assert!(band.contains(met), "rows {r} and {s}: {met} not in {band:?}");
        }
    }
}
