//! `CMS.MERGE`.

use super::{MISSING, Value};
use crate::{
    callbacks::{Args, Ctx, Key, Mode},
    error::CommandError,
    words,
};

/// `CMS.MERGE destination numkeys source... [WEIGHTS weight...]`: the destination becomes the weighted sum of the sources.
pub(crate) fn merge(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let weights = weights(args)?;
    let (shape, hasher) = {
        let mut key = Key::open(ctx, args, 1, Mode::Read);
        let cms = key.value::<Value>()?.ok_or(MISSING)?.get()?;
        ((cms.width, cms.depth), cms.hasher)
    };
    let (mut sums, mut count) = (Vec::<i128>::new(), 0i128);
    for (number, weight) in weights.iter().enumerate() {
        let mut key = Key::open(ctx, args, 3 + number, Mode::Read);
        let cms = key.value::<Value>()?.ok_or(MISSING)?.get()?;
        if (cms.width, cms.depth) != shape {
            return Err(CommandError::Refused("CMS: width/depth is not equal"));
        }
        if cms.hasher != hasher {
            return Err(CommandError::Refused("CMS: the seeds are not equal"));
        }
        sums.resize(cms.counters.len(), 0);
        let weight = i128::from(*weight);
        sums.iter_mut().zip(&cms.counters).for_each(|(sum, counter)| *sum += weight * i128::from(*counter));
        count += weight * i128::from(cms.count);
    }
    let overflow = CommandError::Refused("CMS: MERGE overflow");
    let counters: Result<Vec<u32>, _> = sums.into_iter().map(u32::try_from).collect();
    let counters = counters.map_err(|_| overflow.clone())?;
    let count = u64::try_from(count).map_err(|_| overflow)?;
    let mut key = Key::open(ctx, args, 1, Mode::Write);
    let cms = key.value::<Value>()?.ok_or(MISSING)?.get_mut(|| ctx.now())?;
    (cms.counters, cms.count) = (counters, count);
    ctx.replicate_verbatim();
    ctx.changed(args, 1, c"cms.merge");
    ctx.reply_ok();
    Ok(())
}

/// One weight for each source; 1 where none is said.
fn weights(args: &Args<'_>) -> Result<Vec<i64>, CommandError> {
    let count = words::integer(args.get(2).unwrap_or_default());
    let count = count.ok_or(CommandError::Refused("CMS: invalid numkeys"))?;
    if count <= 0 {
        return Err(CommandError::Refused("CMS: Number of keys must be positive"));
    }
    let count = count as usize;
    match args.len().checked_sub(3) {
        Some(words) if words == count => Ok(vec![1; count]),
        Some(words) if words > count => {
            let named = args.get(3 + count).is_some_and(|word| words::is(word, "WEIGHTS"));
            if !named || words != 2 * count + 1 {
                return Err(CommandError::Refused("CMS: wrong number of keys/weights"));
            }
            let bad = CommandError::Refused("CMS: invalid weight value");
            args.from(4 + count).map(|word| words::integer(word).ok_or(bad.clone())).collect()
        }
        _ => Err(CommandError::Refused("CMS: wrong number of keys")),
    }
}
