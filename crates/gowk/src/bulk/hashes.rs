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

/// Hashes of which the next ones are there and those behind them begun, if they are vectors. Words that are computed one by one are not kept: to read
/// as a vector what was just written as words takes longer than to wait for them.
pub(super) struct Early<H: Hashes> {
    hashes: H,
    on_their_way: Option<OnTheirWay<H>>,
}

struct OnTheirWay<H: Hashes> {
    finished: ([u64; GROUP], usize),
    begun: (H::Begun, usize),
}

impl<H: Hashes> Early<H> {
    #[inline(always)]
    pub(super) fn new(mut hashes: H) -> Self {
        if !H::ARE_VECTORS {
            return Self { hashes, on_their_way: None };
        }
        let (begun, count) = hashes.begin();
        let finished = (hashes.finish(begun), count);
        let begun = hashes.begin();
        Self { hashes, on_their_way: Some(OnTheirWay { finished, begun }) }
    }

    /// The hashes of the next keys, and how many these are.
    #[inline(always)]
    pub(super) fn next(&mut self) -> ([u64; GROUP], usize) {
        let Self { hashes, on_their_way } = self;
        let Some(OnTheirWay { finished, begun }) = on_their_way else {
            let (begun, count) = hashes.begin();
            return (hashes.finish(begun), count);
        };
        let next = *finished;
        *finished = (hashes.finish(begun.0), begun.1);
        *begun = hashes.begin();
        next
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
                let (hashes, now) = early.next();
                assert_eq!(now as u64, left.min(GROUP as u64));
                left -= now as u64;
                assert_eq!(hashes, [2 * left; GROUP]);
            }
            assert_eq!(early.next().1, 0);
            assert_eq!(early.next().1, 0);
        }
    }

    #[test]
    fn every_group_is_finished_once_and_in_order_and_then_none() {
        comes_in_order::<true>();
        comes_in_order::<false>();
    }
}
