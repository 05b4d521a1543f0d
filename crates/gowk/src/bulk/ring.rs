//! A ring of places whose memory is on its way.

use super::Ahead;

/// The ring by itself: for work that needs more of its surroundings than [`Stages`](super::Stages) have.
pub(crate) struct Ring<P, const MOST: usize> {
    ahead: Ahead<MOST>,
    places: [P; MOST],
    pushed: usize,
    popped: usize,
}

impl<P: Copy + Default, const MOST: usize> Ring<P, MOST> {
    #[inline(always)]
    pub(crate) fn new(ahead: Ahead<MOST>) -> Self {
        Self { ahead, places: [P::default(); MOST], pushed: 0, popped: 0 }
    }

    /// Takes in a place whose memory is on its way; gives the oldest, if there are as many younger ones as may be.
    #[inline(always)]
    pub(crate) fn push(&mut self, place: P) -> Option<P> {
        let oldest = if self.pushed - self.popped == self.ahead.keys() { self.pop() } else { None };
        self.places[self.ahead.slot::<1>(self.pushed)] = place;
        self.pushed += 1;
        oldest
    }

    /// The oldest, when no more come.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<P> {
        (self.popped < self.pushed).then(|| {
            self.popped += 1;
            self.places[self.ahead.slot::<1>(self.popped - 1)]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn a_ring_gives_back_every_place_once_and_in_order() {
        for n in [0, 1, 7, 8, 9, 100] {
            let (mut ring, mut seen) = (Ring::new(Ahead::<128>::of(16, 0)), Vec::new());
            for i in 0..n {
                seen.extend(ring.push(i));
                assert_eq!(seen.len(), (i + 1usize).saturating_sub(8));
            }
            while let Some(i) = ring.pop() {
                seen.push(i);
            }
            assert_eq!(seen, (0..n).collect::<Vec<_>>());
        }
    }
}
