//! `CMS.*`: Count-Min sketches.

mod init;
mod merge;

pub(crate) use init::{init_by_dim, init_by_prob};
pub(crate) use merge::merge;

use super::scan;
use crate::{
    callbacks::{Args, Ctx, Key, Mode},
    error::CommandError,
    types::{cms::Cms, loaded::Loaded},
    words,
};

type Value = Loaded<Cms>;

const MISSING: CommandError = CommandError::Refused("CMS: key does not exist");

/// `CMS.INCRBY key item increment [item increment ...]`
pub(crate) fn incrby(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    if !args.len().is_multiple_of(2) {
        return Err(CommandError::Arity);
    }
    let mut key = Key::open(ctx, args, 1, Mode::Write);
    let cms = key.value::<Value>()?.ok_or(MISSING)?.get_mut(|| ctx.now())?;
    let mut pairs = Vec::with_capacity(args.len() / 2);
    for at in (2..args.len()).step_by(2) {
        let number = words::integer(args.get(at + 1).unwrap_or_default());
        let number = number.ok_or(CommandError::Refused("CMS: Cannot parse number"))?;
        let number = u64::try_from(number);
        let number = number.map_err(|_| CommandError::Refused("CMS: Number cannot be negative"))?;
        pairs.push((args.get(at).unwrap_or_default(), number));
    }
    ctx.reply_array(pairs.len());
    for (item, by) in pairs {
        match cms.increase(item, by) {
            Some(estimate) => ctx.reply_integer(estimate.into()),
            None => ctx.reply_error("CMS: INCRBY overflow"),
        }
    }
    ctx.replicate_verbatim();
    ctx.changed(args, 1, c"cms.incrby");
    Ok(())
}

/// `CMS.QUERY key item...`
pub(crate) fn query(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = Key::open(ctx, args, 1, Mode::Read);
    let cms = key.value::<Value>()?.ok_or(MISSING)?.get()?;
    let items = args.from(2);
    ctx.reply_array(items.len());
    items.for_each(|item| ctx.reply_integer(cms.query(item).into()));
    Ok(())
}

/// `CMS.INFO key`
pub(crate) fn info(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = Key::open(ctx, args, 1, Mode::Read);
    let cms = key.value::<Value>()?.ok_or(MISSING)?.get()?;
    ctx.reply_map(3);
    for (name, value) in [("width", cms.width), ("depth", cms.depth), ("count", cms.count)] {
        ctx.reply_simple_text(name);
        ctx.reply_integer(value as i64);
    }
    Ok(())
}

/// `CMS.SCANDUMP key iterator`
pub(crate) fn scandump(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    scan::dump::<Cms>(ctx, args)
}

/// `CMS.LOADCHUNK key iterator chunk`
pub(crate) fn loadchunk(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    scan::load::<Cms>(ctx, args)
}
