//! What the page tells: which filter, and what happens to it.

use super::{bits::BitsLab, counters::CountersLab, cuckoo::CuckooLab};
use crate::error::ApiError;
use gowk::{Digest, Hasher};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The most events of a story: more than anyone watches.
const MOST_EVENTS: usize = 500;
/// The most bytes of a key.
const MOST_KEY: usize = 200;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Story {
    pub(super) filter: Kind,
    #[serde(default)]
    pub(super) seed: u64,
    #[serde(default)]
    events: Vec<(Deed, String)>,
}

/// Which filter, and its shape.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Kind {
    Bloom { bits: u64, probes: u32 },
    Blocked { lines: u64, probes: u32 },
    Counting { lines: u64, probes: u32 },
    Cuckoo { nests: u64, slots: u64, buckets: u64, width: u32 },
}

/// What happens to a key.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Deed {
    /// It is put in.
    Insert,
    /// It is asked for.
    Ask,
    /// It is taken out, in a filter that can.
    Remove,
    /// Its bits are cleared, in a filter that cannot take keys out: what one must not do.
    Clear,
}

pub(crate) type Event<'a> = (Deed, &'a str);

impl Story {
    /// The story, if it is one that can be told.
    pub(super) fn checked(&self) -> Result<&Self, ApiError> {
        if self.events.len() > MOST_EVENTS {
            let events = self.events.len();
            return Err(ApiError::bad(format!(
                "{events} events are too many for the lab, which takes {MOST_EVENTS}; reset it"
            )));
        }
        for (deed, key) in &self.events {
            if key.is_empty() || key.len() > MOST_KEY {
                let len = key.len();
                return Err(ApiError::bad(format!(
                    "a key of {len} bytes; the lab takes keys of 1 to {MOST_KEY}"
                )));
            }
            let able = match (deed, self.filter) {
                (Deed::Insert | Deed::Ask, _) => true,
                (Deed::Remove, kind) => matches!(kind, Kind::Counting { .. } | Kind::Cuckoo { .. }),
                (Deed::Clear, kind) => matches!(kind, Kind::Bloom { .. } | Kind::Blocked { .. }),
            };
            if !able {
                return Err(ApiError::bad(format!("there is no {deed:?} for this filter").to_lowercase()));
            }
        }
        Ok(self)
    }

    pub(super) fn events(&self) -> impl Iterator<Item = Event<'_>> {
        self.events.iter().map(|(deed, key)| (*deed, key.as_str()))
    }

    /// The filter at the beginning of the story.
    pub(super) fn lab(&self) -> Result<Box<dyn Lab>, ApiError> {
        let hasher = Hasher::new(self.seed);
        Ok(match self.filter {
            Kind::Bloom { bits, probes } => Box::new(BitsLab::classic(bits, probes, hasher)?),
            Kind::Blocked { lines, probes } => Box::new(BitsLab::blocked(lines, probes, hasher)?),
            Kind::Counting { lines, probes } => Box::new(CountersLab::new(lines, probes, hasher)?),
            Kind::Cuckoo { nests, slots, buckets, width } => {
                Box::new(CuckooLab::new((nests, slots), buckets, width, hasher)?)
            }
        })
    }
}

/// A filter that tells what it does.
pub(super) trait Lab {
    /// Its size and shape, in numbers.
    fn shape(&self) -> Value;
    /// Lives one event.
    fn frame(&mut self, event: Event<'_>) -> Value;
    /// What it answers for a key; changes nothing.
    fn may_contain(&self, key: &str) -> bool;
    /// Whether the key truly is in it.
    fn holds(&self, key: &str) -> bool;
}

/// What a lab knows and a filter does not: the keys.
#[derive(Debug, Default)]
pub(super) struct Truth(HashMap<String, u64>);

impl Truth {
    /// How often the key is inside.
    pub(super) fn count(&self, key: &str) -> u64 {
        self.0.get(key).copied().unwrap_or(0)
    }

    pub(super) fn add(&mut self, key: &str) {
        *self.0.entry(key.to_owned()).or_default() += 1;
    }

    pub(super) fn take(&mut self, key: &str) {
        if let Some(count) = self.0.get_mut(key) {
            *count = count.saturating_sub(1);
        }
    }

    /// All keys inside, as often as they are.
    pub(super) fn keys(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().filter(|(_, count)| **count > 0).map(|(key, count)| (key.as_str(), *count))
    }

    /// How many there are, each once.
    pub(super) fn len(&self) -> u64 {
        self.keys().count() as u64
    }
}

/// An answer beside the truth.
pub(super) fn verdict(answer: bool, inside: bool) -> &'static str {
    match (answer, inside) {
        (true, true) => "found",
        (false, false) => "absent",
        (true, false) => "false positive",
        // Only after bits were cleared, or a key was removed that never was inside.
        (false, true) => "lost",
    }
}

/// The digest as people write it.
pub(super) fn digest(digest: Digest) -> Value {
    json!([format!("{:016x}", digest.h1), format!("{:016x}", digest.h2)])
}
