//! Lines in a mapped file.

use super::{Line, Store};
use alloc::sync::Arc;
use core::ops::Range;
use memmap2::Mmap;
use std::{fs::File, io};

/// Lines inside a file that the kernel pages in as they are asked for.
///
/// Opening costs the same for a kilobyte and for a terabyte. The file must stay as it is while it is mapped: gowk itself
/// only ever replaces files by renaming a new one over them, which leaves a mapped one alone.
#[derive(Clone, Debug)]
pub struct Mapped {
    map: Arc<Mmap>,
    body: Range<usize>,
}

impl Mapped {
    /// The whole of a file.
    pub(crate) fn map(file: &File) -> io::Result<Mmap> {
        // SAFETY: whoever changes or cuts a mapped file changes answers or raises SIGBUS, as with every map; the page of
        // `Persist::open` says so. Bits have no invalid values, so no content can break the program.
        unsafe { Mmap::map(file) }
    }

    /// Some of the lines.
    pub(crate) fn slice(&self, lines: Range<usize>) -> Self {
        assert!(lines.start <= lines.end && lines.end <= self.lines().len(), "lines of the body");
        let start = self.body.start;
        Self {
            map: self.map.clone(),
            body: start + lines.start * Line::BYTES..start + lines.end * Line::BYTES,
        }
    }

    /// The lines in `body`, a range of bytes of the map, or `None` where it does not lie on lines or leaves the file, or
    /// where this machine's byte order is not the file's.
    pub(crate) fn new(map: Arc<Mmap>, body: Range<usize>) -> Option<Self> {
        let whole = body.end <= map.len() && body.start <= body.end;
        let aligned = body.start.is_multiple_of(Line::BYTES) && body.len().is_multiple_of(Line::BYTES);
        (whole && aligned && cfg!(target_endian = "little")).then_some(Self { map, body })
    }
}

impl Store for Mapped {
    #[inline(always)]
    fn lines(&self) -> &[Line] {
        // SAFETY: `new` checked that the range lies inside the map and on 64-byte offsets; maps start on a page, so the
        // pointer is aligned; any 64 bytes are a `Line`. The map lives as long as `self`.
        unsafe {
            core::slice::from_raw_parts(
                self.map.as_ptr().add(self.body.start).cast(),
                self.body.len() / Line::BYTES,
            )
        }
    }
}
