//! Tables of every shape side by side, filled until they refuse a key: what inserts cost on the way, and how far they get.

use super::bits::check;
use crate::error::ApiError;
use gowk::{
    Build, Cuckoo, CuckooParams, Hasher,
    cuckoo::{Observer, Shape, Step},
};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Question {
    slots: u64,
    width: u32,
    seed: u64,
}

impl Default for Question {
    fn default() -> Self {
        Self { slots: 12_000, width: 12, seed: 1 }
    }
}

/// How many parts of the load are told apart.
const PARTS: usize = 50;

/// Counts what inserts do.
#[derive(Clone, Copy, Default)]
struct Effort {
    inserts: u64,
    moves: u64,
    looks: u64,
}

impl Observer for Effort {
    fn step(&mut self, step: Step) {
        match step {
            Step::Moved { .. } => self.moves += 1,
            Step::Looked { .. } => self.looks += 1,
            _ => {}
        }
    }
}

pub(super) fn fill(question: Question) -> Result<Value, ApiError> {
    check("slots", question.slots, 240, 120_000)?;
    check("bits of a fingerprint", question.width.into(), 4, 16)?;
    let shapes: Result<Vec<Value>, ApiError> =
        Shape::ALL.into_iter().map(|shape| one(shape, question)).collect();
    Ok(json!({ "slots": question.slots, "width": question.width, "shapes": shapes? }))
}

fn one(shape: Shape, Question { slots, width, seed }: Question) -> Result<Value, ApiError> {
    // A multiple of the candidates, each of which has its own part of the table.
    let buckets = slots / shape.slots() / 12 * 12;
    let params = CuckooParams::with_shape(shape, buckets, width, 0, 1).map_err(ApiError::bad)?;
    let mut filter = Cuckoo::with_params(params, Hasher::new(seed)).map_err(ApiError::bad)?;
    let mut efforts = [Effort::default(); PARTS];
    for key in 0..2 * slots {
        let effort = &mut efforts[((filter.load() * PARTS as f64) as usize).min(PARTS - 1)];
        effort.inserts += 1;
        if filter.insert_observed(&key, effort).is_err() {
            break;
        }
    }
    let middle = |part: usize| (part as f64 + 0.5) / PARTS as f64;
    let tried = || efforts.iter().enumerate().filter(|(_, effort)| effort.inserts > 0);
    let mean = |of: fn(&Effort) -> u64| -> Vec<(f64, f64)> {
        tried().map(|(part, effort)| (middle(part), of(effort) as f64 / effort.inserts as f64)).collect()
    };
    Ok(json!({
        "name": shape.to_string(),
        "nests": shape.candidates(),
        "slots": shape.slots(),
        "buckets": buckets,
        "refused_at": filter.load(),
        "made_for": shape.load(),
        "moves": mean(|effort| effort.moves),
        "looks": mean(|effort| effort.looks),
    }))
}
