//! The promise: the rate that was asked for is the rate that comes, and a key that was inserted is never denied.

mod common;

use common::{Keys, binomial_band, false_positives};
use gowk::{
    BlockedBloom, BlockedParams, Bloom, BloomParams, Build, Hasher, Insert, Scheme, Seed, SplitBlockBloom,
    bloom::blocked::Span,
};

/// Fills filters with `items` keys and holds their rate against what was asked, from above and, where space could have been
/// wasted, from below.
///
/// A small filter is a lottery ticket: its own rate depends on how its few keys fell. So small ones are drawn many times, and
/// the spread of their rates says how far their mean may be off.
fn keeps_its_promise<F: Build + Insert<Outcome<()> = ()>>(
    items: u64,
    fpp: f64,
    keys: Keys,
    seed: u64,
    trials: u64,
) {
    let draws = (300_000 / items).clamp(1, 200);
    let each = trials / draws;
    let rates: Vec<f64> =
        (0..draws).map(|draw| measured::<F>(items, fpp, keys, seed + 1000 * draw, each)).collect();
    let mean = rates.iter().sum::<f64>() / draws as f64;
    let spread = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / (draws as f64).powi(2);
    let noise = 6.0 * (spread + mean.max(fpp) / trials as f64).sqrt() + 6.0 / trials as f64;
    let what = format!("{mean} +- {noise} measured, {fpp} asked for {items} {keys:?} keys, seed {seed}");
    assert!(mean <= 1.03 * fpp + noise, "too many false positives: {what}");
    assert!(items < 10_000 || mean >= 0.8 * fpp - noise, "too few false positives: {what}");
}

/// The rate of one filter, which must also be the one that its own bits tell.
fn measured<F: Build + Insert<Outcome<()> = ()>>(
    items: u64,
    fpp: f64,
    keys: Keys,
    seed: u64,
    trials: u64,
) -> f64 {
    let mut filter = F::with_params(F::params_for_fpp(items, fpp).unwrap(), Hasher::new(seed)).unwrap();
    let digests: Vec<_> = (0..items).map(|i| keys.digest(&filter, i)).collect();
    filter.insert_many(&digests);
    assert!(filter.may_contain_many(&digests).into_iter().all(|answer| answer), "a key was denied");
    assert!(digests.iter().take(10_000).all(|digest| filter.may_contain_digest(*digest)), "a key was denied");
    let hits = false_positives(&filter, keys, items, trials);
    let band = binomial_band(trials, filter.stats().fpp_now);
    let slack = trials as f64 * 0.02 * filter.stats().fpp_now;
    assert!(
        hits as f64 + slack >= *band.start() as f64 && hits as f64 - slack <= *band.end() as f64,
        "{hits} false positives in {trials}, but {}",
        filter.stats()
    );
    hits as f64 / trials as f64
}

fn keeps_its_promise_at_every_size<F: Build + Insert<Outcome<()> = ()>>() {
    for items in [1, 10, 1_000, 30_000, 1_000_000] {
        for fpp in [0.01, 0.001] {
            keeps_its_promise::<F>(items, fpp, Keys::Scattered, items, 1_000_000);
        }
    }
}

#[test]
fn blocked_bloom_keeps_its_promise_at_every_size() {
    keeps_its_promise_at_every_size::<BlockedBloom>();
}

#[test]
fn bloom_keeps_its_promise_at_every_size() {
    keeps_its_promise_at_every_size::<Bloom>();
}

#[test]
fn split_block_bloom_keeps_its_promise_at_every_size() {
    keeps_its_promise_at_every_size::<SplitBlockBloom>();
}

#[test]
fn the_promise_holds_for_every_kind_of_key() {
    for keys in Keys::ALL {
        keeps_its_promise::<BlockedBloom>(100_000, 0.01, keys, 1, 400_000);
        keeps_its_promise::<BlockedBloom>(100_000, 0.001, keys, 1, 400_000);
        keeps_its_promise::<Bloom>(100_000, 0.01, keys, 1, 400_000);
        keeps_its_promise::<SplitBlockBloom>(100_000, 0.01, keys, 1, 400_000);
    }
}

#[test]
fn the_promise_holds_for_every_rate() {
    for bits in 1..=13 {
        let fpp = 0.5f64.powi(bits);
        for fpp in [fpp, fpp * 0.71] {
            keeps_its_promise::<BlockedBloom>(20_000, fpp, Keys::Scattered, bits as u64, 400_000);
            keeps_its_promise::<Bloom>(20_000, fpp, Keys::Scattered, bits as u64, 400_000);
        }
    }
    for fpp in [0.6, 0.9, 0.99] {
        keeps_its_promise::<BlockedBloom>(20_000, fpp, Keys::Scattered, 1, 300_000);
        keeps_its_promise::<Bloom>(20_000, fpp, Keys::Scattered, 1, 300_000);
    }
}

/// The formula, not only the size that it gives: at every number of bits that a key may set, in filters overfull enough that
/// the rate is well measured.
#[test]
fn the_formula_holds_for_every_shape_of_blocked_filter() {
    let items = 100_000;
    for span in [Span::Line, Span::Pair, Span::Quad] {
        for lanes in 1..=8 {
            // About 60 % of the bits set.
            let blocks = (items * u64::from(lanes)).div_ceil(470);
            let params = BlockedParams::with_shape(blocks, span, lanes, items).unwrap();
            let mut filter = BlockedBloom::with_params(params, Hasher::new(u64::from(lanes))).unwrap();
            let view = filter_view(lanes.into());
            filter.insert_from((0..items).map(|i| Keys::Sequential.digest(&view, i)));
            let trials = 500_000;
            let hits = false_positives(&filter, Keys::Sequential, items, trials);
            let expected = params.fpp_at(items);
            let band = binomial_band(trials, expected);
            let slack = (0.015 * expected * trials as f64) as u64;
            assert!(
                (band.start().saturating_sub(slack)..=band.end() + slack).contains(&hits),
                "{hits} false positives, expected {band:?} with {span:?} of {lanes} lanes"
            );
        }
    }
}

/// A filter that only lends its hasher.
fn filter_view(seed: u64) -> BlockedBloom {
    BlockedBloom::with_params(BlockedParams::for_fpp(1, 0.5).unwrap(), Hasher::new(seed)).unwrap()
}

#[test]
fn the_formula_holds_for_every_number_of_probes() {
    let items = 50_000;
    for probes in 1..=20 {
        for scheme in Scheme::ALL {
            let bits = (items * u64::from(probes)).next_multiple_of(512);
            let params = BloomParams::with_shape(bits, probes, scheme, items).unwrap();
            let mut filter = Bloom::with_params(params, Hasher::hardened(Seed::from(7))).unwrap();
            let view = filter.clone();
            filter.insert_from((0..items).map(|i| Keys::Sequential.digest(&view, i)));
            let trials = 300_000;
            let hits = false_positives(&filter, Keys::Sequential, items, trials);
            let expected = params.exact_fpp_at(items);
            let band = binomial_band(trials, expected);
            let slack = (0.02 * expected * trials as f64) as u64;
            assert!(
                (band.start().saturating_sub(slack)..=band.end() + slack).contains(&hits),
                "{hits} false positives, expected {band:?} with {probes} probes, {scheme:?}"
            );
        }
    }
}

#[test]
#[ignore = "100 million keys in each family: two minutes and a gigabyte"]
fn the_promise_holds_for_a_hundred_million_keys() {
    for fpp in [0.01, 0.001] {
        keeps_its_promise::<BlockedBloom>(100_000_000, fpp, Keys::Sequential, 1, 20_000_000);
        keeps_its_promise::<Bloom>(100_000_000, fpp, Keys::Sequential, 1, 20_000_000);
        keeps_its_promise::<SplitBlockBloom>(100_000_000, fpp, Keys::Sequential, 1, 20_000_000);
    }
}

/// A billion digests, made as they are asked for: kept, they would take eight times the memory of the filter.
fn keeps_its_promise_for_a_billion_digests<F: Build + Insert<Outcome<()> = ()>>() {
    let items = 1_000_000_000;
    for fpp in [0.01, 0.001] {
        let params = F::params_for_fpp(items, fpp).unwrap();
        let mut filter = F::with_params(params, Hasher::new(1)).unwrap();
        let view = filter_view(1);
        filter.insert_from((0..items).map(|i| Keys::Digests.digest(&view, i)));
        assert_eq!(false_positives(&filter, Keys::Digests, 0, items), items, "a key was denied");
        let trials = 50_000_000;
        let hits = false_positives(&filter, Keys::Digests, items, trials);
        assert!(hits <= *binomial_band(trials, 1.03 * fpp).end(), "{hits} in {trials} at {fpp}");
        assert!(hits >= *binomial_band(trials, 0.8 * fpp).start(), "{hits} in {trials} at {fpp}");
    }
}

#[test]
#[ignore = "a billion digests: several minutes and two gigabytes"]
fn the_promise_holds_for_a_billion_digests() {
    keeps_its_promise_for_a_billion_digests::<BlockedBloom>();
}

/// Where what a digest has left over, which names the second line, begins to be of the word that names the bits.
#[test]
#[ignore = "a billion digests: several minutes and two gigabytes"]
fn the_promise_of_a_classic_filter_holds_for_a_billion_digests() {
    keeps_its_promise_for_a_billion_digests::<Bloom>();
}
