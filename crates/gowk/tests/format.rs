//! Files: what is written is read, and what is damaged is refused.

mod common;

use common::scatter;
use gowk::{
    AnyFilter, BinaryFuse, BlockedBloom, Bloom, BloomParams, Build, CountingBloom, Cuckoo, Digest, Family,
    Filter, Hasher, Insert, OpenError, Persist, ScalableBloom, ScalableParams, Scheme, SplitBlockBloom,
    Window,
    format::ChangeError,
    fuse::Arity,
    store::{Heap, Mapped, Store},
};
use std::fs;
use xxhash_rust::xxh3::Xxh3;

/// One small filter of each family, with the keys 0..400 inside.
fn samples() -> Vec<Vec<u8>> {
    let keys: Vec<u64> = (0..400).collect();
    let mut blocked = BlockedBloom::builder().items(400).fpp(0.01).seed(1).build().unwrap();
    let mut pair = BlockedBloom::builder().items(400).fpp(0.001).seed(2).hardened().build().unwrap();
    let mut quad = BlockedBloom::builder().items(400).fpp(1e-6).seed(3).build().unwrap();
    let mut bloom = Bloom::builder().items(400).fpp(0.01).seed(4).build().unwrap();
    let mut split = SplitBlockBloom::builder().items(400).fpp(0.01).seed(5).build().unwrap();
    let mut scalable =
        ScalableBloom::with_params(ScalableParams::new(50, 0.01).unwrap(), Hasher::new(6)).unwrap();
    blocked.insert_many(&keys);
    pair.insert_many(&keys);
    quad.insert_many(&keys);
    bloom.insert_many(&keys);
    split.insert_many(&keys);
    scalable.insert_many(&keys);
    assert!(scalable.links() > 1);
    let mut counting = CountingBloom::builder().items(400).fpp(0.01).seed(7).build().unwrap();
    let mut window = Window::builder().items(400).fpp(0.01).seed(8).build().unwrap();
    let mut cuckoo = Cuckoo::builder().items(400).fpp(0.01).seed(9).build().unwrap();
    counting.insert_many(&keys);
    window.insert_many(&keys);
    // Three times each, so that some are counted beside the slots.
    (0..3).for_each(|_| cuckoo.insert_many(&keys).unwrap());
    assert!(cuckoo.counted() > 0);
    let fuse = |width, arity| {
        BinaryFuse::builder().width(width).arity(arity).seed(10).build_from(&keys).unwrap().to_bytes()
    };
    vec![
        blocked.to_bytes(),
        pair.to_bytes(),
        quad.to_bytes(),
        bloom.to_bytes(),
        split.to_bytes(),
        scalable.to_bytes(),
        counting.to_bytes(),
        window.to_bytes(),
        cuckoo.to_bytes(),
        fuse(7, Arity::Three),
        fuse(8, Arity::Three),
        fuse(32, Arity::Three),
        fuse(12, Arity::Four),
    ]
}

fn answers<S: Store>(filter: &AnyFilter<S>) -> Vec<bool> {
    filter.may_contain_many(&(0..3_000u64).collect::<Vec<_>>())
}

#[test]
fn any_filter_takes_keys_at_once_as_one_by_one() {
    // Few enough for the least of them.
    let more: Vec<u64> = (400..420).collect();
    for bytes in samples() {
        let mut at_once = AnyFilter::from_bytes(&bytes).unwrap();
        let mut from_digests = AnyFilter::from_bytes(&bytes).unwrap();
        let digests: Vec<Digest> = more.iter().map(|key| at_once.hasher().digest(key)).collect();
        let taken = at_once.insert_many(&more);
        assert_eq!(taken, from_digests.insert_from(digests.iter().copied()));
        match at_once {
            AnyFilter::BinaryFuse(_) => {
                assert_eq!(taken, Err(ChangeError::CannotInsert { family: Family::BinaryFuse }));
            }
            _ => assert!(taken.is_ok() && at_once.may_contain_many(&digests).iter().all(|maybe| *maybe)),
        }
        assert_eq!(at_once.to_bytes(), from_digests.to_bytes());
    }
}

#[test]
fn what_is_written_is_read_by_every_way() {
    let folder = tempfile::tempdir().unwrap();
    for (i, bytes) in samples().into_iter().enumerate() {
        let path = folder.path().join(format!("{i}.gowk"));
        let filter = AnyFilter::from_bytes(&bytes).unwrap();
        assert!(answers(&filter)[..400].iter().all(|answer| *answer));
        assert_eq!(filter.to_bytes(), bytes);

        filter.save(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), bytes);
        let loaded: AnyFilter<Heap> = AnyFilter::load(&path).unwrap();
        let mapped: AnyFilter<Mapped> = AnyFilter::open(&path).unwrap();
        assert_eq!(loaded.to_bytes(), bytes);
        assert_eq!(mapped.to_bytes(), bytes);
        assert_eq!(answers(&loaded), answers(&filter));
        assert_eq!(answers(&mapped), answers(&filter));
        assert_eq!(mapped.stats(), filter.stats());
        assert_eq!(gowk::format::verify(&path).unwrap(), filter.head());
    }
}

#[test]
fn saving_replaces_a_file_and_leaves_nothing_else_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.gowk");
    let mut filter = BlockedBloom::builder().items(10).build().unwrap();
    filter.save(&path).unwrap();
    let before = BlockedBloom::open(&path).unwrap();
    filter.insert("new");
    filter.save(&path).unwrap();
    assert!(BlockedBloom::open(&path).unwrap().may_contain("new"));
    // A map of the old file goes on answering from the old file.
    assert!(!before.may_contain("new"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(filter.save(folder.path().join("no/such/folder/f.gowk")).is_err());
}

#[test]
fn opening_as_another_family_says_what_the_file_is() {
    let bloom = Bloom::builder().items(10).build().unwrap().to_bytes();
    match BlockedBloom::from_bytes(&bloom) {
        Err(OpenError::Family { wanted: "blocked bloom", found: "bloom" }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn files_that_are_none_are_refused() {
    for bytes in
        [&b""[..], b"g", b"gowk", b"gowk\n\x1a\0", b"hello, world, this is a list of keys", &[0; 4096]]
    {
        assert!(matches!(AnyFilter::from_bytes(bytes), Err(OpenError::NotGowk)), "{bytes:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(AnyFilter::load(folder.path().join("none")), Err(OpenError::Io(_))));
    assert!(matches!(AnyFilter::load(folder.path()), Err(OpenError::Io(_))));
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    for bytes in samples() {
        for len in (0..bytes.len()).filter(|len| *len < 600 || len % 61 == 0) {
            assert!(AnyFilter::from_bytes(&bytes[..len]).is_err(), "cut at {len}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(matches!(AnyFilter::from_bytes(&longer), Err(OpenError::Length { .. })));
    }
}

#[test]
fn a_flipped_bit_anywhere_is_noticed() {
    for bytes in samples() {
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            assert!(AnyFilter::from_bytes(&flipped).is_err(), "byte {at}");
        }
    }
}

#[test]
fn a_later_version_is_told_from_a_damaged_file() {
    let mut bytes = samples().remove(0);
    bytes[8] = 9;
    match AnyFilter::from_bytes(&bytes) {
        Err(error @ OpenError::Version { found: 9, newest: 1 }) => {
            assert!(error.to_string().contains("upgrade gowk"))
        }
        other => panic!("{other:?}"),
    }
}

/// Puts right all that a checksum would notice, so that what is behind the checksums is put to the test.
fn with_fixed_checksums(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = |parts: &[&[u8]]| {
        let mut sum = Xxh3::new();
        parts.iter().for_each(|part| sum.update(part));
        sum.digest().to_le_bytes()
    };
    if bytes.len() < 128 {
        return bytes;
    }
    let len = bytes.len() as u64;
    bytes[112..120].copy_from_slice(&len.to_le_bytes());
    let params = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    if let Some(end) = params.checked_add(128).filter(|end| *end <= bytes.len()) {
        let start = end.next_multiple_of(64).min(bytes.len());
        let body = sum(&[&bytes[start..]]);
        bytes[104..112].copy_from_slice(&body);
        let head = sum(&[&bytes[..120], &bytes[128..end]]);
        bytes[120..128].copy_from_slice(&head);
    }
    bytes
}

/// Whatever the bytes, the reader gives an error or a filter that works.
fn survives(bytes: &[u8]) {
    if let Ok(filter) = AnyFilter::from_bytes(bytes) {
        let stats = filter.stats();
        assert!((0.0..=1.0).contains(&stats.fpp_now) && stats.fill >= 0.0, "{stats}");
        let again = AnyFilter::from_bytes(&filter.to_bytes()).expect("what was read can be written");
        assert!(answers(&again) == answers(&filter));
    }
}

fn mutants(count: u64) {
    let samples = samples();
    for i in 0..count {
        let mut random = (0..).map(|j| scatter(i * 1000 + j));
        let mut draw = |below: usize| (random.next().unwrap() % below as u64) as usize;
        let mut bytes = samples[draw(samples.len())].clone();
        for _ in 0..=draw(3) {
            match draw(5) {
                0 => {
                    let at = draw(bytes.len());
                    bytes[at] ^= 1 << draw(8);
                }
                1 => {
                    let at = draw(128.min(bytes.len()));
                    bytes[at] = [0, 1, 0x7f, 0x80, 0xff][draw(5)];
                }
                2 => {
                    // A whole field of the head or the parameters, set to an awkward number.
                    let at = 8 * draw((bytes.len().min(320)) / 8);
                    let value =
                        [0, 1, u64::MAX, 1 << 63, 1 << 32, (1 << 32) - 1, 1 << 58, 513, f64::NAN.to_bits()]
                            [draw(9)];
                    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
                }
                3 => bytes.truncate(draw(bytes.len()) + 1),
                _ => bytes.extend(vec![0; 64 * (1 + draw(4))]),
            }
            if bytes.len() < 16 {
                break;
            }
        }
        survives(&with_fixed_checksums(bytes));
    }
}

#[test]
fn the_reader_survives_five_thousand_mutants() {
    mutants(5_000);
}

#[test]
#[ignore = "100,000 mutants: a minute"]
fn the_reader_survives_a_hundred_thousand_mutants() {
    mutants(100_000);
}

#[test]
fn sizes_that_lie_are_refused_before_anything_is_allocated() {
    // The blocks of a blocked filter, and the length of the body, far beyond the bytes that are there.
    for (offset, value) in [(128, 1u64 << 55), (128, u64::MAX), (16, 1 << 40), (16, u64::MAX - 63), (24, 0)] {
        let mut bytes = samples().remove(0);
        bytes[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
        let error = AnyFilter::from_bytes(&with_fixed_checksums(bytes)).unwrap_err();
        assert!(!matches!(error, OpenError::Checksum { .. }), "{error}");
    }
}

#[test]
fn bits_behind_the_end_are_refused() {
    // Of the schemes whose bits need not fill the last line.
    for (scheme, bits) in [(Scheme::Enhanced, 4_032), (Scheme::Double, 4_095)] {
        let params = BloomParams::with_shape(bits, 7, scheme, 400).unwrap();
        let mut bytes = Bloom::with_params(params, Hasher::new(4)).unwrap().to_bytes();
        *bytes.last_mut().unwrap() |= 0x80;
        let error = AnyFilter::from_bytes(&with_fixed_checksums(bytes)).unwrap_err();
        assert!(matches!(error, OpenError::Field { name: "the body", .. }), "{scheme:?}: {error}");
    }
}

#[test]
fn every_family_has_its_own_number_and_name() {
    for family in Family::ALL {
        assert_eq!(Family::from_tag(family as u16), Some(family));
        assert_eq!(Family::ALL.iter().filter(|other| other.name() == family.name()).count(), 1);
    }
    assert_eq!(Family::from_tag(0), None);
}
