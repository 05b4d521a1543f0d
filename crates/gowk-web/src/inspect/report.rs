//! What a filter is: its head, its promise and how it keeps it.

use super::{
    ask, heat,
    open::{Contents, Opened},
};
use gowk::{
    AnyFilter, Filter, IntegerSet, Persist, Stats,
    format::{
        foreign::{Foreign, bloom::Maker},
        spark::Version,
    },
    store::Mapped,
};
use serde_json::{Value, json};

pub(super) fn tell(opened: &Opened) -> Value {
    let mut report = json!({
        "name": opened.name,
        "bytes": opened.bytes,
        "key_types": ask::key_types(&opened.contents),
        "heat": heat::map(&opened.contents),
        "columns": opened.columns,
        "column": column(&opened.contents),
    });
    let more = match &opened.contents {
        Contents::Keys(filter) => keys(filter),
        Contents::Foreign(filter) => foreign(filter),
        Contents::Ids(ids) => integers("bitmap", ids),
        Contents::Roaring(ids) => integers("roaring", ids),
        Contents::Other(head) => json!({
            "format": "gowk",
            "family": head.family.name(),
            "shape": "counts, which are not asked here",
            "items": head.promise.items,
            "keys_in_head": head.keys,
            "hash": head.hasher.id().name(),
        }),
    };
    if let (Value::Object(report), Value::Object(more)) = (&mut report, more) {
        report.extend(more);
    }
    report
}

/// The column of a Parquet file that the filter is of.
fn column(contents: &Contents) -> Option<&str> {
    match contents {
        Contents::Foreign(Foreign::Parquet(filters)) => filters.column(),
        _ => None,
    }
}

fn keys(filter: &AnyFilter<Mapped>) -> Value {
    let histogram = filter.histogram();
    let mut report = stats(&filter.stats());
    report["format"] = "gowk".into();
    report["shape"] = filter.shape().into();
    report["hash"] = filter.hasher().id().name().into();
    report["keys_in_head"] = filter.head().keys.into();
    report["histogram"] = histogram
        .map(
            |histogram| json!({"parts": histogram.parts, "unit": histogram.unit, "counts": histogram.counts}),
        )
        .into();
    report
}

fn foreign(filter: &Foreign) -> Value {
    let mut report = stats(&filter.stats());
    report["format"] = filter.format().name().into();
    report["shape"] = foreign_shape(filter).into();
    report["hash"] = format!("{}, public", filter.hasher().id().name()).into();
    report
}

fn stats(stats: &Stats) -> Value {
    json!({
        "family": stats.family.name(),
        "items": stats.items,
        "fpp": stats.fpp,
        "bits": stats.bits,
        "fill": stats.fill,
        "estimated_items": stats.estimated_items,
        "fpp_now": stats.fpp_now,
        "room": stats.room(),
        "overfull": stats.is_overfull(),
    })
}

fn integers(family: &str, ids: &impl IntegerSet) -> Value {
    let (len, range) = (ids.len(), ids.range());
    json!({
        "format": if family == "roaring" { "Roaring" } else { "gowk" },
        "family": family,
        "exact": true,
        "shape": format!("integers from {} to {}", range.start, range.end.saturating_sub(1)),
        "holds": len,
        // As text: a number of a page has 53 bits.
        "first": ids.select(0).map(|id| id.to_string()),
        "last": len.checked_sub(1).and_then(|last| ids.select(last)).map(|id| id.to_string()),
    })
}

fn foreign_shape(filter: &Foreign) -> String {
    fn bits(maker: &impl Maker) -> String {
        format!("{} bits, {} probes", maker.bits(), maker.probes())
    }
    match filter {
        Foreign::Guava(filter) => format!("{}, {}", filter.maker().strategy().name(), bits(filter.maker())),
        Foreign::Spark(filter) => match filter.maker().version() {
            Version::V2 { seed } => format!("version 2, seed {seed}, {}", bits(filter.maker())),
            Version::V1 => format!("version 1, {}", bits(filter.maker())),
        },
        Foreign::Dcso(filter) => {
            format!("{}, {} keys counted", bits(filter.maker()), filter.maker().inserted())
        }
        Foreign::RedisBloom(filter) => {
            let links: Vec<String> = filter.links().map(bits).collect();
            format!("{} keys counted, links: {}", filter.keys(), links.join("; "))
        }
        Foreign::RedisCuckoo(filter) => format!(
            "{} keys, {} deleted, {} filters from {} buckets of {} slots",
            filter.keys(),
            filter.deletes(),
            filter.filters(),
            filter.buckets(),
            filter.slots()
        ),
        Foreign::Parquet(filters) => {
            let column =
                filters.column().map(|column| format!("column {column} ({}), ", filters.physical().name()));
            format!(
                "{}{} filters of split blocks of 256 bits",
                column.unwrap_or_default(),
                filters.filters().len()
            )
        }
        _ => "unknown".into(),
    }
}
