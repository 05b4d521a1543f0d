//! `TOPK.*`: the most frequent items.

mod reserve;

pub(crate) use reserve::reserve;

use super::scan;
use crate::{
    callbacks::{Args, Ctx, Key, Mode},
    error::CommandError,
    types::{loaded::Loaded, topk::TopK},
    words,
};

type Value = Loaded<TopK>;

const MISSING: CommandError = CommandError::Refused("TopK: key does not exist");

/// `TOPK.ADD key item...`
pub(crate) fn add(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    count_in(ctx, args, args.from(2).map(|item| (item, 1)).collect(), c"topk.add")
}

/// `TOPK.INCRBY key item increment [item increment ...]`
pub(crate) fn incrby(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    if !args.len().is_multiple_of(2) {
        return Err(CommandError::Arity);
    }
    // The run of spaces is part of the text that clients know.
    let bad = CommandError::Refused(
        "TopK: increment must be an integer greater or equal to 0                                and smaller or equal to 100,000",
    );
    let mut pairs = Vec::with_capacity(args.len() / 2);
    for at in (2..args.len()).step_by(2) {
        let number = words::integer(args.get(at + 1).unwrap_or_default());
        let number = number.filter(|n| (0..=100_000).contains(n)).ok_or_else(|| bad.clone())?;
        pairs.push((args.get(at).unwrap_or_default(), number as u32));
    }
    count_in(ctx, args, pairs, c"topk.incrby")
}

fn count_in(
    ctx: &Ctx<'_>,
    args: &Args<'_>,
    pairs: Vec<(&[u8], u32)>,
    event: &std::ffi::CStr,
) -> Result<(), CommandError> {
    let mut key = Key::open(ctx, args, 1, Mode::Write);
    let topk = key.value::<Value>()?.ok_or(MISSING)?.get_mut(|| ctx.now())?;
    ctx.reply_array(pairs.len());
    for (item, times) in pairs {
        match topk.add(item, times) {
            Some(expelled) => ctx.reply_bulk(&expelled),
            None => ctx.reply_null(),
        }
    }
    ctx.replicate_verbatim();
    ctx.changed(args, 1, event);
    Ok(())
}

/// `TOPK.QUERY key item...`
pub(crate) fn query(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    each(ctx, args, |topk, item| ctx.reply_bool(topk.holds(item)))
}

/// `TOPK.COUNT key item...`
pub(crate) fn count(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    each(ctx, args, |topk, item| ctx.reply_integer(topk.count(item).into()))
}

fn each(ctx: &Ctx<'_>, args: &Args<'_>, reply: impl Fn(&TopK, &[u8])) -> Result<(), CommandError> {
    let mut key = Key::open(ctx, args, 1, Mode::Read);
    let topk = key.value::<Value>()?.ok_or(MISSING)?.get()?;
    let items = args.from(2);
    ctx.reply_array(items.len());
    items.for_each(|item| reply(topk, item));
    Ok(())
}

/// `TOPK.LIST key [WITHCOUNT]`
pub(crate) fn list(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let counted = match (args.len(), args.get(2)) {
        (2, _) => false,
        (3, Some(word)) if words::is(word, "WITHCOUNT") => true,
        (3, _) => return Err(CommandError::Refused("WITHCOUNT keyword expected")),
        _ => return Err(CommandError::Arity),
    };
    let mut key = Key::open(ctx, args, 1, Mode::Read);
    let slots = key.value::<Value>()?.ok_or(MISSING)?.get()?.list();
    ctx.reply_array(if counted { 2 * slots.len() } else { slots.len() });
    for slot in slots {
        ctx.reply_bulk(slot.item.as_deref().unwrap_or_default());
        if counted {
            ctx.reply_integer(slot.count.into());
        }
    }
    Ok(())
}

/// `TOPK.INFO key`
pub(crate) fn info(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = Key::open(ctx, args, 1, Mode::Read);
    let topk = key.value::<Value>()?.ok_or(MISSING)?.get()?;
    ctx.reply_map(4);
    for (name, value) in [("k", topk.k() as i64), ("width", topk.width.into()), ("depth", topk.depth.into())]
    {
        ctx.reply_simple_text(name);
        ctx.reply_integer(value);
    }
    ctx.reply_simple_text("decay");
    ctx.reply_double(topk.decay);
    Ok(())
}

/// `TOPK.SCANDUMP key iterator`
pub(crate) fn scandump(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    scan::dump::<TopK>(ctx, args)
}

/// `TOPK.LOADCHUNK key iterator chunk`
pub(crate) fn loadchunk(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    scan::load::<TopK>(ctx, args)
}
