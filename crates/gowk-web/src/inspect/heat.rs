//! How full which part of a filter is, as a map of at most so many cells.

use super::open::Contents;
use gowk::{AnyFilter, Persist, SplitBlockBloom, format::foreign::Foreign, store::Line};
use serde_json::{Value, json};

/// The most cells of a map: 64 by 16.
const CELLS: u64 = 1024;

/// The map; none where all bits are in use from the start, or none is.
pub(super) fn map(contents: &Contents) -> Option<Value> {
    match contents {
        Contents::Keys(AnyFilter::Cuckoo(filter)) => {
            let slots = filter.params().shape().slots();
            let buckets = filter.params().buckets();
            Some(cells(
                "bucket",
                "slots",
                slots,
                buckets,
                (0..buckets).map(|bucket| filter.bucket_load(bucket)),
            ))
        }
        Contents::Keys(AnyFilter::CountingBloom(filter)) => Some(cells(
            "line",
            "counters",
            128,
            filter.lines().len() as u64,
            filter.lines().iter().map(|line| line.0.iter().map(|word| counting(*word)).sum()),
        )),
        Contents::Keys(AnyFilter::BinaryFuse(_)) | Contents::Roaring(_) | Contents::Other(_) => None,
        // A chain has a section for each link.
        Contents::Keys(filter) => {
            let sections = filter.sections();
            let lines = || sections.iter().copied().flatten();
            Some(of_lines(lines().count() as u64, lines()))
        }
        Contents::Ids(ids) => Some(of_lines(ids.lines().len() as u64, ids.lines())),
        Contents::Foreign(Foreign::Guava(filter)) => Some(of_bytes(filter.bytes())),
        Contents::Foreign(Foreign::Spark(filter)) => Some(of_bytes(filter.bytes())),
        Contents::Foreign(Foreign::Dcso(filter)) => Some(of_bytes(filter.bytes())),
        Contents::Foreign(Foreign::Parquet(filters)) => {
            let lines = || filters.filters().iter().flat_map(SplitBlockBloom::lines);
            Some(of_lines(lines().count() as u64, lines()))
        }
        // The first chunk is the head.
        Contents::Foreign(Foreign::RedisBloom(filter)) => {
            let bytes: Vec<u8> = filter.chunks().skip(1).flat_map(|chunk| chunk.bytes.into_owned()).collect();
            Some(of_bytes(&bytes))
        }
        Contents::Foreign(_) => None,
    }
}

fn of_lines<'a>(count: u64, lines: impl IntoIterator<Item = &'a Line>) -> Value {
    cells("line", "bits", Line::BITS, count, lines.into_iter().map(|line| line.ones().into()))
}

/// Lines of 64 bytes; what the last one lacks counts as empty.
fn of_bytes(bytes: &[u8]) -> Value {
    let ones = |line: &[u8]| line.iter().map(|byte| u64::from(byte.count_ones())).sum();
    cells(
        "line",
        "bits",
        Line::BITS,
        bytes.len().div_ceil(Line::BYTES) as u64,
        bytes.chunks(Line::BYTES).map(ones),
    )
}

/// How many counters of a word are not 0.
fn counting(word: u64) -> u64 {
    let any = word | word >> 1;
    u64::from(((any | any >> 2) & 0x1111_1111_1111_1111).count_ones())
}

fn cells(part: &str, unit: &str, units: u64, parts: u64, used: impl Iterator<Item = u64>) -> Value {
    let per_cell = parts.div_ceil(CELLS).max(1);
    let (mut sums, mut least, mut most) = (vec![(0u64, 0u64); parts.div_ceil(per_cell) as usize], units, 0);
    for (i, used) in used.enumerate() {
        let (sum, count) = &mut sums[i / per_cell as usize];
        *sum += used;
        *count += 1;
        (least, most) = (least.min(used), most.max(used));
    }
    let mean = |(sum, count): (u64, u64)| sum as f64 / (count.max(1) * units) as f64;
    json!({
        "part": part,
        "unit": unit,
        "units": units,
        "parts": parts,
        "per_cell": per_cell,
        "cells": sums.into_iter().map(mean).collect::<Vec<_>>(),
        "least": least.min(most),
        "most": most,
    })
}
