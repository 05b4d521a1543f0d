//! What the family promises, held against built filters.

use super::{Arity, BinaryFuse, FuseBuilder, FuseParams};
use crate::{
    filter::Filter,
    format::{AnyFilter, OpenError, Persist},
    hash::Digest,
    simd::Isa,
    testing::{binomial_band, key, members, strangers},
};
use alloc::vec::Vec;
use proptest::prelude::*;
use std::collections::HashSet;

const ARITIES: [Arity; 2] = [Arity::Three, Arity::Four];

fn builder(seed: u64) -> FuseBuilder {
    BinaryFuse::builder().seed(seed)
}

fn hits(filter: &impl Filter, asked: u64) -> u64 {
    strangers(asked).filter(|key| filter.may_contain(key)).count() as u64
}

#[test]
fn no_key_is_denied_at_any_size() {
    let sizes =
        (0..70).chain([100, 255, 256, 257, 1_000, 4_096, 10_000, 11_000, 11_500, 12_000, 30_000, 100_000]);
    for n in sizes {
        for arity in ARITIES {
            let filter = builder(n).arity(arity).build_from(members(n)).unwrap();
            assert_eq!(filter.len(), n);
            assert!(members(n).all(|key| filter.may_contain(&key)), "{n} keys, {arity:?}");
        }
    }
}

#[test]
fn no_key_is_denied_at_any_width() {
    for width in 1..=32 {
        for arity in ARITIES {
            let filter = builder(1).arity(arity).width(width).build_from(members(3_000)).unwrap();
            assert!(members(3_000).all(|key| filter.may_contain(&key)), "{width} bits, {arity:?}");
        }
    }
}

#[test]
fn the_rate_is_one_in_two_to_the_width() {
    for n in [1, 10, 1_000, 20_000] {
        for width in [1, 2, 5, 7, 8, 11] {
            for arity in ARITIES {
                // A small filter is one draw for all keys asked: the mean over many has the rate.
                let (filters, asked) = if n < 1_000 { (500, 2_000) } else { (4, 100_000) };
                let found: u64 = (0..filters)
                    .map(|seed| {
                        hits(&builder(seed).arity(arity).width(width).build_from(members(n)).unwrap(), asked)
                    })
                    .sum();
                let band = binomial_band(filters * asked, libm::ldexp(1.0, -(width as i32)));
                assert!(
                    band.contains(&found),
                    "{n} keys, {width} bits, {arity:?}: {found}, expected {band:?}"
                );
            }
        }
    }
}

#[test]
fn an_empty_set_keeps_the_rate_too() {
    let filter = builder(1).fpp(0.001).build_from(Vec::<u64>::new()).unwrap();
    assert!(filter.is_empty());
    assert!(hits(&filter, 1_000_000) <= *binomial_band(1_000_000, 0.001).end());
    assert!(filter.stats().estimated_items < 0.5);
}

#[test]
fn the_asked_rate_is_the_promise_and_the_kept_one_is_stated() {
    let filter = builder(3).fpp(0.01).build_from(members(1_000)).unwrap();
    let stats = filter.stats();
    assert_eq!((stats.fpp, stats.fpp_now, stats.items), (0.01, 1.0 / 128.0, 1_000));
    assert!(!stats.is_overfull());
}

#[test]
fn repeats_are_one_key() {
    for (n, copies) in [(1, 2), (1, 256), (1, 257), (10, 3), (1_000, 2), (5_000, 7), (100, 600), (3, 1 << 16)]
    {
        let keys: Vec<u64> = (0..n * copies).map(|i| key(2 * (i % n))).collect();
        let filter = builder(1).build_from(&keys).unwrap();
        assert_eq!(filter.len(), n, "{n} keys {copies} times");
        assert!(keys.iter().all(|key| filter.may_contain(key)));
        assert_eq!(filter.params().promise().items, n);
    }
    // One repeat among many.
    let filter = builder(1).build_from(members(50_000).chain([key(2 * 777)])).unwrap();
    assert_eq!(filter.len(), 50_000);
}

#[test]
fn digests_that_no_hash_would_give_end_in_an_error_or_a_filter_and_never_hang() {
    for digests in [
        (0..3_000).map(Digest::from).collect::<Vec<_>>(),
        (0..3_000).map(|i| Digest::from(i << 40)).collect(),
        (0..3_000).map(|i| Digest::from(u64::MAX - i)).collect(),
        (0..64).map(|i| Digest::from(1 << i)).collect(),
        [0, 0, u64::MAX, u64::MAX, 1, 1 << 63].map(Digest::from).to_vec(),
    ] {
        if let Ok(filter) = builder(1).build_from(&digests) {
            assert!(digests.iter().all(|digest| filter.may_contain(digest)));
        }
    }
}

#[test]
#[ignore = "builds filters of eight million keys: 10 s"]
fn bytes_of_a_large_filter_do_not_depend_on_threads() {
    let n = 8_000_000;
    let one = builder(1).threads(1).build_from(members(n)).unwrap();
    let two = builder(1).threads(2).build_from(members(n)).unwrap();
    assert!(one == two);
    assert!(one.may_contain_many(&members(n).collect::<Vec<_>>()).iter().all(|maybe| *maybe));
    let band = binomial_band(300_000, 1.0 / 128.0);
    assert!(band.contains(&hits(&one, 300_000)));
}

#[test]
#[ignore = "builds a filter of eight million keys: 10 s"]
fn repeats_in_a_large_set_are_found() {
    let n = 8_000_000;
    let filter = builder(1).build_from(members(n).chain(members(1_000))).unwrap();
    assert_eq!(filter.len(), n);
    assert!(filter.may_contain_many(&members(n).collect::<Vec<_>>()).iter().all(|maybe| *maybe));
}

/// Near memory, far memory, and chains too long for eight keys at once: tests have all three within a few thousand keys. Any number of keys,
/// at hand or one by one.
#[test]
fn bulk_answers_are_those_of_single_lookups() {
    let shapes = ARITIES.into_iter().flat_map(|arity| [1, 7, 8, 10, 25, 32].map(|width| (arity, width)));
    for ((arity, width), n) in shapes.flat_map(|shape| [0, 50, 3_000, 20_000, 80_000].map(|n| (shape, n))) {
        let mut filter = builder(3).arity(arity).width(width).build_from(members(n)).unwrap();
        let asked: Vec<u64> = members(n.min(500)).chain(strangers(500)).collect();
        // The same bytes, hashed the way of text.
        let bytes: Vec<[u8; 8]> = asked.iter().map(|key| key.to_le_bytes()).collect();
        let single: Vec<bool> = asked.iter().map(|key| filter.may_contain(key)).collect();
        for isa in Isa::available() {
            filter.isa = isa;
            for count in [0, 1, 7, 8, 9, 63, 64, 65, 200, asked.len()] {
                let count = count.min(asked.len());
                let expected = &single[..count];
                assert_eq!(filter.may_contain_many(&asked[..count]), expected, "{n} keys of {width} bits");
                assert_eq!(filter.may_contain_many(&bytes[..count]), expected);
                let mut streamed = alloc::vec![false; count];
                filter.answer(asked.iter().map(|key| filter.hasher().digest(key)), &mut streamed);
                assert_eq!(streamed, expected);
            }
        }
    }
}

#[test]
fn a_file_gives_the_same_filter_on_the_heap_and_mapped() {
    let folder = tempfile::tempdir().unwrap();
    for (arity, width, n) in
        [(Arity::Three, 7, 0), (Arity::Three, 8, 1), (Arity::Four, 13, 5_000), (Arity::Three, 32, 100)]
    {
        let filter = builder(5).arity(arity).width(width).build_from(members(n)).unwrap();
        let path = folder.path().join("fuse.gowk");
        filter.save(&path).unwrap();
        let (loaded, mapped) = (BinaryFuse::load(&path).unwrap(), BinaryFuse::open(&path).unwrap());
        assert!(loaded == filter && mapped == filter);
        assert_eq!((loaded.params(), mapped.len()), (filter.params(), n));
        assert_eq!(loaded.to_bytes(), filter.to_bytes());
        let any = AnyFilter::from_bytes(&filter.to_bytes()).unwrap();
        let asked: Vec<u64> = members(n).chain(strangers(1_000)).collect();
        let answers = filter.may_contain_many(&asked);
        assert_eq!(mapped.may_contain_many(&asked), answers);
        assert_eq!(any.may_contain_many(&asked), answers);
        assert_eq!(mapped.to_heap().unwrap().may_contain_many(&asked), answers);
    }
}

/// The bytes with one changed and the checksum of the head made to fit.
fn forged(bytes: &[u8], at: usize, with: &[u8]) -> Vec<u8> {
    let mut forged = bytes.to_vec();
    forged[at..at + with.len()].copy_from_slice(with);
    let params = u32::from_le_bytes(forged[12..16].try_into().unwrap()) as usize;
    let mut sum = xxhash_rust::xxh3::Xxh3::new();
    sum.update(&forged[..120]);
    sum.update(&forged[128..128 + params]);
    forged[120..128].copy_from_slice(&sum.digest().to_le_bytes());
    forged
}

#[test]
fn parameters_that_cannot_be_are_refused() {
    let bytes = builder(1).width(9).build_from(members(1_000)).unwrap().to_bytes();
    assert!(BinaryFuse::from_bytes(&forged(&bytes, 0, &[])).is_ok());
    for (at, with, what) in [
        (128, &[0xff; 8][..], "a range of 2^64 - 1"),
        (128, &[0; 8], "no range"),
        (129, &[0xff], "a range that the body has no slots for"),
        (136, &[2], "an even multiplier"),
        (144, &[2], "two slots a key"),
        (144, &[4], "four slots a key, for which the body is too short"),
        (145, &[0], "no width"),
        (145, &[33], "a width of 33"),
        (145, &[10], "a width that the body is too short for"),
        (146, &[0], "segments of one slot"),
        (146, &[40], "segments of 2^40 slots"),
        (147, &[1], "a reserved byte"),
    ] {
        let result = BinaryFuse::from_bytes(&forged(&bytes, at, with));
        assert!(matches!(result, Err(OpenError::Field { .. } | OpenError::Params(_))), "{what}: {result:?}");
    }
}

#[test]
fn any_flipped_byte_is_noticed() {
    let bytes = builder(1).build_from(members(50)).unwrap().to_bytes();
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x10;
        assert!(BinaryFuse::from_bytes(&flipped).is_err(), "byte {at}");
        assert!(BinaryFuse::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
    }
}

#[test]
fn a_plan_is_what_is_built() {
    for n in [1, 100, 11_500, 200_000] {
        let builder = builder(n).fpp(0.003);
        let (plan, filter) = (builder.params(n).unwrap(), builder.build_from(members(n)).unwrap());
        let more = filter.params().slots() as f64 / plan.slots() as f64;
        assert!((1.0..1.1).contains(&more) || n < 10, "{n} keys took {more} times what was planned");
        assert_eq!(FuseParams::for_fpp(n, 0.003).unwrap(), plan);
    }
}

/// Attempts cost time: most builds must need but one.
#[test]
fn most_builds_need_one_attempt() {
    for (n, builds) in
        [(20, 400), (150, 400), (1_000, 300), (7_000, 100), (11_500, 100), (20_000, 60), (70_000, 20)]
    {
        for arity in ARITIES {
            let plan = builder(0).arity(arity).params(n).unwrap();
            let first = (0..builds)
                .filter(|&seed| *builder(seed).arity(arity).build_from(members(n)).unwrap().params() == plan)
                .count();
            assert!(first * 10 >= builds as usize * 5, "{n} keys, {arity:?}: {first} of {builds}");
        }
    }
}

#[test]
#[ignore = "builds some filters of a million keys and asks each for millions: 20 s"]
fn the_promise_holds_at_a_million_keys() {
    for (arity, fpp) in [(Arity::Three, 0.01), (Arity::Four, 0.01), (Arity::Three, 0.001)] {
        let filter = builder(9).arity(arity).fpp(fpp).build_from(members(1_000_000)).unwrap();
        assert!(filter.may_contain_many(&members(1_000_000).collect::<Vec<_>>()).iter().all(|maybe| *maybe));
        let found = hits(&filter, 4_000_000);
        assert!(binomial_band(4_000_000, filter.params().fpp()).contains(&found), "{arity:?} {fpp}: {found}");
        assert!(found as f64 <= 4e6 * fpp * 1.03 + 6.0 * (4e6 * fpp).sqrt());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_filter_of_a_set_has_all_of_it_and_counts_it(
        keys in prop::collection::vec(any::<u64>().prop_map(|key| key % 500), 0..800),
        width in 1u32..=32, four: bool, seed: u64,
    ) {
        let arity = if four { Arity::Four } else { Arity::Three };
        let filter = builder(seed).arity(arity).width(width).build_from(&keys).unwrap();
        let set: HashSet<u64> = keys.iter().copied().collect();
        prop_assert_eq!(filter.len(), set.len() as u64);
        prop_assert!(keys.iter().all(|key| filter.may_contain(key)));
        prop_assert!(BinaryFuse::from_bytes(&filter.to_bytes()).unwrap() == filter);
    }

    #[test]
    fn text_and_digests_are_keys_as_well(words in prop::collection::vec(".{0,12}", 0..60), seed: u64) {
        let filter = builder(seed).build_from(&words).unwrap();
        prop_assert!(words.iter().all(|word| filter.may_contain(word.as_str())));
        let digests: Vec<Digest> = words.iter().map(|word| filter.hasher().digest(word)).collect();
        let same = builder(seed).build_from(&digests).unwrap();
        prop_assert!(same == filter);
    }
}
