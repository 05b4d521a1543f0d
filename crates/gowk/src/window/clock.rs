//! When which block turns. Pure arithmetic; knows no memory.

use core::ops::Range;

/// What moves a window on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Pace {
    /// Every insert: the window is over the last so many of them.
    Inserts = 1,
    /// Nothing but [`advance`](super::Window::advance): the window is over the last so many ticks of the caller's clock.
    Ticks = 2,
}

impl Pace {
    /// The pace of this number in a file.
    pub(super) fn from_tag(tag: u8) -> Option<Self> {
        [Self::Inserts, Self::Ticks].into_iter().find(|pace| *pace as u8 == tag)
    }
}

/// The time of a window, and how far its blocks have turned.
///
/// A generation lasts `step`, the window shared by all generations but one. At the time `e * step` a round begins in which
/// all blocks turn once more, evenly spread: those below `turned` have turned `e + 1` times, the others `e` times. A block
/// is written in generation number (turns mod G), which was cleared when it turned.
///
/// A key is lost when its block turns for the Gth time after. In (G-1) steps a block turns at most G-1 times, and in G
/// steps at least G times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    pace: Pace,
    window: u64,
    step: u64,
    blocks: u64,
    generations: u64,
    /// By how much an insert moves the time on.
    pulse: u64,
    now: u64,
    /// When the next block turns.
    due: u64,
    round: u64,
    turned: u64,
    /// Which generation is written in blocks that have turned in this round, and in the others.
    written: [u32; 2],
}

impl Clock {
    /// The clock of an empty window, or of one from a file, at the time `now`.
    pub(super) fn new(pace: Pace, window: u64, generations: u32, blocks: u64, now: u64) -> Self {
        let generations = u64::from(generations);
        let mut clock = Self {
            pace,
            window,
            step: window.div_ceil(generations - 1).max(1),
            blocks,
            generations,
            pulse: u64::from(pace == Pace::Inserts),
            now,
            due: 0,
            round: 0,
            turned: 0,
            written: [0; 2],
        };
        clock.stand();
        clock
    }

    pub(super) fn pace(&self) -> Pace {
        self.pace
    }

    pub(super) fn window(&self) -> u64 {
        self.window
    }

    pub(super) fn step(&self) -> u64 {
        self.step
    }

    pub(super) fn now(&self) -> u64 {
        self.now
    }

    pub(super) fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The blocks that have turned in this round.
    pub(super) fn turned(&self) -> u64 {
        self.turned
    }

    /// How often a block has turned.
    pub(super) fn turns(&self, block: u64) -> u64 {
        self.round + u64::from(block < self.turned)
    }

    /// The generation in which a block is written.
    #[inline(always)]
    pub(super) fn written(&self, block: usize) -> usize {
        self.written[usize::from(block as u64 >= self.turned)] as usize
    }

    /// Moves on by an insert; true if a block is due to turn, see [`turn`](Self::turn).
    #[inline(always)]
    pub(super) fn tick(&mut self) -> bool {
        self.now = self.now.saturating_add(self.pulse);
        self.now >= self.due
    }

    /// Moves on to a time; an earlier one changes nothing. True if a block is due to turn.
    #[inline(always)]
    pub(super) fn advance(&mut self, now: u64) -> bool {
        self.now = self.now.max(now);
        self.now >= self.due
    }

    /// Turns all blocks that are due: calls `clear` with blocks and the generation in which they are to be cleared.
    pub(super) fn turn(&mut self, mut clear: impl FnMut(Range<usize>, usize)) {
        let mut from = (self.round, self.turned);
        self.stand();
        // After a long time away it is enough to clear every generation once.
        if let Some(recent) = self.round.checked_sub(self.generations) {
            from = from.max((recent, self.turned));
        }
        for round in from.0..=self.round {
            let start = if round == from.0 { from.1 } else { 0 };
            let end = if round == self.round { self.turned } else { self.blocks };
            clear(start as usize..end as usize, (round.wrapping_add(1) % self.generations) as usize);
        }
    }

    /// Sets all that follows from the time.
    fn stand(&mut self) {
        let (step, blocks) = (u128::from(self.step), u128::from(self.blocks));
        self.round = self.now / self.step;
        self.turned = (u128::from(self.now % self.step) * blocks / step) as u64;
        let next = (u128::from(self.turned + 1) * step).div_ceil(blocks) as u64;
        self.due = (self.round * self.step).saturating_add(next);
        let generation = |turns: u64| (turns % self.generations) as u32;
        self.written = [generation(self.round.wrapping_add(1)), generation(self.round)];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// For each block and generation, when it was last cleared.
    fn cleared(clock: &mut Clock, when: &mut [Vec<u64>]) {
        let now = clock.now();
        clock.turn(|blocks, generation| blocks.for_each(|block| when[block][generation] = now));
    }

    proptest! {
        #[test]
        fn what_was_written_stays_for_the_window_and_not_much_longer(
            window in 1u64..300, generations in 2u32..10, blocks in 1u64..40, jumps in proptest::collection::vec(0u64..50, 1..200),
        ) {
            let mut clock = Clock::new(Pace::Ticks, window, generations, blocks, 0);
            let mut when = vec![vec![0; generations as usize]; blocks as usize];
            // (block, generation, when): what has been written.
            let mut written: Vec<(usize, usize, u64)> = Vec::new();
            for jump in jumps {
                clock.advance(clock.now() + jump);
                cleared(&mut clock, &mut when);
                let now = clock.now();
                for &(block, generation, then) in &written {
                    let lost = when[block][generation] > then;
                    prop_assert!(!lost || now - then > window, "lost after {} of {window}", now - then);
                    prop_assert!(lost || now - then < u64::from(generations) * clock.step(), "kept after {}", now - then);
                }
                written.extend((0..blocks as usize).map(|block| (block, clock.written(block), now)));
            }
        }

        #[test]
        fn single_steps_turn_as_one_jump_does(window in 1u64..300, generations in 2u32..10, blocks in 1u64..40, to in 0u64..2000) {
            let mut steps = Clock::new(Pace::Inserts, window, generations, blocks, 0);
            let mut turns = vec![0; blocks as usize];
            for _ in 0..to {
                if steps.tick() {
                    steps.turn(|blocks, _| blocks.for_each(|block| turns[block] += 1));
                }
            }
            let mut jump = Clock::new(Pace::Inserts, window, generations, blocks, 0);
            jump.advance(to);
            jump.turn(|_, _| {});
            prop_assert_eq!(steps, jump);
            prop_assert_eq!(steps, Clock::new(Pace::Inserts, window, generations, blocks, to));
            for (block, turns) in turns.into_iter().enumerate() {
                prop_assert_eq!(steps.turns(block as u64), turns);
                prop_assert_eq!(steps.written(block) as u64, turns % u64::from(generations));
            }
        }

        #[test]
        fn no_time_is_too_far(window: u64, now: u64, jump: u64, blocks in 1u64..1 << 40) {
            let mut clock = Clock::new(Pace::Ticks, window, 8, blocks, now);
            let mut cleared = 0u128;
            clock.advance(now.saturating_add(jump));
            clock.turn(|blocks, generation| {
                assert!(generation < 8);
                cleared += blocks.len() as u128;
            });
            prop_assert!(cleared <= 8 * u128::from(blocks));
            prop_assert!(clock.written(0) < 8 && clock.turned() < blocks);
        }
    }

    #[test]
    fn time_does_not_go_back_nor_past_its_end() {
        let mut clock = Clock::new(Pace::Inserts, 10, 8, 3, u64::MAX - 1);
        clock.advance(5);
        assert_eq!(clock.now(), u64::MAX - 1);
        for _ in 0..5 {
            if clock.tick() {
                clock.turn(|_, _| {});
            }
        }
        assert_eq!(clock.now(), u64::MAX);
    }
}
