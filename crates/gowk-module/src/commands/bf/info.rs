//! `BF.INFO`, `BF.CARD` and `BF.DEBUG`.

use crate::{
    callbacks::{Args, Ctx, Key, Mode},
    commands::NOT_FOUND,
    error::CommandError,
    types::{Value, bloom::Bloom},
    words,
};
use gowk::{Filter, Persist};

/// `BF.CARD key`
pub(crate) fn card(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = Key::open(ctx, args, 1, Mode::Read);
    let keys = key.value::<Bloom>()?.map_or(0, |bloom| {
        if bloom.is_timed() {
            bloom.advance(ctx.now());
        }
        bloom.keys()
    });
    ctx.reply_integer(keys as i64);
    Ok(())
}

/// Short names of the fields, and those that replies have.
const FIELDS: [(&str, &str); 5] = [
    ("CAPACITY", "Capacity"),
    ("SIZE", "Size"),
    ("FILTERS", "Number of filters"),
    ("ITEMS", "Number of items inserted"),
    ("EXPANSION", "Expansion rate"),
];

/// `BF.INFO key [CAPACITY | SIZE | FILTERS | ITEMS | EXPANSION]`
pub(crate) fn info(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    if args.len() > 3 {
        return Err(CommandError::Arity);
    }
    let mut key = Key::open(ctx, args, 1, Mode::Read);
    let bloom = key.value::<Bloom>()?.ok_or(NOT_FOUND)?;
    bloom.advance(ctx.now());
    let values = values(bloom);
    let Some(word) = args.get(2) else {
        ctx.reply_map(FIELDS.len());
        for ((_, name), value) in FIELDS.iter().zip(values) {
            ctx.reply_simple_text(name);
            reply(ctx, value);
        }
        return Ok(());
    };
    let at = FIELDS.iter().position(|(short, _)| words::is(word, short));
    let at = at.ok_or(CommandError::Refused("Invalid information value"))?;
    if ctx.flags().resp3() {
        ctx.reply_map(1);
        ctx.reply_simple_text(FIELDS[at].1);
    } else {
        ctx.reply_array(1);
    }
    reply(ctx, values[at]);
    Ok(())
}

fn reply(ctx: &Ctx<'_>, value: Option<u64>) {
    match value {
        Some(n) => ctx.reply_integer(n as i64),
        None => ctx.reply_null(),
    }
}

fn values(bloom: &Bloom) -> [Option<u64>; 5] {
    let size = Some((size_of::<Bloom>() + bloom.memory()) as u64);
    let items = Some(bloom.keys());
    match bloom {
        Bloom::Chain(chain) => {
            let expansion = chain.spec.expansion;
            let expansion = (expansion > 0).then_some(u64::from(expansion));
            [Some(chain.capacity()), size, Some(chain.links.len() as u64), items, expansion]
        }
        Bloom::Window(window, _) => [Some(window.params().promise().items), size, Some(1), items, None],
        Bloom::Fixed(filter) => [Some(filter.head().promise.items), size, Some(1), items, None],
        Bloom::Compat(filter) => {
            let capacity = filter.links().fold(0, |sum: u64, link| sum.saturating_add(link.capacity()));
            [
                Some(capacity),
                size,
                Some(filter.links().len() as u64),
                items,
                filter.expansion().map(u64::from),
            ]
        }
        Bloom::Pending(_) => [None, size, None, None, None],
    }
}

/// `BF.DEBUG key`: all items, then a line for each link.
pub(crate) fn debug(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = Key::open(ctx, args, 1, Mode::Read);
    let bloom = key.value::<Bloom>()?.ok_or(NOT_FOUND)?;
    let mut lines = vec![format!("size:{}", bloom.keys())];
    match bloom {
        Bloom::Chain(chain) => lines.extend(chain.links.iter().map(|link| {
            let params = link.filter.params();
            format!(
                "bytes:{} bits:{} hashes:{} hashwidth:64 capacity:{} size:{} ratio:{}",
                link.filter.size_in_bytes(),
                params.bits(),
                params.probes(),
                link.capacity,
                link.keys,
                link.rate
            )
        })),
        Bloom::Window(window, _) => {
            let (params, pace) = (window.params(), window.pace());
            lines.push(format!(
                "bytes:{} generations:{} window:{} pace:{pace:?} capacity:{} ratio:{}",
                window.size_in_bytes(),
                params.generations(),
                window.remembers(),
                params.promise().items,
                params.promise().fpp
            ));
        }
        Bloom::Fixed(filter) => {
            let head = filter.head();
            lines.push(format!(
                "bytes:{} family:{} capacity:{} ratio:{}",
                filter.size_in_bytes(),
                head.family,
                head.promise.items,
                head.promise.fpp
            ));
        }
        Bloom::Compat(filter) => {
            lines.extend(
                filter.links().map(|link| format!("capacity:{} size:{}", link.capacity(), link.keys())),
            );
        }
        Bloom::Pending(pending) => lines.push(format!("loading, {} bytes so far", pending.body.len())),
    }
    ctx.reply_array(lines.len());
    lines.iter().for_each(|line| ctx.reply_simple_text(line));
    Ok(())
}
