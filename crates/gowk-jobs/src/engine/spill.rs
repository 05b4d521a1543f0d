//! What does not fit into memory: records in partitions, compressed, in a file that has no name.
//!
//! A file without a name is gone with the process that has it open: after success, an error, Ctrl-C or a kill.
//!
//! ```text
//! block, raw   for each record: position as the difference to the one before, length of the key, key
//!              [length of the line, line]
//! ```

use super::{chunk::Chunk, varint};
use crate::error::JobError;
use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

/// The directory for temporary data, and how much of it there is.
#[derive(Debug)]
pub(crate) struct Space {
    dir: PathBuf,
    written: AtomicU64,
    records: AtomicU64,
}

impl Space {
    pub(crate) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), written: AtomicU64::new(0), records: AtomicU64::new(0) }
    }

    /// Bytes written so far.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Records written so far.
    pub(crate) fn records(&self) -> u64 {
        self.records.load(Ordering::Relaxed)
    }

    pub(crate) fn file(&self) -> Result<File, JobError> {
        tempfile::tempfile_in(&self.dir).map_err(|error| self.failed(error))
    }

    pub(crate) fn wrote(&self, bytes: u64) {
        self.written.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn failed(&self, error: io::Error) -> JobError {
        JobError::Spill { dir: self.dir.clone(), written: self.written(), error }
    }

    /// An error if so many more bytes surely do not fit.
    pub(crate) fn check(&self, needed: u64) -> Result<(), JobError> {
        // A file system that does not tell is tried.
        let Ok(free) = fs4::available_space(&self.dir) else { return Ok(()) };
        match needed > free {
            true => Err(JobError::NoSpace { dir: self.dir.clone(), needed, free }),
            false => Ok(()),
        }
    }
}

/// Where a compressed block is, and how long.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: u64,
    packed: u32,
    raw: u32,
}

#[derive(Debug, Default)]
struct Part {
    buffer: Vec<u8>,
    last: u64,
    blocks: Vec<Place>,
    raw: u64,
}

/// Partitions in one file. Each takes records in the order of their positions.
#[derive(Debug)]
pub(crate) struct Spill {
    file: File,
    end: u64,
    parts: Vec<Part>,
    block: usize,
    packed: Vec<u8>,
    lines: bool,
    records: u64,
}

impl Spill {
    /// `parts` empty partitions that are written in blocks of about `block` bytes.
    pub(crate) fn new(space: &Space, parts: usize, block: usize, lines: bool) -> Result<Self, JobError> {
        Ok(Self {
            file: space.file()?,
            end: 0,
            parts: (0..parts).map(|_| Part::default()).collect(),
            block,
            packed: Vec::new(),
            lines,
            records: 0,
        })
    }

    /// How many partitions.
    pub(crate) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The bytes of a partition, as they were before compression.
    pub(crate) fn raw_bytes(&self, part: usize) -> u64 {
        self.parts[part].raw
    }

    /// The bytes of all partitions, as they were before compression.
    pub(crate) fn raw_bytes_of_all(&self) -> u64 {
        self.parts.iter().map(|part| part.raw).sum()
    }

    /// Whether records bring their lines along.
    pub(crate) fn has_lines(&self) -> bool {
        self.lines
    }

    /// Adds a record.
    #[inline]
    pub(crate) fn put(
        &mut self,
        space: &Space,
        part: usize,
        position: u64,
        key: &[u8],
        line: &[u8],
    ) -> Result<(), JobError> {
        let to = &mut self.parts[part];
        varint::put(&mut to.buffer, position - to.last);
        to.last = position;
        varint::put(&mut to.buffer, key.len() as u64);
        to.buffer.extend_from_slice(key);
        if self.lines {
            varint::put(&mut to.buffer, line.len() as u64);
            to.buffer.extend_from_slice(line);
        }
        self.records += 1;
        if to.buffer.len() >= self.block {
            self.write(space, part)?;
        }
        Ok(())
    }

    fn write(&mut self, space: &Space, part: usize) -> Result<(), JobError> {
        let part = &mut self.parts[part];
        let most = lz4_flex::block::get_maximum_output_size(part.buffer.len());
        if self.packed.len() < most {
            self.packed.resize(most, 0);
        }
        let packed = lz4_flex::block::compress_into(&part.buffer, &mut self.packed)
            .expect("there is room for the worst case");
        self.file.write_all(&self.packed[..packed]).map_err(|error| space.failed(error))?;
        part.blocks.push(Place { at: self.end, packed: packed as u32, raw: part.buffer.len() as u32 });
        self.end += packed as u64;
        space.wrote(packed as u64);
        part.raw += part.buffer.len() as u64;
        // A giant record's buffer is not kept.
        match part.buffer.capacity() > 4 * self.block {
            true => part.buffer = Vec::new(),
            false => part.buffer.clear(),
        }
        Ok(())
    }

    /// Writes what is left, and gives the buffers back.
    pub(crate) fn finish(&mut self, space: &Space) -> Result<(), JobError> {
        for part in 0..self.parts.len() {
            if !self.parts[part].buffer.is_empty() {
                self.write(space, part)?;
            }
            self.parts[part].buffer = Vec::new();
        }
        self.packed = Vec::new();
        space.records.fetch_add(self.records, Ordering::Relaxed);
        Ok(())
    }

    /// Reads a partition from its beginning.
    pub(crate) fn read(&self, part: usize) -> SpillReader<'_> {
        SpillReader { spill: self, part, next: 0, packed: Vec::new(), raw: Vec::new(), at: 0, position: 0 }
    }
}

/// Reads one partition.
#[derive(Debug)]
pub(crate) struct SpillReader<'a> {
    spill: &'a Spill,
    part: usize,
    next: usize,
    packed: Vec<u8>,
    raw: Vec<u8>,
    at: usize,
    position: u64,
}

/// A record that was spilled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spilled<'a> {
    pub(crate) position: u64,
    pub(crate) key: &'a [u8],
    pub(crate) line: Option<&'a [u8]>,
}

impl SpillReader<'_> {
    fn next_block(&mut self) -> io::Result<bool> {
        let Some(place) = self.spill.parts[self.part].blocks.get(self.next) else { return Ok(false) };
        self.next += 1;
        self.packed.resize(place.packed as usize, 0);
        self.raw.resize(place.raw as usize, 0);
        let mut file = &self.spill.file;
        file.seek(SeekFrom::Start(place.at))?;
        file.read_exact(&mut self.packed)?;
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "temporary data has changed on disk");
        match lz4_flex::block::decompress_into(&self.packed, &mut self.raw) {
            Ok(len) if len == self.raw.len() => {}
            _ => return Err(damaged()),
        }
        self.at = 0;
        Ok(true)
    }

    /// The next record. None at the end.
    pub(crate) fn next(&mut self, space: &Space) -> Result<Option<Spilled<'_>>, JobError> {
        if self.at == self.raw.len() && !self.next_block().map_err(|error| space.failed(error))? {
            return Ok(None);
        }
        let mut rest = &self.raw[self.at..];
        let damaged = || {
            let error = io::Error::new(io::ErrorKind::InvalidData, "temporary data has changed on disk");
            space.failed(error)
        };
        let (spilled, left) = {
            let mut record = || {
                let position = self.position.checked_add(varint::take(&mut rest)?)?;
                let len = varint::take(&mut rest)?;
                let key = varint::take_bytes(&mut rest, len)?;
                let line = match self.spill.lines {
                    true => {
                        let len = varint::take(&mut rest)?;
                        Some(varint::take_bytes(&mut rest, len)?)
                    }
                    false => None,
                };
                Some(Spilled { position, key, line })
            };
            (record().ok_or_else(damaged)?, rest.len())
        };
        self.at = self.raw.len() - left;
        self.position = spilled.position;
        Ok(Some(spilled))
    }

    /// Fills a chunk of frames up to about `bytes`. False if there is nothing left.
    pub(crate) fn fill(&mut self, space: &Space, chunk: &mut Chunk, bytes: usize) -> Result<bool, JobError> {
        while chunk.frames.len() < bytes {
            let Some(Spilled { position, key, line }) = self.next(space)? else { break };
            if !chunk.push_frame(position, key, line) {
                return Err(JobError::KeyTooLong { bytes: key.len() as u64 });
            }
        }
        Ok(!chunk.places.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]
        #[test]
        fn partitions_give_back_what_they_took(
            records in prop::collection::vec((0usize..5, 0u64..1_000, ".{0,40}", ".{0,9}"), 0..400),
            lines: bool,
            block in 1usize..500,
        ) {
            let dir = tempfile::tempdir().unwrap();
            let space = Space::new(dir.path());
            let mut spill = Spill::new(&space, 5, block, lines).unwrap();
            let mut position = 0;
            let mut model = vec![Vec::new(); 5];
            for (part, step, key, line) in &records {
                position += step;
                spill.put(&space, *part, position, key.as_bytes(), line.as_bytes()).unwrap();
                model[*part].push((position, key.as_bytes().to_vec(), lines.then(|| line.as_bytes().to_vec())));
            }
            spill.finish(&space).unwrap();
            prop_assert_eq!(space.records(), records.len() as u64);
            for (part, model) in model.into_iter().enumerate() {
                let mut reader = spill.read(part);
                let mut found = Vec::new();
                while let Some(Spilled { position, key, line }) = reader.next(&space).unwrap() {
                    found.push((position, key.to_vec(), line.map(<[u8]>::to_vec)));
                }
                prop_assert_eq!(found, model);
            }
            // A file without a name.
            prop_assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn data_that_changed_on_disk_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let space = Space::new(dir.path());
        let mut spill = Spill::new(&space, 1, 10, false).unwrap();
        for i in 0..100u64 {
            spill.put(&space, 0, i, &i.to_le_bytes(), &[]).unwrap();
        }
        spill.finish(&space).unwrap();
        spill.file.set_len(50).unwrap();
        let mut reader = spill.read(0);
        let error = loop {
            match reader.next(&space) {
                Ok(Some(_)) => {}
                Ok(None) => panic!("the cut was not seen"),
                Err(error) => break error,
            }
        };
        assert!(error.to_string().contains("temporary data"), "{error}");
    }
}
