//! Where the answer goes.

use std::io::{self, Write};

/// Where the answer goes: a writer that gets lines, or a function that gets rows.
///
/// ```
/// use gowk_jobs::Output;
/// let mut file = Vec::new();
/// let lines = Output::lines(&mut file, b'\n');
/// let rows = Output::rows(|row| { println!("{} x {:?}", row.count, row.line); Ok(()) });
/// ```
pub struct Output<'a>(To<'a>);

type Rows<'a> = Box<dyn FnMut(Row<'_>) -> io::Result<()> + Send + 'a>;

enum To<'a> {
    Lines { writer: Box<dyn Write + Send + 'a>, end: u8 },
    Rows(Rows<'a>),
    Nowhere,
}

/// A record of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// Its line, or its key where there is no more.
    pub line: &'a [u8],
    /// How often the key came, where the job counts; else 1.
    pub count: u64,
}

impl<'a> Output<'a> {
    /// Lines, each with this byte behind it; without counts.
    pub fn lines(writer: impl Write + Send + 'a, end: u8) -> Self {
        Self(To::Lines { writer: Box::new(writer), end })
    }

    /// A call for each row.
    pub fn rows(each: impl FnMut(Row<'_>) -> io::Result<()> + Send + 'a) -> Self {
        Self(To::Rows(Box::new(each)))
    }

    /// Nowhere: for those who want only the statistics.
    pub fn nowhere() -> Self {
        Self(To::Nowhere)
    }

    /// The byte behind each line, if lines may be handed over many at a time.
    pub(crate) fn line_end(&self) -> Option<u8> {
        match &self.0 {
            To::Lines { end, .. } => Some(*end),
            _ => None,
        }
    }

    /// Lines with their ends.
    pub(crate) fn block(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.0 {
            To::Lines { writer, .. } => writer.write_all(bytes),
            _ => Ok(()),
        }
    }

    pub(crate) fn row(&mut self, row: Row<'_>) -> io::Result<()> {
        match &mut self.0 {
            To::Lines { writer, end } => {
                writer.write_all(row.line)?;
                writer.write_all(&[*end])
            }
            To::Rows(each) => each(row),
            To::Nowhere => Ok(()),
        }
    }

    pub(crate) fn finish(&mut self) -> io::Result<()> {
        match &mut self.0 {
            To::Lines { writer, .. } => writer.flush(),
            _ => Ok(()),
        }
    }
}
