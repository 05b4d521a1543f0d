//! Bloom filters, classic and blocked: keys become positions, positions bits.
//!
//! The filter is the library's. Clearing bits is what no filter of the library does, as it denies keys that are inside; so the lab keeps
//! the bits beside the filter, and once some were cleared it answers from them.

use super::story::{Deed, Event, Lab, Truth, digest, verdict};
use crate::error::ApiError;
use gowk::{
    BlockedBloom, BlockedParams, Bloom, BloomParams, Build, Digest, Filter, Hasher, Insert, Scheme,
    bloom::blocked::Span, store::Line,
};
use serde_json::{Value, json};

enum Engine {
    Classic(Bloom),
    Blocked(BlockedBloom),
}

pub(super) struct BitsLab {
    engine: Engine,
    /// The bits, as the filter has them until some are cleared.
    bits: Vec<bool>,
    cleared: bool,
    truth: Truth,
}

/// The most lines of a filter that is drawn.
const MOST_LINES: u64 = 8;

impl BitsLab {
    pub(super) fn classic(bits: u64, probes: u32, hasher: Hasher) -> Result<Self, ApiError> {
        check("bits", bits, 64, 1024)?;
        check("probes", probes.into(), 1, 16)?;
        let params = BloomParams::with_shape(bits, probes, Scheme::Enhanced, 1).map_err(ApiError::bad)?;
        Self::over(Engine::Classic(Bloom::with_params(params, hasher).map_err(ApiError::bad)?), bits)
    }

    pub(super) fn blocked(lines: u64, probes: u32, hasher: Hasher) -> Result<Self, ApiError> {
        check("lines", lines, 1, MOST_LINES)?;
        let params = BlockedParams::with_shape(lines, Span::Line, probes, 1).map_err(ApiError::bad)?;
        Self::over(
            Engine::Blocked(BlockedBloom::with_params(params, hasher).map_err(ApiError::bad)?),
            params.bits(),
        )
    }

    #[expect(clippy::unnecessary_wraps, reason = "ends a chain of results")]
    fn over(engine: Engine, bits: u64) -> Result<Self, ApiError> {
        Ok(Self { engine, bits: vec![false; bits as usize], cleared: false, truth: Truth::default() })
    }

    fn digest(&self, key: &str) -> Digest {
        match &self.engine {
            Engine::Classic(filter) => filter.hasher().digest(key),
            Engine::Blocked(filter) => filter.hasher().digest(key),
        }
    }

    fn positions(&self, key: &str) -> Vec<usize> {
        let digest = self.digest(key);
        let positions: Vec<u64> = match &self.engine {
            Engine::Classic(filter) => {
                let params = filter.params();
                params.scheme().positions(digest, params.bits(), params.probes()).collect()
            }
            Engine::Blocked(filter) => filter.params().positions(digest),
        };
        positions.into_iter().map(|position| position as usize).collect()
    }

    fn insert(&mut self, key: &str, positions: &[usize]) {
        match &mut self.engine {
            Engine::Classic(filter) => {
                filter.insert(key);
            }
            Engine::Blocked(filter) => {
                filter.insert(key);
            }
        }
        positions.iter().for_each(|position| self.bits[*position] = true);
        self.truth.add(key);
    }

    /// The library's own account of its fill and rate; of the bits as they are once some were cleared.
    fn stats(&self) -> Value {
        let stats = match &self.engine {
            Engine::Classic(filter) => filter.stats(),
            Engine::Blocked(filter) => filter.stats(),
        };
        let set = self.bits.iter().filter(|bit| **bit).count();
        json!({
            "keys": self.truth.len(),
            "set": set,
            "fill": set as f64 / self.bits.len() as f64,
            "fpp_now": if self.cleared { None } else { Some(stats.fpp_now) },
            "estimated_items": if self.cleared { None } else { Some(stats.estimated_items) },
        })
    }
}

impl Lab for BitsLab {
    fn shape(&self) -> Value {
        let probes = match &self.engine {
            Engine::Classic(filter) => filter.params().probes(),
            Engine::Blocked(filter) => filter.params().probes(),
        };
        let line = match &self.engine {
            Engine::Classic(_) => self.bits.len() as u64,
            Engine::Blocked(_) => Line::BITS,
        };
        json!({ "cells": self.bits.len(), "line": line, "probes": probes, "most": 1 })
    }

    fn frame(&mut self, (deed, key): Event<'_>) -> Value {
        let positions = self.positions(key);
        let before: Vec<u8> = positions.iter().map(|position| self.bits[*position].into()).collect();
        let (answer, inside) = (self.may_contain(key), self.holds(key));
        let outcome = match deed {
            Deed::Insert => {
                self.insert(key, &positions);
                if answer { "seen" } else { "new" }
            }
            Deed::Ask => verdict(answer, inside),
            Deed::Clear | Deed::Remove => {
                positions.iter().for_each(|position| self.bits[*position] = false);
                self.cleared = true;
                while self.truth.count(key) > 0 {
                    self.truth.take(key);
                }
                "cleared"
            }
        };
        json!({
            "deed": deed,
            "key": key,
            "digest": digest(self.digest(key)),
            "positions": positions,
            "before": before,
            "outcome": outcome,
            "inside": inside,
            "cells": self.bits.iter().map(|bit| if *bit { '1' } else { '0' }).collect::<String>(),
            "stats": self.stats(),
        })
    }

    fn may_contain(&self, key: &str) -> bool {
        match &self.engine {
            _ if self.cleared => self.positions(key).iter().all(|position| self.bits[*position]),
            Engine::Classic(filter) => filter.may_contain(key),
            Engine::Blocked(filter) => filter.may_contain(key),
        }
    }

    fn holds(&self, key: &str) -> bool {
        self.truth.count(key) > 0
    }
}

/// Holds a number of the page against what can be drawn.
pub(super) fn check(what: &str, value: u64, least: u64, most: u64) -> Result<(), ApiError> {
    match (least..=most).contains(&value) {
        true => Ok(()),
        false => Err(ApiError::bad(format!("{what}: the lab draws {least} to {most}, not {value}"))),
    }
}
