//! Exact sets of 32-bit ids: our flat bitmap, and Roaring in Rust and in C.
//!
//! They get ids of their own kind. Random 64-bit keys through a treemap would put every key into a container of its
//! own, which is not what anybody uses these crates for.

use std::sync::Once;

use croaring::Bitmap;
use gowk::{IntegerSet, IntegerSetMut};
use roaring::RoaringBitmap;

use super::{Ask, BITMAP, Grow, InsertMany, Lookup, LookupMany, Row};
use crate::keys::id_bits;

const INSIDE: &str = "ids are drawn from the range that the bitmap is made for";

impl Lookup<u32> for gowk::Bitmap {
    fn may_contain(&self, key: &u32) -> bool {
        self.contains((*key).into())
    }
}

impl LookupMany<u32> for gowk::Bitmap {
    fn may_contain_many(&self, keys: &[u32], answers: &mut [bool]) {
        self.contains_many_into(keys, answers);
    }
}

impl Grow<u32> for gowk::Bitmap {
    fn empty(ask: Ask) -> Self {
        Self::new(0..1 << id_bits(ask.items)).expect("the command line let only sound numbers through")
    }

    fn insert(&mut self, key: &u32) {
        IntegerSetMut::insert(self, (*key).into()).expect(INSIDE);
    }
}

impl InsertMany<u32> for gowk::Bitmap {
    fn insert_many(&mut self, keys: &[u32]) {
        IntegerSetMut::insert_many(self, keys).expect(INSIDE);
    }
}

impl Lookup<u32> for RoaringBitmap {
    fn may_contain(&self, key: &u32) -> bool {
        self.contains(*key)
    }
}

impl Grow<u32> for RoaringBitmap {
    fn empty(_: Ask) -> Self {
        Self::new()
    }

    fn insert(&mut self, key: &u32) {
        self.insert(*key);
    }
}

impl Lookup<u32> for Bitmap {
    fn may_contain(&self, key: &u32) -> bool {
        self.contains(*key)
    }
}

impl Grow<u32> for Bitmap {
    fn empty(_: Ask) -> Self {
        count_c_memory();
        Self::new()
    }

    fn insert(&mut self, key: &u32) {
        self.add(*key);
    }
}

impl InsertMany<u32> for Bitmap {
    fn insert_many(&mut self, keys: &[u32]) {
        self.add_many(keys);
    }
}

/// Lets the C library allocate through Rust, where it is counted.
fn count_c_memory() {
    static HOOKED: Once = Once::new();
    // SAFETY: runs before the first bitmap of this process exists; all of them are made behind this call.
    HOOKED.call_once(|| unsafe { croaring::configure_rust_alloc() });
}

pub(crate) const NAME: &str = "roaring";

pub(super) fn rows<'k>() -> Vec<Row<'k, u32>> {
    let too_slow = "too slow: unsorted ids take a minute a round";
    vec![
        Row::growing_in_bulk::<gowk::Bitmap>(BITMAP).against(&[]),
        Row::growing::<RoaringBitmap>(NAME).against(&[BITMAP]).up_to(10_000_000, too_slow),
        Row::growing::<Bitmap>("croaring")
            .inserting_many::<Bitmap>()
            .against(&[BITMAP])
            .up_to(10_000_000, too_slow),
    ]
}
