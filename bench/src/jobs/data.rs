//! The data, the same for the same scale: search queries, an access log, integers, and a folder of texts.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
    path::{Path, PathBuf},
};

/// Numbers that look random and are the same every time.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    fn unit(&mut self) -> f64 {
        (self.roll() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A rank from 1 to `n`, rank r with a chance in proportion to about r^-skew; skew below 1.
    fn zipf(&mut self, n: f64, skew: f64) -> u64 {
        let power = 1.0 - skew;
        ((self.unit() * (n.powf(power) - 1.0) + 1.0).powf(1.0 / power)) as u64
    }
}

fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn read_all(path: &Path) -> io::Result<()> {
    let (mut file, mut buffer) = (File::open(path)?, vec![0; 1 << 20]);
    while file.read(&mut buffer)? > 0 {}
    Ok(())
}

/// Where the data of a scale is.
pub(crate) struct Data {
    dir: PathBuf,
    scale: f64,
}

impl Data {
    pub(crate) fn new(dir: &Path, scale: f64) -> io::Result<Self> {
        let dir = dir.join(format!("scale-{scale}"));
        fs::create_dir_all(&dir)?;
        Ok(Self { dir, scale })
    }

    /// Leaves the machine as every program should find it: what others have written is on disk, and what is to be read in memory.
    pub(crate) fn settle(&self) -> io::Result<()> {
        // SAFETY: it takes nothing and gives nothing.
        unsafe { libc::sync() };
        let mut folders = vec![self.dir.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                match entry.file_type()?.is_dir() {
                    true => folders.push(entry.path()),
                    false => read_all(&entry.path())?,
                }
            }
        }
        Ok(())
    }

    fn count(&self, full: f64) -> u64 {
        (full * self.scale).max(1.0) as u64
    }

    /// A file, made if it is not there; under its name only when it is whole.
    fn file(
        &self,
        name: &str,
        make: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> io::Result<PathBuf> {
        let path = self.dir.join(name);
        if !path.exists() {
            eprintln!("making {}", path.display());
            let unfinished = self.dir.join(format!("{name}.part"));
            let mut writer = BufWriter::with_capacity(1 << 20, File::create(&unfinished)?);
            make(&mut writer)?;
            writer.flush()?;
            fs::rename(unfinished, &path)?;
        }
        Ok(path)
    }

    /// 100M search queries by Zipf 0.8, a third of them different. Every ninth query of one side is one of the other as well.
    pub(crate) fn queries(&self, side: u64) -> io::Result<PathBuf> {
        let count = self.lines_of_queries();
        self.file(&format!("queries-{side}.txt"), |out| {
            let mut dice = Dice::new(side << 32);
            let mut line = Vec::new();
            for _ in 0..count {
                let rank = dice.zipf(count as f64, 0.8);
                let shared = mix(rank).is_multiple_of(9);
                // One to one: an odd multiplier permutes the 2^29 ranks.
                let id =
                    (rank * 2 + u64::from(!shared && side == 1)).wrapping_mul(0x2545_f491) & ((1 << 29) - 1);
                query(id, &mut line);
                out.write_all(&line)?;
            }
            Ok(())
        })
    }

    /// The lines of one side of the queries.
    pub(crate) fn lines_of_queries(&self) -> u64 {
        self.count(1e8)
    }

    /// The first tenth of the queries of one side.
    pub(crate) fn asked(&self, side: u64) -> io::Result<PathBuf> {
        let (all, count) = (self.queries(side)?, self.count(1e7));
        self.file(&format!("asked-{side}.txt"), |out| {
            let lines =
                BufReader::with_capacity(1 << 20, File::open(&all)?).split(b'\n').take(count as usize);
            for line in lines {
                out.write_all(&line?)?;
                out.write_all(b"\n")?;
            }
            Ok(())
        })
    }

    /// 5M phone numbers that are known; and 10,000 that are asked, half of them known.
    pub(crate) fn phones(&self) -> io::Result<(PathBuf, PathBuf)> {
        let number = |i: u64| 13_000_000_000 + mix(i) % 6_000_000_000;
        let known = self.count(5e6);
        let write = |name: &str, of: &dyn Fn(u64) -> u64, count: u64| {
            self.file(name, |out| (0..count).try_for_each(|i| writeln!(out, "{}", of(i))))
        };
        let every = (known / 5_000).max(1);
        Ok((
            write("phones.txt", &number, known)?,
            write(
                "asked-phones.txt",
                &|i| number(if i % 2 == 0 { i / 2 * every } else { known + i }),
                10_000,
            )?,
        ))
    }

    /// 18M requests, 1.8 GB, of addresses by Zipf.
    pub(crate) fn access_log(&self) -> io::Result<PathBuf> {
        let count = self.count(1.8e7);
        self.file("access.log", |out| {
            let mut dice = Dice::new(7);
            for i in 0..count {
                let [a, b, c, d] = (mix(dice.zipf(2e6, 0.9)) as u32).to_le_bytes();
                let page = dice.zipf(1e5, 0.9);
                let (second, bytes) = (i / 50 % 60, dice.roll() % 50_000);
                writeln!(
                    out,
                    "{a}.{b}.{c}.{d} - - [16/Nov/2026:10:{:02}:{second:02} +0000] \"GET /page/{page} HTTP/1.1\" 200 {bytes} \"-\" \"Mozilla/5.0\"",
                    i / 3000 % 60
                )?;
            }
            Ok(())
        })
    }

    /// 200M integers below 2^32, as text.
    pub(crate) fn integers(&self) -> io::Result<PathBuf> {
        let count = self.count(2e8);
        self.file("integers.txt", |out| {
            let mut dice = Dice::new(9);
            let mut line = Vec::new();
            for _ in 0..count {
                line.clear();
                writeln!(line, "{}", dice.roll() >> 32)?;
                out.write_all(&line)?;
            }
            Ok(())
        })
    }

    /// 2,000 texts of a megabyte, and 100 words to look for. Words of a text are by Zipf, so that some are in all texts and
    /// some in few.
    pub(crate) fn texts(&self) -> io::Result<(PathBuf, PathBuf)> {
        let (dir, files) = (self.dir.join("texts"), self.count(2e3));
        if !dir.exists() {
            eprintln!("making {}", dir.display());
            let unfinished = self.dir.join("texts.part");
            fs::create_dir_all(&unfinished)?;
            let mut dice = Dice::new(11);
            for i in 0..files {
                let (mut text, mut line) = (Vec::with_capacity(1 << 20), Vec::new());
                while text.len() < 1 << 20 {
                    query(word_id(dice.zipf(5e5, 0.95)), &mut line);
                    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
                    text.extend_from_slice(&line[..end]);
                    text.push(if dice.roll().is_multiple_of(12) { b'\n' } else { b' ' });
                }
                fs::write(unfinished.join(format!("{i:04}.txt")), text)?;
            }
            fs::rename(unfinished, &dir)?;
        }
        let words = self.file("words.txt", |out| {
            let mut line = Vec::new();
            for i in 0..100u64 {
                query(word_id(1 << (i % 19) | i), &mut line);
                let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
                out.write_all(&line[..end])?;
                out.write_all(b"\n")?;
            }
            Ok(())
        })?;
        Ok((words, dir))
    }
}

fn word_id(rank: u64) -> u64 {
    rank.wrapping_mul(0x2545_f491) & ((1 << 29) - 1)
}

/// The query of a number, with a newline: two or three words of syllables, different for different numbers below 2^29.
fn query(id: u64, line: &mut Vec<u8>) {
    const CONSONANTS: &[u8; 20] = b"bcdfghjklmnpqrstvwxz";
    const VOWELS: &[u8; 5] = b"aeiou";
    line.clear();
    let mut rest = id;
    for i in 0..5 {
        line.push(CONSONANTS[(rest % 20) as usize]);
        line.push(VOWELS[(rest / 20 % 5) as usize]);
        rest /= 100;
        if rest == 0 && i > 1 {
            break;
        }
        if i == 2 {
            line.push(b' ');
        }
    }
    line.extend_from_slice(if id.is_multiple_of(3) { b" uk\n" } else { b"\n" });
}
