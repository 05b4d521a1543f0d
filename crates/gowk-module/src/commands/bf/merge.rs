//! `BF.MERGE` and `BF.CLEAR`.

use crate::{
    callbacks::{Args, Ctx, Key, Mode},
    commands::{NOT_FOUND, why_not_created},
    counters,
    error::CommandError,
    types::bloom::{self, Bloom, Chain},
};

/// `BF.MERGE destination source...`: the destination becomes the union of itself and the sources.
pub(crate) fn merge(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    // A copy is merged into and put in place at the end, so that an error leaves all as it was.
    let mut union: Option<Chain> = None;
    for at in 1..args.len() {
        if at > 1 && args.get(at) == args.get(1) {
            continue;
        }
        let mut key = Key::open(ctx, args, at, Mode::Read);
        let chain = match key.value::<Bloom>()? {
            Some(Bloom::Chain(chain)) => chain,
            Some(_) => {
                return Err(CommandError::Refused(
                    "ERR only filters that keep all items are merged, not windows nor loaded ones",
                ));
            }
            None if at == 1 => continue,
            None => return Err(NOT_FOUND),
        };
        match &mut union {
            None => union = Some(chain.copy().map_err(|why| why_not_created(&why))?),
            Some(union) => bloom::merge(union, chain).map_err(|why| why_not_created(&why))?,
        }
    }
    let union = union.ok_or(NOT_FOUND)?;
    Key::open(ctx, args, 1, Mode::Write).set(Bloom::Chain(union))?;
    counters::CREATED.add(1);
    ctx.replicate_verbatim();
    ctx.changed(args, 1, c"bf.merge");
    ctx.reply_ok();
    Ok(())
}

/// `BF.CLEAR key`
pub(crate) fn clear(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = Key::open(ctx, args, 1, Mode::Write);
    key.value::<Bloom>()?.ok_or(NOT_FOUND)?.clear()?;
    ctx.replicate_verbatim();
    ctx.changed(args, 1, c"bf.clear");
    ctx.reply_ok();
    Ok(())
}
