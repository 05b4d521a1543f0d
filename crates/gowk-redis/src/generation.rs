//! One generation of a filter: its shape, its shards, their names, and how it is written into the metadata.
//!
//! ```text
//! gowk:NAME              hash: live, next, prev = descriptors; ready = the id of a generation that is whole; expires = ms
//! gowk:NAME:ID:I{TAG}    string: the blocks I*B to I*B+B-1 as a .gowk file has them, and one byte, the guard
//! ```
//!
//! TAG brings shard I of S to slot ((2I + 1) * 8192 / S + ID) mod 16384: a grid over all slots, turned by the id, so that every node has
//! its share to within one shard, and small filters do not all meet in one slot.

use crate::{
    error::Error,
    slots::{SLOTS, tag},
};
use gowk::{
    BlockedParams, CountingParams, Digest, HashId, Hasher, Promise, Seed, bloom::blocked::Span, store::Line,
};
use std::{collections::HashMap, fmt::Write};

/// The version of names, metadata and guards.
const VERSION: u64 = 1;

/// What a shard's bytes are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    /// Bits.
    Bloom(BlockedParams),
    /// 4-bit counters.
    Counting(CountingParams),
}

impl Shape {
    pub(crate) fn blocks(&self) -> u64 {
        match self {
            Self::Bloom(params) => params.blocks(),
            Self::Counting(params) => params.blocks(),
        }
    }

    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Bloom(params) => params.span(),
            Self::Counting(params) => params.span(),
        }
    }

    pub(crate) fn lanes(&self) -> u32 {
        match self {
            Self::Bloom(params) => params.lanes(),
            Self::Counting(params) => params.lanes(),
        }
    }

    pub(crate) fn promise(&self) -> Promise {
        match self {
            Self::Bloom(params) => params.promise(),
            Self::Counting(params) => params.promise(),
        }
    }

    /// The bits or counters of a key.
    pub(crate) fn probes(&self) -> usize {
        self.lanes() as usize * self.span() as usize
    }

    pub(crate) fn block_bytes(&self) -> u64 {
        Line::BYTES as u64 * self.span().lines()
    }

    pub(crate) fn block(&self, digest: Digest) -> u64 {
        match self {
            Self::Bloom(params) => params.block(digest),
            Self::Counting(params) => params.block(digest),
        }
    }

    /// How many bits of these bytes are set, or how many counters are not 0.
    pub(crate) fn used(&self, bytes: &[u8]) -> u64 {
        let of_byte = |byte: &u8| match self {
            Self::Bloom(_) => byte.count_ones(),
            Self::Counting(_) => u32::from(byte & 15 != 0) + u32::from(byte >> 4 != 0),
        };
        bytes.iter().map(|byte| u64::from(of_byte(byte))).sum()
    }

    /// How many keys use so many bits or counters, of all there are.
    pub(crate) fn items_for(&self, used: u64) -> f64 {
        let bytes = (self.blocks() * self.block_bytes()) as f64;
        match self {
            Self::Bloom(params) => params.items_for_fill(used as f64 / (8.0 * bytes)),
            Self::Counting(params) => params.items_for_fill(used as f64 / (2.0 * bytes)),
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Bloom(_) => "bloom",
            Self::Counting(_) => "counting",
        }
    }
}

/// The guard of a shard that is there.
pub(crate) const GUARD: u8 = 0x80;
/// The guard of a shard whose adds have to go to another generation as well.
pub(crate) const SHADOWED: u8 = 0x40;

/// One generation of a filter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Generation {
    pub(crate) id: u64,
    pub(crate) shape: Shape,
    /// The blocks of all shards but the last, which has the rest.
    pub(crate) shard_blocks: u64,
    pub(crate) hasher: Hasher,
}

/// Where a block lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) shard: u64,
    /// The first byte of the block in the shard.
    pub(crate) byte: u64,
}

impl Generation {
    /// A new one, of a random id.
    pub(crate) fn new(shape: Shape, shard_blocks: u64, hasher: Hasher) -> Self {
        let mut id = [0; 8];
        getrandom::fill(&mut id).expect("the operating system gives random bytes");
        Self { id: u64::from_le_bytes(id), shape, shard_blocks, hasher }
    }

    pub(crate) fn shards(&self) -> u64 {
        self.shape.blocks().div_ceil(self.shard_blocks)
    }

    /// The bytes of a shard, without the guard.
    pub(crate) fn shard_len(&self, shard: u64) -> u64 {
        let blocks = (self.shape.blocks() - shard * self.shard_blocks).min(self.shard_blocks);
        blocks * self.shape.block_bytes()
    }

    pub(crate) fn spot(&self, digest: Digest) -> Spot {
        let block = self.shape.block(digest);
        Spot { shard: block / self.shard_blocks, byte: block % self.shard_blocks * self.shape.block_bytes() }
    }

    pub(crate) fn slot(&self, shard: u64) -> u16 {
        let even = (u128::from(2 * shard + 1) * u128::from(SLOTS / 2) / u128::from(self.shards())) as u64;
        ((even + self.id % u64::from(SLOTS)) % u64::from(SLOTS)) as u16
    }

    pub(crate) fn key(&self, name: &str, shard: u64) -> String {
        format!("gowk:{name}:{:016x}:{shard}{{{}}}", self.id, tag(self.slot(shard)))
    }

    /// As the metadata holds it: words, so that a human can read it.
    pub(crate) fn encode(&self) -> String {
        let Promise { items, fpp } = self.shape.promise();
        let mut text = format!(
            "v={VERSION} id={:016x} kind={} blocks={} lines={} lanes={} shard={} items={items} fpp={fpp:e} hash={} seed=",
            self.id,
            self.shape.kind(),
            self.shape.blocks(),
            self.shape.span() as u8,
            self.shape.lanes(),
            self.shard_blocks,
            self.hasher.id() as u8,
        );
        for byte in self.hasher.seed().to_bytes() {
            write!(text, "{byte:02x}").expect("text grows");
        }
        text
    }

    /// What [`encode`](Self::encode) wrote. Every number is held against its range.
    pub(crate) fn decode(name: &str, text: &str) -> Result<Self, Error> {
        let damaged = |why| Error::Meta { name: name.to_owned(), why };
        let fields: HashMap<&str, &str> = text.split(' ').filter_map(|word| word.split_once('=')).collect();
        let text = |key, why| fields.get(key).copied().ok_or_else(|| damaged(why));
        let number = |key, why| text(key, why)?.parse::<u64>().map_err(|_| damaged(why));
        let version = number("v", "it has no version")?;
        if version != VERSION {
            return Err(Error::Version { name: name.to_owned(), found: version });
        }
        let id = text("id", "no id")?;
        let id = u64::from_str_radix(id, 16).map_err(|_| damaged("the id is no number"))?;
        let blocks = number("blocks", "no number of blocks")?;
        let lines = u8::try_from(number("lines", "no lines of a block")?).ok();
        let span = lines
            .and_then(Span::from_lines)
            .ok_or_else(|| damaged("the lines of a block are not 1, 2 or 4"))?;
        let lanes = number("lanes", "no lanes")?.min(99) as u32;
        let items = number("items", "no number of items")?;
        let fpp: f64 = text("fpp", "no rate")?.parse().map_err(|_| damaged("the rate is no number"))?;
        if !(fpp > 0.0 && fpp <= 1.0) {
            return Err(damaged("the rate is not between 0 and 1"));
        }
        let promise = Promise { items, fpp };
        let shape = match text("kind", "no kind")? {
            "bloom" => {
                Shape::Bloom(BlockedParams::with_shape(blocks, span, lanes, items)?.with_promise(promise))
            }
            "counting" => {
                Shape::Counting(CountingParams::with_shape(blocks, span, lanes, items)?.with_promise(promise))
            }
            _ => return Err(damaged("a kind that this version does not know")),
        };
        let shard_blocks = number("shard", "no size of a shard")?;
        // The most that BITFIELD can address, and far above what we make.
        if shard_blocks == 0 || shard_blocks.saturating_mul(shape.block_bytes()) > 1 << 28 {
            return Err(damaged("a size of shards that cannot be"));
        }
        let hash = u8::try_from(number("hash", "no hash")?).ok().and_then(HashId::from_tag);
        let hash = hash.ok_or_else(|| damaged("a hash that this version does not know"))?;
        let seed = seed(text("seed", "no seed")?).ok_or_else(|| damaged("the seed is not 32 hex digits"))?;
        Ok(Self { id, shape, shard_blocks, hasher: Hasher::with_id(hash, seed) })
    }
}

fn seed(hex: &str) -> Option<Seed> {
    if hex.len() != 32 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; 16];
    for (byte, digits) in bytes.iter_mut().zip(hex.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(Seed::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{slots::slot_of, spec::Spec};
    use proptest::prelude::*;

    fn generation(items: u64, fpp: f64) -> Generation {
        let spec = Spec::new(items, fpp).seed(7);
        let params = spec.bloom().unwrap();
        let blocks = spec.shard_blocks(params.lines(), params.span()).unwrap();
        Generation::new(Shape::Bloom(params), blocks, spec.make_hasher())
    }

    #[test]
    fn every_block_has_one_place_and_shards_have_no_gaps() {
        let generation = generation(100_000, 0.001);
        let (mut shard, mut byte) = (0, 0);
        for block in 0..generation.shape.blocks() {
            // The least digest of this block.
            let h1 = ((u128::from(block) << 64).div_ceil(u128::from(generation.shape.blocks()))) as u64;
            assert_eq!(generation.spot(Digest::from(h1)), Spot { shard, byte });
            byte += generation.shape.block_bytes();
            if byte == generation.shard_len(shard) {
                (shard, byte) = (shard + 1, 0);
            }
        }
        assert_eq!((shard, byte), (generation.shards(), 0));
    }

    #[test]
    fn shards_lie_evenly_on_any_split_of_the_slots() {
        for items in [1_000_000, 10_000_000] {
            let generation = generation(items, 0.01);
            for masters in 2..=8u64 {
                let mut loads = vec![0u64; masters as usize];
                for shard in 0..generation.shards() {
                    let slot = slot_of(generation.key("x", shard).as_bytes());
                    assert_eq!(slot, generation.slot(shard));
                    loads[(u64::from(slot) * masters / 16_384) as usize] += 1;
                }
                let (least, most) = (loads.iter().min().unwrap(), loads.iter().max().unwrap());
                assert!(most - least <= 2, "{loads:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(items in 1u64..1_000_000_000, rate in 1u32..999, counting: bool) {
            let spec = Spec::new(items, f64::from(rate) / 1000.0);
            let shape = if counting { Shape::Counting(spec.counting().unwrap()) } else { Shape::Bloom(spec.bloom().unwrap()) };
            let lines = shape.blocks() * shape.span().lines();
            let blocks = spec.shard_blocks(lines, shape.span()).unwrap();
            let generation = Generation::new(shape, blocks, spec.make_hasher());
            prop_assert_eq!(Generation::decode("x", &generation.encode()).unwrap(), generation);
        }

        #[test]
        fn damaged_words_are_errors(at in 0usize..200, byte in 32u8..127) {
            let text = generation(1000, 0.01).encode();
            let mut bytes = text.into_bytes();
            let at = at % bytes.len();
            bytes[at] = byte;
            // An error or another filter, but no panic and no shards beyond all bounds.
            if let Ok(generation) = Generation::decode("x", std::str::from_utf8(&bytes).unwrap()) {
                prop_assert!(generation.shard_len(0) <= 1 << 28);
                generation.key("x", generation.shards() - 1);
            }
        }
    }

    #[test]
    fn a_later_version_is_named() {
        let text = generation(1000, 0.01).encode().replace("v=1", "v=2");
        assert!(matches!(Generation::decode("x", &text), Err(Error::Version { found: 2, .. })));
    }
}
