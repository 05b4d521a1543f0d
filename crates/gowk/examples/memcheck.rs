//! Every kind of memory access once, small enough for valgrind: heap, atomic, mapped, folded, merged.
//!
//! Valgrind knows AVX2, so it is the machine's own line operations that run under it; built with `--cfg gowk_portable`, it is
//! those in plain Rust. `./test` does both.

use gowk::{
    AnyFilter, AtomicBlockedBloom, BlockedBloom, Bloom, Filter, Insert, Merge, Persist, SplitBlockBloom,
    store::{Heap, Mapped},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let keys: Vec<u64> = (0..5_000).collect();
    let folder = tempfile::tempdir()?;
    for fpp in [0.01, 0.001, 1e-6] {
        let mut filter = BlockedBloom::builder().items(5_000).fpp(fpp).seed(1).build()?;
        filter.insert_many(&keys[..2_500]);
        let shared = AtomicBlockedBloom::from(filter.clone());
        keys[2_500..].iter().for_each(|key| {
            shared.insert(key);
        });
        assert!(keys.iter().all(|key| shared.may_contain(key)));
        filter.union(&shared.into_plain())?;
        round_trip(&filter, folder.path(), &keys)?;
        let blocks = filter.params().blocks();
        filter.fold((2..=blocks).find(|factor| blocks.is_multiple_of(*factor)).unwrap_or(1))?;
        assert!(filter.may_contain_many(&keys).into_iter().all(|answer| answer));
    }
    let mut bloom = Bloom::builder().items(5_000).seed(1).build()?;
    bloom.insert_many(&keys);
    round_trip(&bloom, folder.path(), &keys)?;
    let mut split = SplitBlockBloom::builder().items(5_000).seed(1).build()?;
    split.insert_many(&keys);
    round_trip(&split, folder.path(), &keys)?;
    Ok(())
}

fn round_trip(
    filter: &impl Persist,
    folder: &std::path::Path,
    keys: &[u64],
) -> Result<(), Box<dyn std::error::Error>> {
    let path = folder.join("filter.gowk");
    filter.save(&path)?;
    let loaded: AnyFilter<Heap> = AnyFilter::load(&path)?;
    let mapped: AnyFilter<Mapped> = AnyFilter::open(&path)?;
    assert_eq!(loaded.to_bytes(), mapped.to_bytes());
    assert!(mapped.may_contain_many(keys).into_iter().all(|answer| answer));
    Ok(())
}
