//! Where the servers have our module: the same filter, by fewer and cheaper commands; and where only some have it.

mod common;

use common::{adds_outlive_rebuilds, all_there, keys};
use gowk::{BlockedBloom, Build, Insert, Inserted};
use gowk_redis::{BatchError, Bloom, Error, Options, Servers, Spec, blocking};
use gowk_testkit::{Cluster, Server};
use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

fn connect(server: &Server, module: bool) -> blocking::Servers {
    let options = Options::default().patience(Duration::from_secs(5)).module(module);
    let servers =
        blocking::Servers::connect(&[format!("redis://127.0.0.1:{}", server.port)], options).unwrap();
    assert_eq!(servers.uses_module(), module);
    servers
}

async fn all_there_async(seen: &Bloom, keys: &[u64]) {
    let denied = seen.may_contain_many(keys).await.unwrap().into_iter().filter(|found| !found).count();
    assert_eq!(denied, 0, "of {} keys", keys.len());
}

/// How often a command was called.
fn calls(server: &Server, command: &str) -> u64 {
    let stats = server.connect().say("INFO commandstats");
    let count = stats.split(&format!("cmdstat_{command}:calls=")).nth(1);
    count.map_or(0, |rest| rest.split(',').next().unwrap().parse().unwrap())
}

#[test]
fn with_the_module_a_filter_is_what_it_is_without() {
    let server = Server::start(&["--save", ""]);
    let (fast, plain) = (connect(&server, true), connect(&server, false));
    for fpp in [0.3, 0.01, 0.001, 1e-6] {
        let seen = fast.create("seen", &Spec::new(20_000, fpp).shard_bytes(4096)).unwrap();
        let same = plain.open("seen").unwrap();
        // Each way adds, each finds what the other has added, and each knows what is new.
        let mut here = BlockedBloom::with_params(seen.params(), seen.hasher()).unwrap();
        for (i, way) in [&seen, &same, &seen, &same].into_iter().enumerate() {
            let part = keys(5_000 * i as u64..5_000 * (i as u64 + 1));
            let expected = here.clone();
            let new = way.add_many(&part).unwrap();
            here.insert_many(&part);
            // Keys of a batch may be each other's false positives, in whatever order they are written.
            for (key, new) in part.iter().zip(new) {
                if new == Inserted::New {
                    assert!(!gowk::Filter::may_contain(&expected, key), "{key} is no news at {fpp}");
                }
            }
            assert!(way.add_many(&part).unwrap().into_iter().all(|new| new == Inserted::MaybeSeen));
        }
        assert!(seen.export().unwrap() == here, "at {fpp}");
        let asked = keys(0..60_000);
        let answers = seen.may_contain_many(&asked).unwrap();
        assert_eq!(answers, same.may_contain_many(&asked).unwrap());
        assert!(answers[..20_000].iter().all(|found| *found));
        fast.drop_filter("seen").unwrap();
    }
    assert!(calls(&server, "BF.SHARDADD") > 0 && calls(&server, "BF.SHARDASK") > 0);
    assert_eq!(server.connect().say("DBSIZE"), "0");
}

#[test]
fn commands_of_the_module_are_all_that_is_sent_for_keys() {
    let server = Server::start(&["--save", ""]);
    let seen = connect(&server, true).create("seen", &Spec::new(100_000, 0.01)).unwrap();
    server.connect().say("CONFIG RESETSTAT");
    seen.add_many(&keys(0..100_000)).unwrap();
    all_there(&seen, &keys(0..100_000));
    let wrong = seen
        .may_contain_many(&keys(1 << 40..(1 << 40) + 100_000))
        .unwrap()
        .into_iter()
        .filter(|found| *found)
        .count();
    let mean = 100_000.0 * seen.params().fpp_at(100_000);
    assert!((wrong as f64 - mean).abs() < 6.0 * mean.sqrt() + 6.0, "{wrong}, expected {mean}");
    assert_eq!((calls(&server, "bitfield"), calls(&server, "getrange")), (0, 0));
    assert!(calls(&server, "BF.SHARDADD") < 1_000 && calls(&server, "BF.SHARDASK") < 2_000);
}

#[test]
fn a_shard_that_vanished_is_an_error_for_its_keys_and_is_not_made() {
    let server = Server::start(&["--save", ""]);
    let seen = connect(&server, true).create("seen", &Spec::new(50_000, 0.01).shard_bytes(4096)).unwrap();
    let all = keys(0..20_000);
    seen.add_many(&all).unwrap();
    let mut redis = server.connect();
    let shard = redis.call(&["KEYS", "gowk:*:0{*}"]).array().remove(0).bytes();
    redis.call(&[b"DEL".to_vec(), shard.clone()]);
    let failed = |error: BatchError| {
        assert!(matches!(*error.source, Error::Lost { shard: 0, .. }), "{error}");
        assert!(!error.failed.is_empty() && error.failed.len() < all.len() / 5, "{error}");
        error.failed
    };
    let asked = failed(seen.may_contain_many(&all).unwrap_err());
    assert_eq!(failed(seen.add_many(&all).unwrap_err()), asked);
    assert_eq!(redis.call(&[b"EXISTS".to_vec(), shard]).int(), 0);
}

#[test]
fn no_add_is_lost_while_both_kinds_of_clients_work_and_others_rebuild() {
    let server = Server::start(&["--save", ""]);
    let seen = connect(&server, true).create("seen", &Spec::new(200_000, 1e-6)).unwrap();
    let clients = [true, false].map(|module| connect(&server, module).open("seen").unwrap());
    adds_outlive_rebuilds(&seen, clients.into(), 6);
}

#[test]
fn who_may_not_use_the_module_works_without_it() {
    let server = Server::start(&["--save", ""]);
    let servers = connect(&server, true);
    let seen = servers.create("seen", &Spec::new(10_000, 0.01)).unwrap();
    seen.add_many(&keys(0..1_000)).unwrap();
    // From one moment to the next.
    server.connect().say("ACL SETUSER default -bf.shardadd");
    seen.add_many(&keys(1_000..3_000)).unwrap();
    assert!(!servers.uses_module());
    all_there(&seen, &keys(0..3_000));
    let again = connect(&server, true).open("seen").unwrap();
    server.connect().say("ACL SETUSER default -bf.shardask");
    all_there(&again, &keys(0..3_000));
    // Who may not use anything is told.
    server.connect().say("ACL SETUSER default -getrange -bitfield");
    let error = again.add_many(&keys(0..10)).unwrap_err();
    assert!(
        matches!(*error.source, Error::Server(_)) && error.to_string().contains("permissions"),
        "{error}"
    );
}

#[test]
fn a_full_server_takes_keys_and_no_filters() {
    let server = Server::start(&["--save", ""]);
    let servers = connect(&server, true);
    let seen = servers.create("seen", &Spec::new(10_000, 0.01)).unwrap();
    server.connect().say("CONFIG SET maxmemory 1");
    seen.add_many(&keys(0..1_000)).unwrap();
    all_there(&seen, &keys(0..1_000));
    assert!(matches!(servers.create("more", &Spec::new(10_000, 0.01)), Err(Error::Full { .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn slots_move_on_a_cluster_with_the_module() {
    let cluster = Cluster::start_with_module(0);
    let servers = Servers::connect(&[cluster.url()], Options::default()).await.unwrap();
    assert!(servers.uses_module() && servers.masters() == 3);
    let seen = Bloom::create(&servers, "seen", &Spec::new(1_000_000, 0.001)).await.unwrap();
    let moved = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            cluster.reshard(0, 1, 1_000);
            cluster.reshard(1, 2, 1_000);
            moved.store(true, Ordering::Relaxed);
        });
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                let mut next = 0;
                while !moved.load(Ordering::Relaxed) || next < 20_000 {
                    let batch = keys(next..next + 500);
                    seen.add_many(&batch).await.unwrap();
                    all_there_async(&seen, &batch).await;
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    next += 500;
                }
                all_there_async(&seen, &keys(0..next)).await;
                let plain =
                    Servers::connect(&[cluster.url()], Options::default().module(false)).await.unwrap();
                all_there_async(&Bloom::open(&plain, "seen").await.unwrap(), &keys(0..next)).await;
            });
        });
    });
    assert!(servers.uses_module(), "all nodes have it, wherever the slots are");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_node_without_the_module_makes_all_plain() {
    let module = gowk_testkit::module().to_str().unwrap();
    let cluster =
        Cluster::start_each(0, |node| if node == 2 { vec![] } else { vec!["--loadmodule", module] });
    let servers = Servers::connect(&[cluster.url()], Options::default()).await.unwrap();
    assert!(!servers.uses_module());
    let seen = Bloom::create(&servers, "seen", &Spec::new(10_000, 0.001)).await.unwrap();
    seen.add_many(&keys(0..10_000)).await.unwrap();
    all_there_async(&seen, &keys(0..10_000)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_without_the_module_takes_over_and_no_confirmed_add_is_lost() {
    let module = gowk_testkit::module().to_str().unwrap();
    let mut cluster =
        Cluster::start_each(1, |node| if node > 2 { vec![] } else { vec!["--loadmodule", module] });
    let options = Options::default().wait(1, Duration::from_millis(500)).patience(Duration::from_secs(30));
    let servers = Servers::connect(&[cluster.url()], options).await.unwrap();
    assert!(servers.uses_module(), "the masters have it");
    let seen = Bloom::create(&servers, "seen", &Spec::new(1_000_000, 0.001)).await.unwrap();
    let mut confirmed: Vec<u64> = Vec::new();
    for start in (0..40_000).step_by(1_000) {
        if start == 20_000 {
            cluster.nodes[1].kill();
        }
        let batch = keys(start..start + 1_000);
        match seen.add_many(&batch).await {
            Ok(_) => confirmed.extend(&batch),
            // The new master has no replica.
            Err(BatchError { failed, source, .. }) => {
                assert!(matches!(*source, Error::Unreplicated { asked: 1, confirmed: 0 }), "{source}");
                let kept = |(at, _): &(usize, &u64)| failed.binary_search(at).is_err();
                confirmed.extend(batch.iter().enumerate().filter(kept).map(|(_, key)| key));
            }
        }
    }
    assert!(!servers.uses_module(), "the new master has said that it has none");
    assert!(confirmed.len() > 20_000);
    all_there_async(&seen, &confirmed).await;
}
