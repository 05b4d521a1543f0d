//! What is done to one line, once in portable Rust and once for every instruction set that does it faster.
//!
//! [`portable`] is the specification. A twin has the same functions and the same results, which a property test holds
//! against the portable ones on every instruction set of the machine.
//!
//! A [`Machine`] is a token: its being there proves that the processor can do what its functions use. [`Isa`] finds the
//! best one at run time and runs a whole [`Task`] under it, so that the choice is made once per call of the public
//! interface, outside every loop, and the compiler may use the instruction set for all the code of the task.
//!
//! What is computed for eight keys at once, and touches no line, is [`Arithmetic`]: of that there is a wider sort, for an [`EightTask`].

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
mod absent;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod avx2;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod avx512;
pub mod bytes;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod eight;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod inline;
pub(crate) mod portable;

use crate::{
    hash::{TextSecrets, WordSecrets},
    store::{Line, Place, PlaceMut, SharedLine},
};

/// Which lanes of a line a key uses: a 1 in the low bit of each, for the eight places where the window may begin.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Windows(pub [Lanes; 8], Constants);

impl Windows {
    /// No lanes at all.
    pub(crate) const EMPTY: Self =
        Self([Lanes([0; 8]); 8], Constants { salts: SALTS, five_bits: Lanes([31; 8]) });
}

/// What the work on a line needs besides windows. It lies behind them, so that one register leads to all of it: with three, a loop over
/// single keys runs out of registers, and moves eight of them to and fro for each key.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Constants {
    salts: Lanes,
    /// Where in its dword a lane's bit is: five bits.
    five_bits: Lanes,
}

/// One dword a lane.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(32))]
pub(crate) struct Lanes(pub [u32; 8]);

/// Which lanes of up to three lines a key uses, no lane in both of the first two.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shares {
    /// Of each line.
    pub each: [Windows; 3],
    /// Of all of them that have lanes of their own.
    pub all: Windows,
    /// Those of the second and of the third line once more, all bits of a lane set: what a blend asks for.
    pub masks: [Windows; 2],
    /// Whether the third line has lanes that one of the others has, and so is asked by itself.
    pub apart: bool,
}

/// The multipliers that turn the 32 bits of a key into eight lane positions: the fractional parts of the square roots of
/// the first eight primes, made odd. Part of the file format.
pub(crate) const SALTS: Lanes = Lanes([
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f373,
    0xa54f_f53b,
    0x510e_527f,
    0x9b05_688d,
    0x1f83_d9ab,
    0x5be0_cd19,
]);

/// One way to do the work on a line.
pub(crate) trait Machine: Copy {
    /// Whether the line has every bit of this key's mask. No branch depends on the line.
    fn covers(self, line: &Line, word: u32, windows: &Windows) -> bool;
    /// Whether each of these lines has every bit of the mask of its own word. No branch depends on one of them: all are on their way, and to
    /// stop at the first would cost more than it saves.
    ///
    /// A loop, not a fold: a closure that the compiler does not put into its caller does not know the instruction set, and each
    /// instruction of it becomes a call, which is ten times slower.
    #[inline(always)]
    fn covers_block<const L: usize>(self, lines: &[Line; L], words: [u32; L], windows: &Windows) -> bool {
        let mut all = true;
        for (line, word) in lines.iter().zip(words) {
            all &= self.covers(line, word, windows);
        }
        all
    }
    /// Whether two or three lines have, each in lanes of its own, every bit of this key's masks.
    fn cover<const N: usize>(self, lines: [&Line; N], word: u32, shares: &Shares) -> bool;
    /// Sets the key's bits; true if one of them was not set before.
    fn set(self, line: &mut Line, word: u32, windows: &Windows) -> bool;
    /// As [`covers`](Self::covers), of a line that other threads may be setting bits in.
    fn shared_covers(self, line: &SharedLine, word: u32, windows: &Windows) -> bool;
    /// As [`set`](Self::set), in such a line; true if one of the bits was set by this call.
    fn shared_set(self, line: &SharedLine, word: u32, windows: &Windows) -> bool;
    /// Whether a 256-bit half of a line has all eight bits of a split-block key.
    fn split_covers(self, block: &[u32; 8], word: u32, salts: &Lanes) -> bool;
    /// Sets them; true if one of them was not set before.
    fn split_set(self, block: &mut [u32; 8], word: u32, salts: &Lanes) -> bool;
}

/// Work that is the same on every machine.
pub(crate) trait Task {
    /// What comes out of it.
    type Output;
    /// The work. Must be `#[inline(always)]`, and so must all it calls down to the machine's functions, so that they are
    /// compiled for the machine they run on. A closure on the way is a function of its own and breaks the chain: lookups
    /// then take six times as long.
    fn run(self, machine: impl Machine) -> Self::Output;
}

/// One way to compute for eight keys at once.
///
/// The hash of a key is a product of two factors, [folded](Self::fold); the factors are products themselves.
pub trait Arithmetic: Copy {
    /// Whether eight keys are hashed sooner together than one after the other.
    const HASHES_EIGHT: bool = false;

    /// The factors of the hash of each word.
    #[inline(always)]
    fn words(self, words: &[u64; EIGHT], secrets: &WordSecrets) -> Factors {
        Factors::of(words.map(|word| secrets.hash(word)))
    }

    /// The factors of the hash of each text, if all of them have one of [`TextSecrets::LENGTHS`] and eight are hashed sooner together.
    #[inline(always)]
    fn texts(self, _: &[&[u8]; EIGHT], _: TextSecrets) -> Option<Factors> {
        None
    }

    /// The hashes: the low half of each product with the high half.
    #[inline(always)]
    fn fold(self, factors: Factors) -> [u64; EIGHT] {
        let mut hashes = factors.left;
        for (hash, right) in hashes.iter_mut().zip(factors.right) {
            let product = u128::from(*hash) * u128::from(right);
            *hash = product as u64 ^ (product >> 64) as u64;
        }
        hashes
    }
}

/// What eight hashes are the folded products of.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Factors {
    pub(crate) left: [u64; EIGHT],
    pub(crate) right: [u64; EIGHT],
}

impl Factors {
    /// Of hashes that are there already.
    #[inline(always)]
    pub(crate) fn of(hashes: [u64; EIGHT]) -> Self {
        Self { left: hashes, right: [1; EIGHT] }
    }
}

/// How many keys are computed for at once.
pub(crate) const EIGHT: usize = 8;

/// Work on eight keys at once, by arithmetic alone: loops over arrays of eight, which the compiler makes vectors of. As [`Task`].
pub(crate) trait EightTask {
    /// The work.
    fn run(self, arithmetic: impl Arithmetic);
}

/// What works on a line right where it is asked to. All of it is `#[inline(always)]`.
pub(crate) trait OnLine: Copy {
    /// Whose multiplications are in the same place.
    fn bmi2(self) -> Bmi2;

    /// As [`Machine::covers`](Machine::covers). Of the word the low half counts: to have cut the other off is an instruction.
    fn covers(self, place: Place<'_>, word: u64, windows: &Windows) -> bool;

    /// Sets the key's bits. What was there before [`covers`](Self::covers) tells, for those who want to know.
    fn mark(self, place: PlaceMut<'_>, word: u64, windows: &Windows);
}

/// What works right where it is asked to, without a call.
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(crate) use inline::{Bmi2, Inline, InlineAvx2};

/// What works on the lines of eight keys at once.
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(crate) use {avx512::Avx512, eight::Sets};

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub(crate) use absent::{Avx512, Bmi2, Inline, InlineAvx2, Sets};

/// An instruction set that this processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Isa {
    /// Plain Rust.
    Portable,
    /// AVX2 and BMI2: Intel since 2013, AMD since 2015. Perhaps AVX-512 as well.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Avx2(avx2::Avx2, Option<Avx512>),
}

impl Isa {
    /// The best that this processor has; plain Rust if built with `--cfg gowk_portable`, as `./test` does once.
    pub(crate) fn best() -> Self {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if !cfg!(gowk_portable)
            && let Some(avx2) = avx2::Avx2::detect()
        {
            return Self::Avx2(avx2, Avx512::detect());
        }
        Self::Portable
    }

    /// What needs no call, if this processor has it: arithmetic.
    pub(crate) fn bmi2(self) -> Option<Bmi2> {
        match self {
            Self::Portable => None,
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Self::Avx2(avx2, _) => Some(Bmi2::new(avx2)),
        }
    }

    /// And the work on a line.
    pub(crate) fn inline(self) -> Option<Inline> {
        match self {
            Self::Portable => None,
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Self::Avx2(avx2, _) => Inline::detect(Bmi2::new(avx2)),
        }
    }

    /// The same with AVX2 alone.
    pub(crate) fn inline_avx2(self) -> Option<InlineAvx2> {
        match self {
            Self::Portable => None,
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Self::Avx2(avx2, _) => InlineAvx2::new(Bmi2::new(avx2)),
        }
    }

    /// The work on the lines of eight keys at once, if this processor has it.
    pub(crate) fn avx512(self) -> Option<Avx512> {
        match self {
            Self::Portable => None,
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Self::Avx2(_, avx512) => avx512,
        }
    }

    /// Every one that this processor has.
    #[cfg(test)]
    pub(crate) fn available() -> Vec<Self> {
        let mut all = vec![Self::Portable];
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        all.extend(avx2::Avx2::detect().map(|avx2| Self::Avx2(avx2, None)));
        all.push(Self::best());
        all.dedup();
        all
    }

    /// Runs the task.
    #[inline(always)]
    pub(crate) fn run<T: Task>(self, task: T) -> T::Output {
        match self {
            Self::Portable => portable::run(task),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Self::Avx2(machine, _) => machine.run(task),
        }
    }

    /// Runs the task by the widest arithmetic.
    #[inline(always)]
    pub(crate) fn run_by_eight(self, task: impl EightTask) {
        match self {
            Self::Portable => portable::run_by_eight(task),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Self::Avx2(arithmetic, None) => arithmetic.run_by_eight(task),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Self::Avx2(_, Some(arithmetic)) => arithmetic.run_by_eight(task),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        bloom::{blocked::windows, classic::shares},
        hash::{Hasher, KeyHash},
        store::{BlocksMut, Fetch, Heap, NonEmpty},
    };
    use core::sync::atomic::AtomicU64;
    use proptest::prelude::*;

    fn line() -> impl Strategy<Value = Line> {
        // Sparse, half and dense lines, so that both answers occur.
        prop_oneof![
            any::<[u64; 8]>(),
            any::<[u64; 8]>().prop_map(|w| w.map(|x| x | x.rotate_left(7) | x.rotate_left(23) | !0 << 9))
        ]
        .prop_map(Line)
    }

    struct Both<'a>(&'a mut Line, u32, u32);
    impl Task for Both<'_> {
        type Output = (bool, bool, bool);
        #[inline(always)]
        fn run(self, m: impl Machine) -> Self::Output {
            let w = windows(self.2);
            (m.covers(self.0, self.1, w), m.set(self.0, self.1, w), m.covers(self.0, self.1, w))
        }
    }

    struct Hashed<'a>(&'a mut [u64; EIGHT], Hasher);
    impl EightTask for Hashed<'_> {
        #[inline(always)]
        fn run(self, arithmetic: impl Arithmetic) {
            let secrets = self.1.rapid().word_secrets().expect("the default hash has some");
            *self.0 = arithmetic.fold(arithmetic.words(self.0, secrets));
        }
    }

    struct HashedTexts<'a>(&'a [&'a [u8]; EIGHT], Hasher, &'a mut Option<[u64; EIGHT]>);
    impl EightTask for HashedTexts<'_> {
        #[inline(always)]
        fn run(self, arithmetic: impl Arithmetic) {
            let secrets = self.1.rapid().text_secrets().expect("the default hash has some");
            *self.2 = arithmetic.texts(self.0, secrets).map(|factors| arithmetic.fold(factors));
        }
    }

    struct Shared<'a>(&'a SharedLine, u32, u32);
    impl Task for Shared<'_> {
        type Output = (bool, bool, bool);
        #[inline(always)]
        fn run(self, m: impl Machine) -> Self::Output {
            let w = windows(self.2);
            (
                m.shared_covers(self.0, self.1, w),
                m.shared_set(self.0, self.1, w),
                m.shared_covers(self.0, self.1, w),
            )
        }
    }

    struct Near<'a, const N: usize>([&'a Line; N], u32, &'a Shares);
    impl<const N: usize> Task for Near<'_, N> {
        type Output = bool;
        #[inline(always)]
        fn run(self, m: impl Machine) -> bool {
            m.cover(self.0, self.1, self.2)
        }
    }

    struct Split<'a>(&'a mut [u32; 8], u32);
    impl Task for Split<'_> {
        type Output = (bool, bool, bool);
        #[inline(always)]
        fn run(self, m: impl Machine) -> Self::Output {
            (
                m.split_covers(self.0, self.1, &SALTS),
                m.split_set(self.0, self.1, &SALTS),
                m.split_covers(self.0, self.1, &SALTS),
            )
        }
    }

    /// Whether two lines have their bits, and four.
    struct Block<'a>(&'a [Line; 4], [u32; 4], u32);

    impl Task for Block<'_> {
        type Output = (bool, bool);
        #[inline(always)]
        fn run(self, m: impl Machine) -> Self::Output {
            let Self(lines, words, lanes) = self;
            let two = (lines.first_chunk::<2>().unwrap(), *words.first_chunk().unwrap());
            (m.covers_block(two.0, two.1, windows(lanes)), m.covers_block(lines, words, windows(lanes)))
        }
    }

    #[test]
    fn what_needs_no_call_agrees_with_portable() {
        match Isa::best().inline() {
            Some(inline) => agrees_with_portable(inline),
            None => std::eprintln!("this processor has no AVX-512: nothing to compare"),
        }
        match Isa::best().inline_avx2() {
            Some(inline) => agrees_with_portable(inline),
            None => {
                std::eprintln!("this processor has no AVX2, or all is compiled for it: nothing to compare")
            }
        }
    }

    fn agrees_with_portable(inline: impl OnLine) {
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(2000));
        let inputs = (proptest::collection::vec(line(), 1..4), any::<u64>(), any::<u32>(), 1u32..=8);
        let agrees = |(lines, n, word, lanes): (Vec<Line>, u64, u32, u32)| {
            let store = || NonEmpty::new(Heap::copy_of(&lines).unwrap());
            let (mut expected, mut got) = (store(), store());
            let windows = windows(lanes);
            // What is above the word does not count.
            let long = n << 32 | u64::from(word);
            let mut expected_lines = BlocksMut::<1>::new(expected.lines_mut(), Fetch::SOON);
            let [line] = expected_lines.block(n);
            let before = portable::Portable.covers(line, word, windows);
            prop_assert_eq!(inline.covers(got.place(n, inline.bmi2()), long, windows), before);
            portable::Portable.set(line, word, windows);
            inline.mark(got.place_mut(n, inline.bmi2()), long, windows);
            prop_assert!(inline.covers(got.place(n, inline.bmi2()), long, windows));
            prop_assert_eq!(got.lines(), expected.lines());
            Ok(())
        };
        runner.run(&inputs, agrees).unwrap();
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn arithmetic_that_needs_no_call_is_that_of_any_machine(a: u64, b: u64) {
            if let Some(bmi2) = Isa::best().bmi2() {
                let (low, high) = bmi2.widening_mul(a, b);
                prop_assert_eq!(u128::from(high) << 64 | u128::from(low), u128::from(a) * u128::from(b));
                prop_assert_eq!(bmi2.shift_right(a, b), a >> (b % 64));
                let (from, count) = ((b % 64) as u32, (b >> 58) as u32);
                prop_assert_eq!(bmi2.bits(a, from, count), (a >> from) & ((1 << count) - 1));
            }
        }

        #[test]
        fn every_arithmetic_hashes_as_one_key_is_hashed(words: [u64; EIGHT], seed: u64) {
            let hasher = Hasher::new(seed);
            for words in [words, words.map(|word| word >> 40), words.map(|word| !(word >> 40))] {
                for isa in Isa::available() {
                    let mut hashes = words;
                    isa.run_by_eight(Hashed(&mut hashes, hasher));
                    prop_assert_eq!(hashes, words.map(|word| hasher.word(word).h1));
                }
            }
        }

        #[test]
        fn texts_are_hashed_together_as_each_is(text in prop::collection::vec(any::<u8>(), 64), lengths in prop::array::uniform8(15usize..=33), seed: u64) {
            let hasher = Hasher::new(seed);
            for lengths in [lengths, lengths.map(|length| length.clamp(16, 32)), lengths.map(|length| length.min(16)), [32; EIGHT]] {
                let texts: [&[u8]; EIGHT] = core::array::from_fn(|i| &text[i..][..lengths[i]]);
                let expected = texts.map(|text| hasher.bytes(text).h1);
                let fits = lengths.iter().all(|length| TextSecrets::LENGTHS.contains(length));
                for isa in Isa::available() {
                    let mut hashes = None;
                    isa.run_by_eight(HashedTexts(&texts, hasher, &mut hashes));
                    prop_assert_eq!(hashes, (fits && isa.avx512().is_some()).then_some(expected));
                }
            }
        }

        #[test]
        fn every_isa_agrees_with_portable(line in line(), word: u32, lanes in 1u32..=8) {
            let mut expected = line;
            let answers = Isa::Portable.run(Both(&mut expected, word, lanes));
            prop_assert_eq!(answers.0, !answers.1);
            prop_assert!(answers.2);
            for isa in Isa::available() {
                let mut got = line;
                prop_assert_eq!(isa.run(Both(&mut got, word, lanes)), answers);
                prop_assert_eq!(got, expected);

                let shared = SharedLine(line.0.map(AtomicU64::new));
                prop_assert_eq!(isa.run(Shared(&shared, word, lanes)), answers);
                prop_assert_eq!(shared.load(), expected);
            }
        }

        #[test]
        fn every_isa_agrees_with_portable_on_blocks(block in any::<[[u64; 8]; 4]>(), words: [u32; 4], lanes in 1u32..=8, marked in 0usize..=4) {
            let mut lines = block.map(Line);
            for (line, word) in lines.iter_mut().zip(words).take(marked) {
                portable::Portable.set(line, word, windows(lanes));
            }
            let expected = Isa::Portable.run(Block(&lines, words, lanes));
            prop_assert!(marked < 4 || expected == (true, true));
            for isa in Isa::available() {
                prop_assert_eq!(isa.run(Block(&lines, words, lanes)), expected);
            }
        }

        #[test]
        fn every_isa_agrees_with_portable_on_some_lines(lines: [[u64; 8]; 3], word: u32, lanes in 1u32..=8, cleared in 0usize..4) {
            let mut lines = lines.map(Line);
            let count = if lanes <= 7 && word % 2 == 0 { 2 } else { 3 };
            let shares = shares(count, lanes);
            let each = shares.each;
            // All bits of the key, but for one line of it where there is such a line.
            for (line, windows) in lines.iter_mut().zip(&each) {
                line.or(&portable::mask(word, windows));
            }
            let mut all = true;
            if let Some(line) = lines.get_mut(cleared) {
                let mask = portable::mask(word, &each[cleared]);
                all = mask == Line::ZERO;
                line.0.iter_mut().zip(mask.0).for_each(|(have, want)| *have &= !want);
            }
            for isa in Isa::available() {
                prop_assert_eq!(match count {
                    2 => isa.run(Near([&lines[0], &lines[1]], word, shares)),
                    _ => isa.run(Near([&lines[0], &lines[1], &lines[2]], word, shares)),
                }, all);
            }
        }

        #[test]
        fn every_isa_agrees_with_portable_on_split_blocks(block: [u32; 8], dense: bool, word: u32) {
            let block = if dense { block.map(|x| x | !0 << 4) } else { block };
            let mut expected = block;
            let answers = Isa::Portable.run(Split(&mut expected, word));
            prop_assert_eq!(answers.0, !answers.1);
            for isa in Isa::available() {
                let mut got = block;
                prop_assert_eq!(isa.run(Split(&mut got, word)), answers);
                prop_assert_eq!(got, expected);
            }
        }
    }
}
