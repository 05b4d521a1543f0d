//! The cuckoo filters: cuckoofilter (fixed, 8-bit fingerprints) and `scalable_cuckoo_filter` (a chain, any width).

use std::collections::hash_map::DefaultHasher;
use std::hash::{BuildHasher, Hash, Hasher};

use cuckoofilter::CuckooFilter;
use foldhash::fast::{FixedState, FoldHasher};
use scalable_cuckoo_filter::ScalableCuckooFilter;

use super::{Ask, Build, CUCKOO, DEFAULT, Grow, Lookup, Row};

impl<K: Hash, H: Hasher + Default> Lookup<K> for CuckooFilter<H> {
    fn may_contain(&self, key: &K) -> bool {
        self.contains(key)
    }
}

/// Built, not grown: one key too many and the filter throws out some other key, so it has to be filled anew. Its kicks are
/// random: at a load of 95 %, one fill in a hundred ends like that; at 97 %, all do, and it takes the next power of two.
impl<K: Hash, H: Hasher + Default> Build<K> for CuckooFilter<H> {
    fn build(ask: Ask, keys: &[K]) -> Self {
        let fill = |capacity| {
            let mut filter = Self::with_capacity(capacity);
            keys.iter().all(|key| filter.add(key).is_ok()).then_some(filter)
        };
        let tries = [ask.items, ask.items, ask.items, 2 * ask.items];
        tries.into_iter().find_map(fill).expect("a filter half empty refuses nothing")
    }
}

impl<K: Hash> Lookup<K> for ScalableCuckooFilter<K> {
    fn may_contain(&self, key: &K) -> bool {
        self.contains(key)
    }
}

impl<K: Hash> Grow<K> for ScalableCuckooFilter<K> {
    fn empty(ask: Ask) -> Self {
        Self::new(ask.items, ask.fpp)
    }

    fn insert(&mut self, key: &K) {
        self.insert(key);
    }
}

/// foldhash in the shape that cuckoofilter asks for: a hasher that makes itself, and so has a fixed seed.
struct FixedFoldhash(FoldHasher<'static>);

impl Default for FixedFoldhash {
    fn default() -> Self {
        Self(FixedState::default().build_hasher())
    }
}

impl Hasher for FixedFoldhash {
    fn finish(&self) -> u64 {
        self.0.finish()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    fn write_u64(&mut self, word: u64) {
        self.0.write_u64(word);
    }
}

pub(crate) const FIXED: &str = "cuckoofilter";
pub(crate) const FOLDHASHED: &str = "cuckoofilter + foldhash";
pub(crate) const SCALABLE: &str = "scalable_cuckoo_filter";

pub(super) fn rows<'k, K: Hash + 'k>() -> Vec<Row<'k, K>> {
    let eight_bits = |row: Row<'k, K>| {
        row.against(&[CUCKOO, DEFAULT])
            .unless(|ask| ask.fpp < 0.01, "8-bit fingerprints only: errs at 2 to 3 % whatever is asked")
    };
    vec![
        eight_bits(Row::built::<CuckooFilter<DefaultHasher>>(FIXED)),
        eight_bits(Row::built::<CuckooFilter<FixedFoldhash>>(FOLDHASHED)),
        Row::growing::<ScalableCuckooFilter<K>>(SCALABLE)
            .against(&[CUCKOO, DEFAULT])
            .up_to(10_000_000, "too slow: a minute a round"),
    ]
}
