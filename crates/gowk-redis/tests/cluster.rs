//! On a cluster of three masters with a replica each: keys spread, slots move, a master dies.

use gowk_redis::{BatchError, Bloom, Counting, Error, Options, Servers, Spec};
use gowk_testkit::{Cluster, Reply};
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

fn keys(range: std::ops::Range<u64>) -> Vec<u64> {
    range.collect()
}

async fn connect(cluster: &Cluster, options: Options) -> Servers {
    Servers::connect(&[cluster.url()], options).await.unwrap()
}

async fn all_there(seen: &Bloom, keys: &[u64]) {
    let denied = seen.may_contain_many(keys).await.unwrap().into_iter().filter(|found| !found).count();
    assert_eq!(denied, 0, "of {} keys", keys.len());
}

/// Bytes of data on each master.
fn loads(cluster: &Cluster) -> Vec<i64> {
    let dataset = |client: &mut gowk_testkit::Client| {
        let keys = client.call(&["KEYS", "gowk:*"]).array();
        keys.into_iter()
            .map(|key| client.call(&[b"MEMORY".to_vec(), b"USAGE".to_vec(), key.bytes()]).int())
            .sum()
    };
    cluster.masters().iter_mut().map(dataset).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_million_keys_spread_over_all_masters_at_the_promised_rate() {
    let cluster = Cluster::start(0, &[]);
    let servers = connect(&cluster, Options::default()).await;
    assert!(servers.is_cluster() && servers.masters() == 3);
    let seen = Bloom::create(&servers, "seen", &Spec::new(1_000_000, 0.01).seed(7)).await.unwrap();
    for start in (0..1_000_000).step_by(100_000) {
        seen.add_many(&keys(start..start + 100_000)).await.unwrap();
    }
    all_there(&seen, &keys(0..1_000_000)).await;
    let strangers = keys(1 << 40..(1 << 40) + 400_000);
    let wrong =
        seen.may_contain_many(&strangers).await.unwrap().into_iter().filter(|found| *found).count() as f64;
    let mean = 400_000.0 * seen.params().fpp_at(1_000_000);
    assert!((wrong - mean).abs() < 6.0 * mean.sqrt() + 6.0, "{wrong}, expected {mean}");
    let loads = loads(&cluster);
    let (least, most) = (loads.iter().min().unwrap(), loads.iter().max().unwrap());
    assert!(*most as f64 / *least as f64 <= 1.1, "{loads:?}");

    // Everything else that touches all nodes.
    let info = seen.info(true).await.unwrap();
    assert!((info.estimated_items / 1e6 - 1.0).abs() < 0.01, "{info:?}");
    let sampled = seen.info(false).await.unwrap();
    assert!(
        sampled.sampled < info.sampled && (sampled.estimated_items / 1e6 - 1.0).abs() < 0.02,
        "{sampled:?}"
    );
    let copy = seen.export().await.unwrap();
    let other = Bloom::import(&servers, "other", &copy, &Spec::new(1_000_000, 0.01)).await.unwrap();
    all_there(&other, &keys(0..100_000)).await;
    other.expire(Some(Duration::from_secs(1000))).await.unwrap();
    other.clear().await.unwrap();
    other.merge_from(&seen).await.unwrap();
    all_there(&other, &keys(0..100_000)).await;
    let carts = Counting::create(&servers, "carts", &Spec::new(10_000, 1e-4)).await.unwrap();
    carts.add_many(&keys(0..2_000)).await.unwrap();
    carts.remove_many(&keys(0..1_000)).await.unwrap();
    let counts = carts.count_many(&keys(0..2_000)).await.unwrap();
    assert!(counts[1_000..].iter().all(|count| *count >= 1));
    assert!(counts[..1_000].iter().filter(|count| **count > 0).count() < 10);
    let listed: Vec<String> =
        servers.list(100).await.unwrap().filters.into_iter().map(|one| one.name).collect();
    assert_eq!(listed, ["carts", "other", "seen"]);
    for name in ["seen", "other", "carts"] {
        servers.drop_filter(name).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn slots_move_while_keys_are_added_and_asked() {
    let cluster = Cluster::start(0, &[]);
    // A removal whose answer is late is not sent again, and machines that run tests are slow at times.
    let servers = connect(&cluster, Options::default().response_timeout(Duration::from_secs(60))).await;
    let seen = Bloom::create(&servers, "seen", &Spec::new(1_000_000, 0.001)).await.unwrap();
    let carts = Counting::create(&servers, "carts", &Spec::new(1_000_000, 0.001)).await.unwrap();
    let moved = AtomicBool::new(false);
    let work = async |first: u64| {
        let mut next = first;
        while !moved.load(Ordering::Relaxed) || next < first + 20_000 {
            let batch = keys(next..next + 500);
            seen.add_many(&batch).await.unwrap();
            all_there(&seen, &batch).await;
            carts.add_many(&batch).await.unwrap();
            tokio::time::sleep(Duration::from_millis(5)).await;
            next += 500;
        }
        next
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            cluster.reshard(0, 1, 1_000);
            cluster.reshard(1, 2, 1_500);
            moved.store(true, Ordering::Relaxed);
        });
        let (a, b) = tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async { tokio::join!(work(0), work(1 << 32)) })
        });
        let all: Vec<u64> = (0..a).chain(1 << 32..b).collect();
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                all_there(&seen, &all).await;
                // A client that starts now sees the same.
                let fresh = connect(&cluster, Options::default()).await;
                all_there(&Bloom::open(&fresh, "seen").await.unwrap(), &all).await;
                let counts = carts.count_many(&all).await.unwrap();
                assert!(counts.iter().all(|count| *count >= 1));
                let removed = carts.remove_many(&all).await.unwrap();
                assert!(removed.iter().all(|removed| *removed == gowk::Removed::Gone));
            });
        });
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_master_dies_and_no_confirmed_add_is_lost() {
    let mut cluster = Cluster::start(1, &[]);
    let options = Options::default().wait(1, Duration::from_millis(500)).patience(Duration::from_secs(30));
    let servers = connect(&cluster, options).await;
    let seen = Bloom::create(&servers, "seen", &Spec::new(1_000_000, 0.001)).await.unwrap();
    let mut confirmed: Vec<u64> = Vec::new();
    let mut unconfirmed = 0;
    let mut next = 0;
    let mut after = 0;
    while after < 8 {
        if next == 20_000 {
            // The second: the client knows the cluster by the first.
            cluster.nodes[1].kill();
        }
        let batch = keys(next..next + 1_000);
        next += 1_000;
        match seen.add_many(&batch).await {
            Ok(_) => {
                confirmed.extend(&batch);
                after += u64::from(next > 20_000);
            }
            // The new master has no replica.
            Err(BatchError { failed, source, .. }) => {
                assert!(matches!(*source, Error::Unreplicated { asked: 1, confirmed: 0 }), "{source}");
                unconfirmed += failed.len();
                let failed: std::collections::HashSet<usize> = failed.into_iter().collect();
                confirmed.extend(
                    batch.iter().enumerate().filter(|(at, _)| !failed.contains(at)).map(|(_, key)| key),
                );
                after += 1;
            }
        }
    }
    assert!(unconfirmed > 0 && confirmed.len() > 20_000, "{unconfirmed} of {next}");
    assert_eq!(cluster.masters().len(), 3, "the replica has taken over");
    all_there(&seen, &confirmed).await;
    // Without waiting, all of it works again.
    let servers = connect(&cluster, Options::default()).await;
    let seen = Bloom::open(&servers, "seen").await.unwrap();
    seen.add_many(&keys(0..next)).await.unwrap();
    all_there(&seen, &keys(0..next)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_of_a_node_that_is_gone_for_good_fail_and_all_others_are_served() {
    let mut cluster = Cluster::start(0, &["--cluster-require-full-coverage", "no"]);
    let servers = connect(&cluster, Options::default().patience(Duration::from_secs(1))).await;
    let seen = Bloom::create(&servers, "seen", &Spec::new(100_000, 0.001)).await.unwrap();
    let all = keys(0..30_000);
    seen.add_many(&all).await.unwrap();
    cluster.nodes[1].kill();
    let failed = |error: BatchError| {
        assert!(matches!(*error.source, Error::NoServer { .. } | Error::Server(_)), "{error}");
        assert!((8_000..12_000).contains(&error.failed.len()), "a third: {error}");
        error.failed
    };
    let asked = failed(seen.may_contain_many(&all).await.unwrap_err());
    assert_eq!(failed(seen.add_many(&all).await.unwrap_err()), asked);
    let rest: Vec<u64> =
        all.iter().filter(|key| asked.binary_search(&(**key as usize)).is_err()).copied().collect();
    seen.add_many(&rest).await.unwrap();
    all_there(&seen, &rest).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn replicas_answer_if_they_may() {
    let cluster = Cluster::start(1, &[]);
    let servers =
        connect(&cluster, Options::default().wait(1, Duration::from_secs(5)).read_replicas(true)).await;
    let seen = Bloom::create(&servers, "seen", &Spec::new(20_000, 0.001).shard_bytes(4096)).await.unwrap();
    seen.add_many(&keys(0..5_000)).await.unwrap();
    all_there(&seen, &keys(0..5_000)).await;
    let reads = |node: &gowk_testkit::Server| {
        let Reply::Bulk(stats) = node.connect().call(&["INFO", "commandstats"]) else { panic!("no stats") };
        String::from_utf8(stats).unwrap().contains("cmdstat_getrange")
    };
    let masters: Vec<bool> =
        cluster.nodes.iter().map(|node| node.connect().say("ROLE").contains("master")).collect();
    for (node, master) in cluster.nodes.iter().zip(masters) {
        assert_eq!(
            reads(node),
            !master,
            "a node asked, though it is {}",
            if master { "a master" } else { "none" }
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_who_create_at_once_agree_on_a_cluster() {
    let cluster = Cluster::start(0, &[]);
    let mut seeds = BTreeMap::new();
    for round in 0..3 {
        let name = format!("race{round}");
        let (a, b) =
            (connect(&cluster, Options::default()).await, connect(&cluster, Options::default()).await);
        let spec = Spec::new(100_000, 0.01);
        let (a, b) = tokio::join!(Bloom::create(&a, &name, &spec), Bloom::create(&b, &name, &spec));
        let (a, b) = (a.unwrap(), b.unwrap());
        a.add_many(&keys(0..1_000)).await.unwrap();
        all_there(&b, &keys(0..1_000)).await;
        seeds.insert(a.hasher().seed().to_bytes(), name);
    }
    assert_eq!(seeds.len(), 3, "each filter has a seed of its own");
}
