//! `TOPK.RESERVE`.

use super::Value;
use crate::{
    callbacks::{Args, Ctx, Key, Mode},
    commands::limit,
    counters,
    error::CommandError,
    types::{bloom::within, topk::TopK},
    words,
};
use gowk::{Hasher, Seed};

/// `TOPK.RESERVE key k [width depth decay]`
pub(crate) fn reserve(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let number = |at: usize, default: u32, bad: &'static str| match args.get(at) {
        None => Ok(default),
        Some(word) => {
            let number = words::integer(word).and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0);
            number.ok_or(CommandError::Refused(bad))
        }
    };
    if args.len() != 3 && args.len() != 6 {
        return Err(CommandError::Arity);
    }
    let k = number(2, 0, "TopK: invalid k")?;
    let width = number(3, 8, "TopK: invalid width")?;
    let depth = number(4, 7, "TopK: invalid depth")?;
    let decay = match args.get(5) {
        None => 0.9,
        Some(word) => words::double(word)
            .filter(|n| *n > 0.0 && *n <= 1.0)
            .ok_or(CommandError::Refused("TopK: invalid decay value. must be '<= 1' & '> 0'"))?,
    };
    let mut key = Key::open(ctx, args, 1, Mode::Write);
    if key.value::<Value>()?.is_some() {
        return Err(CommandError::Refused("TopK: key already exists"));
    }
    let bytes =
        u64::from(width).saturating_mul(depth.into()).saturating_mul(8).saturating_add(u64::from(k) * 32);
    within(limit(ctx.flags()), bytes)?;
    let memory = CommandError::Refused("ERR Insufficient memory to create topk data structure");
    key.set(Value::new(TopK::new(k, width, depth, decay, Hasher::new(Seed::from(0u64))).ok_or(memory)?))?;
    counters::CREATED.add(1);
    ctx.replicate_verbatim();
    ctx.changed(args, 1, c"topk.reserve");
    ctx.reply_ok();
    Ok(())
}
