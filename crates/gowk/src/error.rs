//! What can go wrong, one enum per boundary: asking for a filter, merging two, inserting into a full one. Files have
//! theirs in [`crate::format`].

use core::fmt;

/// A filter that cannot be built as asked.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ParamsError {
    /// No keys were promised.
    NoItems,
    /// The rate is not a probability that a filter could keep.
    Fpp {
        /// What was asked for.
        asked: f64,
    },
    /// The rate is below what 64 bits of hash can tell apart.
    FppTooSmall {
        /// What was asked for.
        asked: f64,
        /// The smallest rate on offer.
        least: f64,
    },
    /// The filter would not fit into the address space.
    TooLarge {
        /// What it would take.
        bytes: u128,
    },
    /// The system did not give the memory.
    OutOfMemory {
        /// What was asked for.
        bytes: u64,
    },
    /// A parameter outside its range.
    OutOfRange {
        /// Its name.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The least it may be.
        least: u64,
        /// The most it may be.
        most: u64,
    },
    /// A parameter that is not a multiple of what it must be.
    Granule {
        /// Its name.
        what: &'static str,
        /// Its value.
        value: u64,
        /// What it must be a multiple of.
        granule: u64,
    },
    /// A filter can only be folded by a factor that divides its blocks.
    Fold {
        /// The blocks it has.
        blocks: u64,
        /// The factor asked for.
        factor: u64,
    },
    /// The builder was not told how many keys to expect.
    Unsized,
    /// Without the standard library there is no randomness to draw a seed from.
    NoSeed,
    /// No attempt to place all keys has come to an end.
    Stuck {
        /// How many there were.
        attempts: u32,
    },
}

impl fmt::Display for ParamsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoItems => f.write_str("a filter for 0 items has no size; ask for at least 1"),
            Self::Fpp { asked } => {
                write!(f, "false-positive rate {asked} is not between 0 and 1; 0.01 stands for 1 %")
            }
            Self::FppTooSmall { asked, least } => write!(
                f,
                "false-positive rate {asked:e} is below {least:e}, the least a 64-bit hash can keep; ask for more, or use an exact set"
            ),
            Self::TooLarge { bytes } => write!(
                f,
                "the filter would take {bytes} bytes, more than this machine can address; lower the items or raise the rate"
            ),
            Self::OutOfMemory { bytes } => {
                write!(f, "no memory for a filter of {bytes} bytes; lower the items or raise the rate")
            }
            Self::OutOfRange { what, value, least, most } => {
                write!(f, "{what} is {value}, but must be from {least} to {most}")
            }
            Self::Granule { what, value, granule } => {
                write!(f, "{what} is {value}, but must be a multiple of {granule}, and not 0")
            }
            Self::Fold { blocks, factor } => {
                write!(
                    f,
                    "a filter of {blocks} blocks cannot be folded by {factor}, which does not divide {blocks}"
                )
            }
            Self::Unsized => f.write_str("say how many keys to expect, with items(n)"),
            Self::NoSeed => {
                f.write_str("there is no system to draw a random seed from; give one with seed(n)")
            }
            Self::Stuck { attempts } => write!(
                f,
                "the keys found no places in {attempts} attempts, which well-mixed digests do in one or two; hand in keys, or digests of a good hash"
            ),
        }
    }
}

impl core::error::Error for ParamsError {}

/// Two filters that do not fit each other, and in what they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeError {
    /// They hash differently.
    Hash {
        /// The hash of the filter merged into.
        ours: &'static str,
        /// The hash of the other.
        theirs: &'static str,
    },
    /// They have the same hash under different seeds.
    Seed,
    /// A parameter differs.
    Params {
        /// Its name.
        what: &'static str,
        /// In the filter merged into.
        ours: u64,
        /// In the other.
        theirs: u64,
    },
    /// Neither size is a multiple of the other, so none can be folded down to the other.
    Sizes {
        /// Blocks of the filter merged into.
        ours: u64,
        /// Blocks of the other.
        theirs: u64,
    },
    /// They are windows over the last inserts, and nobody knows whose came last.
    Order,
    /// They are of different families.
    Family {
        /// The family of the filter merged into.
        ours: &'static str,
        /// The family of the other.
        theirs: &'static str,
    },
    /// Filters of this kind cannot be merged at all.
    Never {
        /// The kind.
        family: &'static str,
    },
    /// The other holds an id that this one has no place for.
    OutOfRange(OutOfRange),
    /// There is no room for the keys of both.
    Full(Full),
}

impl MergeError {
    /// An error if a parameter differs.
    pub(crate) fn unless_same(what: &'static str, ours: u64, theirs: u64) -> Result<(), Self> {
        if ours == theirs { Ok(()) } else { Err(Self::Params { what, ours, theirs }) }
    }
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Hash { ours, theirs } => {
                write!(f, "the filters hash differently ({ours} and {theirs}); build both with the same hash")
            }
            Self::Seed => {
                f.write_str("the filters have different seeds, so their bits mean different keys; build both with the same seed")
            }
            Self::Params { what, ours, theirs } => {
                write!(f, "the filters differ in {what}: {ours} and {theirs}; build both with the same parameters")
            }
            Self::Sizes { ours, theirs } => write!(
                f,
                "neither of {ours} and {theirs} blocks is a multiple of the other, so the larger filter cannot be folded to the smaller; build both for the same number of items"
            ),
            Self::Order => {
                f.write_str("windows over the last inserts have no common order of inserts; merge windows over time")
            }
            Self::Family { ours, theirs } => write!(f, "a {theirs} filter cannot be merged into a {ours} filter"),
            Self::Never { family } => write!(
                f,
                "{family} filters cannot be merged, as they keep too little of their keys; insert the keys of both into one"
            ),
            Self::OutOfRange(OutOfRange { id, start, end }) => write!(
                f,
                "the other set holds {id}, which is not among the ids {start}..{end} of this one; make this one for a range that covers both"
            ),
            Self::Full(full) => full.fmt(f),
        }
    }
}

impl core::error::Error for MergeError {}

/// The filter has no place for the key, and is as it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full {
    /// The keys it holds.
    pub items: u64,
    /// The keys it was made for.
    pub capacity: u64,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the filter is full: it holds {} keys and was made for {}; grow it, or build a larger one",
            self.items, self.capacity
        )
    }
}

impl core::error::Error for Full {}

/// An id that the set was not made for; the set is as it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfRange {
    /// The id.
    pub id: u64,
    /// The first id that the set has a place for.
    pub start: u64,
    /// The first id after the last one.
    pub end: u64,
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, start, end } = self;
        write!(
            f,
            "{id} is not among the ids {start}..{end} that the set was made for; make it for a wider range"
        )
    }
}

impl core::error::Error for OutOfRange {}
