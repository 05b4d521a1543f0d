//! `CF.EXISTS`, `CF.MEXISTS` and `CF.COUNT`. As RedisBloom does, they take a key of another type for one that is missing.

use super::Value;
use crate::{
    callbacks::{Args, Ctx, Key, Mode},
    counters,
    error::CommandError,
};

/// `CF.EXISTS key item`
pub(crate) fn exists(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    counters::ASKED.add(1);
    let mut key = Key::open(ctx, args, 1, Mode::Read);
    let may_contain = match key.value::<Value>().ok().flatten() {
        Some(value) => value.get()?.may_contain(args.get(2).unwrap_or_default()),
        None => false,
    };
    ctx.reply_bool(may_contain);
    Ok(())
}

/// `CF.MEXISTS key item...`
pub(crate) fn mexists(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let mut items = args.from(2);
    counters::ASKED.add(items.len() as u64);
    let mut key = Key::open(ctx, args, 1, Mode::Read);
    let Some(value) = key.value::<Value>().ok().flatten() else {
        ctx.reply_array(items.len());
        items.for_each(|_| ctx.reply_bool(false));
        return Ok(());
    };
    let filter = value.get()?;
    ctx.reply_array(items.len());
    let (mut part, mut answers) = ([&b""[..]; 256], [false; 256]);
    while items.len() > 0 {
        let len = items.len().min(part.len());
        part.iter_mut().zip(&mut items).for_each(|(slot, item)| *slot = item);
        filter.answer(&part[..len], &mut answers[..len]);
        answers[..len].iter().for_each(|answer| ctx.reply_bool(*answer));
    }
    Ok(())
}

/// `CF.COUNT key item`
pub(crate) fn count(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = Key::open(ctx, args, 1, Mode::Read);
    let count = match key.value::<Value>().ok().flatten() {
        Some(value) => value.get()?.count(args.get(2).unwrap_or_default()),
        None => 0,
    };
    ctx.reply_integer(count as i64);
    Ok(())
}
