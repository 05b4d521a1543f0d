//! Which servers, and how to talk to them.

use crate::numbers::parse_time;
use anyhow::bail;
use gowk_redis::{
    Options,
    blocking::{Bloom, Counting, Servers},
};
use std::time::Duration;

/// Where a URL is read from if none is given: not from the list of processes, where a password would be seen.
pub(crate) const URL: &str = "GOWK_REDIS_URL";
const URL_HELP: &str =
    "redis://[USER:PASSWORD@]HOST[:PORT][/DB], or rediss:// for TLS [default: $GOWK_REDIS_URL]";

#[derive(clap::Args)]
#[command(next_help_heading = "Servers")]
pub(super) struct ServerArgs {
    // Not a doc comment, which would take the brackets for links.
    #[arg(
        long,
        value_name = "URL",
        help = URL_HELP,
        long_help = format!(
            "{URL_HELP}\n\nOf a cluster any node will do; more than one may be given, for when one is down. A password is better kept in the \
             environment variable, since others can see the arguments of a process. It is never printed."
        )
    )]
    url: Vec<String>,
    /// The servers are a cluster; found out by itself, unless INFO is not allowed
    #[arg(long)]
    cluster: bool,
    /// An add counts when so many replicas have confirmed it
    ///
    /// Replication is asynchronous: without this, a failover may lose the last adds, and these keys are then denied.
    #[arg(long, value_name = "N", default_value_t = 0)]
    wait: usize,
    /// Ask replicas, which may be behind
    #[arg(long)]
    replicas: bool,
    /// How long to try again while nothing gets through, as in 10s
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "40s")]
    patience: f64,
}

impl ServerArgs {
    pub(super) fn connect(&self) -> anyhow::Result<Servers> {
        let mut urls = self.url.clone();
        if urls.is_empty() {
            urls.extend(std::env::var(URL).ok().filter(|url| !url.is_empty()));
        }
        if urls.is_empty() {
            bail!(
                "which servers? name one with --url redis://HOST:6379, or in the environment variable {URL}"
            );
        }
        let mut options = Options::default()
            .patience(Duration::from_secs_f64(self.patience))
            .wait(self.wait, Duration::from_secs(5))
            .read_replicas(self.replicas);
        if self.cluster {
            options = options.cluster(true);
        }
        Ok(Servers::connect(&urls, options)?)
    }
}

/// A filter of either kind.
pub(super) enum Either {
    Bloom(Bloom),
    Counting(Counting),
}

impl Either {
    pub(super) fn open(servers: &Servers, name: &str) -> anyhow::Result<Self> {
        Ok(match servers.kind(name)? {
            Some("counting") => Self::Counting(servers.open_counting(name)?),
            _ => Self::Bloom(servers.open(name)?),
        })
    }

    pub(super) fn info(&self, exact: bool) -> anyhow::Result<gowk_redis::Info> {
        Ok(match self {
            Self::Bloom(filter) => filter.info(exact)?,
            Self::Counting(filter) => filter.info(exact)?,
        })
    }

    pub(super) fn hasher(&self) -> gowk::Hasher {
        match self {
            Self::Bloom(filter) => filter.hasher(),
            Self::Counting(filter) => filter.hasher(),
        }
    }

    /// Whether each key may be there.
    pub(super) fn ask(&self, digests: &[gowk::Digest]) -> anyhow::Result<Vec<bool>> {
        Ok(match self {
            Self::Bloom(filter) => filter.may_contain_many(digests)?,
            Self::Counting(filter) => {
                filter.count_many(digests)?.into_iter().map(|count| count > 0).collect()
            }
        })
    }

    /// How many of the keys were new.
    pub(super) fn add(&self, digests: &[gowk::Digest]) -> Result<u64, gowk_redis::BatchError> {
        let added = match self {
            Self::Bloom(filter) => filter.add_many(digests)?,
            Self::Counting(filter) => filter.add_many(digests)?,
        };
        Ok(added.into_iter().filter(|added| *added == gowk::Inserted::New).count() as u64)
    }
}

/// Tells when more keys have come than were promised.
pub(super) fn tell_overfull(info: &gowk_redis::Info) {
    if info.fpp_now > info.fpp * 1.05 && info.estimated_items > info.items as f64 {
        eprintln!(
            "gowk: warning: {} was made for {} keys and holds about {}: its rate is {}, not {}; rebuild it for more",
            info.name,
            crate::numbers::count(info.items as f64),
            crate::numbers::count(info.estimated_items),
            crate::numbers::rate(info.fpp_now),
            crate::numbers::rate(info.fpp)
        );
    }
}
