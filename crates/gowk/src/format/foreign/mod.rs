//! Filters that other systems have: read, asked as their makers would, changed, and written so that the makers read them back.
//!
//! | module | files | hash | in place from a map |
//! |---|---|---|---|
//! | [`guava`](super::guava) | `BloomFilter.writeTo` | MurmurHash3 x64 128 | yes |
//! | [`spark`](super::spark) | `org.apache.spark.util.sketch.BloomFilter`, V1 and V2 | Murmur3 x86 32, Spark's tail | yes |
//! | [`dcso`](super::dcso) | DCSO and hashlookup `.bloom`, also gzipped | FNV-1 | yes |
//! | [`redisbloom`](super::redisbloom) | `BF.SCANDUMP` and `CF.SCANDUMP` chunks | MurmurHash64A | no: a filter lies in pieces |
//! | [`parquet`](super::parquet) | split-block filters, bare or in a Parquet file | XXH64 | no |
//! | [`leveldb`](super::leveldb) | filters of LevelDB's policy, as they stand in its tables | LevelDB's own | yes |
//! | [`roaring`](super::roaring) | sets of integers, 32 and 64 bits | none | no |
//!
//! They are [`Filter`](crate::Filter)s like gowk's own. [`Foreign`] is any of them, known when its file is opened. What their makers do not
//! promise they do not have: their hashes are public, so whoever chooses the keys can choose the false positives.
//!
//! Bits of one hash cannot become bits of another: a filter keeps no keys. To go from one system to another take the keys.

pub mod bloom;
#[cfg(feature = "std")]
mod disk;
pub mod error;
pub(crate) mod fields;
pub mod file;
pub mod keys;
pub mod modulus;
pub(crate) mod sizing;

#[cfg(feature = "std")]
mod any;

#[cfg(feature = "std")]
pub use any::{FileBytes, Foreign};
pub use bloom::ForeignBloom;
pub use error::ForeignError;

use bloom::Walk;
use core::fmt;

/// The formats of other systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// [`guava`](super::guava)
    Guava,
    /// [`spark`](super::spark)
    Spark,
    /// [`dcso`](super::dcso)
    Dcso,
    /// [`redisbloom::RedisBloom`](super::redisbloom::RedisBloom)
    RedisBloom,
    /// [`redisbloom::RedisCuckoo`](super::redisbloom::RedisCuckoo)
    RedisCuckoo,
    /// [`parquet`](super::parquet)
    Parquet,
    /// [`leveldb`](super::leveldb)
    LevelDb,
    /// [`roaring`](super::roaring)
    Roaring,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Guava,
        Self::Spark,
        Self::Dcso,
        Self::RedisBloom,
        Self::RedisCuckoo,
        Self::Parquet,
        Self::LevelDb,
        Self::Roaring,
    ];

    /// The name under which humans meet it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Guava => "Guava",
            Self::Spark => "Spark",
            Self::Dcso => "DCSO",
            Self::RedisBloom => "RedisBloom",
            Self::RedisCuckoo => "RedisBloom cuckoo",
            Self::Parquet => "Parquet",
            Self::LevelDb => "LevelDB",
            Self::Roaring => "Roaring",
        }
    }

    /// Whether its files say for how many keys and at what rate a filter was made. Of others the [`Stats`](crate::Stats) tell what the
    /// bits and the probes are best for.
    pub fn says_promise(self) -> bool {
        matches!(self, Self::Dcso | Self::RedisBloom)
    }

    /// The format of a file that begins with these bytes and has `len` in all, where it can be told: by a magic number, or by a
    /// head that fits the length to the byte. `bytes` should be the first 64 KiB, or all if there are fewer.
    pub fn sniff(bytes: &[u8], len: u64) -> Option<Self> {
        use super::{dcso::Dcso, guava::Guava, parquet, redisbloom, roaring, spark::Spark};
        let fits = |format: Self| match format {
            Self::Guava => file::fits::<Guava>(bytes, len),
            Self::Spark => file::fits::<Spark>(bytes, len),
            // Of the formats here only DCSO's files are given out gzipped.
            #[cfg(feature = "gzip")]
            Self::Dcso if bytes.starts_with(&any::GZIP) => any::gunzip_head(bytes).is_ok(),
            Self::Dcso => file::fits::<Dcso>(bytes, len),
            Self::RedisBloom => redisbloom::looks_like_bloom(bytes),
            Self::RedisCuckoo => redisbloom::looks_like_cuckoo(bytes),
            Self::Parquet => parquet::looks_like(bytes, len),
            // Bits and one number: anything could be it.
            Self::LevelDb => false,
            Self::Roaring => roaring::looks_like(bytes, len),
        };
        // RedisBloom before DCSO, of whose head a part is free.
        [
            Self::Parquet,
            Self::RedisBloom,
            Self::RedisCuckoo,
            Self::Roaring,
            Self::Guava,
            Self::Spark,
            Self::Dcso,
        ]
        .into_iter()
        .find(|format| fits(*format))
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One step in 32 bits, as Java's `int` takes it: x + y, and where that is negative it is asked flipped.
#[inline(always)]
pub(crate) fn step32(walk: &mut Walk) -> u64 {
    let x = (walk.x as i32).wrapping_add(walk.y as i32);
    walk.x = u64::from(x.cast_unsigned());
    u64::from((x ^ (x >> 31)).cast_unsigned())
}
