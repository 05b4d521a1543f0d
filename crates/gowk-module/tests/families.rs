//! `CF.*`, `CMS.*` and `TOPK.*` on a real server: every command, its replies in both protocols, and its errors.

use gowk_testkit::Server;

#[track_caller]
fn expect(redis: &mut gowk_testkit::Client, pairs: &[(&str, &str)]) {
    for (command, reply) in pairs {
        assert_eq!(redis.say(command), *reply, "{command}");
    }
}

const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";

#[test]
fn cuckoo_filters_answer_as_clients_expect() {
    let server = Server::start(&["--save", ""]);
    let mut redis = server.connect();
    expect(
        &mut redis,
        &[
            ("CF.RESERVE c 1000", "+OK"),
            ("CF.RESERVE c 1000", "-ERR item exists"),
            ("CF.RESERVE d 1", "-Capacity must be in the range [2 * BUCKETSIZE, 1073741824]"),
            ("CF.RESERVE d x", "-Bad capacity"),
            ("CF.ADD c a", "1"),
            ("CF.ADD c a", "1"),
            ("CF.ADDNX c a", "0"),
            ("CF.ADDNX c b", "1"),
            ("CF.COUNT c a", "2"),
            ("CF.COUNT c nobody", "0"),
            ("CF.EXISTS c a", "1"),
            ("CF.MEXISTS c a b nobody", "[1 1 0]"),
            ("CF.DEL c a", "1"),
            ("CF.COUNT c a", "1"),
            ("CF.DEL c a", "1"),
            ("CF.DEL c a", "0"),
            ("CF.EXISTS c a", "0"),
            ("CF.DEL missing a", "-Not found"),
            ("CF.COMPACT c", "+OK"),
            ("CF.COMPACT missing", "-Cuckoo filter was not found"),
            ("CF.EXISTS c b", "1"),
            ("CF.INSERT i CAPACITY 100 ITEMS x y", "[1 1]"),
            ("CF.INSERTNX i ITEMS y z", "[0 1]"),
            ("CF.INSERT missing NOCREATE ITEMS x", "-ERR not found"),
            ("CF.INSERT i CAPACITY x ITEMS x", "-Bad capacity"),
            ("CF.INSERT i FOO ITEMS x", "-Unknown argument received"),
            ("CF.INSERT i ITEMS", "-ERR wrong number of arguments for 'CF.INSERT' command"),
            ("CF.EXISTS missing x", "0"),
            ("CF.MEXISTS missing x y", "[0 0]"),
            ("CF.COUNT missing x", "0"),
            ("CF.INFO missing", "-ERR not found"),
            ("CF.SCANDUMP missing 0", "-ERR not found"),
            ("CF.LOADCHUNK new 1 junk", "-Invalid header"),
            ("SET s x", "+OK"),
            ("CF.ADD s x", WRONG_TYPE),
            ("CF.EXISTS s x", "0"),
            ("BF.ADD c x", WRONG_TYPE),
            ("CF.RESERVE full 4 EXPANSION 0 BUCKETSIZE 1", "+OK"),
            ("TYPE c", "+MBbloomCF"),
        ],
    );
    let full = (0..100)
        .find(|i| redis.say(&format!("CF.ADD full {i}")) == "-Filter is full")
        .expect("it has an end");
    assert!(redis.say(&format!("CF.INSERT full ITEMS {full}")).contains("-1"));
    let info = redis.say("CF.INFO i");
    assert!(info.contains("+Number of items inserted 3 +Number of items deleted 0 +Bucket size 2"), "{info}");
    assert!(redis.say("CF.DEBUG i").starts_with("+bktsize:2 buckets:"));
    let mut redis = server.connect_3();
    expect(
        &mut redis,
        &[
            ("CF.ADD t a", "#t"),
            ("CF.ADDNX t a", "#f"),
            ("CF.EXISTS t a", "#t"),
            ("CF.MEXISTS t a x", "[#t #f]"),
            ("CF.INSERT t ITEMS a b", "[#t #t]"),
            ("CF.INSERTNX t ITEMS a c", "[0 1]"),
            ("CF.COUNT t a", "2"),
            ("CF.DEL t a", "#t"),
        ],
    );
    assert!(redis.say("CF.INFO t").starts_with("{+Size: "));
}

/// RedisBloom refuses at 31,000 items with a rate of 37.6 %.
#[test]
fn an_autocreated_cuckoo_filter_takes_two_hundred_thousand_and_stays_small() {
    let server = Server::start(&["--save", ""]);
    let mut redis = server.connect();
    for i in 0..200 {
        let start = ["CF.INSERT".to_owned(), "c".into(), "ITEMS".into()];
        let words: Vec<String> =
            start.into_iter().chain((0..1000).map(|j| format!("{}", i * 1000 + j))).collect();
        let added = redis.call(&words).array();
        assert!(added.iter().all(|reply| reply.int() == 1));
    }
    let bytes: f64 = redis.say("MEMORY USAGE c").parse().unwrap();
    assert!(bytes * 8.0 / 200_000.0 < 28.0, "{} bits an item", bytes * 8.0 / 200_000.0);
    let words: Vec<String> = ["CF.MEXISTS".to_owned(), "c".into()]
        .into_iter()
        .chain((0..10_000).map(|j| format!("no {j}")))
        .collect();
    let wrong: i64 = redis.call(&words).array().iter().map(gowk_testkit::Reply::int).sum();
    assert!(wrong < 160, "{wrong} of 10,000");
}

#[test]
fn a_cuckoo_dump_is_of_one_moment_whatever_comes_meanwhile() {
    let server = Server::start(&["--save", ""]);
    let mut redis = server.connect();
    redis.say("CF.RESERVE c 500000");
    for i in 0..1000 {
        redis.say(&format!("CF.ADD c {i}"));
    }
    let mut chunks = Vec::new();
    let mut iterator = 0;
    loop {
        let mut reply = redis.call(&["CF.SCANDUMP", "c", &iterator.to_string()]).array();
        let bytes = reply.pop().unwrap();
        iterator = reply.pop().unwrap().int();
        if iterator == 0 {
            assert_eq!(bytes, gowk_testkit::Reply::Null);
            break;
        }
        chunks.push((iterator, bytes.bytes()));
        // Changes between the chunks are not in the dump, nor do they tear it.
        redis.say(&format!("CF.DEL c {}", chunks.len()));
        redis.say(&format!("CF.ADD c later{}", chunks.len()));
    }
    assert!(chunks.len() > 2);
    for (iterator, bytes) in chunks {
        let iterator = iterator.to_string();
        let words: [&[u8]; 4] = [b"CF.LOADCHUNK", b"again", iterator.as_bytes(), &bytes];
        assert_eq!(redis.call(&words), gowk_testkit::Reply::Status("OK".into()));
    }
    for i in 0..1000 {
        assert_eq!(redis.say(&format!("CF.EXISTS again {i}")), "1", "{i}");
    }
    assert!(redis.say("CF.INFO again").contains("+Number of items inserted 1000 +Number of items deleted 0"));
    assert!(redis.say("CF.SCANDUMP c 5").starts_with("-ERR there is no such dump any more"));
}

#[test]
fn sketches_answer_as_clients_expect() {
    let server = Server::start(&["--save", ""]);
    let mut redis = server.connect();
    expect(
        &mut redis,
        &[
            ("CMS.INITBYDIM a 1000 5", "+OK"),
            ("CMS.INITBYDIM a 1000 5", "-CMS: key already exists"),
            ("CMS.INITBYDIM z 0 5", "-CMS: invalid width"),
            ("CMS.INITBYDIM z 5 x", "-CMS: invalid depth"),
            ("CMS.INITBYDIM z 9000000000000000000 9", "-CMS: invalid init arguments"),
            ("CMS.INITBYPROB p 0.001 0.01", "+OK"),
            ("CMS.INITBYPROB z 2 0.01", "-CMS: invalid overestimation value"),
            ("CMS.INITBYPROB z 0.1 0", "-CMS: invalid prob value"),
            ("CMS.INFO p", "[+width 2000 +depth 7 +count 0]"),
            ("CMS.INCRBY a x 5 y 3", "[5 3]"),
            ("CMS.INCRBY a x 1", "[6]"),
            ("CMS.INCRBY a x -1", "-CMS: Number cannot be negative"),
            ("CMS.INCRBY a x q", "-CMS: Cannot parse number"),
            ("CMS.INCRBY a x 1 y", "-ERR wrong number of arguments for 'CMS.INCRBY' command"),
            ("CMS.INCRBY missing x 1", "-CMS: key does not exist"),
            ("CMS.QUERY a x y nobody", "[6 3 0]"),
            ("CMS.QUERY missing x", "-CMS: key does not exist"),
            ("CMS.INCRBY a big 4294967295", "[-CMS: INCRBY overflow]"),
            ("CMS.INITBYDIM b 1000 5", "+OK"),
            ("CMS.INCRBY b x 10", "[10]"),
            ("CMS.INITBYDIM c 1000 5", "+OK"),
            ("CMS.INITBYDIM d 1000 5", "+OK"),
            ("CMS.INCRBY d x 1", "[1]"),
            ("CMS.MERGE c 2 b d", "+OK"),
            ("CMS.QUERY c x", "[11]"),
            ("CMS.MERGE c 2 b d WEIGHTS 2 3", "+OK"),
            ("CMS.QUERY c x", "[23]"),
            ("CMS.MERGE c 1 c WEIGHTS 2", "+OK"),
            ("CMS.QUERY c x", "[46]"),
            ("CMS.INFO c", "[+width 1000 +depth 5 +count 46]"),
            ("CMS.MERGE c 1 b WEIGHTS -1", "-CMS: MERGE overflow"),
            ("CMS.QUERY c x", "[46]"),
            ("CMS.MERGE c x b", "-CMS: invalid numkeys"),
            ("CMS.MERGE c 0 b", "-CMS: Number of keys must be positive"),
            ("CMS.MERGE c 3 b", "-CMS: wrong number of keys"),
            ("CMS.MERGE c 1 b WEIGHTS 1 2", "-CMS: wrong number of keys/weights"),
            ("CMS.MERGE c 1 b WEIGHTS x", "-CMS: invalid weight value"),
            ("CMS.MERGE c 1 p", "-CMS: width/depth is not equal"),
            ("CMS.MERGE c 1 missing", "-CMS: key does not exist"),
            ("COMMAND GETKEYS CMS.MERGE c 2 b d WEIGHTS 1 2", "[\"c\" \"b\" \"d\"]"),
            ("TYPE a", "+CMSk-TYPE"),
        ],
    );
    assert_eq!(server.connect_3().say("CMS.INFO p"), "{+width: 2000, +depth: 7, +count: 0}");
}

#[test]
fn the_most_frequent_are_listed_as_clients_expect() {
    let server = Server::start(&["--save", ""]);
    let mut redis = server.connect();
    expect(
        &mut redis,
        &[
            ("TOPK.RESERVE t 3 50 4 0.9", "+OK"),
            ("TOPK.RESERVE t 3 50 4 0.9", "-TopK: key already exists"),
            ("TOPK.RESERVE z 0", "-TopK: invalid k"),
            ("TOPK.RESERVE z 3 0 4 0.9", "-TopK: invalid width"),
            ("TOPK.RESERVE z 3 5 x 0.9", "-TopK: invalid depth"),
            ("TOPK.RESERVE z 3 5 4 2", "-TopK: invalid decay value. must be '<= 1' & '> 0'"),
            ("TOPK.RESERVE z 3 5", "-ERR wrong number of arguments for 'TOPK.RESERVE' command"),
            ("TOPK.RESERVE plain 3", "+OK"),
            (
                "TOPK.ADD t A B C D E A A B C G D B D A E E 1",
                r#"[nil nil nil "A" "C" "D" nil nil "E" nil "B" "C" nil nil nil "D" nil]"#,
            ),
            ("TOPK.QUERY t A B C D E F G", "[1 1 0 0 1 0 0]"),
            ("TOPK.COUNT t A B C D E F G", "[4 3 2 3 3 0 1]"),
            ("TOPK.LIST t", r#"["A" "B" "E"]"#),
            ("TOPK.LIST t WITHCOUNT", r#"["A" 4 "B" 3 "E" 3]"#),
            ("TOPK.LIST t FOO", "-WITHCOUNT keyword expected"),
            ("TOPK.INCRBY t A 100", "[nil]"),
            ("TOPK.COUNT t A", "[104]"),
            ("TOPK.ADD missing x", "-TopK: key does not exist"),
            ("TOPK.LIST missing", "-TopK: key does not exist"),
            ("TYPE t", "+TopK-TYPE"),
        ],
    );
    // Servers differ in how many digits they print.
    let info = redis.say("TOPK.INFO t");
    let decay =
        info.strip_prefix("[+k 3 +width 50 +depth 4 +decay \"").and_then(|rest| rest.strip_suffix("\"]"));
    assert_eq!(decay.and_then(|decay| decay.parse().ok()), Some(0.9), "{info}");
    assert!(redis.say("TOPK.INCRBY t A 100001").starts_with("-TopK: increment must be an integer"));
    let mut redis = server.connect_3();
    expect(
        &mut redis,
        &[
            ("TOPK.QUERY t A F", "[#t #f]"),
            ("TOPK.LIST t WITHCOUNT", r#"["A" 104 "B" 3 "E" 3]"#),
            ("TOPK.INFO t", "{+k: 3, +width: 50, +depth: 4, +decay: ,0.9}"),
        ],
    );
}
