//! A server of one's own.

use crate::client::{Client, Reply};
use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    thread::sleep,
    time::{Duration, Instant},
};

/// The module, built for this run.
pub fn module() -> &'static Path {
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
        // A test is target/debug/deps/name-hash.
        let test = std::env::current_exe().expect("a test has a path");
        test.ancestors().nth(2).expect("it is in a target folder").join("libgowk.so")
    })
}

/// Seconds of processor time.
#[derive(Clone, Copy, Debug)]
pub struct Cpu {
    /// In the server's own code.
    pub user: f64,
    /// In the kernel, for it.
    pub system: f64,
}

/// A server that ends with this value.
#[derive(Debug)]
pub struct Server {
    process: Child,
    /// Where it listens, on 127.0.0.1.
    pub port: u16,
    /// Its folder.
    pub folder: PathBuf,
    options: Vec<String>,
    #[expect(dead_code, reason = "the folder goes with it")]
    owned: Option<tempfile::TempDir>,
}

/// Options of a server that has written and synced to its log what it replied to. By default a log is synced each second, and while
/// that goes on, on a slow disk, what was replied to is kept back for up to two more.
pub const LOGGED: [&str; 6] = ["--save", "", "--appendonly", "yes", "--appendfsync", "always"];

impl Server {
    /// A server with the module and these options, in a folder of its own.
    pub fn start(options: &[&str]) -> Self {
        let module = module().to_str().expect("a path of text");
        let options: Vec<&str> = ["--loadmodule", module].iter().chain(options).copied().collect();
        Self::plain(&options)
    }

    /// A server with these options, in a folder of its own; without the module.
    pub fn plain(options: &[&str]) -> Self {
        let owned = tempfile::tempdir().expect("a folder");
        let folder = owned.path().to_owned();
        let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        let (process, port) = spawn(&folder, &options);
        Self { process, port, folder, options, owned: Some(owned) }
    }

    /// A client of it.
    pub fn connect(&self) -> Client {
        Client::connect(self.port)
    }

    /// A client that speaks RESP3.
    pub fn connect_3(&self) -> Client {
        let mut client = self.connect();
        client.call(&["HELLO", "3"]);
        client
    }

    /// Ends the server at once and starts it again over the same folder.
    pub fn kill_and_restart(&mut self) {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it ended");
        (self.process, self.port) = spawn(&self.folder, &self.options);
    }

    /// Ends the server at once.
    pub fn kill(&mut self) {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it ended");
    }

    /// Stops the server where it is, as if it were slow, or lets it go on.
    pub fn freeze(&self, frozen: bool) {
        let signal = if frozen { "-STOP" } else { "-CONT" };
        let sent = Command::new("kill").args([signal, &self.process.id().to_string()]).status();
        assert!(sent.expect("kill runs").success(), "it runs");
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// The processor time that the server has spent so far.
    pub fn cpu(&self) -> Cpu {
        let info = self.connect().say("INFO cpu");
        let field = |name: &str| {
            let rest = info.split(name).nth(1)?;
            rest.split(|byte: char| byte != '.' && !byte.is_ascii_digit()).next()?.parse().ok()
        };
        let seconds = |name| field(name).expect("a server tells its time");
        Cpu { user: seconds("used_cpu_user:"), system: seconds("used_cpu_sys:") }
    }

    /// Whether it runs.
    pub fn is_alive(&mut self) -> bool {
        self.process.try_wait().expect("it can be asked").is_none()
    }

    /// What it logged.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// A port that nobody listens on.
pub fn free_port() -> u16 {
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
            .args(["--logfile", "log", "--enable-debug-command", "yes"])
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
