//! The work on the lines that rounds name: for one key, or for many with their lines fetched ahead.

use super::{
    clustered::{LINES, Mark, Rounds, other_marks},
    filter::Bloom,
};
use crate::{
    bulk::{Ahead, Ring, Source, Stages, staged},
    hash::{Digest, Key},
    simd::{Machine, Shares, Task},
    store::{Fetch, Line, Nearby, NearbyLines, NearbyLinesMut, Store, StoreMut},
};

/// Which lines a filter has, and how many rounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) nearby: Nearby,
    pub(super) rounds: Rounds,
    /// If keys may go the short way.
    pub(super) shape: Option<Shape>,
}

impl Layout {
    pub(super) fn new(lines: usize, rounds: Rounds) -> Self {
        Self { nearby: Nearby::new(lines), rounds, shape: Shape::new(rounds) }
    }
}

/// Rounds, lines of a round, and whether the last of those is apart, where rounds are few: known to the compiler, they are no loops.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    OneOfOne,
    OneOfTwo,
    OneOfThree,
    OneOfTwoAndOne,
    TwoOfTwo,
    TwoOfThree,
}

impl Shape {
    /// Of [`Scheme::Fewest`](crate::Scheme::Fewest); the schemes before it go the long way.
    pub(super) fn new(rounds: Rounds) -> Option<Self> {
        if !rounds.by_rest {
            return None;
        }
        Some(match (rounds.count, rounds.lines, rounds.shares[0].apart) {
            (1, 1, false) => Self::OneOfOne,
            (1, 2, false) => Self::OneOfTwo,
            (1, 3, false) => Self::OneOfThree,
            (1, 3, true) => Self::OneOfTwoAndOne,
            (2, 2, false) => Self::TwoOfTwo,
            (2, 3, false) => Self::TwoOfThree,
            _ => return None,
        })
    }
}

/// Runs the code with `$rounds`, `$lines` and `$apart` as the constants of a shape, or the other code if there is none.
macro_rules! by_shape {
    ($shape:expr, $rounds:ident, $lines:ident, $apart:ident => $call:expr, else $other:expr) => {
        by_shape!(@ $shape, $rounds, $lines, $apart, $call, $other,
            OneOfOne 1 1 false, OneOfTwo 1 2 false, OneOfThree 1 3 false, OneOfTwoAndOne 1 3 true,
            TwoOfTwo 2 2 false, TwoOfThree 2 3 false)
    };
    (@ $shape:expr, $rounds:ident, $lines:ident, $apart:ident, $call:expr, $other:expr, $($name:ident $r:literal $n:literal $a:literal),*) => {
        match $shape {
            $(Some($crate::bloom::classic::rounds::Shape::$name) => {
                const $rounds: usize = $r;
                const $lines: usize = $n;
                const $apart: bool = $a;
                $call
            })*
            None => $other,
        }
    };
}
pub(super) use by_shape;

/// Whether the lines of a round have all its bits; the last of them asked by itself if it is `APART`.
#[inline(always)]
fn cover<const N: usize, const APART: bool>(
    machine: impl Machine,
    lines: [&Line; N],
    word: u32,
    shares: &Shares,
) -> bool {
    match APART {
        true => {
            machine.cover([lines[0], lines[1 % N]], word, shares)
                & machine.covers(lines[N - 1], word, &shares.each[N - 1])
        }
        false => machine.cover(lines, word, shares),
    }
}

/// The same of lines that nobody has fetched. A stranger passes the first two once in a hundred times: of him the last need not be read.
#[inline(always)]
fn covers<const N: usize, const APART: bool>(
    machine: impl Machine,
    lines: NearbyLines<'_>,
    h1: u64,
    mark: Mark,
    shares: &Shares,
) -> bool {
    let some = lines.some::<N>(h1, mark.by);
    match APART {
        true => {
            machine.cover([some[0], some[1 % N]], mark.word, shares)
                && machine.covers(some[N - 1], mark.word, &shares.each[N - 1])
        }
        false => machine.cover(some, mark.word, shares),
    }
}

/// The same, of as many lines as there are.
#[inline(always)]
fn covers_any(
    machine: impl Machine,
    lines: NearbyLines<'_>,
    rounds: Rounds,
    h1: u64,
    mark: Mark,
    shares: &Shares,
) -> bool {
    match (rounds.lines, shares.apart) {
        (1, _) => covers::<1, false>(machine, lines, h1, mark, shares),
        (2, _) => covers::<2, false>(machine, lines, h1, mark, shares),
        (_, false) => covers::<LINES, false>(machine, lines, h1, mark, shares),
        (_, true) => covers::<LINES, true>(machine, lines, h1, mark, shares),
    }
}

/// Sets the bits of a round of so many lines; true if one of them was not set before.
#[inline(always)]
fn set(
    machine: impl Machine,
    lines: &mut NearbyLinesMut<'_>,
    count: usize,
    h1: u64,
    mark: Mark,
    shares: &Shares,
) -> bool {
    let mut new = false;
    for i in 0..count.min(LINES) {
        new |= machine.set(lines.line(h1, mark.by[i]), mark.word, &shares.each[i]);
    }
    new
}

/// Whether all rounds behind the first are covered, asked until one is not: that a key passes one by chance is rare.
#[inline(always)]
fn covers_others(machine: impl Machine, lines: NearbyLines<'_>, rounds: Rounds, digest: Digest) -> bool {
    for (number, mark) in (1..).zip(other_marks(digest, rounds)) {
        if !covers_any(machine, lines, rounds, digest.h1, mark, rounds.shares(number)) {
            return false;
        }
    }
    true
}

#[inline(always)]
fn set_others(machine: impl Machine, lines: &mut NearbyLinesMut<'_>, rounds: Rounds, digest: Digest) -> bool {
    let mut new = false;
    for (number, mark) in (1..).zip(other_marks(digest, rounds)) {
        new |= set(machine, lines, rounds.lines, digest.h1, mark, rounds.shares(number));
    }
    new
}

#[inline(always)]
fn fetch(by: Fetch, lines: NearbyLines<'_>, count: usize, h1: u64, mark: Mark) {
    for i in 0..count.min(LINES) {
        by.place(lines.line(h1, mark.by[i]));
    }
}

#[inline(always)]
fn fetch_others(by: Fetch, lines: NearbyLines<'_>, rounds: Rounds, digest: Digest) {
    for mark in other_marks(digest, rounds) {
        fetch(by, lines, rounds.lines, digest.h1, mark);
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
        let Self { lines, layout: Layout { nearby, rounds, .. }, digest } = self;
        let lines = NearbyLines::new(lines, nearby);
        covers_any(machine, lines, rounds, digest.h1, rounds.first(digest, nearby), rounds.shares[0])
            && covers_others(machine, lines, rounds, digest)
    }
}

/// [`Ask`] of a key with one or two rounds and the default hash: no questions, and the key is hashed on the far side of the
/// choice of instruction set, whose multiplications need no moves.
pub(super) struct AskShort<'a, S, K: ?Sized, const R: usize, const N: usize, const APART: bool> {
    pub(super) filter: &'a Bloom<S>,
    pub(super) key: &'a K,
}

impl<S: Store, K: Key + ?Sized, const R: usize, const N: usize, const APART: bool> Task
    for AskShort<'_, S, K, R, N, APART>
{
    type Output = bool;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> bool {
        let Bloom { hasher, clustered: Layout { nearby, rounds, .. }, store, .. } = self.filter;
        let digest = self.key.digest(hasher.rapid());
        let lines = NearbyLines::new(store.lines(), *nearby);
        let mut all = true;
        for (mark, shares) in Mark::all::<R>(digest, *nearby).into_iter().zip(rounds.shares) {
            // A stranger passes the first round once in thirty times: asked for, the second need not be read.
            all = all && covers::<N, APART>(machine, lines, digest.h1, mark, shares);
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
        let Self { lines, layout: Layout { nearby, rounds, .. }, digest } = self;
        let mut lines = NearbyLinesMut::new(lines, nearby);
        let first = rounds.first(digest, nearby);
        let new = set(machine, &mut lines, rounds.lines, digest.h1, first, rounds.shares[0]);
        new | set_others(machine, &mut lines, rounds, digest)
    }
}

/// [`Put`], the short way.
pub(super) struct PutShort<'a, S, K: ?Sized, const R: usize, const N: usize> {
    pub(super) filter: &'a mut Bloom<S>,
    pub(super) key: &'a K,
}

impl<S: StoreMut, K: Key + ?Sized, const R: usize, const N: usize> Task for PutShort<'_, S, K, R, N> {
    type Output = bool;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> bool {
        let Bloom { hasher, clustered: Layout { nearby, rounds, .. }, store, .. } = self.filter;
        let digest = self.key.digest(hasher.rapid());
        let mut lines = NearbyLinesMut::new(store.lines_mut(), *nearby);
        let mut new = false;
        for (mark, shares) in Mark::all::<R>(digest, *nearby).into_iter().zip(rounds.shares) {
            new |= set(machine, &mut lines, N, digest.h1, mark, shares);
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
        match Fetch::of(size_of_val(self.lines)) {
            Fetch::SOON => self.fetched(machine, Fetch::SOON),
            far => self.fetched(machine, far),
        }
    }
}

impl<I: Source> PutAll<'_, I> {
    #[inline(always)]
    fn fetched(self, machine: impl Machine, by: Fetch) {
        let Self { lines, layout: Layout { nearby, rounds, shape, .. }, source } = self;
        let (bytes, lines) = (size_of_val(lines), NearbyLinesMut::new(lines, nearby));
        by_shape!(shape, R, N, _APART => {
            let stages = Putting::<_, R, N> { machine, lines, by, shares: rounds.shares };
            source.staged(ahead(R * N, bytes), stages);
        }, else source.staged(ahead(rounds.all_lines(), bytes), PuttingMore { machine, lines, by, rounds }));
    }
}

/// How many keys are between the prefetch and the use, with so many lines each.
#[inline(always)]
fn ahead(lines: usize, bytes: usize) -> Ahead<64> {
    Ahead::of(lines, bytes)
}

/// Keys of one or two rounds. Where their lines are is kept: the writes would wait for it to be found once more.
struct Putting<'a, M, const R: usize, const N: usize> {
    machine: M,
    lines: NearbyLinesMut<'a>,
    by: Fetch,
    shares: [&'static Shares; 2],
}

impl<M: Machine, const R: usize, const N: usize> Stages for Putting<'_, M, R, N> {
    type Item = Digest;
    type Place = [([u64; N], u32); R];
    type Answer = ();

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> Self::Place {
        let nearby = self.lines.as_ref().nearby();
        let mut places = [([0; N], 0); R];
        for (place, mark) in places.iter_mut().zip(Mark::all::<R>(digest, nearby)) {
            *place = (self.lines.starts(digest.h1, mark.by), mark.word);
            fetch(self.by, self.lines.as_ref(), N, digest.h1, mark);
        }
        places
    }

    #[inline(always)]
    fn act(&mut self, places: Self::Place) {
        for ((starts, word), shares) in places.iter().zip(self.shares) {
            for (start, windows) in starts.iter().zip(&shares.each) {
                self.machine.set(self.lines.at(*start), *word, windows);
            }
        }
    }
}

/// Keys of more rounds.
struct PuttingMore<'a, M> {
    machine: M,
    lines: NearbyLinesMut<'a>,
    by: Fetch,
    rounds: Rounds,
}

impl<M: Machine> Stages for PuttingMore<'_, M> {
    type Item = Digest;
    type Place = Digest;
    type Answer = ();

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> Digest {
        let lines = self.lines.as_ref();
        fetch(self.by, lines, self.rounds.lines, digest.h1, self.rounds.first(digest, lines.nearby()));
        fetch_others(self.by, lines, self.rounds, digest);
        digest
    }

    #[inline(always)]
    fn act(&mut self, digest: Digest) {
        let mark = self.rounds.first(digest, self.lines.as_ref().nearby());
        let shares = self.rounds.shares[0];
        set(self.machine, &mut self.lines, self.rounds.lines, digest.h1, mark, shares);
        set_others(self.machine, &mut self.lines, self.rounds, digest);
    }
}

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
        match Fetch::of(size_of_val(self.lines)) {
            Fetch::SOON => self.fetched(machine, Fetch::SOON),
            far => self.fetched(machine, far),
        }
    }
}

impl<I: Source> AskAll<'_, I> {
    #[inline(always)]
    fn fetched(self, machine: impl Machine, by: Fetch) {
        let Self { lines, layout: Layout { nearby, rounds, shape, .. }, source, answers } = self;
        let (bytes, lines) = (size_of_val(lines), NearbyLines::new(lines, nearby));
        by_shape!(shape, R, N, APART => {
            let stages = Asking::<_, R, N, APART> { machine, lines, by, shares: rounds.shares };
            source.answered(ahead(R * N, bytes), stages, answers);
        }, else {
            let digests = source.digests().take(answers.len());
            let passed = Ring::new(Ahead::of(2, 0));
            let mut stages = Sifting { machine, lines, by, rounds, answers, next: 0, passed };
            staged(digests, ahead(1, bytes), &mut stages);
            while let Some(place) = stages.passed.pop() {
                stages.settle(place);
            }
        });
    }
}

/// All lines of a key at once. A third line that is read only of those who pass two would save a stranger a fifth of his time (11.1 to 8.9 ns
/// at 18 MB on a Zen 3) and cost a key twice (11.2 to 22).
struct Asking<'a, M, const R: usize, const N: usize, const APART: bool> {
    machine: M,
    lines: NearbyLines<'a>,
    by: Fetch,
    shares: [&'static Shares; 2],
}

impl<'a, M: Machine, const R: usize, const N: usize, const APART: bool> Stages
    for Asking<'a, M, R, N, APART>
{
    type Item = Digest;
    type Answer = bool;
    type Place = [([&'a Line; N], u32); R];

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> Self::Place {
        let marks = Mark::all::<R>(digest, self.lines.nearby());
        let mut places = [(self.lines.some(digest.h1, marks[0].by), marks[0].word); R];
        // Without `skip`, whose first step is a call.
        for i in 1..R {
            places[i] = (self.lines.some(digest.h1, marks[i].by), marks[i].word);
        }
        for (lines, _) in &places {
            for line in lines {
                self.by.place(*line);
            }
        }
        places
    }

    #[inline(always)]
    fn act(&mut self, places: Self::Place) -> bool {
        let mut all = true;
        // By reference: of places taken out one by one the compiler asks whether each is there.
        for ((lines, word), shares) in places.iter().zip(self.shares) {
            all &= cover::<N, APART>(self.machine, *lines, *word, shares);
        }
        all
    }
}

/// The first line of a key alone, then the others of the keys that pass: seven of eight strangers cost one line.
struct Sifting<'a, M> {
    machine: M,
    lines: NearbyLines<'a>,
    by: Fetch,
    rounds: Rounds,
    answers: &'a mut [bool],
    next: usize,
    passed: Ring<(Digest, usize), 32>,
}

impl<M: Machine> Sifting<'_, M> {
    /// Whether a key that passed its first line passes the others.
    #[inline(always)]
    fn settle(&mut self, (digest, number): (Digest, usize)) {
        let (mark, shares) = (self.rounds.first(digest, self.lines.nearby()), self.rounds.shares[0]);
        let mut all = true;
        for i in 1..self.rounds.lines.min(LINES) {
            all &= self.machine.covers(self.lines.line(digest.h1, mark.by[i]), mark.word, &shares.each[i]);
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
        let line = self.lines.line(digest.h1, None);
        self.by.place(line);
        (line, digest)
    }

    #[inline(always)]
    fn act(&mut self, (line, digest): Self::Place) {
        let number = self.next;
        self.next += 1;
        let mark = self.rounds.first(digest, self.lines.nearby());
        let passes = self.machine.covers(line, mark.word, &self.rounds.shares[0].each[0]);
        self.answers[number] = passes;
        if passes {
            for i in 1..self.rounds.lines.min(LINES) {
                self.by.place(self.lines.line(digest.h1, mark.by[i]));
            }
            fetch_others(self.by, self.lines, self.rounds, digest);
            if let Some(place) = self.passed.push((digest, number)) {
                self.settle(place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Bloom, BloomParams, Build, Filter, Hasher, Insert, Scheme};

    fn filter(scheme: Scheme, lines: u64, probes: u32, hasher: Hasher) -> Bloom {
        let params = BloomParams::with_shape(512 * lines, probes, scheme, 10).unwrap();
        Bloom::with_params(params, hasher).unwrap()
    }

    const OURS: [Scheme; 3] = [Scheme::Clustered, Scheme::Paired, Scheme::Fewest];

    /// Both sides of what is sifted, one round, two and more, both ways of hashing.
    #[test]
    fn however_keys_are_asked_the_answers_are_those_of_one_by_one() {
        for (lines, probes) in [1, 5, 40, 300]
            .into_iter()
            .flat_map(|lines| [1, 3, 4, 7, 8, 10, 12, 16, 17, 30].map(|k| (lines, k)))
        {
            let hashers = [Hasher::new(3), Hasher::hardened(3)];
            for (scheme, hasher) in OURS.into_iter().flat_map(|scheme| hashers.map(|hasher| (scheme, hasher)))
            {
                let mut one = filter(scheme, lines, probes, hasher);
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
            [1, 7, 2000].into_iter().flat_map(|lines| [1, 3, 5, 6, 7, 8, 9, 10, 17, 64].map(|k| (lines, k)))
        {
            for (scheme, key) in OURS.into_iter().flat_map(|scheme| (0..30u64).map(move |key| (scheme, key)))
            {
                let mut filter = filter(scheme, lines, probes, Hasher::new(1));
                filter.insert(&key);
                let is_set = |bit: &u64| {
                    filter.lines()[(bit / 512) as usize].0[(bit % 512 / 64) as usize] >> (bit % 64) & 1 == 1
                };
                let set: Vec<u64> = (0..512 * lines).filter(is_set).collect();
                let digest = filter.hasher().digest(&key);
                let mut places: Vec<u64> = scheme.positions(digest, 512 * lines, probes).collect();
                assert_eq!(places.len() as u32, probes);
                places.sort_unstable();
                places.dedup();
                assert_eq!(places, set, "{lines} lines, {probes} probes");
            }
        }
    }
}
