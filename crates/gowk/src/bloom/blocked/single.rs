//! One key: the ways to ask for it and to put it in, the shortest that its filter and this machine allow.

use super::{
    filter::{BlockedBloom, covers, set},
    layout::{block_of, words},
    sizing::{Span, by_span},
};
use crate::{
    filter::Inserted,
    hash::{Hashed, Hasher, Key, RapidBy},
    simd::{Inline, InlineAvx2, Isa, Machine, OnLine, Task, Wide},
    store::{Store, StoreMut},
};

/// Whether keys take a short way, which is that of the default hash and one line or two, by far the commonest shapes, on a
/// machine that is more than plain: one question for all three.
#[derive(Clone, Copy)]
pub(super) enum Short {
    No,
    Line(Wide),
    Pair(Wide),
}

impl Short {
    pub(super) fn new(span: Span, hasher: &Hasher, isa: Isa) -> Self {
        let (Some(wide), Some(_)) = (isa.wide(), hasher.as_rapid()) else { return Self::No };
        match span {
            Span::Line => Self::Line(wide),
            Span::Pair => Self::Pair(wide),
            Span::Quad => Self::No,
        }
    }

    /// What works on one line without a call, if that is all that keys ask for.
    pub(super) fn here(self, isa: Isa) -> Here {
        match (self, isa.inline(), isa.inline_avx2()) {
            (Self::Line(_), Some(avx512), _) => Here::Avx512(avx512),
            (Self::Line(_), None, Some(avx2)) => Here::Avx2(avx2),
            _ => Here::No,
        }
    }
}

/// What works on one line without a call. Asked first, of a field by itself: as one of [`Short`] it would be a jump through a table, for each
/// key that is inserted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Here {
    No,
    Avx512(Inline),
    Avx2(InlineAvx2),
}

impl<S: Store> BlockedBloom<S> {
    /// Whether a key may be in the set. It is hashed on the far side of the choice of instruction set: one call, and multiplications that
    /// the wider set does without moves.
    #[inline(always)]
    pub(super) fn covers_one<K: Key + ?Sized>(&self, key: &K) -> bool {
        match self.here {
            Here::Avx512(here) => return self.covers_here(here, key),
            Here::Avx2(here) => return self.covers_here(here, key),
            Here::No => {}
        }
        match self.short {
            Short::Line(wide) => self.covers_short::<K, 1>(wide, key),
            Short::Pair(wide) => self.covers_short::<K, 2>(wide, key),
            Short::No => self.isa.run(Covers { filter: self, key }),
        }
    }
}

impl<S: StoreMut> BlockedBloom<S> {
    /// Puts a key into the set.
    #[inline(always)]
    pub(super) fn set_one<K: Key + ?Sized>(&mut self, key: &K) -> Inserted {
        match self.here {
            Here::Avx512(here) => return self.set_here(here, key),
            Here::Avx2(here) => return self.set_here(here, key),
            Here::No => {}
        }
        match self.short {
            Short::Line(wide) => self.set_short::<K, 1>(wide, key),
            Short::Pair(wide) => self.set_short::<K, 2>(wide, key),
            Short::No => self.isa.run(Set { filter: self, key }),
        }
    }
}

/// The shortest way: the key is hashed, and its line worked on, right where it is asked for.
impl<S: Store> BlockedBloom<S> {
    #[inline(always)]
    fn covers_here<K: Key + ?Sized>(&self, here: impl OnLine, key: &K) -> bool {
        let h1 = key.digest(&RapidBy { rapid: self.hasher.rapid(), by: here.bmi2() }).h1;
        here.covers(self.store.place(h1, here.bmi2()), h1, &self.windows)
    }
}

impl<S: StoreMut> BlockedBloom<S> {
    #[inline(always)]
    fn set_here<K: Key + ?Sized>(&mut self, here: impl OnLine, key: &K) -> Inserted {
        let h1 = key.digest(&RapidBy { rapid: self.hasher.rapid(), by: here.bmi2() }).h1;
        // Left out by the compiler where nobody asks what came of the insert, which is most often.
        let new = !here.covers(self.store.place(h1, here.bmi2()), h1, &self.windows);
        here.mark(self.store.place_mut(h1, here.bmi2()), h1, &self.windows);
        Inserted::from_new(new)
    }
}

/// The short way. What a task has of a key is no longer than a word, so that it is handed over in registers: a reference, or, where
/// that is of two words, as for text, the hash, which is all that one line asks for.
impl<S: Store> BlockedBloom<S> {
    #[inline(always)]
    fn covers_short<K: Key + ?Sized, const L: usize>(&self, wide: Wide, key: &K) -> bool {
        match L == 1 && size_of::<&K>() > size_of::<Hashed>() {
            true => wide.run(CoversShort::<_, _, L> { filter: self, key: self.hasher.rapid().hashed(key) }),
            false => wide.run(CoversShort::<_, _, L> { filter: self, key }),
        }
    }
}

impl<S: StoreMut> BlockedBloom<S> {
    #[inline(always)]
    fn set_short<K: Key + ?Sized, const L: usize>(&mut self, wide: Wide, key: &K) -> Inserted {
        match L == 1 && size_of::<&K>() > size_of::<Hashed>() {
            true => {
                let key = self.hasher.rapid().hashed(key);
                wide.run(SetShort::<_, _, L> { filter: self, key })
            }
            false => wide.run(SetShort::<_, _, L> { filter: self, key }),
        }
    }
}

/// [`Covers`] without the questions that [`Short`] has answered. A lookup that misses the cache is paid by the instruction: 34 for
/// one line, instead of 56.
struct CoversShort<'a, S, K, const L: usize> {
    filter: &'a BlockedBloom<S>,
    key: K,
}

impl<S: Store, K: Key, const L: usize> Task for CoversShort<'_, S, K, L> {
    type Output = bool;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> bool {
        let BlockedBloom { windows, hasher, store, .. } = self.filter;
        let digest = self.key.digest(hasher.rapid());
        covers(machine, store.block::<L>(digest.h1), words(digest), windows)
    }
}

/// [`Set`], the short way.
struct SetShort<'a, S, K, const L: usize> {
    filter: &'a mut BlockedBloom<S>,
    key: K,
}

impl<S: StoreMut, K: Key, const L: usize> Task for SetShort<'_, S, K, L> {
    type Output = Inserted;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> Inserted {
        let BlockedBloom { windows, hasher, store, .. } = self.filter;
        let digest = self.key.digest(hasher.rapid());
        Inserted::from_new(set(machine, store.block_mut::<L>(digest.h1), words(digest), windows))
    }
}

struct Covers<'a, S, K: ?Sized> {
    filter: &'a BlockedBloom<S>,
    key: &'a K,
}

impl<S: Store, K: Key + ?Sized> Task for Covers<'_, S, K> {
    type Output = bool;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> bool {
        let BlockedBloom { params, windows, hasher, store, .. } = self.filter;
        let digest = hasher.digest(self.key);
        by_span!(params.span(), L => {
            let (blocks, _) = store.lines().as_chunks::<L>();
            covers(machine, &blocks[block_of(digest, blocks.len())], words(digest), windows)
        })
    }
}

struct Set<'a, S, K: ?Sized> {
    filter: &'a mut BlockedBloom<S>,
    key: &'a K,
}

impl<S: StoreMut, K: Key + ?Sized> Task for Set<'_, S, K> {
    type Output = Inserted;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> Inserted {
        let BlockedBloom { params, windows, hasher, store, .. } = self.filter;
        let digest = hasher.digest(self.key);
        by_span!(params.span(), L => {
            let (blocks, _) = store.lines_mut().as_chunks_mut::<L>();
            let at = block_of(digest, blocks.len());
            Inserted::from_new(set(machine, &mut blocks[at], words(digest), windows))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        bloom::blocked::BlockedParams,
        builder::Build,
        filter::{Filter, Insert},
    };

    /// Each way that this processor has, for keys of a word and of text.
    #[test]
    fn every_short_way_comes_to_the_same() {
        let (isa, hasher) = (Isa::best(), Hasher::new(5));
        for (items, fpp) in [(3, 0.01), (2000, 0.01), (2000, 0.001)] {
            let params = BlockedParams::for_fpp(items, fpp).unwrap();
            let by = |short, here| BlockedBloom {
                here,
                short,
                ..BlockedBloom::with_params(params, hasher).unwrap()
            };
            let short = Short::new(params.span(), &hasher, isa);
            let line = params.span() == Span::Line;
            let avx2 = isa.inline_avx2().filter(|_| line).map_or(Here::No, Here::Avx2);
            for here in [Here::No, avx2, short.here(isa)] {
                let (mut expected, mut got) = (by(Short::No, Here::No), by(short, here));
                for key in 0..items {
                    let text = alloc::format!("key number {key}");
                    assert_eq!(got.insert(&key), expected.insert(&key));
                    assert_eq!(got.insert(text.as_str()), expected.insert(text.as_str()));
                    assert_eq!(got.insert(&key), Inserted::MaybeSeen);
                }
                assert!(got == expected);
                assert!((0..items).all(|key| got.may_contain(&key)));
                assert!((0..10 * items).all(|key| got.may_contain(&key) == expected.may_contain(&key)));
            }
        }
    }
}
