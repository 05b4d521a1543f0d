//! The cuckoo filter: nests, and who is kicked out of them. The steps are those that the engine tells its observer.

use super::{
    bits::check,
    story::{Deed, Event, Lab, Truth, digest, verdict},
};
use crate::error::ApiError;
use gowk::{
    Build, Cuckoo, CuckooParams, Filter, Hasher, Inserted, Remove, Removed,
    cuckoo::{Shape, Slot, Step},
};
use serde_json::{Value, json};
use std::collections::HashMap;

pub(super) struct CuckooLab {
    filter: Cuckoo,
    truth: Truth,
}

impl CuckooLab {
    pub(super) fn new(
        (nests, slots): (u64, u64),
        buckets: u64,
        width: u32,
        hasher: Hasher,
    ) -> Result<Self, ApiError> {
        let Some(shape) = Shape::from_numbers(nests, slots) else {
            let shapes = Shape::ALL.map(|shape| shape.to_string()).join(", ");
            return Err(ApiError::bad(format!(
                "no table has {nests} nests of {slots} slots; there are {shapes}"
            )));
        };
        check("buckets", buckets, 2, 64)?;
        check("bits of a fingerprint", width.into(), 4, 16)?;
        // No spare bits: a table in the lab stays as it is drawn and does not double.
        let params = CuckooParams::with_shape(shape, buckets, width, 0, 1).map_err(ApiError::bad)?;
        let filter = Cuckoo::with_params(params, hasher).map_err(ApiError::bad)?;
        Ok(Self { filter, truth: Truth::default() })
    }

    fn table(&self) -> Vec<Vec<u32>> {
        (0..self.filter.params().buckets()).map(|bucket| self.filter.bucket(bucket)).collect()
    }

    /// Whose fingerprint is in which slot. Keys that the filter cannot tell apart are given to their slots in any order.
    fn labels(&self) -> Vec<Vec<Option<String>>> {
        let mut keys: Vec<(&str, u64)> = self.truth.keys().collect();
        keys.sort_unstable();
        let mut owners: HashMap<(u64, u32), Vec<usize>> = HashMap::new();
        for (i, (key, _)) in keys.iter().enumerate() {
            for place in self.filter.candidates(*key) {
                owners.entry(place).or_default().push(i);
            }
        }
        let mut left: Vec<u64> = keys.iter().map(|(_, count)| *count).collect();
        let mut label = |bucket: u64, tag: u32| {
            let owners = owners.get(&(bucket, tag)).filter(|_| tag != 0)?;
            let owner = owners.iter().find(|owner| left[**owner] > 0).or(owners.first())?;
            left[*owner] = left[*owner].saturating_sub(1);
            Some(keys[*owner].0.to_owned())
        };
        let table = self.table();
        let buckets = table.iter().enumerate();
        buckets.map(|(bucket, slots)| slots.iter().map(|tag| label(bucket as u64, *tag)).collect()).collect()
    }

    fn stats(&self) -> Value {
        let stats = self.filter.stats();
        json!({
            "keys": self.truth.len(),
            "len": self.filter.len(),
            "load": self.filter.load(),
            "fill": stats.fill,
            "fpp_now": stats.fpp_now,
            "counted": self.filter.counted(),
        })
    }
}

impl Lab for CuckooLab {
    fn shape(&self) -> Value {
        let params = self.filter.params();
        json!({
            "buckets": params.buckets(),
            "slots": params.shape().slots(),
            "nests": params.shape().candidates(),
            "width": params.width(),
        })
    }

    fn frame(&mut self, (deed, key): Event<'_>) -> Value {
        let (answer, inside) = (self.may_contain(key), self.holds(key));
        let mut steps = Vec::new();
        let outcome = match deed {
            Deed::Insert => match self.filter.insert_observed(key, &mut steps) {
                Ok(inserted) => {
                    self.truth.add(key);
                    if inserted == Inserted::New { "new" } else { "seen" }
                }
                Err(_) => "full",
            },
            Deed::Ask => verdict(answer, inside),
            Deed::Remove | Deed::Clear => {
                let removed = self.filter.remove(key);
                self.truth.take(key);
                match removed {
                    Removed::Gone if inside => "gone",
                    Removed::Gone => "stolen",
                    Removed::Absent => "not there",
                }
            }
        };
        json!({
            "deed": deed,
            "key": key,
            "digest": digest(self.filter.hasher().digest(key)),
            "candidates": self.filter.candidates(key),
            "steps": steps.into_iter().map(step).collect::<Vec<_>>(),
            "outcome": outcome,
            "inside": inside,
            "copies": self.filter.count(key),
            "table": self.table(),
            "labels": self.labels(),
            "stats": self.stats(),
        })
    }

    fn may_contain(&self, key: &str) -> bool {
        self.filter.may_contain(key)
    }

    fn holds(&self, key: &str) -> bool {
        self.truth.count(key) > 0
    }
}

fn step(step: Step) -> Value {
    let slot = |slot: Slot| json!([slot.bucket, slot.slot]);
    match step {
        Step::Looked { bucket, full } => json!({"did": "looked", "bucket": bucket, "full": full}),
        Step::Moved { from, to, tag } => {
            json!({"did": "moved", "from": slot(from), "to": slot(to), "tag": tag})
        }
        Step::Placed { at, tag } => json!({"did": "placed", "at": slot(at), "tag": tag}),
        Step::Counted => json!({"did": "counted"}),
        Step::Swept => json!({"did": "swept"}),
        Step::Doubled => json!({"did": "doubled"}),
        _ => json!({"did": "?"}),
    }
}
