//! `CF.INFO` and `CF.DEBUG`.

use super::Value;
use crate::{
    callbacks::{Args, Ctx, Key, Mode},
    commands::NOT_FOUND,
    error::CommandError,
    types::Value as _,
};

/// `CF.INFO key`
pub(crate) fn info(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = Key::open(ctx, args, 1, Mode::Read);
    let value = key.value::<Value>()?.ok_or(NOT_FOUND)?;
    let size = (size_of::<Value>() + value.memory()) as u64;
    let cuckoo = value.get()?;
    let fields = [
        ("Size", size),
        ("Number of buckets", cuckoo.buckets()),
        ("Number of filters", cuckoo.tables()),
        ("Number of items inserted", cuckoo.len()),
        ("Number of items deleted", cuckoo.deletes()),
        ("Bucket size", cuckoo.spec.bucket_size.into()),
        ("Expansion rate", cuckoo.spec.expansion.into()),
        ("Max iterations", cuckoo.spec.max_iterations.into()),
    ];
    ctx.reply_map(fields.len());
    for (name, value) in fields {
        ctx.reply_simple_text(name);
        ctx.reply_integer(value as i64);
    }
    Ok(())
}

/// `CF.DEBUG key`
pub(crate) fn debug(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = Key::open(ctx, args, 1, Mode::Read);
    let cuckoo = key.value::<Value>()?.ok_or(NOT_FOUND)?.get()?;
    let line = format!(
        "bktsize:{} buckets:{} items:{} deletes:{} filters:{} max_iterations:{} expansion:{}",
        cuckoo.spec.bucket_size,
        cuckoo.buckets(),
        cuckoo.len(),
        cuckoo.deletes(),
        cuckoo.tables(),
        cuckoo.spec.max_iterations,
        cuckoo.spec.expansion
    );
    ctx.reply_simple_text(&line);
    Ok(())
}
