//! Building an index within a memory limit.

use super::{HEAD, LOWER, MAGIC, find::checksum};
use crate::{
    IndexError, JobError, Options, Stats,
    engine::{
        spill::{Space, Spill, SpillReader},
        table::{Counts, Hint, Shape, Shard},
        varint,
    },
    input::{Block, Input, InputError, Source},
    words::{Folding, each_word},
};
use gowk::{Hasher, Seed};
use rayon::prelude::*;
use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    fs::File,
    io::{self, BufWriter, Seek, Write},
    path::{Path, PathBuf},
    sync::Mutex,
    time::Instant,
};

/// Makes an index of the words of files.
#[derive(Clone, Copy, Debug, Default)]
pub struct IndexBuilder {
    folding: Folding,
}

/// What a build did.
#[derive(Clone, Debug, Default)]
pub struct IndexStats {
    /// Time, bytes, temporary data; `distinct` are the words, `lines` the files.
    pub job: Stats,
    /// The bytes of the index.
    pub size: u64,
}

impl IndexBuilder {
    /// Whether upper and lower case are the same.
    #[must_use]
    pub fn ignore_case(self, ignore: bool) -> Self {
        Self { folding: if ignore { Folding::Lower } else { Folding::Exact } }
    }

    /// Reads the files and writes the index: under another name first, so that there is a whole one or none.
    pub fn build(&self, files: &[PathBuf], path: &Path, options: &Options) -> Result<IndexStats, JobError> {
        let mut stats = Stats { passes: 1, lines: files.len() as u64, ..Stats::default() };
        let space = Space::new(options.temp_path());
        let threads = options.thread_count().get().min(files.len().max(1));
        let memory = options.memory_limit() as usize;
        let start = Instant::now();
        let runs = Mutex::new(Vec::new());
        let next = std::sync::atomic::AtomicUsize::new(0);
        let read: Result<Vec<u64>, JobError> = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|error| JobError::Output(io::Error::other(error)))?
            .install(|| {
                (0..threads)
                    .into_par_iter()
                    .with_max_len(1)
                    .map(|_| {
                        let mut collector =
                            Collector::new(memory / threads, self.folding, options, &space, &runs);
                        loop {
                            let file = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                            let Some(path) = files.get(file) else { break };
                            collector.read(file as u32, path)?;
                        }
                        collector.flush()?;
                        Ok(collector.bytes)
                    })
                    .collect()
            });
        stats.bytes = read?.iter().sum();
        let runs = runs.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        stats.partitions = runs.len() as u64;
        stats.stages.push(crate::Stage { name: "read", time: start.elapsed() });
        let start = Instant::now();
        let block = run_block(memory);
        let runs = few_enough(runs, (memory / 2 / (3 * block)).clamp(2, 128), &space, block)?;
        let (words, size) = write(&runs, files, path, self.folding, &space)?;
        stats.stages.push(crate::Stage { name: "merge", time: start.elapsed() });
        stats.distinct = words;
        stats.spilled = space.written();
        stats.spilled_records = space.records();
        Ok(IndexStats { job: stats, size })
    }
}

/// Bytes of a block of a run.
fn run_block(memory: usize) -> usize {
    (memory / 64).clamp(2 << 10, 64 << 10)
}

/// Words and the files that hold them, until the memory is full. One a thread.
struct Collector<'a> {
    memory: usize,
    folding: Folding,
    options: &'a Options,
    space: &'a Space,
    runs: &'a Mutex<Vec<Spill>>,
    hasher: Hasher,
    /// Words; their counts are their numbers.
    words: Shard,
    /// For each word the file that came last, plus one, and its list.
    lists: Vec<(u32, Vec<u8>)>,
    list_bytes: usize,
    block: Block,
    scratch: Vec<u8>,
    bytes: u64,
}

impl<'a> Collector<'a> {
    fn new(
        memory: usize,
        folding: Folding,
        options: &'a Options,
        space: &'a Space,
        runs: &'a Mutex<Vec<Spill>>,
    ) -> Self {
        Self {
            memory,
            folding,
            options,
            space,
            runs,
            hasher: Hasher::new(Seed::random()),
            words: Shard::new(Shape { counts: Counts::Exact, ..Shape::default() }, 0),
            lists: Vec::new(),
            list_bytes: 0,
            block: Block::default(),
            scratch: Vec::new(),
            bytes: 0,
        }
    }

    fn read(&mut self, file: u32, path: &Path) -> Result<(), JobError> {
        let block = (self.memory / 8).clamp(4 << 10, 256 << 10);
        let input = Input::new([Source::from(path)])?.block_size(block).progress(self.options.watcher());
        let mut blocks = input.blocks();
        let mut block = std::mem::take(&mut self.block);
        let mut scratch = std::mem::take(&mut self.scratch);
        while blocks.next_into(&mut block)? {
            if self.options.watcher().is_cancelled() {
                return Err(InputError::Cancelled.into());
            }
            self.bytes += block.bytes().len() as u64;
            // Parts of a block, so that the limit is looked at often where it is small.
            each_word(block.bytes(), self.folding, &mut scratch, |word| {
                self.add(word, file);
                true
            });
            if self.used() > self.memory / 2 {
                self.flush()?;
            }
        }
        (self.block, self.scratch) = (block, scratch);
        Ok(())
    }

    fn used(&self) -> usize {
        self.words.bytes() + self.list_bytes + self.lists.len() * 56
    }

    #[inline]
    fn add(&mut self, word: &[u8], file: u32) {
        let hash = self.hasher.bytes(word).h1;
        let id = match self.words.probe(hash, word.into(), Hint::default()) {
            Ok(found) => self.words.low_count(found) as usize,
            Err(at) => {
                self.words.insert_at(at, hash, word.into(), || 0, self.lists.len() as u64, || &[]);
                self.lists.push((0, Vec::new()));
                self.lists.len() - 1
            }
        };
        let (last, list) = &mut self.lists[id];
        if *last != file + 1 {
            let before = list.len();
            varint::put(list, u64::from(file + 1 - *last));
            *last = file + 1;
            self.list_bytes += list.len() - before;
        }
    }

    /// Writes what there is as a run, in the order of the words.
    fn flush(&mut self) -> Result<(), JobError> {
        if self.lists.is_empty() {
            return Ok(());
        }
        let mut order: Vec<(&[u8], u32)> =
            self.words.entries().map(|entry| (entry.key, entry.count as u32)).collect();
        order.sort_unstable();
        let mut run = Spill::new(self.space, 1, run_block(self.memory), true)?;
        for (word, id) in order {
            run.put(self.space, 0, 0, word, &self.lists[id as usize].1)?;
        }
        run.finish(self.space)?;
        self.runs.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(run);
        self.words.clear();
        self.lists.clear();
        self.list_bytes = 0;
        Ok(())
    }
}

/// Merges runs until there are at most so many.
fn few_enough(
    mut runs: Vec<Spill>,
    most: usize,
    space: &Space,
    block: usize,
) -> Result<Vec<Spill>, JobError> {
    while runs.len() > most {
        let some: Vec<Spill> = runs.drain(..most).collect();
        let mut merged = Spill::new(space, 1, block, true)?;
        let mut list = Vec::new();
        merge(&some, space, |word, files| {
            put_files(&mut list, files, 1);
            merged.put(space, 0, 0, word, &list)
        })?;
        merged.finish(space)?;
        runs.push(merged);
    }
    Ok(runs)
}

/// Numbers as differences; the first is to 0, or to -1 where they are kept plus one.
fn put_files(list: &mut Vec<u8>, files: &[u64], plus: u64) {
    list.clear();
    let mut last = 0;
    for file in files {
        varint::put(list, file + plus - last);
        last = file + plus;
    }
}

/// Calls `each` with every word, ascending, and all files that hold it.
fn merge(
    runs: &[Spill],
    space: &Space,
    mut each: impl FnMut(&[u8], &[u64]) -> Result<(), JobError>,
) -> Result<(), JobError> {
    let mut readers: Vec<SpillReader<'_>> = runs.iter().map(|run| run.read(0)).collect();
    let mut lists: Vec<Vec<u8>> = vec![Vec::new(); runs.len()];
    let mut next = BinaryHeap::new();
    let advance = |i: usize, readers: &mut Vec<SpillReader<'_>>, lists: &mut Vec<Vec<u8>>| {
        let Some(spilled) = readers[i].next(space)? else { return Ok(None) };
        lists[i].clear();
        lists[i].extend_from_slice(spilled.line.unwrap_or_default());
        Ok::<_, JobError>(Some(Reverse((spilled.key.to_vec(), i))))
    };
    for i in 0..runs.len() {
        next.extend(advance(i, &mut readers, &mut lists)?);
    }
    let mut files = Vec::new();
    while let Some(Reverse((word, i))) = next.pop() {
        take_files(&lists[i], &mut files);
        next.extend(advance(i, &mut readers, &mut lists)?);
        while next.peek().is_some_and(|Reverse((other, _))| *other == word) {
            let Some(Reverse((_, i))) = next.pop() else { break };
            take_files(&lists[i], &mut files);
            next.extend(advance(i, &mut readers, &mut lists)?);
        }
        // A file may have been in work when a run was full.
        files.sort_unstable();
        files.dedup();
        each(&word, &files)?;
        files.clear();
    }
    Ok(())
}

fn take_files(mut list: &[u8], files: &mut Vec<u64>) {
    let mut last = 0;
    while let Some(step) = varint::take(&mut list) {
        last += step;
        files.push(last - 1);
    }
}

fn failed(error: io::Error) -> JobError {
    JobError::Index(IndexError::Io(error))
}

fn write(
    runs: &[Spill],
    files: &[PathBuf],
    path: &Path,
    folding: Folding,
    space: &Space,
) -> Result<(u64, u64), JobError> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut temp = tempfile::Builder::new().prefix(".gowk-index-").tempfile_in(dir).map_err(failed)?;
    let mut out = Counted { writer: BufWriter::with_capacity(16 << 10, temp.as_file_mut()), at: 0 };
    out.put(&[0; HEAD])?;
    // The table of words comes behind them, so it waits in a file of its own.
    let mut table = BufWriter::with_capacity(16 << 10, space.file()?);
    let (mut words, mut entry, mut list) = (0u64, Vec::new(), Vec::new());
    merge(runs, space, |word, files| {
        table.write_all(&out.at.to_le_bytes()).map_err(|error| space.failed(error))?;
        words += 1;
        put_files(&mut list, files, 0);
        entry.clear();
        varint::put(&mut entry, word.len() as u64);
        entry.extend_from_slice(word);
        varint::put(&mut entry, list.len() as u64);
        entry.extend_from_slice(&list);
        out.put(&entry)
    })?;
    let mut places = Vec::with_capacity(files.len() + 1);
    for file in files {
        places.push(out.at);
        out.put(file.as_os_str().as_encoded_bytes())?;
    }
    places.push(out.at);
    let word_table = out.at;
    let mut table: File = table.into_inner().map_err(|error| space.failed(error.into_error()))?;
    table.rewind().map_err(|error| space.failed(error))?;
    out.at += io::copy(&mut table, &mut out.writer).map_err(failed)?;
    let file_table = out.at;
    for place in places {
        out.put(&place.to_le_bytes())?;
    }
    let size = out.at;
    out.writer.flush().map_err(failed)?;
    drop(out);
    let flags = if folding == Folding::Lower { LOWER } else { 0 };
    let mut head = MAGIC.to_vec();
    for field in [flags, words, files.len() as u64, word_table, file_table, size] {
        head.extend_from_slice(&field.to_le_bytes());
    }
    head.extend_from_slice(&checksum(&head).to_le_bytes());
    let file = temp.as_file_mut();
    file.rewind().map_err(failed)?;
    file.write_all(&head).map_err(failed)?;
    file.sync_all().map_err(failed)?;
    temp.persist(path).map_err(|error| failed(error.error))?;
    Ok((words, size))
}

struct Counted<W> {
    writer: W,
    at: u64,
}

impl<W: Write> Counted<W> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), JobError> {
        self.writer.write_all(bytes).map_err(failed)?;
        self.at += bytes.len() as u64;
        Ok(())
    }
}
