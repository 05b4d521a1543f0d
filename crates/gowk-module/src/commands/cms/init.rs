//! `CMS.INITBYDIM` and `CMS.INITBYPROB`.

use super::Value;
use crate::{
    callbacks::{Args, Ctx, Key, Mode},
    commands::limit,
    counters,
    error::CommandError,
    types::{
        bloom::within,
        cms::{self, Cms},
    },
    words,
};
use gowk::{Hasher, Seed};

/// `CMS.INITBYDIM key width depth [SEED s]`
pub(crate) fn init_by_dim(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let number = |at: usize, bad: &'static str| {
        let number = words::integer(args.get(at).unwrap_or_default()).filter(|n| *n > 0);
        number.map(i64::unsigned_abs).ok_or(CommandError::Refused(bad))
    };
    let width = number(2, "CMS: invalid width")?;
    let depth = number(3, "CMS: invalid depth")?;
    create(ctx, args, width, depth)
}

/// `CMS.INITBYPROB key error probability [SEED s]`
pub(crate) fn init_by_prob(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let part = |at: usize, bad: &'static str| {
        let number = words::double(args.get(at).unwrap_or_default()).filter(|n| *n > 0.0 && *n < 1.0);
        number.ok_or(CommandError::Refused(bad))
    };
    let error = part(2, "CMS: invalid overestimation value")?;
    let probability = part(3, "CMS: invalid prob value")?;
    let (width, depth) = size_for(error, probability);
    create(ctx, args, width, depth)
}

/// As RedisBloom sizes it, logarithms in single precision included.
fn size_for(error: f64, probability: f64) -> (u64, u64) {
    let depth = libm::log10f(probability as f32) / libm::log10f(0.5);
    (libm::ceil(2.0 / error) as u64, libm::ceilf(depth).max(1.0) as u64)
}

fn create(ctx: &Ctx<'_>, args: &Args<'_>, width: u64, depth: u64) -> Result<(), CommandError> {
    let seed = match (args.get(4), args.get(5)) {
        (None, _) => Seed::from(0u64),
        (Some(word), Some(seed)) if words::is(word, "SEED") && args.len() == 6 => {
            words::seed(seed).ok_or(CommandError::Refused("ERR bad seed: it has 32 hexadecimal digits"))?
        }
        _ => return Err(CommandError::Arity),
    };
    let mut key = Key::open(ctx, args, 1, Mode::Write);
    if key.value::<Value>()?.is_some() {
        return Err(CommandError::Refused("CMS: key already exists"));
    }
    let bytes = cms::bytes(width, depth).ok_or(CommandError::Refused("CMS: invalid init arguments"))?;
    within(limit(ctx.flags()), bytes)?;
    let memory = CommandError::Refused("CMS: Insufficient memory to create the key");
    key.set(Value::new(Cms::new(width, depth, Hasher::new(seed)).ok_or(memory)?))?;
    counters::CREATED.add(1);
    ctx.replicate_verbatim();
    ctx.changed(args, 1, c"cms.init");
    ctx.reply_ok();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_redisbloom() {
        assert_eq!(size_for(0.001, 0.01), (2000, 7));
        assert_eq!(size_for(0.01, 0.01), (200, 7));
        assert_eq!(size_for(0.5, 0.9), (4, 1));
    }
}
