//! A server of one's own, with the module in it, and a client that shows the bytes of the protocol as they are.

#![allow(dead_code, reason = "each test file uses some of it")]

use std::{
    fmt,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    thread::sleep,
    time::{Duration, Instant},
};

/// The module, built for this run.
pub(crate) fn module() -> &'static Path {
    static MODULE: OnceLock<PathBuf> = OnceLock::new();
    MODULE.get_or_init(|| {
        if let Some(path) = std::env::var_os("GOWK_MODULE") {
            return path.into();
        }
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .args(["build", "--quiet", "--package", "gowk-module"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .expect("cargo runs");
        assert!(built.success(), "the module builds");
        // This file is target/debug/deps/name-hash.
        let test = std::env::current_exe().expect("a test has a path");
        test.ancestors().nth(2).expect("it is in a target folder").join("libgowk.so")
    })
}

/// A server that ends with this value.
pub(crate) struct Server {
    process: Child,
    pub port: u16,
    pub folder: PathBuf,
    options: Vec<String>,
    owned: Option<tempfile::TempDir>,
}

impl Server {
    /// A server with these options, in a folder of its own.
    pub(crate) fn start(options: &[&str]) -> Self {
        let owned = tempfile::tempdir().expect("a folder");
        let folder = owned.path().to_owned();
        let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        let (process, port) = spawn(&folder, &options);
        Self { process, port, folder, options, owned: Some(owned) }
    }

    pub(crate) fn connect(&self) -> Client {
        Client::connect(self.port)
    }

    /// A client that speaks RESP3.
    pub(crate) fn connect_3(&self) -> Client {
        let mut client = self.connect();
        client.call(&["HELLO", "3"]);
        client
    }

    /// Ends the server at once and starts it again over the same folder.
    pub(crate) fn kill_and_restart(&mut self) {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it ended");
        (self.process, self.port) = spawn(&self.folder, &self.options);
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        self.process.try_wait().expect("it can be asked").is_none()
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn free_port() -> u16 {
    // Below 55535, so that the bus of a cluster has a port above it.
    loop {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        if port < 55_000 {
            return port;
        }
    }
}

fn spawn(folder: &Path, options: &[String]) -> (Child, u16) {
    for _ in 0..20 {
        let port = free_port();
        let mut process = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--dir"])
            .arg(folder)
            .args(["--logfile", "log", "--enable-debug-command", "yes", "--loadmodule"])
            .arg(module())
            .args(options)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("redis-server is installed");
        let patience = Instant::now() + Duration::from_secs(60);
        while process.try_wait().expect("it can be asked").is_none() && Instant::now() < patience {
            if let Some(mut client) = Client::try_connect(port)
                && client.call(&["PING"]) == Reply::Status("PONG".into())
            {
                return (process, port);
            }
            sleep(Duration::from_millis(20));
        }
        // Somebody else took the port meanwhile, or it does not start at all.
        process.kill().ok();
        process.wait().ok();
    }
    let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
    panic!("the server does not start: {log}");
}

/// A reply, as the protocol has it.
#[derive(Clone, PartialEq)]
pub(crate) enum Reply {
    Status(String),
    Error(String),
    Int(i64),
    Bool(bool),
    Double(f64),
    Bulk(Vec<u8>),
    Null,
    Array(Vec<Reply>),
    Map(Vec<(Reply, Reply)>),
}

impl Reply {
    pub(crate) fn array(self) -> Vec<Reply> {
        match self {
            Self::Array(all) => all,
            other => panic!("{other:?} is no array"),
        }
    }

    pub(crate) fn int(&self) -> i64 {
        match self {
            Self::Int(n) => *n,
            other => panic!("{other:?} is no integer"),
        }
    }

    pub(crate) fn bytes(self) -> Vec<u8> {
        match self {
            Self::Bulk(bytes) => bytes,
            other => panic!("{other:?} is no string"),
        }
    }

    pub(crate) fn is_error(&self) -> bool {
        matches!(self, Self::Error(_))
    }
}

/// Short, so that a test can say what it expects: `1`, `#t`, `+OK`, `-ERR ...`, `"text"`, `nil`, `[..]`, `{..}`.
impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(text) => write!(f, "+{text}"),
            Self::Error(text) => write!(f, "-{text}"),
            Self::Int(n) => write!(f, "{n}"),
            Self::Bool(yes) => f.write_str(if *yes { "#t" } else { "#f" }),
            Self::Double(n) => write!(f, ",{n}"),
            Self::Bulk(bytes) => write!(f, "{:?}", String::from_utf8_lossy(bytes)),
            Self::Null => f.write_str("nil"),
            Self::Array(all) => {
                let all: Vec<String> = all.iter().map(|reply| format!("{reply:?}")).collect();
                write!(f, "[{}]", all.join(" "))
            }
            Self::Map(all) => {
                let all: Vec<String> = all.iter().map(|(key, value)| format!("{key:?}: {value:?}")).collect();
                write!(f, "{{{}}}", all.join(", "))
            }
        }
    }
}

/// A connection.
pub(crate) struct Client(BufReader<TcpStream>);

impl Client {
    pub(crate) fn connect(port: u16) -> Self {
        Self::try_connect(port).expect("the server answers")
    }

    fn try_connect(port: u16) -> Option<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
        stream.set_nodelay(true).ok()?;
        Some(Self(BufReader::new(stream)))
    }

    pub(crate) fn call<W: AsRef<[u8]>>(&mut self, words: &[W]) -> Reply {
        self.try_call(words).expect("the server answers")
    }

    /// None if the server has gone.
    pub(crate) fn try_call<W: AsRef<[u8]>>(&mut self, words: &[W]) -> Option<Reply> {
        self.send(words)?;
        self.read()
    }

    pub(crate) fn send<W: AsRef<[u8]>>(&mut self, words: &[W]) -> Option<()> {
        let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            let word = word.as_ref();
            bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            bytes.extend_from_slice(word);
            bytes.extend_from_slice(b"\r\n");
        }
        self.0.get_mut().write_all(&bytes).ok()
    }

    /// A command as a line, and its reply as [`Reply`]'s short text.
    pub(crate) fn say(&mut self, line: &str) -> String {
        format!("{:?}", self.call(&line.split(' ').collect::<Vec<_>>()))
    }

    pub(crate) fn read(&mut self) -> Option<Reply> {
        let mut line = String::new();
        self.0.read_line(&mut line).ok().filter(|len| *len > 0)?;
        let line = line.trim_end_matches("\r\n");
        let rest = &line[1..];
        Some(match line.as_bytes()[0] {
            b'+' => Reply::Status(rest.into()),
            b'-' => Reply::Error(rest.into()),
            b':' => Reply::Int(rest.parse().ok()?),
            b'#' => Reply::Bool(rest == "t"),
            b',' => Reply::Double(rest.parse().ok()?),
            b'_' => Reply::Null,
            b'$' | b'*' if rest == "-1" => Reply::Null,
            b'$' | b'=' => {
                let len: usize = rest.parse().ok()?;
                let mut bytes = vec![0; len + 2];
                self.0.read_exact(&mut bytes).ok()?;
                bytes.truncate(len);
                Reply::Bulk(bytes)
            }
            b'*' | b'~' | b'>' => {
                let len: usize = rest.parse().ok()?;
                Reply::Array((0..len).map(|_| self.read()).collect::<Option<_>>()?)
            }
            b'%' => {
                let len: usize = rest.parse().ok()?;
                Reply::Map((0..len).map(|_| Some((self.read()?, self.read()?))).collect::<Option<_>>()?)
            }
            other => panic!("a reply that begins with {:?}", other as char),
        })
    }
}

/// Waits until it is so; fails after a minute.
pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !so() {
        assert!(Instant::now() < patience, "waited a minute for {what}");
        sleep(Duration::from_millis(20));
    }
}
