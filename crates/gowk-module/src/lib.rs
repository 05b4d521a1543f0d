//! gowk inside Redis and Valkey: the commands of RedisBloom over gowk's filters.
//!
//! A command is parsed (`words`, pure), acts on a value (`types/`, pure) and replies (`callbacks/`, where all `unsafe` is).
//! `table.rs` reads like the manual. See `docs/redis.md` for what a user sees.

#![deny(unsafe_code)]

#[allow(unsafe_code, reason = "the server's functions and the functions it calls; the only door")]
mod callbacks;
mod commands;
mod config;
mod counters;
mod error;
mod table;
mod types;
mod words;

use callbacks::{Args, Ctx};
use error::CommandError;
use std::ffi::{CStr, c_int};
use types::loaded::Loaded;

/// The name under which clients look for the module.
const NAME: &CStr = c"bf";

/// The version of RedisBloom whose commands are answered, as clients compare it: 8.2.0. Our own is in `INFO`.
const REPORTED_VERSION: c_int = 80_200;

/// Called once, when the server loads the file.
fn load(ctx: &Ctx<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    // The server's allocator pads what it aligns, and counts the padding as memory that is used.
    gowk::store::align_to_lines_only();
    config::from_arguments(args)?;
    callbacks::register_type::<types::bloom::Bloom>(ctx)?;
    callbacks::register_type::<Loaded<types::cuckoo::Cuckoo>>(ctx)?;
    callbacks::register_type::<Loaded<types::cms::Cms>>(ctx)?;
    callbacks::register_type::<Loaded<types::topk::TopK>>(ctx)?;
    callbacks::register_command(ctx)?;
    callbacks::register_info(ctx);
    callbacks::register_config(ctx)
}
