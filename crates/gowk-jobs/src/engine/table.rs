//! A part of the key table: slots of eight bytes over an arena of key bytes.
//!
//! ```text
//! slot   31 bits of the hash | mark | 32 bits: where its entry stands in the arena; 0 is empty
//! entry  [position, as the difference to the entry before] -> length [count] key [line]
//! ```
//! A key's home is its 31 bits, scaled to the slots, so that slots are in the order of their hashes but for collisions. Growing
//! then moves them up in place, from the last to the first, at memory speed and without a look at the keys: the table is never
//! there twice. And as any number of slots will do, it grows by a quarter, which keeps it three quarters full.

use super::{sought::Sought, varint};
use gowk::store::{advise_huge, prefetch};
use std::collections::HashMap;

/// What entries hold besides the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Where the key first appeared, to put entries of many shards in order.
    pub(crate) positions: bool,
    /// How often it came.
    pub(crate) counts: Counts,
    /// The line it first stood in.
    pub(crate) lines: bool,
}

/// How far an entry counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Counts {
    /// Not at all.
    #[default]
    None,
    /// Once or more often: one byte, which stays at its highest.
    Byte,
    /// Exactly.
    Exact,
}

impl Counts {
    #[inline(always)]
    fn bytes(self) -> usize {
        match self {
            Self::None => 0,
            Self::Byte => 1,
            Self::Exact => 4,
        }
    }
}

/// From this share on slots and arena get all their addresses at once.
const LARGE: usize = 8 << 20;

/// From this share on they are on huge pages, the last of which is half empty.
const HUGE: usize = 32 << 20;

/// Slots from the home on that a key is looked for in before others.
const LIKELY: usize = 4;

/// About where the entry of a short key ends.
const SHORT: usize = 20;

const TAG: u64 = !0 << 33;
const MARK: u64 = 1 << 32;
const ENTRY: u64 = MARK - 1;

/// A slot that most likely is the key's, if the key is there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hint(usize);

/// A slot that a key was found in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found(usize);

/// A part of the table, of one thread.
#[derive(Debug)]
pub(crate) struct Shard {
    shape: Shape,
    share: usize,
    slots: Vec<u64>,
    /// How many slots are homes; the others take what runs over the end.
    homes: u64,
    len: usize,
    arena: Vec<u8>,
    /// The position of the entry that came last.
    last: u64,
    /// What four bytes cannot count, by entry.
    beyond: HashMap<u32, u64>,
}

impl Shard {
    /// An empty one that may come to take about `share` bytes.
    pub(crate) fn new(shape: Shape, share: usize) -> Self {
        let (mut slots, mut arena) = (Vec::new(), Vec::new());
        if share >= LARGE {
            reserve(&mut slots, share / 8, share >= HUGE);
            reserve(&mut arena, share, share >= HUGE);
        }
        slots.resize(64 + 16, 0);
        // Entry 0 would look like an empty slot.
        arena.push(0);
        Self { shape, share, slots, homes: 64, len: 0, arena, last: 0, beyond: HashMap::new() }
    }

    /// Forgets all keys and gives the memory back.
    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.shape, self.share);
    }

    /// Different keys.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The memory that it has touched.
    pub(crate) fn bytes(&self) -> usize {
        // Of huge pages the last is half empty, here and there.
        let page = if self.share >= HUGE { 2 << 20 } else { 0 };
        8 * self.slots.len() + self.arena.len() + page + 64 * self.beyond.len()
    }

    /// Whether a key of this length still has an address.
    #[inline(always)]
    pub(crate) fn has_room_for(&self, bytes: usize) -> bool {
        self.arena.len() + bytes + 40 < ENTRY as usize
    }

    #[inline(always)]
    fn home(&self, hash: u64) -> usize {
        (((hash >> 33) * self.homes) >> 31) as usize
    }

    /// Asks for the slots of a key: every third time they lie in two lines of the cache.
    #[inline(always)]
    pub(crate) fn fetch_slot(&self, hash: u64) {
        let home = self.home(hash);
        prefetch(&self.slots[home]);
        prefetch(&self.slots[home + LIKELY - 1]);
    }

    /// Asks for the entry that is most likely the key's, and tells its slot. The slots should be in the cache by now.
    #[inline(always)]
    pub(crate) fn fetch_entry(&self, hash: u64) -> Hint {
        // The slots of a home are mostly the next few. Which one it is is nothing that a processor could guess, so none of
        // the comparisons is a branch.
        let home = self.home(hash);
        let Some(slots) = self.slots[home..].first_chunk::<LIKELY>() else { return Hint(usize::MAX) };
        let likely = (0..LIKELY).fold(0, |bits, i| bits | u32::from((slots[i] ^ hash) & TAG == 0) << i);
        let at = (likely | 1 << (LIKELY - 1)).trailing_zeros() as usize;
        let entry = (slots[at] & ENTRY) as usize;
        prefetch(&self.arena[entry]);
        // Entries are packed, and so every fourth of a short key ends in the next line.
        if let Some(end) = self.arena.get(entry + SHORT) {
            prefetch(end);
        }
        Hint(home + at)
    }

    /// The slot of a key, or the empty one that it would take.
    #[inline(always)]
    pub(crate) fn probe(&self, hash: u64, key: Sought<'_>, hint: Hint) -> Result<Found, usize> {
        if let Some(slot) = self.slots.get(hint.0)
            && self.is_of(*slot, hash, key)
        {
            return Ok(Found(hint.0));
        }
        let home = self.home(hash);
        for (i, slot) in self.slots[home..].iter().enumerate() {
            if *slot == 0 {
                return Err(home + i);
            }
            if self.is_of(*slot, hash, key) {
                return Ok(Found(home + i));
            }
        }
        unreachable!("the last slot is never taken")
    }

    #[inline(always)]
    fn is_of(&self, slot: u64, hash: u64, key: Sought<'_>) -> bool {
        // An empty slot looks like that of a hash without high bits.
        slot != 0 && (slot ^ hash) & TAG == 0 && self.is_at((slot & ENTRY) as usize, key)
    }

    #[inline(always)]
    fn is_at(&self, entry: usize, key: Sought<'_>) -> bool {
        let counts = self.shape.counts.bytes();
        let first = self.arena[entry];
        if first < 0x80 {
            return key.is_at(&self.arena, entry + 1 + counts, first.into());
        }
        let mut rest = &self.arena[entry..];
        let len = varint::take(&mut rest).expect("entries are whole");
        key.is_at(rest, counts, len as usize)
    }

    /// Whether the key is there.
    #[inline(always)]
    pub(crate) fn find(&self, hash: u64, key: Sought<'_>, hint: Hint) -> Option<Found> {
        self.probe(hash, key, hint).ok()
    }

    /// Puts a key into the slot that [`probe`](Self::probe) found empty, with a count of `count`.
    #[inline(always)]
    pub(crate) fn insert_at<'a>(
        &mut self,
        at: usize,
        hash: u64,
        key: Sought<'_>,
        position: impl FnOnce() -> u64,
        count: u64,
        line: impl FnOnce() -> &'a [u8],
    ) {
        if self.shape.positions {
            let position = position();
            varint::put(&mut self.arena, position - self.last);
            self.last = position;
        }
        let entry = self.arena.len();
        varint::put(&mut self.arena, key.bytes.len() as u64);
        match self.shape.counts {
            Counts::None => {}
            Counts::Byte => self.arena.push(count.min(0xff) as u8),
            Counts::Exact => self.arena.extend_from_slice(&[0; 4]),
        }
        key.put(&mut self.arena);
        if self.shape.lines {
            let line = line();
            varint::put(&mut self.arena, line.len() as u64);
            self.arena.extend_from_slice(line);
        }
        self.slots[at] = (hash & TAG) | entry as u64;
        self.len += 1;
        if self.shape.counts == Counts::Exact {
            self.add_exactly(entry, count);
        }
        // The last slot stays empty, so that every search ends.
        if self.len * 5 > self.homes as usize * 4 || at + 2 >= self.slots.len() {
            self.grow();
        }
    }

    /// Counts a key again.
    #[inline(always)]
    pub(crate) fn add(&mut self, found: Found, count: u64) {
        let entry = (self.slots[found.0] & ENTRY) as usize;
        match self.shape.counts {
            Counts::None => {}
            Counts::Byte => {
                let at = self.count_at(entry);
                self.arena[at] = (u64::from(self.arena[at]).saturating_add(count)).min(0xff) as u8;
            }
            Counts::Exact => self.add_exactly(entry, count),
        }
    }

    #[inline(always)]
    fn count_at(&self, entry: usize) -> usize {
        let mut at = entry;
        while self.arena[at] >= 0x80 {
            at += 1;
        }
        at + 1
    }

    #[inline(always)]
    fn add_exactly(&mut self, entry: usize, count: u64) {
        let at = self.count_at(entry);
        let four = self.arena[at..].first_chunk_mut::<4>().expect("entries are whole");
        let sum = u64::from(u32::from_le_bytes(*four)) + (count & 0xffff_ffff);
        *four = (sum as u32).to_le_bytes();
        let carry = (sum >> 32) + (count >> 32);
        if carry > 0 {
            *self.beyond.entry(entry as u32).or_default() += carry << 32;
        }
    }

    /// What an exact count stands at, up to four bytes of it.
    #[inline(always)]
    pub(crate) fn low_count(&self, found: Found) -> u32 {
        let at = self.count_at((self.slots[found.0] & ENTRY) as usize);
        u32::from_le_bytes(*self.arena[at..].first_chunk().expect("entries are whole"))
    }

    /// Marks a key; whether it had no mark before.
    #[inline(always)]
    pub(crate) fn mark(&mut self, found: Found) -> bool {
        let slot = &mut self.slots[found.0];
        let new = *slot & MARK == 0;
        *slot |= MARK;
        new
    }

    #[cold]
    fn grow(&mut self) {
        // While there is plenty of room by larger steps, which are fewer.
        let plenty = self.homes < 1 << 14 || self.slots.len() * 8 < self.share / 8;
        let homes = if plenty { self.homes * 2 } else { self.homes / 4 * 5 };
        self.grow_to(homes);
    }

    fn grow_to(&mut self, homes: u64) {
        let before = self.slots.len();
        let spare = homes as usize / 64 + 16;
        self.slots.reserve_exact(homes as usize + spare - before);
        self.slots.resize(homes as usize + spare, 0);
        self.homes = homes;
        // From the last to the first each moves up, to where no other is yet to be moved. Near the front, where there is no
        // such place, a few wait until all others are settled.
        let mut late = Vec::new();
        for i in (0..before).rev() {
            let slot = std::mem::take(&mut self.slots[i]);
            match slot {
                0 => {}
                _ if self.home(slot) >= i => self.settle(slot),
                _ => late.push(slot),
            }
        }
        late.into_iter().for_each(|slot| self.settle(slot));
    }

    /// Puts a slot into the first free place from its home on.
    #[inline(always)]
    fn settle(&mut self, slot: u64) {
        let mut at = self.home(slot);
        while self.slots[at] != 0 {
            at += 1;
        }
        self.slots[at] = slot;
        // The last one stays empty, so that every search ends.
        if at + 2 >= self.slots.len() {
            self.slots.resize(at + 16, 0);
        }
    }

    /// All entries, in the order in which they came.
    pub(crate) fn entries(&self) -> Entries<'_> {
        Entries { shard: self, at: 1, position: 0 }
    }
}

/// Addresses for all that may come, so that nothing need be moved. What is not touched is not resident; and where there are not
/// so many to be had, moving will do.
fn reserve<T>(memory: &mut Vec<T>, len: usize, huge: bool) {
    if memory.try_reserve_exact(len).is_ok() && huge {
        advise_huge(memory);
    }
}

/// What an entry holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    pub(crate) position: u64,
    pub(crate) key: &'a [u8],
    pub(crate) count: u64,
    /// The line where lines are kept, or else the key.
    pub(crate) line: &'a [u8],
}

/// Walks through the arena.
#[derive(Debug)]
pub(crate) struct Entries<'a> {
    shard: &'a Shard,
    at: usize,
    position: u64,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        const WHOLE: &str = "entries are whole";
        let Shape { positions, counts, lines } = self.shard.shape;
        let arena = self.shard.arena.as_slice();
        let mut rest = arena.get(self.at..).filter(|rest| !rest.is_empty())?;
        if positions {
            self.position += varint::take(&mut rest).expect(WHOLE);
        }
        let entry = arena.len() - rest.len();
        let len = varint::take(&mut rest).expect(WHOLE);
        let count = match counts {
            Counts::None => 1,
            Counts::Byte => u64::from(rest[0]),
            Counts::Exact => {
                let low = u32::from_le_bytes(*rest.first_chunk().expect(WHOLE));
                let high = match self.shard.beyond.is_empty() {
                    true => 0,
                    false => self.shard.beyond.get(&(entry as u32)).copied().unwrap_or(0),
                };
                u64::from(low) + high
            }
        };
        rest = &rest[counts.bytes()..];
        let key = varint::take_bytes(&mut rest, len).expect(WHOLE);
        let line = match lines {
            true => {
                let len = varint::take(&mut rest).expect(WHOLE);
                varint::take_bytes(&mut rest, len).expect(WHOLE)
            }
            false => key,
        };
        self.at = arena.len() - rest.len();
        Some(Entry { position: self.position, key, count, line })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn shape(counts: Counts) -> Shape {
        Shape { positions: true, counts, lines: false }
    }

    fn add(shard: &mut Shard, hash: u64, key: &[u8], position: u64, count: u64) {
        match shard.probe(hash, key.into(), Hint::default()) {
            Ok(found) => shard.add(found, count),
            Err(at) => shard.insert_at(at, hash, key.into(), || position, count, || &[]),
        }
    }

    proptest! {
        #[test]
        fn a_shard_counts_as_a_map_does(keys: Vec<u16>, hash_bits in 33u32..64, long in 0usize..300) {
            // Few bits of hash, so that many keys collide.
            let hash = |key: u16| (u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15)) & (!0 << hash_bits);
            let mut shard = Shard::new(shape(Counts::Exact), 0);
            let mut model = BTreeMap::<u64, (Vec<u8>, u64)>::new();
            let mut first = BTreeMap::new();
            for (i, key) in keys.iter().enumerate() {
                let mut bytes = vec![b'x'; long];
                bytes.extend_from_slice(&key.to_le_bytes());
                add(&mut shard, hash(*key), &bytes, i as u64, 1);
                let at = *first.entry(*key).or_insert(i as u64);
                model.entry(at).or_insert((bytes, 0)).1 += 1;
            }
            prop_assert_eq!(shard.len(), model.len());
            let entries: Vec<_> = shard.entries().map(|e| (e.position, (e.key.to_vec(), e.count))).collect();
            prop_assert_eq!(entries, model.into_iter().collect::<Vec<_>>());
            for key in &keys {
                let mut bytes = vec![b'x'; long];
                bytes.extend_from_slice(&key.to_le_bytes());
                prop_assert!(shard.find(hash(*key), (&*bytes).into(), Hint::default()).is_some());
            }
            prop_assert!(shard.find(hash(7), (&b"never"[..]).into(), Hint::default()).is_none());
        }
    }

    #[test]
    fn keys_that_all_crowd_at_the_end_are_found_again() {
        let mut shard = Shard::new(shape(Counts::Byte), 0);
        for i in 0..3_000u64 {
            add(&mut shard, u64::MAX, &i.to_le_bytes(), i, 1);
        }
        assert!(
            (0..3_000u64)
                .all(|i| shard.find(u64::MAX, (&i.to_le_bytes()[..]).into(), Hint::default()).is_some())
        );
        assert!(shard.find(u64::MAX, (&3_000u64.to_le_bytes()[..]).into(), Hint::default()).is_none());
    }

    #[test]
    fn counts_go_beyond_four_bytes() {
        let mut shard = Shard::new(shape(Counts::Exact), 0);
        for count in [u64::from(u32::MAX), 1, 7, 1 << 40, u64::from(u32::MAX)] {
            add(&mut shard, 1 << 40, b"key", 0, count);
        }
        let sum = 2 * u64::from(u32::MAX) + 8 + (1 << 40);
        assert_eq!(shard.entries().next().unwrap().count, sum);
    }

    #[test]
    fn a_byte_counts_no_further_than_it_can() {
        let mut shard = Shard::new(shape(Counts::Byte), 0);
        (0..1_000).for_each(|_| add(&mut shard, 1 << 40, b"key", 0, 1));
        assert_eq!(shard.entries().next().unwrap().count, 255);
    }

    #[test]
    fn a_mark_is_new_once_and_survives_growth() {
        let mut shard = Shard::new(Shape::default(), 0);
        add(&mut shard, 5 << 33, b"key", 0, 1);
        let found = shard.find(5 << 33, (&b"key"[..]).into(), Hint::default()).unwrap();
        assert!(shard.mark(found));
        for i in 0..10_000u64 {
            add(&mut shard, i.wrapping_mul(0x9e37_79b9_7f4a_7c15), &i.to_le_bytes(), 0, 1);
        }
        let found = shard.find(5 << 33, (&b"key"[..]).into(), Hint::default()).unwrap();
        assert!(!shard.mark(found));
    }
}
