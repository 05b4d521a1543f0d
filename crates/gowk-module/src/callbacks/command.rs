//! From the server's table of commands to ours.

use super::{Args, Ctx, ERR, OK, api, guarded};
use crate::{
    error::CommandError,
    table::{Command, Keys, TABLE},
};
use redis_module::raw;
use std::{
    ffi::{CStr, CString, c_int},
    ptr,
};

/// One function for the server, per command of the table: it has no other way to tell which one is meant.
trait Numbered {
    const NUMBER: usize;
}

struct Number<const N: usize>;

impl<const N: usize> Numbered for Number<N> {
    const NUMBER: usize = N;
}

extern "C" fn run<T: Numbered>(
    ctx: *mut raw::RedisModuleCtx,
    argv: *mut *mut raw::RedisModuleString,
    argc: c_int,
) -> c_int {
    // SAFETY: the server gives a live context and `argc` live strings, until this function returns.
    let (ctx, args) = unsafe { (Ctx::new(ctx), Args::new(argv, argc)) };
    let command = &TABLE[T::NUMBER];
    let outcome = guarded(
        command.name.to_str().unwrap_or("a command"),
        || match command.takes(args.len()) {
            true => (command.run)(&ctx, &args),
            false => Err(CommandError::Arity),
        },
        || Err(CommandError::Refused("ERR internal error, see the server's log")),
    );
    match outcome {
        Ok(()) => {}
        Err(CommandError::Arity) => ctx.reply_wrong_arity(),
        Err(error) => ctx.reply_error(&error.to_string()),
    }
    OK
}

macro_rules! functions {
    ($($n:literal)*) => { [$(run::<Number<$n>> as extern "C" fn(_, _, _) -> _),*] };
}

/// As many as the table has commands; the compiler counts along.
const FUNCTIONS: [extern "C" fn(*mut raw::RedisModuleCtx, *mut *mut raw::RedisModuleString, c_int) -> c_int;
    TABLE.len()] = functions!(
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47
);

/// Tells the server of all commands.
pub(crate) fn register(ctx: &Ctx<'_>) -> Result<(), CommandError> {
    for category in [c"bloom", c"cuckoo", c"cms", c"topk"] {
        // SAFETY: the function is there from 7.4 on, and takes a live context and a text.
        unsafe {
            if let Some(add) = raw::RedisModule_AddACLCategory {
                add(ctx.raw(), category.as_ptr());
            }
        }
    }
    for (command, function) in TABLE.iter().zip(FUNCTIONS) {
        create(ctx, command, function)?;
    }
    Ok(())
}

type Function = extern "C" fn(*mut raw::RedisModuleCtx, *mut *mut raw::RedisModuleString, c_int) -> c_int;

fn create(ctx: &Ctx<'_>, command: &Command, function: Function) -> Result<(), CommandError> {
    let (first, last, step) = match command.keys {
        Keys::First | Keys::Counted => (1, 1, 1),
        Keys::All => (1, -1, 1),
    };
    // SAFETY: names and flags are texts that live for ever, the function has the signature that the server asks for.
    unsafe {
        let status = api!(RedisModule_CreateCommand(
            ctx.raw(),
            command.name.as_ptr(),
            Some(function as unsafe extern "C" fn(_, _, _) -> _),
            command.flags.as_ptr(),
            first,
            last,
            step
        ));
        if status == ERR {
            let name = command.name.to_string_lossy();
            return Err(CommandError::Said(format!(
                "the command {name} is there already, of another module; unload that first"
            )));
        }
        let handle = api!(RedisModule_GetCommand(ctx.raw(), command.name.as_ptr()));
        if handle.is_null() {
            return Ok(());
        }
        describe(handle, command);
        if let Some(set) = raw::RedisModule_SetCommandACLCategories {
            // Where the categories of our own could not be added (before 7.4), those of the server stand alone.
            let own =
                CString::new(format!("{} {}", command.categories(), command.family())).unwrap_or_default();
            let plain = CString::new(command.categories()).unwrap_or_default();
            let add = raw::RedisModule_AddACLCategory;
            if add.is_none() || set(handle, own.as_ptr()) == ERR {
                set(handle, plain.as_ptr());
            }
        }
    }
    Ok(())
}

/// What `COMMAND DOCS` and `COMMAND GETKEYS` say.
///
/// # Safety
/// `handle` must be a command of this module.
unsafe fn describe(handle: *mut raw::RedisModuleCommand, command: &Command) {
    let version = raw::RedisModuleCommandInfoVersion {
        version: 1,
        sizeof_historyentry: size_of::<raw::RedisModuleCommandHistoryEntry>(),
        sizeof_keyspec: size_of::<raw::RedisModuleCommandKeySpec>(),
        sizeof_arg: size_of::<raw::RedisModuleCommandArg>(),
    };
    let write = command.flags.to_bytes().starts_with(b"write");
    let access = if write {
        raw::REDISMODULE_CMD_KEY_RW | raw::REDISMODULE_CMD_KEY_UPDATE
    } else {
        raw::REDISMODULE_CMD_KEY_RO | raw::REDISMODULE_CMD_KEY_ACCESS
    };
    let read = raw::REDISMODULE_CMD_KEY_RO | raw::REDISMODULE_CMD_KEY_ACCESS;
    // SAFETY: zero is a valid value of the remaining fields: a null pointer, "omitted", a zero index. The server copies all of it
    // during the call.
    unsafe {
        let spec = |flags: u32, position: c_int| {
            let mut spec: raw::RedisModuleCommandKeySpec = std::mem::zeroed();
            spec.flags = flags.into();
            spec.begin_search_type = raw::RedisModuleKeySpecBeginSearchType_REDISMODULE_KSPEC_BS_INDEX;
            spec.bs.index.pos = position;
            spec.find_keys_type = raw::RedisModuleKeySpecFindKeysType_REDISMODULE_KSPEC_FK_RANGE;
            spec.fk.range.keystep = 1;
            spec
        };
        let mut specs = vec![spec(access, 1)];
        match command.keys {
            Keys::First => {}
            Keys::All => {
                let mut sources = spec(read, 2);
                sources.fk.range.lastkey = -1;
                specs.push(sources);
            }
            Keys::Counted => {
                let mut sources = spec(read, 2);
                sources.find_keys_type = raw::RedisModuleKeySpecFindKeysType_REDISMODULE_KSPEC_FK_KEYNUM;
                sources.fk.keynum.keynumidx = 0;
                sources.fk.keynum.firstkey = 1;
                sources.fk.keynum.keystep = 1;
                specs.push(sources);
            }
        }
        specs.push(std::mem::zeroed());
        let info = raw::RedisModuleCommandInfo {
            version: &raw const version,
            summary: text(command.summary),
            complexity: text(command.complexity),
            since: text(c"1.0.0"),
            history: ptr::null_mut(),
            tips: ptr::null(),
            arity: command.arity,
            key_specs: specs.as_mut_ptr(),
            args: ptr::null_mut(),
        };
        // A server that does not know a field says so in its log; the command works without.
        api!(RedisModule_SetCommandInfo(handle, &raw const info));
    }
}

fn text(text: &'static CStr) -> *const std::ffi::c_char {
    text.as_ptr()
}
