//! Filters inside other documents.
#![cfg(feature = "serde")]

use gowk::{AnyFilter, BlockedBloom, Cuckoo, Filter, Insert};

#[test]
fn a_filter_goes_through_formats_that_know_bytes_and_those_that_do_not() {
    let mut filter = BlockedBloom::builder().items(100).fpp(0.01).seed(1).build().unwrap();
    filter.insert("gowk");

    let json = serde_json::to_string(&filter).unwrap();
    let back: BlockedBloom = serde_json::from_str(&json).unwrap();
    assert!(back == filter);

    let mut cbor = Vec::new();
    ciborium::into_writer(&filter, &mut cbor).unwrap();
    let back: AnyFilter = ciborium::from_reader(&cbor[..]).unwrap();
    assert!(back.may_contain("gowk") && !back.may_contain("heron"));
}

#[test]
fn bytes_that_are_no_filter_are_refused() {
    let error = serde_json::from_str::<BlockedBloom>("[1, 2, 3]").unwrap_err();
    assert!(error.to_string().contains("not a .gowk file"), "{error}");
    let cuckoo = serde_json::to_string(&Cuckoo::builder().items(10).build().unwrap()).unwrap();
    let error = serde_json::from_str::<BlockedBloom>(&cuckoo).unwrap_err();
    assert!(error.to_string().contains("this is a cuckoo filter"), "{error}");
}
