//! A client that shows the bytes of the protocol as they are.

use std::{
    fmt,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

/// A reply, as the protocol has it.
#[derive(Clone, PartialEq)]
#[allow(missing_docs, reason = "the words of the protocol")]
pub enum Reply {
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
    /// The elements of an array.
    pub fn array(self) -> Vec<Reply> {
        match self {
            Self::Array(all) => all,
            other => panic!("{other:?} is no array"),
        }
    }

    /// An integer.
    pub fn int(&self) -> i64 {
        match self {
            Self::Int(n) => *n,
            other => panic!("{other:?} is no integer"),
        }
    }

    /// The bytes of a string.
    pub fn bytes(self) -> Vec<u8> {
        match self {
            Self::Bulk(bytes) => bytes,
            other => panic!("{other:?} is no string"),
        }
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
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
#[derive(Debug)]
pub struct Client(BufReader<TcpStream>);

impl Client {
    /// A connection to this port.
    pub fn connect(port: u16) -> Self {
        Self::try_connect(port).expect("the server answers")
    }

    /// A connection, if the server answers.
    pub fn try_connect(port: u16) -> Option<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
        stream.set_nodelay(true).ok()?;
        Some(Self(BufReader::new(stream)))
    }

    /// Sends a command and reads its reply.
    pub fn call<W: AsRef<[u8]>>(&mut self, words: &[W]) -> Reply {
        self.try_call(words).expect("the server answers")
    }

    /// None if the server has gone.
    pub fn try_call<W: AsRef<[u8]>>(&mut self, words: &[W]) -> Option<Reply> {
        self.send(words)?;
        self.read()
    }

    /// Sends a command.
    pub fn send<W: AsRef<[u8]>>(&mut self, words: &[W]) -> Option<()> {
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
    pub fn say(&mut self, line: &str) -> String {
        format!("{:?}", self.call(&line.split(' ').collect::<Vec<_>>()))
    }

    /// Reads a reply; none if the server has gone.
    pub fn read(&mut self) -> Option<Reply> {
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
