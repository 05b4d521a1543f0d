//! A cluster of one's own, made by `redis-cli --cluster`.

use crate::{Client, Server, module, until};
use std::process::{Command, Stdio};

/// Masters and their replicas, on loopback; they end with this value.
#[derive(Debug)]
pub struct Cluster {
    /// The nodes; the masters are those that were made so, until one fails.
    pub nodes: Vec<Server>,
}

impl Cluster {
    /// Three masters, each with this many replicas, with these options; without the module.
    pub fn start(replicas: usize, options: &[&str]) -> Self {
        Self::start_each(replicas, |_| options.to_vec())
    }

    /// As [`start`](Self::start), all of them with the module.
    pub fn start_with_module(replicas: usize) -> Self {
        Self::start_each(replicas, |_| vec!["--loadmodule", module().to_str().expect("a path of text")])
    }

    /// As [`start`](Self::start), each node with options of its own; the masters come first.
    pub fn start_each<'a>(replicas: usize, options: impl Fn(usize) -> Vec<&'a str>) -> Self {
        let mut words = vec!["--save", "", "--cluster-enabled", "yes", "--cluster-config-file", "nodes"];
        // A failure is noticed after this time.
        words.extend(["--cluster-node-timeout", "1500", "--repl-diskless-sync-delay", "0"]);
        let node = |node| Server::plain(&[&words[..], &options(node)].concat());
        let nodes: Vec<Server> = (0..3 + 3 * replicas).map(node).collect();
        let cluster = Self { nodes };
        let addresses: Vec<String> =
            cluster.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
        let made = Command::new("redis-cli")
            .args(["--cluster", "create"])
            .args(&addresses)
            .args(["--cluster-replicas", &replicas.to_string(), "--cluster-yes"])
            .stdout(Stdio::null())
            .status()
            .expect("redis-cli is installed");
        assert!(made.success(), "the cluster is made");
        cluster.settle(replicas);
        cluster
    }

    /// Waits until all nodes agree that all is well, and replicas follow.
    fn settle(&self, replicas: usize) {
        until("the cluster", || {
            self.nodes.iter().all(|node| {
                let mut client = node.connect();
                let info = client.say("CLUSTER INFO");
                let slots = client.call(&["CLUSTER", "SLOTS"]).array();
                info.contains("cluster_state:ok")
                    && slots.len() == 3
                    && slots.into_iter().all(|range| range.array().len() == 3 + replicas)
            })
        });
        until("the replicas", || {
            self.nodes.iter().all(|node| {
                let info = node.connect().say("INFO replication");
                info.contains("role:master") || info.contains("master_link_status:up")
            })
        });
    }

    /// The URL of one node, from which a client finds the others.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.nodes[0].port)
    }

    /// A client of each node that is a master now and answers.
    pub fn masters(&self) -> Vec<Client> {
        let clients = self.nodes.iter().filter_map(|node| Client::try_connect(node.port));
        clients
            .filter_map(|mut client| {
                let role = client.try_call(&["ROLE"])?;
                format!("{role:?}").starts_with("[\"master\"").then_some(client)
            })
            .collect()
    }

    /// Moves this many slots from a master to another, while everybody works; ends when they have moved.
    pub fn reshard(&self, from: usize, to: usize, slots: usize) {
        let id = |node: usize| {
            let id = self.nodes[node].connect().call(&["CLUSTER", "MYID"]).bytes();
            String::from_utf8(id).expect("an id is text")
        };
        let moved = Command::new("redis-cli")
            .args(["--cluster", "reshard", &format!("127.0.0.1:{}", self.nodes[from].port)])
            .args(["--cluster-from", &id(from), "--cluster-to", &id(to)])
            .args(["--cluster-slots", &slots.to_string(), "--cluster-yes", "--cluster-pipeline", "10"])
            .stdout(Stdio::null())
            .status()
            .expect("redis-cli is installed");
        assert!(moved.success(), "the slots move");
    }
}
