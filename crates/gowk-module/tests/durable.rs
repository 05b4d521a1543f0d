//! What a user relies on: restarts, replicas, a cluster, transactions, scripts, memory limits, hostile bytes.

use gowk_testkit::{Client, LOGGED, Reply, Server, until};

/// One of everything, some of it large enough for several chunks.
fn fill(redis: &mut Client) {
    for i in 0..50 {
        let words: Vec<String> = ["BF.MADD".to_owned(), "auto".into()]
            .into_iter()
            .chain((0..100).map(|j| format!("{}", i * 100 + j)))
            .collect();
        redis.call(&words);
    }
    for command in [
        "BF.RESERVE big 0.001 4000000",
        "BF.MADD big a b c",
        "BF.RESERVE fixed 0.01 10 NONSCALING",
        "BF.MADD fixed 1 2 3",
        "BF.RESERVE last 0.01 1000 WINDOW 1000 GENERATIONS 4",
        "BF.MADD last x y z",
        "BF.RESERVE hour 0.01 1000 WINDOW 1h",
        "BF.MADD hour x y z",
        "BF.MERGE union fixed auto",
        "BF.INSERT fixed NOCREATE ITEMS 4",
        "CF.INSERT cuckoo ITEMS a b c a a a a a a a a",
        "CF.DEL cuckoo b",
        "CF.ADDNX cuckoo a",
        "CMS.INITBYDIM cms 500 5",
        "CMS.INCRBY cms a 5 b 7",
        "CMS.INITBYPROB cms2 0.01 0.01",
        "TOPK.RESERVE topk 3 4 2 0.9",
        "TOPK.ADD topk a b c d e f g a b c a a b d d d d e f g h",
        "TOPK.INCRBY topk a 50 q 60 z 70",
    ] {
        let said = redis.say(command);
        assert!(!said.starts_with('-'), "{command}: {said}");
    }
}

const KEYS: [&str; 10] = ["auto", "big", "fixed", "last", "hour", "union", "cuckoo", "cms", "cms2", "topk"];

/// What a server knows, as digests of all bytes.
fn digests(redis: &mut Client) -> Vec<String> {
    KEYS.iter().map(|key| redis.say(&format!("DEBUG DIGEST-VALUE {key}"))).collect()
}

#[test]
fn a_snapshot_brings_everything_back() {
    let mut server = Server::start(&["--save", ""]);
    let mut redis = server.connect();
    fill(&mut redis);
    let before = digests(&mut redis);
    assert_eq!(redis.say("SAVE"), "+OK");
    server.kill_and_restart();
    assert_eq!(digests(&mut server.connect()), before);
    assert_eq!(server.connect().say("BF.MEXISTS auto 0 4999 nobody"), "[1 1 0]");
}

#[test]
fn an_append_only_file_brings_everything_back_also_when_rewritten() {
    let mut server = Server::start(&[&LOGGED[..], &["--aof-use-rdb-preamble", "no"]].concat());
    fill(&mut server.connect());
    let before = digests(&mut server.connect());
    server.kill_and_restart();
    assert_eq!(digests(&mut server.connect()), before, "replayed");
    let mut redis = server.connect();
    redis.say("BGREWRITEAOF");
    until("the rewrite", || {
        let info = redis.say("INFO persistence");
        info.contains("aof_rewrite_in_progress:0") && info.contains("aof_last_bgrewrite_status:ok")
    });
    assert_eq!(redis.say("BF.ADD auto after"), "1");
    let before = digests(&mut redis);
    server.kill_and_restart();
    assert_eq!(digests(&mut server.connect()), before, "rewritten");
}

#[test]
fn a_replica_with_other_defaults_is_the_same_and_takes_over() {
    let master = Server::start(&["--save", ""]);
    let replica = Server::start(&["--save", ""]);
    let mut redis = master.connect();
    let mut second = replica.connect();
    for setting in
        ["bf-initial-size 7777", "bf-error-rate 0.2", "cf-initial-size 9999", "bf-memory-limit 100"]
    {
        // By the name that this server knows it under.
        let names = [format!("CONFIG SET {setting}"), format!("CONFIG SET bf.{setting}")];
        assert!(names.iter().any(|name| second.say(name) == "+OK"), "{setting}");
    }
    // Half of it goes over as a snapshot, half as commands.
    redis.say("BF.MADD early a b c");
    assert_eq!(second.say(&format!("REPLICAOF 127.0.0.1 {}", master.port)), "+OK");
    until("the link", || second.say("INFO replication").contains("master_link_status:up"));
    fill(&mut redis);
    redis.say("MULTI");
    redis.say("BF.ADD auto in-transaction");
    redis.say("TOPK.ADD topk in-transaction");
    redis.say("EXEC");
    redis.call(&["EVAL", "return redis.call('BF.MADD', KEYS[1], 'from', 'lua')", "1", "auto"]);
    assert_eq!(redis.say("WAIT 1 30000"), "1");
    assert_eq!(digests(&mut second), digests(&mut redis));
    assert_eq!(second.say("DEBUG DIGEST-VALUE early"), redis.say("DEBUG DIGEST-VALUE early"));
    assert!(second.say("BF.ADD auto x").starts_with("-READONLY"));
    drop(master);
    assert_eq!(second.say("REPLICAOF NO ONE"), "+OK");
    assert_eq!(second.say("BF.MEXISTS auto 0 4999 from lua in-transaction nobody"), "[1 1 1 1 1 0]");
    assert_eq!(second.say("BF.ADD auto new-on-the-second"), "1");
}

#[test]
fn what_changes_nothing_is_not_replicated() {
    let server = Server::start(&LOGGED);
    let mut redis = server.connect();
    redis.say("BF.ADD b x");
    redis.say("CF.ADD c x");
    let size = |redis: &mut Client| {
        let info = redis.say("INFO persistence");
        info.split("aof_current_size:").nth(1).unwrap().split("\\r").next().unwrap().to_owned()
    };
    let before = size(&mut redis);
    for command in ["BF.ADD b x", "BF.MADD b x x", "BF.EXISTS b x", "CF.ADDNX c x", "CF.DEL c nobody"] {
        redis.say(command);
    }
    assert_eq!(size(&mut redis), before);
    redis.say("BF.ADD b y");
    assert_ne!(size(&mut redis), before);
}

#[test]
fn no_acknowledged_add_is_lost_when_the_server_is_killed() {
    let mut server = Server::start(&[&LOGGED[..], &["--maxmemory", "200mb"]].concat());
    let mut known = 0;
    for _ in 0..3 {
        let port = server.port;
        let writer = std::thread::spawn(move || {
            let mut redis = Client::connect(port);
            let mut acknowledged = known;
            while redis.try_call(&["BF.ADD".to_owned(), "b".into(), format!("k{acknowledged}")]).is_some() {
                acknowledged += 1;
            }
            acknowledged
        });
        std::thread::sleep(std::time::Duration::from_millis(300));
        server.kill_and_restart();
        known = writer.join().unwrap();
        let mut redis = server.connect();
        for i in 0..known {
            assert_eq!(redis.say(&format!("BF.EXISTS b k{i}")), "1", "{i} of {known}");
        }
    }
    assert!(known > 0);
}

#[test]
fn maxmemory_stops_growth_and_not_the_server() {
    let mut server = Server::start(&["--save", "", "--maxmemory", "20mb"]);
    let mut redis = server.connect();
    redis.say("BF.RESERVE b 0.01 10000000");
    redis.say("BF.RESERVE c 0.01 10000000");
    assert!(redis.say("BF.RESERVE d 0.01 10000000").starts_with("-OOM"));
    assert!(redis.say("BF.ADD b x").starts_with("-OOM"));
    assert_eq!(redis.say("BF.EXISTS b x"), "0");
    assert_eq!(redis.say("BF.CLEAR b"), "+OK");
    assert_eq!(redis.say("UNLINK b c"), "2");
    until("the memory to be free", || redis.say("BF.ADD b x") == "1");
    assert!(server.is_alive());
}

#[test]
fn transactions_see_changes_and_watchers_are_told() {
    let server = Server::start(&["--save", "", "--notify-keyspace-events", "KEA"]);
    let (mut redis, mut other) = (server.connect(), server.connect());
    redis.say("BF.ADD b x");
    // A change of another client breaks the transaction; an add that changes nothing does not.
    redis.say("WATCH b");
    other.say("BF.ADD b x");
    redis.say("MULTI");
    redis.say("BF.ADD b y");
    assert_eq!(redis.say("EXEC"), "[1]");
    redis.say("WATCH b");
    other.say("BF.ADD b z");
    redis.say("MULTI");
    redis.say("BF.ADD b q");
    assert_eq!(redis.say("EXEC"), "nil");

    let mut events = server.connect();
    events.say("SUBSCRIBE __keyspace@0__:c");
    other.say("CF.ADD c x");
    other.say("CF.DEL c x");
    for event in ["cf.add", "cf.del"] {
        let message = format!("{:?}", events.read().unwrap());
        assert!(message.contains(event), "{message}");
    }
}

#[test]
fn a_cluster_of_three_serves_and_moves_filters() {
    let nodes: Vec<Server> = (0..3)
        .map(|_| Server::start(&["--save", "", "--cluster-enabled", "yes", "--cluster-config-file", "nodes"]))
        .collect();
    for (i, node) in nodes.iter().enumerate() {
        let mut redis = node.connect();
        let (start, end) = (i * 5462, ((i + 1) * 5462).min(16384) - 1);
        assert_eq!(redis.say(&format!("CLUSTER ADDSLOTSRANGE {start} {end}")), "+OK");
        redis.say(&format!("CLUSTER MEET 127.0.0.1 {}", nodes[0].port));
    }
    let mut clients: Vec<Client> = nodes.iter().map(Server::connect).collect();
    until("the cluster", || {
        clients.iter_mut().all(|redis| redis.say("CLUSTER INFO").contains("cluster_state:ok"))
    });
    // Each key is served by one node, and the others say which.
    for i in 0..30 {
        let replies: Vec<String> =
            clients.iter_mut().map(|redis| redis.say(&format!("BF.ADD key{i} item"))).collect();
        assert_eq!(replies.iter().filter(|reply| *reply == "1").count(), 1, "{replies:?}");
        assert_eq!(replies.iter().filter(|reply| reply.starts_with("-MOVED")).count(), 2, "{replies:?}");
    }
    let replies: Vec<String> = clients.iter_mut().map(|redis| redis.say("BF.MERGE {t}u {t}a")).collect();
    assert!(replies.iter().any(|reply| reply == "-ERR not found"), "{replies:?}");
    assert!(clients[0].say("BF.MERGE a b c").starts_with("-CROSSSLOT"));
    // A filter moves to another node as a DUMP payload.
    let owner = (0..3).find(|i| clients[*i].say("BF.EXISTS key0 item") == "1").unwrap();
    let payload = clients[owner].call(&["DUMP", "key0"]).bytes();
    assert!(!payload.is_empty());
    let words: [&[u8]; 5] = [b"RESTORE", b"key0", b"0", &payload, b"REPLACE"];
    assert_eq!(clients[owner].call(&words), Reply::Status("OK".into()));
    assert_eq!(clients[owner].say("BF.EXISTS key0 item"), "1");
}

/// CRC-64/Jones, reflected, as it stands at the end of a `DUMP` payload.
fn crc64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |crc: u64, byte| {
        (0..8).fold(crc ^ u64::from(*byte), |crc, _| {
            if crc & 1 == 1 { crc >> 1 ^ 0x95ac_9329_ac4b_c9b5 } else { crc >> 1 }
        })
    })
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 3
}

/// Changes some bytes: flips, cuts, runs of 0 and ff.
fn mutate(bytes: &mut Vec<u8>, random: &mut u64) {
    for _ in 0..=(splitmix(random) % 3) {
        let at = splitmix(random) as usize % bytes.len().max(1);
        match splitmix(random) % 5 {
            0 => bytes[at] ^= 1 << (splitmix(random) % 8),
            1 => bytes[at] = splitmix(random) as u8,
            2 => bytes.truncate(at + 1),
            3 => bytes[at..].iter_mut().take(8).for_each(|byte| *byte = 0xff),
            _ => bytes[at..].iter_mut().take(8).for_each(|byte| *byte = 0),
        }
    }
}

/// Payloads with a right checksum of the server's: all that stands between them and the value are our own checks.
#[test]
fn ten_thousand_forged_payloads_leave_the_server_alive() {
    let mut server = Server::start(&["--save", ""]);
    let mut redis = server.connect();
    for command in [
        "BF.RESERVE b 0.01 100",
        "BF.MADD b 1 2 3 4 5",
        "BF.RESERVE w 0.01 50 WINDOW 50 GENERATIONS 3",
        "BF.ADD w x",
        "CF.RESERVE c 64",
        "CF.INSERT c ITEMS a b c d",
        "CMS.INITBYDIM m 20 3",
        "CMS.INCRBY m a 4",
        "TOPK.RESERVE t 3 10 2 0.9",
        "TOPK.ADD t a b c d",
    ] {
        redis.say(command);
    }
    let mut random = 1;
    let (mut refused, mut taken) = (0, 0);
    for (key, probe) in [
        ("b", "BF.MADD v 1 2 3"),
        ("w", "BF.ADD v 1"),
        ("c", "CF.ADD v 1"),
        ("m", "CMS.INCRBY v a 1"),
        ("t", "TOPK.ADD v 1"),
    ] {
        let whole = redis.call(&["DUMP", key]).bytes();
        let (body, footer) = whole.split_at(whole.len() - 10);
        for _ in 0..2000 {
            let mut forged = body.to_vec();
            mutate(&mut forged, &mut random);
            forged.extend_from_slice(&footer[..2]);
            let sum = crc64(&forged);
            forged.extend_from_slice(&sum.to_le_bytes());
            let words: [&[u8]; 5] = [b"RESTORE", b"v", b"0", &forged, b"REPLACE"];
            match redis.try_call(&words).unwrap_or_else(|| panic!("the server died: {}", server.log())) {
                Reply::Error(_) => refused += 1,
                _ => {
                    taken += 1;
                    redis.say(probe);
                    redis.say("BF.INFO v");
                }
            }
        }
    }
    assert!(server.is_alive());
    assert!(refused > 5_000, "{refused} refused, {taken} taken");
}

#[test]
fn a_thousand_forged_chunks_leave_the_server_alive() {
    let mut server = Server::start(&["--save", ""]);
    let mut redis = server.connect();
    for command in
        ["BF.MADD b 1 2 3", "CF.INSERT c ITEMS a b", "CMS.INITBYDIM m 20 3", "TOPK.RESERVE t 3 10 2 0.9"]
    {
        redis.say(command);
    }
    let mut random = 2;
    for (key, family) in [("b", "BF"), ("c", "CF"), ("m", "CMS"), ("t", "TOPK")] {
        let (scan, load) = (format!("{family}.SCANDUMP"), format!("{family}.LOADCHUNK"));
        let mut header = redis.call(&[&scan, key, "0"]).array();
        let header = header.pop().unwrap().bytes();
        let mut reply = redis.call(&[&scan, key, "1"]).array();
        let body = reply.pop().unwrap().bytes();
        let next = reply.pop().unwrap().int();
        for _ in 0..250 {
            let (mut header, mut body) = (header.clone(), body.clone());
            mutate(&mut header, &mut random);
            if splitmix(&mut random).is_multiple_of(2) {
                mutate(&mut body, &mut random);
            }
            redis.say("DEL v");
            let words: [&[u8]; 4] = [load.as_bytes(), b"v", b"1", &header];
            redis.try_call(&words).unwrap_or_else(|| panic!("the server died: {}", server.log()));
            let next = next.to_string();
            let words: [&[u8]; 4] = [load.as_bytes(), b"v", next.as_bytes(), &body];
            redis.try_call(&words).unwrap_or_else(|| panic!("the server died: {}", server.log()));
            for probe in
                ["BF.MADD v 1 2", "CF.ADD v 1", "CMS.QUERY v 1", "TOPK.ADD v 1", "BF.INFO v", "DUMP v"]
            {
                redis.say(probe);
            }
        }
    }
    assert!(server.is_alive());
}
