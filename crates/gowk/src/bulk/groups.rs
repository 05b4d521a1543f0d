//! Bulk calls that take keys by eight: what is computed for each of them is then done by vectors.

use super::{Ahead, Hashes, hashes::Early};
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

/// So many keys are worth it where they can as well be worked on one by one. Fewer have no use for a ring.
pub(crate) const MANY: usize = 64;

/// How many groups are on their way at most.
const MOST: usize = 16;

/// How many are found before they are read where nothing is fetched: what a group needs is computed long before, and while it is read the next
/// ones are. With one, three slots a key take 1.49 ns in the cache of a Zen 5, with four 1.13, with eight as long.
const FOUND: usize = 4;

/// Answers all hashes, or as many as there is room for answers, of keys that have to do with so many lines each, of a memory of so many bytes.
#[inline(always)]
pub(crate) fn grouped<G: Groups>(
    hashes: impl Hashes,
    lines: usize,
    bytes: usize,
    groups: G,
    answers: &mut [G::Answer],
) {
    let ahead = Ahead::<{ MOST * GROUP }>::of(lines, bytes).keys() / GROUP;
    let by = Fetch::of(bytes);
    let way = Way { ahead, asked: if is_far(bytes) { 1 } else { 2 }, by };
    match by {
        _ if is_soon_there(bytes) && !G::FETCHED_ALWAYS => at_once(hashes, way, groups, answers),
        // For those that are always fetched near and far are the same loop.
        _ if !is_far(bytes) && !G::FETCHED_ALWAYS => {
            rounds::<MOST, true, false, G, _>(hashes, Way { by: Fetch::SOON, ..way }, groups, answers)
        }
        Fetch::SOON => {
            rounds::<MOST, true, true, G, _>(hashes, Way { by: Fetch::SOON, ..way }, groups, answers)
        }
        _ => rounds::<MOST, true, true, G, _>(hashes, way, groups, answers),
    }
}

/// How groups are led past a memory.
#[derive(Clone, Copy)]
struct Way {
    /// How many groups are between the round that finds one and that which reads it: a power of two.
    ahead: usize,
    /// After how many rounds a group is asked for that was computed as vectors. Near memory is there in time if its places were there before
    /// they are wanted; far memory is wanted at once. Three lines a key take 2.33 ns in the cache of a Zen 5 after one round and 1.98 after two, but
    /// one line of 37 MB 2.29 and 2.38.
    asked: usize,
    by: Fetch,
}

/// Where nothing is asked for.
#[inline(always)]
fn at_once<G: Groups, H: Hashes>(hashes: H, way: Way, mut groups: G, answers: &mut [G::Answer]) {
    if H::ARE_VECTORS {
        return rounds::<FOUND, false, false, G, _>(hashes, Way { ahead: FOUND, ..way }, groups, answers);
    }
    // Hashes that come one by one are no chain of vectors, and what is found is not worth a ring, whose places are further away than one that is
    // always the same: three slots a key take 1.8 ns so by AVX2, and 2.5 by the other loop.
    let mut hashes = Early::new(hashes);
    let (group, mut count) = hashes.group();
    let mut places = groups.find(group);
    hashes.advance();
    let (whole, rest) = answers.as_chunks_mut::<GROUP>();
    for answers in whole {
        if count < GROUP {
            return groups.act_on_some(&places, &mut answers[..count]);
        }
        groups.act(&places, answers);
        let (group, next_count) = hashes.group();
        places = groups.find(group);
        // Through memory: out of vectors the compiler takes addresses lane by lane, two instructions each, and has no registers to keep them.
        black_box(&places);
        count = next_count;
        hashes.advance();
    }
    let count = count.min(rest.len());
    groups.act_on_some(&places, &mut rest[..count]);
}

/// The loop. A round reads one group and finds another, so many behind it; hashes come [early](Early), and what was found is asked for in a later
/// round. So nothing that a round computes is wanted before the next: a processor that holds but two or three rounds at once would wait at
/// the end of each for its chain of multiplications.
#[inline(always)]
fn rounds<const MOST: usize, const FETCHED: bool, const FAR: bool, G: Groups, H: Hashes>(
    hashes: H,
    way: Way,
    mut groups: G,
    answers: &mut [G::Answer],
) {
    const { assert!(MOST.is_power_of_two()) };
    let Way { ahead, asked, by } = way;
    // The remainder changes nothing and shows the compiler that there is such a place.
    let slot = move |number: usize| (number & (ahead - 1)) % MOST;
    let mut hashes = Early::new(hashes);
    let mut ring = [groups.find([0; GROUP]); MOST];
    let (whole, _) = answers.as_chunks_mut::<GROUP>();
    let mut found = 0;
    while found < ahead.min(whole.len())
        && let (group, GROUP) = hashes.group()
    {
        ring[found] = groups.find(group);
        if FETCHED {
            groups.fetch::<FAR>(&ring[found], by);
        }
        hashes.advance();
        found += 1;
    }
    let mut answered = 0;
    if found == ahead {
        let soon = whole.len() - found;
        for answers in &mut whole[..soon] {
            let (group, GROUP) = hashes.group() else { break };
            if FETCHED && H::ARE_VECTORS {
                groups.fetch::<FAR>(&ring[slot(found + ahead - asked)], by);
            }
            let place = &mut ring[slot(found)];
            groups.act(place, answers);
            *place = groups.find(group);
            if FETCHED && !H::ARE_VECTORS {
                groups.fetch::<FAR>(place, by);
            }
            hashes.advance();
            found += 1;
            answered += 1;
        }
    }
    for (answers, number) in whole[answered..found].iter_mut().zip(answered..) {
        groups.act(&ring[slot(number)], answers);
    }
    let rest = &mut answers[found * GROUP..];
    let (group, count) = hashes.group();
    let places = groups.find(group);
    let count = count.min(rest.len());
    groups.act_on_some(&places, &mut rest[..count]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};

    /// Numbers that rise.
    struct Count(core::ops::Range<u64>);

    impl Hashes for Count {
        type Begun = [u64; GROUP];

        fn begin(&mut self) -> ([u64; GROUP], usize) {
            let (mut group, mut count) = ([u64::MAX; GROUP], 0);
            for (to, from) in group.iter_mut().zip(&mut self.0) {
                *to = from;
                count += 1;
            }
            (group, count)
        }

        fn finish(&self, begun: [u64; GROUP]) -> [u64; GROUP] {
            begun
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
