//! One connection to each node, made when it is first needed and again when it has broken.

use super::Address;
use crate::options::Options;
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, Pipeline, RedisError, Value,
    aio::MultiplexedConnection,
};
use std::{
    collections::HashMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

pub(super) struct Links {
    /// User, password, database and TLS are the same for all nodes of a cluster.
    template: ConnectionInfo,
    config: AsyncConnectionConfig,
    open: Mutex<HashMap<(Address, bool), Link>>,
    made: AtomicU64,
}

#[derive(Clone)]
struct Link {
    number: u64,
    connection: MultiplexedConnection,
}

impl Links {
    pub(super) fn new(template: ConnectionInfo, options: &Options) -> Self {
        // rustls has no cryptography of its own, and panics where nobody has chosen one.
        #[cfg(feature = "tls")]
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            // Somebody else may have been quicker, which is as good.
            rustls::crypto::ring::default_provider().install_default().ok();
        }
        let wait = options.wait.map_or_else(Default::default, |wait| wait.timeout);
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(options.connect_timeout))
            .set_response_timeout(Some(options.response_timeout + wait));
        Self { template, config, open: Mutex::default(), made: AtomicU64::new(0) }
    }

    /// The name under which a node is known here.
    pub(super) fn address(info: &ConnectionInfo) -> Address {
        match info.addr() {
            ConnectionAddr::Unix(path) => path.to_string_lossy().into(),
            addr => addr.to_string().into(),
        }
    }

    /// Sends a pipeline to a node and reads `count` answers. A broken connection is forgotten.
    pub(super) async fn send(
        &self,
        node: &Address,
        replica: bool,
        pipeline: &Pipeline,
        count: usize,
    ) -> Result<Vec<Value>, RedisError> {
        let mut link = self.link(node, replica).await?;
        let answers = link.connection.send_packed_commands(pipeline, 0, count).await;
        if answers
            .as_ref()
            .is_err_and(|error| error.is_io_error() || error.is_connection_dropped() || error.is_timeout())
        {
            self.forget(node, replica, link.number);
        }
        answers
    }

    async fn link(&self, node: &Address, replica: bool) -> Result<Link, RedisError> {
        let key = (node.clone(), replica);
        if let Some(link) = self.open().get(&key) {
            return Ok(link.clone());
        }
        let info = self.template.clone().set_addr(self.addr(node));
        let mut connection =
            Client::open(info)?.get_multiplexed_async_connection_with_config(&self.config).await?;
        if replica {
            redis::cmd("READONLY").exec_async(&mut connection).await?;
        }
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        // Two may have connected at once; both connections serve, and the later one stays.
        let link = Link { number, connection };
        self.open().insert(key, link.clone());
        Ok(link)
    }

    fn forget(&self, node: &Address, replica: bool, number: u64) {
        let mut open = self.open();
        let key = (node.clone(), replica);
        if open.get(&key).is_some_and(|link| link.number == number) {
            open.remove(&key);
        }
    }

    fn open(&self) -> std::sync::MutexGuard<'_, HashMap<(Address, bool), Link>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a node is, in the way that the first one is reached.
    fn addr(&self, node: &str) -> ConnectionAddr {
        let (host, port) = node.rsplit_once(':').unwrap_or((node, "6379"));
        let port = port.parse().unwrap_or(6379);
        match self.template.addr() {
            ConnectionAddr::Tcp(..) => ConnectionAddr::Tcp(host.to_owned(), port),
            ConnectionAddr::TcpTls { insecure, tls_params, .. } => ConnectionAddr::TcpTls {
                host: host.to_owned(),
                port,
                insecure: *insecure,
                tls_params: tls_params.clone(),
            },
            other => other.clone(),
        }
    }
}
