//! The guard: a filter behind a lock, the keys that did not fit beside it, and the log of a rebuild.

use super::tally::{Counters, End, Ends, Tally};
use crate::{
    error::{Full, MergeError},
    filter::{Filter, Insert, Inserted, Remove, Removed},
    hash::{Digest, Hasher, Key},
    sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard},
};
use core::{
    fmt, mem,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};
use std::{collections::HashSet, sync::PoisonError};

/// A log of at most so many keys is replayed under the lock.
const LAST_OF_THE_LOG: usize = if cfg!(loom) { 0 } else { 1024 };

/// A log that is still longer after so many rounds grows as fast as it is replayed; then lookups have to wait.
const ROUNDS: usize = 32;

/// One key deleted for so many that the filter was made for is one too many.
const KEYS_A_DELETED: u64 = 10;

/// One key beside the filter for so many that it was made for is one too many: it takes about ten times as much memory.
const KEYS_A_BESIDE: u64 = 16;

/// A filter in front of a dear lookup, shared by many threads.
///
/// ```
/// use gowk::{BlockedBloom, Guard};
/// use std::{collections::HashMap, convert::Infallible, sync::Mutex};
///
/// let store = Mutex::new(HashMap::new());                     // think of a database
/// let guard = Guard::new(BlockedBloom::builder().items(1_000).build()?);
///
/// store.lock().unwrap().insert("gowk".to_string(), 7);        // first the store,
/// guard.insert("gowk");                                       // then the guard
///
/// let get = |key: &str| Ok::<_, Infallible>(store.lock().unwrap().get(key).copied());
/// assert_eq!(guard.lookup("gowk", get), Ok(Some(7)));
/// assert_eq!(guard.lookup("cuckoo", get), Ok(None));          // the store was not asked
/// println!("{}", guard.stats());
///
/// if guard.needs_rebuild() {
///     guard.rebuild(|hasher| {
///         let keys: Vec<String> = store.lock().unwrap().keys().cloned().collect();
///         let mut filter = BlockedBloom::builder().items(1_000).hasher(hasher).build()?;
///         filter.insert_many(&keys);
///         Ok::<_, gowk::ParamsError>(filter)
///     })?;
/// }
/// # use gowk::Insert;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Guard<F> {
    /// That of every filter this guard will have, so that no lock is held while keys are hashed, and a log of digests will do.
    hasher: Hasher,
    /// How a filter takes a key; one that takes none is always full.
    put: fn(&mut F, Digest) -> Result<Inserted, Full>,
    state: RwLock<State<F>>,
    counters: Counters,
    /// Deleted keys whose traces are in the filter.
    deleted: AtomicU64,
    /// Held by a rebuild, so that there is one at a time.
    rebuilding: Mutex<()>,
}

struct State<F> {
    inside: Inside<F>,
    /// The keys inserted since a rebuild began, if one is under way.
    log: Option<Vec<Digest>>,
    /// The counters when this filter came.
    start: Ends,
}

/// All keys of the set: what the filter took, and what it did not.
struct Inside<F> {
    filter: F,
    beside: HashSet<Digest>,
    items: u64,
    fpp: f64,
}

impl<F: Filter> Inside<F> {
    fn new(filter: F) -> Self {
        let stats = filter.stats();
        Self { filter, beside: HashSet::new(), items: stats.items, fpp: stats.fpp }
    }

    #[inline]
    fn may_contain(&self, digest: Digest) -> bool {
        self.filter.may_contain_digest(digest) || self.is_beside(digest)
    }

    #[inline]
    fn is_beside(&self, digest: Digest) -> bool {
        !self.beside.is_empty() && self.beside.contains(&digest)
    }

    fn put(&mut self, digest: Digest, put: fn(&mut F, Digest) -> Result<Inserted, Full>) -> Inserted {
        put(&mut self.filter, digest).unwrap_or_else(|Full { .. }| {
            // Asked in this order, so that a false positive of the filter is kept beside it as well: a later remove of the
            // key that it was mistaken for must not take it along.
            let seen = self.filter.may_contain_digest(digest);
            Inserted::from_new(self.beside.insert(digest) && !seen)
        })
    }
}

impl<F: Insert> Guard<F> {
    /// A guard whose filter takes new keys. The filter has all keys of the store, and is read whole once.
    pub fn new(filter: F) -> Self {
        Self::over(filter, |filter, digest| F::settled(filter.insert_digest(digest)))
    }
}

impl<F: Filter> Guard<F> {
    /// A guard with a filter that takes no keys: built once, mapped from a file, or [of any kind](crate::AnyFilter). New
    /// keys are kept beside it, exactly, until the next rebuild.
    ///
    /// ```
    /// use gowk::{AnyFilter, BlockedBloom, Guard, Insert, Persist};
    ///
    /// let mut built = BlockedBloom::builder().items(100).build()?;
    /// built.insert("yesterday");
    /// let guard = Guard::fixed(AnyFilter::from_bytes(&built.to_bytes())?);
    /// guard.insert("today");
    /// assert!(guard.ask("yesterday").is_some() && guard.ask("today").is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fixed(filter: F) -> Self {
        Self::over(filter, |_, _| Err(Full { items: 0, capacity: 0 }))
    }

    fn over(filter: F, put: fn(&mut F, Digest) -> Result<Inserted, Full>) -> Self {
        Self {
            hasher: *filter.hasher(),
            put,
            state: RwLock::new(State { inside: Inside::new(filter), log: None, start: Ends::default() }),
            counters: Counters::default(),
            deleted: AtomicU64::new(0),
            rebuilding: Mutex::new(()),
        }
    }

    /// How keys are hashed, by this filter and all that will follow it.
    pub fn hasher(&self) -> &Hasher {
        &self.hasher
    }

    /// The value of a key: nothing if the filter says that it is surely not there, else what `dear` finds.
    #[inline]
    pub fn lookup<K, V, E>(
        &self,
        key: &K,
        dear: impl FnOnce(&K) -> Result<Option<V>, E>,
    ) -> Result<Option<V>, E>
    where
        K: Key + ?Sized,
    {
        let Some(pass) = self.ask(key) else { return Ok(None) };
        // An error, and a panic, drop the pass, which then counts as failed.
        let value = dear(key)?;
        pass.settle(value.is_some());
        Ok(value)
    }

    /// Whether the dear lookup of a key is worth making; for those that do not fit into a closure, as asynchronous ones.
    ///
    /// ```
    /// # use gowk::{BlockedBloom, Guard};
    /// # let guard = Guard::new(BlockedBloom::builder().items(100).build()?);
    /// # fn get(_: &str) -> Option<u64> { None }
    /// let value = match guard.ask("gowk") {
    ///     None => None,                       // surely not there
    ///     Some(pass) => {
    ///         let value = get("gowk");        // or .await
    ///         pass.settle(value.is_some());
    ///         value
    ///     }
    /// };
    /// # assert!(value.is_none());
    /// # Ok::<(), gowk::ParamsError>(())
    /// ```
    #[inline]
    pub fn ask<K: Key + ?Sized>(&self, key: &K) -> Option<Pass<'_>> {
        let digest = self.hasher.digest(key);
        if self.read().inside.may_contain(digest) {
            Some(Pass { counters: &self.counters, end: End::Failed })
        } else {
            self.counters.count(End::Stopped);
            None
        }
    }

    /// Lets a key pass from now on. To be called when the store has it, and before anyone else is told: see the
    /// [module page](super).
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> Inserted {
        let digest = self.hasher.digest(key);
        let mut state = self.write();
        if let Some(log) = &mut state.log {
            log.push(digest);
        }
        state.inside.put(digest, self.put)
    }

    /// Tells that a key was deleted from the store. The filter keeps its trace until the next rebuild, and
    /// [`needs_rebuild`](Self::needs_rebuild) counts it.
    pub fn forget(&self) {
        self.deleted.fetch_add(1, Relaxed);
    }

    /// What has come since the guard was made.
    pub fn stats(&self) -> Tally {
        self.counters.ends().since(Ends::default(), self.read().inside.fpp)
    }

    /// What has come since the last rebuild.
    pub fn stats_since_rebuild(&self) -> Tally {
        let (start, fpp) = {
            let state = self.read();
            (state.start, state.inside.fpp)
        };
        // Counters only grow, and are read after the start was.
        self.counters.ends().since(start, fpp)
    }

    /// Looks at the filter: its own stats, its size, a copy to save. Inserts and the swap of a rebuild wait meanwhile.
    pub fn with_filter<T>(&self, look: impl FnOnce(&F) -> T) -> T {
        look(&self.read().inside.filter)
    }

    /// Whether a new filter would be notably better than this one.
    pub fn needs_rebuild(&self) -> bool {
        self.stale().is_some()
    }

    /// What is wrong with the filter, if it should be rebuilt:
    ///
    /// - a tenth as many keys were deleted as it was made for;
    /// - a sixteenth as many had to be kept beside it;
    /// - since the last rebuild twice as many lookups went in vain as promised, beyond what chance may do. The last is a
    ///   guess where deletes are not reported. It assumes that different keys are asked for: one false positive that is asked
    ///   for all the time raises it as well, and stays with a rebuild of the same size and seed.
    pub fn stale(&self) -> Option<Stale> {
        let (items, beside) = {
            let inside = &self.read().inside;
            (inside.items, inside.beside.len() as u64)
        };
        let deleted = self.deleted.load(Relaxed);
        let tally = self.stats_since_rebuild();
        let due = tally.absent() as f64 * tally.fpp;
        match () {
            () if deleted > 0 && deleted >= items / KEYS_A_DELETED => Some(Stale::Deleted { deleted, items }),
            () if beside > 0 && beside >= items / KEYS_A_BESIDE => Some(Stale::Beside { beside, items }),
            () if tally.in_vain as f64 > 2.0 * due + 6.0 * libm::sqrt(due) + 6.0 => {
                Some(Stale::InVain { measured: tally.fpp_measured(), promised: tally.fpp })
            }
            () => None,
        }
    }

    /// Replaces the filter by a new one, built from the keys of the store while lookups and inserts go on. Waits for another
    /// rebuild to end.
    ///
    /// `build` must hash as the guard does, as it is told; and must put in every key that the store had when it was called. Of
    /// keys that come or go later it may see either. On an error the old filter stays.
    pub fn rebuild<E>(&self, build: impl FnOnce(&Hasher) -> Result<F, E>) -> Result<(), RebuildError<E>> {
        // The lock guards no data; a build that panicked has left nothing behind.
        let _one = self.rebuilding.lock().unwrap_or_else(PoisonError::into_inner);
        let log = Log::open(self);
        let deleted = self.deleted.load(Relaxed);
        let filter = build(&self.hasher).map_err(RebuildError::Build)?;
        self.hasher.fits(filter.hasher()).map_err(RebuildError::Hasher)?;
        let mut new = Inside::new(filter);
        for _ in 0..ROUNDS {
            match log.take_long() {
                Some(digests) => digests.into_iter().for_each(|digest| {
                    new.put(digest, self.put);
                }),
                None => break,
            }
        }
        let mut state = self.write();
        for digest in state.log.take().into_iter().flatten() {
            new.put(digest, self.put);
        }
        state.start = self.counters.ends();
        let old = mem::replace(&mut state.inside, new);
        drop(state);
        // Those deleted since may still be in it. Only rebuilds lower the count.
        self.deleted.fetch_sub(deleted, Relaxed);
        // Giving back a large filter takes its time, and nobody should wait for it.
        drop(old);
        Ok(())
    }

    // A filter that panicked while it was changed may deny a key; a poisoned lock says so to all.
    fn read(&self) -> RwLockReadGuard<'_, State<F>> {
        self.state.read().expect("the filter of this guard panicked in the middle of an insert")
    }

    fn write(&self) -> RwLockWriteGuard<'_, State<F>> {
        self.state.write().expect("the filter of this guard panicked in the middle of an insert")
    }
}

impl<F: Remove> Guard<F> {
    /// Takes a key out of the filter. To be called *before* the key is deleted from the store, and only for a key that is
    /// there: see the [module page](super) and [`Remove`].
    pub fn remove<K: Key + ?Sized>(&self, key: &K) -> Removed {
        let digest = self.hasher.digest(key);
        let mut state = self.write();
        // A rebuild under way may read the key before it is deleted, and a removal from the new filter is safe only for what
        // is surely in it. So the log knows no removals; nor is a key that is beside the filter taken out of either.
        if state.log.is_some() || state.inside.is_beside(digest) {
            self.forget();
        }
        match state.inside.is_beside(digest) {
            true => Removed::Gone,
            false => state.inside.filter.remove_digest(digest),
        }
    }
}

impl<F: fmt::Debug> fmt::Debug for Guard<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut guard = f.debug_struct("Guard");
        // A look at it must neither wait nor panic.
        if let Ok(state) = self.state.try_read() {
            guard.field("filter", &state.inside.filter).field("beside", &state.inside.beside.len());
        }
        guard.field("deleted", &self.deleted).finish_non_exhaustive()
    }
}

/// The log of a rebuild, closed when the rebuild ends, however it does.
struct Log<'a, F: Filter>(&'a Guard<F>);

impl<'a, F: Filter> Log<'a, F> {
    fn open(guard: &'a Guard<F>) -> Self {
        guard.write().log = Some(Vec::new());
        Self(guard)
    }

    /// What is in the log, if that is much.
    fn take_long(&self) -> Option<Vec<Digest>> {
        let mut state = self.0.write();
        state.log.as_mut().filter(|log| log.len() > LAST_OF_THE_LOG).map(mem::take)
    }
}

impl<F: Filter> Drop for Log<'_, F> {
    fn drop(&mut self) {
        // Where the lock is poisoned all is lost anyway; a second panic would end the process.
        if let Ok(mut state) = self.0.state.write() {
            state.log = None;
        }
    }
}

/// Leave to make a dear lookup. Dropped without a word, it counts as failed.
#[must_use = "settle it, so that the guard learns whether the lookup was in vain"]
pub struct Pass<'a> {
    counters: &'a Counters,
    end: End,
}

impl Pass<'_> {
    /// Tells whether the key was there.
    #[inline]
    pub fn settle(mut self, found: bool) {
        self.end = if found { End::Found } else { End::Vain };
    }
}

impl Drop for Pass<'_> {
    #[inline]
    fn drop(&mut self) {
        self.counters.count(self.end);
    }
}

impl fmt::Debug for Pass<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pass").finish_non_exhaustive()
    }
}

/// Why a filter should be rebuilt.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Stale {
    /// Many of its keys are no longer in the store.
    Deleted {
        /// How many.
        deleted: u64,
        /// The keys it was made for.
        items: u64,
    },
    /// Many keys found no place in it.
    Beside {
        /// How many.
        beside: u64,
        /// The keys it was made for.
        items: u64,
    },
    /// Many lookups pass in vain.
    InVain {
        /// The part of the absent keys that passed.
        measured: f64,
        /// The part that was promised.
        promised: f64,
    },
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Deleted { deleted, items } => {
                write!(f, "{deleted} keys were deleted, of {items} that the filter was made for")
            }
            Self::Beside { beside, items } => {
                write!(
                    f,
                    "{beside} keys found no place in the filter, which was made for {items}; make it larger"
                )
            }
            Self::InVain { measured, promised } => write!(
                f,
                "{:.3} % of the absent keys passed, {:.3} % were promised",
                100.0 * measured,
                100.0 * promised
            ),
        }
    }
}

/// A rebuild that did not happen; the guard goes on with the filter it had.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum RebuildError<E> {
    /// The new filter could not be built.
    Build(E),
    /// The new filter hashes otherwise, so that keys inserted meanwhile could not be brought over.
    Hasher(MergeError),
}

impl<E: fmt::Display> fmt::Display for RebuildError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(error) => write!(f, "the new filter could not be built: {error}"),
            Self::Hasher(error) => {
                write!(f, "the new filter must have the hasher that `build` is given: {error}")
            }
        }
    }
}

impl<E: core::error::Error + 'static> core::error::Error for RebuildError<E> {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Build(error) => Some(error),
            Self::Hasher(error) => Some(error),
        }
    }
}
