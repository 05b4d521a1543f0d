//! Sources, one after another, as blocks of whole records.

use super::{
    block::{Block, Separator},
    error::InputError,
    progress::Progress,
    source::{Opened, Source},
};
use memchr::{memchr_iter, memrchr};
use std::io;

/// The bytes of a block: few enough to stay in the cache of the core that reads them, enough that a read of them is cheap.
pub const DEFAULT_BLOCK: usize = 256 << 10;

/// The longest record, unless told otherwise.
pub const DEFAULT_MAX_RECORD: usize = 1 << 30;

/// What to read, and as what.
#[derive(Clone, Debug)]
pub struct Input {
    sources: Vec<Source>,
    total: Option<u64>,
    separator: Separator,
    block: usize,
    max_record: usize,
    progress: Progress,
}

impl Input {
    /// These sources, in this order. An error if one of them is not there, or is a directory: before anything is read.
    pub fn new(sources: impl IntoIterator<Item = Source>) -> Result<Self, InputError> {
        let sources: Vec<Source> = sources.into_iter().collect();
        let mut total = Some(0u64);
        for source in &sources {
            total = source.size()?.zip(total).map(|(size, total)| total.saturating_add(size));
        }
        Ok(Self {
            sources,
            total,
            separator: Separator::default(),
            block: DEFAULT_BLOCK,
            max_record: DEFAULT_MAX_RECORD,
            progress: Progress::default(),
        })
    }

    /// What ends a record.
    #[must_use]
    pub fn separator(self, separator: Separator) -> Self {
        Self { separator, ..self }
    }

    /// The bytes of a block, 4 KiB at the least.
    #[must_use]
    pub fn block_size(self, bytes: usize) -> Self {
        Self { block: bytes.max(4 << 10), ..self }
    }

    /// The most bytes that a record may have; a longer one is an error that names its line.
    #[must_use]
    pub fn max_record(self, bytes: usize) -> Self {
        Self { max_record: bytes, ..self }
    }

    /// Who watches, and may cancel.
    #[must_use]
    pub fn progress(self, progress: &Progress) -> Self {
        Self { progress: progress.clone(), ..self }
    }

    /// What ends a record.
    pub fn record_separator(&self) -> Separator {
        self.separator
    }

    /// The sources.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// The bytes of all sources as they are on disk; none if one is a pipe.
    pub fn total_bytes(&self) -> Option<u64> {
        self.total
    }

    /// Whether [`blocks`](Self::blocks) gives the same records when it is called again.
    pub fn can_be_read_twice(&self) -> bool {
        self.sources.iter().all(Source::can_be_read_twice)
    }

    /// Begins to read.
    pub fn blocks(&self) -> BlockReader {
        self.progress.expect(self.total);
        BlockReader {
            input: self.clone(),
            next_source: 0,
            open: None,
            carry: Vec::new(),
            next_number: 0,
            next_line: 1,
        }
    }

    /// Hands every record to `each`, on this thread: for small inputs and simple callers.
    pub fn for_each_record<E: From<InputError>>(
        &self,
        mut each: impl FnMut(&Block, super::Record<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut blocks, mut block) = (self.blocks(), Block::default());
        while blocks.next_into(&mut block)? {
            block.records().try_for_each(|record| each(&block, record))?;
        }
        Ok(())
    }
}

/// Reads block after block.
pub struct BlockReader {
    input: Input,
    next_source: usize,
    open: Option<Opened>,
    /// The beginning of a record whose end has not been read.
    carry: Vec<u8>,
    next_number: u64,
    next_line: u64,
}

impl BlockReader {
    /// Reads the next block into this one, whose memory is used again. False at the end of all sources.
    pub fn next_into(&mut self, block: &mut Block) -> Result<bool, InputError> {
        loop {
            if self.input.progress.is_cancelled() {
                return Err(InputError::Cancelled);
            }
            if self.open.is_none() && !self.open_next()? {
                block.len = 0;
                block.count = 0;
                return Ok(false);
            }
            self.fill(block)?;
            if block.len > 0 {
                self.label(block);
                return Ok(true);
            }
        }
    }

    fn open_next(&mut self) -> Result<bool, InputError> {
        let Some(source) = self.input.sources.get(self.next_source) else { return Ok(false) };
        self.open = Some(source.open(&self.input.progress)?);
        self.next_source += 1;
        self.next_line = 1;
        Ok(true)
    }

    /// The source that is open.
    fn source(&self) -> &Source {
        &self.input.sources[self.next_source - 1]
    }

    /// Reads until there is a whole record; at the end of the source whatever is there, and the source is closed.
    fn fill(&mut self, block: &mut Block) -> Result<(), InputError> {
        // Zeroed once and then kept; what grew for a giant record is given back.
        let size = self.input.block.max(2 * self.carry.len());
        if block.buffer.len() != size {
            block.buffer = vec![0; size];
        }
        let mut filled = self.carry.len();
        block.buffer[..filled].copy_from_slice(&self.carry);
        self.carry.clear();
        // No separator is before this.
        let mut searched = filled;
        loop {
            let read = self.read(&mut block.buffer[filled..])?;
            filled += read;
            let buffer = &mut block.buffer;
            if read == 0 {
                self.open = None;
                block.len = filled;
                return Ok(());
            }
            let live = self.open.as_ref().is_some_and(Opened::is_live);
            if !live && filled < buffer.len() {
                continue;
            }
            if let Some(end) = memrchr(self.input.separator.byte(), &buffer[searched..filled]) {
                let end = searched + end + 1;
                self.carry.extend_from_slice(&buffer[end..filled]);
                block.len = end;
                return Ok(());
            }
            searched = filled;
            if filled > self.input.max_record {
                return Err(InputError::RecordTooLong {
                    source: self.source().clone(),
                    line: self.next_line,
                    limit: self.input.max_record,
                });
            }
            if filled == buffer.len() {
                buffer.resize(2 * filled, 0);
            }
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, InputError> {
        let open = self.open.as_mut().expect("a source is open");
        loop {
            if self.input.progress.is_cancelled() {
                return Err(InputError::Cancelled);
            }
            match open.reader.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let open = self.open.take().expect("a source is open");
                    return Err(open.failed(self.source(), error));
                }
                Ok(read) => return Ok(read),
            }
        }
    }

    fn label(&mut self, block: &mut Block) {
        let separator = self.input.separator;
        let bytes = &block.buffer[..block.len];
        let unended = u64::from(bytes.last() != Some(&separator.byte()));
        block.count = memchr_iter(separator.byte(), bytes).count() as u64 + unended;
        block.separator = separator;
        block.source = self.source().clone();
        block.source_number = self.next_source - 1;
        block.number = self.next_number;
        block.first_line = self.next_line;
        self.next_number += 1;
        self.next_line += block.count;
    }
}
