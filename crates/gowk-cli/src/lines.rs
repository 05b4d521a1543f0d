//! Keys as lines: of files and of standard input, in large blocks, without a copy for each.

use anyhow::{Context, bail};
use std::{
    fs::File,
    io::{self, Read, StdinLock},
    path::{Path, PathBuf},
};

/// Where keys come from: `-` is standard input.
pub(crate) enum Source {
    Stdin(StdinLock<'static>),
    File(File, PathBuf),
}

impl Source {
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Stdin(io::stdin().lock()));
        }
        let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        if file.metadata()?.is_dir() {
            bail!("{} is a directory, not a file of keys", path.display());
        }
        Ok(Self::File(file, path.to_owned()))
    }

    /// The bytes that are known to be in it; none for a pipe.
    pub(crate) fn size(&self) -> Option<u64> {
        match self {
            Self::Stdin(_) => None,
            Self::File(file, _) => {
                file.metadata().ok().filter(std::fs::Metadata::is_file).map(|data| data.len())
            }
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> anyhow::Result<usize> {
        loop {
            let read = match self {
                Self::Stdin(input) => input.read(buffer),
                Self::File(file, _) => file.read(buffer),
            };
            match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error).with_context(|| format!("cannot read {}", self.name())),
                Ok(bytes) => return Ok(bytes),
            }
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Stdin(_) => "standard input".into(),
            Self::File(_, path) => path.display().to_string(),
        }
    }

    /// Hands out whole blocks of lines: each part ends with a newline, but for the last of a source without a final one.
    pub(crate) fn for_each_block(
        mut self,
        mut each: impl FnMut(&[u8]) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut buffer = vec![0; 1 << 20];
        let mut filled = 0;
        loop {
            if filled == buffer.len() {
                // One line longer than the buffer.
                buffer.resize(2 * filled, 0);
            }
            let read = self.read(&mut buffer[filled..])?;
            if read == 0 {
                return if filled > 0 { each(&buffer[..filled]) } else { Ok(()) };
            }
            filled += read;
            if let Some(end) = memchr::memrchr(b'\n', &buffer[filled - read..filled]) {
                let end = filled - read + end + 1;
                each(&buffer[..end])?;
                buffer.copy_within(end..filled, 0);
                filled -= end;
            }
        }
    }

    /// All of it.
    pub(crate) fn read_all(self) -> anyhow::Result<Vec<u8>> {
        let mut all = Vec::with_capacity(self.size().unwrap_or(0) as usize);
        self.for_each_block(|block| {
            all.extend_from_slice(block);
            Ok(())
        })?;
        Ok(all)
    }
}

/// The lines of a block, without their ends, `\n` or `\r\n`.
pub(crate) fn lines(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    let body = block.strip_suffix(b"\n").unwrap_or(block);
    let mut rest = (!block.is_empty()).then_some(body);
    std::iter::from_fn(move || {
        let block = rest?;
        let line = match memchr::memchr(b'\n', block) {
            Some(end) => {
                rest = Some(&block[end + 1..]);
                &block[..end]
            }
            None => {
                rest = None;
                block
            }
        };
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_a_newline_or_the_file() {
        let split = |text: &'static str| {
            lines(text.as_bytes()).map(|l| str::from_utf8(l).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(split(""), Vec::<&str>::new());
        assert_eq!(split("\n"), [""]);
        assert_eq!(split("a"), ["a"]);
        assert_eq!(split("a\n"), ["a"]);
        assert_eq!(split("a\r\nb\n\nc"), ["a", "b", "", "c"]);
    }
}
