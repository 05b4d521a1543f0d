//! Many keys, eight at a time, their lines fetched ahead: integers and text of usual lengths, where the processor hashes eight of them at once.

use super::{filter::BlockedBloom, sizing::Span};
use crate::{
    bloom::eight::{Asking, Setting},
    bulk::{MANY, Source, grouped},
    simd::{Arithmetic, Avx512, EightTask, Sets},
    store::{Blocks, BlocksMut, Fetch, Store, StoreMut, are_short},
};
use alloc::vec;

/// What works on the keys of this source by eight, if anything does: in blocks of one line or of two, no more of them than have numbers of 32
/// bits.
#[inline(always)]
pub(super) fn by_eight<S: Store, I: Source>(filter: &BlockedBloom<S>, source: &I) -> Option<Avx512> {
    let lines = filter.store.lines().len();
    let fits = match filter.params.span() {
        Span::Line => are_short::<1>(lines),
        Span::Pair => are_short::<2>(lines),
        Span::Quad => false,
    };
    if I::MAY_COME_BY_EIGHT && fits && source.come_by_eight() >= MANY { filter.isa.avx512() } else { None }
}

pub(super) struct Answer<'a, S, I> {
    pub(super) filter: &'a BlockedBloom<S>,
    pub(super) by: Avx512,
    pub(super) source: I,
    pub(super) answers: &'a mut [bool],
}

impl<S: Store, I: Source> EightTask for Answer<'_, S, I> {
    #[inline(always)]
    fn run(self, arithmetic: impl Arithmetic) {
        let Self { filter: BlockedBloom { params, windows, store, .. }, by, source, answers } = self;
        let (lines, sets) = (store.lines(), Sets::of(windows));
        let (hashes, bytes) = (source.hashes::<_, true>(arithmetic), size_of_val(lines));
        if params.span() == Span::Line {
            let memory = Blocks::<1>::new(lines, Fetch::SOON);
            grouped(hashes, 1, bytes, Asking::<_, 1, false> { memory, by, sets: [sets] }, answers);
        } else {
            let memory = Blocks::<2>::new(lines, Fetch::SOON);
            grouped(hashes, 2, bytes, Asking::<_, 2, true> { memory, by, sets: [sets; 2] }, answers);
        }
    }
}

pub(super) struct SetAll<'a, S, I> {
    pub(super) filter: &'a mut BlockedBloom<S>,
    pub(super) by: Avx512,
    pub(super) source: I,
}

impl<S: StoreMut, I: Source> EightTask for SetAll<'_, S, I> {
    #[inline(always)]
    fn run(self, arithmetic: impl Arithmetic) {
        let Self { filter: BlockedBloom { params, windows, store, .. }, by, source } = self;
        let (lines, sets) = (store.lines_mut(), Sets::of(windows));
        // Answers without a size: nothing is allocated.
        let mut answers = vec![(); source.come_by_eight()];
        let (hashes, bytes) = (source.hashes::<_, true>(arithmetic), size_of_val(lines));
        if params.span() == Span::Line {
            let memory = BlocksMut::<1>::new(lines, Fetch::SOON);
            grouped(hashes, 1, bytes, Setting::<_, 1, false> { memory, by, sets: [sets] }, &mut answers);
        } else {
            let memory = BlocksMut::<2>::new(lines, Fetch::SOON);
            grouped(hashes, 2, bytes, Setting::<_, 2, true> { memory, by, sets: [sets; 2] }, &mut answers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        bloom::blocked::BlockedParams,
        builder::Build,
        filter::{Filter, Insert},
        hash::Hasher,
    };
    use alloc::{string::String, vec::Vec};

    /// Of one line and of two, near and far (memory is far from 4 KiB on in tests), in every number of keys that is left over.
    #[test]
    fn eight_at_a_time_is_one_by_one() {
        if BlockedBloom::new(1, 0.5).unwrap().isa.avx512().is_none() {
            std::eprintln!("this processor has no AVX-512: nothing to compare");
        }
        for (blocks, span) in [(1, Span::Line), (3, Span::Pair), (700, Span::Line), (700, Span::Pair)] {
            for (lanes, keys) in [(1, 64u64), (3, 65), (5, 127), (6, 205), (8, 1006)] {
                let params = BlockedParams::with_shape(blocks, span, lanes, 10).unwrap();
                let empty = || BlockedBloom::with_params(params, Hasher::new(blocks + keys)).unwrap();
                let (mut by_eight, mut one_by_one) = (empty(), empty());
                // Some keys twice in one group.
                let keys: Vec<u64> = (0..keys).map(|key| if key % 9 == 0 { 4 } else { key }).collect();
                by_eight.insert_many(&keys);
                for key in &keys {
                    one_by_one.insert(key);
                }
                assert!(by_eight == one_by_one, "{params}");
                let asked: Vec<u64> = (0..keys.len() as u64 * 3).map(|key| key * 7 / 3).collect();
                let expected: Vec<bool> = asked.iter().map(|key| one_by_one.may_contain(key)).collect();
                assert_eq!(by_eight.may_contain_many(&asked), expected, "{params}");
                assert!(by_eight.may_contain_many(&keys).into_iter().all(|answer| answer));
            }
        }
    }

    /// Also where a short one is among them, and where all are.
    #[test]
    fn texts_eight_at_a_time_are_one_by_one() {
        for (short, fpp) in [(u64::MAX, 0.01), (100, 0.01), (1, 0.01), (u64::MAX, 0.001), (100, 0.001)] {
            let text = |key: u64| match key.is_multiple_of(short) && key > 16 {
                true => std::format!("{key}"),
                false => std::format!("https://{key:0width$}", width = 8 + key as usize % 17),
            };
            let keys: Vec<String> = (0..1000).map(text).collect();
            let empty = || BlockedBloom::builder().items(1000).fpp(fpp).seed(9).build().unwrap();
            let (mut by_eight, mut one_by_one) = (empty(), empty());
            by_eight.insert_many(&keys);
            for key in &keys {
                one_by_one.insert(key.as_str());
            }
            assert!(by_eight == one_by_one);
            let asked: Vec<String> = (500..9000).map(text).collect();
            let expected: Vec<bool> = asked.iter().map(|key| one_by_one.may_contain(key)).collect();
            assert_eq!(by_eight.may_contain_many(&asked), expected);
            let slices: Vec<&[u8]> = asked.iter().map(String::as_bytes).collect();
            assert_eq!(by_eight.may_contain_many(&slices), expected);
        }
    }
}
