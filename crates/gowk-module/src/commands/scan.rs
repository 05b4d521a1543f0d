//! `SCANDUMP` and its iterators: 0 asks for the header, k for what follows the first k - 1 bytes of the body.

use super::{EXISTS, NOT_FOUND, limit};
use crate::{
    callbacks::{Args, Ctx, Key, Mode},
    counters,
    error::CommandError,
    types::{
        Value,
        bloom::within,
        image::{Body, DUMP_CHUNK},
        loaded::{Imaged, Loaded},
    },
    words,
};

/// The iterator of `SCANDUMP` or `LOADCHUNK`.
pub(super) fn iterator(word: Option<&[u8]>) -> Result<u64, CommandError> {
    const BAD: CommandError = CommandError::Refused("ERR Second argument must be numeric");
    let number = words::integer(word.unwrap_or_default()).ok_or(BAD)?;
    u64::try_from(number).map_err(|_| BAD)
}

/// The chunk that an iterator asks for, with the iterator of the next; none at the end.
pub(super) fn chunk(iterator: u64, header: &[u8], body: &Body<'_>) -> Option<(u64, Vec<u8>)> {
    let Some(offset) = iterator.checked_sub(1) else { return Some((1, header.to_vec())) };
    let chunk = body.read(offset, DUMP_CHUNK);
    (!chunk.is_empty()).then(|| (iterator + chunk.len() as u64, chunk))
}

/// The reply: an iterator and a chunk.
pub(super) fn reply(ctx: &Ctx<'_>, chunk: Option<(u64, Vec<u8>)>) {
    let (next, bytes) = chunk.unwrap_or_default();
    ctx.reply_array(2);
    ctx.reply_integer(next as i64);
    ctx.reply_bulk(&bytes);
}

/// `SCANDUMP key iterator` of a value that is dumped from a snapshot. The end is nil, as clients of RedisBloom's cuckoo filters know it.
pub(super) fn dump<T: Imaged>(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let iterator = iterator(args.get(2))?;
    let mut key = Key::open(ctx, args, 1, Mode::Read);
    let value = key.value::<Loaded<T>>()?.ok_or(NOT_FOUND)?;
    match value.scan(iterator, ctx.now())? {
        Some(chunk) => reply(ctx, Some(chunk)),
        None => {
            ctx.reply_array(2);
            ctx.reply_integer(0);
            ctx.reply_null();
        }
    }
    Ok(())
}

/// `LOADCHUNK key iterator chunk` of such a value.
pub(super) fn load<T: Imaged>(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let iterator = iterator(args.get(2))?;
    let chunk = args.get(3).unwrap_or_default();
    let mut key = Key::open(ctx, args, 1, Mode::Write);
    match (key.value::<Loaded<T>>()?, iterator) {
        (None, 1) => {
            let begun = Loaded::<T>::begun(chunk).map_err(|_| CommandError::Refused("Invalid header"))?;
            key.set(begun)?;
        }
        (None, _) => return Err(NOT_FOUND),
        (Some(_), 1) => return Err(EXISTS),
        (Some(value), _) => {
            within(limit(ctx.flags()), value.memory() as u64 + chunk.len() as u64)?;
            value
                .take_chunk(iterator, chunk)
                .map_err(|why| CommandError::Said(format!("Couldn't load chunk! {why}")))?;
        }
    }
    counters::LOADED.add(1);
    ctx.replicate_verbatim();
    ctx.changed(args, 1, T::LOADED);
    ctx.reply_ok();
    Ok(())
}
