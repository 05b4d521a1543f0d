//! The module inside a server: processor time of the server per item, beside the server's own commands and RedisBloom's.
//!
//! Servers run on loopback; one connection sends sixteen commands at a time. Only the time that the server spent in its own code
//! counts, so the network of the machine has no part in it.

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::Duration,
};

use anyhow::{Context, bail};

use crate::args::Redis;
use crate::keys::mix;
use crate::machine;
use crate::results::count;

/// Commands that are sent before a reply is read.
const AHEAD: usize = 16;

/// A row: a command, how many items it has, and how its reply looks.
struct Row {
    name: &'static str,
    words: &'static [&'static str],
    items: usize,
    /// Lines of a reply, beside one for each item.
    lines: usize,
    each: usize,
    keys: Keys,
    /// Commands of one round.
    commands: usize,
}

#[derive(Clone, Copy)]
enum Keys {
    /// Half of them are there.
    Mixed,
    /// Strings that are there.
    Strings,
    /// Never seen before.
    New,
}

const fn row(name: &'static str, words: &'static [&'static str], items: usize, keys: Keys) -> Row {
    Row {
        name,
        words,
        items,
        lines: 1,
        each: 1,
        keys,
        commands: if items == 1 { 400_000 } else { 4_000_000 / items },
    }
}

const fn one(name: &'static str, words: &'static [&'static str], lines: usize, keys: Keys) -> Row {
    Row { lines, each: 0, ..row(name, words, 1, keys) }
}

fn rows() -> Vec<Row> {
    vec![
        one("GET", &["GET"], 2, Keys::Strings),
        Row { each: 0, ..row("EXISTS x100 (core)", &["EXISTS"], 100, Keys::Strings) },
        one("BF.EXISTS", &["BF.EXISTS", "b"], 1, Keys::Mixed),
        row("BF.MEXISTS x10", &["BF.MEXISTS", "b"], 10, Keys::Mixed),
        row("BF.MEXISTS x100", &["BF.MEXISTS", "b"], 100, Keys::Mixed),
        row("BF.MEXISTS x100, no key", &["BF.MEXISTS", "none"], 100, Keys::Mixed),
        Row { commands: 10_000, ..row("BF.MADD x100", &["BF.MADD", "a"], 100, Keys::New) },
        one("CF.EXISTS", &["CF.EXISTS", "c"], 1, Keys::Mixed),
        row("CF.MEXISTS x100", &["CF.MEXISTS", "c"], 100, Keys::Mixed),
        Row { commands: 10_000, ..row("CF.INSERT x100", &["CF.INSERT", "d", "ITEMS"], 100, Keys::New) },
    ]
}

/// A server with a module.
struct Server {
    process: Child,
    stream: TcpStream,
    folder: std::path::PathBuf,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
        fs::remove_dir_all(&self.folder).ok();
    }
}

impl Server {
    fn start(program: &Path, module: &Path) -> anyhow::Result<Self> {
        let module = fs::canonicalize(module).with_context(|| {
            format!("no module at {}; build it with cargo build --release -p gowk-module", module.display())
        })?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let folder = std::env::temp_dir().join(format!("gowk-bench-{}-{port}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let mut process = Command::new(program)
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--dir"])
            .arg(&folder)
            .arg("--loadmodule")
            .arg(module)
            .stdout(Stdio::null())
            .spawn()
            .with_context(|| format!("{} does not start; install redis-server", program.display()))?;
        for _ in 0..200 {
            if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) {
                stream.set_nodelay(true)?;
                return Ok(Self { process, stream, folder });
            }
            sleep(Duration::from_millis(25));
        }
        process.kill()?;
        bail!("the server does not answer: does it know the module?");
    }

    /// Seconds of the server in its own code.
    fn seconds(&self) -> anyhow::Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?;
        let fields = stat.rsplit(") ").next().context("a process has a name")?;
        let ticks: u64 = fields.split(' ').nth(11).context("a process has times")?.parse()?;
        Ok(ticks as f64 / 100.0)
    }

    /// Sends commands and reads replies of so many lines each, sixteen at a time.
    fn pipeline(
        &mut self,
        commands: usize,
        lines: usize,
        mut write: impl FnMut(&mut Vec<u8>, usize),
    ) -> anyhow::Result<()> {
        let (mut request, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
        let mut sent = 0;
        while sent < commands {
            request.clear();
            let batch = AHEAD.min(commands - sent);
            for i in sent..sent + batch {
                write(&mut request, i);
            }
            sent += batch;
            self.stream.write_all(&request)?;
            let mut missing = batch * lines;
            while missing > 0 {
                let len = self.stream.read(&mut buffer)?;
                if len == 0 || buffer[..len].starts_with(b"-") {
                    bail!("the server refused: {}", String::from_utf8_lossy(&buffer[..len.min(200)]));
                }
                missing -= memchr::memchr_iter(b'\n', &buffer[..len]).count().min(missing);
            }
        }
        Ok(())
    }

    fn say(&mut self, words: &[&str]) -> anyhow::Result<()> {
        self.pipeline(1, 1, |request, _| command(request, words.iter().map(|word| word.as_bytes())))
    }

    /// What the rows need: strings, and filters that are half full.
    fn fill(&mut self, items: usize, ours: bool) -> anyhow::Result<()> {
        let capacity = items.to_string();
        for key in ["a", "b"] {
            self.say(&["BF.RESERVE", key, "0.01", &capacity])?;
        }
        for key in ["c", "d"] {
            match ours {
                true => self.say(&["CF.RESERVE", key, &capacity])?,
                // With two slots a bucket it would have grown to several tables by now.
                false => self.say(&["CF.RESERVE", key, &capacity, "BUCKETSIZE", "4"])?,
            }
        }
        self.pipeline(STRINGS, 1, |request, i| {
            command(request, [&b"SET"[..], &key(i as u64), b"xyz"].into_iter())
        })?;
        for words in [&["BF.MADD", "b"][..], &["CF.INSERT", "c", "ITEMS"]] {
            self.pipeline(items / 2 / 100, 101, |request, i| {
                let keys: Vec<_> = (0..100).map(|j| key((100 * i + j) as u64)).collect();
                let words = words.iter().map(|word| word.as_bytes());
                command(request, words.chain(keys.iter().map(|key| &key[..])));
            })?;
        }
        Ok(())
    }

    /// Microseconds per item of a row.
    fn measure(&mut self, row: &Row, items: usize, round: usize) -> anyhow::Result<f64> {
        let before = self.seconds()?;
        let fresh = 1u64 << 40;
        self.pipeline(row.commands, row.lines + row.each * row.items, |request, i| {
            let number = |j: usize| {
                let at = (i * row.items + j) as u64;
                match row.keys {
                    Keys::Mixed => mix(at) % items as u64,
                    Keys::Strings => mix(at) % STRINGS as u64,
                    Keys::New => fresh + (round * row.commands * row.items) as u64 + at,
                }
            };
            let keys: Vec<_> = (0..row.items).map(|j| key(number(j))).collect();
            let words = row.words.iter().map(|word| word.as_bytes());
            command(request, words.chain(keys.iter().map(|key| &key[..])));
        })?;
        Ok((self.seconds()? - before) * 1e6 / (row.commands * row.items) as f64)
    }
}

const STRINGS: usize = 1_000_000;

/// Twenty letters, as user names and ids have them.
fn key(n: u64) -> [u8; 20] {
    let mut key = *b"user:000000000000000";
    let mut rest = n;
    for digit in key[5..].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    key
}

fn command<'a>(request: &mut Vec<u8>, words: impl Iterator<Item = &'a [u8]> + Clone) {
    request.extend_from_slice(format!("*{}\r\n", words.clone().count()).as_bytes());
    for word in words {
        request.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        request.extend_from_slice(word);
        request.extend_from_slice(b"\r\n");
    }
}

pub(crate) fn run(options: &Redis) -> anyhow::Result<()> {
    println!("{}", machine::describe());
    let mut servers = vec![("gowk", Server::start(&options.server, &options.module)?)];
    if let Some(rival) = &options.rival {
        servers.push(("RedisBloom", Server::start(&options.server, rival)?));
    }
    for (name, server) in &mut servers {
        server.fill(options.items, *name == "gowk").with_context(|| format!("filling {name}"))?;
    }
    let rows = rows();
    let mut best = vec![vec![f64::INFINITY; servers.len()]; rows.len()];
    for round in 0..options.rounds as usize {
        for (row, best) in rows.iter().zip(&mut best) {
            for ((_, server), best) in servers.iter_mut().zip(best) {
                *best = best.min(server.measure(row, options.items, round)?);
            }
        }
    }
    println!(
        "\n## Server time, filters of {} at 1 %, half full, best of {} rounds, µs an item\n",
        count(options.items),
        options.rounds
    );
    let names: Vec<&str> = servers.iter().map(|(name, _)| *name).collect();
    println!("| command | {} |\n|---|{}", names.join(" | "), "--:|".repeat(names.len()));
    for (row, best) in rows.iter().zip(best) {
        let figures: Vec<String> = best.iter().map(|figure| format!("{figure:.3}")).collect();
        println!("| {} | {} |", row.name, figures.join(" | "));
    }
    Ok(())
}
