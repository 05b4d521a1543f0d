//! Two filters side by side: how many keys either holds, and how many both.
//!
//! Of filters the union is made, in memory, and its keys are estimated; what both hold is what is missing in the sum. The estimates
//! are off by a few times the root of the bits, so a small overlap of large filters drowns in them: the page says so.

use super::open::{Contents, Opened};
use crate::error::ApiError;
use gowk::{AnyFilter, Filter, IntegerSet, Merge, OpenError, ParamsError, store::Mapped};
use serde_json::{Value, json};

/// The most bytes of a filter that is copied for this.
const MOST_COPIED: u64 = 1 << 30;

pub(super) fn compare(a: &Opened, b: &Opened) -> Result<Value, ApiError> {
    let large = [a, b].into_iter().find(|opened| opened.bytes > MOST_COPIED);
    if let Some(large) = large {
        return Err(ApiError::bad(format!(
            "{} is larger than 1 GB, too large to be compared here; gowk merge makes the union, and gowk info tells its size",
            large.name
        )));
    }
    match (&a.contents, &b.contents) {
        (Contents::Keys(ours), Contents::Keys(theirs)) => {
            let mut union = to_heap(ours).map_err(ApiError::bad)?;
            union.union(theirs).map_err(ApiError::bad)?;
            let union = union.stats();
            Ok(sizes(
                ours.stats().estimated_items,
                theirs.stats().estimated_items,
                union.estimated_items,
                Some(union.fpp_now),
            ))
        }
        (Contents::Foreign(ours), Contents::Foreign(theirs)) => {
            let mut union = ours.clone();
            union.union(theirs).map_err(ApiError::bad)?;
            let union = union.stats();
            Ok(sizes(
                ours.stats().estimated_items,
                theirs.stats().estimated_items,
                union.estimated_items,
                Some(union.fpp_now),
            ))
        }
        (Contents::Ids(ours), Contents::Ids(theirs)) => Ok(exact(ours, theirs)),
        (Contents::Roaring(ours), Contents::Roaring(theirs)) => Ok(exact(ours, theirs)),
        (Contents::Ids(ours), Contents::Roaring(theirs)) => Ok(exact(ours, theirs)),
        (Contents::Roaring(ours), Contents::Ids(theirs)) => Ok(exact(ours, theirs)),
        _ => Err(ApiError::bad(
            "these two cannot be compared: one is a filter of another kind, and bits of one hash mean nothing to another",
        )),
    }
}

fn to_heap(filter: &AnyFilter<Mapped>) -> Result<AnyFilter, OpenError> {
    let copied = |error: ParamsError| OpenError::from(error);
    Ok(match filter {
        AnyFilter::BlockedBloom(filter) => AnyFilter::BlockedBloom(filter.to_heap().map_err(copied)?),
        AnyFilter::Bloom(filter) => AnyFilter::Bloom(filter.to_heap().map_err(copied)?),
        AnyFilter::CountingBloom(filter) => AnyFilter::CountingBloom(filter.to_heap().map_err(copied)?),
        AnyFilter::Window(filter) => AnyFilter::Window(filter.to_heap().map_err(copied)?),
        AnyFilter::Cuckoo(filter) => AnyFilter::Cuckoo(filter.to_heap().map_err(copied)?),
        AnyFilter::BinaryFuse(filter) => AnyFilter::BinaryFuse(filter.to_heap().map_err(copied)?),
        // By way of the bytes of a file.
        other => gowk::Persist::from_bytes(&gowk::Persist::to_bytes(other))?,
    })
}

fn exact(ours: &impl IntegerSet, theirs: &impl IntegerSet) -> Value {
    let (small, large) = (ours.len(), theirs.len());
    let both = if small <= large { common(ours, theirs) } else { common(theirs, ours) };
    let mut value = sizes(small as f64, large as f64, (small + large - both) as f64, None);
    value["exact"] = true.into();
    value
}

fn common(small: &impl IntegerSet, large: &impl IntegerSet) -> u64 {
    small.iter().filter(|id| large.contains(*id)).count() as u64
}

fn sizes(a: f64, b: f64, union: f64, fpp: Option<f64>) -> Value {
    // An estimate may be below the larger of the two, or above the sum.
    let union = union.clamp(a.max(b), a + b);
    let both = a + b - union;
    json!({
        "a": a,
        "b": b,
        "union": union,
        "both": both,
        "only_a": a - both,
        "only_b": b - both,
        "jaccard": if union > 0.0 { both / union } else { 0.0 },
        "union_fpp": fpp,
        "exact": false,
    })
}
