//! A set of keys in memory, to hold against keys that stream by: the smaller side of "which of these are known?".
//!
//! A slot is 8 bytes: a tag of the hash and the number of a key. The bytes of the keys stand one after another in an arena. So a key
//! that is not there costs one read of the slots, and one that is there a second read, of its bytes.

use gowk::{Hasher, Seed, store::prefetch};
use std::sync::atomic::{AtomicU64, Ordering};

/// Distinct keys, numbered in the order in which they first came.
#[derive(Debug)]
pub struct KeySet {
    hasher: Hasher,
    /// The upper half is a tag, the lower the number of a key and 1; 0 is an empty slot. A power of two of them.
    slots: Vec<u64>,
    arena: Vec<u8>,
    /// Where each key ends in the arena.
    ends: Vec<u64>,
}

/// A key's hash, made by [`KeySet::hash`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyHash(u64);

/// As many keys as a set can number.
const MOST: usize = u32::MAX as usize - 1;

impl Default for KeySet {
    fn default() -> Self {
        // The seed is random: nobody can prepare keys that all fall into one slot.
        Self { hasher: Hasher::new(Seed::random()), slots: vec![0; 16], arena: Vec::new(), ends: Vec::new() }
    }
}

impl KeySet {
    /// The hash of a key. Asked of many keys first and looked up afterwards, memory answers several at once.
    #[inline]
    pub fn hash(&self, key: &[u8]) -> KeyHash {
        KeyHash(self.hasher.bytes(key).h1)
    }

    /// How many keys are in the set.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The key of this number.
    #[inline]
    pub fn key(&self, number: usize) -> &[u8] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] as usize };
        &self.arena[start..self.ends[number] as usize]
    }

    /// The memory that it takes.
    pub fn size_in_bytes(&self) -> usize {
        8 * (self.slots.capacity() + self.ends.capacity()) + self.arena.capacity()
    }

    /// The numbers of keys, in order; none for one that is not in the set. `hashes` are theirs: with them at hand memory is asked long
    /// before it is needed.
    pub fn find_many<'a>(
        &'a self,
        keys: impl Iterator<Item = &'a [u8]> + 'a,
        hashes: &'a [KeyHash],
    ) -> impl Iterator<Item = Option<usize>> + 'a {
        const AHEAD: usize = 16;
        let mask = self.slots.len() - 1;
        let fetch = move |hash: &KeyHash| prefetch(&self.slots[hash.0 as usize & mask]);
        hashes.iter().take(AHEAD).for_each(fetch);
        keys.zip(hashes).enumerate().map(move |(i, (key, hash))| {
            hashes.get(i + AHEAD).into_iter().for_each(fetch);
            self.find(key, *hash)
        })
    }

    /// The number of the key, if it is in the set.
    #[inline]
    pub fn find(&self, key: &[u8], hash: KeyHash) -> Option<usize> {
        let mask = self.slots.len() - 1;
        let mut at = hash.0 as usize & mask;
        loop {
            let slot = self.slots[at & mask];
            if slot == 0 {
                return None;
            }
            let number = (slot as u32 - 1) as usize;
            if slot >> 32 == hash.0 >> 32 && self.key(number) == key {
                return Some(number);
            }
            at += 1;
        }
    }

    /// The number of the key, which is put in if it is new.
    ///
    /// # Panics
    /// Beyond 4 billion keys, which take more than 100 GB.
    pub fn insert(&mut self, key: &[u8]) -> usize {
        let hash = self.hash(key);
        if let Some(number) = self.find(key, hash) {
            return number;
        }
        let number = self.ends.len();
        assert!(number < MOST, "a set in memory has at most {MOST} keys");
        self.arena.extend_from_slice(key);
        self.ends.push(self.arena.len() as u64);
        // Half full at the most: few collisions, and a search always meets an empty slot.
        if 2 * self.ends.len() > self.slots.len() {
            self.grow();
        } else {
            put(&mut self.slots, hash, number);
        }
        number
    }

    fn grow(&mut self) {
        let mut slots = vec![0; 2 * self.slots.len()];
        for number in 0..self.len() {
            put(&mut slots, self.hash(self.key(number)), number);
        }
        self.slots = slots;
    }
}

fn put(slots: &mut [u64], hash: KeyHash, number: usize) {
    let mask = slots.len() - 1;
    let mut at = hash.0 as usize & mask;
    while slots[at & mask] != 0 {
        at += 1;
    }
    slots[at & mask] = hash.0 >> 32 << 32 | (number as u64 + 1);
}

/// Which keys of a [`KeySet`] were met; set from several threads.
#[derive(Debug)]
pub struct Met(Vec<AtomicU64>);

impl Met {
    /// None of them.
    pub fn none_of(keys: &KeySet) -> Self {
        Self((0..keys.len().div_ceil(64)).map(|_| AtomicU64::new(0)).collect())
    }

    /// Notes that the key of this number was met.
    #[inline]
    pub fn note(&self, number: usize) {
        let (word, bit) = (&self.0[number / 64], 1 << (number % 64));
        // Most are met again and again; a read leaves the line with the other cores.
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Whether the key of this number was met.
    #[inline]
    pub fn was(&self, number: usize) -> bool {
        self.0[number / 64].load(Ordering::Relaxed) >> (number % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn a_set_numbers_keys_as_they_first_come(keys in prop::collection::vec("[ab]{0,3}", 0..200)) {
            let (mut set, mut model) = (KeySet::default(), HashMap::new());
            for key in &keys {
                let next = model.len();
                let expected = *model.entry(key.clone()).or_insert(next);
                prop_assert_eq!(set.insert(key.as_bytes()), expected);
            }
            prop_assert_eq!(set.len(), model.len());
            for (key, number) in &model {
                prop_assert_eq!(set.key(*number), key.as_bytes());
                prop_assert_eq!(set.find(key.as_bytes(), set.hash(key.as_bytes())), Some(*number));
            }
            prop_assert_eq!(set.find(b"c", set.hash(b"c")), None);
        }
    }

    #[test]
    fn many_keys_are_all_found_and_no_others() {
        let mut set = KeySet::default();
        (0..100_000u32).for_each(|i| assert_eq!(set.insert(&i.to_le_bytes()), i as usize));
        let met = Met::none_of(&set);
        for i in 0..200_000u32 {
            let key = i.to_le_bytes();
            let found = set.find(&key, set.hash(&key));
            assert_eq!(found, (i < 100_000).then_some(i as usize));
            found.into_iter().filter(|number| number % 3 == 0).for_each(|number| met.note(number));
        }
        assert!((0..100_000).all(|number| met.was(number) == (number % 3 == 0)));
        for some in [0, 1, 15, 16, 17, 1000] {
            let keys: Vec<[u8; 4]> = (99_990..99_990 + some).map(u32::to_le_bytes).collect();
            let hashes: Vec<KeyHash> = keys.iter().map(|key| set.hash(key)).collect();
            let found: Vec<_> = set.find_many(keys.iter().map(|key| &key[..]), &hashes).collect();
            assert_eq!(
                found,
                keys.iter().zip(&hashes).map(|(key, hash)| set.find(key, *hash)).collect::<Vec<_>>()
            );
        }
    }
}
