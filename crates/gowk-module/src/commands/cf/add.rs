//! `CF.RESERVE`, the ways to add, and `CF.DEL` and `CF.COMPACT`.

use super::{
    Value,
    options::{Options, resolved_words},
};
use crate::{
    callbacks::{Args, Ctx, Key, Mode},
    commands::{EXISTS, NOT_FOUND, limit, why_not_created},
    counters,
    error::CommandError,
    types::cuckoo::Cuckoo,
};
use gowk::{Hasher, Seed};

/// `CF.RESERVE key capacity [BUCKETSIZE b] [MAXITERATIONS m] [EXPANSION e] [ERROR e] [SEED s]`
pub(crate) fn reserve(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let options = Options::reserve(args.from(2))?;
    let mut key = Key::open(ctx, args, 1, Mode::Write);
    if key.value::<Value>()?.is_some() {
        return Err(EXISTS);
    }
    create(ctx, args, &mut key, &options)?;
    ctx.changed(args, 1, c"cf.reserve");
    ctx.reply_ok();
    Ok(())
}

/// Makes the filter and tells replicas all of its parameters.
fn create(ctx: &Ctx<'_>, args: &Args<'_>, key: &mut Key<'_>, options: &Options) -> Result<(), CommandError> {
    let spec = options.resolve();
    let seed = options.seed.unwrap_or_else(Seed::random);
    key.set(Value::new(Cuckoo::new(spec, Hasher::new(seed), limit(ctx.flags()))?))?;
    let words = resolved_words(&spec, seed);
    let name = args.get(1).unwrap_or_default();
    let words: Vec<&[u8]> = [name].into_iter().chain(words.iter().map(String::as_bytes)).collect();
    ctx.replicate(c"CF.RESERVE", &words);
    counters::CREATED.add(1);
    Ok(())
}

/// What became of an item.
enum Outcome {
    Added,
    There,
    Refused(CommandError),
}

/// Adds the items from word `at` on; with `unless_there` only those that are surely not there.
fn add_items(
    ctx: &Ctx<'_>,
    args: &Args<'_>,
    options: &Options,
    at: usize,
    unless_there: bool,
) -> Result<Vec<Outcome>, CommandError> {
    let mut key = Key::open(ctx, args, 1, Mode::Write);
    let created = match key.value::<Value>()? {
        Some(_) => false,
        None if options.nocreate => return Err(NOT_FOUND),
        None => {
            create(ctx, args, &mut key, options)?;
            true
        }
    };
    let limit = limit(ctx.flags());
    let cuckoo = key.value::<Value>()?.ok_or(NOT_FOUND)?.get_mut(|| ctx.now())?;
    let add = |item: &[u8]| match unless_there && cuckoo.may_contain(item) {
        true => Outcome::There,
        false => cuckoo.add(item, limit).map_or_else(Outcome::Refused, |()| Outcome::Added),
    };
    let outcomes: Vec<Outcome> = args.from(at).map(add).collect();
    let many = |of: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| of(outcome)).count() as u64;
    let added = many(|outcome| matches!(outcome, Outcome::Added));
    counters::ADDED.add(added);
    counters::SEEN.add(many(|outcome| matches!(outcome, Outcome::There)));
    counters::REFUSED.add(many(|outcome| matches!(outcome, Outcome::Refused(_))));
    if added > 0 {
        let start = [args.get(1).unwrap_or_default(), b"ITEMS"];
        // Only what was added, so that a replica does not judge anew.
        let items = args.from(at).zip(&outcomes).filter(|(_, outcome)| matches!(outcome, Outcome::Added));
        let words: Vec<&[u8]> = start.into_iter().chain(items.map(|(item, _)| item)).collect();
        ctx.replicate(c"CF.INSERT", &words);
        ctx.changed(args, 1, c"cf.add");
    } else if created {
        ctx.changed(args, 1, c"cf.reserve");
    }
    Ok(outcomes)
}

/// `CF.ADD key item`
pub(crate) fn add(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    add_one(ctx, args, false)
}

/// `CF.ADDNX key item`
pub(crate) fn addnx(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    add_one(ctx, args, true)
}

fn add_one(ctx: &Ctx<'_>, args: &Args<'_>, unless_there: bool) -> Result<(), CommandError> {
    match add_items(ctx, args, &Options::default(), 2, unless_there)?.pop() {
        Some(Outcome::Refused(why)) => return Err(why),
        outcome => ctx.reply_bool(matches!(outcome, Some(Outcome::Added))),
    }
    Ok(())
}

/// `CF.INSERT key [CAPACITY n] [NOCREATE] ITEMS item...`: 1, or -1 for what found no place; booleans in RESP3.
pub(crate) fn insert(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let outcomes = insert_items(ctx, args, false)?;
    let resp3 = ctx.flags().resp3();
    for outcome in outcomes {
        let added = matches!(outcome, Outcome::Added);
        match resp3 {
            true => ctx.reply_bool(added),
            false => ctx.reply_integer(if added { 1 } else { -1 }),
        }
    }
    Ok(())
}

/// `CF.INSERTNX key [CAPACITY n] [NOCREATE] ITEMS item...`: 1, 0 or -1, in both protocols.
pub(crate) fn insertnx(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    for outcome in insert_items(ctx, args, true)? {
        ctx.reply_integer(match outcome {
            Outcome::Added => 1,
            Outcome::There => 0,
            Outcome::Refused(_) => -1,
        });
    }
    Ok(())
}

/// Adds, and begins the reply.
fn insert_items(ctx: &Ctx<'_>, args: &Args<'_>, unless_there: bool) -> Result<Vec<Outcome>, CommandError> {
    let (options, before) = Options::insert(args.from(2))?;
    if args.len() <= 2 + before {
        return Err(CommandError::Arity);
    }
    let outcomes = add_items(ctx, args, &options, 2 + before, unless_there)?;
    ctx.reply_array(outcomes.len());
    Ok(outcomes)
}

/// `CF.DEL key item`
pub(crate) fn del(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = Key::open(ctx, args, 1, Mode::Write);
    let missing = CommandError::Refused("Not found");
    let value = key.value::<Value>().ok().flatten().ok_or(missing)?;
    let gone = value.get_mut(|| ctx.now())?.remove(args.get(2).unwrap_or_default());
    if gone {
        counters::REMOVED.add(1);
        ctx.replicate_verbatim();
        ctx.changed(args, 1, c"cf.del");
    }
    ctx.reply_bool(gone);
    Ok(())
}

/// `CF.COMPACT key`
pub(crate) fn compact(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = Key::open(ctx, args, 1, Mode::Write);
    let missing = CommandError::Refused("Cuckoo filter was not found");
    let cuckoo = key.value::<Value>().ok().flatten().ok_or(missing)?.get_mut(|| ctx.now())?;
    if cuckoo.compact().map_err(|why| why_not_created(&why))? {
        ctx.replicate_verbatim();
        ctx.changed(args, 1, c"cf.compact");
    }
    ctx.reply_ok();
    Ok(())
}
