//! `gowk web`: the page.

use crate::{commands::redis::URL, exit::Found};
use anyhow::{Context, bail};
use gowk_redis::Servers;
use gowk_web::{Options, Server};
use std::{
    io::{self, Write},
    path::PathBuf,
    process::{Command, Stdio},
    sync::mpsc,
    time::Duration,
};

/// Open a page to see the bits, plan the size and look inside filters
///
/// Serves a page on 127.0.0.1, for this machine's browsers alone, until Ctrl-C. It is inside the program and loads nothing from
/// anywhere else.
///
/// Lab: type words and watch them become bits, counters or fingerprints; provoke a false positive; see cuckoos kicked from nest to nest.
/// Plan: the families side by side for your number of keys, with curves. Inspect: drop a filter on the page, or pick one of the folder
/// or of servers; see how full it is, ask it keys, compare it with another.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk web                      prints the address of the page
  gowk web --open filters/      and opens it, with the filters below this folder
  gowk web --port 0             on any free port
  gowk web --redis redis://127.0.0.1:6379       with the filters that live there
  GOWK_REDIS_URL=rediss://:SECRET@redis.example.com gowk web --redis env

Whoever can log in to this machine can ask the page as well, and so read the filters below the folder and those on the servers.")]
pub(crate) struct Web {
    /// The folder whose filters can be opened, and nothing above it
    folder: Option<PathBuf>,
    /// Redis or Valkey whose filters can be looked at: redis://HOST:6379, any node of a cluster, or env
    ///
    /// Filters of gowk redis, and those of a module (BF.*, CF.*); nothing else of the servers is shown, and nothing is written. env takes the URL from the
    /// environment variable GOWK_REDIS_URL: a password is better kept there, since others can see the arguments of a process. It is never
    /// printed, and the page is not told.
    #[arg(long, value_name = "URL")]
    redis: Option<String>,
    /// The port; 0 for any that is free
    #[arg(long, default_value_t = 7733, value_name = "N")]
    port: u16,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
}

impl Web {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        if let Some(folder) = &self.folder
            && !folder.is_dir()
        {
            bail!("{} is not a folder; name the one that the filters are in", folder.display());
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .context("cannot start the threads of the server")?;
        runtime.block_on(self.serve())?;
        // A question that is still being computed has nobody left to answer.
        runtime.shutdown_background();
        Ok(Found::Something)
    }

    async fn serve(self) -> anyhow::Result<()> {
        let mut options = Options::default();
        options.servers = match &self.redis {
            Some(url) => Some(connect(url).await?),
            None => None,
        };
        options.folder.clone_from(&self.folder);
        options.port = self.port;
        let server = match Server::bind(options).await {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => bail!(
                "port {} is taken, perhaps by another gowk web; use that one, or choose another with --port (0 takes any)",
                self.port
            ),
            bound => bound.context("cannot serve the page")?,
        };
        let url = server.url();
        // Before the address is told: whoever has read it may interrupt at once.
        let interrupted = interrupted()?;
        writeln!(io::stdout(), "{url}").context("cannot write the address")?;
        eprintln!("gowk: serving the page there; Ctrl-C ends it");
        if self.open {
            open(&url);
        }
        server.run(interrupted).await.context("the page cannot be served any longer")
    }
}

/// The servers of `--redis`. Who looks at a page does not wait as long for them as a program does.
async fn connect(url: &str) -> anyhow::Result<Servers> {
    let url = match url {
        "env" => std::env::var(URL).ok().filter(|url| !url.is_empty()).with_context(|| {
            format!("which servers? --redis env takes the environment variable {URL}, which is not set")
        })?,
        url => url.to_owned(),
    };
    let options = gowk_redis::Options::default()
        .patience(Duration::from_secs(3))
        .response_timeout(Duration::from_secs(5))
        .connect_timeout(Duration::from_secs(3));
    Ok(Servers::connect(&[url], options).await?)
}

/// Is over when someone wants the program to end.
fn interrupted() -> anyhow::Result<impl Future<Output = ()> + Send + 'static> {
    let (tell, told) = mpsc::channel();
    ctrlc::set_handler(move || {
        tell.send(()).ok();
    })
    .context("cannot wait for Ctrl-C")?;
    Ok(async move {
        tokio::task::spawn_blocking(move || told.recv()).await.ok();
    })
}

/// Opens the address with what the system opens addresses with. The address has been printed, so a failure is no loss.
fn open(url: &str) {
    let opener = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let opened = Command::new(opener)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if opened.is_err() {
        eprintln!("gowk: no browser could be opened ({opener} is missing); open {url} yourself");
    }
}
