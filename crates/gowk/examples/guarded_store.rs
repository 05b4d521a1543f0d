//! A filter in front of a store on disk: how many reads it saves, and whether the cost model knew.
//!
//! ```console
//! $ cargo run --release -p gowk --example guarded_store
//! ```
//!
//! The store has a small cache of its own, so that most reads leave it. They do not leave the machine: what was just written
//! is still in the memory of the operating system. A real disk makes C2, and what is saved, larger.

use gowk::{BlockedBloom, Filter, Guard, Insert};
use redb::{Database, ReadOnlyTable, ReadableDatabase, TableDefinition};
use std::{
    error::Error,
    hint::black_box,
    time::{Duration, Instant},
};

const TABLE: TableDefinition<u64, &[u8]> = TableDefinition::new("values");
const KEYS: u64 = 300_000;
const ASKED: u64 = 300_000;
/// One in so many lookups asks for a key that is there.
const PRESENT: u64 = 10;
const FPP: f64 = 0.01;
const STORE_CACHE: usize = 1 << 20;

type Table = ReadOnlyTable<u64, &'static [u8]>;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("store.redb");
    let store = Database::builder().set_cache_size(STORE_CACHE).create(&path)?;
    fill(&store)?;
    let table = store.begin_read()?.open_table(TABLE)?;
    println!("{KEYS} keys in a redb of {} MB on disk", std::fs::metadata(&path)?.len() >> 20);

    let mut filter = BlockedBloom::builder().items(KEYS).fpp(FPP).build()?;
    let keys: Vec<u64> = (0..KEYS).map(present).collect();
    filter.insert_many(&keys);
    println!(
        "filter of {} kB before it, {} % false positives promised\n",
        filter.size_in_bytes() >> 10,
        100.0 * FPP
    );
    let guard = Guard::new(filter);

    // C2 - C1 is the read alone, of absent keys: they are what the model is about. C1 is a stop.
    let absent_keys: Vec<u64> = (0..ASKED / 10).map(|i| absent(ASKED + i)).collect();
    let present_keys: Vec<u64> = (0..ASKED / 10).map(|i| present(mix(!i) % KEYS)).collect();
    let read = each(&absent_keys, |key| get(&table, *key).map(drop))?;
    let read_present = each(&present_keys, |key| get(&table, *key).map(drop))?;
    let c1 = each(&absent_keys, |key| {
        black_box(guard.with_filter(|filter| filter.may_contain(key)));
        Ok(())
    })?;
    println!("C1 {c1:>10.1?}  asking the filter");
    println!(
        "C2 {:>10.1?}  that, and a read of an absent key; {:.1?} of a present one\n",
        c1 + read,
        c1 + read_present
    );

    let asked: Vec<u64> = (0..ASKED)
        .map(|i| if mix(i).is_multiple_of(PRESENT) { present(mix(i + ASKED) % KEYS) } else { absent(i) })
        .collect();
    let mut found = [0u64; 2];
    let without = timed(|| {
        asked.iter().try_for_each(|key| get(&table, *key).map(|value| found[0] += u64::from(value.is_some())))
    })?;
    let with = timed(|| {
        asked.iter().try_for_each(|key| {
            guard.lookup(key, |key| get(&table, *key)).map(|value| found[1] += u64::from(value.is_some()))
        })
    })?;
    assert_eq!(found[0], found[1], "the guard must not change an answer");

    let tally = guard.stats();
    println!("{tally}");
    println!("reads: {} without the guard, {} with it, {} saved\n", tally.asked, tally.passed, tally.stopped);

    let (hits, misses) = (found[0] as f64, (tally.asked - found[0]) as f64);
    let of_present = hits * read_present.as_secs_f64();
    let predicted_without = of_present + misses * read.as_secs_f64();
    let predicted_with =
        of_present + tally.asked as f64 * c1.as_secs_f64() + misses * FPP * read.as_secs_f64();
    let saved = tally.saved(c1, c1 + read);
    println!("{:<34} {:>10} {:>10}", "seconds", "model", "measured");
    row("without the guard", predicted_without, without.as_secs_f64());
    row("with it", predicted_with, with.as_secs_f64());
    row("saved", predicted_without - predicted_with, without.as_secs_f64() - with.as_secs_f64());
    println!();
    println!("{:<34} {:>10} {:>10}", "P2 (C2 - C1), all absent keys", "promised", "as counted");
    row("", saved.errors_promised, saved.errors);
    Ok(())
}

fn row(what: &str, model: f64, measured: f64) {
    println!("{what:<34} {model:>10.4} {measured:>10.4}");
}

fn fill(store: &Database) -> Result<(), Box<dyn Error>> {
    let write = store.begin_write()?;
    {
        let mut table = write.open_table(TABLE)?;
        let mut keys: Vec<u64> = (0..KEYS).map(present).collect();
        // In order, which a tree on disk likes better.
        keys.sort_unstable();
        for key in keys {
            table.insert(key, [key as u8; 100].as_slice())?;
        }
    }
    Ok(write.commit()?)
}

fn get(table: &Table, key: u64) -> Result<Option<u8>, Box<dyn Error>> {
    Ok(table.get(key)?.map(|value| value.value()[0]))
}

/// The mean time of one, after a round to warm up.
fn each(
    keys: &[u64],
    mut act: impl FnMut(&u64) -> Result<(), Box<dyn Error>>,
) -> Result<Duration, Box<dyn Error>> {
    keys.iter().try_for_each(&mut act)?;
    let time = timed(|| keys.iter().try_for_each(&mut act))?;
    Ok(Duration::from_secs_f64(time.as_secs_f64() / keys.len() as f64))
}

fn timed(act: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<Duration, Box<dyn Error>> {
    let start = Instant::now();
    act()?;
    Ok(start.elapsed())
}

/// Keys that are there are even before they are mixed, the others odd.
fn present(i: u64) -> u64 {
    mix(2 * i)
}

fn absent(i: u64) -> u64 {
    mix(2 * i + 1)
}

/// A bijection that scatters.
fn mix(i: u64) -> u64 {
    let z = (i ^ (i >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
