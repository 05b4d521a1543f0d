//! What this machine does not have: proofs that there are none of, so that code may ask for them everywhere.

use super::{EIGHT, EightTask, OnLine, Windows};
use crate::store::{LinesOfEight, LinesOfEightMut, Place, PlaceMut};
use core::convert::Infallible;

/// No arithmetic is more than plain Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bmi2(Infallible);

impl Bmi2 {
    #[inline(always)]
    pub(crate) fn widening_mul(self, _: u64, _: u64) -> (u64, u64) {
        match self.0 {}
    }

    #[inline(always)]
    pub(crate) fn bits(self, _: u64, _: u32, _: u32) -> u64 {
        match self.0 {}
    }

    #[inline(always)]
    pub(crate) fn shift_right(self, _: u64, _: u64) -> u64 {
        match self.0 {}
    }
}

/// No work on a line is, of neither sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Absent<const SORT: usize>(Infallible);

pub(crate) type Inline = Absent<0>;
pub(crate) type InlineAvx2 = Absent<1>;

impl<const SORT: usize> OnLine for Absent<SORT> {
    #[inline(always)]
    fn bmi2(self) -> Bmi2 {
        match self.0 {}
    }

    #[inline(always)]
    fn covers(self, place: Place<'_>, _: u64, _: &Windows) -> bool {
        let _ = place.parts();
        match self.0 {}
    }

    #[inline(always)]
    fn mark(self, place: PlaceMut<'_>, _: u64, _: &Windows) {
        let _ = place.parts();
        match self.0 {}
    }
}

/// No work on the lines of eight keys at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Avx512(Infallible);

impl Avx512 {
    #[inline(always)]
    pub(crate) fn run_by_eight(self, _: impl EightTask) {
        match self.0 {}
    }

    #[inline(always)]
    pub(crate) fn cover_eight<const N: usize, const OWN: bool>(
        self,
        lines: &impl LinesOfEight,
        _: &[u64; EIGHT],
        _: &[Sets; N],
        _: &mut [bool; EIGHT],
    ) {
        let _ = lines.line(0, 0);
        match self.0 {}
    }

    #[inline(always)]
    pub(crate) fn mark_eight<const N: usize, const OWN: bool>(
        self,
        lines: &mut impl LinesOfEightMut,
        _: &[u64; EIGHT],
        _: &[Sets; N],
    ) {
        let _ = lines.line(0, 0);
        match self.0 {}
    }
}

/// What such work would want of windows.
#[derive(Clone, Copy)]
pub(crate) struct Sets(());

impl Sets {
    pub(crate) fn of(_: &Windows) -> Self {
        Self(())
    }
}
