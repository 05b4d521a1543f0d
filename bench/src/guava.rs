//! Guava's filter, asked by Guava in a JVM and by us from the same file.

use std::{hint::black_box, path::Path, path::PathBuf, process::Command, time::Instant};

use anyhow::{Context, ensure};
use gowk::{Filter, Insert, format::guava::GuavaBloom, store::MappedBytes};

use crate::args::Guava;

/// What a lookup takes, in nanoseconds, and how many keys were found.
#[derive(Clone, Copy, Debug)]
struct Round {
    hit: f64,
    miss: f64,
    hits: usize,
    misses: usize,
}

impl Round {
    fn best(self, other: Self) -> Self {
        Self { hit: self.hit.min(other.hit), miss: self.miss.min(other.miss), ..self }
    }
}

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
/// What is asked for in the project's own words: at least twice as fast.
const TARGET: f64 = 2.0;

pub(crate) fn run(args: &Guava) -> anyhow::Result<()> {
    let folder = std::env::temp_dir().join(format!("gowk-bench-guava-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let result = args.items.iter().try_for_each(|items| measure(args, *items, &folder.join("filter.bin")));
    std::fs::remove_dir_all(&folder).ok();
    result
}

fn measure(args: &Guava, items: usize, path: &Path) -> anyhow::Result<()> {
    let keys: Vec<u64> = (0..2 * items as u64).map(|i| i.wrapping_mul(STEP)).collect();
    let mut filter = GuavaBloom::create(items as u64, args.fpp)?;
    filter.insert_many(&keys[..items]);
    filter.save(path)?;
    let filter = GuavaBloom::<MappedBytes>::open(path)?;
    // Alternately, so that a busy machine is busy for both.
    let (mut theirs, mut one, mut bulk) = (None::<Round>, None::<Round>, None::<Round>);
    for _ in 0..args.rounds {
        let next = jvm(args, path, items)?;
        theirs = Some(theirs.map_or(next, |best| best.best(next)));
        let (next, next_bulk) = (one_by_one(&filter, &keys), in_bulk(&filter, &keys));
        for ours in [next, next_bulk] {
            ensure!(
                (ours.hits, ours.misses) == (items, theirs.map_or(0, |round| round.misses)),
                "we found {} and {}, Guava {:?}",
                ours.hits,
                ours.misses,
                theirs
            );
        }
        one = Some(one.map_or(next, |best| best.best(next)));
        bulk = Some(bulk.map_or(next_bulk, |best| best.best(next_bulk)));
    }
    let (Some(theirs), Some(one), Some(bulk)) = (theirs, one, bulk) else { return Ok(()) };
    println!("\n{items} long keys at {} %, {} bytes", 100.0 * args.fpp, filter.size_in_bytes());
    println!("| row | hit ns | miss ns | theirs / ours, hit | miss |");
    println!("|---|---|---|---|---|");
    println!("| Guava, JVM | {:.1} | {:.1} | | |", theirs.hit, theirs.miss);
    for (name, ours) in [("gowk, one by one", one), ("gowk, in bulk", bulk)] {
        let (hit, miss) = (theirs.hit / ours.hit, theirs.miss / ours.miss);
        println!("| {name} | {:.1} | {:.1} | {hit:.1} | {miss:.1} |", ours.hit, ours.miss);
    }
    let ratio = (theirs.hit / bulk.hit).min(theirs.miss / bulk.miss);
    let verdict = if ratio >= TARGET { "PASS" } else { "miss" };
    println!("{verdict}: in bulk at least {TARGET} times as fast as Guava: {ratio:.1}");
    Ok(())
}

fn jvm(args: &Guava, path: &Path, items: usize) -> anyhow::Result<Round> {
    let program = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("java/GuavaLookup.java");
    let output = Command::new("java")
        .arg("-cp")
        .arg(&args.jar)
        .arg(program)
        .arg(path)
        .args([items.to_string(), "3".into()])
        .output()
        .context("cannot run java; install a JDK (default-jdk-headless) and Guava (libguava-java)")?;
    ensure!(output.status.success(), "java: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    let round = |line: &str| -> anyhow::Result<Round> {
        let fields: Vec<&str> = line.split(' ').collect();
        let [hit, miss, hits, misses] = fields[..] else { anyhow::bail!("java printed {line}") };
        Ok(Round { hit: hit.parse()?, miss: miss.parse()?, hits: hits.parse()?, misses: misses.parse()? })
    };
    let rounds = text.lines().map(round).collect::<anyhow::Result<Vec<_>>>()?;
    rounds.into_iter().reduce(Round::best).context("java printed nothing")
}

fn one_by_one(filter: &GuavaBloom<MappedBytes>, keys: &[u64]) -> Round {
    timed(keys, |keys| keys.iter().filter(|key| filter.may_contain(black_box(*key))).count())
}

fn in_bulk(filter: &GuavaBloom<MappedBytes>, keys: &[u64]) -> Round {
    let mut answers = vec![false; 4096];
    timed(keys, |keys| {
        let mut found = 0;
        for keys in keys.chunks(4096) {
            let answers = &mut answers[..keys.len()];
            filter.may_contain_many_into(keys, answers);
            found += answers.iter().filter(|answer| **answer).count();
        }
        found
    })
}

fn timed(keys: &[u64], mut ask: impl FnMut(&[u64]) -> usize) -> Round {
    let (hits, misses) = keys.split_at(keys.len() / 2);
    let mut part = |keys: &[u64]| {
        let start = Instant::now();
        let found = ask(keys);
        (start.elapsed().as_secs_f64() * 1e9 / keys.len() as f64, found)
    };
    let ((hit, hits), (miss, misses)) = (part(hits), part(misses));
    Round { hit, miss, hits, misses }
}
