//! The most frequent items under a key: HeavyKeeper [Yang, Zhang, Li et al. 2019].
//!
//! `depth` rows of `width` cells, each with the fingerprint of an item and its count. An item that meets its own fingerprint raises the
//! count; another wears it down with the chance decay^count, and takes the cell over at 0. So frequent items stay, rare ones go.
//! The `k` best by that measure are in a heap. Clients test what is expelled and listed, so its rules are part of the contract: it
//! begins with `k` empty slots of count 0, an item whose estimate is not below the least count replaces it, and moves down past the
//! lesser of two children.
//!
//! **Chance is replicated.** The random numbers come from the value's own generator, whose state is saved with it, so a replica and a
//! replayed file do the very same. Increments are not done one by one: the number of tries until a cell is worn down by one is drawn at
//! once.

use super::{
    bytes::Reader,
    image::{self, Body},
    loaded::Imaged,
};
use crate::{
    callbacks::Handle,
    error::LoadError,
    types::{
        bloom::codec::{read_hasher, write_hasher},
        bytes::Writer,
    },
};
use gowk::Hasher;
use libm::{ceil, log, log1p, pow};
use std::ffi::CStr;

#[derive(Clone, Copy, Default)]
struct Cell {
    print: u32,
    count: u32,
}

/// An item among the best. An empty slot has no item.
#[derive(Clone, Default)]
pub(crate) struct Slot {
    digest: u64,
    pub(crate) count: u32,
    pub(crate) item: Option<Box<[u8]>>,
}

pub(crate) struct TopK {
    pub(crate) width: u32,
    pub(crate) depth: u32,
    pub(crate) decay: f64,
    hasher: Hasher,
    random: u64,
    cells: Vec<Cell>,
    heap: Vec<Slot>,
}

const SPREAD: u64 = 0xd134_2543_de82_ef95;

impl TopK {
    /// An empty one; none if there is no memory for it.
    pub(crate) fn new(k: u32, width: u32, depth: u32, decay: f64, hasher: Hasher) -> Option<Self> {
        let len = usize::try_from(u64::from(width).checked_mul(depth.into())?).ok()?;
        let (mut cells, mut heap) = (Vec::new(), Vec::new());
        cells.try_reserve_exact(len).ok()?;
        cells.resize(len, Cell::default());
        heap.try_reserve_exact(k as usize).ok()?;
        heap.resize(k as usize, Slot::default());
        // Any start will do, as long as it is the same everywhere.
        let random = hasher.bytes(b"topk").h1;
        Some(Self { width, depth, decay, hasher, random, cells, heap })
    }

    pub(crate) fn k(&self) -> usize {
        self.heap.len()
    }

    fn digest(&self, item: &[u8]) -> u64 {
        self.hasher.bytes(item).h1
    }

    fn places(&self, digest: u64) -> impl Iterator<Item = usize> + use<> {
        let (width, mut word) = (u64::from(self.width), digest);
        (0..u64::from(self.depth)).map(move |row| {
            let place = row * width + ((u128::from(word) * u128::from(width)) >> 64) as u64;
            word = word.wrapping_mul(SPREAD);
            place as usize
        })
    }

    /// Adds an item that came so many times; what it drove out of the best, if anything.
    pub(crate) fn add(&mut self, item: &[u8], times: u32) -> Option<Box<[u8]>> {
        let digest = self.digest(item);
        let print = print(digest);
        let mut most = 0;
        for place in self.places(digest) {
            let cell = self.cells[place];
            let cell = if cell.count == 0 || cell.print == print {
                Cell { print, count: cell.count.saturating_add(times) }
            } else {
                self.wear(cell, print, times)
            };
            self.cells[place] = cell;
            if cell.print == print {
                most = most.max(cell.count);
            }
        }
        self.rank(item, digest, most)
    }

    /// What becomes of another item's cell.
    fn wear(&mut self, mut cell: Cell, print: u32, mut times: u32) -> Cell {
        while times > 0 {
            let chance = pow(self.decay, f64::from(cell.count));
            let tries = self.tries(chance);
            if tries > f64::from(times) {
                break;
            }
            times -= tries as u32;
            cell.count -= 1;
            if cell.count == 0 {
                // The try that emptied it is its own first count.
                return Cell { print, count: times + 1 };
            }
        }
        cell
    }

    /// After how many tries something of this chance happens first.
    fn tries(&mut self, chance: f64) -> f64 {
        if chance >= 1.0 {
            return 1.0;
        }
        // Above 0 and at most 1, in 53 bits.
        let uniform = ((self.next() >> 11) + 1) as f64 / 9_007_199_254_740_992.0;
        ceil(log(uniform) / log1p(-chance)).max(1.0)
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Puts an item among the best if its count is not below the least.
    fn rank(&mut self, item: &[u8], digest: u64, count: u32) -> Option<Box<[u8]>> {
        if count < self.heap.first()?.count {
            return None;
        }
        if let Some(at) = self.find(item, digest) {
            self.heap[at].count = count;
            self.sift_down(at);
            return None;
        }
        let new = Slot { digest, count, item: Some(item.into()) };
        let old = std::mem::replace(&mut self.heap[0], new);
        self.sift_down(0);
        old.item
    }

    fn find(&self, item: &[u8], digest: u64) -> Option<usize> {
        self.heap.iter().position(|slot| slot.digest == digest && slot.item.as_deref() == Some(item))
    }

    /// Moves a slot down past the lesser child, the left one of equals: past an equal one in the first step, past lesser ones after that.
    fn sift_down(&mut self, mut at: usize) {
        let mut first = true;
        loop {
            let children = 2 * at + 1..(2 * at + 3).min(self.heap.len());
            let Some(least) = children.min_by_key(|child| self.heap[*child].count) else { return };
            let (count, below) = (self.heap[at].count, self.heap[least].count);
            if below > count || below == count && !first {
                return;
            }
            self.heap.swap(at, least);
            (at, first) = (least, false);
        }
    }

    /// Whether it is among the best.
    pub(crate) fn holds(&self, item: &[u8]) -> bool {
        self.find(item, self.digest(item)).is_some()
    }

    /// How often it came, about.
    pub(crate) fn count(&self, item: &[u8]) -> u32 {
        let digest = self.digest(item);
        let print = print(digest);
        let cells = self.places(digest).map(|place| self.cells[place]);
        cells.filter(|cell| cell.print == print).map(|cell| cell.count).max().unwrap_or(0)
    }

    /// The best, the most frequent first; of equal ones, those first that are first in the heap.
    pub(crate) fn list(&self) -> Vec<&Slot> {
        let mut slots: Vec<&Slot> = self.heap.iter().filter(|slot| slot.item.is_some()).collect();
        slots.sort_by_key(|slot| std::cmp::Reverse(slot.count));
        slots
    }
}

/// The fingerprint: bits that choose no cell. 0 is as good as any, since an empty cell is known by its count.
fn print(digest: u64) -> u32 {
    digest as u32
}

static HANDLE: Handle = Handle::new();

impl Imaged for TopK {
    const NAME: &'static CStr = c"TopK-TYPE";
    const LOAD_COMMAND: &'static CStr = c"TOPK.LOADCHUNK";
    const LOADED: &'static CStr = c"topk.loadchunk";

    fn handle() -> &'static Handle {
        &HANDLE
    }

    fn image(&self) -> (Vec<u8>, Body<'_>) {
        let mut body = Writer::default();
        for cell in &self.cells {
            body.u32(cell.print).u32(cell.count);
        }
        for slot in &self.heap {
            let item = slot.item.as_deref();
            body.u8(item.is_some().into()).u32(slot.count).u64(item.map_or(0, |item| item.len() as u64));
            body.bytes(item.unwrap_or_default());
        }
        let body = body.done();
        let mut header = image::header(1, body.len() as u64);
        header.u32(self.heap.len() as u32).u32(self.width).u32(self.depth).f64(self.decay).u64(self.random);
        write_hasher(&mut header, &self.hasher);
        (header.done(), Body::Bytes(body.into()))
    }

    fn from_image(kind: u8, mut fields: Reader<'_>, body: &[u8]) -> Result<Self, LoadError> {
        if kind != 1 {
            return Err(LoadError::Encoding { found: kind.into() });
        }
        let (k, width, depth) = (fields.u32()?, fields.u32()?, fields.u32()?);
        let (decay, random) = (fields.f64()?, fields.u64()?);
        let hasher = read_hasher(&mut fields)?;
        fields.end()?;
        let cells = u64::from(width) * u64::from(depth);
        // Each cell has 8 bytes in the body, and each slot 13: what is not there is not allocated.
        if k == 0
            || cells == 0
            || cells.saturating_mul(8).saturating_add(13 * u64::from(k)) > body.len() as u64
        {
            return Err(LoadError::field("the size", "is not that of the body"));
        }
        if !(decay > 0.0 && decay <= 1.0) {
            return Err(LoadError::field("the decay", format!("is {decay}")));
        }
        let mut topk =
            Self::new(k, width, depth, decay, hasher).ok_or(LoadError::Memory { bytes: cells * 8 })?;
        topk.random = random;
        let mut body = Reader::new(body);
        for cell in &mut topk.cells {
            *cell = Cell { print: body.u32()?, count: body.u32()? };
        }
        for slot in &mut topk.heap {
            let (there, count, len) = (body.u8()?, body.u32()?, body.u64()?);
            let item = body.slice(usize::try_from(len).map_err(|_| LoadError::Cut)?)?;
            let digest = if there == 0 { 0 } else { hasher.bytes(item).h1 };
            *slot = Slot { digest, count, item: (there != 0).then(|| item.into()) };
        }
        body.end()?;
        Ok(topk)
    }

    fn memory(&self) -> usize {
        let items: usize =
            self.heap.iter().filter_map(|slot| slot.item.as_ref()).map(|item| item.len()).sum();
        self.cells.capacity() * size_of::<Cell>() + self.heap.capacity() * size_of::<Slot>() + items
    }

    fn copy(&self) -> Result<Self, LoadError> {
        Ok(Self { cells: self.cells.clone(), heap: self.heap.clone(), ..*self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topk(k: u32, width: u32, depth: u32, decay: f64) -> TopK {
        TopK::new(k, width, depth, decay, Hasher::new(0)).unwrap()
    }

    #[test]
    fn heavy_items_are_found_among_many_light_ones() {
        let mut topk = topk(10, 200, 5, 0.9);
        for round in 0..2000u32 {
            topk.add(format!("light {round}").as_bytes(), 1);
            topk.add(format!("heavy {}", round % 10).as_bytes(), 1);
        }
        assert!((0..10).all(|i| topk.holds(format!("heavy {i}").as_bytes())));
        assert_eq!(topk.list().len(), 10);
    }

    #[test]
    fn the_same_commands_give_the_same_bytes() {
        let fill = || {
            let mut topk = topk(5, 10, 3, 0.9);
            for i in 0..5000u32 {
                topk.add(&(i * i % 97).to_le_bytes(), 1 + i % 7);
            }
            topk
        };
        let (a, b) = (fill(), fill());
        assert_eq!(a.image().1.read(0, 1 << 20), b.image().1.read(0, 1 << 20));
    }

    #[test]
    fn items_with_zero_bytes_are_kept_whole() {
        let mut topk = topk(2, 8, 7, 0.9);
        topk.add(b"a\0b", 3);
        topk.add(b"", 1);
        let (header, body) = topk.image();
        let (kind, _, fields) = image::read_header(&header).unwrap();
        let again = TopK::from_image(kind, fields, &body.read(0, 1 << 20)).unwrap();
        let items: Vec<&[u8]> = again.list().iter().map(|slot| slot.item.as_deref().unwrap()).collect();
        assert_eq!(items, [&b"a\0b"[..], b""]);
        assert!(again.holds(b"a\0b") && !again.holds(b"a"));
    }

    #[test]
    fn a_large_increment_wears_others_down_as_many_small_ones_do() {
        // With a decay of 1 every try takes one off, so the outcome is known.
        let mut topk = topk(1, 1, 1, 1.0);
        topk.add(b"a", 10);
        topk.add(b"b", 4);
        assert_eq!((topk.count(b"a"), topk.count(b"b")), (6, 0));
        topk.add(b"b", 10);
        assert_eq!((topk.count(b"a"), topk.count(b"b")), (0, 5));
    }
}
