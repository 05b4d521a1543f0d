//! How to talk to the servers.

use std::time::Duration;

/// Time limits, replicas, and how much is on its way at once.
///
/// ```
/// use gowk_redis::Options;
/// use std::time::Duration;
///
/// let options = Options::default().wait(1, Duration::from_secs(1)).patience(Duration::from_secs(60));
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) connect_timeout: Duration,
    pub(crate) response_timeout: Duration,
    pub(crate) patience: Duration,
    pub(crate) in_flight: usize,
    pub(crate) replicas: bool,
    pub(crate) wait: Option<Wait>,
    pub(crate) cluster: Option<bool>,
    pub(crate) module: bool,
}

/// Replicas that have to confirm an add.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub(crate) replicas: usize,
    pub(crate) timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(3),
            response_timeout: Duration::from_secs(10),
            // A cluster notices a dead master after 15 seconds unless it was told otherwise.
            patience: Duration::from_secs(40),
            in_flight: 4,
            replicas: false,
            wait: None,
            cluster: None,
            module: true,
        }
    }
}

impl Options {
    /// How long a connection may take to come about; 3 s unless said.
    #[must_use]
    pub fn connect_timeout(self, connect_timeout: Duration) -> Self {
        Self { connect_timeout, ..self }
    }

    /// How long an answer may take; 10 s unless said.
    #[must_use]
    pub fn response_timeout(self, response_timeout: Duration) -> Self {
        Self { response_timeout, ..self }
    }

    /// How long to try again while a node is down, fails over or moves slots, with nothing getting through; 40 s unless said. Adds
    /// and questions are repeated without harm.
    #[must_use]
    pub fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// How many pipelines may be on their way to a node at once; 4 unless said.
    #[must_use]
    pub fn in_flight(self, in_flight: usize) -> Self {
        Self { in_flight: in_flight.max(1), ..self }
    }

    /// Asks replicas. They may be behind their master: a key that was just added may be denied for a moment.
    #[must_use]
    pub fn read_replicas(self, replicas: bool) -> Self {
        Self { replicas, ..self }
    }

    /// An add counts as done when so many replicas have confirmed it (`WAIT`). Without this, replication is asynchronous: a failover may
    /// lose the last adds, which are then denied. With it, an add that was confirmed survives the loss of its master, as long as one of
    /// the replicas that confirmed takes over.
    #[must_use]
    pub fn wait(self, replicas: usize, timeout: Duration) -> Self {
        Self { wait: (replicas > 0).then_some(Wait { replicas, timeout }), ..self }
    }

    /// Whether to use the commands of our module where all nodes have them, which spares servers most of their time; true unless said. The
    /// filter is the same either way, and both kinds of clients may work on it at once.
    #[must_use]
    pub fn module(self, module: bool) -> Self {
        Self { module, ..self }
    }

    /// Whether the servers are a cluster; asked of the first one unless said.
    #[must_use]
    pub fn cluster(self, cluster: bool) -> Self {
        Self { cluster: Some(cluster), ..self }
    }
}
