//! What can be shared between threads, and what they may rely on.
#![cfg(feature = "std")]

use gowk::{
    AnyFilter, AtomicBlockedBloom, BinaryFuse, Bitmap, BlockedBloom, Bloom, CountMin, CountingBloom, Cuckoo,
    Filter, FoldingBuilder, Guard, IdSet, Insert, ScalableBloom, SplitBlockBloom, TopK, TwoBitMap, Window,
    store::{Heap, Mapped},
};
use std::{sync::mpsc, thread};

mod common;
use common::scatter;

const fn shared<T: Send + Sync>() {}

// Compiles, therefore holds.
const _: () = {
    shared::<AnyFilter<Heap>>();
    shared::<AnyFilter<Mapped>>();
    shared::<AtomicBlockedBloom>();
    shared::<BinaryFuse<Heap>>();
    shared::<BinaryFuse<Mapped>>();
    shared::<Bitmap<Heap>>();
    shared::<Bitmap<Mapped>>();
    shared::<BlockedBloom<Heap>>();
    shared::<BlockedBloom<Mapped>>();
    shared::<Bloom<Heap>>();
    shared::<Bloom<Mapped>>();
    shared::<CountMin<Heap>>();
    shared::<CountMin<Mapped>>();
    shared::<CountingBloom<Heap>>();
    shared::<CountingBloom<Mapped>>();
    shared::<Cuckoo<Heap>>();
    shared::<Cuckoo<Mapped>>();
    shared::<FoldingBuilder>();
    shared::<Guard<AnyFilter<Mapped>>>();
    shared::<Guard<BlockedBloom>>();
    shared::<IdSet>();
    shared::<ScalableBloom<Heap>>();
    shared::<ScalableBloom<Mapped>>();
    shared::<SplitBlockBloom<Heap>>();
    shared::<SplitBlockBloom<Mapped>>();
    shared::<TopK>();
    shared::<TwoBitMap<Heap>>();
    shared::<TwoBitMap<Mapped>>();
    shared::<Window<Heap>>();
    shared::<Window<Mapped>>();
};

#[cfg(feature = "roaring")]
const _: () = shared::<gowk::RoaringSet>();

#[test]
fn threads_that_read_one_filter_get_the_answers_of_one() {
    let mut filter = BlockedBloom::builder().items(50_000).fpp(0.01).seed(5).build().unwrap();
    filter.insert_many(&(0..50_000).map(scatter).collect::<Vec<_>>());
    let asked: Vec<u64> = (0..100_000).map(scatter).collect();
    let alone = filter.may_contain_many(&asked);
    thread::scope(|scope| {
        for turn in 0..4 {
            let (filter, asked, alone) = (&filter, &asked, &alone);
            scope.spawn(move || match turn % 2 {
                0 => assert_eq!(&filter.may_contain_many(asked), alone),
                _ => assert!(asked.iter().zip(alone).all(|(key, &answer)| filter.may_contain(key) == answer)),
            });
        }
    });
}

#[test]
fn a_key_whose_insert_was_told_over_a_channel_is_never_denied() {
    const WRITERS: u64 = 3;
    const EACH: u64 = 30_000;
    // Small, so that writers meet in the same words all the time.
    let filter = AtomicBlockedBloom::builder().items(WRITERS * EACH / 8).fpp(0.01).seed(5).build().unwrap();
    let (tell, told) = mpsc::channel();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (filter, tell) = (&filter, tell.clone());
            scope.spawn(move || {
                let keys: Vec<u64> = (0..EACH).map(|i| scatter(writer * EACH + i)).collect();
                // One by one and in bulk.
                for keys in keys.chunks(10) {
                    let (ones, bulk) = keys.split_at(5);
                    ones.iter().for_each(|key| {
                        filter.insert(key);
                        tell.send(*key).unwrap();
                    });
                    filter.insert_many(bulk);
                    bulk.iter().for_each(|key| tell.send(*key).unwrap());
                }
            });
        }
        drop(tell);
        let mut keys = 0;
        for key in told {
            assert!(filter.may_contain(&key), "{key} was inserted and is denied");
            keys += 1;
        }
        assert_eq!(keys, WRITERS * EACH);
    });
    // Not a bit was lost: the same as if one thread had done it.
    let mut alone =
        BlockedBloom::builder().items(WRITERS * EACH / 8).fpp(0.01).hasher(filter.hasher()).build().unwrap();
    alone.insert_many(&(0..WRITERS * EACH).map(scatter).collect::<Vec<_>>());
    assert!(filter.into_plain() == alone);
}
