//! The servers: commands go in with the slot of their key, answers come out, whatever happens to nodes meanwhile.
//!
//! ```text
//! requests --by slot--> nodes --pipelines, a few at once--> answers | MOVED, ASK, down, slow: again, elsewhere, until patience ends
//! ```
//!
//! The `redis` crate speaks to one node. Who has which slot, what is sent where, and what is tried again is decided here, since a batch
//! of ours is thousands of commands for all nodes, and the caller is told which of them failed.

mod links;
mod redirect;
mod topology;

use crate::{
    error::Error,
    options::{Options, Wait},
};
use futures_util::{StreamExt, future::join_all, stream};
use links::Links;
use redirect::Verdict;
use redis::{Cmd, ConnectionInfo, IntoConnectionInfo, Pipeline, RedisError, Value};
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use topology::Topology;

/// Host and port of a node.
pub(crate) type Address = Arc<str>;

/// Connections to one server or to all nodes of a cluster. Cheap to clone.
#[derive(Clone)]
pub struct Servers(Arc<Inner>);

struct Inner {
    links: Links,
    topology: Topology,
    options: Options,
    /// All nodes have the commands of the module.
    module: AtomicBool,
}

/// A command and the slot of its key.
pub(crate) struct Request {
    pub(crate) slot: u16,
    pub(crate) cmd: Cmd,
}

/// How requests are to be sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct How {
    /// Replicas may answer.
    pub(crate) replicas: bool,
    /// Replicas must confirm.
    pub(crate) wait: Option<Wait>,
    /// What may have been carried out is not sent again.
    pub(crate) once: bool,
}

/// A pipeline holds at most so many commands and, about, bytes: enough that nobody waits for the network, and few enough that a server
/// serves others in between.
const COMMANDS: usize = 512;
const BYTES: usize = 512 << 10;

/// One pipeline: where, and which of the requests.
struct Parcel {
    node: Address,
    replica: bool,
    asking: bool,
    requests: Vec<usize>,
}

impl Servers {
    /// Connects. Several URLs are several ways into the same cluster; the first that answers will do.
    ///
    /// `redis://`, `rediss://` (TLS) and `unix://`, with user, password and database as in `redis://user:password@host:6379/0`.
    pub async fn connect<U: AsRef<str>>(urls: &[U], options: Options) -> Result<Self, Error> {
        let seeds = urls.iter().map(|url| seed(url.as_ref())).collect::<Result<Vec<_>, _>>()?;
        let Some(first) = seeds.first() else {
            return Err(Error::Url { why: "there is none".into() });
        };
        let links = Links::new(first.clone(), &options);
        let topology = Topology::discover(&links, &seeds, &options).await?;
        let servers = Self(Arc::new(Inner { links, topology, options, module: AtomicBool::new(false) }));
        if servers.0.options.module {
            servers.0.module.store(servers.find_module().await, Ordering::Relaxed);
        }
        Ok(servers)
    }

    /// Whether the nodes that we talk to have the commands that work on shards. One that is down is not counted: should it come back without
    /// them, it will say so.
    async fn find_module(&self) -> bool {
        let info = redis::cmd("COMMAND").arg("INFO").arg("BF.SHARDADD").arg("BF.SHARDASK").take();
        let topology = &self.0.topology;
        let nodes = if self.0.options.replicas { topology.nodes() } else { topology.masters() };
        let has = |answer: Result<Value, RedisError>| match answer {
            Ok(Value::Array(commands)) => {
                Some(commands.len() == 2 && commands.iter().all(|command| *command != Value::Nil))
            }
            Err(error) if error.is_io_error() || error.is_timeout() => None,
            // Whoever may not ask is taken not to have them.
            _ => Some(false),
        };
        let answers: Vec<bool> = self.each_of(nodes, &info).await.into_iter().filter_map(has).collect();
        !answers.is_empty() && answers.into_iter().all(|has| has)
    }

    /// Whether the commands of the module are used.
    pub fn uses_module(&self) -> bool {
        self.0.module.load(Ordering::Relaxed)
    }

    /// A node does not know the commands of the module (any more).
    pub(crate) fn without_module(&self) {
        self.0.module.store(false, Ordering::Relaxed);
    }

    pub(crate) fn options(&self) -> &Options {
        &self.0.options
    }

    /// How many nodes take keys.
    pub fn masters(&self) -> usize {
        self.0.topology.masters().len()
    }

    /// Whether they are a cluster.
    pub fn is_cluster(&self) -> bool {
        self.0.topology.is_cluster()
    }

    /// One command to each node that takes keys.
    pub(crate) async fn each_master(&self, cmd: &Cmd) -> Vec<Result<Value, RedisError>> {
        self.each_of(self.0.topology.masters(), cmd).await
    }

    async fn each_of(&self, nodes: Vec<Address>, cmd: &Cmd) -> Vec<Result<Value, RedisError>> {
        join_all(nodes.iter().map(|node| self.on(node, cmd))).await
    }

    /// One command to one node, once.
    pub(crate) async fn on(&self, node: &Address, cmd: &Cmd) -> Result<Value, RedisError> {
        let mut pipeline = Pipeline::new();
        pipeline.add_command(cmd.clone());
        let mut values = self.0.links.send(node, false, &pipeline, 1).await?;
        values.pop().map_or_else(|| Ok(Value::Nil), Value::extract_error)
    }

    /// The nodes that take keys.
    pub(crate) fn master_nodes(&self) -> Vec<Address> {
        self.0.topology.masters()
    }

    /// Host and port of the nodes that take keys; no user and no password.
    pub fn addresses(&self) -> Vec<String> {
        self.0.topology.masters().iter().map(ToString::to_string).collect()
    }

    /// One command.
    pub(crate) async fn one(&self, slot: u16, cmd: Cmd) -> Result<Value, Error> {
        let mut answers = self.run(&[Request { slot, cmd }], How::default()).await;
        answers.pop().expect("an answer to each request")
    }

    /// All of them, in as few pipelines as it takes; an answer or an error for each, in their order.
    pub(crate) async fn run(&self, requests: &[Request], how: How) -> Vec<Result<Value, Error>> {
        let mut answers: Vec<Option<Result<Value, Error>>> = requests.iter().map(|_| None).collect();
        let mut pending: Vec<usize> = (0..requests.len()).collect();
        let mut asking: HashMap<usize, Address> = HashMap::new();
        let (mut since, mut pause) = (Instant::now(), Duration::from_millis(10));
        let mut first = true;
        loop {
            // After a failure only masters are asked: they have the last word.
            let parcels = self.parcels(requests, &pending, &asking, how.replicas && first);
            let results = self.send_all(requests, &parcels, how.wait).await;
            first = false;
            let before = pending.len();
            pending.clear();
            asking.clear();
            let mut refresh = None;
            for (parcel, result) in parcels.iter().zip(results) {
                for (&request, verdict) in
                    parcel.requests.iter().zip(redirect::judge(result, parcel.requests.len(), how))
                {
                    match verdict {
                        Verdict::Answer(value) => answers[request] = Some(Ok(value)),
                        Verdict::Failed(error) => answers[request] = Some(Err(error)),
                        Verdict::Moved { slot, node } => {
                            self.0.topology.moved(slot, &parcel.node, &node);
                            pending.push(request);
                        }
                        Verdict::Ask { node } => {
                            asking.insert(request, node.into());
                            pending.push(request);
                        }
                        Verdict::Again(error) => {
                            pending.push(request);
                            refresh = Some((parcel.node.clone(), error));
                        }
                    }
                }
            }
            if pending.is_empty() {
                break;
            }
            if pending.len() < before {
                since = Instant::now();
                pause = Duration::from_millis(10);
            }
            if since.elapsed() > self.0.options.patience {
                let (node, source) = refresh.unwrap_or_else(|| ("the cluster".into(), redirect::endless()));
                for request in pending {
                    let error = redirect::give_up(&node, since.elapsed(), &source);
                    answers[request] = Some(Err(error));
                }
                break;
            }
            if refresh.is_some() {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_millis(500));
                self.0.topology.refresh(&self.0.links).await;
            }
        }
        answers.into_iter().map(|answer| answer.expect("an answer to each request")).collect()
    }

    fn parcels(
        &self,
        requests: &[Request],
        pending: &[usize],
        asking: &HashMap<usize, Address>,
        replicas: bool,
    ) -> Vec<Parcel> {
        let mut open: HashMap<(Address, bool), (Parcel, usize)> = HashMap::new();
        let mut full = Vec::new();
        for &request in pending {
            let ((node, replica), asks) = match asking.get(&request) {
                Some(node) => ((node.clone(), false), true),
                None => (self.0.topology.node(requests[request].slot, replicas), false),
            };
            let key = (node.clone(), asks);
            let size = requests[request].cmd.args_iter().map(|arg| match arg {
                redis::Arg::Simple(bytes) => bytes.len() + 16,
                _ => 16,
            });
            let size: usize = size.sum();
            let (parcel, bytes) = open
                .entry(key)
                .or_insert_with(|| (Parcel { node, replica, asking: asks, requests: Vec::new() }, 0));
            parcel.requests.push(request);
            *bytes += size;
            if parcel.requests.len() == COMMANDS || *bytes > BYTES {
                let rest = Parcel { requests: Vec::new(), node: parcel.node.clone(), ..*parcel };
                full.push(std::mem::replace(parcel, rest));
                *bytes = 0;
            }
        }
        full.extend(
            open.into_values().map(|(parcel, _)| parcel).filter(|parcel| !parcel.requests.is_empty()),
        );
        full
    }

    /// Sends each parcel, a few at once to each node.
    async fn send_all(
        &self,
        requests: &[Request],
        parcels: &[Parcel],
        wait: Option<Wait>,
    ) -> Vec<Result<Vec<Value>, RedisError>> {
        let one = |at: usize| async move {
            let (parcel, mut pipeline) =
                (&parcels[at], Pipeline::with_capacity(parcels[at].requests.len() + 1));
            for &request in &parcel.requests {
                if parcel.asking {
                    pipeline.cmd("ASKING");
                }
                pipeline.add_command(requests[request].cmd.clone());
            }
            if let Some(wait) = wait {
                pipeline.cmd("WAIT").arg(wait.replicas).arg(wait.timeout.as_millis() as u64);
            }
            let count = pipeline.len();
            let values = self.0.links.send(&parcel.node, parcel.replica, &pipeline, count).await;
            let values = values.map(|values| match parcel.asking {
                // The answers to ASKING are not asked for.
                true => {
                    let answers = 2 * parcel.requests.len();
                    let odd = |(at, value): (usize, Value)| (at >= answers || at % 2 == 1).then_some(value);
                    values.into_iter().enumerate().filter_map(odd).collect()
                }
                false => values,
            });
            (at, values)
        };
        // Who sends one key waits for one answer: nothing to join, and no second look at what was just sent.
        if parcels.len() == 1 {
            return vec![one(0).await.1];
        }
        let mut by_node: HashMap<&Address, Vec<usize>> = HashMap::new();
        for (at, parcel) in parcels.iter().enumerate() {
            by_node.entry(&parcel.node).or_default().push(at);
        }
        let node = |parcels: Vec<usize>| {
            stream::iter(parcels.into_iter().map(one))
                .buffer_unordered(self.0.options.in_flight)
                .collect::<Vec<_>>()
        };
        let mut results: Vec<_> =
            join_all(by_node.into_values().map(node)).await.into_iter().flatten().collect();
        results.sort_unstable_by_key(|(at, _)| *at);
        results.into_iter().map(|(_, result)| result).collect()
    }
}

impl std::fmt::Debug for Servers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Servers").field("masters", &self.0.topology.masters()).finish_non_exhaustive()
    }
}

/// The server of a URL. The URL may hold a password, so no error repeats it.
fn seed(url: &str) -> Result<ConnectionInfo, Error> {
    let why = |error: RedisError| match error.detail() {
        Some(detail) if !url.contains('@') => format!("{}: {detail}", error.category()),
        _ => error.to_string().split(" - ").next().unwrap_or_default().to_owned(),
    };
    let url = if url.contains("://") { url.to_owned() } else { format!("redis://{url}") };
    url.as_str().into_connection_info().map_err(|error| Error::Url { why: why(error) })
}
