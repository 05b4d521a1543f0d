//! One key: the ways to ask for it and to put it in, the shortest that its filter and this machine allow.

use super::{
    filter::{BlockedBloom, set},
    layout::{block_of, words},
    sizing::{Span, by_span},
};
use crate::{
    filter::Inserted,
    hash::{Digest, Hasher, Key, RapidBy},
    simd::{Bmi2, Inline, InlineAvx2, Isa, Machine, OnLine, Task, Windows},
    store::{Line, Store, StoreMut},
    unwinding,
};

/// What works on a line right where it is asked to, if keys of a filter can be worked on so: by the default hash, in one line or in two,
/// on a machine that is more than plain.
#[derive(Clone, Copy, Debug)]
pub(super) enum Here {
    No,
    Avx512(Inline),
    Avx2(InlineAvx2),
}

impl Here {
    /// What works on the one line of a key, and on the two. Two fields, of which the first is asked first: one of all cases would be a jump
    /// through a table, for each key that is inserted.
    pub(super) fn of(span: Span, hasher: &Hasher, isa: Isa) -> (Self, Self) {
        let here = match (isa.inline(), isa.inline_avx2()) {
            _ if hasher.as_rapid().is_none() => Self::No,
            (Some(avx512), _) => Self::Avx512(avx512),
            (None, Some(avx2)) => Self::Avx2(avx2),
            (None, None) => Self::No,
        };
        match span {
            Span::Line => (here, Self::No),
            Span::Pair => (Self::No, here),
            Span::Quad => (Self::No, Self::No),
        }
    }
}

/// # The address of a filter stays at home
///
/// Where an address inside a filter is handed to a call that is not put in its place, or to assembly, the compiler must take it that whoever
/// writes memory later writes there. It then loads all of the filter's fields anew for each key of a loop of inserts, and each load waits
/// until the stores before it know where they go: 5.4 ns in the cache on a Zen 3, where it can be 2.6. So calls get the lines, and copies of
/// the rest, and where a call could unwind, [it does not](crate::unwinding).
impl<S: Store> BlockedBloom<S> {
    /// Whether a key may be in the set.
    #[inline(always)]
    pub(super) fn covers_one<K: Key + ?Sized>(&self, key: &K) -> bool {
        match self.line {
            Here::Avx512(here) => return self.covers_line(here, key),
            Here::Avx2(here) => return self.covers_line(here, key),
            Here::No => {}
        }
        match self.pair {
            Here::Avx512(here) => self.covers_pair(here, key),
            Here::Avx2(here) => self.covers_pair(here, key),
            Here::No => self.isa.run(Covers {
                lines: self.store.lines(),
                span: self.params.span(),
                windows: self.windows,
                digest: self.digest(key),
            }),
        }
    }

    #[inline(always)]
    fn covers_line<K: Key + ?Sized>(&self, here: impl OnLine, key: &K) -> bool {
        let h1 = self.digest_by(here.bmi2(), key).h1;
        here.covers(self.store.place(h1, here.bmi2()), h1, self.windows)
    }

    #[inline(always)]
    fn covers_pair<K: Key + ?Sized>(&self, here: impl OnLine, key: &K) -> bool {
        let Digest { h1, h2 } = self.digest_by(here.bmi2(), key);
        let [first, second] = self.store.pair(h1, here.bmi2()).expect("at least one block");
        here.covers(first, h1, self.windows) & here.covers(second, h2 >> 32, self.windows)
    }

    #[inline(always)]
    fn digest_by<K: Key + ?Sized>(&self, by: Bmi2, key: &K) -> Digest {
        key.digest(&RapidBy { rapid: self.hasher.rapid(), by })
    }

    #[inline(always)]
    fn digest<K: Key + ?Sized>(&self, key: &K) -> Digest {
        match self.hasher.as_rapid() {
            Some(rapid) => key.digest(rapid),
            None => {
                let hasher = self.hasher;
                hasher.digest(key)
            }
        }
    }
}

impl<S: StoreMut> BlockedBloom<S> {
    /// Puts a key into the set.
    #[inline(always)]
    pub(super) fn set_one<K: Key + ?Sized>(&mut self, key: &K) -> Inserted {
        match self.line {
            Here::Avx512(here) => return self.set_line(here, key),
            Here::Avx2(here) => return self.set_line(here, key),
            Here::No => {}
        }
        match self.pair {
            Here::Avx512(here) => {
                if let Some(inserted) = self.set_pair(here, key) {
                    return inserted;
                }
            }
            Here::Avx2(here) => {
                if let Some(inserted) = self.set_pair(here, key) {
                    return inserted;
                }
            }
            Here::No => {}
        }
        let (span, windows, digest) = (self.params.span(), self.windows, self.digest(key));
        unwinding::never(|| self.isa.run(Set { lines: self.store.lines_mut(), span, windows, digest }))
    }

    #[inline(always)]
    fn set_line<K: Key + ?Sized>(&mut self, here: impl OnLine, key: &K) -> Inserted {
        let h1 = self.digest_by(here.bmi2(), key).h1;
        // Left out by the compiler where nobody asks what came of the insert, which is most often.
        let new = !here.covers(self.store.place(h1, here.bmi2()), h1, self.windows);
        here.mark(self.store.place_mut(h1, here.bmi2()), h1, self.windows);
        Inserted::from_new(new)
    }

    #[inline(always)]
    fn set_pair<K: Key + ?Sized>(&mut self, here: impl OnLine, key: &K) -> Option<Inserted> {
        let Digest { h1, h2 } = self.digest_by(here.bmi2(), key);
        let [first, second] = self.store.pair(h1, here.bmi2())?;
        // As in `set_line`.
        let new = !(here.covers(first, h1, self.windows) & here.covers(second, h2 >> 32, self.windows));
        let [first, second] = self.store.pair_mut(h1, here.bmi2())?;
        here.mark(first, h1, self.windows);
        here.mark(second, h2 >> 32, self.windows);
        Some(Inserted::from_new(new))
    }
}

/// The long way, which every filter has.
struct Covers<'a> {
    lines: &'a [Line],
    span: Span,
    windows: &'static Windows,
    digest: Digest,
}

impl Task for Covers<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> bool {
        by_span!(self.span, L => {
            let (blocks, _) = self.lines.as_chunks::<L>();
            machine.covers_block(&blocks[block_of(self.digest, blocks.len())], words(self.digest), self.windows)
        })
    }
}

struct Set<'a> {
    lines: &'a mut [Line],
    span: Span,
    windows: &'static Windows,
    digest: Digest,
}

impl Task for Set<'_> {
    type Output = Inserted;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> Inserted {
        by_span!(self.span, L => {
            let (blocks, _) = self.lines.as_chunks_mut::<L>();
            let at = block_of(self.digest, blocks.len());
            Inserted::from_new(set(machine, &mut blocks[at], words(self.digest), self.windows))
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
            let by = |(line, pair)| BlockedBloom {
                line,
                pair,
                ..BlockedBloom::with_params(params, hasher).unwrap()
            };
            let avx2 = isa.inline_avx2().map_or(Here::No, Here::Avx2);
            let avx2 = if params.span() == Span::Line { (avx2, Here::No) } else { (Here::No, avx2) };
            for here in [avx2, Here::of(params.span(), &hasher, isa)] {
                let (mut expected, mut got) = (by((Here::No, Here::No)), by(here));
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
