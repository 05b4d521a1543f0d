//! The keys: which are inserted, which are looked up, and why none of the misses can be in the set.
//!
//! Keys are numbered. Even numbers are inserted, odd ones never; a bijection turns numbers into keys that look random,
//! so two numbers never give the same key and a "miss" is a miss by construction.

use clap::ValueEnum;
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KeyKind {
    /// Random 64-bit integers
    U64,
    /// Byte strings of 16 to 24 bytes
    Text,
    /// 32-bit ids that fill 6 to 13 % of their range, for exact bitmaps
    Ids,
}

impl KeyKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::U64 => "u64",
            Self::Text => "text",
            Self::Ids => "ids",
        }
    }
}

/// The keys of one run of rows.
pub(crate) struct Workload<K> {
    pub(crate) inserted: Vec<K>,
    /// Drawn from `inserted`, at random and independently.
    pub(crate) hits: Vec<K>,
    /// Never inserted, all different while the kind has enough of them.
    pub(crate) misses: Vec<K>,
}

/// How many keys of each sort, as numbers still.
#[derive(Clone, Copy)]
pub(crate) struct Draw {
    pub(crate) items: usize,
    pub(crate) lookups: usize,
}

impl Draw {
    fn inserted(self) -> impl Iterator<Item = u64> {
        (0..self.items as u64).map(|i| 2 * i)
    }

    fn hits(self) -> impl Iterator<Item = u64> {
        (0..self.lookups as u64).map(move |i| 2 * scale(mix(!i), self.items as u64))
    }

    fn misses(self) -> impl Iterator<Item = u64> {
        (0..self.lookups as u64).map(|i| 2 * i + 1)
    }

    fn keys<K>(self, key: impl Fn(u64) -> K) -> Workload<K> {
        Workload {
            inserted: self.inserted().map(&key).collect(),
            hits: self.hits().map(&key).collect(),
            misses: self.misses().map(&key).collect(),
        }
    }

    pub(crate) fn integers(self) -> Workload<u64> {
        self.keys(mix)
    }

    pub(crate) fn ids(self) -> Workload<u32> {
        let bits = id_bits(self.items);
        self.keys(|number| mix_bits(number, bits))
    }

    pub(crate) fn text(self) -> TextKeys {
        TextKeys {
            inserted: Arena::write(self.inserted(), self.items),
            hits: Arena::write(self.hits(), self.lookups),
            misses: Arena::write(self.misses(), self.lookups),
        }
    }
}

/// The bytes under a `Workload<&[u8]>`.
///
/// Lookup keys are copies in the order in which they are asked: a program meets its keys one after the other, and a
/// random walk through the inserted ones would measure that walk.
pub(crate) struct TextKeys {
    inserted: Arena,
    hits: Arena,
    misses: Arena,
}

impl TextKeys {
    pub(crate) fn workload(&self) -> Workload<&[u8]> {
        Workload { inserted: self.inserted.slices(), hits: self.hits.slices(), misses: self.misses.slices() }
    }
}

/// Keys end to end in one block.
struct Arena {
    bytes: Vec<u8>,
    lengths: Vec<u8>,
}

impl Arena {
    fn write(numbers: impl Iterator<Item = u64>, count: usize) -> Self {
        let mut arena =
            Self { bytes: Vec::with_capacity(count * TEXT_MAX), lengths: Vec::with_capacity(count) };
        for number in numbers {
            let before = arena.bytes.len();
            push_text(number, &mut arena.bytes);
            arena.lengths.push((arena.bytes.len() - before) as u8);
        }
        arena
    }

    fn slices(&self) -> Vec<&[u8]> {
        let mut rest = self.bytes.as_slice();
        self.lengths
            .iter()
            .map(|&length| {
                let (key, after) = rest.split_at(usize::from(length));
                rest = after;
                key
            })
            .collect()
    }
}

const TEXT_MAX: usize = 24;

/// 16 hex digits, which alone make the key unique, and up to 8 letters more.
fn push_text(number: u64, out: &mut Vec<u8>) {
    let word = mix(number);
    out.extend((0..16).map(|digit| b"0123456789abcdef"[(word >> (4 * digit) & 15) as usize]));
    let tail = mix(word);
    out.extend((0..tail % 9).map(|letter| b'a' + (tail >> (8 + 4 * letter) & 15) as u8));
}

/// The output step of splitmix64: a bijection of 64-bit words.
pub(crate) fn mix(number: u64) -> u64 {
    let word = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// A random word brought into `0..range` without a division.
pub(crate) fn scale(word: u64, range: u64) -> u64 {
    ((u128::from(word) * u128::from(range)) >> 64) as u64
}

/// The width of the smallest range of ids that `items` of them fill to at most one eighth.
pub(crate) fn id_bits(items: usize) -> u32 {
    (items * 8).next_power_of_two().ilog2().clamp(4, 32)
}

/// A bijection of `bits`-bit numbers; larger numbers wrap, which keeps odd ones odd before the mixing.
fn mix_bits(number: u64, bits: u32) -> u32 {
    let mask = u64::MAX >> (64 - bits);
    let half = bits.div_ceil(2);
    let mut word = number & mask;
    for odd in [0x9e37_79b9_7f4a_7c15u64, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb] {
        word = word.wrapping_mul(odd) & mask;
        word ^= word >> half;
    }
    word as u32
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::Hash;

    use super::*;

    const DRAW: Draw = Draw { items: 10_000, lookups: 20_000 };

    fn misses_are_no_members_and_hits_are<K: Copy + Eq + Hash>(keys: &Workload<K>) {
        let members: HashSet<K> = keys.inserted.iter().copied().collect();
        assert_eq!(members.len(), DRAW.items);
        assert_eq!((keys.hits.len(), keys.misses.len()), (DRAW.lookups, DRAW.lookups));
        assert!(keys.hits.iter().all(|key| members.contains(key)));
        assert!(keys.misses.iter().all(|key| !members.contains(key)));
    }

    #[test]
    fn no_kind_of_key_mixes_up_hits_and_misses() {
        misses_are_no_members_and_hits_are(&DRAW.integers());
        misses_are_no_members_and_hits_are(&DRAW.ids());
        misses_are_no_members_and_hits_are(&DRAW.text().workload());
    }

    #[test]
    fn text_keys_take_every_length_from_16_to_24() {
        let text = DRAW.text();
        let lengths: HashSet<usize> = text.workload().inserted.iter().map(|key| key.len()).collect();
        assert_eq!(lengths, (16..=TEXT_MAX).collect());
    }

    #[test]
    fn mixing_bits_is_a_bijection() {
        for bits in [4, 7, 16, 19] {
            let images: HashSet<u32> = (0..1 << bits).map(|number| mix_bits(number, bits)).collect();
            assert_eq!(images.len(), 1 << bits);
            assert!(images.iter().all(|&image| image < 1 << bits));
        }
    }
}
