//! The work on the lines that rounds name: for one key, or for many with their lines fetched ahead.

use super::{
    clustered::{LINES, Mark, Rounds, other_marks},
    filter::Bloom,
};
use crate::{
    bulk::{self, Ring, Source, Stages, staged},
    hash::{Digest, Key},
    simd::{Machine, Task, Trio},
    store::{Line, Nearby, NearbyLines, NearbyLinesMut, Store, StoreMut, prefetch},
};

/// Which lines a filter has, and how many rounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) nearby: Nearby,
    pub(super) rounds: Rounds,
}

/// Whether the lines of a round have all its bits.
#[inline(always)]
fn covers(machine: impl Machine, lines: NearbyLines<'_>, h1: u64, mark: Mark, trio: &Trio) -> bool {
    machine.covers_three(lines.three(h1, mark.by), mark.word, trio)
}

/// Sets the bits of a round; true if one of them was not set before.
#[inline(always)]
fn set(machine: impl Machine, lines: &mut NearbyLinesMut<'_>, h1: u64, mark: Mark, trio: &Trio) -> bool {
    let mut new = false;
    for (by, windows) in mark.by.into_iter().zip(&trio.each) {
        new |= machine.set(lines.line(h1, by), mark.word, windows);
    }
    new
}

/// Whether all rounds behind the first are covered, asked until one is not: that a key passes one by chance is rare.
#[inline(always)]
fn covers_others(machine: impl Machine, lines: NearbyLines<'_>, rounds: Rounds, digest: Digest) -> bool {
    for (number, mark) in (1..).zip(other_marks(digest, rounds)) {
        if !covers(machine, lines, digest.h1, mark, rounds.trio(number)) {
            return false;
        }
    }
    true
}

#[inline(always)]
fn set_others(machine: impl Machine, lines: &mut NearbyLinesMut<'_>, rounds: Rounds, digest: Digest) -> bool {
    let mut new = false;
    for (number, mark) in (1..).zip(other_marks(digest, rounds)) {
        new |= set(machine, lines, digest.h1, mark, rounds.trio(number));
    }
    new
}

#[inline(always)]
fn fetch(lines: NearbyLines<'_>, h1: u64, mark: Mark) {
    for line in lines.three(h1, mark.by) {
        prefetch(line);
    }
}

#[inline(always)]
fn fetch_others(lines: NearbyLines<'_>, rounds: Rounds, digest: Digest) {
    for mark in other_marks(digest, rounds) {
        fetch(lines, digest.h1, mark);
    }
}

/// Whether a key may be in the set.
pub(super) struct Ask<'a> {
    pub(super) lines: &'a [Line],
    pub(super) layout: Layout,
    pub(super) digest: Digest,
}

impl Task for Ask<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> bool {
        let Self { lines, layout: Layout { nearby, rounds }, digest } = self;
        let lines = NearbyLines::new(lines, nearby);
        covers(machine, lines, digest.h1, Mark::first(digest), rounds.trios[0])
            && covers_others(machine, lines, rounds, digest)
    }
}

/// [`Ask`] of a key with one or two rounds and the default hash: no questions, and the key is hashed on the far side of the
/// choice of instruction set, whose multiplications need no moves.
pub(super) struct AskShort<'a, S, K: ?Sized, const R: usize> {
    pub(super) filter: &'a Bloom<S>,
    pub(super) key: &'a K,
}

impl<S: Store, K: Key + ?Sized, const R: usize> Task for AskShort<'_, S, K, R> {
    type Output = bool;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> bool {
        let Bloom { hasher, clustered: Layout { nearby, rounds }, store, .. } = self.filter;
        let digest = self.key.digest(hasher.rapid());
        let lines = NearbyLines::new(store.lines(), *nearby);
        let mut all = true;
        for (mark, trio) in Mark::all::<R>(digest).into_iter().zip(rounds.trios) {
            // A stranger passes the first round once in thirty times: asked for, the second need not be read.
            all = all && covers(machine, lines, digest.h1, mark, trio);
        }
        all
    }
}

/// Puts a key into the set; true if it was surely not there.
pub(super) struct Put<'a> {
    pub(super) lines: &'a mut [Line],
    pub(super) layout: Layout,
    pub(super) digest: Digest,
}

impl Task for Put<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> bool {
        let Self { lines, layout: Layout { nearby, rounds }, digest } = self;
        let mut lines = NearbyLinesMut::new(lines, nearby);
        let new = set(machine, &mut lines, digest.h1, Mark::first(digest), rounds.trios[0]);
        new | set_others(machine, &mut lines, rounds, digest)
    }
}

/// [`Put`], the short way.
pub(super) struct PutShort<'a, S, K: ?Sized, const R: usize> {
    pub(super) filter: &'a mut Bloom<S>,
    pub(super) key: &'a K,
}

impl<S: StoreMut, K: Key + ?Sized, const R: usize> Task for PutShort<'_, S, K, R> {
    type Output = bool;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> bool {
        let Bloom { hasher, clustered: Layout { nearby, rounds }, store, .. } = self.filter;
        let digest = self.key.digest(hasher.rapid());
        let mut lines = NearbyLinesMut::new(store.lines_mut(), *nearby);
        let mut new = false;
        for (mark, trio) in Mark::all::<R>(digest).into_iter().zip(rounds.trios) {
            new |= set(machine, &mut lines, digest.h1, mark, trio);
        }
        new
    }
}

/// Puts many keys into the set.
pub(super) struct PutAll<'a, I> {
    pub(super) lines: &'a mut [Line],
    pub(super) layout: Layout,
    pub(super) source: I,
}

impl<I: Source> Task for PutAll<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run(self, machine: impl Machine) {
        let Self { lines, layout: Layout { nearby, rounds }, source } = self;
        let lines = NearbyLinesMut::new(lines, nearby);
        match rounds.count {
            1 => source.staged::<AHEAD, _>(Putting::<_, 1> { machine, lines, trios: rounds.trios }),
            2 => source.staged::<AHEAD_OF_MORE, _>(Putting::<_, 2> { machine, lines, trios: rounds.trios }),
            _ => source.staged::<AHEAD_OF_MORE, _>(PuttingMore { machine, lines, rounds }),
        }
    }
}

/// How many keys are between the prefetch and the use, with three lines each.
const AHEAD: usize = 32;
/// And with six or more.
const AHEAD_OF_MORE: usize = 16;

/// Keys of one or two rounds. Where their lines are is kept: the writes would wait for it to be found once more.
struct Putting<'a, M, const R: usize> {
    machine: M,
    lines: NearbyLinesMut<'a>,
    trios: [&'static Trio; 2],
}

impl<M: Machine, const R: usize> Stages for Putting<'_, M, R> {
    type Item = Digest;
    type Place = [([u64; LINES], u32); R];
    type Answer = ();

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> Self::Place {
        let mut places = [([0; LINES], 0); R];
        for (place, mark) in places.iter_mut().zip(Mark::all::<R>(digest)) {
            *place = (self.lines.starts(digest.h1, mark.by), mark.word);
            fetch(self.lines.as_ref(), digest.h1, mark);
        }
        places
    }

    #[inline(always)]
    fn act(&mut self, places: Self::Place) {
        for ((starts, word), trio) in places.iter().zip(self.trios) {
            for (start, windows) in starts.iter().zip(&trio.each) {
                self.machine.set(self.lines.at(*start), *word, windows);
            }
        }
    }
}

/// Keys of more rounds.
struct PuttingMore<'a, M> {
    machine: M,
    lines: NearbyLinesMut<'a>,
    rounds: Rounds,
}

impl<M: Machine> Stages for PuttingMore<'_, M> {
    type Item = Digest;
    type Place = Digest;
    type Answer = ();

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> Digest {
        fetch(self.lines.as_ref(), digest.h1, Mark::first(digest));
        fetch_others(self.lines.as_ref(), self.rounds, digest);
        digest
    }

    #[inline(always)]
    fn act(&mut self, digest: Digest) {
        set(self.machine, &mut self.lines, digest.h1, Mark::first(digest), self.rounds.trios[0]);
        set_others(self.machine, &mut self.lines, self.rounds, digest);
    }
}

/// From how many bytes on a line that is not fetched is worth a branch.
const SIFTED_FROM: usize = if cfg!(test) { 4096 } else { 24 << 20 };

/// Answers many keys.
pub(super) struct AskAll<'a, I> {
    pub(super) lines: &'a [Line],
    pub(super) layout: Layout,
    pub(super) source: I,
    pub(super) answers: &'a mut [bool],
}

impl<I: Source> Task for AskAll<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run(self, machine: impl Machine) {
        let Self { lines, layout: Layout { nearby, rounds }, source, answers } = self;
        let sifted = size_of_val(lines) >= SIFTED_FROM;
        let (lines, trios) = (NearbyLines::new(lines, nearby), rounds.trios);
        match rounds.count {
            1 if !sifted => source.answered::<AHEAD, _>(Asking::<_, 1> { machine, lines, trios }, answers),
            2 if !sifted => {
                source.answered::<AHEAD_OF_MORE, _>(Asking::<_, 2> { machine, lines, trios }, answers)
            }
            _ => {
                let digests = source.digests().take(answers.len());
                let mut stages = Sifting { machine, lines, rounds, answers, next: 0, passed: Ring::new() };
                staged::<{ bulk::AHEAD }, _>(digests, &mut stages);
                while let Some(place) = stages.passed.pop() {
                    stages.settle(place);
                }
            }
        }
    }
}

/// All lines of a key at once: where they are near, a branch costs more than they do.
struct Asking<'a, M, const R: usize> {
    machine: M,
    lines: NearbyLines<'a>,
    trios: [&'static Trio; 2],
}

impl<'a, M: Machine, const R: usize> Stages for Asking<'a, M, R> {
    type Item = Digest;
    type Answer = bool;
    type Place = [([&'a Line; LINES], u32); R];

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> Self::Place {
        let marks = Mark::all::<R>(digest);
        let mut places = [(self.lines.three(digest.h1, marks[0].by), marks[0].word); R];
        // Without `skip`, whose first step is a call.
        for i in 1..R {
            places[i] = (self.lines.three(digest.h1, marks[i].by), marks[i].word);
        }
        for (lines, _) in &places {
            for line in lines {
                prefetch(*line);
            }
        }
        places
    }

    #[inline(always)]
    fn act(&mut self, places: Self::Place) -> bool {
        let mut all = true;
        // By reference: of places taken out one by one the compiler asks whether each is there.
        for ((lines, word), trio) in places.iter().zip(self.trios) {
            all &= self.machine.covers_three(*lines, *word, trio);
        }
        all
    }
}

/// The first line of a key alone, then the others of the keys that pass: seven of eight strangers cost one line.
struct Sifting<'a, M> {
    machine: M,
    lines: NearbyLines<'a>,
    rounds: Rounds,
    answers: &'a mut [bool],
    next: usize,
    passed: Ring<(Digest, usize), 32>,
}

impl<M: Machine> Sifting<'_, M> {
    /// Whether a key that passed its first line passes the others.
    #[inline(always)]
    fn settle(&mut self, (digest, number): (Digest, usize)) {
        let (mark, trio) = (Mark::first(digest), self.rounds.trios[0]);
        let mut all = true;
        for i in 1..LINES {
            all &= self.machine.covers(self.lines.line(digest.h1, mark.by[i]), mark.word, &trio.each[i]);
        }
        self.answers[number] = all && covers_others(self.machine, self.lines, self.rounds, digest);
    }
}

impl<'a, M: Machine> Stages for &mut Sifting<'a, M> {
    type Item = Digest;
    type Place = (&'a Line, Digest);
    type Answer = ();

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> Self::Place {
        let line = self.lines.line(digest.h1, 0);
        prefetch(line);
        (line, digest)
    }

    #[inline(always)]
    fn act(&mut self, (line, digest): Self::Place) {
        let number = self.next;
        self.next += 1;
        let mark = Mark::first(digest);
        let passes = self.machine.covers(line, mark.word, &self.rounds.trios[0].each[0]);
        self.answers[number] = passes;
        if passes {
            prefetch(self.lines.line(digest.h1, mark.by[1]));
            prefetch(self.lines.line(digest.h1, mark.by[2]));
            fetch_others(self.lines, self.rounds, digest);
            if let Some(place) = self.passed.push((digest, number)) {
                self.settle(place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Bloom, BloomParams, Build, Filter, Hasher, Insert, Scheme};

    fn filter(lines: u64, probes: u32, hasher: Hasher) -> Bloom {
        let params = BloomParams::with_shape(512 * lines, probes, Scheme::Clustered, 10).unwrap();
        Bloom::with_params(params, hasher).unwrap()
    }

    /// Both sides of what is sifted, one round, two and more, both ways of hashing.
    #[test]
    fn however_keys_are_asked_the_answers_are_those_of_one_by_one() {
        for (lines, probes) in
            [1, 5, 40, 300].into_iter().flat_map(|lines| [1, 7, 12, 30].map(|k| (lines, k)))
        {
            for hasher in [Hasher::new(3), Hasher::hardened(3)] {
                let mut one = filter(lines, probes, hasher);
                let mut many = one.clone();
                let keys: Vec<u64> = (0..30 * lines).collect();
                keys.iter().for_each(|key| {
                    one.insert(key);
                });
                many.insert_many(&keys);
                assert!(one == many, "{lines} lines, {probes} probes");
                let asked: Vec<u64> = (0..60 * lines).rev().collect();
                let answers: Vec<bool> = asked.iter().map(|key| one.may_contain(key)).collect();
                assert_eq!(one.may_contain_many(&asked), answers, "{lines} lines, {probes} probes");
                assert!(keys.iter().all(|key| one.may_contain(key)));
            }
        }
    }

    #[test]
    fn positions_are_the_bits_that_an_insert_sets() {
        for (lines, probes) in
            [1, 7, 2000].into_iter().flat_map(|lines| [1, 6, 8, 9, 17, 64].map(|k| (lines, k)))
        {
            for key in 0..50u64 {
                let mut filter = filter(lines, probes, Hasher::new(1));
                filter.insert(&key);
                let is_set = |bit: &u64| {
                    filter.lines()[(bit / 512) as usize].0[(bit % 512 / 64) as usize] >> (bit % 64) & 1 == 1
                };
                let set: Vec<u64> = (0..512 * lines).filter(is_set).collect();
                let digest = filter.hasher().digest(&key);
                let mut places: Vec<u64> = Scheme::Clustered.positions(digest, 512 * lines, probes).collect();
                assert_eq!(places.len() as u32, probes);
                places.sort_unstable();
                places.dedup();
                assert_eq!(places, set, "{lines} lines, {probes} probes");
            }
        }
    }
}
