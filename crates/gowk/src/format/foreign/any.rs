//! A filter of another system whose format is only known when its file is opened.

use super::{
    ForeignError, Format,
    keys::{Number, NumberForm},
};
use crate::{
    error::{Full, MergeError},
    filter::{Filter, Insert, Merge},
    format::{
        dcso::DcsoBloom,
        file::replace,
        guava::GuavaBloom,
        leveldb::LevelDbBloom,
        parquet::{self, ColumnFilters, Physical},
        redisbloom::{RedisBloom, RedisCuckoo},
        spark::SparkBloom,
    },
    hash::{Digest, Hasher, Key},
    stats::Stats,
    store::MappedBytes,
};
use std::{fs::File, io, path::Path};

/// Bytes of a file, mapped or read.
#[derive(Clone, Debug)]
pub enum FileBytes {
    /// In memory of their own.
    Heap(Vec<u8>),
    /// In the file.
    Mapped(MappedBytes),
}

impl AsRef<[u8]> for FileBytes {
    #[inline(always)]
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Heap(bytes) => bytes,
            Self::Mapped(bytes) => bytes.as_ref(),
        }
    }
}

impl AsMut<[u8]> for FileBytes {
    /// The bytes to write; those of a file are first copied.
    fn as_mut(&mut self) -> &mut [u8] {
        if let Self::Mapped(bytes) = self {
            *self = Self::Heap(bytes.as_ref().to_vec());
        }
        match self {
            Self::Heap(bytes) => bytes,
            Self::Mapped(_) => unreachable!("copied above"),
        }
    }
}

/// A filter of any other system.
///
/// ```
/// use gowk::{Filter, Insert, format::{foreign::{Foreign, Format}, guava::GuavaBloom}};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("seen.bin");
/// let mut seen = GuavaBloom::create(100, 0.01)?;
/// seen.insert("heron");
/// seen.save(&path)?;
///
/// let any = Foreign::open(&path)?;                        // told by its bytes, and mapped
/// assert_eq!(any.format(), Format::Guava);
/// assert!(any.may_contain("heron"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Foreign {
    /// Guava's.
    Guava(GuavaBloom<FileBytes>),
    /// Spark's.
    Spark(SparkBloom<FileBytes>),
    /// DCSO's.
    Dcso(DcsoBloom<FileBytes>),
    /// RedisBloom's `BF`.
    RedisBloom(RedisBloom),
    /// RedisBloom's `CF`.
    RedisCuckoo(RedisCuckoo),
    /// Parquet's.
    Parquet(ColumnFilters),
    /// LevelDB's.
    LevelDb(LevelDbBloom<FileBytes>),
}

/// Does the same with whatever filter it is.
macro_rules! each {
    ($any:expr, $filter:ident => $call:expr) => {
        match $any {
            Foreign::Guava($filter) => $call,
            Foreign::Spark($filter) => $call,
            Foreign::Dcso($filter) => $call,
            Foreign::RedisBloom($filter) => $call,
            Foreign::RedisCuckoo($filter) => $call,
            Foreign::Parquet($filter) => $call,
            Foreign::LevelDb($filter) => $call,
        }
    };
}

impl Foreign {
    /// The form in which the maker of this filter hashes numbers of a type.
    pub fn number_form(&self, number: Number) -> NumberForm {
        match (self, number) {
            (Self::RedisBloom(_) | Self::RedisCuckoo(_), Number::F64) => NumberForm::Fraction,
            (Self::RedisBloom(_) | Self::RedisCuckoo(_), Number::U64) => NumberForm::Unsigned,
            (Self::RedisBloom(_) | Self::RedisCuckoo(_), _) => NumberForm::Signed,
            (Self::Parquet(filters), Number::F64) if filters.physical() == Physical::Float => {
                NumberForm::Float
            }
            (Self::Guava(_) | Self::Parquet(_), Number::I32) => NumberForm::Four,
            _ => NumberForm::Eight,
        }
    }

    /// The filter in a file whose format its bytes tell.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ForeignError> {
        let bytes = MappedBytes::map(&File::open(path)?)?;
        let format =
            Format::sniff(bytes.as_ref(), bytes.as_ref().len() as u64).ok_or(ForeignError::Unknown)?;
        Self::of_map(&bytes, format, None)
    }

    /// The filter in a file of this format; of a Parquet file, that of the column, which need not be named if only one has a filter.
    pub fn open_as(
        path: impl AsRef<Path>,
        format: Format,
        column: Option<&str>,
    ) -> Result<Self, ForeignError> {
        Self::of_map(&MappedBytes::map(&File::open(path)?)?, format, column)
    }

    fn of_map(map: &MappedBytes, format: Format, column: Option<&str>) -> Result<Self, ForeignError> {
        let bytes = map.as_ref();
        Ok(match format {
            Format::Guava => Self::Guava(GuavaBloom::of_map(map)?.map_bytes(FileBytes::Mapped)),
            Format::Spark => Self::Spark(SparkBloom::of_map(map)?.map_bytes(FileBytes::Mapped)),
            Format::Dcso if bytes.starts_with(&GZIP) => Self::Dcso(gunzip(bytes)?.map_bytes(FileBytes::Heap)),
            Format::Dcso => Self::Dcso(DcsoBloom::of_map(map)?.map_bytes(FileBytes::Mapped)),
            Format::RedisBloom => Self::RedisBloom(RedisBloom::from_bytes(bytes)?),
            Format::RedisCuckoo => Self::RedisCuckoo(RedisCuckoo::from_bytes(bytes)?),
            #[cfg(feature = "parquet")]
            Format::Parquet if bytes.starts_with(parquet::MAGIC) => {
                Self::Parquet(parquet::read_column(bytes, column)?)
            }
            Format::Parquet => {
                let _ = column;
                Self::Parquet(parquet::from_bytes(bytes)?.into())
            }
            Format::LevelDb => Self::LevelDb(LevelDbBloom::of_map(map)?.map_bytes(FileBytes::Mapped)),
            Format::Roaring => {
                let why = "it is a set of integers, not a filter; read it as one";
                return Err(ForeignError::Roaring(why.into()));
            }
        })
    }

    /// Which it is.
    pub fn format(&self) -> Format {
        match self {
            Self::Guava(_) => Format::Guava,
            Self::Spark(_) => Format::Spark,
            Self::Dcso(_) => Format::Dcso,
            Self::RedisBloom(_) => Format::RedisBloom,
            Self::RedisCuckoo(_) => Format::RedisCuckoo,
            Self::Parquet(_) => Format::Parquet,
            Self::LevelDb(_) => Format::LevelDb,
        }
    }

    /// Writes the filter as its maker does: to a temporary name, to the disk, and then by one rename to `path`. Of Parquet it is
    /// the bare filter, of which there must be one.
    pub fn save(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        match self {
            Self::Guava(filter) => filter.save(path),
            Self::Spark(filter) => filter.save(path),
            Self::Dcso(filter) => filter.save(path),
            other => match other.to_bytes() {
                Some(bytes) => replace(path, |file| io::Write::write_all(file, &bytes)),
                None => Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "filters of several row groups have no file of their own; take a Parquet file of one row group",
                )),
            },
        }
    }

    /// The bytes of the file, as its maker writes them; of Parquet the bare filter. None for filters of several row groups, which have
    /// no file of their own.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        Some(match self {
            Self::Guava(filter) => filter.to_bytes(),
            Self::Spark(filter) => filter.to_bytes(),
            Self::Dcso(filter) => filter.to_bytes(),
            Self::RedisBloom(filter) => filter.to_bytes(),
            Self::RedisCuckoo(filter) => filter.to_bytes(),
            Self::Parquet(filters) => parquet::to_bytes(filters.single()?),
            Self::LevelDb(filter) => filter.to_bytes(),
        })
    }

    /// Puts keys in, fetching memory ahead; of Parquet's filters into the last row group.
    pub fn insert_from(&mut self, digests: impl Iterator<Item = Digest>) -> Result<(), Full> {
        match self {
            Self::Guava(filter) => filter.insert_from(digests),
            Self::Spark(filter) => filter.insert_from(digests),
            Self::Dcso(filter) => filter.insert_from(digests),
            Self::RedisBloom(filter) => filter.insert_from(digests)?,
            Self::RedisCuckoo(filter) => filter.insert_from(digests)?,
            Self::Parquet(filters) => filters.insert_from(digests),
            Self::LevelDb(filter) => filter.insert_from(digests),
        }
        Ok(())
    }
}

impl From<GuavaBloom> for Foreign {
    fn from(filter: GuavaBloom) -> Self {
        Self::Guava(filter.map_bytes(FileBytes::Heap))
    }
}

impl From<SparkBloom> for Foreign {
    fn from(filter: SparkBloom) -> Self {
        Self::Spark(filter.map_bytes(FileBytes::Heap))
    }
}

impl From<DcsoBloom> for Foreign {
    fn from(filter: DcsoBloom) -> Self {
        Self::Dcso(filter.map_bytes(FileBytes::Heap))
    }
}

impl From<LevelDbBloom> for Foreign {
    fn from(filter: LevelDbBloom) -> Self {
        Self::LevelDb(filter.map_bytes(FileBytes::Heap))
    }
}

/// What a gzip stream begins with.
pub(super) const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The shape of the filter in a gzip stream, and how many bytes it unpacks to.
#[cfg(feature = "gzip")]
pub(super) fn gunzip_head(bytes: &[u8]) -> Result<u64, ForeignError> {
    use super::{bloom::Maker, file::Headed};
    use std::io::Read;
    let mut head = Vec::new();
    let broken = |_| ForeignError::Gzip { format: Format::Dcso };
    flate2::read::MultiGzDecoder::new(bytes).take(64).read_to_end(&mut head).map_err(broken)?;
    let (shape, start) = crate::format::dcso::Dcso::parse(&head)?;
    Ok(shape.bytes().saturating_add(start as u64))
}

#[cfg(feature = "gzip")]
fn gunzip(bytes: &[u8]) -> Result<DcsoBloom, ForeignError> {
    use std::io::Read;
    /// What may stand behind the bits of a gzipped file, which could unpack to anything.
    const MOST_DATA: u64 = 64 << 20;
    let whole = gunzip_head(bytes)?;
    let mut stream = flate2::read::MultiGzDecoder::new(bytes).take(whole.saturating_add(MOST_DATA));
    let filter = DcsoBloom::read_from(&mut stream).map_err(|error| match error {
        ForeignError::Io(_) => ForeignError::Gzip { format: Format::Dcso },
        other => other,
    })?;
    match stream.limit() {
        0 => Err(ForeignError::Gzip { format: Format::Dcso }),
        _ => Ok(filter),
    }
}

#[cfg(not(feature = "gzip"))]
fn gunzip(_: &[u8]) -> Result<DcsoBloom, ForeignError> {
    Err(ForeignError::Gzip { format: Format::Dcso })
}

impl Filter for Foreign {
    fn hasher(&self) -> &Hasher {
        each!(self, filter => filter.hasher())
    }

    fn may_contain_digest(&self, digest: Digest) -> bool {
        each!(self, filter => filter.may_contain_digest(digest))
    }

    fn may_contain_many_into<K: Key>(&self, keys: &[K], answers: &mut [bool]) {
        each!(self, filter => filter.may_contain_many_into(keys, answers));
    }

    fn answer(&self, digests: impl Iterator<Item = Digest>, answers: &mut [bool]) {
        each!(self, filter => filter.answer(digests, answers));
    }

    fn stats(&self) -> Stats {
        each!(self, filter => filter.stats())
    }

    fn size_in_bytes(&self) -> usize {
        each!(self, filter => filter.size_in_bytes())
    }
}

impl Merge for Foreign {
    fn union(&mut self, other: &Self) -> Result<(), MergeError> {
        match (self, other) {
            (Self::Guava(ours), Self::Guava(theirs)) => ours.union(theirs),
            (Self::Spark(ours), Self::Spark(theirs)) => ours.union(theirs),
            (Self::Dcso(ours), Self::Dcso(theirs)) => ours.union(theirs),
            (Self::RedisBloom(ours), Self::RedisBloom(theirs)) => ours.union(theirs),
            (Self::Parquet(ours), Self::Parquet(theirs)) => ours.union(theirs),
            (Self::LevelDb(ours), Self::LevelDb(theirs)) => ours.union(theirs),
            (Self::RedisCuckoo(_), Self::RedisCuckoo(_)) => {
                Err(MergeError::Never { family: "RedisBloom cuckoo" })
            }
            (ours, theirs) => {
                Err(MergeError::Family { ours: ours.format().name(), theirs: theirs.format().name() })
            }
        }
    }
}
