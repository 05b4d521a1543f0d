//! `BF.EXISTS` and `BF.MEXISTS`: the hot path.

use crate::{
    callbacks::{Args, Ctx, Key, Mode},
    counters,
    error::CommandError,
    types::bloom::Bloom,
};

/// `BF.EXISTS key item`
pub(crate) fn exists(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    counters::ASKED.add(1);
    let mut key = Key::open(ctx, args, 1, Mode::Read);
    let may_contain = match filter(ctx, &mut key) {
        Some(bloom) => bloom.may_contain(args.get(2).unwrap_or_default())?,
        None => false,
    };
    ctx.reply_bool(may_contain);
    Ok(())
}

/// `BF.MEXISTS key item...`
pub(crate) fn mexists(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let items = args.from(2);
    counters::ASKED.add(items.len() as u64);
    let mut key = Key::open(ctx, args, 1, Mode::Read);
    let Some(bloom) = filter(ctx, &mut key) else {
        ctx.reply_array(items.len());
        items.for_each(|_| ctx.reply_bool(false));
        return Ok(());
    };
    if let Bloom::Pending(_) = bloom {
        return bloom.may_contain(b"").map(|_| ());
    }
    ctx.reply_array(items.len());
    bloom.answer(items, |answer| ctx.reply_bool(answer))
}

/// The filter as of now. As RedisBloom does, a key of another type is taken for one that is missing.
#[inline]
fn filter<'k>(ctx: &Ctx<'_>, key: &'k mut Key<'_>) -> Option<&'k Bloom> {
    let bloom = key.value::<Bloom>().ok().flatten()?;
    if bloom.is_timed() {
        bloom.advance(ctx.now());
    }
    Some(bloom)
}
