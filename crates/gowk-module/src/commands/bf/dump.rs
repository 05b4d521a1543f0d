//! Filters as bytes: `BF.SCANDUMP` and `BF.LOADCHUNK` in chunks, `BF.DUMP` and `BF.LOAD` as a whole `.gowk` file.
//!
//! A dump holds every key that was added before it began, although the filter is not copied: bits are only ever set, and links
//! only added behind the others, so that what is read later is no less. Windows forget, so theirs are copied when the dump begins.

use crate::{
    callbacks::{Args, Ctx, Key, Mode},
    commands::{EXISTS, NOT_FOUND, limit, scan},
    counters,
    error::CommandError,
    types::{
        Value,
        bloom::{Bloom, codec},
    },
};
use gowk::{AnyFilter, Persist};

/// `BF.SCANDUMP key iterator`
pub(crate) fn scandump(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let iterator = scan::iterator(args.get(2))?;
    let mut key = Key::open(ctx, args, 1, Mode::Read);
    let bloom = key.value::<Bloom>()?.ok_or(NOT_FOUND)?;
    if let Bloom::Compat(filter) = bloom {
        // As RedisBloom gives them, so that RedisBloom takes them.
        let chunk = filter.scan(i64::try_from(iterator).unwrap_or(i64::MAX));
        scan::reply(ctx, chunk.map(|chunk| (chunk.iterator.unsigned_abs(), chunk.bytes.into_owned())));
        return Ok(());
    }
    let chunk = match bloom {
        Bloom::Window(window, dump) => dump.scan(iterator, ctx.now(), || codec::file_image(&**window))?,
        _ => {
            let (header, body) = bloom.image();
            scan::chunk(iterator, &header, &body)
        }
    };
    scan::reply(ctx, chunk);
    Ok(())
}

/// `BF.LOADCHUNK key iterator chunk`
pub(crate) fn loadchunk(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let iterator = scan::iterator(args.get(2))?;
    let chunk = args.get(3).unwrap_or_default();
    let mut key = Key::open(ctx, args, 1, Mode::Write);
    let missing = key.value::<Bloom>()?.is_none();
    match (missing, iterator) {
        (true, 1) => {
            key.set(Bloom::begin(chunk).map_err(|_| CommandError::Refused("ERR received bad data"))?)?;
        }
        (true, _) => return Err(NOT_FOUND),
        (false, 1) => return Err(EXISTS),
        (false, _) => {
            let bloom = key.value::<Bloom>()?.ok_or(NOT_FOUND)?;
            crate::types::bloom::within(limit(ctx.flags()), bloom.memory() as u64 + chunk.len() as u64)?;
            bloom.take_chunk(iterator, chunk)?;
        }
    }
    counters::LOADED.add(1);
    ctx.replicate_verbatim();
    ctx.changed(args, 1, c"bf.loadchunk");
    ctx.reply_ok();
    Ok(())
}

/// `BF.DUMP key`
pub(crate) fn dump(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = Key::open(ctx, args, 1, Mode::Read);
    let bloom = key.value::<Bloom>()?.ok_or(NOT_FOUND)?;
    bloom.advance(ctx.now());
    let bytes = codec::to_file(bloom).map_err(|why| CommandError::Said(format!("ERR not dumped: {why}")))?;
    ctx.reply_bulk(&bytes);
    Ok(())
}

/// `BF.LOAD key bytes`
pub(crate) fn load(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = Key::open(ctx, args, 1, Mode::Write);
    if key.value::<Bloom>()?.is_some() {
        return Err(EXISTS);
    }
    let bytes = args.get(2).unwrap_or_default();
    crate::types::bloom::within(limit(ctx.flags()), bytes.len() as u64)?;
    let filter = AnyFilter::from_bytes(bytes)
        .map_err(|why| CommandError::Said(format!("ERR received bad data: {why}")))?;
    key.set(codec::adopt(filter))?;
    counters::CREATED.add(1);
    counters::LOADED.add(1);
    ctx.replicate_verbatim();
    ctx.changed(args, 1, c"bf.load");
    ctx.reply_ok();
    Ok(())
}
