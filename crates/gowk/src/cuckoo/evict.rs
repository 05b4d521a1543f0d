//! Room for a key whose buckets are full: the shortest chain of moves to an empty slot. Knows buckets and tags; does not
//! know hashing or sizing.
//!
//! Breadth first. A random walk moves keys before it knows whether it will end, and has to move them all back when it does not;
//! here nothing is written until an empty slot is found, so a refused insert has changed nothing. Chains are
//! short (two moves at most at 95 % load, as a rule), and the reads of one level do not wait for each other.

use super::{
    layout::{Layout, Spot},
    observe::{Observer, Slot, Step},
    slots::{Lanes, Word},
};
use crate::store::{Fetch, Line};
use alloc::vec::Vec;

/// The most buckets that are looked into.
const MOST_BUCKETS: usize = 2048;

/// How many of them there is room for between searches. Nearly all searches end with fewer; a long one gives its memory back.
const KEPT: usize = 128;

/// How many buckets are fetched before the first of them is looked into: the neighbours of the two that a key begins with.
const AT_ONCE: usize = 8;

/// A full bucket that would take a tag if it had room.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    bucket: u64,
    tag: u32,
    /// Where the tag is now: node and slot. A root's tag is that of the new key.
    parent: u16,
    slot: u8,
}

const ROOT: u16 = u16::MAX;

/// Finds a slot for a key, moving others, and writes it. False if there is none within reach; then nothing has changed.
pub(super) fn place<const D: usize, const B: usize, W: Word>(
    layout: &Layout,
    lanes: &Lanes,
    lines: &mut [Line],
    queue: &mut Vec<Node>,
    spot: &Spot<D>,
    observer: &mut impl Observer,
) -> bool {
    let placed = search::<D, B, W>(layout, lanes, lines, queue, spot, observer);
    if queue.capacity() > KEPT {
        queue.clear();
        queue.shrink_to(KEPT);
    }
    placed
}

#[inline(always)]
fn search<const D: usize, const B: usize, W: Word>(
    layout: &Layout,
    lanes: &Lanes,
    lines: &mut [Line],
    queue: &mut Vec<Node>,
    spot: &Spot<D>,
    observer: &mut impl Observer,
) -> bool {
    queue.clear();
    for place in spot.places {
        let node = Node {
            bucket: layout.bucket(place),
            tag: layout.tag(place, spot.print) as u32,
            parent: ROOT,
            slot: 0,
        };
        let value: W = lanes.read::<B, W>(lines, node.bucket);
        let full = lanes.full::<B, W>(value);
        observer.step(Step::Looked { bucket: node.bucket, full });
        if !full {
            let slot = lanes.used::<B, W>(value);
            lanes.write::<B>(lines, node.bucket, slot, node.tag.into());
            let at = Slot { bucket: node.bucket, slot: slot as u64 };
            observer.step(Step::Placed { at, tag: node.tag });
            return true;
        }
        queue.push(node);
    }
    // Nodes before `opened` have their neighbours in the queue; those before `seen` are known to be full.
    let (mut opened, mut seen) = (0, queue.len());
    while opened < seen {
        while opened < seen && queue.len() < seen + AT_ONCE {
            open::<D, B, W>(layout, lanes, lines, queue, opened);
            opened += 1;
        }
        while let Some(&node) = queue.get(seen) {
            let value: W = lanes.read::<B, W>(lines, node.bucket);
            let full = lanes.full::<B, W>(value);
            observer.step(Step::Looked { bucket: node.bucket, full });
            if !full {
                move_along::<B>(lanes, lines, queue, (node, lanes.used::<B, W>(value)), observer);
                return true;
            }
            seen += 1;
        }
    }
    false
}

/// Queues the buckets that the tags of a node could move to, their lines on their way.
#[inline(always)]
fn open<const D: usize, const B: usize, W: Word>(
    layout: &Layout,
    lanes: &Lanes,
    lines: &[Line],
    queue: &mut Vec<Node>,
    parent: usize,
) {
    let from = queue[parent].bucket;
    let value: W = lanes.read::<B, W>(lines, from);
    for slot in 0..B {
        let moved: Spot<D> = layout.spot_of_tag(from, lanes.tag(value, slot));
        for place in moved.places {
            let bucket = layout.bucket(place);
            if queue.len() < MOST_BUCKETS && !is_on_path(queue, parent, bucket) {
                lanes.fetch::<B>(Fetch::SOON, lines, bucket);
                let tag = layout.tag(place, moved.print) as u32;
                queue.push(Node { bucket, tag, parent: parent as u16, slot: slot as u8 });
            }
        }
    }
}

/// Whether the chain up to a node goes through a bucket: a bucket must not be in a chain twice, for its second visit would see
/// it as it was before the first.
#[inline(always)]
fn is_on_path(queue: &[Node], mut node: usize, bucket: u64) -> bool {
    loop {
        let Node { bucket: passed, parent, .. } = queue[node];
        if passed == bucket {
            return true;
        }
        if parent == ROOT {
            return false;
        }
        node = parent.into();
    }
}

/// Moves each tag of the chain into the slot that the one before it has left, from the empty slot back to the new key.
fn move_along<const B: usize>(
    lanes: &Lanes,
    lines: &mut [Line],
    queue: &[Node],
    (last, empty): (Node, usize),
    observer: &mut impl Observer,
) {
    let (mut node, mut slot) = (last, empty);
    loop {
        lanes.write::<B>(lines, node.bucket, slot, node.tag.into());
        let to = Slot { bucket: node.bucket, slot: slot as u64 };
        if node.parent == ROOT {
            observer.step(Step::Placed { at: to, tag: node.tag });
            return;
        }
        let parent = queue[usize::from(node.parent)];
        let from = Slot { bucket: parent.bucket, slot: node.slot.into() };
        observer.step(Step::Moved { from, to, tag: node.tag });
        slot = node.slot.into();
        node = parent;
    }
}
