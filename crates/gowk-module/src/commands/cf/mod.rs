//! `CF.*`: cuckoo filters.

mod add;
mod info;
mod options;
mod read;

pub(crate) use add::{add, addnx, compact, del, insert, insertnx, reserve};
pub(crate) use info::{debug, info};
pub(crate) use read::{count, exists, mexists};

use super::scan;
use crate::{
    callbacks::{Args, Ctx},
    error::CommandError,
    types::{cuckoo::Cuckoo, loaded::Loaded},
};

/// What a key of ours holds.
type Value = Loaded<Cuckoo>;

/// `CF.SCANDUMP key iterator`
pub(crate) fn scandump(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    scan::dump::<Cuckoo>(ctx, args)
}

/// `CF.LOADCHUNK key iterator chunk`
pub(crate) fn loadchunk(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    scan::load::<Cuckoo>(ctx, args)
}
