//! `BF.RESERVE`, `BF.ADD`, `BF.MADD` and `BF.INSERT`.

use super::options::{Options, resolved_words};
use crate::{
    callbacks::{Args, Ctx, Key, Mode},
    commands::{EXISTS, NOT_FOUND, limit},
    counters,
    error::CommandError,
    types::bloom::{Bloom, NotAdded, Reserve},
};
use gowk::{Hasher, Seed};

/// `BF.RESERVE key error capacity [EXPANSION n] [NONSCALING] [WINDOW length [GENERATIONS g]] [SEED s] [GROWING]`
pub(crate) fn reserve(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let options = Options::reserve(args.from(2))?;
    let mut key = Key::open(ctx, args, 1, Mode::Write);
    if key.value::<Bloom>()?.is_some() {
        return Err(EXISTS);
    }
    create(ctx, args, &mut key, &options)?;
    ctx.changed(args, 1, c"bf.reserve");
    ctx.reply_ok();
    Ok(())
}

/// Makes the filter and tells replicas all of its parameters: theirs may have other defaults.
fn create<'k>(
    ctx: &Ctx<'_>,
    args: &Args<'_>,
    key: &'k mut Key<'_>,
    options: &Options,
) -> Result<&'k mut Bloom, CommandError> {
    let reserve: Reserve = options.resolve();
    let seed = options.seed.unwrap_or_else(Seed::random);
    let bloom = reserve.build(Hasher::new(seed), limit(ctx.flags()))?;
    let bloom = key.set(bloom)?;
    let words = resolved_words(&reserve, seed);
    let name = args.get(1).unwrap_or_default();
    let words: Vec<&[u8]> = [name].into_iter().chain(words.iter().map(String::as_bytes)).collect();
    ctx.replicate(c"BF.RESERVE", &words);
    counters::CREATED.add(1);
    Ok(bloom)
}

/// `BF.ADD key item`
pub(crate) fn add(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let mut answer = Ok(false);
    insert_items(ctx, args, &Options::default(), 2, |outcome| answer = outcome)?;
    let new = answer?;
    ctx.reply_bool(new);
    Ok(())
}

/// `BF.MADD key item...`
pub(crate) fn madd(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    add_all(ctx, args, &Options::default(), 2)
}

/// `BF.INSERT key [CAPACITY n] [ERROR e] [EXPANSION n] [NOCREATE] [NONSCALING] ... ITEMS item...`
pub(crate) fn insert(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let (options, before) = Options::insert(args.from(2))?;
    if args.len() <= 2 + before {
        return Err(CommandError::Arity);
    }
    add_all(ctx, args, &options, 2 + before)
}

/// Adds the items from word `at` on, and replies with an array. It ends with the error, if there was one.
fn add_all(ctx: &Ctx<'_>, args: &Args<'_>, options: &Options, at: usize) -> Result<(), CommandError> {
    let mut outcomes = Vec::with_capacity(args.len() - at);
    insert_items(ctx, args, options, at, |outcome| outcomes.push(outcome))?;
    ctx.reply_array(outcomes.len());
    for outcome in outcomes {
        match outcome {
            Ok(new) => ctx.reply_bool(new),
            Err(why) => ctx.reply_error(&CommandError::from(why).to_string()),
        }
    }
    Ok(())
}

fn insert_items(
    ctx: &Ctx<'_>,
    args: &Args<'_>,
    options: &Options,
    at: usize,
    mut each: impl FnMut(Result<bool, NotAdded>),
) -> Result<(), CommandError> {
    let mut key = Key::open(ctx, args, 1, Mode::Write);
    let created = match key.value::<Bloom>()? {
        Some(_) => false,
        None if options.nocreate || options.at.is_some() => return Err(NOT_FOUND),
        None => {
            create(ctx, args, &mut key, options)?;
            true
        }
    };
    let bloom = key.value::<Bloom>()?.ok_or(NOT_FOUND)?;
    let now = options.at.unwrap_or_else(|| if bloom.is_timed() { ctx.now() } else { 0 });
    bloom.advance(now);
    let (mut new, mut seen, mut refused) = (0, 0, 0);
    let limit = limit(ctx.flags());
    bloom.add(args.from(at), limit, |outcome| {
        match outcome {
            Ok(true) => new += 1,
            Ok(false) => seen += 1,
            Err(_) => refused += 1,
        }
        each(outcome);
    })?;
    let (refreshes, timed) = (bloom.refreshes(), bloom.is_timed());
    counters::ADDED.add(new);
    counters::SEEN.add(seen);
    counters::REFUSED.add(refused);
    // What changes nothing is told to nobody.
    if new > 0 || refreshes && seen > 0 {
        if timed {
            replicate_at(ctx, args, now, at);
        } else if created {
            replicate_items(ctx, args, at);
        } else {
            ctx.replicate_verbatim();
        }
        ctx.changed(args, 1, c"bf.add");
    } else if created {
        ctx.changed(args, 1, c"bf.reserve");
    }
    Ok(())
}

/// With the time of this server: replicas have clocks of their own.
fn replicate_at(ctx: &Ctx<'_>, args: &Args<'_>, now: u64, at: usize) {
    let now = now.to_string();
    let start = [args.get(1).unwrap_or_default(), b"AT", now.as_bytes(), b"ITEMS"];
    ctx.replicate(c"BF.INSERT", &start.into_iter().chain(args.from(at)).collect::<Vec<_>>());
}

/// Without the options: the filter has been created by then.
fn replicate_items(ctx: &Ctx<'_>, args: &Args<'_>, at: usize) {
    let name = args.get(1).unwrap_or_default();
    ctx.replicate(c"BF.MADD", &[name].into_iter().chain(args.from(at)).collect::<Vec<_>>());
}
