//! `BF.*` on a real server: every command, its replies in both protocols, and its errors.

use gowk_testkit::{Reply, Server};

#[test]
fn every_command_answers_as_clients_expect_in_resp2() {
    let server = Server::start(&["--save", ""]);
    let mut redis = server.connect();
    for (command, reply) in [
        ("BF.RESERVE r 0.01 1000", "+OK"),
        ("BF.RESERVE r 0.01 1000", "-ERR item exists"),
        ("BF.ADD r a", "1"),
        ("BF.ADD r a", "0"),
        ("BF.MADD r a b b c", "[0 1 0 1]"),
        ("BF.EXISTS r a", "1"),
        ("BF.EXISTS r nobody", "0"),
        ("BF.MEXISTS r a b nobody", "[1 1 0]"),
        ("BF.CARD r", "3"),
        ("BF.INSERT r ITEMS c d", "[0 1]"),
        ("BF.INSERT new CAPACITY 50 ERROR 0.001 EXPANSION 4 ITEMS x", "[1]"),
        ("BF.INSERT none NOCREATE ITEMS x", "-ERR not found"),
        ("BF.INSERT none ITEMS", "-ERR wrong number of arguments for 'BF.INSERT' command"),
        ("BF.INFO new CAPACITY", "[50]"),
        ("BF.INFO new EXPANSION", "[4]"),
        ("BF.INFO new ITEMS", "[1]"),
        ("BF.INFO new FILTERS", "[1]"),
        ("BF.INFO new FOO", "-Invalid information value"),
        ("BF.INFO missing", "-ERR not found"),
        ("BF.CARD missing", "0"),
        ("BF.EXISTS missing x", "0"),
        ("BF.MEXISTS missing x y", "[0 0]"),
        ("BF.DEBUG missing", "-ERR not found"),
        ("BF.SCANDUMP missing 0", "-ERR not found"),
        ("BF.SCANDUMP r x", "-ERR Second argument must be numeric"),
        ("BF.LOADCHUNK r x y", "-ERR Second argument must be numeric"),
        ("BF.LOADCHUNK missing 1 y", "-ERR received bad data"),
        ("BF.LOADCHUNK missing 2 y", "-ERR not found"),
        ("BF.LOADCHUNK r 2 y", "-ERR received bad data: the filter is complete"),
        ("SET string value", "+OK"),
        ("BF.ADD string x", "-WRONGTYPE Operation against a key holding the wrong kind of value"),
        ("BF.CARD string", "-WRONGTYPE Operation against a key holding the wrong kind of value"),
        ("BF.EXISTS string x", "0"),
        ("BF.ADD r", "-ERR wrong number of arguments for 'BF.ADD' command"),
        ("BF.RESERVE n 0.01 3 NONSCALING", "+OK"),
        ("BF.MADD n 1 2 3 4 5", "[1 1 1 -ERR non scaling filter is full]"),
        ("BF.ADD n 4", "-ERR non scaling filter is full"),
        ("BF.ADD n 1", "0"),
        ("BF.INFO n EXPANSION", "[nil]"),
        ("BF.MERGE u r n", "+OK"),
        ("BF.MEXISTS u a d 1 3 nobody", "[1 1 1 1 0]"),
        ("BF.MERGE u missing", "-ERR not found"),
        ("BF.CLEAR u", "+OK"),
        ("BF.CARD u", "0"),
        ("BF.MEXISTS u a 1", "[0 0]"),
        ("BF.CLEAR missing", "-ERR not found"),
        ("BF.RESERVE w 0.01 100 WINDOW 100 GENERATIONS 4", "+OK"),
        ("BF.ADD w x", "1"),
        ("BF.EXISTS w x", "1"),
        ("BF.LOAD l junk", "-ERR received bad data: not a gowk file: it does not begin with the magic bytes"),
        ("TYPE r", "+MBbloom--"),
        ("COPY r copy", "1"),
        ("BF.MEXISTS copy a b c d nobody", "[1 1 1 1 0]"),
    ] {
        let said = redis.say(command);
        // The end of an error of the core is its own business.
        let reply_start = reply.split(": not a gowk").next().unwrap();
        assert!(
            said == reply || reply.contains(": not a gowk") && said.starts_with(reply_start),
            "{command} gave {said}, not {reply}"
        );
    }
    assert!(redis.say("BF.INFO r").starts_with("[+Capacity 1000 +Size "));
    assert!(redis.say("BF.DEBUG r").starts_with("[+size:4 +bytes:"));
    assert!(redis.say("MEMORY USAGE r").parse::<u64>().unwrap() > 1000);
}

#[test]
fn resp3_has_booleans_and_maps() {
    let server = Server::start(&["--save", ""]);
    let mut redis = server.connect_3();
    for (command, reply) in [
        ("BF.ADD r a", "#t"),
        ("BF.ADD r a", "#f"),
        ("BF.MADD r a b", "[#f #t]"),
        ("BF.EXISTS r a", "#t"),
        ("BF.MEXISTS r a x", "[#t #f]"),
        ("BF.MEXISTS missing a", "[#f]"),
        ("BF.INSERT r ITEMS a z", "[#f #t]"),
        ("BF.INFO r ITEMS", "{+Number of items inserted: 3}"),
        ("BF.CARD r", "3"),
    ] {
        assert_eq!(redis.say(command), reply, "{command}");
    }
    assert!(redis.say("BF.INFO r").starts_with("{+Capacity: 100, +Size: "));
}

#[test]
fn a_window_forgets_what_came_long_ago() {
    let server = Server::start(&["--save", ""]);
    let mut redis = server.connect();
    redis.say("BF.RESERVE last 0.001 1000 WINDOW 1000");
    redis.say("BF.ADD last first");
    for i in 0..500 {
        redis.say(&format!("BF.ADD last {i}"));
    }
    assert_eq!(redis.say("BF.EXISTS last first"), "1");
    for i in 500..1500 {
        redis.say(&format!("BF.ADD last {i}"));
    }
    assert_eq!(redis.say("BF.EXISTS last first"), "0");

    redis.say("BF.RESERVE timed 0.001 1000 WINDOW 400ms GENERATIONS 2");
    redis.say("BF.ADD timed x");
    assert_eq!(redis.say("BF.EXISTS timed x"), "1");
    gowk_testkit::until("the window to forget", || redis.say("BF.EXISTS timed x") == "0");
}

/// All chunks of a dump, each with the iterator that it is loaded with.
fn dump(redis: &mut gowk_testkit::Client, key: &str) -> Vec<(i64, Vec<u8>)> {
    let mut chunks = Vec::new();
    let mut iterator = 0;
    loop {
        let mut reply = redis.call(&["BF.SCANDUMP", key, &iterator.to_string()]).array();
        let bytes = reply.pop().unwrap().bytes();
        iterator = reply.pop().unwrap().int();
        if iterator == 0 {
            assert!(bytes.is_empty());
            return chunks;
        }
        chunks.push((iterator, bytes));
    }
}

#[test]
fn the_dump_of_a_window_is_of_one_moment_whatever_comes_meanwhile() {
    let server = Server::start(&["--save", ""]);
    let mut redis = server.connect();
    redis.say("BF.RESERVE last 0.001 200000 WINDOW 200000");
    let add = |redis: &mut gowk_testkit::Client, name: &str, count: u32| {
        for from in (0..count).step_by(1000) {
            let keys = (from..from + 1000).map(|i| format!("{name}{i}"));
            let words: Vec<String> =
                ["BF.MADD".to_owned(), "last".to_owned()].into_iter().chain(keys).collect();
            redis.call(&words);
        }
    };
    add(&mut redis, "early", 20_000);
    let mut chunks = Vec::new();
    let mut iterator = 0;
    loop {
        let mut reply = redis.call(&["BF.SCANDUMP", "last", &iterator.to_string()]).array();
        let chunk = reply.pop().unwrap().bytes();
        iterator = reply.pop().unwrap().int();
        if iterator == 0 {
            break;
        }
        chunks.push((iterator, chunk));
        if chunks.len() == 2 {
            // So many that all that came before the dump is forgotten.
            add(&mut redis, "late", 400_000);
        }
    }
    assert!(chunks.len() > 3, "{} chunks", chunks.len());
    assert_eq!(redis.say("BF.EXISTS last early7"), "0");
    for (iterator, chunk) in &chunks {
        let iterator = iterator.to_string();
        let words: [&[u8]; 4] = [b"BF.LOADCHUNK", b"then", iterator.as_bytes(), chunk];
        assert_eq!(redis.call(&words), Reply::Status("OK".into()));
    }
    let there =
        (0..20_000).step_by(10).filter(|i| redis.say(&format!("BF.EXISTS then early{i}")) == "1").count();
    assert_eq!(there, 2_000);
    let late =
        (0..20_000).step_by(10).filter(|i| redis.say(&format!("BF.EXISTS then late{i}")) == "1").count();
    assert!(late < 20, "{late} of 2,000 that came later");
    assert!(redis.say("BF.SCANDUMP last 2").starts_with("-ERR there is no such dump any more"));
}

#[test]
fn a_dump_in_chunks_makes_the_same_filter_again() {
    let server = Server::start(&["--save", ""]);
    let mut redis = server.connect();
    redis.say("BF.RESERVE big 0.001 1000000");
    for i in 0..200 {
        let words: Vec<String> = ["BF.MADD".into(), "big".into()]
            .into_iter()
            .chain((0..100).map(|j| (i * 100 + j).to_string()))
            .collect();
        redis.call(&words);
    }
    let before = redis.say("BF.DEBUG big");
    let digest = redis.say("DEBUG DIGEST-VALUE big");
    let chunks = dump(&mut redis, "big");
    assert!(chunks.len() > 4, "{} chunks", chunks.len());
    for (iterator, bytes) in &chunks {
        if *iterator != 1 {
            // Until the last has come it is no filter yet.
            assert!(redis.call(&["BF.EXISTS", "again", "5"]).is_error());
        }
        let iterator = iterator.to_string();
        let words: [&[u8]; 4] = [b"BF.LOADCHUNK", b"again", iterator.as_bytes(), bytes];
        assert_eq!(redis.call(&words), Reply::Status("OK".into()));
    }
    assert_eq!(redis.say("BF.DEBUG again"), before);
    assert_eq!(redis.say("DEBUG DIGEST-VALUE again"), digest);
    assert_eq!(redis.say("BF.MEXISTS again 0 19999 nobody"), "[1 1 0]");
}

#[test]
fn a_file_of_the_library_is_served_and_given_back() {
    use gowk::{AnyFilter, BinaryFuse, BlockedBloom, Filter, Insert, Persist};
    let server = Server::start(&["--save", ""]);
    let mut redis = server.connect();
    let mut filter = BlockedBloom::builder().items(1000).fpp(0.01).build().unwrap();
    filter.insert_many(&["ann", "bob"]);
    let words: [&[u8]; 3] = [b"BF.LOAD", b"f", &filter.to_bytes()];
    assert_eq!(redis.call(&words), Reply::Status("OK".into()));
    assert_eq!(redis.say("BF.MEXISTS f ann bob carl"), "[1 1 0]");
    assert_eq!(redis.say("BF.ADD f carl"), "1");
    let bytes = redis.call(&["BF.DUMP", "f"]).bytes();
    let again = AnyFilter::from_bytes(&bytes).unwrap();
    assert!(["ann", "bob", "carl"].iter().all(|key| again.may_contain(*key)));

    let fuse = BinaryFuse::builder().fpp(0.001).build_from(["x", "y", "z"]);
    let words: [&[u8]; 3] = [b"BF.LOAD", b"fuse", &fuse.unwrap().to_bytes()];
    assert_eq!(redis.call(&words), Reply::Status("OK".into()));
    assert_eq!(redis.say("BF.MEXISTS fuse x y z q"), "[1 1 1 0]");
    assert!(redis.say("BF.ADD fuse q").starts_with("-ERR a binary fuse filter that was loaded"));
}

#[test]
fn settings_are_seen_and_bad_ones_refused() {
    let server = Server::start(&["--save", ""]);
    let mut redis = server.connect();
    // From Redis 8 on names need no prefix, and are RedisBloom's own.
    let prefix = if redis.say("CONFIG GET bf-error-rate") == "[]" { "bf." } else { "" };
    assert_eq!(redis.say(&format!("CONFIG SET {prefix}bf-error-rate 0.5")), "+OK");
    assert_eq!(
        redis.say(&format!("CONFIG GET {prefix}bf-error-rate")),
        format!("[\"{prefix}bf-error-rate\" \"0.25\"]")
    );
    assert_eq!(redis.say(&format!("CONFIG SET {prefix}bf-initial-size 1000")), "+OK");
    assert_eq!(redis.say("BF.ADD auto x"), "1");
    assert_eq!(redis.say("BF.INFO auto CAPACITY"), "[1000]");
    for bad in ["bf-error-rate 1", "bf-error-rate x", "bf-initial-size 0", "cf-bucket-size 256"] {
        assert!(
            redis.say(&format!("CONFIG SET {prefix}{bad}")).starts_with("-ERR CONFIG SET failed"),
            "{bad}"
        );
    }
    assert_eq!(redis.say(&format!("CONFIG SET {prefix}bf-memory-limit 1mb")), "+OK");
    assert!(redis.say("BF.RESERVE big 0.01 10000000").starts_with("-ERR the filter would take 1"));
    redis.say("BF.RESERVE grows 0.01 500000 COMPAT");
    let added = (0..600).find_map(|some| {
        let keys = (0..1000).map(|i| format!("{some}-{i}"));
        let words: Vec<String> = ["BF.MADD".to_owned(), "grows".to_owned()].into_iter().chain(keys).collect();
        let reply = redis.call(&words).array().pop()?;
        matches!(reply, Reply::Error(_)).then(|| format!("{some}: {reply:?}"))
    });
    let added = added.expect("it would grow beyond a megabyte");
    assert!(added.contains("-ERR the filter would take"), "{added}");
    assert!(redis.say("INFO bf_stats").contains("bf_created:2"));
}

/// Filters of some megabytes ask for huge pages; what lies between one and the page before it is not the server's to count.
#[test]
fn a_large_filter_takes_no_more_of_the_servers_memory_than_its_bits() {
    let server = Server::start(&["--save", ""]);
    let mut redis = server.connect();
    let mut used = || {
        let info = redis.say("INFO memory");
        let (_, from) = info.split_once("used_memory:").unwrap();
        from.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse::<f64>().unwrap()
    };
    let before = used();
    assert_eq!(server.connect().say("BF.RESERVE r 0.01 10000000"), "+OK");
    let (grew, filter) = (used() - before, server.connect().say("MEMORY USAGE r").parse::<f64>().unwrap());
    // The server's allocator rounds up by a quarter at most; with a huge page of padding it is a third.
    assert!((1.0..1.25).contains(&(grew / filter)), "{grew} bytes for a filter of {filter}");
}
