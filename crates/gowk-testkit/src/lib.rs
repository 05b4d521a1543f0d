//! Servers of one's own, for tests and benches: one node, a cluster, and a client that shows the bytes of the protocol as they are.

mod client;
mod cluster;
mod server;

pub use client::{Client, Reply};
pub use cluster::Cluster;
pub use server::{Cpu, LOGGED, Server, free_port, module};

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

/// Waits until it is so; fails after a minute.
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !so() {
        assert!(Instant::now() < patience, "waited a minute for {what}");
        sleep(Duration::from_millis(20));
    }
}
