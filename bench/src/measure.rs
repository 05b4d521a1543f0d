//! One row, one round: fill it, look it up, count its bytes, and check every answer that can be checked.

use anyhow::ensure;

use crate::alloc::{Memory, Meter};
use crate::clock::{best_of, best_of_pieces};
use crate::keys::Workload;
use crate::peers::{Ask, Fill, Filled, Row};
use crate::results::Figures;

pub(crate) fn round<K>(row: &Row<'_, K>, ask: Ask, keys: &Workload<K>) -> anyhow::Result<Figures> {
    let (mut filled, insert, memory) = fill(row.fill, ask, &keys.inserted);
    let (found, hit) = look_up(&keys.hits, |keys| filled.count(keys));
    all_found(row.name, "one by one", found, keys.hits.len())?;
    let (false_hits, miss) = look_up(&keys.misses, |keys| filled.count(keys));

    let mut bulk_insert = None;
    if let Some(fill_many) = row.fill_many {
        drop(filled);
        let (refilled, insert, _) = fill(fill_many, ask, &keys.inserted);
        all_found(row.name, "after a bulk insert", refilled.count(&keys.hits), keys.hits.len())?;
        bulk_insert = Some(insert);
        filled = refilled;
    }
    let (bulk_hit, bulk_miss) = look_up_in_bulk(row.name, filled.as_ref(), keys)?;

    let bits_per_key = |bytes: usize| bytes as f64 * 8.0 / ask.items as f64;
    Ok(Figures {
        bits_per_key: bits_per_key(memory.held),
        peak_bits_per_key: bits_per_key(memory.peak),
        insert,
        hit,
        miss,
        bulk_insert,
        bulk_hit,
        bulk_miss,
        strangers: keys.misses.len(),
        false_hits,
    })
}

/// The last of several structures, the best time, and the memory of the last: the first comes to be on fresh memory, the
/// others on warm.
fn fill<'k, K>(fill: Fill<'k, K>, ask: Ask, keys: &[K]) -> (Box<dyn Filled<K> + 'k>, f64, Memory) {
    let ((filled, memory), ns) = best_of(keys.len(), || {
        let meter = Meter::start();
        let filled = fill(ask, keys);
        (filled, meter.read())
    });
    (filled, ns, memory)
}

/// How many keys are found, and the best time of one lookup.
fn look_up<K>(keys: &[K], count: impl FnMut(&[K]) -> usize) -> (usize, f64) {
    best_of_pieces(keys, count)
}

/// Times for hits and misses, if the structure has bulk lookups; their answers must be those of the single ones.
fn look_up_in_bulk<K>(
    name: &str,
    filled: &dyn Filled<K>,
    keys: &Workload<K>,
) -> anyhow::Result<(Option<f64>, Option<f64>)> {
    let mut answers = vec![false; keys.hits.len()];
    if filled.count_many(&keys.hits, &mut answers).is_none() {
        return Ok((None, None));
    }
    let mut count = |keys: &[K]| filled.count_many(keys, &mut answers[..keys.len()]).unwrap_or_default();
    let (found, hit) = look_up(&keys.hits, &mut count);
    all_found(name, "in bulk", found, keys.hits.len())?;
    let (false_hits, miss) = look_up(&keys.misses, &mut count);
    let single = filled.count(&keys.misses);
    ensure!(false_hits == single, "{name}: {false_hits} false hits in bulk, but {single} one by one");
    Ok((Some(hit), Some(miss)))
}

fn all_found(name: &str, how: &str, found: usize, asked: usize) -> anyhow::Result<()> {
    ensure!(
        found == asked,
        "{name} answers wrongly {how}: {} of {asked} inserted keys are denied",
        asked - found
    );
    Ok(())
}
