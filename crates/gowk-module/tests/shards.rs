//! `BF.SHARDADD` and `BF.SHARDASK` on real servers: strings that clients without the module work on as well.

use gowk::{BlockedBloom, BlockedParams, Build, Digest, Hasher, Insert, bloom::blocked::Span};
use gowk_testkit::{Client, LOGGED, Reply, Server, until};

/// A shard of so many blocks, empty, guarded.
struct Shard {
    key: &'static str,
    params: BlockedParams,
}

impl Shard {
    fn make(redis: &mut Client, key: &'static str, blocks: u64, span: Span, lanes: u32) -> Self {
        let shard = Self { key, params: BlockedParams::with_shape(blocks, span, lanes, 100).unwrap() };
        assert_eq!(redis.say(&format!("SETBIT {key} {} 1", 8 * shard.len())), "0");
        shard
    }

    fn len(&self) -> usize {
        64 * (self.params.blocks() * self.params.span().lines()) as usize
    }

    fn words(&self, command: &str, keys: &[u64]) -> Vec<Vec<u8>> {
        let mut bytes = Vec::new();
        for digest in keys.iter().map(|key| digest(*key)) {
            let start = self.params.block(digest) as u32 * 64 * self.params.span() as u32;
            bytes.extend_from_slice(&start.to_le_bytes());
            bytes.extend_from_slice(&digest.h1.to_le_bytes());
        }
        let (len, lines, lanes) =
            (self.len().to_string(), self.params.span().lines().to_string(), self.params.lanes().to_string());
        [command, self.key, &len, &lines, &lanes]
            .map(|word| word.as_bytes().to_vec())
            .into_iter()
            .chain([bytes])
            .collect()
    }

    /// Which keys were new, or may be there; and the byte that follows.
    fn call(&self, redis: &mut Client, command: &str, keys: &[u64]) -> (Vec<bool>, Option<u8>) {
        let Reply::Bulk(bytes) = redis.call(&self.words(command, keys)) else { panic!("no bytes") };
        let bits = keys.len().div_ceil(8);
        ((0..keys.len()).map(|at| bytes[at / 8] >> (at % 8) & 1 == 1).collect(), bytes.get(bits).copied())
    }

    /// What a filter in memory has.
    fn bytes(&self, keys: &[u64]) -> Vec<u8> {
        let mut filter = BlockedBloom::with_params(self.params, Hasher::new(1)).unwrap();
        for key in keys {
            filter.insert_digest(digest(*key));
        }
        filter.lines().iter().flat_map(|line| line.to_le_bytes()).chain([0x80]).collect()
    }
}

fn digest(key: u64) -> Digest {
    Hasher::new(1).digest(&key)
}

fn get(redis: &mut Client, key: &str) -> Vec<u8> {
    redis.call(&["GET", key]).bytes()
}

#[test]
fn the_string_is_the_filter_that_the_keys_make() {
    let server = Server::start(&["--save", ""]);
    let mut redis = server.connect();
    for (key, blocks, span, lanes) in [
        ("a", 1, Span::Line, 1),
        ("b", 200, Span::Line, 5),
        ("c", 77, Span::Pair, 4),
        ("d", 50, Span::Quad, 8),
    ] {
        let shard = Shard::make(&mut redis, key, blocks, span, lanes);
        let keys: Vec<u64> = (0..300).collect();
        let (new, guard) = shard.call(&mut redis, "BF.SHARDADD", &keys);
        assert_eq!(guard, Some(0x80));
        assert!(new[0], "the first key of an empty shard is new");
        assert_eq!(get(&mut redis, key), shard.bytes(&keys));
        assert!(shard.call(&mut redis, "BF.SHARDADD", &keys).0.into_iter().all(|new| !new));
        let (found, rest) = shard.call(&mut redis, "BF.SHARDASK", &keys);
        assert!(found.into_iter().all(|found| found) && rest.is_none());
        // Strangers are found as often as in memory.
        let strangers: Vec<u64> = (1 << 40..(1 << 40) + 1000).collect();
        let bytes = shard.bytes(&keys);
        let expected: Vec<bool> = strangers
            .iter()
            .map(|key| {
                let start = shard.params.block(digest(*key)) as usize * 64 * span as usize;
                shard.params.covers(&bytes[start..], digest(*key))
            })
            .collect();
        assert_eq!(shard.call(&mut redis, "BF.SHARDASK", &strangers).0, expected);
        assert_eq!(shard.call(&mut redis, "BF.SHARDADD", &[]), (vec![], Some(0x80)));
    }
}

#[test]
fn a_shard_that_is_not_there_is_not_made() {
    let server = Server::start(&["--save", ""]);
    let mut redis = server.connect();
    let shard = Shard::make(&mut redis, "s", 10, Span::Line, 5);
    for command in ["BF.SHARDADD", "BF.SHARDASK"] {
        let mut words = shard.words(command, &[1]);
        words[1] = b"nobody".to_vec();
        assert_eq!(redis.call(&words), Reply::Null);
        // Of another length, and of none.
        let mut words = shard.words(command, &[]);
        words[2] = b"704".to_vec();
        assert_eq!(redis.call(&words), Reply::Null);
        redis.say("SET short x");
        let mut words = shard.words(command, &[1]);
        words[1] = b"short".to_vec();
        assert_eq!(redis.call(&words), Reply::Null);
        redis.say("HSET hash field value");
        words[1] = b"hash".to_vec();
        assert!(format!("{:?}", redis.call(&words)).starts_with("-WRONGTYPE"));
        redis.say("BF.ADD filter x");
        words[1] = b"filter".to_vec();
        assert!(format!("{:?}", redis.call(&words)).starts_with("-WRONGTYPE"));
    }
    assert_eq!(redis.say("EXISTS nobody"), "0");
    assert_eq!(redis.say("GET short"), "\"x\"");
}

#[test]
fn replicas_and_append_only_files_need_no_module() {
    let master = Server::start(&[&LOGGED[..], &["--aof-use-rdb-preamble", "no"]].concat());
    let replica = Server::plain(&["--save", ""]);
    let (mut redis, mut second) = (master.connect(), replica.connect());
    let shard = Shard::make(&mut redis, "s", 500, Span::Pair, 4);
    assert_eq!(second.say(&format!("REPLICAOF 127.0.0.1 {}", master.port)), "+OK");
    until("the link", || second.say("INFO replication").contains("master_link_status:up"));
    let keys: Vec<u64> = (0..2000).collect();
    // Few and many, in order and not.
    let mut sorted = keys[100..1000].to_vec();
    sorted.sort_by_key(|key| shard.params.block(digest(*key)));
    for part in [&keys[..1], &keys[1..20], &keys[20..100], &sorted, &keys[1000..]] {
        shard.call(&mut redis, "BF.SHARDADD", part);
    }
    // In a transaction and in a script.
    redis.say("MULTI");
    redis.call(&shard.words("BF.SHARDADD", &[10_000]));
    redis.say("EXEC");
    let words = shard.words("BF.SHARDADD", &[10_001]);
    let script = "return redis.call('BF.SHARDADD', KEYS[1], unpack(ARGV))";
    let eval: Vec<&[u8]> = [&b"EVAL"[..], script.as_bytes(), b"1"]
        .into_iter()
        .chain(words[1..].iter().map(Vec::as_slice))
        .collect();
    assert!(matches!(redis.call(&eval), Reply::Bulk(_)));
    let all: Vec<u64> = keys.iter().copied().chain([10_000, 10_001]).collect();
    let expected = shard.bytes(&all);
    assert_eq!(get(&mut redis, "s"), expected);
    assert_eq!(redis.say("WAIT 1 30000"), "1");
    assert_eq!(get(&mut second, "s"), expected);
    assert!(!second.say("INFO errorstats").contains("errorstat_ERR:count"), "the replica refused nothing");

    // A server without the module, over a copy of the file.
    let copy = tempfile::tempdir().unwrap();
    let log = std::fs::read_dir(master.folder.join("appendonlydir")).unwrap();
    std::fs::create_dir(copy.path().join("appendonlydir")).unwrap();
    for file in log {
        let file = file.unwrap();
        std::fs::copy(file.path(), copy.path().join("appendonlydir").join(file.file_name())).unwrap();
    }
    let mut plain =
        Server::plain(&["--save", "", "--appendonly", "yes", "--dir", copy.path().to_str().unwrap()]);
    assert_eq!(get(&mut plain.connect(), "s"), expected);
    assert!(plain.is_alive());
}

#[test]
fn what_changes_nothing_is_told_to_nobody() {
    let server = Server::start(&[&LOGGED[..], &["--notify-keyspace-events", "KEA"]].concat());
    let (mut redis, mut events) = (server.connect(), server.connect());
    let shard = Shard::make(&mut redis, "s", 10, Span::Line, 5);
    let offset = |redis: &mut Client| {
        let info = redis.say("INFO persistence");
        info.split("aof_current_size:").nth(1).unwrap().split("\\r").next().unwrap().to_owned()
    };
    events.say("SUBSCRIBE __keyspace@0__:s");
    shard.call(&mut redis, "BF.SHARDADD", &[1, 2, 3]);
    let message = format!("{:?}", events.read().unwrap());
    assert!(message.contains("bf.shardadd"), "{message}");
    let before = offset(&mut redis);
    redis.say("WATCH s");
    shard.call(&mut server.connect(), "BF.SHARDADD", &[1, 2, 3]);
    redis.say("MULTI");
    redis.say("PING");
    assert_eq!(redis.say("EXEC"), "[+PONG]", "watchers are not woken");
    assert_eq!(offset(&mut redis), before);
    redis.say("WATCH s");
    shard.call(&mut server.connect(), "BF.SHARDADD", &[4]);
    redis.say("MULTI");
    redis.say("PING");
    assert_eq!(redis.say("EXEC"), "nil");
    assert_ne!(offset(&mut redis), before);
}

#[test]
fn a_full_server_takes_keys_since_they_take_no_memory() {
    let server = Server::start(&["--save", ""]);
    let mut redis = server.connect();
    let shard = Shard::make(&mut redis, "s", 10, Span::Line, 5);
    redis.say("CONFIG SET maxmemory 1");
    assert!(redis.say("SETBIT other 1 1").starts_with("-OOM"));
    assert!(shard.call(&mut redis, "BF.SHARDADD", &[1]).0[0]);
    assert!(shard.call(&mut redis, "BF.SHARDASK", &[1]).0[0]);
}

#[test]
fn the_server_knows_what_the_commands_are() {
    let server = Server::start(&["--save", ""]);
    let mut redis = server.connect();
    assert_eq!(redis.say("COMMAND GETKEYS BF.SHARDADD k 64 1 5 x"), "[\"k\"]");
    assert_eq!(redis.say("COMMAND GETKEYS BF.SHARDASK k 64 1 5 x"), "[\"k\"]");
    let info = redis.say("COMMAND INFO BF.SHARDADD BF.SHARDASK");
    assert!(info.contains("write") && info.contains("readonly"), "{info}");
    redis.say("ACL SETUSER reader on nopass ~* +bf.shardask");
    redis.say("AUTH reader x");
    assert!(redis.say("BF.SHARDADD k 64 1 5 x").starts_with("-NOPERM"));
    assert!(redis.say("BF.SHARDASK k 64 1 5 x").starts_with("-ERR keys are twelve bytes"));
    assert!(redis.say("BF.SHARDASK k 64 1 5").starts_with("-ERR wrong number"));
}

#[test]
fn ten_thousand_forged_commands_leave_the_server_alive() {
    let mut server = Server::start(&["--save", ""]);
    let mut redis = server.connect();
    let shard = Shard::make(&mut redis, "s", 10, Span::Quad, 5);
    let mut random = 1u64;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize
    };
    for _ in 0..10_000 {
        let mut words =
            shard.words(["BF.SHARDADD", "BF.SHARDASK"][next() % 2], &[next() as u64, next() as u64]);
        let word = 2 + next() % 4;
        match next() % 3 {
            0 => words[word] = next().to_string().into_bytes(),
            1 => words[word].truncate(next() % 24),
            _ => {
                let at = next() % words[word].len();
                words[word][at] = next() as u8;
            }
        }
        redis.try_call(&words).unwrap_or_else(|| panic!("the server died: {}", server.log()));
    }
    assert!(server.is_alive());
    assert_eq!(redis.say("STRLEN s"), (shard.len() + 1).to_string());
}
