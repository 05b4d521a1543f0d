//! Commands: parse, act, reply. One folder per family, one file per group.

pub(crate) mod bf;
pub(crate) mod cf;
pub(crate) mod cms;
mod scan;
pub(crate) mod topk;

use crate::{
    callbacks::Flags,
    config,
    error::CommandError,
    types::bloom::{Limit, NotAdded},
};
use gowk::ParamsError;

/// The texts that RedisBloom's clients know.
pub(crate) const NOT_FOUND: CommandError = CommandError::Refused("ERR not found");
pub(crate) const EXISTS: CommandError = CommandError::Refused("ERR item exists");

/// How large a value may get. What a master or a file has decided is not judged again.
fn limit(flags: Flags) -> Limit {
    let most = config::BF_MEMORY_LIMIT.get();
    (most > 0 && !flags.obeys()).then_some(most)
}

impl From<NotAdded> for CommandError {
    fn from(why: NotAdded) -> Self {
        match why {
            NotAdded::Full => Self::Refused("ERR non scaling filter is full"),
            NotAdded::Limit { bytes, most } => Self::Said(format!(
                "ERR the filter would take {bytes} bytes, more than the {most} of bf-memory-limit"
            )),
            NotAdded::Params(why) => why_not_created(&why),
        }
    }
}

fn why_not_created(why: &ParamsError) -> CommandError {
    match why {
        ParamsError::OutOfMemory { .. } => CommandError::Refused("ERR Insufficient memory to create filter"),
        other => CommandError::Said(format!("ERR could not create filter: {other}")),
    }
}
