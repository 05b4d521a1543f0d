//! What filters can do, one trait an ability. A family implements just those that it truly has: there is no `insert` to
//! call on a filter that is built once.

use crate::{
    bulk::{Keys, Source},
    error::{Full, MergeError},
    hash::{Digest, Hasher, Key},
    stats::Stats,
};
use alloc::{vec, vec::Vec};

/// Answers "is it in the set?" with *surely not* or *maybe*.
///
/// ```
/// use gowk::{BlockedBloom, Filter, Insert};
///
/// let mut seen = BlockedBloom::builder().items(1_000).fpp(0.01).build()?;
/// seen.insert("10.0.0.1");
/// assert!(seen.may_contain("10.0.0.1"));          // a key that was inserted is never denied
/// assert!(!seen.may_contain(&3_232_235_777u64));  // 99 of 100 others are
/// # Ok::<(), gowk::ParamsError>(())
/// ```
pub trait Filter {
    /// How this filter hashes keys.
    fn hasher(&self) -> &Hasher;

    /// Whether the key of this digest may be in the set. `false` is certain.
    fn may_contain_digest(&self, digest: Digest) -> bool;

    /// Answers digests in bulk, fetching memory ahead. Stops at the end of the shorter side.
    fn answer(&self, digests: impl Iterator<Item = Digest>, answers: &mut [bool]) {
        for (answer, digest) in answers.iter_mut().zip(digests) {
            *answer = self.may_contain_digest(digest);
        }
    }

    /// As [`answer`](Self::answer), by the loop that suits where the digests come from.
    #[doc(hidden)]
    fn answer_source(&self, source: impl Source, answers: &mut [bool]) {
        self.answer(source.digests(), answers);
    }

    /// What the filter holds and how well. Reads the whole filter.
    fn stats(&self) -> Stats;

    /// The memory that the bits take.
    fn size_in_bytes(&self) -> usize;

    /// Whether the key may be in the set. `false` is certain.
    #[inline(always)]
    fn may_contain<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.may_contain_digest(self.hasher().digest(key))
    }

    /// Whether each of these keys (or [`Digest`]s) may be in the set. Several times faster than asking one by one, once the filter is
    /// larger than the cache.
    fn may_contain_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        let mut answers = vec![false; keys.len()];
        self.may_contain_many_into(keys, &mut answers);
        answers
    }

    /// As [`may_contain_many`](Self::may_contain_many), into memory of the caller.
    ///
    /// # Panics
    /// If there are not as many answers as keys.
    fn may_contain_many_into<K: Key>(&self, keys: &[K], answers: &mut [bool]) {
        assert_eq!(keys.len(), answers.len(), "one answer for each key");
        let hasher = *self.hasher();
        // Asked once, not for each key.
        match hasher.as_rapid() {
            Some(hash) => self.answer_source(Keys::new(keys, *hash), answers),
            None => self.answer(keys.iter().map(|key| key.digest(&hasher)), answers),
        }
    }
}

/// What an insert found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// The key was surely not there before.
    New,
    /// The key may have been there before: it was, or it is a false positive.
    MaybeSeen,
}

impl Inserted {
    #[inline(always)]
    pub(crate) fn from_new(new: bool) -> Self {
        if new { Self::New } else { Self::MaybeSeen }
    }
}

/// Takes keys one by one.
pub trait Insert: Filter {
    /// What an insert gives: the thing itself where it cannot fail (Bloom), a `Result<_, Full>` where it can (cuckoo).
    type Outcome<T>;

    /// The outcome as a `Result`, for code that works with every family.
    fn settled<T>(outcome: Self::Outcome<T>) -> Result<T, Full>;

    /// Puts the key of this digest into the set.
    fn insert_digest(&mut self, digest: Digest) -> Self::Outcome<Inserted>;

    /// Puts them all in, fetching memory ahead. Where one does not fit, those before it are in and the rest are not.
    fn insert_from(&mut self, digests: impl Iterator<Item = Digest>) -> Self::Outcome<()>;

    /// As [`insert_from`](Self::insert_from), by the loop that suits where the digests come from.
    #[doc(hidden)]
    fn insert_source(&mut self, source: impl Source) -> Self::Outcome<()> {
        self.insert_from(source.digests())
    }

    /// Puts a key into the set.
    ///
    /// ```
    /// use gowk::{BlockedBloom, Insert, Inserted};
    ///
    /// let mut seen = BlockedBloom::builder().items(100).fpp(0.001).seed(1).build()?;
    /// assert_eq!(seen.insert("gowk"), Inserted::New);
    /// assert_eq!(seen.insert("gowk"), Inserted::MaybeSeen);
    /// # Ok::<(), gowk::ParamsError>(())
    /// ```
    #[inline(always)]
    fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Self::Outcome<Inserted> {
        let digest = self.hasher().digest(key);
        self.insert_digest(digest)
    }

    /// Puts many keys (or [`Digest`]s) into the set; several times faster than one by one, once the filter is larger than the cache.
    fn insert_many<K: Key>(&mut self, keys: &[K]) -> Self::Outcome<()> {
        let hasher = *self.hasher();
        match hasher.as_rapid() {
            Some(hash) => self.insert_source(Keys::new(keys, *hash)),
            None => self.insert_from(keys.iter().map(|key| key.digest(&hasher))),
        }
    }
}

/// What a remove found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// A trace of the key was there and is gone.
    Gone,
    /// The key was surely not there; nothing has changed.
    Absent,
}

/// Takes keys out again.
///
/// Only remove what was inserted. A filter keeps traces of keys, not keys: removing one that was never there may take away
/// the trace that another key shares with it, and that other key is then denied.
pub trait Remove: Insert {
    /// Takes the key of this digest out of the set.
    fn remove_digest(&mut self, digest: Digest) -> Removed;

    /// Takes a key out of the set.
    #[inline(always)]
    fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Removed {
        let digest = self.hasher().digest(key);
        self.remove_digest(digest)
    }
}

/// Becomes the union with another filter of its kind.
pub trait Merge<Other: ?Sized = Self> {
    /// Takes in all keys of the other. On an error nothing has changed, and the error names what differs.
    fn union(&mut self, other: &Other) -> Result<(), MergeError>;
}
