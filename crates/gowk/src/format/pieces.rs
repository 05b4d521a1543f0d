//! A `.gowk` file whose body comes in pieces: of a filter that lies elsewhere, and need not fit into this memory.

use super::{
    Head, ParamsWriter, file,
    head::{self, RawHead},
};
use crate::{
    bloom::{blocked::BlockedParams, counting::CountingParams},
    hash::Hasher,
    params::Promise,
    stats::Family,
    store::Line,
};
use std::{
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};
use xxhash_rust::xxh3::Xxh3;

/// Writes a `.gowk` file piece by piece: to a temporary name beside it, and to its own when it is whole. Dropped before, it leaves nothing.
///
/// ```
/// use gowk::{BlockedBloom, Filter, Insert, Persist, format::FileWriter};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("seen.gowk");
/// let mut seen = BlockedBloom::builder().items(1_000).fpp(0.01).build()?;
/// seen.insert("gowk");
///
/// let mut file = FileWriter::blocked(&path, seen.params(), *seen.hasher())?;
/// for line in seen.lines() {
///     file.write(&line.to_le_bytes())?;
/// }
/// file.finish(1)?;
/// assert!(BlockedBloom::load(&path)? == seen);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileWriter {
    file: tempfile::NamedTempFile,
    path: PathBuf,
    family: Family,
    promise: Promise,
    hasher: Hasher,
    params: Vec<u8>,
    body_len: u64,
    written: u64,
    sum: Sum,
}

struct Sum(Xxh3);

impl core::fmt::Debug for Sum {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Sum")
    }
}

impl FileWriter {
    /// A file of a blocked Bloom filter of this size and shape.
    pub fn blocked(path: impl AsRef<Path>, params: &BlockedParams, hasher: Hasher) -> io::Result<Self> {
        let (span, lanes) = (params.span() as u8, params.lanes() as u8);
        let shape = shape(params.blocks(), span, lanes);
        Self::begin(path.as_ref(), Family::BlockedBloom, params.promise(), hasher, shape, params.lines())
    }

    /// A file of a counting Bloom filter of this size and shape.
    pub fn counting(path: impl AsRef<Path>, params: &CountingParams, hasher: Hasher) -> io::Result<Self> {
        let (span, lanes) = (params.span() as u8, params.lanes() as u8);
        let shape = shape(params.blocks(), span, lanes);
        Self::begin(path.as_ref(), Family::CountingBloom, params.promise(), hasher, shape, params.lines())
    }

    fn begin(
        path: &Path,
        family: Family,
        promise: Promise,
        hasher: Hasher,
        params: Vec<u8>,
        lines: u64,
    ) -> io::Result<Self> {
        let mut file = file::beside(path)?;
        file.seek(SeekFrom::Start(head::body_start(params.len()) as u64))?;
        let (path, body_len) = (path.to_owned(), lines * Line::BYTES as u64);
        let sum = Sum(Xxh3::new());
        Ok(Self { file, path, family, promise, hasher, params, body_len, written: 0, sum })
    }

    /// The next bytes of the body. More than it has are an error.
    pub fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        self.written += piece.len() as u64;
        if self.written > self.body_len {
            return Err(self.wrong());
        }
        self.sum.0.update(piece);
        self.file.write_all(piece)
    }

    /// Writes the head, which says that so many keys are inside, and puts the file in its place. A body that is not whole is an error.
    pub fn finish(mut self, keys: u64) -> io::Result<()> {
        if self.written != self.body_len {
            return Err(self.wrong());
        }
        let head = Head { family: self.family, promise: self.promise, keys, hasher: self.hasher };
        let head = head::encode_parts(&head, &self.params, self.body_len, self.sum.0.digest());
        debug_assert!(head.len() >= RawHead::BYTES);
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&head)?;
        file::put(self.file, &self.path)
    }

    fn wrong(&self) -> io::Error {
        let (written, body_len) = (self.written, self.body_len);
        io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{written} bytes of a filter were given, and it has {body_len}"),
        )
    }
}

/// As the codecs of both families have it.
fn shape(blocks: u64, span: u8, lanes: u8) -> Vec<u8> {
    let mut params = ParamsWriter::default();
    params.u64(blocks).u8(span).u8(lanes).bytes(&[0; 6]);
    params.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockedBloom, Build, CountingBloom, Filter, Insert, Persist};

    #[test]
    fn pieces_make_the_file_that_a_save_makes() {
        let folder = tempfile::tempdir().unwrap();
        let (whole, pieces) = (folder.path().join("whole"), folder.path().join("pieces"));
        for fpp in [0.1, 0.01, 1e-6] {
            let mut filter = BlockedBloom::builder().items(5_000).fpp(fpp).build().unwrap();
            filter.insert_many(&(0..5_000u64).collect::<Vec<_>>());
            filter.save(&whole).unwrap();
            let mut file = FileWriter::blocked(&pieces, filter.params(), *filter.hasher()).unwrap();
            for lines in filter.lines().chunks(7) {
                let bytes: Vec<u8> = lines.iter().flat_map(|line| line.to_le_bytes()).collect();
                file.write(&bytes).unwrap();
            }
            file.finish(filter.head().keys).unwrap();
            assert!(std::fs::read(&whole).unwrap() == std::fs::read(&pieces).unwrap(), "at {fpp}");
        }
        let params = CountingParams::for_fpp(1_000, 0.01).unwrap();
        let mut filter = CountingBloom::with_params(params, Hasher::new(7)).unwrap();
        filter.insert_many(&[1u64, 2, 3]);
        filter.save(&whole).unwrap();
        let mut file = FileWriter::counting(&pieces, &params, Hasher::new(7)).unwrap();
        for line in filter.lines() {
            file.write(&line.to_le_bytes()).unwrap();
        }
        file.finish(filter.head().keys).unwrap();
        assert!(std::fs::read(&whole).unwrap() == std::fs::read(&pieces).unwrap());
    }

    #[test]
    fn a_body_that_is_cut_or_too_long_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seen.gowk");
        std::fs::write(&path, "as it was").unwrap();
        let params = BlockedParams::for_fpp(1_000, 0.01).unwrap();
        let mut file = FileWriter::blocked(&path, &params, Hasher::new(1)).unwrap();
        file.write(&[0; 64]).unwrap();
        assert!(file.finish(0).unwrap_err().to_string().contains("64 bytes"));
        let mut file = FileWriter::blocked(&path, &params, Hasher::new(1)).unwrap();
        let all = vec![0; 64 * params.lines() as usize];
        file.write(&all).unwrap();
        assert!(file.write(&[0]).is_err());
        assert!(file.finish(0).is_err(), "nor afterwards");
        drop(FileWriter::blocked(&path, &params, Hasher::new(1)).unwrap());
        let names: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["seen.gowk"]);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "as it was");
        assert!(FileWriter::blocked(folder.path().join("no/such/folder"), &params, Hasher::new(1)).is_err());
    }
}
