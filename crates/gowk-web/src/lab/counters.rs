//! The counting filter: counters instead of bits, so that keys can be taken out again.

use super::{
    bits::check,
    story::{Deed, Event, Lab, Truth, digest, verdict},
};
use crate::error::ApiError;
use gowk::{
    Build, CountingBloom, CountingParams, Filter, Hasher, Insert, Remove, Removed,
    bloom::{blocked::Span, counting::TOP},
};
use serde_json::{Value, json};

pub(super) struct CountersLab {
    filter: CountingBloom,
    truth: Truth,
}

impl CountersLab {
    pub(super) fn new(lines: u64, probes: u32, hasher: Hasher) -> Result<Self, ApiError> {
        check("lines", lines, 1, 4)?;
        let params = CountingParams::with_shape(lines, Span::Line, probes, 1).map_err(ApiError::bad)?;
        let filter = CountingBloom::with_params(params, hasher).map_err(ApiError::bad)?;
        Ok(Self { filter, truth: Truth::default() })
    }

    /// All counters, as the filter has them.
    fn counters(&self) -> Vec<u8> {
        let words = self.filter.lines().iter().flat_map(|line| line.0);
        words.flat_map(|word| (0..16).map(move |i| (word >> (4 * i) & 15) as u8)).collect()
    }

    fn positions(&self, key: &str) -> Vec<u64> {
        self.filter.params().positions(self.filter.hasher().digest(key))
    }
}

impl Lab for CountersLab {
    fn shape(&self) -> Value {
        let params = self.filter.params();
        json!({ "cells": params.counters(), "line": params.counters() / params.blocks(), "probes": params.probes(), "most": TOP })
    }

    fn frame(&mut self, (deed, key): Event<'_>) -> Value {
        let positions = self.positions(key);
        let counters = self.counters();
        let before: Vec<u8> = positions.iter().map(|position| counters[*position as usize]).collect();
        let (answer, inside) = (self.may_contain(key), self.holds(key));
        let outcome = match deed {
            Deed::Insert => {
                self.filter.insert(key);
                self.truth.add(key);
                if answer { "seen" } else { "new" }
            }
            Deed::Ask => verdict(answer, inside),
            Deed::Remove | Deed::Clear => {
                let removed = self.filter.remove(key);
                self.truth.take(key);
                match removed {
                    Removed::Gone if inside => "gone",
                    // It was never there, and others have lost a count.
                    Removed::Gone => "stolen",
                    Removed::Absent => "not there",
                }
            }
        };
        let stats = self.filter.stats();
        let cells: String = self
            .counters()
            .iter()
            .map(|count| char::from_digit((*count).into(), 16).unwrap_or('f'))
            .collect();
        json!({
            "deed": deed,
            "key": key,
            "digest": digest(self.filter.hasher().digest(key)),
            "positions": positions,
            "before": before,
            "outcome": outcome,
            "inside": inside,
            "estimate": self.filter.estimate(key),
            "cells": cells,
            "stats": {
                "keys": self.truth.len(),
                "set": self.counters().iter().filter(|count| **count > 0).count(),
                "fill": stats.fill,
                "fpp_now": stats.fpp_now,
                "estimated_items": stats.estimated_items,
                "stuck": self.filter.stuck(),
            },
        })
    }

    fn may_contain(&self, key: &str) -> bool {
        self.filter.may_contain(key)
    }

    fn holds(&self, key: &str) -> bool {
        self.truth.count(key) > 0
    }
}
