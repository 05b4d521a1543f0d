//! The families by the names of the command line.

/// What `--family` takes.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FamilyName {
    /// What suits most: blocked
    Auto,
    /// One cache line a key; the fastest
    Blocked,
    /// The classic Bloom filter
    Bloom,
    /// Parquet's
    SplitBlock,
    /// Counts keys, which can be removed
    Counting,
    /// Grows with its keys
    Scalable,
    /// Keys can be removed
    Cuckoo,
    /// Built once, small
    Fuse,
    /// Remembers the last --items keys
    Window,
    /// Exact: integers, a bit for each of their range
    Bitmap,
    /// Exact: integers, compressed
    Roaring,
}

impl FamilyName {
    /// Whether it keeps integers themselves and not hashes of keys.
    pub(crate) fn is_exact(self) -> bool {
        matches!(self, Self::Bitmap | Self::Roaring)
    }
}
