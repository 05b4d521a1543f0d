//! The bytes of the kept keys, in one piece of memory. Knows places, not keys' counts.

use crate::{
    error::ParamsError,
    store::{Heap, Line, Store, StoreMut, words, words_mut},
};
use alloc::vec::Vec;

/// Where the bytes of a key are: the word that they begin with, and how many bytes they are. Words are padded with zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(pub(super) u64);

impl Place {
    pub(super) fn new(first: u32, len: u32) -> Self {
        Self(u64::from(first) << 32 | u64::from(len))
    }

    pub(super) fn first(self) -> usize {
        (self.0 >> 32) as usize
    }

    pub(super) fn len(self) -> usize {
        self.0 as u32 as usize
    }

    /// The words that it takes.
    pub(super) fn words(self) -> usize {
        self.len().div_ceil(8)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Arena {
    memory: Heap,
    /// The words handed out, among them those given back.
    used: usize,
    /// The words that keys are in.
    live: usize,
}

impl Arena {
    /// Room for so many words.
    pub(super) fn with_room(room: usize) -> Result<Self, ParamsError> {
        Ok(Self { memory: Heap::zeroed((room as u64).div_ceil(8))?, used: 0, live: 0 })
    }

    pub(super) fn live(&self) -> usize {
        self.live
    }

    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// The lines in use.
    pub(super) fn lines(&self) -> &[Line] {
        &self.memory.lines()[..self.used.div_ceil(8)]
    }

    pub(super) fn has_room_for(&self, key: &[u8]) -> bool {
        self.used + key.len().div_ceil(8) <= 8 * self.memory.lines().len()
    }

    /// Puts a key behind the others. The caller saw that there is room.
    pub(super) fn push(&mut self, key: &[u8]) -> Place {
        let first = u32::try_from(self.used).expect("kept keys take less than 32 GiB");
        let place = Place::new(first, u32::try_from(key.len()).expect("a key is shorter than 4 GiB"));
        self.used += place.words();
        self.write(place, key);
        place
    }

    /// Puts a key where another was, which took as many words or more.
    pub(super) fn replace(&mut self, old: Place, key: &[u8]) -> Place {
        self.clear(old);
        let place = Place::new(old.first() as u32, key.len() as u32);
        self.write(place, key);
        place
    }

    /// Gives a place back, and forgets what was there: a file should not hold keys that are not in the summary.
    pub(super) fn clear(&mut self, place: Place) {
        words_mut(self.memory.lines_mut())[place.first()..][..place.words()].fill(0);
        self.live -= place.words();
    }

    /// Begins anew, once every place has been given back.
    pub(super) fn reset(&mut self) {
        debug_assert_eq!(self.live, 0);
        self.used = 0;
    }

    fn write(&mut self, place: Place, key: &[u8]) {
        let to = &mut words_mut(self.memory.lines_mut())[place.first()..][..place.words()];
        to.iter_mut().zip(as_words(key)).for_each(|(to, word)| *to = word);
        self.live += place.words();
    }

    /// Whether just this key is there.
    #[inline(always)]
    pub(super) fn holds(&self, place: Place, key: &[u8]) -> bool {
        place.len() == key.len() && {
            let there = &words(self.memory.lines())[place.first()..][..place.words()];
            there.iter().zip(as_words(key)).all(|(there, word)| *there == word)
        }
    }

    /// The key that is there.
    pub(super) fn key(&self, place: Place) -> Vec<u8> {
        read_key(words(self.memory.lines()), place).expect("a place of this arena")
    }
}

/// The key at a place among words, if it lies inside.
pub(super) fn read_key(words: &[u64], place: Place) -> Option<Vec<u8>> {
    let words = words.get(place.first()..place.first().checked_add(place.words())?)?;
    let mut key: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    key.truncate(place.len());
    Some(key)
}

/// The bytes as little-endian words, the last one padded with zeros.
#[inline(always)]
fn as_words(key: &[u8]) -> impl Iterator<Item = u64> {
    let (whole, rest) = key.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let last = (!rest.is_empty()).then_some(u64::from_le_bytes(last));
    whole.iter().map(|word| u64::from_le_bytes(*word)).chain(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_come_back_as_they_went_in(keys: Vec<Vec<u8>>) {
            let mut arena = Arena::with_room(keys.iter().map(|key| key.len().div_ceil(8)).sum()).unwrap();
            let places: Vec<Place> = keys.iter().map(|key| arena.push(key)).collect();
            for (key, place) in keys.iter().zip(&places) {
                prop_assert_eq!(&arena.key(*place), key);
                prop_assert!(arena.holds(*place, key));
                prop_assert!(!arena.holds(*place, &[key.as_slice(), &[0]].concat()));
            }
            for place in places {
                arena.clear(place);
            }
            prop_assert_eq!(arena.live(), 0);
            prop_assert!(arena.lines().iter().all(|line| *line == Line::ZERO));
        }
    }
}
