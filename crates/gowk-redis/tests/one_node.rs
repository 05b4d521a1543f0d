//! On one plain server: what a filter promises, how it lives, and what happens on bad days.

mod common;

use common::{adds_outlive_rebuilds, keys};
use gowk::{
    BlockedBloom, BlockedParams, Build, Filter, Hasher, Insert, Inserted, MergeError, Persist, Removed,
};
use gowk_redis::{
    Error, Keeper, Listed, Options, Spec,
    blocking::{Bloom, Servers},
};
use gowk_testkit::{LOGGED, Server, until};
use std::time::Duration;

fn server() -> Server {
    Server::plain(&["--save", ""])
}

fn url(server: &Server) -> String {
    format!("redis://127.0.0.1:{}", server.port)
}

fn connect(server: &Server) -> Servers {
    Servers::connect(&[url(server)], Options::default().patience(Duration::from_secs(5))).unwrap()
}

/// Mean and six standard deviations of so many trials of this chance.
fn band(trials: u64, chance: f64) -> std::ops::RangeInclusive<u64> {
    let mean = trials as f64 * chance;
    let spread = 6.0 * (mean * (1.0 - chance)).sqrt() + 6.0;
    (mean - spread).max(0.0) as u64..=(mean + spread) as u64
}

/// Fills it and asks: no false negative, and as many false positives as were promised, neither more nor fewer.
fn keeps_its_promise(seen: &Bloom, items: u64, asked: u64) {
    for start in (0..items).step_by(100_000) {
        seen.add_many(&keys(start..items.min(start + 100_000))).unwrap();
    }
    for start in (0..items).step_by(100_000) {
        let answers = seen.may_contain_many(&keys(start..items.min(start + 100_000))).unwrap();
        assert!(answers.iter().all(|found| *found), "a key is denied");
    }
    let mut wrong = 0;
    for start in (0..asked).step_by(100_000) {
        let strangers = keys((1 << 40) + start..(1 << 40) + asked.min(start + 100_000));
        wrong += seen.may_contain_many(&strangers).unwrap().into_iter().filter(|found| *found).count() as u64;
    }
    let expected = band(asked, seen.params().fpp_at(items));
    assert!(expected.contains(&wrong), "{wrong} of {asked} strangers, expected {expected:?}");
    let info = seen.info(true).unwrap();
    // Six standard deviations of the bits that are set, roughly.
    let off = 6.0 / (info.bits as f64).sqrt() + 6.0 / (items as f64).sqrt() / 2.0;
    assert!((info.estimated_items / items as f64 - 1.0).abs() < off, "{info:?}");
    // Of one key the smallest filter keeps far more than was asked for.
    assert!(items < 1_000 || (info.fpp_now / info.fpp - 1.0).abs() < 0.05, "{info:?}");
}

#[test]
fn keys_that_were_added_are_found_and_the_rate_is_kept() {
    let server = server();
    let servers = connect(&server);
    for (items, fpp) in [(1, 0.01), (1_000, 0.5), (100_000, 0.01), (50_000, 0.001), (20_000, 1e-5)] {
        let seen = servers.create(&format!("n{items}"), &Spec::new(items, fpp).seed(42)).unwrap();
        keeps_its_promise(&seen, items, 100_000);
    }
}

#[test]
#[ignore = "a minute: one and ten million keys"]
fn the_rate_is_kept_at_ten_million_keys() {
    let server = server();
    let servers = connect(&server);
    for items in [1_000_000, 10_000_000] {
        let seen = servers.create(&format!("n{items}"), &Spec::new(items, 0.01).seed(42)).unwrap();
        keeps_its_promise(&seen, items, 2_000_000);
    }
}

#[test]
fn an_add_says_whether_the_key_was_new() {
    let server = server();
    let seen = connect(&server).create("seen", &Spec::new(1_000, 1e-6)).unwrap();
    assert_eq!(seen.add("gowk").unwrap(), Inserted::New);
    assert_eq!(seen.add("gowk").unwrap(), Inserted::MaybeSeen);
    assert_eq!(seen.add_many(&["gowk", "heron"]).unwrap(), [Inserted::MaybeSeen, Inserted::New]);
    assert!(seen.may_contain("heron").unwrap() && !seen.may_contain("wren").unwrap());
    assert_eq!(seen.add_many::<u64>(&[]).unwrap(), []);
    assert_eq!(seen.may_contain_many::<u64>(&[]).unwrap(), [false; 0]);
}

#[test]
fn the_bits_are_those_of_a_filter_in_memory() {
    let server = server();
    let servers = connect(&server);
    for fpp in [0.05, 0.01, 0.001, 1e-6] {
        let seen = servers.create("same", &Spec::new(20_000, fpp).shard_bytes(4096)).unwrap();
        seen.add_many(&keys(0..20_000)).unwrap();
        let mut here = BlockedBloom::with_params(seen.params(), seen.hasher()).unwrap();
        here.insert_many(&keys(0..20_000));
        let there = seen.export().unwrap();
        assert!(there == here, "at {fpp}");
        let folder = tempfile::tempdir().unwrap();
        let (whole, pieces) = (folder.path().join("whole"), folder.path().join("pieces"));
        here.save(&whole).unwrap();
        assert_eq!(seen.export_to(&pieces).unwrap(), here.params().bits() / 8);
        assert!(std::fs::read(whole).unwrap() == std::fs::read(pieces).unwrap(), "shard by shard, at {fpp}");
        // And back, under another name and with other shards.
        let again = servers.import("again", &there, &Spec::new(20_000, fpp).shard_bytes(8192)).unwrap();
        assert!(again.export().unwrap() == here);
        for name in ["same", "again"] {
            servers.drop_filter(name).unwrap();
        }
    }
    assert_eq!(server.connect().say("DBSIZE"), "0", "nothing is left of them");
}

#[test]
fn a_file_goes_up_and_comes_down() {
    let server = server();
    let servers = connect(&server);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen.gowk");
    let mut here = BlockedBloom::builder().items(10_000).fpp(0.01).build().unwrap();
    here.insert_many(&keys(0..5_000));
    here.save(&path).unwrap();
    let mapped = BlockedBloom::open(&path).unwrap();
    let seen = servers.import("seen", &mapped, &Spec::new(10_000, 0.01)).unwrap();
    seen.add_many(&keys(5_000..10_000)).unwrap();
    here.insert_many(&keys(5_000..10_000));
    assert!(seen.export().unwrap() == here);
    // Once more changes nothing.
    let seen = servers.import("seen", &mapped, &Spec::new(10_000, 0.01)).unwrap();
    assert!(seen.export().unwrap() == here);
}

#[test]
fn filters_are_merged_and_strangers_are_refused() {
    let server = server();
    let servers = connect(&server);
    let spec = Spec::new(10_000, 0.01).seed(1);
    let (a, b) = (servers.create("a", &spec).unwrap(), servers.create("b", &spec).unwrap());
    a.add_many(&keys(0..3_000)).unwrap();
    b.add_many(&keys(3_000..6_000)).unwrap();
    a.merge_from(&b).unwrap();
    assert!(a.may_contain_many(&keys(0..6_000)).unwrap().into_iter().all(|found| found));
    // A filter of three times the blocks is folded.
    let params = a.params();
    let large =
        BlockedParams::with_shape(3 * params.blocks(), params.span(), params.lanes(), 10_000).unwrap();
    let mut large = BlockedBloom::with_params(large, a.hasher()).unwrap();
    large.insert_many(&keys(6_000..9_000));
    a.merge(&large).unwrap();
    assert!(a.may_contain_many(&keys(0..9_000)).unwrap().into_iter().all(|found| found));

    let other = servers.create("c", &Spec::new(10_000, 0.01).seed(2)).unwrap();
    assert!(matches!(a.merge_from(&other), Err(Error::Merge(MergeError::Seed))));
    let other = servers.create("d", &Spec::new(20_000, 0.01).seed(1)).unwrap();
    assert!(matches!(a.merge_from(&other), Err(Error::Merge(MergeError::Sizes { .. }))));
    let other = BlockedBloom::with_params(BlockedParams::for_fpp(10_000, 1e-6).unwrap(), a.hasher()).unwrap();
    assert!(matches!(a.merge(&other), Err(Error::Merge(MergeError::Params { .. }))));
}

#[test]
fn two_who_create_at_once_agree() {
    let server = server();
    for round in 0..10 {
        let name = format!("race{round}");
        std::thread::scope(|scope| {
            let both: Vec<_> = (0..2u64)
                .map(|who| {
                    let (server, name) = (&server, &name);
                    scope.spawn(move || {
                        let seen = connect(server).create(name, &Spec::new(50_000, 0.01)).unwrap();
                        seen.add_many(&keys(who * 1_000..who * 1_000 + 1_000)).unwrap();
                        seen
                    })
                })
                .collect();
            let both: Vec<Bloom> = both.into_iter().map(|thread| thread.join().unwrap()).collect();
            assert!(both[0].hasher() == both[1].hasher(), "one seed");
            for seen in both {
                assert!(seen.may_contain_many(&keys(0..2_000)).unwrap().into_iter().all(|found| found));
            }
        });
    }
}

#[test]
fn what_is_there_is_held_against_what_is_asked_for() {
    let server = server();
    let servers = connect(&server);
    assert!(matches!(servers.open("seen"), Err(Error::NotFound { .. })));
    servers.create("seen", &Spec::new(1_000, 0.01).seed(1)).unwrap();
    servers.create("seen", &Spec::new(1_000, 0.01)).unwrap();
    servers.open_expecting("seen", &Spec::new(1_000, 0.01).seed(1)).unwrap();
    let differs = |spec: Spec| match servers.open_expecting("seen", &spec) {
        Err(Error::Differs { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    assert_eq!(differs(Spec::new(1_001, 0.01)), "number of items");
    assert_eq!(differs(Spec::new(1_000, 0.02)), "false-positive rate");
    assert_eq!(differs(Spec::new(1_000, 0.01).seed(2)), "seed");
    assert_eq!(differs(Spec::new(1_000, 0.01).hardened()), "hash");
    assert_eq!(differs(Spec::new(1_000, 0.01).shard_bytes(4096)), "size of shards, in blocks,");
    assert!(matches!(servers.open_counting("seen"), Err(Error::Differs { what: "kind", .. })));
    assert!(matches!(
        servers.create_counting("seen", &Spec::new(1_000, 0.01)),
        Err(Error::Differs { what: "kind", .. })
    ));
    for name in ["", "a{b", "c}d", "new\nline", &"x".repeat(201)] {
        assert!(matches!(servers.create(name, &Spec::new(10, 0.01)), Err(Error::Name { .. })), "{name:?}");
    }
}

#[test]
fn something_else_under_the_name_is_left_alone() {
    let server = server();
    let servers = connect(&server);
    let mut redis = server.connect();
    redis.say("SET gowk:text hello");
    redis.say("HSET gowk:hash field value");
    redis.say("HSET gowk:old live v=7 ready x");
    for result in [
        servers.create("text", &Spec::new(10, 0.01)).map(drop),
        servers.open("text").map(drop),
        servers.drop_filter("text"),
    ] {
        assert!(matches!(result, Err(Error::WrongType { .. })), "{result:?}");
    }
    assert!(matches!(servers.open("hash"), Err(Error::Meta { .. })));
    assert!(matches!(servers.open("old"), Err(Error::Version { found: 7, .. })));
    assert_eq!(redis.say("GET gowk:text"), "\"hello\"");
}

#[test]
fn a_filter_left_half_made_is_finished_by_the_next_one() {
    let server = server();
    let servers = connect(&server);
    let seen = servers.create("seen", &Spec::new(100_000, 0.01).seed(3)).unwrap();
    seen.add_many(&keys(0..1_000)).unwrap();
    // As if its creator had died: a shard not made, the last word not said.
    let mut redis = server.connect();
    redis.say("HDEL gowk:seen ready");
    assert!(matches!(servers.open("seen"), Err(Error::Unfinished { .. })));
    let seen = servers.create("seen", &Spec::new(100_000, 0.01)).unwrap();
    assert!(
        seen.may_contain_many(&keys(0..1_000)).unwrap().into_iter().all(|found| found),
        "making it again keeps the bits"
    );
    // As if whoever dropped it had died.
    redis.say("HSET gowk:seen dropping 1");
    assert!(matches!(servers.open("seen"), Err(Error::NotFound { .. })));
    assert!(matches!(seen.info(true), Err(Error::NotFound { .. })));
    let anew = servers.create("seen", &Spec::new(200_000, 0.01)).unwrap();
    assert!(!anew.may_contain(&1u64).unwrap());
    // Who still holds the old one is told.
    assert!(seen.may_contain(&1u64).is_err() && seen.add(&1u64).is_err());
    servers.drop_filter("seen").unwrap();
    assert!(matches!(servers.drop_filter("seen"), Err(Error::NotFound { .. })));
    assert_eq!(redis.say("DBSIZE"), "0");
}

/// The keys of the shards.
fn shards(server: &Server) -> Vec<String> {
    let keys = server.connect().call(&["KEYS", "gowk:*{*}"]).array();
    let mut keys: Vec<String> = keys.into_iter().map(|key| String::from_utf8(key.bytes()).unwrap()).collect();
    keys.sort();
    keys
}

#[test]
fn a_shard_that_vanished_is_an_error_for_its_keys_and_never_a_no() {
    let server = server();
    let servers = connect(&server);
    let seen = servers.create("seen", &Spec::new(50_000, 0.01).shard_bytes(4096)).unwrap();
    let all = keys(0..20_000);
    seen.add_many(&all).unwrap();
    let count = shards(&server).len();
    assert!(count > 10);
    server.connect().call(&["DEL", &shards(&server)[0]]);
    let check = |error: gowk_redis::BatchError| {
        assert!(matches!(*error.source, Error::Lost { .. }), "{error}");
        let share = all.len() / count;
        assert!((share / 2..share * 2).contains(&error.failed.len()), "{error}");
        assert_eq!(error.keys, all.len());
        error.failed
    };
    let asked = check(seen.may_contain_many(&all).unwrap_err());
    let added = check(seen.add_many(&all).unwrap_err());
    assert_eq!(asked, added);
    // The adds have not brought it back as an empty one that denies.
    assert_eq!(check(connect(&server).open("seen").unwrap().may_contain_many(&all).unwrap_err()), asked);
    assert!(matches!(seen.info(true), Err(Error::Lost { .. })));
    assert!(matches!(seen.export(), Err(Error::Lost { .. })));
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(seen.export_to(folder.path().join("cut.gowk")), Err(Error::Lost { .. })));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no file that is not whole");
    assert!(matches!(seen.export_to("/no/such/folder/x.gowk"), Err(Error::File { .. })));
    let rest: Vec<u64> =
        all.iter().enumerate().filter(|(at, _)| !asked.contains(at)).map(|(_, key)| *key).collect();
    assert!(seen.may_contain_many(&rest).unwrap().into_iter().all(|found| found));
    // A rebuild makes it whole.
    let rebuild = seen.rebuild(&Spec::new(50_000, 0.01)).unwrap();
    rebuild.add_many(&all).unwrap();
    rebuild.switch().unwrap();
    assert!(seen.may_contain_many(&all).unwrap().into_iter().all(|found| found));
}

#[test]
fn a_rebuild_forgets_the_old_and_keeps_what_comes_meanwhile() {
    let server = server();
    let servers = connect(&server);
    let seen = servers.create("seen", &Spec::new(10_000, 1e-4)).unwrap();
    seen.add_many(&keys(0..5_000)).unwrap();
    // Other clients, who know nothing of it: one adds before and meanwhile, one only after, one asks.
    let (stale, late, asker) = (
        connect(&server).open("seen").unwrap(),
        connect(&server).open("seen").unwrap(),
        connect(&server).open("seen").unwrap(),
    );
    let rebuild = seen.rebuild(&Spec::new(40_000, 1e-4)).unwrap();
    assert!(matches!(late.rebuild(&Spec::new(10, 0.1)), Err(Error::Rebuilding { .. })));
    assert!(matches!(late.merge_from(&seen), Err(Error::Rebuilding { .. })));
    rebuild.add_many(&keys(2_000..5_000)).unwrap();
    assert_eq!(stale.add(&10_000u64).unwrap(), Inserted::New);
    let meanwhile = connect(&server).open("seen").unwrap();
    meanwhile.add(&10_001u64).unwrap();
    assert!(asker.may_contain_many(&[0u64, 4_999, 10_000, 10_001]).unwrap().into_iter().all(|found| found));
    assert!(seen.info(false).unwrap().rebuilding);
    rebuild.switch().unwrap();
    late.add(&10_002u64).unwrap();
    for client in [&seen, &stale, &late, &asker, &meanwhile] {
        let answers = client.may_contain_many(&[0u64, 1_999, 2_000, 4_999, 10_000, 10_001, 10_002]).unwrap();
        assert_eq!(answers, [false, false, true, true, true, true, true]);
        assert_eq!(client.params().promise().items, 40_000);
    }
    assert!(!seen.info(true).unwrap().rebuilding);
    // Nothing but tombstones is left of the old one, and they expire.
    seen.clear().unwrap();
    assert!(!asker.may_contain(&10_000u64).unwrap());
    servers.drop_filter("seen").unwrap();
    let mut redis = server.connect();
    for key in shards(&server) {
        assert_eq!(redis.say(&format!("TYPE {key}")), "+hash");
        assert!(redis.call(&["PTTL", &key]).int() > 0);
    }
}

#[test]
fn an_abandoned_rebuild_is_given_up() {
    let server = server();
    let servers = connect(&server);
    let seen = servers.create("seen", &Spec::new(10_000, 1e-4)).unwrap();
    let other = connect(&server).open("seen").unwrap();
    let rebuild = seen.rebuild(&Spec::new(10_000, 1e-4)).unwrap();
    other.add(&1u64).unwrap();
    assert!(other.abort_rebuild().unwrap());
    assert!(!other.abort_rebuild().unwrap());
    assert!(rebuild.add_many(&[2u64]).is_err());
    assert!(matches!(rebuild.switch(), Err(Error::Changed { .. })));
    for client in [&seen, &other] {
        client.add(&3u64).unwrap();
        assert_eq!(client.may_contain_many(&[1u64, 2, 3]).unwrap(), [true, false, true]);
    }
    servers.drop_filter("seen").unwrap();
    assert_eq!(server.connect().say("DBSIZE"), "0");
}

#[test]
fn no_add_is_lost_while_others_clear_and_rebuild() {
    let server = server();
    let seen = connect(&server).create("seen", &Spec::new(200_000, 1e-6)).unwrap();
    let clients = [0, 1].map(|_| connect(&server).open("seen").unwrap());
    adds_outlive_rebuilds(&seen, clients.into(), 8);
}

#[test]
fn a_filter_expires_as_a_whole() {
    let server = server();
    let servers = connect(&server);
    let seen = servers.create("seen", &Spec::new(10_000, 0.01)).unwrap();
    seen.add(&1u64).unwrap();
    seen.expire(Some(Duration::from_secs(3600))).unwrap();
    let left = seen.info(false).unwrap().expires_in.unwrap();
    assert!(left <= Duration::from_secs(3600) && left > Duration::from_secs(3000));
    // What is written anew expires with the rest.
    seen.merge(&seen.export().unwrap()).unwrap();
    seen.clear().unwrap();
    let mut redis = server.connect();
    for key in shards(&server) {
        assert!(redis.call(&["PTTL", &key]).int() > 0, "{key}");
    }
    seen.expire(None).unwrap();
    assert_eq!(seen.info(false).unwrap().expires_in, None);
    seen.expire(Some(Duration::from_millis(100))).unwrap();
    until("the filter to expire", || matches!(servers.open("seen"), Err(Error::NotFound { .. })));
    assert!(matches!(seen.may_contain(&1u64), Err(Error::NotFound { .. })));
    assert!(matches!(seen.add(&1u64), Err(Error::NotFound { .. })));
    assert!(
        shards(&server).iter().all(|key| redis.say(&format!("TYPE {key}")) == "+hash"),
        "the add has left nothing"
    );
}

#[test]
fn keys_are_counted_and_taken_out() {
    let server = server();
    let servers = connect(&server);
    let carts = servers.create_counting("carts", &Spec::new(10_000, 1e-4).shard_bytes(4096)).unwrap();
    assert_eq!(
        carts.add_many(&["apple", "apple", "pear"]).unwrap(),
        [Inserted::New, Inserted::MaybeSeen, Inserted::New]
    );
    assert_eq!(carts.count_many(&["apple", "pear", "plum"]).unwrap(), [2, 1, 0]);
    assert_eq!(carts.remove_many(&["apple", "plum"]).unwrap(), [Removed::Gone, Removed::Absent]);
    assert_eq!(carts.count("apple").unwrap(), 1);
    // The same as in memory, also at the top.
    carts.add_many(&vec!["melon"; 20]).unwrap();
    carts.remove_many(&vec!["melon"; 30]).unwrap();
    assert_eq!(carts.count("melon").unwrap(), 15, "a counter at the top stays");
    let mut here = carts.export().unwrap();
    carts.add_many(&keys(0..5_000)).unwrap();
    carts.remove_many(&keys(1_000..3_000)).unwrap();
    here.insert_many(&keys(0..5_000));
    here.remove_many(&keys(1_000..3_000));
    assert!(carts.export().unwrap() == here);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("carts.gowk");
    carts.export_to(&path).unwrap();
    assert!(std::fs::read(path).unwrap() == here.to_bytes(), "shard by shard");
    let again = servers.import_counting("again", &here, &Spec::new(10_000, 1e-4)).unwrap();
    assert!(again.export().unwrap() == here);
    assert!(matches!(
        servers.import_counting("again", &here, &Spec::new(10_000, 1e-4)),
        Err(Error::Exists { .. })
    ));
    let info = carts.info(true).unwrap();
    assert!((info.estimated_items - 3_002.0).abs() < 100.0, "{info:?}");
    carts.clear().unwrap();
    assert_eq!(carts.count_many(&["apple", "melon"]).unwrap(), [0, 0]);
}

#[test]
fn a_full_server_says_so_and_names_the_keys() {
    let server = Server::plain(&["--save", "", "--maxmemory", "20mb"]);
    let servers = connect(&server);
    assert!(matches!(servers.create("huge", &Spec::new(100_000_000, 0.01)), Err(Error::Full { .. })));
    assert_eq!(server.connect().say("DBSIZE"), "0", "what did not fit is not left half made");
    let seen = servers.create("seen", &Spec::new(1_000, 0.01)).unwrap();
    seen.add(&1u64).unwrap();
    server.connect().say("CONFIG SET maxmemory 1mb");
    let error = seen.add_many(&keys(0..100)).unwrap_err();
    assert!(matches!(*error.source, Error::Full { .. }), "{error}");
    assert_eq!(error.failed, (0..100).collect::<Vec<_>>());
    assert!(seen.may_contain(&1u64).unwrap(), "it still answers");
    servers.drop_filter("seen").unwrap();
}

#[test]
fn servers_that_evict_are_refused_unless_allowed() {
    let server = Server::plain(&["--save", "", "--maxmemory", "50mb", "--maxmemory-policy", "allkeys-lru"]);
    let servers = connect(&server);
    assert!(matches!(servers.create("seen", &Spec::new(1_000, 0.01)), Err(Error::Evicting { .. })));
    servers.create("seen", &Spec::new(1_000, 0.01).allow_eviction(true)).unwrap();
}

#[test]
fn no_server_wrong_password_and_bad_urls_are_named_without_the_password() {
    let options =
        || Options::default().patience(Duration::from_millis(300)).connect_timeout(Duration::from_secs(1));
    let nobody = format!("redis://:secret@127.0.0.1:{}", gowk_testkit::free_port());
    let error = Servers::connect(&[&nobody], options()).unwrap_err();
    assert!(matches!(error, Error::NoServer { .. }), "{error:?}");
    let server = server();
    server.connect().say("CONFIG SET requirepass right");
    let port = server.port;
    let mut errors = vec![error];
    for url in [
        format!("redis://:secret@127.0.0.1:{port}"),
        format!("redis://127.0.0.1:{port}"),
        "http://secret@x".into(),
        "redis://u:secret@:x".into(),
    ] {
        errors.push(Servers::connect(&[url], options()).unwrap_err());
    }
    for error in errors {
        let text = format!("{error} {error:?}");
        assert!(!text.contains("secret"), "{text}");
    }
    let servers = Servers::connect(&[format!("redis://:right@127.0.0.1:{port}")], options()).unwrap();
    servers.create("seen", &Spec::new(10, 0.01)).unwrap();
}

#[test]
fn a_server_that_goes_is_waited_for_and_then_named() {
    let mut server = Server::plain(&LOGGED);
    let servers =
        Servers::connect(&[url(&server)], Options::default().patience(Duration::from_millis(500))).unwrap();
    let seen = servers.create("seen", &Spec::new(10_000, 0.01)).unwrap();
    seen.add_many(&keys(0..1_000)).unwrap();
    server.kill();
    let error = seen.add_many(&keys(0..10)).unwrap_err();
    assert!(matches!(*error.source, Error::NoServer { .. }), "{error}");
    assert_eq!(error.failed.len(), 10);
}

#[test]
fn a_slow_server_is_waited_for_and_then_named() {
    let server = server();
    let hasty = Duration::from_millis(200);
    let connect = |patience| {
        let options = Options::default().response_timeout(hasty).connect_timeout(hasty).patience(patience);
        Servers::connect(&[url(&server)], options).unwrap()
    };
    let seen = connect(Duration::from_secs(60)).create("seen", &Spec::new(10_000, 0.01)).unwrap();
    let impatient = connect(hasty).open("seen").unwrap();
    seen.add_many(&keys(0..100)).unwrap();
    server.freeze(true);
    let error = impatient.may_contain_many(&keys(0..100)).unwrap_err();
    assert!(matches!(*error.source, Error::NoServer { .. }), "{error}");
    assert_eq!(error.failed.len(), 100);
    std::thread::scope(|scope| {
        let adds = scope.spawn(|| seen.add_many(&keys(100..1_000)));
        std::thread::sleep(3 * hasty);
        server.freeze(false);
        adds.join().unwrap().unwrap();
    });
    assert!(impatient.may_contain_many(&keys(0..1_000)).unwrap().into_iter().all(|found| found));
}

#[test]
fn filters_are_listed_among_other_keys() {
    let server = server();
    let servers = connect(&server);
    assert_eq!(servers.list(10).unwrap().filters, []);
    server.connect().call(&[
        "EVAL",
        "for i=1,5000 do redis.call('HSET','gowk:'..i..'{x}','a','b') redis.call('SET','gowk-'..i,'x') end",
        "0",
    ]);
    server.connect().say("HSET gowk:no-filter a b");
    let seen = servers.create("seen", &Spec::new(1_000, 0.01)).unwrap();
    servers.create("day:7", &Spec::new(1_000, 0.01)).unwrap();
    servers.create_counting("carts", &Spec::new(1_000, 0.01)).unwrap();
    // What a switch leaves behind is not taken for a filter.
    seen.clear().unwrap();
    let listed = |name: &str, keeper| Listed { name: name.into(), keeper };
    let all =
        [listed("carts", Keeper::Counting), listed("day:7", Keeper::Bloom), listed("seen", Keeper::Bloom)];
    let listing = servers.list(10).unwrap();
    assert!(listing.filters == all && !listing.cut, "{listing:?}");
    let listing = servers.list(2).unwrap();
    assert!(listing.filters.len() <= 2 && listing.cut, "{listing:?}");
}

#[test]
fn hardened_filters_and_text_keys_work_alike() {
    let server = server();
    let servers = connect(&server);
    let seen = servers.create("seen", &Spec::new(1_000, 1e-4).hardened()).unwrap();
    assert_ne!(seen.hasher(), Hasher::new(0));
    seen.add_many(&["a", "b"]).unwrap();
    let again = connect(&server).open("seen").unwrap();
    assert_eq!(again.may_contain_many(&["a", "b", "c"]).unwrap(), [true, true, false]);
    assert!(again.export().unwrap().may_contain("a"));
}
