//! And, or, xor, and-not of flat bitmaps, line by line, whatever their ranges.

use super::{flat::Bitmap, set::IntegerSet};
use crate::{
    error::MergeError,
    filter::Merge,
    simd::{Isa, Machine, Task},
    store::{Line, Store, StoreMut},
};
use core::ops::Range;

impl<S: StoreMut, O: Store> Merge<Bitmap<O>> for Bitmap<S> {
    /// Or: all ids of either. Those of the other must lie in the range of this one.
    fn union(&mut self, other: &Bitmap<O>) -> Result<(), MergeError> {
        self.has_room_for(other)?;
        self.combine(other, |ours, theirs| ours | theirs);
        Ok(())
    }
}

impl<S: StoreMut> Bitmap<S> {
    /// And: keeps the ids that are also in the other.
    pub fn intersect<O: Store>(&mut self, other: &Bitmap<O>) {
        let Range { start, end } = self.combine(other, |ours, theirs| ours & theirs);
        let lines = self.store.lines_mut();
        lines[..start].fill(Line::ZERO);
        lines[end..].fill(Line::ZERO);
    }

    /// And-not: takes out the ids that are in the other.
    pub fn subtract<O: Store>(&mut self, other: &Bitmap<O>) {
        self.combine(other, |ours, theirs| ours & !theirs);
    }

    /// Xor: keeps the ids that are in just one of the two. Those of the other must lie in the range of this one.
    pub fn xor<O: Store>(&mut self, other: &Bitmap<O>) -> Result<(), MergeError> {
        self.has_room_for(other)?;
        self.combine(other, |ours, theirs| ours ^ theirs);
        Ok(())
    }

    /// Applies `op` to the words that both have; gives the lines of ours that they are in.
    fn combine<O: Store>(&mut self, other: &Bitmap<O>, op: impl Fn(u64, u64) -> u64) -> Range<usize> {
        let (ours, theirs) = overlap(self, other);
        let task =
            Combine { ours: &mut self.store.lines_mut()[ours.clone()], theirs: &other.lines()[theirs], op };
        Isa::best().run(task);
        ours
    }
}

impl<S: Store> Bitmap<S> {
    /// How many ids are in both, without making their intersection.
    pub fn intersection_len<O: Store>(&self, other: &Bitmap<O>) -> u64 {
        let (ours, theirs) = overlap(self, other);
        Isa::best().run(CountBoth { ours: &self.lines()[ours], theirs: &other.lines()[theirs] })
    }

    /// An error if the other holds an id that has no place here.
    fn has_room_for<O: Store>(&self, other: &Bitmap<O>) -> Result<(), MergeError> {
        let (ours, theirs) = (self.range(), other.range());
        let below = other.iter_in(theirs.start..ours.start).next();
        let above = other.iter_in(ours.end..theirs.end).next();
        match below.or(above).map(|id| self.fields.check(id)) {
            Some(Err(outside)) => Err(MergeError::OutOfRange(outside)),
            _ => Ok(()),
        }
    }
}

/// The lines that stand for the same ids in both, as ranges of ours and of theirs; empty ones where they are apart.
fn overlap<S: Store, O: Store>(ours: &Bitmap<S>, theirs: &Bitmap<O>) -> (Range<usize>, Range<usize>) {
    let lines = |first: u64, len: usize| first..first + len as u64;
    let a = lines(ours.fields.first_line(), ours.lines().len());
    let b = lines(theirs.fields.first_line(), theirs.lines().len());
    let start = a.start.max(b.start);
    let end = a.end.min(b.end);
    if start >= end {
        return (0..0, 0..0);
    }
    let within = |range: Range<u64>| (start - range.start) as usize..(end - range.start) as usize;
    (within(a), within(b))
}

struct Combine<'a, F> {
    ours: &'a mut [Line],
    theirs: &'a [Line],
    op: F,
}

impl<F: Fn(u64, u64) -> u64> Task for Combine<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self, _: impl Machine) {
        for (ours, theirs) in self.ours.iter_mut().zip(self.theirs) {
            *ours = Line(core::array::from_fn(|i| (self.op)(ours.0[i], theirs.0[i])));
        }
    }
}

struct CountBoth<'a> {
    ours: &'a [Line],
    theirs: &'a [Line],
}

impl Task for CountBoth<'_> {
    type Output = u64;

    #[inline(always)]
    fn run(self, _: impl Machine) -> u64 {
        let both = |(ours, theirs): (&Line, &Line)| -> u64 {
            (0..8).map(|i| u64::from((ours.0[i] & theirs.0[i]).count_ones())).sum()
        };
        self.ours.iter().zip(self.theirs).map(both).sum()
    }
}
