//! The filter itself: a layout over a store.

use super::{
    builder::FuseBuilder,
    layout::{Layout, mask},
    sizing::{Arity, FuseParams},
};
use crate::{
    error::ParamsError,
    filter::Filter,
    hash::{Digest, Hasher},
    simd::{Isa, Machine, Task},
    stats::{Family, Stats},
    store::{Heap, Line, Store, bits_from, byte_at, prefetch_byte},
};
use core::fmt;

/// The small filter for a set that does not change: built once from all its keys, never inserted into.
///
/// See [the module page](crate::fuse) for how it works and what it costs.
///
/// ```
/// use gowk::{BinaryFuse, Filter};
///
/// let banned = BinaryFuse::builder().fpp(0.001).build_from(["heron", "gowk", "whaup", "gowk"])?;
/// assert!(banned.may_contain("gowk"));
/// assert_eq!(banned.len(), 3);                     // repeats are one key
/// # Ok::<(), gowk::ParamsError>(())
/// ```
#[derive(Clone)]
pub struct BinaryFuse<S = Heap> {
    params: FuseParams,
    pub(super) layout: Layout,
    keys: u64,
    hasher: Hasher,
    isa: Isa,
    store: S,
}

impl BinaryFuse {
    /// Describes a filter by what it is for, and then builds it from keys.
    pub fn builder() -> FuseBuilder {
        FuseBuilder::default()
    }
}

impl<S> BinaryFuse<S> {
    /// A filter whose slots are already there. The caller has checked that there are as many lines as the parameters say.
    pub(super) fn over(params: FuseParams, layout: Layout, keys: u64, hasher: Hasher, store: S) -> Self {
        Self { params, layout, keys, hasher, isa: Isa::best(), store }
    }

    /// Size, shape and promise.
    pub fn params(&self) -> &FuseParams {
        &self.params
    }

    /// How many different keys it was built from.
    pub fn len(&self) -> u64 {
        self.keys
    }

    /// Whether it was built from no key.
    pub fn is_empty(&self) -> bool {
        self.keys == 0
    }
}

impl<S: Store> BinaryFuse<S> {
    /// The slots.
    pub fn lines(&self) -> &[Line] {
        self.store.lines()
    }

    /// The same filter in memory of its own.
    pub fn to_heap(&self) -> Result<BinaryFuse, ParamsError> {
        Ok(BinaryFuse::over(self.params, self.layout, self.keys, self.hasher, Heap::copy_of(self.lines())?))
    }
}

/// Runs the code with `$slots` as the constant number of slots of a key; `$width` is a constant if it is 8, so that reading a
/// fingerprint needs no multiplication and no shift.
macro_rules! by_shape {
    ($params:expr, $slots:ident, $width:ident => $call:expr) => {
        match ($params.arity(), $params.width()) {
            (Arity::Three, 8) => {
                const $slots: usize = 3;
                let $width = 8;
                $call
            }
            (Arity::Three, $width) if $width <= 25 => {
                const $slots: usize = 3;
                $call
            }
            (Arity::Three, $width) => {
                const $slots: usize = 3;
                $call
            }
            (Arity::Four, $width) => {
                const $slots: usize = 4;
                $call
            }
        }
    };
}

impl<S: Store> Filter for BinaryFuse<S> {
    #[inline(always)]
    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    #[inline(always)]
    fn may_contain_digest(&self, digest: Digest) -> bool {
        // Not a task: the instruction sets gain less here than the call costs, and inlined, what does not change from key to
        // key stays in registers.
        by_shape!(self.params, N, width => {
            matches(self.lines(), spots::<N>(self.layout, width, digest.h1), width, digest.h1)
        })
    }

    fn answer(&self, digests: impl Iterator<Item = Digest>, answers: &mut [bool]) {
        self.isa.run(Answer { filter: self, digests, answers });
    }

    fn stats(&self) -> Stats {
        Stats {
            family: Family::BinaryFuse,
            items: self.params.promise().items,
            fpp: self.params.promise().fpp,
            bits: self.params.bits(),
            fill: self.keys as f64 / self.params.slots() as f64,
            estimated_items: self.keys as f64,
            fpp_now: self.params.fpp(),
        }
    }

    fn size_in_bytes(&self) -> usize {
        size_of_val(self.lines())
    }
}

impl<S: Store, O: Store> PartialEq<BinaryFuse<O>> for BinaryFuse<S> {
    /// Same shape, same hasher, same slots.
    fn eq(&self, other: &BinaryFuse<O>) -> bool {
        self.layout == other.layout
            && (self.params.arity(), self.params.width()) == (other.params.arity(), other.params.width())
            && self.hasher == other.hasher
            && self.lines() == other.lines()
    }
}

impl<S> fmt::Debug for BinaryFuse<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BinaryFuse")
            .field("params", &self.params)
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}

struct Answer<'a, S, I> {
    filter: &'a BinaryFuse<S>,
    digests: I,
    answers: &'a mut [bool],
}

impl<S: Store, I: Iterator<Item = Digest>> Task for Answer<'_, S, I> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: impl Machine) {
        let BinaryFuse { params, layout, store, .. } = self.filter;
        by_shape!(params, N, width => answer::<N>(store.lines(), *layout, width, self.digests, self.answers));
    }
}

/// Keys that are asked together. As many again are being fetched meanwhile.
const BATCH: usize = 32;

/// Batches in turns: the slots of one are fetched, then those of the one before are compared. Three places a key are too many
/// for the registers of a loop that does both at once.
#[inline(always)]
fn answer<const K: usize>(
    lines: &[Line],
    layout: Layout,
    width: u32,
    mut digests: impl Iterator<Item = Digest>,
    answers: &mut [bool],
) {
    let mut batches = [[([0; K], 0); BATCH]; 2];
    let (mut turn, mut before): (usize, &mut [bool]) = (0, &mut []);
    let mut rest = answers;
    loop {
        let mut fetched = 0;
        for (asked, digest) in batches[turn].iter_mut().zip(digests.by_ref().take(rest.len().min(BATCH))) {
            let spots = spots::<K>(layout, width, digest.h1);
            for spot in spots {
                prefetch_byte(lines, if width == 8 { spot } else { spot / 8 });
            }
            *asked = (spots, digest.h1);
            fetched += 1;
        }
        for (answer, &(spots, h1)) in before.iter_mut().zip(&batches[1 - turn]) {
            *answer = matches(lines, spots, width, h1);
        }
        if fetched == 0 {
            return;
        }
        (before, rest) = rest.split_at_mut(fetched);
        turn = 1 - turn;
    }
}

/// Where the slots of a key begin: which byte if they are bytes, else which bit.
#[inline(always)]
fn spots<const K: usize>(layout: Layout, width: u32, h1: u64) -> [usize; K] {
    let slots = layout.slots::<K>(h1);
    slots.map(|slot| slot as usize * if width == 8 { 1 } else { width as usize })
}

/// Whether the slots xor to the key's fingerprint.
#[inline(always)]
fn matches<const K: usize>(lines: &[Line], spots: [usize; K], width: u32, h1: u64) -> bool {
    let read = |spot| match width {
        8 => byte_at(lines, spot).into(),
        _ => bits_from(lines, spot, width <= 25),
    };
    spots.iter().fold(h1, |rest, &spot| rest ^ read(spot)) & mask(width) == 0
}
