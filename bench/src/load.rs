//! What an insert into a cuckoo filter costs, by how full it is.
//!
//! A table of four slots a bucket is filled to a load; the last hundredth of its slots on the way there is timed, one
//! key after the other, in the processor time of this process.

use gowk::cuckoo::Shape;
use gowk::{Build, Cuckoo, CuckooParams, Hasher, Insert};

use crate::args::Load;
use crate::clock::ns_per_step;
use crate::keys::mix;
use crate::machine;
use crate::results::count;

/// In hundredths of the slots.
const LOADS: [usize; 13] = [1, 50, 60, 70, 75, 80, 85, 90, 92, 94, 95, 96, 97];

/// What the default takes at 1 %.
const PRINT_BITS: u32 = 7;
const SPARE_BITS: u32 = 3;

pub(crate) fn run(options: &Load) -> anyhow::Result<()> {
    println!("{}", machine::describe());
    if machine::stay_on_one_core().is_none() {
        eprintln!("could not stay on one core: expect more noise");
    }
    let buckets = (options.slots as u64).div_ceil(4).max(100);
    // Promised few keys, so that it refuses when it is full and does not double.
    let params = CuckooParams::with_shape(Shape::TwoByFour, buckets, PRINT_BITS, SPARE_BITS, 1)?;
    let keys: Vec<u64> = (0..params.slots()).map(mix).collect();
    let mut best = [None; LOADS.len()];
    for seed in 1..=options.rounds {
        for (best, ns) in best.iter_mut().zip(fill(params, seed, &keys)?) {
            *best = Some(best.map_or(ns, |before: f64| before.min(ns)));
        }
    }
    println!(
        "\n## Cuckoo {}, {} slots, best of {} tables",
        params.shape(),
        count(keys.len()),
        options.rounds
    );
    println!("{:>6}{:>11}{:>10}", "load", "ns/insert", "x empty");
    for (load, ns) in LOADS.iter().zip(best) {
        match ns.zip(best[0]) {
            Some((ns, empty)) => println!("{load:>4} %{ns:>11.1}{:>10.2}", ns / empty),
            None => println!("{load:>4} %{:>11}", "full"),
        }
    }
    Ok(())
}

/// Nanoseconds an insert at each load, up to the first that is refused.
fn fill(params: CuckooParams, seed: u32, keys: &[u64]) -> anyhow::Result<Vec<f64>> {
    let mut table = Cuckoo::with_params(params, Hasher::new(u64::from(seed)))?;
    let (mut done, step) = (0, keys.len() / 100);
    let mut costs = Vec::new();
    for load in LOADS {
        let to = step * load;
        if table.insert_many(&keys[done..to - step]).is_err() {
            break;
        }
        let part = &keys[to - step..to];
        let (fits, ns) = ns_per_step(step, || part.iter().all(|key| table.insert(key).is_ok()));
        if !fits {
            break;
        }
        costs.push(ns);
        done = to;
    }
    Ok(costs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_filled_to_95_percent_at_least() {
        let params = CuckooParams::with_shape(Shape::TwoByFour, 10_000, PRINT_BITS, SPARE_BITS, 1).unwrap();
        let keys: Vec<u64> = (0..params.slots()).map(mix).collect();
        let at_95 = LOADS.iter().position(|&load| load == 95).unwrap();
        assert!(fill(params, 1, &keys).unwrap().len() > at_95);
    }
}
