//! The window itself: a clock and generations of bits over a store.

use super::{
    clock::{Clock, Pace},
    sizing::WindowParams,
};
use crate::{
    bloom::blocked::{block_of, by_span, line_fpp, set, windows, words},
    builder::{Build, Builder},
    bulk::{Ahead, Ring, Source, Stages, Stream},
    error::{Full, MergeError, ParamsError},
    filter::{Filter, Insert, Inserted, Merge},
    hash::{Digest, Hasher, Key},
    simd::{Isa, Machine, Task, Windows},
    stats::{Family, Stats},
    store::{Fetch, Heap, Line, Store, StoreMut, ones},
};
use core::{fmt, time::Duration};

/// A filter that forgets: over the last so many inserts, or the last so much time.
///
/// See [the module page](crate::window) for how it works and what it costs.
///
/// Among the last million:
///
/// ```
/// use gowk::{Insert, Inserted, Window};
///
/// let mut recent = Window::builder().items(1_000_000).fpp(0.001).build()?;
/// assert_eq!(recent.insert("GET /index.html"), Inserted::New);
/// assert_eq!(recent.insert("GET /index.html"), Inserted::MaybeSeen);
/// # Ok::<(), gowk::ParamsError>(())
/// ```
///
/// In the last hour, with at most a million keys an hour; the time is whatever the caller says it is:
///
/// ```
/// use gowk::{Filter, Insert, Window};
///
/// let mut recent = Window::builder().items(1_000_000).fpp(0.001).build_lasting(3_600)?;
/// recent.insert_at(12, "10.0.0.1");
/// recent.advance(3_612);
/// assert!(recent.may_contain("10.0.0.1"));      // an hour ago: surely still there
/// recent.advance(3_612 + 600);
/// assert!(!recent.may_contain("10.0.0.1"));     // a seventh of an hour later: surely forgotten
/// # Ok::<(), gowk::ParamsError>(())
/// ```
#[derive(Clone)]
pub struct Window<S = Heap> {
    pub(super) params: WindowParams,
    pub(super) clock: Clock,
    windows: &'static Windows,
    hasher: Hasher,
    isa: Isa,
    store: S,
}

impl Window {
    /// Describes a window by what it is for: `items` keys of a window, `fpp`, and more where it matters.
    ///
    /// [`build`](Builder::build) gives a window over the last `items` inserts, [`build_lasting`](Builder::build_lasting)
    /// one over time.
    pub fn builder() -> Builder<Self> {
        Builder::default()
    }

    /// An empty window over the last `items` inserts at the rate `fpp`, with a random seed.
    #[cfg(feature = "std")]
    pub fn new(items: u64, fpp: f64) -> Result<Self, ParamsError> {
        Self::builder().items(items).fpp(fpp).build()
    }

    /// An empty window over the last `ticks` of a clock, which stands at 0.
    pub fn lasting(params: WindowParams, hasher: Hasher, ticks: u64) -> Result<Self, ParamsError> {
        if ticks == 0 {
            return Err(ParamsError::OutOfRange { what: "ticks", value: 0, least: 1, most: u64::MAX });
        }
        Ok(Self { clock: clock(&params, Pace::Ticks, ticks), ..Self::with_params(params, hasher)? })
    }
}

impl Builder<Window> {
    /// An empty window over the last `ticks` of a clock that the caller drives by [`Window::advance`], in which up to
    /// `items` keys come, evenly. What a tick is, is up to the caller; the clock stands at 0.
    pub fn build_lasting(&self, ticks: u64) -> Result<Window, ParamsError> {
        Window::lasting(self.params()?, self.make_hasher()?, ticks)
    }

    /// An empty window over a time in milliseconds, for [`Window::advance_to`].
    pub fn build_lasting_for(&self, time: Duration) -> Result<Window, ParamsError> {
        self.build_lasting(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }
}

impl Build for Window {
    type Params = WindowParams;

    fn params_for_fpp(items: u64, fpp: f64) -> Result<WindowParams, ParamsError> {
        WindowParams::for_fpp(items, fpp)
    }

    fn params_for_bits(bits: u64, items: u64) -> Result<WindowParams, ParamsError> {
        WindowParams::for_bits(bits, items)
    }

    /// A window over the last inserts.
    fn with_params(params: WindowParams, hasher: Hasher) -> Result<Self, ParamsError> {
        let clock = clock(&params, Pace::Inserts, params.promise().items);
        Ok(Self::over(params, clock, hasher, Heap::zeroed(params.lines())?))
    }
}

/// The clock of a new window.
fn clock(params: &WindowParams, pace: Pace, window: u64) -> Clock {
    Clock::new(pace, window, params.generations(), params.blocks(), 0)
}

impl<S> Window<S> {
    /// A window whose bits are already there. The caller has checked that there are as many lines as the parameters say.
    pub(super) fn over(params: WindowParams, clock: Clock, hasher: Hasher, store: S) -> Self {
        Self { windows: windows(params.lanes()), params, clock, hasher, isa: Isa::best(), store }
    }

    /// Size, shape and promise.
    pub fn params(&self) -> &WindowParams {
        &self.params
    }

    /// What moves it on.
    pub fn pace(&self) -> Pace {
        self.clock.pace()
    }

    /// How long a key is surely remembered, in inserts or ticks.
    pub fn remembers(&self) -> u64 {
        self.clock.window()
    }

    /// After how many inserts or ticks a key is surely forgotten.
    pub fn forgets(&self) -> u64 {
        self.clock.step().saturating_mul(self.params.generations().into())
    }

    /// The time: inserts so far, or what [`advance`](Self::advance) last said.
    pub fn now(&self) -> u64 {
        self.clock.now()
    }

    /// Whether a key has the same bits in both.
    fn fits<O>(&self, other: &Window<O>) -> Result<(), MergeError> {
        self.hasher.fits(&other.hasher)?;
        let differs = |what, ours: u64, theirs: u64| {
            if ours == theirs { Ok(()) } else { Err(MergeError::Params { what, ours, theirs }) }
        };
        let (ours, theirs) = (&self.params, &other.params);
        differs("lines per block", ours.span().lines(), theirs.span().lines())?;
        differs("bits per key and line", ours.lanes().into(), theirs.lanes().into())?;
        differs("generations", ours.generations().into(), theirs.generations().into())?;
        differs("blocks", ours.blocks(), theirs.blocks())?;
        differs("the length of the window", self.remembers(), other.remembers())
    }
}

impl<S: Store> Window<S> {
    /// The bits: block by block, in each the lines of its generations.
    pub fn lines(&self) -> &[Line] {
        self.store.lines()
    }

    /// The same window in memory of its own, ready for inserts.
    pub fn to_heap(&self) -> Result<Window, ParamsError> {
        Ok(Window::over(self.params, self.clock, self.hasher, Heap::copy_of(self.lines())?))
    }

    /// The part of the bits that are set.
    pub fn fill(&self) -> f64 {
        ones(self.lines()) as f64 / self.params.bits() as f64
    }

    /// How many keys it remembers, as far as the bits tell; a key that came in several generations counts in each.
    ///
    /// These are the keys of the window and up to a generation's more.
    pub fn estimated_items(&self) -> f64 {
        // Blocks that have turned in this round are filled otherwise than those that have not.
        let (turned, others) = self.lines().split_at(self.clock.turned() as usize * self.block_lines());
        self.estimate(turned) + self.estimate(others)
    }

    fn block_lines(&self) -> usize {
        self.params.span() as usize * self.params.generations() as usize
    }

    /// The keys in some of the blocks.
    fn estimate(&self, lines: &[Line]) -> f64 {
        let (span, block) = (self.params.span() as usize, self.block_lines());
        let Some(shape) = self.params.generation((lines.len() / block) as u64) else { return 0.0 };
        let of_generation = |generation: usize| {
            let parts = lines.chunks_exact(block).map(|block| ones(&block[generation * span..][..span]));
            shape.items_for_fill(parts.sum::<u64>() as f64 / shape.bits() as f64)
        };
        (0..self.params.generations() as usize).map(of_generation).sum()
    }

    /// The mean over the blocks of the chance that some generation covers a key that is not in it, from the bits as they
    /// are.
    fn measured_fpp(&self) -> f64 {
        let generation =
            |lines: &[Line]| lines.iter().map(|line| line_fpp(line, self.windows)).product::<f64>();
        let misses = |block: &[Line]| {
            block
                .chunks_exact(self.params.span() as usize)
                .map(|lines| 1.0 - generation(lines))
                .product::<f64>()
        };
        let missed: f64 = self.lines().chunks_exact(self.block_lines()).map(misses).sum();
        1.0 - missed / self.params.blocks() as f64
    }
}

impl<S: StoreMut> Window<S> {
    /// Sets the time, and forgets what is too old then. An earlier time than [`now`](Self::now) changes nothing.
    ///
    /// Costs a part of the bits that is the part of a generation's time gone by, so call it often: with every insert, or a
    /// few hundred times a window. In a window over inserts it lets keys grow old as if others had come.
    #[inline]
    pub fn advance(&mut self, now: u64) {
        if self.clock.advance(now) {
            turn(&mut self.clock, self.store.lines_mut(), self.params.span() as usize);
        }
    }

    /// Sets the time to a time of day, in milliseconds since 1970: for windows built by
    /// [`build_lasting_for`](Builder::build_lasting_for).
    #[cfg(feature = "std")]
    pub fn advance_to(&mut self, now: std::time::SystemTime) {
        let since = now.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        self.advance(u64::try_from(since.as_millis()).unwrap_or(u64::MAX));
    }

    /// [`advance`](Self::advance)s to `now` and puts a key in.
    #[inline]
    pub fn insert_at<K: Key + ?Sized>(&mut self, now: u64, key: &K) -> Inserted {
        self.advance(now);
        self.insert(key)
    }

    /// Forgets all keys. The time stays.
    pub fn clear(&mut self) {
        self.store.lines_mut().fill(Line::ZERO);
    }
}

/// Clears what is due. Out of line: the path of an insert is short without it.
#[inline(never)]
fn turn(clock: &mut Clock, lines: &mut [Line], span: usize) {
    let block = lines.len() / clock.blocks() as usize;
    clock.turn(|blocks, generation| {
        for lines in lines[blocks.start * block..blocks.end * block].chunks_exact_mut(block) {
            lines[generation * span..][..span].fill(Line::ZERO);
        }
    });
}

impl<S: Store> Filter for Window<S> {
    #[inline(always)]
    fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    #[inline(always)]
    fn may_contain_digest(&self, digest: Digest) -> bool {
        self.may_contain(&digest)
    }

    #[inline(always)]
    fn may_contain<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.isa.run(Covers { filter: self, key })
    }

    fn answer(&self, digests: impl Iterator<Item = Digest>, answers: &mut [bool]) {
        self.answer_source(Stream(digests), answers);
    }

    fn answer_source(&self, source: impl Source, answers: &mut [bool]) {
        self.isa.run(Answer { filter: self, source, answers });
    }

    fn stats(&self) -> Stats {
        Stats {
            family: Family::Window,
            items: self.params.promise().items,
            fpp: self.params.promise().fpp,
            bits: self.params.bits(),
            fill: self.fill(),
            estimated_items: self.estimated_items(),
            fpp_now: self.measured_fpp(),
        }
    }

    fn size_in_bytes(&self) -> usize {
        size_of_val(self.lines())
    }
}

impl<S: StoreMut> Insert for Window<S> {
    type Outcome<T> = T;

    fn settled<T>(outcome: T) -> Result<T, Full> {
        Ok(outcome)
    }

    /// Puts the key into the youngest generation. [`Inserted::New`] says that it was surely not in the window; a key that
    /// was is remembered anew.
    #[inline(always)]
    fn insert_digest(&mut self, digest: Digest) -> Inserted {
        self.insert(&digest)
    }

    #[inline(always)]
    fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Inserted {
        self.isa.run(Set { filter: self, key })
    }

    /// Reads and writes one generation only, since nobody asks whether the keys are new.
    fn insert_from(&mut self, digests: impl Iterator<Item = Digest>) {
        self.isa.run(SetAll { filter: self, digests });
    }
}

impl<O: Store, S: StoreMut> Merge<Window<O>> for Window<S> {
    /// Takes in what the other still remembers at the later of both times. Only windows over time can be merged: inserts
    /// into two windows have no common order.
    fn union(&mut self, other: &Window<O>) -> Result<(), MergeError> {
        self.fits(other)?;
        if self.pace() != Pace::Ticks || other.pace() != Pace::Ticks {
            return Err(MergeError::Order);
        }
        self.advance(other.now());
        let (span, block) = (self.params.span() as usize, self.block_lines());
        let generations = u64::from(self.params.generations());
        let blocks = self.store.lines_mut().chunks_exact_mut(block).zip(other.lines().chunks_exact(block));
        for (number, (to, from)) in (0u64..).zip(blocks) {
            let (ours, theirs) = (self.clock.turns(number), other.clock.turns(number));
            for (generation, (to, from)) in
                (0u64..).zip(to.chunks_exact_mut(span).zip(from.chunks_exact(span)))
            {
                // How many turns ago it was begun: by their count, then by ours, which is ahead.
                let age = (theirs % generations + generations - generation) % generations + (ours - theirs);
                if age < generations {
                    to.iter_mut().zip(from).for_each(|(to, from)| to.or(from));
                }
            }
        }
        Ok(())
    }
}

impl<S: Store, O: Store> PartialEq<Window<O>> for Window<S> {
    /// Same shape, same hasher, same time, same bits.
    fn eq(&self, other: &Window<O>) -> bool {
        self.fits(other).is_ok() && self.clock == other.clock && self.lines() == other.lines()
    }
}

impl<S> fmt::Debug for Window<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Window")
            .field("params", &self.params)
            .field("pace", &self.pace())
            .field("remembers", &self.remembers())
            .field("now", &self.now())
            .field("hasher", &self.hasher)
            .finish_non_exhaustive()
    }
}

impl<K: Key, S: StoreMut> Extend<K> for Window<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        let hasher = self.hasher;
        self.insert_from(keys.into_iter().map(|key| hasher.digest(&key)));
    }
}

struct Covers<'a, S, K: ?Sized> {
    filter: &'a Window<S>,
    key: &'a K,
}

impl<S: Store, K: Key + ?Sized> Task for Covers<'_, S, K> {
    type Output = bool;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> bool {
        let Window { params, windows, hasher, store, .. } = self.filter;
        let digest = hasher.digest(self.key);
        by_span!(params.span(), L => {
            let (parts, _) = store.lines().as_chunks::<L>();
            covers_any(machine, block(parts, params, digest), words(digest), windows)
        })
    }
}

struct Set<'a, S, K: ?Sized> {
    filter: &'a mut Window<S>,
    key: &'a K,
}

impl<S: StoreMut, K: Key + ?Sized> Task for Set<'_, S, K> {
    type Output = Inserted;

    #[inline(always)]
    fn run(self, machine: impl Machine) -> Inserted {
        let Window { params, clock, windows, hasher, store, .. } = self.filter;
        let digest = hasher.digest(self.key);
        if clock.tick() {
            turn(clock, store.lines_mut(), params.span() as usize);
        }
        by_span!(params.span(), L => {
            let (parts, _) = store.lines_mut().as_chunks_mut::<L>();
            let at = block_of(digest, params.blocks() as usize);
            let first = at * params.generations() as usize;
            let block = &mut parts[first..first + params.generations() as usize];
            let words = words(digest);
            let seen = covers_any(machine, block, words, windows);
            set(machine, &mut block[clock.written(at)], words, windows);
            Inserted::from_new(!seen)
        })
    }
}

struct Answer<'a, S, I> {
    filter: &'a Window<S>,
    source: I,
    answers: &'a mut [bool],
}

impl<S: Store, I: Source> Task for Answer<'_, S, I> {
    type Output = ();

    #[inline(always)]
    fn run(self, machine: impl Machine) {
        let Window { params, windows, store, .. } = self.filter;
        by_span!(params.span(), L => {
            let (parts, _) = store.lines().as_chunks::<L>();
            let ahead = Ahead::<64>::of(L * params.generations() as usize, size_of_val(store.lines()));
            let by = Fetch::of(size_of_val(store.lines()));
            self.source.answered(ahead, Answering { machine, windows, params, parts, by }, self.answers);
        });
    }
}

struct Answering<'a, M, const L: usize> {
    machine: M,
    windows: &'a Windows,
    params: &'a WindowParams,
    parts: &'a [[Line; L]],
    by: Fetch,
}

impl<M: Machine, const L: usize> Stages for Answering<'_, M, L> {
    type Item = Digest;
    type Place = Digest;
    type Answer = bool;

    #[inline(always)]
    fn fetch(&mut self, digest: Digest) -> Digest {
        for lines in block(self.parts, self.params, digest) {
            self.by.block(lines);
        }
        digest
    }

    #[inline(always)]
    fn act(&mut self, digest: Digest) -> bool {
        covers_any(self.machine, block(self.parts, self.params, digest), words(digest), self.windows)
    }
}

struct SetAll<'a, S, I> {
    filter: &'a mut Window<S>,
    digests: I,
}

impl<S: StoreMut, I: Iterator<Item = Digest>> Task for SetAll<'_, S, I> {
    type Output = ();

    #[inline(always)]
    fn run(self, machine: impl Machine) {
        let Window { params, clock, windows, store, .. } = self.filter;
        let lines = store.lines_mut();
        let (blocks, generations) = (params.blocks() as usize, params.generations() as usize);
        let by = Fetch::of(size_of_val(lines));
        by_span!(params.span(), L => {
            let mut ring = Ring::<Digest, 128>::new(Ahead::of(L, size_of_val(lines)));
            for digest in self.digests {
                let at = block_of(digest, blocks);
                // Should the block turn before its key is put in, only the fetch was in vain.
                by.block(&lines[(at * generations + clock.written(at)) * L..][..L]);
                if let Some(digest) = ring.push(digest) {
                    put::<L>(machine, clock, lines, params, digest, windows);
                }
            }
            while let Some(digest) = ring.pop() {
                put::<L>(machine, clock, lines, params, digest, windows);
            }
        });
    }
}

/// Puts a key into the youngest generation of its block.
#[inline(always)]
fn put<const L: usize>(
    machine: impl Machine,
    clock: &mut Clock,
    lines: &mut [Line],
    params: &WindowParams,
    digest: Digest,
    windows: &Windows,
) {
    if clock.tick() {
        turn(clock, lines, L);
    }
    let at = block_of(digest, params.blocks() as usize);
    let (parts, _) = lines.as_chunks_mut::<L>();
    set(machine, &mut parts[at * params.generations() as usize + clock.written(at)], words(digest), windows);
}

/// The generations of the block of a key.
#[inline(always)]
fn block<'a, const L: usize>(
    parts: &'a [[Line; L]],
    params: &WindowParams,
    digest: Digest,
) -> &'a [[Line; L]] {
    let generations = params.generations() as usize;
    let first = block_of(digest, params.blocks() as usize) * generations;
    &parts[first..first + generations]
}

/// Whether any generation has all the bits of a key. `|`, not `||`: all lines are on their way.
#[inline(always)]
fn covers_any<const L: usize>(
    machine: impl Machine,
    block: &[[Line; L]],
    words: [u32; L],
    windows: &Windows,
) -> bool {
    let mut any = false;
    for generation in block {
        any |= machine.covers_block(generation, words, windows);
    }
    any
}
