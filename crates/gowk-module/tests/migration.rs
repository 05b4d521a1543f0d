//! Filters that RedisBloom made are loaded, from its dumps and from its snapshots, and answer as they did there.

use gowk_testkit::{Client, Reply, Server};
use std::path::PathBuf;

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/redis").join(name)
}

/// The chunks of a golden file: an i64 iterator, a u64 length and the bytes, each.
fn chunks(name: &str) -> Vec<(i64, Vec<u8>)> {
    let bytes = std::fs::read(golden(&format!("{name}.chunks"))).unwrap();
    let mut rest = &bytes[..];
    let mut chunks = Vec::new();
    while let Some((frame, after)) = rest.split_first_chunk::<16>() {
        let iterator = i64::from_le_bytes(frame[..8].try_into().unwrap());
        let len = u64::from_le_bytes(frame[8..].try_into().unwrap()) as usize;
        chunks.push((iterator, after[..len].to_vec()));
        rest = &after[len..];
    }
    chunks
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

/// Every item that was added, and what RedisBloom answered for others.
fn answers_as_before(redis: &mut Client, name: &str, key: &str) {
    let command = if name.starts_with("bf") { "BF.EXISTS" } else { "CF.EXISTS" };
    let mut asked = 0;
    let mut ask = |item: Vec<u8>, expected: i64| {
        let words: [&[u8]; 3] = [command.as_bytes(), key.as_bytes(), &item];
        assert_eq!(redis.call(&words), Reply::Int(expected), "{name}: {:?}", String::from_utf8_lossy(&item));
        asked += 1;
    };
    if name != "cf_1000" {
        // Some of the items of that one were taken out again.
        for line in std::fs::read_to_string(golden(&format!("{name}.inserted.txt"))).unwrap().lines() {
            ask(unhex(line), 1);
        }
    }
    for line in std::fs::read_to_string(golden(&format!("{name}.probe.txt"))).unwrap().lines() {
        let (answer, item) = line.split_once('\t').unwrap();
        ask(unhex(item), answer.parse().unwrap());
    }
    assert!(asked >= 50);
}

const NAMES: [&str; 5] = ["bf_fixed_1000", "bf_one", "bf_scale_100", "cf_1000", "cf_grow_64"];

fn load(redis: &mut Client, name: &str, key: &str) {
    let command = if name.starts_with("bf") { "BF.LOADCHUNK" } else { "CF.LOADCHUNK" };
    for (iterator, bytes) in chunks(name) {
        let iterator = iterator.to_string();
        let words: [&[u8]; 4] = [command.as_bytes(), key.as_bytes(), iterator.as_bytes(), &bytes];
        assert_eq!(redis.call(&words), Reply::Status("OK".into()), "{name} {iterator}");
    }
}

#[test]
fn dumps_of_redisbloom_answer_as_before_survive_a_restart_and_can_go_back() {
    let mut server = Server::start(&["--save", ""]);
    let mut redis = server.connect();
    for name in NAMES {
        load(&mut redis, name, name);
        answers_as_before(&mut redis, name, name);
        // Its own dump is, byte for byte, what RedisBloom gave.
        let scan = if name.starts_with("bf") { "BF.SCANDUMP" } else { "CF.SCANDUMP" };
        let mut iterator = 0;
        let mut bytes = Vec::new();
        loop {
            let mut reply = redis.call(&[scan, name, &iterator.to_string()]).array();
            let chunk = reply.pop().unwrap();
            iterator = reply.pop().unwrap().int();
            if iterator == 0 {
                break;
            }
            bytes.extend(chunk.bytes());
        }
        assert_eq!(
            bytes,
            chunks(name).into_iter().flat_map(|(_, bytes)| bytes).collect::<Vec<u8>>(),
            "{name}"
        );
    }
    redis.say("SAVE");
    server.kill_and_restart();
    let mut redis = server.connect();
    for name in NAMES {
        answers_as_before(&mut redis, name, name);
    }
    assert_eq!(redis.say("BF.ADD bf_scale_100 one-more"), "1");
    assert_eq!(redis.say("CF.ADD cf_grow_64 one-more"), "1");
    assert_eq!(redis.say("CF.DEL cf_grow_64 one-more"), "1");
    // With the option, and as a setting, new filters are RedisBloom's.
    redis.say("BF.RESERVE new 0.01 1000 COMPAT");
    assert_eq!(redis.say("BF.ADD new x"), "1");
    let header = redis.call(&["BF.SCANDUMP", "new", "0"]).array().pop().unwrap().bytes();
    assert_eq!(header.len(), 73);
}

/// What `DUMP` gave on a server with RedisBloom: the fields of its encoding 4, framed as the server frames them.
fn payload(type_name: &str, fields: &[Field]) -> Vec<u8> {
    const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let id =
        type_name.bytes().fold(0u64, |id, letter| id << 6 | LETTERS.find(letter as char).unwrap() as u64)
            << 10
            | 4;
    let mut bytes = vec![7];
    length(&mut bytes, id);
    for field in fields {
        match field {
            Field::U(n) => {
                length(&mut bytes, 2);
                length(&mut bytes, *n);
            }
            Field::D(x) => {
                length(&mut bytes, 4);
                bytes.extend(x.to_le_bytes());
            }
            Field::S(text) => {
                length(&mut bytes, 5);
                length(&mut bytes, text.len() as u64);
                bytes.extend(text);
            }
        }
    }
    length(&mut bytes, 0);
    bytes.extend([10, 0]);
    let sum = bytes.iter().fold(0u64, |crc, byte| {
        (0..8).fold(crc ^ u64::from(*byte), |crc, _| {
            if crc & 1 == 1 { crc >> 1 ^ 0x95ac_9329_ac4b_c9b5 } else { crc >> 1 }
        })
    });
    bytes.extend(sum.to_le_bytes());
    bytes
}

enum Field {
    U(u64),
    D(f64),
    S(Vec<u8>),
}

/// A length as the server writes it, in its longest form: 0x81 and eight bytes, the highest first.
fn length(bytes: &mut Vec<u8>, n: u64) {
    bytes.push(0x81);
    bytes.extend((0..8).rev().map(|i| (n >> (8 * i)) as u8));
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

fn u32_at(bytes: &[u8], at: usize) -> u64 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()).into()
}

#[test]
fn values_of_redisbloom_in_a_snapshot_answer_as_before() {
    let server = Server::start(&["--save", ""]);
    let mut redis = server.connect();
    for name in NAMES {
        let mut chunks = chunks(name).into_iter().map(|(_, bytes)| bytes);
        let header = chunks.next().unwrap();
        let body: Vec<u8> = chunks.flatten().collect();
        let mut at = 0;
        let mut take = |len: u64| {
            at += len as usize;
            Field::S(body[at - len as usize..at].to_vec())
        };
        let bytes = if name.starts_with("bf") {
            let links = u32_at(&header, 8);
            let mut fields = vec![
                Field::U(u64_at(&header, 0)),
                Field::U(links),
                Field::U(u32_at(&header, 12)),
                Field::U(u32_at(&header, 16)),
            ];
            for link in header[20..].chunks(53) {
                let double = |at| Field::D(f64::from_bits(u64_at(link, at)));
                fields.extend([
                    Field::U(u64_at(link, 44)),
                    double(24),
                    Field::U(u32_at(link, 40)),
                    double(32),
                ]);
                fields.extend([
                    Field::U(u64_at(link, 8)),
                    Field::U(link[52].into()),
                    take(u64_at(link, 0)),
                    Field::U(u64_at(link, 16)),
                ]);
            }
            payload("MBbloom--", &fields)
        } else {
            let small = |at: usize| u64::from(u16::from_le_bytes([header[at], header[at + 1]]));
            let (buckets, filters) = (u64_at(&header, 8), u64_at(&header, 24));
            let mut fields = vec![
                Field::U(filters),
                Field::U(buckets),
                Field::U(u64_at(&header, 0)),
                Field::U(u64_at(&header, 16)),
            ];
            fields.extend([Field::U(small(32)), Field::U(small(34)), Field::U(small(36))]);
            for i in 0..filters {
                let buckets = buckets * small(36).pow(i as u32);
                fields.extend([Field::U(buckets), take(buckets * small(32))]);
            }
            payload("MBbloomCF", &fields)
        };
        let words: [&[u8]; 4] = [b"RESTORE", name.as_bytes(), b"0", &bytes];
        assert_eq!(redis.call(&words), Reply::Status("OK".into()), "{name}: {}", server.log());
        answers_as_before(&mut redis, name, name);
    }
}
