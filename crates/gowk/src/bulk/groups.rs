//! Bulk calls that take keys by eight: what is computed for each of them is then done by vectors.

use super::Ahead;
use crate::{
    simd::EIGHT,
    store::{Fetch, is_far, is_soon_there},
};
use core::hint::black_box;

/// How many keys are taken together.
pub(crate) const GROUP: usize = EIGHT;

/// What a bulk call does with eight keys.
///
/// As [`Stages`](super::Stages), all of it `#[inline(always)]`. Loops over arrays of eight are what the compiler makes vectors of.
pub(crate) trait Groups {
    /// Where the keys are.
    type Places: Copy;
    /// What comes out.
    type Answer;
    /// Whether memory is asked for ahead also where it [is soon there](is_soon_there).
    const FETCHED_ALWAYS: bool = false;
    /// Finds the places of eight hashes.
    fn find(&self, hashes: [u64; GROUP]) -> Self::Places;
    /// Asks for the memory there, which is far or in a cache.
    fn fetch<const FAR: bool>(&self, places: &Self::Places, by: Fetch);
    /// Answers each key. Written, not returned: an array of answers goes through a word that is put together bit by bit.
    fn act(&mut self, places: &Self::Places, answers: &mut [Self::Answer; GROUP]);
    /// Answers the first keys, fewer than eight.
    fn act_on_some(&mut self, places: &Self::Places, answers: &mut [Self::Answer]);
}

/// The first of eight answers, for whom the others do no harm.
#[inline(always)]
pub(crate) fn first<G: Groups<Answer = bool>>(groups: &mut G, places: &G::Places, answers: &mut [bool]) {
    let mut all = [false; GROUP];
    groups.act(places, &mut all);
    answers.copy_from_slice(&all[..answers.len()]);
}

/// Hashes that come by eight.
pub trait Hashes {
    /// Whether they are computed as vectors, of which nothing is at hand until all of it is.
    const ARE_VECTORS: bool = false;
    /// The next ones, and how many they are: eight, or fewer at the end. Those behind are any.
    fn next_group(&mut self) -> ([u64; GROUP], usize);
}

/// So many keys are worth it where they can as well be worked on one by one. Fewer have no use for a ring.
pub(crate) const MANY: usize = 64;

/// How many groups are on their way at most.
const MOST: usize = 16;

/// Answers all hashes, or as many as there is room for answers, of keys that have to do with so many lines each, of a memory of so many bytes.
#[inline(always)]
pub(crate) fn grouped<G: Groups>(
    hashes: impl Hashes,
    lines: usize,
    bytes: usize,
    groups: G,
    answers: &mut [G::Answer],
) {
    let ahead = Ahead::of(lines, bytes);
    match Fetch::of(bytes) {
        _ if is_soon_there(bytes) && !G::FETCHED_ALWAYS => at_once(hashes, groups, answers),
        // For those that are always fetched near and far are the same loop.
        _ if !is_far(bytes) && !G::FETCHED_ALWAYS => {
            fetched::<false, G, _>(hashes, ahead, groups, Fetch::SOON, answers)
        }
        Fetch::SOON => fetched::<true, G, _>(hashes, ahead, groups, Fetch::SOON, answers),
        far => fetched::<true, G, _>(hashes, ahead, groups, far, answers),
    }
}

/// Each group is read while the next one is found and the one behind it hashed: what a step computes is there when the next step wants it,
/// and no round waits for a chain of multiplications to its end.
#[inline(always)]
fn at_once<G: Groups>(mut hashes: impl Hashes, mut groups: G, answers: &mut [G::Answer]) {
    let (group, mut count) = hashes.next_group();
    let mut places = groups.find(group);
    let (mut group, mut next_count) = hashes.next_group();
    let (whole, rest) = answers.as_chunks_mut::<GROUP>();
    for answers in whole {
        if count < GROUP {
            return groups.act_on_some(&places, &mut answers[..count]);
        }
        groups.act(&places, answers);
        places = groups.find(group);
        // Through memory: out of vectors the compiler takes addresses lane by lane, two instructions each, and has no registers to keep them.
        black_box(&places);
        count = next_count;
        (group, next_count) = hashes.next_group();
    }
    let count = count.min(rest.len());
    groups.act_on_some(&places, &mut rest[..count]);
}

/// As [`at_once`], with groups in a ring between the step that finds them, the next that asks for their memory, and that which reads it.
#[inline(always)]
fn fetched<const FAR: bool, G: Groups, H: Hashes>(
    mut hashes: H,
    ahead: Ahead<{ MOST * GROUP }>,
    mut groups: G,
    by: Fetch,
    answers: &mut [G::Answer],
) {
    let ahead_by = ahead.keys() / GROUP;
    let mut ring = [groups.find([0; GROUP]); MOST];
    let (mut group, mut count) = hashes.next_group();
    let (whole, _) = answers.as_chunks_mut::<GROUP>();
    let mut found = 0;
    while found < ahead_by.min(whole.len()) && count == GROUP {
        ring[found] = groups.find(group);
        groups.fetch::<FAR>(&ring[found], by);
        (group, count) = hashes.next_group();
        found += 1;
    }
    let mut answered = 0;
    if found == ahead_by {
        let soon = whole.len() - found;
        for answers in &mut whole[..soon] {
            if count < GROUP {
                break;
            }
            if H::ARE_VECTORS {
                // The group before this one, whose slot is the one before as well.
                groups.fetch::<FAR>(&ring[ahead.slot::<GROUP>(found + ahead_by - 1)], by);
            }
            let slot = &mut ring[ahead.slot::<GROUP>(found)];
            groups.act(slot, answers);
            *slot = groups.find(group);
            if !H::ARE_VECTORS {
                groups.fetch::<FAR>(slot, by);
            }
            (group, count) = hashes.next_group();
            found += 1;
            answered += 1;
        }
    }
    for (answers, number) in whole[answered..found].iter_mut().zip(answered..) {
        groups.act(&ring[ahead.slot::<GROUP>(number)], answers);
    }
    let rest = &mut answers[found * GROUP..];
    let count = count.min(rest.len());
    let places = groups.find(group);
    groups.act_on_some(&places, &mut rest[..count]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};

    /// Numbers that rise.
    struct Count(core::ops::Range<u64>);

    impl Hashes for Count {
        fn next_group(&mut self) -> ([u64; GROUP], usize) {
            let (mut group, mut count) = ([u64::MAX; GROUP], 0);
            for (to, from) in group.iter_mut().zip(&mut self.0) {
                *to = from;
                count += 1;
            }
            (group, count)
        }
    }

    struct Odd;

    impl Groups for Odd {
        type Places = [u64; GROUP];
        type Answer = bool;

        fn find(&self, hashes: [u64; GROUP]) -> [u64; GROUP] {
            hashes
        }

        fn fetch<const FAR: bool>(&self, _: &[u64; GROUP], _: Fetch) {}

        fn act(&mut self, places: &[u64; GROUP], answers: &mut [bool; GROUP]) {
            *answers = places.map(|n| n % 2 == 1);
        }

        fn act_on_some(&mut self, places: &[u64; GROUP], answers: &mut [bool]) {
            first(self, places, answers);
        }
    }

    #[test]
    fn groups_are_answered_in_order_to_the_end_of_the_shorter_side() {
        for asked in 0..70u64 {
            for room in (0..70usize).chain([200]) {
                let both = room.min(asked as usize);
                let expected: Vec<bool> = (0..room).map(|i| i < both && i % 2 == 1).collect();
                for (lines, bytes) in [(1, 0), (1000, usize::MAX), (16, usize::MAX), (1, usize::MAX)] {
                    let mut answers = vec![false; room];
                    grouped(Count(0..asked), lines, bytes, Odd, &mut answers);
                    assert_eq!(answers, expected, "{asked} asked, room for {room}");
                }
            }
        }
    }
}
