//! gowk's own rows. A family gets its row by a line that says how it is made and a line in [`rows`].

use gowk::{
    AtomicBlockedBloom, BinaryFuse, BlockedBloom, Bloom, Build, Builder, CountingBloom, Cuckoo, Filter,
    Hasher, Insert, Key, ScalableBloom, ScalableParams, SplitBlockBloom, Window,
};

use super::{
    ATOMIC, Ask, CLASSIC, COUNTING, CUCKOO, DEFAULT, FUSE, FUSE_OF_EIGHT_BITS, FUSE8_FPP, Grow, InsertMany,
    Lookup, LookupMany, Row, SCALABLE, SPLIT_BLOCK, WINDOW,
};

/// A family that can be made for so many keys at such a rate.
trait Make: Sized {
    fn make(ask: Ask) -> Self;
}

/// What most families are made by.
fn built<F: Build>(ask: Ask) -> F {
    Builder::default().items(ask.items as u64).fpp(ask.fpp).seed(ask.seed).build().expect(SOUND)
}

const SOUND: &str = "the command line lets only sound numbers through";

macro_rules! built {
    ($($family:ty),*) => { $(
        impl Make for $family {
            fn make(ask: Ask) -> Self {
                built(ask)
            }
        }
    )* };
}

// The window is one over inserts: as many as the keys that come, so none of them is forgotten.
built!(BlockedBloom, AtomicBlockedBloom, Bloom, SplitBlockBloom, CountingBloom, Cuckoo, Window);

/// Told how many keys will come, as the chains of other crates are: one link does.
impl Make for ScalableBloom {
    fn make(ask: Ask) -> Self {
        let params = ScalableParams::new(ask.items as u64, ask.fpp).expect(SOUND);
        Self::with_params(params, Hasher::new(ask.seed)).expect(SOUND)
    }
}

/// Any of our families, through the traits that they share.
struct Ours<F>(F);

impl<K: Key, F: Filter> Lookup<K> for Ours<F> {
    fn may_contain(&self, key: &K) -> bool {
        self.0.may_contain(key)
    }
}

impl<K: Key, F: Filter> LookupMany<K> for Ours<F> {
    fn may_contain_many(&self, keys: &[K], answers: &mut [bool]) {
        self.0.may_contain_many_into(keys, answers);
    }
}

impl<K: Key, F: Insert + Make> Grow<K> for Ours<F> {
    fn empty(ask: Ask) -> Self {
        Self(F::make(ask))
    }

    fn insert(&mut self, key: &K) {
        F::settled(self.0.insert(key)).expect(ROOM);
    }
}

impl<K: Key, F: Insert + Make> InsertMany<K> for Ours<F> {
    fn insert_many(&mut self, keys: &[K]) {
        F::settled(self.0.insert_many(keys)).expect(ROOM);
    }
}

const ROOM: &str = "a filter has room for as many keys as it was made for";

/// Shared between threads, and so without the traits of filters that are owned; here one thread fills it.
impl<K: Key> Lookup<K> for AtomicBlockedBloom {
    fn may_contain(&self, key: &K) -> bool {
        self.may_contain(key)
    }
}

impl<K: Key> LookupMany<K> for AtomicBlockedBloom {
    fn may_contain_many(&self, keys: &[K], answers: &mut [bool]) {
        self.may_contain_many_into(keys, answers);
    }
}

impl<K: Key> Grow<K> for AtomicBlockedBloom {
    fn empty(ask: Ask) -> Self {
        Self::make(ask)
    }

    fn insert(&mut self, key: &K) {
        Self::insert(self, key);
    }
}

impl<K: Key> InsertMany<K> for AtomicBlockedBloom {
    fn insert_many(&mut self, keys: &[K]) {
        Self::insert_many(self, keys);
    }
}

/// A family that grows, with its bulk calls.
fn growing<'k, K: Key + 'k, F: Insert + Make + 'k>(name: &'static str) -> Row<'k, K> {
    Row::growing_in_bulk::<Ours<F>>(name).against(&[])
}

/// Built once and for all; by one thread, as everything here.
impl<K: Key + Copy> super::Build<K> for Ours<BinaryFuse> {
    fn build(ask: Ask, keys: &[K]) -> Self {
        let builder = BinaryFuse::builder().fpp(ask.fpp).seed(ask.seed).threads(1);
        Self(builder.build_from(keys.iter().copied()).expect("keys find their places"))
    }
}

/// With as many bits as xorf's has, where fewer would do.
struct OfEightBits(Ours<BinaryFuse>);

impl<K: Key> Lookup<K> for OfEightBits {
    fn may_contain(&self, key: &K) -> bool {
        self.0.may_contain(key)
    }
}

impl<K: Key> LookupMany<K> for OfEightBits {
    fn may_contain_many(&self, keys: &[K], answers: &mut [bool]) {
        self.0.may_contain_many(keys, answers);
    }
}

impl<K: Key + Copy> super::Build<K> for OfEightBits {
    fn build(ask: Ask, keys: &[K]) -> Self {
        Self(Ours::build(Ask { fpp: FUSE8_FPP, ..ask }, keys))
    }
}

pub(super) fn rows<'k, K: Key + Copy + 'k>() -> Vec<Row<'k, K>> {
    vec![
        growing::<K, BlockedBloom>(DEFAULT),
        growing::<K, Bloom>(CLASSIC),
        growing::<K, SplitBlockBloom>(SPLIT_BLOCK),
        growing::<K, ScalableBloom>(SCALABLE),
        growing::<K, CountingBloom>(COUNTING),
        growing::<K, Cuckoo>(CUCKOO),
        growing::<K, Window>(WINDOW),
        Row::built_in_bulk::<Ours<BinaryFuse>>(FUSE).against(&[]),
        Row::built_in_bulk::<OfEightBits>(FUSE_OF_EIGHT_BITS)
            .against(&[])
            .unless(|ask| ask.fpp < FUSE8_FPP, "errs at 0.39 %"),
        Row::growing_in_bulk::<AtomicBlockedBloom>(ATOMIC).against(&[]),
    ]
}
