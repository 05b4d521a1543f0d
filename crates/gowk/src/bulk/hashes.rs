//! Hashes of eight keys at a time, each half of the work a round of the loop before it is wanted.

use super::GROUP;

/// Hashes that come by eight.
///
/// In two steps, as a hash is two multiplications or three, each of which waits for the one before: what a loop takes to its end in one round, the
/// next round waits for. In [`Early`] each step has a round of its own.
pub trait Hashes {
    /// Whether they are computed as vectors, of which nothing is at hand until all of it is.
    const ARE_VECTORS: bool = false;
    /// What is there half-way.
    type Begun: Copy;
    /// Begins the next ones, and tells how many they are: eight, or fewer at the end. Those behind are any.
    fn begin(&mut self) -> (Self::Begun, usize);
    /// The hashes themselves.
    fn finish(&self, begun: Self::Begun) -> [u64; GROUP];
}

/// Hashes of which the next ones are there and, if they are vectors, those behind them begun. What is computed word by word gains nothing by that.
pub(super) struct Early<H: Hashes> {
    hashes: H,
    finished: ([u64; GROUP], usize),
    begun: (H::Begun, usize),
}

impl<H: Hashes> Early<H> {
    #[inline(always)]
    pub(super) fn new(mut hashes: H) -> Self {
        let mut begun = hashes.begin();
        let finished = (hashes.finish(begun.0), begun.1);
        if H::ARE_VECTORS {
            begun = hashes.begin();
        }
        Self { hashes, finished, begun }
    }

    /// The hashes of the next keys, and how many these are.
    #[inline(always)]
    pub(super) fn group(&self) -> ([u64; GROUP], usize) {
        self.finished
    }

    /// Goes on to those behind them. Apart from [`group`](Self::group), as each place that it is put in takes some kilobytes of stack where nothing is
    /// optimised.
    #[inline(always)]
    pub(super) fn advance(&mut self) {
        if !H::ARE_VECTORS {
            self.begun = self.hashes.begin();
        }
        self.finished = (self.hashes.finish(self.begun.0), self.begun.1);
        if H::ARE_VECTORS {
            self.begun = self.hashes.begin();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers whose double is wanted, in groups of which the last is short.
    struct Doubled<const VECTORS: bool>(u64);

    impl<const VECTORS: bool> Hashes for Doubled<VECTORS> {
        const ARE_VECTORS: bool = VECTORS;
        type Begun = u64;

        fn begin(&mut self) -> (u64, usize) {
            let left = self.0.min(GROUP as u64);
            self.0 -= left;
            (self.0, left as usize)
        }

        fn finish(&self, begun: u64) -> [u64; GROUP] {
            [2 * begun; GROUP]
        }
    }

    fn comes_in_order<const VECTORS: bool>() {
        for count in 0..40u64 {
            let mut early = Early::new(Doubled::<VECTORS>(count));
            let mut left = count;
            while left > 0 {
                let (hashes, now) = early.group();
                early.advance();
                assert_eq!(now as u64, left.min(GROUP as u64));
                left -= now as u64;
                assert_eq!(hashes, [2 * left; GROUP]);
            }
            assert_eq!(early.group().1, 0);
            early.advance();
            assert_eq!(early.group().1, 0);
        }
    }

    #[test]
    fn every_group_is_finished_once_and_in_order_and_then_none() {
        comes_in_order::<true>();
        comes_in_order::<false>();
    }
}
