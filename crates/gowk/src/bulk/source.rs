//! Where the digests of a bulk call come from.

use super::{Ahead, GROUP, Hashes, Stages, staged};
use crate::{
    hash::{Digest, Key, KeyHash, TextSecrets, Unhashed},
    simd::{Arithmetic, Factors},
    store::{Line, prefetch_beyond},
};
use alloc::vec;

/// Digests, and the loops over them that bulk calls are made of.
///
/// All of it is `#[inline(always)]`, so that a loop and the hash in it are compiled for the instruction set of their
/// [`Task`](crate::simd::Task). The adapters of the standard library are not, and the compiler may call them: a call for each
/// key, its digest through memory.
pub trait Source: Sized {
    /// Whether the second word of every digest is the one that [`Digest::from`] makes of the first.
    const IS_ONE_WORD: bool;

    /// Whether keys may be of a sort that is hashed by eight where arithmetic can do that.
    const MAY_COME_BY_EIGHT: bool;

    /// Whether they are, as integers are.
    const ARE_WORDS: bool;

    /// How many keys of that sort are at hand.
    fn come_by_eight(&self) -> usize;

    /// One by one.
    fn digests(self) -> impl Iterator<Item = Digest>;

    /// The first words of them, by eight. With `TEXTS` text is hashed by eight as well, which the caller has asked
    /// [`come_by_eight`](Self::come_by_eight) about.
    fn hashes<A: Arithmetic, const TEXTS: bool>(self, arithmetic: A) -> impl Hashes;

    /// Works on each, its memory fetched some keys before.
    fn staged<const MOST: usize, S: Stages<Item = Digest, Answer = ()>>(self, ahead: Ahead<MOST>, stages: S);

    /// Answers each, its memory fetched some keys before. Stops at the end of the shorter side.
    fn answered<const MOST: usize, S: Stages<Item = Digest>>(
        self,
        ahead: Ahead<MOST>,
        stages: S,
        answers: &mut [S::Answer],
    );
}

/// Whether these are texts that come by eight.
#[inline(always)]
pub(crate) fn texts_come_by_eight<I: Source>(source: &I) -> bool {
    I::MAY_COME_BY_EIGHT && !I::ARE_WORDS && source.come_by_eight() > 0
}

/// Digests that come one by one, nobody knows how many.
pub(crate) struct Stream<I>(pub I);

impl<I: Iterator<Item = Digest>> Source for Stream<I> {
    const IS_ONE_WORD: bool = false;
    const MAY_COME_BY_EIGHT: bool = false;
    const ARE_WORDS: bool = false;

    fn come_by_eight(&self) -> usize {
        0
    }

    #[inline(always)]
    fn digests(self) -> impl Iterator<Item = Digest> {
        self.0
    }

    #[inline(always)]
    fn hashes<A: Arithmetic, const TEXTS: bool>(self, _: A) -> impl Hashes {
        Stream(self.0.fuse())
    }

    #[inline(always)]
    fn staged<const MOST: usize, S: Stages<Item = Digest, Answer = ()>>(self, ahead: Ahead<MOST>, stages: S) {
        staged(self.0, ahead, stages);
    }

    #[inline(always)]
    fn answered<const MOST: usize, S: Stages<Item = Digest>>(
        self,
        ahead: Ahead<MOST>,
        mut stages: S,
        answers: &mut [S::Answer],
    ) {
        let mut digests = self.0;
        let most = ahead.keys().min(answers.len());
        let Some(first) = (if most > 0 { digests.next() } else { None }) else { return };
        let mut ring = [stages.fetch(first); MOST];
        let mut filled = 1;
        while filled < most {
            let Some(digest) = digests.next() else { break };
            ring[filled] = stages.fetch(digest);
            filled += 1;
        }
        // Those that are in the ring are answered last.
        let rest = if filled == ahead.keys() { answers.len() - filled } else { 0 };
        let mut next = 0;
        for answer in &mut answers[..rest] {
            let Some(digest) = digests.next() else { break };
            let slot = &mut ring[ahead.slot::<1>(next)];
            *answer = stages.act(*slot);
            *slot = stages.fetch(digest);
            next += 1;
        }
        for (answer, i) in answers[next..][..filled].iter_mut().zip(next..) {
            *answer = stages.act(ring[ahead.slot::<1>(i)]);
        }
    }
}

impl<I: Iterator<Item = Digest>> Hashes for Stream<I> {
    type Begun = [u64; GROUP];

    #[inline(always)]
    fn begin(&mut self) -> ([u64; GROUP], usize) {
        let (mut group, mut count) = ([0; GROUP], 0);
        while count < GROUP
            && let Some(digest) = self.0.next()
        {
            group[count] = digest.h1;
            count += 1;
        }
        (group, count)
    }

    #[inline(always)]
    fn finish(&self, begun: [u64; GROUP]) -> [u64; GROUP] {
        begun
    }
}

/// How many bytes before their turn keys are asked for. They lie in a row, which a processor sees by itself; but while it is busy
/// fetching the lines of a bulk call, it puts off what nobody asked for, and then waits for each eighth key longer than for its line: on
/// an Intel of 2023 at ten million keys and two lines 15.7 ns a key, where it can be 6.3. So far that what keys of text point at can be asked for as early
/// as it should.
const KEYS_AHEAD: usize = 4096;

/// How many keys before their turn their bytes are asked for, where these lie elsewhere: a page of small ones ahead, which no processor looks
/// behind by itself. On a Zen 5 text of 16 to 24 bytes takes 1.87 ns a key so, of keys that are hashed by eight, and with a quarter of it 2.0.
const BYTES_AHEAD: usize = 128;

/// Up to so many keys are worked on one after the other: a processor sees them all at once, and to lay out a ring takes longer.
const FEW: usize = 16;

/// The digests of keys that are all at hand.
pub(crate) struct Keys<'a, K, H> {
    keys: &'a [K],
    /// By value, so that its secrets are in registers.
    hash: H,
}

impl<'a, K: Key, H: KeyHash> Keys<'a, K, H> {
    #[inline(always)]
    pub(crate) fn new(keys: &'a [K], hash: H) -> Self {
        Self { keys, hash }
    }
}

impl<K: Key, H: KeyHash> Source for Keys<'_, K, H> {
    const IS_ONE_WORD: bool = K::IS_HASHED && H::IS_ONE_WORD;
    const MAY_COME_BY_EIGHT: bool = (K::IS_WORD || K::IS_TEXT) && H::IS_ONE_WORD;
    const ARE_WORDS: bool = K::IS_WORD && H::IS_ONE_WORD;

    /// Text of other lengths takes longer so; by the first keys is told of which it is.
    fn come_by_eight(&self) -> usize {
        let fits = |key: &K| TextSecrets::LENGTHS.contains(&key.text().len());
        match K::IS_WORD || self.keys.iter().take(FEW).all(fits) {
            true => self.keys.len(),
            false => 0,
        }
    }

    #[inline(always)]
    fn digests(self) -> impl Iterator<Item = Digest> {
        self.keys.iter().map(move |key| {
            prefetch_beyond(key, KEYS_AHEAD);
            key.digest(&self.hash)
        })
    }

    #[inline(always)]
    fn hashes<A: Arithmetic, const TEXTS: bool>(self, arithmetic: A) -> impl Hashes {
        KeysBy::<_, _, _, TEXTS> { keys: self, arithmetic }
    }

    #[inline(always)]
    fn staged<const MOST: usize, S: Stages<Item = Digest, Answer = ()>>(self, ahead: Ahead<MOST>, stages: S) {
        // Answers without a size: nothing is allocated.
        let mut answers = vec![(); self.keys.len()];
        self.answered(ahead, stages, &mut answers);
    }

    #[inline(always)]
    fn answered<const MOST: usize, S: Stages<Item = Digest>>(
        self,
        ahead: Ahead<MOST>,
        stages: S,
        answers: &mut [S::Answer],
    ) {
        match size_of::<S::Place>() {
            ..=48 => self.at_once::<4, MOST, S>(ahead, stages, answers),
            _ => self.at_once::<1, MOST, S>(ahead, stages, answers),
        }
    }
}

/// Keys, and what hashes eight of them at once.
struct KeysBy<'a, K, H, A, const TEXTS: bool> {
    keys: Keys<'a, K, H>,
    arithmetic: A,
}

impl<K: Key, H: KeyHash, A: Arithmetic, const TEXTS: bool> Hashes for KeysBy<'_, K, H, A, TEXTS> {
    const ARE_VECTORS: bool = A::HASHES_EIGHT && (K::IS_WORD || K::IS_TEXT && TEXTS);

    type Begun = Factors;

    #[inline(always)]
    fn begin(&mut self) -> (Factors, usize) {
        let Keys { keys, hash } = &mut self.keys;
        let Some((eight, rest)) = keys.split_first_chunk::<GROUP>() else {
            let mut group = [0; GROUP];
            for (to, key) in group.iter_mut().zip(*keys) {
                *to = key.digest(hash).h1;
            }
            return (Factors::of(group), core::mem::take(keys).len());
        };
        for line in 0..size_of_val(eight).div_ceil(Line::BYTES) {
            prefetch_beyond(eight, KEYS_AHEAD + line * Line::BYTES);
        }
        if let Some(later) = rest.get(BYTES_AHEAD..BYTES_AHEAD + GROUP) {
            later.iter().for_each(Key::prefetch);
        }
        *keys = rest;
        (self.begin_eight(eight), GROUP)
    }

    #[inline(always)]
    fn finish(&self, begun: Factors) -> [u64; GROUP] {
        if Self::ARE_VECTORS { self.arithmetic.fold(begun) } else { begun.left }
    }
}

impl<K: Key, H: KeyHash, A: Arithmetic, const TEXTS: bool> KeysBy<'_, K, H, A, TEXTS> {
    /// What the first words of the digests of eight keys are made of.
    #[inline(always)]
    fn begin_eight(&self, keys: &[K; GROUP]) -> Factors {
        let Self { keys: Keys { hash, .. }, arithmetic } = self;
        let mut hashes = [0; GROUP];
        if A::HASHES_EIGHT
            && K::IS_WORD
            && let Some(secrets) = hash.word_secrets()
        {
            for i in 0..GROUP {
                hashes[i] = keys[i].digest(&Unhashed).h1;
            }
            return arithmetic.words(&hashes, secrets);
        }
        if A::HASHES_EIGHT
            && K::IS_TEXT
            && TEXTS
            && let Some(secrets) = hash.text_secrets()
        {
            let mut texts: [&[u8]; GROUP] = [&[]; GROUP];
            for i in 0..GROUP {
                texts[i] = keys[i].text();
            }
            if let Some(factors) = arithmetic.texts(&texts, secrets) {
                return factors;
            }
        }
        for i in 0..GROUP {
            hashes[i] = keys[i].digest(hash).h1;
        }
        Factors::of(hashes)
    }
}

impl<K: Key, H: KeyHash> Keys<'_, K, H> {
    /// Takes `N` keys round at once. Four ask a quarter of the questions whether there is another: of 40 instructions a key for
    /// one line eight are left out, and a tenth of the time at ten million keys. But work that is long as it is, which is that of
    /// large places, does not fit the registers any more.
    #[inline(always)]
    fn at_once<const N: usize, const MOST: usize, S: Stages<Item = Digest>>(
        self,
        ahead: Ahead<MOST>,
        mut stages: S,
        answers: &mut [S::Answer],
    ) {
        const { assert!(N == 1 || N == 4) };
        let Self { keys, hash } = self;
        let len = keys.len().min(answers.len());
        if len <= FEW {
            for (key, answer) in keys[..len].iter().zip(answers) {
                let place = stages.fetch(key.digest(&hash));
                *answer = stages.act(place);
            }
            return;
        }
        let (early, later) = keys[..len].split_at(ahead.keys().min(len));
        let Some(first) = early.first() else { return };
        let mut ring = [stages.fetch(first.digest(&hash)); MOST];
        for i in 1..early.len().min(MOST) {
            ring[i] = stages.fetch(early[i].digest(&hash));
        }

        let (together, others) = later.as_chunks::<N>();
        let (answers, rest) = answers[..len].split_at_mut(together.len() * N);
        let mut next = 0;
        for (keys, answers) in together.iter().zip(answers.as_chunks_mut::<N>().0) {
            let (slots, _) = ring.as_chunks_mut::<N>();
            let slots = &mut slots[ahead.slot::<N>(next)];
            prefetch_beyond(keys, KEYS_AHEAD);
            let soon = together.get(next + BYTES_AHEAD / N);
            // Written out: a loop of four the compiler leaves a loop where the work of a key is long.
            macro_rules! one {
                ($($i:literal)*) => { $(if $i < N {
                    if let Some(keys) = soon {
                        keys[$i].prefetch();
                    }
                    answers[$i] = stages.act(slots[$i]);
                    slots[$i] = stages.fetch(keys[$i].digest(&hash));
                })* };
            }
            one!(0 1 2 3);
            next += 1;
        }
        let mut next = next * N;
        let (answers, rest) = rest.split_at_mut(others.len());
        for (key, answer) in others.iter().zip(answers) {
            let slot = &mut ring[ahead.slot::<1>(next)];
            *answer = stages.act(*slot);
            *slot = stages.fetch(key.digest(&hash));
            next += 1;
        }
        for (answer, i) in rest.iter_mut().zip(next..) {
            *answer = stages.act(ring[ahead.slot::<1>(i)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Hasher;
    use alloc::vec::Vec;

    const AHEAD: usize = 8;

    fn ahead() -> Ahead<128> {
        let ahead = Ahead::of(16, 0);
        assert_eq!(ahead.keys(), AHEAD);
        ahead
    }

    /// Says what was fetched, and answers which of it is even.
    struct Even<'a>(&'a mut Vec<u64>);

    impl Stages for Even<'_> {
        type Item = Digest;
        type Place = u64;
        type Answer = bool;

        fn fetch(&mut self, digest: Digest) -> u64 {
            self.0.push(digest.h1);
            digest.h1
        }

        fn act(&mut self, place: u64) -> bool {
            place.is_multiple_of(2)
        }
    }

    /// Says what was acted on.
    struct Seen<'a>(&'a mut Vec<u64>);

    impl Stages for Seen<'_> {
        type Item = Digest;
        type Place = u64;
        type Answer = ();

        fn fetch(&mut self, digest: Digest) -> u64 {
            digest.h1
        }

        fn act(&mut self, place: u64) {
            self.0.push(place);
        }
    }

    #[test]
    fn keys_are_answered_in_order_to_the_end_of_the_shorter_side() {
        for asked in 0..5 * AHEAD {
            let keys: Vec<Digest> = (0..asked as u64).map(Digest::from).collect();
            for room in [0, 1, AHEAD - 1, AHEAD, asked.saturating_sub(1), asked, asked + 1, 5 * AHEAD] {
                let both = asked.min(room);
                let fetched: Vec<u64> = (0..both as u64).collect();
                let expected: Vec<bool> = (0..room).map(|i| i < both && i % 2 == 0).collect();
                for at_hand in [true, false] {
                    let (mut answers, mut seen) = (vec![false; room], Vec::new());
                    match at_hand {
                        true => {
                            Keys::new(&keys, Hasher::new(1)).answered(ahead(), Even(&mut seen), &mut answers)
                        }
                        false => {
                            Stream(keys.iter().copied()).answered(ahead(), Even(&mut seen), &mut answers)
                        }
                    }
                    assert_eq!(seen, fetched, "{asked} asked, {room} answers");
                    assert_eq!(answers, expected, "{asked} asked, {room} answers");
                }
            }
        }
    }

    #[test]
    fn keys_are_worked_on_once_and_in_order() {
        for n in 0..5 * AHEAD {
            let keys: Vec<Digest> = (0..n as u64).map(Digest::from).collect();
            let (mut at_hand, mut streamed) = (Vec::new(), Vec::new());
            Keys::new(&keys, Hasher::new(1)).staged(ahead(), Seen(&mut at_hand));
            Stream(keys.iter().copied()).staged(ahead(), Seen(&mut streamed));
            let expected: Vec<u64> = (0..n as u64).collect();
            assert_eq!((at_hand, streamed), (expected.clone(), expected));
        }
    }
}
