//! Filters inside other documents: each is its own `.gowk` bytes, checked when they are read.
//!
//! For small uses. A large filter belongs into a file of its own, where it can be mapped.

use super::{AnyFilter, Body, Persist};
use crate::{BinaryFuse, BlockedBloom, Bloom, CountingBloom, Cuckoo, ScalableBloom, SplitBlockBloom, Window};
use alloc::vec::Vec;
use core::{fmt, marker::PhantomData};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, SeqAccess, Visitor},
};

macro_rules! as_gowk_bytes {
    ($($family:ident),*) => { $(
        impl<S: Body> Serialize for $family<S> {
            fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
                serializer.serialize_bytes(&self.to_bytes())
            }
        }

        impl<'de> Deserialize<'de> for $family {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_byte_buf(GowkBytes(PhantomData))
            }
        }
    )* };
}

as_gowk_bytes!(
    AnyFilter,
    BinaryFuse,
    BlockedBloom,
    Bloom,
    CountingBloom,
    Cuckoo,
    ScalableBloom,
    SplitBlockBloom,
    Window
);

/// Reads bytes, as formats that know bytes give them, or a list of numbers, as JSON does.
struct GowkBytes<F>(PhantomData<F>);

impl<'de, F: Persist<Store = crate::store::Heap>> Visitor<'de> for GowkBytes<F> {
    type Value = F;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of a .gowk file")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<F, E> {
        F::from_bytes(bytes).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<F, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = list.next_element()? {
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}
