//! The targets of the core, each with the figures that pass or miss it in this run.
//!
//! A target looks up the rows it speaks of; where none was measured, it says so instead of passing.

use std::fmt::Write;

use crate::floor::FloorFigures;
use crate::hashing::HashFigures;
use crate::keys::KeyKind;
use crate::peers::{
    BITMAP, CLASSIC, CUCKOO, CUCKOOFILTER, DEFAULT, FOLDHASHED_CUCKOOFILTER,
    FOLDHASHED_FASTBLOOM as FASTBLOOM, FUSE, FUSE_OF_EIGHT_BITS, ROARING, SCALABLE, SCALABLE_CUCKOO,
    SPLIT_BLOCK, SPLIT_BLOCK_RIVAL as SBBF, WINDOW, XORF,
};
use crate::results::{BULK, Column, Group, Measured, ONE_BY_ONE, Results};

/// A figure that bears on a target.
struct Check {
    passes: bool,
    text: String,
}

/// What one table says about a target; tables that it does not speak of say nothing.
type Checks = fn(&Results, &Group) -> Vec<Check>;

const TARGETS: [(&str, Checks); 18] = [
    ("space: within the design's table", |_, group| space(group)),
    (
        "the promise: fpp at most 1.03x the asked one, nor below 0.8x where nothing grows and no bit is whole",
        |_, group| promise(group),
    ),
    ("BlockedBloom, u64, 1 %: one by one no slower than sbbf-rs-safe (aim: 1.3x faster)", |_, group| {
        main_table(group).map_or_else(Vec::new, |group| faster(group, DEFAULT, SBBF, &ONE_BY_ONE, 1.0))
    }),
    ("BlockedBloom, u64, 1 %: one by one 2x faster than fastbloom + foldhash", |_, group| {
        main_table(group).map_or_else(Vec::new, |group| faster(group, DEFAULT, FASTBLOOM, &ONE_BY_ONE, 2.0))
    }),
    ("BlockedBloom, u64, 1 %: bulk within 1.8x of the floor at 10M and 1.3x at 100M", |_, group| {
        main_table(group).map_or_else(Vec::new, near_the_floor)
    }),
    (
        "BlockedBloom, u64, 1 %, 100M: bulk 2x sbbf-rs-safe and 6x fastbloom + foldhash one by one",
        |_, group| main_table(group).map_or_else(Vec::new, far_ahead),
    ),
    ("BlockedBloom, u64, 1 %, 10M: bulk no slower than Boost.Bloom's, at a smaller error", |_, group| {
        main_table(group).map_or_else(Vec::new, boost)
    }),
    ("BlockedBloom, u64, 0.1 %: bulk at most 1.6x the 1 % row", tenth_of_a_percent),
    ("BlockedBloom, text: bulk at most 1.8x the u64 row", text),
    ("Bloom: one by one no slower than fastbloom + foldhash", |_, group| {
        faster(group, CLASSIC, FASTBLOOM, &ONE_BY_ONE, 1.0)
    }),
    ("Bloom: bulk 2.5x fastbloom + foldhash one by one", |_, group| {
        faster(group, CLASSIC, FASTBLOOM, &BULK, 2.5)
    }),
    ("Cuckoo, u64, 1 %: one by one insert 2x, hit and miss 3x scalable_cuckoo_filter", |_, group| {
        main_table(group).map_or_else(Vec::new, |group| {
            let factors = [2.0, 3.0, 3.0];
            let check =
                |(column, at_least)| ahead(group, CUCKOO, SCALABLE_CUCKOO, (column, column), at_least);
            ONE_BY_ONE.iter().zip(factors).filter_map(check).collect()
        })
    }),
    (
        "Cuckoo, u64, 1 %: insert no slower than cuckoofilter, which errs at 3 %, where it is as full",
        |_, group| {
            let insert = &ONE_BY_ONE[0];
            main_table(group).filter(|group| nine_tenths_of_a_power_of_two(group.items)).map_or_else(
                Vec::new,
                |group| {
                    let check = |rival| ahead(group, CUCKOO, rival, (insert, insert), 1.0);
                    [CUCKOOFILTER, FOLDHASHED_CUCKOOFILTER].into_iter().filter_map(check).collect()
                },
            )
        },
    ),
    ("Cuckoo, u64, 1 %, 10M: bulk lookups 2x one by one", |_, group| {
        main_table(group).filter(|group| group.items == 10_000_000).map_or_else(Vec::new, |group| {
            let check = |pair| ahead(group, CUCKOO, CUCKOO, pair, 2.0);
            BULK.iter().zip(&ONE_BY_ONE).skip(1).filter_map(check).collect()
        })
    }),
    (
        "BinaryFuse, u64, 1 %: build and lookups no slower than xorf's BinaryFuse8, which errs half as often",
        |_, group| {
            main_table(group).map_or_else(Vec::new, |group| faster(group, FUSE, XORF, &ONE_BY_ONE, 1.0))
        },
    ),
    ("BinaryFuse, u64, 1 %: bulk lookups 2x xorf's one by one", |_, group| {
        main_table(group).map_or_else(Vec::new, |group| faster(group, FUSE, XORF, &BULK, 2.0))
    }),
    ("BinaryFuse, u64, with as many bits as xorf's: no slower, and in bulk 2x", |_, group| {
        main_table(group).map_or_else(Vec::new, |group| {
            let mut checks = faster(group, FUSE_OF_EIGHT_BITS, XORF, &ONE_BY_ONE, 1.0);
            checks.extend(faster(group, FUSE_OF_EIGHT_BITS, XORF, &BULK, 2.0));
            checks
        })
    }),
    ("Bitmap: one by one reads 5x roaring", |_, group| {
        let check = |column| ahead(group, BITMAP, ROARING, (column, column), 5.0);
        ONE_BY_ONE.iter().skip(1).filter_map(check).collect()
    }),
];

pub(crate) fn list(results: &Results) -> String {
    let mut text = "\n## targets\n".to_owned();
    for (promise, checks) in TARGETS {
        let checks: Vec<Check> = results.groups.iter().flat_map(|group| checks(results, group)).collect();
        text += &show(promise, &checks);
    }
    text + &show("hash: the secret costs less than 2 ns a key", &[secret(results)])
}

fn show(promise: &str, checks: &[Check]) -> String {
    let mut text = format!("{promise}\n");
    if checks.is_empty() {
        text += "  not run\n";
    }
    for check in checks {
        let verdict = if check.passes { "PASS" } else { "miss" };
        let _ = writeln!(text, "  {verdict}  {}", check.text);
    }
    text
}

/// Whether cuckoofilter, whose slots are a power of two, is about as full as ours, which is at 95 %. Keys find a place at once in a
/// filter that is half empty.
fn nine_tenths_of_a_power_of_two(items: usize) -> bool {
    10 * items > 9 * items.next_power_of_two()
}

/// The table that most targets speak of: `u64` keys at 1 %.
fn main_table(group: &Group) -> Option<&Group> {
    (group.keys == KeyKind::U64 && group.fpp == Some(0.01)).then_some(group)
}

/// The most bits per key of each family at 1 % and 0.1 %. Parquet's layout leaves no choice: 10.53 and 16.89. Of the classic filter the design
/// says 9.6 and 14.4, which is the textbook to one decimal; to one decimal it is what ours must keep.
const SPACE_TABLE: [(&str, f64, f64); 6] = [
    (DEFAULT, 10.0, 15.0),
    (CLASSIC, 9.65, 14.45),
    (SPLIT_BLOCK, 10.55, 16.95),
    (CUCKOO, 10.5, 13.7),
    (FUSE, 7.9, 11.3),
    (WINDOW, 17.5, 25.0),
];

fn space(group: &Group) -> Vec<Check> {
    let check = |&(name, one, tenth): &(&str, f64, f64)| {
        let limit = match group.fpp? {
            0.01 => one,
            0.001 => tenth,
            _ => return None,
        };
        let bits = group.row(name)?.bits_per_key;
        let text = format!("{}: {name} {bits:.2} bits/key, at most {limit}", group.title());
        // The allocator also sees the half kilobyte of the filter's own fields.
        let fields = 8.0 * 1024.0 / group.items as f64;
        Some(Check { passes: bits <= limit + fields, text })
    };
    SPACE_TABLE.iter().filter_map(check).collect()
}

fn promise(group: &Group) -> Vec<Check> {
    let Some(asked) = group.fpp else { return Vec::new() };
    let check = |row: &Measured| {
        let fpp = row.figures.fpp();
        // A chain that could still grow keeps some of its rate for the links to come, and fingerprints have whole bits.
        let wasteful = ![SCALABLE, CUCKOO, FUSE, FUSE_OF_EIGHT_BITS].contains(&row.name)
            && fpp < 0.8 * asked - row.figures.fpp_noise(asked);
        let text = format!("{}: {} {:.4} %, {:.3}x", group.title(), row.name, fpp * 100.0, fpp / asked);
        Check { passes: !row.figures.breaks(asked) && !wasteful, text }
    };
    group.rows.iter().filter(|row| row.is_ours()).map(check).collect()
}

/// Each column of ours against the one-by-one column of a rival that does the same.
fn faster(group: &Group, ours: &str, rival: &str, columns: &[Column; 3], at_least: f64) -> Vec<Check> {
    columns.iter().zip(&ONE_BY_ONE).filter_map(|pair| ahead(group, ours, rival, pair, at_least)).collect()
}

/// A column of ours against one of a rival, if both were measured.
fn ahead(
    group: &Group,
    ours: &str,
    rival: &str,
    (column, other): (&Column, &Column),
    at_least: f64,
) -> Option<Check> {
    let (mine, theirs) = ((column.of)(group.row(ours)?)?, (other.of)(group.row(rival)?)?);
    let ratio = theirs / mine;
    let text =
        format!("{}: {} {mine:.1} ns, {rival} {theirs:.1} ns: {ratio:.2}x", group.title(), column.name);
    Some(Check { passes: ratio >= at_least, text })
}

fn far_ahead(group: &Group) -> Vec<Check> {
    if group.items != 100_000_000 {
        return Vec::new();
    }
    let mut checks = faster(group, DEFAULT, SBBF, &BULK, 2.0);
    checks.extend(faster(group, DEFAULT, FASTBLOOM, &BULK, 6.0));
    checks
}

/// Lookups are held against reading a line, inserts against changing one.
fn near_the_floor(group: &Group) -> Vec<Check> {
    let limit = match group.items {
        10_000_000 => 1.8,
        100_000_000 => 1.3,
        _ => return Vec::new(),
    };
    let Some(us) = group.row(DEFAULT) else { return Vec::new() };
    let FloorFigures { read, write, .. } = group.floor;
    let check = |(column, floor): (&Column, f64)| {
        let mine = (column.of)(us)?;
        let ratio = mine / floor;
        let name = column.name;
        let text = format!("{}: {name} {mine:.1} ns, floor {floor:.1} ns: {ratio:.2}x", group.title());
        Some(Check { passes: ratio <= limit, text: format!("{text}, a read is {read:.1} ns") })
    };
    BULK.iter().zip([write, read, read]).filter_map(check).collect()
}

/// Boost.Bloom's `fast_multiblock64<8>` in bulk at 10M: insert, hit, miss. Measured once, in another run, at 1.05 %.
const BOOST: [f64; 3] = [6.9, 7.8, 4.5];
const BOOST_FPP: f64 = 0.0105;

fn boost(group: &Group) -> Vec<Check> {
    let Some(us) = group.row(DEFAULT).filter(|_| group.items == 10_000_000) else { return Vec::new() };
    let check = |(column, theirs): (&Column, f64)| {
        let mine = (column.of)(us)?;
        let passes = mine <= theirs && us.fpp() < BOOST_FPP;
        Some(Check {
            passes,
            text: format!("{} {mine:.1} ns, Boost {theirs:.1} ns in another run", column.name),
        })
    };
    BULK.iter().zip(BOOST).filter_map(check).collect()
}

fn tenth_of_a_percent(results: &Results, group: &Group) -> Vec<Check> {
    if group.keys != KeyKind::U64 || group.fpp != Some(0.001) {
        return Vec::new();
    }
    let mut checks = slower(group, results.find(KeyKind::U64, group.items, 0.01), 1.6);
    // What the memory alone would make of it: two lines beside one.
    let FloorFigures { read, write, pair_read, pair_write, .. } = group.floor;
    for (check, ratio) in checks.iter_mut().zip([pair_write / write, pair_read / read, pair_read / read]) {
        let _ = write!(check.text, "; at the floor {ratio:.2}x");
    }
    checks
}

fn text(results: &Results, group: &Group) -> Vec<Check> {
    let integers = group.fpp.and_then(|fpp| results.find(KeyKind::U64, group.items, fpp));
    if group.keys == KeyKind::Text { slower(group, integers, 1.8) } else { Vec::new() }
}

/// Our default row in bulk against itself in another table.
fn slower(group: &Group, other: Option<&Group>, at_most: f64) -> Vec<Check> {
    let base = other.and_then(|other| other.row(DEFAULT));
    let Some((us, base)) = group.row(DEFAULT).zip(base) else { return Vec::new() };
    let check = |column: &Column| {
        let (mine, base) = ((column.of)(us)?, (column.of)(base)?);
        let (name, ratio) = (column.name, mine / base);
        let text = format!("{}: {name} {mine:.1} ns, there {base:.1} ns: {ratio:.2}x", group.title());
        Some(Check { passes: ratio <= at_most, text })
    };
    BULK.iter().filter_map(check).collect()
}

fn secret(results: &Results) -> Check {
    let HashFigures { keyed, unkeyed } = results.hashing;
    let text = format!("u64: keyed {keyed:.2} ns, unkeyed rapidhash {unkeyed:.2} ns");
    Check { passes: keyed - unkeyed < 2.0, text }
}
