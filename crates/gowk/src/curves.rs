//! The families as curves: what a rate costs in space, and what becomes of the rate when more keys come than were promised. Numbers
//! for a picture; the command line draws them as SVG, a page may draw them otherwise.

use crate::{
    bloom::{
        blocked::BlockedParams,
        classic::{BloomParams, MOST_PROBES},
        counting::CountingParams,
        split_block::SplitBlockParams,
    },
    cuckoo::CuckooParams,
    error::ParamsError,
    fuse::FuseParams,
    stats::Family,
    window::WindowParams,
};
use alloc::vec::Vec;

/// A family's line in a picture.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Curve {
    /// Whose.
    pub family: Family,
    /// (x, y), x rising.
    pub points: Vec<(f64, f64)>,
}

/// The least bits a key that any filter needs at this rate: log2(1 / fpp).
pub fn information_limit(fpp: f64) -> f64 {
    -libm::log2(fpp)
}

/// Bits a key (y) of every family for `items` keys at these rates (x), which must rise.
pub fn space(items: u64, rates: &[f64]) -> Vec<Curve> {
    type Bits = fn(u64, f64) -> Result<u64, ParamsError>;
    let families: [(Family, Bits); 7] = [
        (Family::BlockedBloom, |n, p| BlockedParams::for_fpp(n, p).map(|params| params.bits())),
        (Family::Bloom, |n, p| BloomParams::for_fpp(n, p).map(|params| params.bits())),
        (Family::SplitBlockBloom, |n, p| SplitBlockParams::for_fpp(n, p).map(|params| params.bits())),
        (Family::Cuckoo, |n, p| CuckooParams::for_fpp(n, p).map(|params| params.bits())),
        (Family::BinaryFuse, |n, p| FuseParams::for_fpp(n, p).map(|params| params.bits())),
        (Family::Window, |n, p| WindowParams::for_fpp(n, p).map(|params| params.bits())),
        (Family::CountingBloom, |n, p| CountingParams::for_fpp(n, p).map(|params| params.bits())),
    ];
    let curve = |(family, bits): (Family, Bits)| {
        let point = |fpp: &f64| Some((*fpp, bits(items, *fpp).ok()? as f64 / items as f64));
        Curve { family, points: rates.iter().filter_map(point).collect() }
    };
    families.into_iter().map(curve).collect()
}

/// The rate (y) of filters made for `items` keys at the rate `fpp`, with x times as many keys inside. A family that cannot keep the
/// rate is left out. A cuckoo filter takes no more keys at some point, and its curve ends there.
pub fn overfilled(items: u64, fpp: f64, loads: &[f64]) -> Vec<Curve> {
    let curve = |family, most: u64, rate: &dyn Fn(u64) -> f64| {
        let keys = |load: &f64| libm::round(load * items as f64) as u64;
        let points = loads.iter().filter(|load| keys(load) <= most).map(|load| (*load, rate(keys(load))));
        Curve { family, points: points.collect() }
    };
    let endless = |family, rate: &dyn Fn(u64) -> f64| curve(family, u64::MAX, rate);
    let mut curves = Vec::new();
    let blocked = BlockedParams::for_fpp(items, fpp);
    curves.extend(blocked.map(|params| endless(Family::BlockedBloom, &|keys| params.fpp_at(keys))));
    let classic = BloomParams::for_fpp(items, fpp);
    curves.extend(classic.map(|params| endless(Family::Bloom, &|keys| params.fpp_at(keys))));
    let split = SplitBlockParams::for_fpp(items, fpp);
    curves.extend(split.map(|params| endless(Family::SplitBlockBloom, &|keys| params.fpp_at(keys))));
    let counting = CountingParams::for_fpp(items, fpp);
    curves.extend(counting.map(|params| endless(Family::CountingBloom, &|keys| params.fpp_at(keys))));
    let cuckoo = CuckooParams::for_fpp(items, fpp);
    curves.extend(cuckoo.map(|params| curve(Family::Cuckoo, params.capacity(), &|keys| params.fpp_at(keys))));
    curves
}

/// The rate (y) of a classic Bloom filter, as large as `items` keys at the rate `fpp` need it, with x probes instead of the best
/// number: up to twice as many, and twelve at least.
pub fn probes(items: u64, fpp: f64) -> Result<Vec<(f64, f64)>, ParamsError> {
    let best = BloomParams::for_fpp(items, fpp)?;
    let most = (2 * best.probes()).clamp(12, MOST_PROBES);
    let point = |probes: u32| {
        let params = BloomParams::with_shape(best.bits(), probes, best.scheme(), items)?;
        Ok((f64::from(probes), params.promise().fpp))
    };
    (1..=most).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_family_is_below_the_information_limit_and_less_error_takes_more_space() {
        let rates: Vec<f64> = (1..=40).rev().map(|i| libm::exp2(-f64::from(i) / 2.0)).collect();
        let curves = space(1_000_000, &rates);
        assert_eq!(curves.len(), 7);
        for Curve { family, points } in curves {
            assert_eq!(points.len(), rates.len(), "{family}");
            for (fpp, bits) in &points {
                assert!(*bits >= information_limit(*fpp), "{family} at {fpp}: {bits}");
            }
            // These change their shape in steps, and are not the smallest just before one.
            let slack = if matches!(family, Family::Window | Family::CountingBloom) { 1.1 } else { 1.002 };
            assert!(points.is_sorted_by(|a, b| a.0 < b.0 && slack * a.1 >= b.1), "{family}: {points:?}");
        }
    }

    #[test]
    fn no_number_of_probes_is_better_than_the_one_chosen() {
        for fpp in [0.2, 0.01, 1e-6] {
            let points = probes(100_000, fpp).unwrap();
            let best = points.iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
            let chosen = f64::from(BloomParams::for_fpp(100_000, fpp).unwrap().probes());
            assert!((best.0 - chosen).abs() <= 1.0, "{fpp}: {best:?}, chosen {chosen}");
            assert!(points.len() >= 12 && points[0].1 > best.1 && points.last().unwrap().1 > best.1);
        }
    }

    #[test]
    fn the_promised_rate_is_passed_at_the_promised_keys() {
        let loads: Vec<f64> = (1..=30).map(|i| f64::from(i) / 10.0).collect();
        for Curve { family, points } in overfilled(1_000_000, 0.01, &loads) {
            assert!(points.is_sorted_by(|a, b| a.1 <= b.1), "{family}");
            let at =
                |load: f64| points.iter().find(|point| (point.0 - load).abs() < 1e-9).map(|point| point.1);
            assert!(at(1.0).unwrap() < 0.01013, "{family}");
            match family {
                Family::Cuckoo => assert_eq!(at(2.0), None),
                _ => assert!(at(2.0).unwrap() > 0.03, "{family}"),
            }
        }
    }
}
