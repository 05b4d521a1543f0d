//! What an insert does, told step by step to whoever wants to watch: a page that draws it, a test that counts kicks.
//!
//! Inserts are compiled for the observer that they get. Plain ones get `()`, which does nothing and is compiled away: an insert
//! that nobody watches takes the same instructions as before there were observers.

use alloc::vec::Vec;

/// A slot of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// Its bucket.
    pub bucket: u64,
    /// Its place in the bucket, from 0.
    pub slot: u64,
}

/// One step of an insert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// The search for an empty slot has looked into a bucket. Told of keys whose buckets are full, or whose tag is already there.
    Looked {
        /// The bucket.
        bucket: u64,
        /// Whether it has no empty slot.
        full: bool,
    },
    /// A fingerprint was moved to another of its buckets: a kick. The last one of the chain moves first, into the empty slot.
    Moved {
        /// Where it was.
        from: Slot,
        /// Where it is now.
        to: Slot,
        /// What it left there; part of it tells the place, so it is not what it was in the other bucket.
        tag: u32,
    },
    /// The new key got a slot.
    Placed {
        /// Which.
        at: Slot,
        /// What it left there.
        tag: u32,
    },
    /// A key that cannot be told from one inside is counted beside the slots.
    Counted,
    /// There was no empty slot within reach, so those that hold a fingerprint twice were emptied and counted beside the slots.
    Swept,
    /// There was no empty slot within reach, so the table was doubled. All fingerprints have moved.
    Doubled,
}

/// Is told what an insert does.
///
/// ```
/// use gowk::{Build, Cuckoo, CuckooParams, Hasher, cuckoo::{Shape, Step}};
///
/// let params = CuckooParams::with_shape(Shape::TwoByOne, 8, 8, 0, 1)?;
/// let mut nests = Cuckoo::with_params(params, Hasher::new(1))?;
/// let mut steps = Vec::new();
/// nests.insert_observed("gowk", &mut steps)?;
/// assert!(matches!(steps[..], [Step::Placed { .. }]));       // an empty table: nothing to kick
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Observer {
    /// This was just done.
    fn step(&mut self, step: Step);
}

/// Nobody watches.
impl Observer for () {
    #[inline(always)]
    fn step(&mut self, _: Step) {}
}

/// Keeps all steps.
impl Observer for Vec<Step> {
    fn step(&mut self, step: Step) {
        self.push(step);
    }
}
