//! What the secret costs: our keyed default hash beside rapidhash with its published constants.

use std::hint::black_box;

use gowk::Hasher;
use rapidhash::v3::rapidhash_v3;
use serde::Serialize;

use crate::clock::best_of;
use crate::keys::mix;

/// Nanoseconds per 64-bit key.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct HashFigures {
    pub(crate) keyed: f64,
    pub(crate) unkeyed: f64,
}

const KEYS: u64 = 4_000_000;

pub(crate) fn measure() -> HashFigures {
    let keys: Vec<u64> = (0..KEYS).map(mix).collect();
    // Hidden from the compiler, as a seed from a file or from the system would be.
    let hasher = black_box(Hasher::new(7));
    HashFigures {
        keyed: best(&keys, |key| hasher.digest(key).h1),
        unkeyed: best(&keys, |key| rapidhash_v3(&key.to_le_bytes())),
    }
}

fn best(keys: &[u64], hash: impl Fn(&u64) -> u64) -> f64 {
    best_of(keys.len(), || black_box(keys.iter().fold(0, |sum, key| sum ^ hash(key)))).1
}
