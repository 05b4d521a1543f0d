//! `CONFIG GET` and `CONFIG SET` for the settings of the module.

use super::{Ctx, ERR, OK, api, bytes_of, guarded};
use crate::{
    config::{Setting, settings},
    error::CommandError,
};
use redis_module::raw;
use std::{
    ffi::{CString, c_int, c_longlong, c_void},
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

/// Tells the server of all settings, under RedisBloom's names where it takes names without a prefix.
pub(crate) fn register(ctx: &Ctx<'_>) -> Result<(), CommandError> {
    let mut unprefixed = true;
    for setting in settings() {
        if unprefixed && create(ctx, setting, raw::REDISMODULE_CONFIG_UNPREFIXED) == ERR {
            // Redis before 8 and Valkey before 9 know only `module.name`.
            unprefixed = false;
        }
        if !unprefixed && create(ctx, setting, 0) == ERR {
            let name = setting.name.to_string_lossy();
            return Err(CommandError::Said(format!(
                "the setting {name} is there already, of another module"
            )));
        }
    }
    // SAFETY: the context is live; this applies what the configuration file said.
    match unsafe { api!(RedisModule_LoadConfigs(ctx.raw())) } {
        OK => Ok(()),
        _ => Err(CommandError::Refused("a setting has a value that is not allowed, see above")),
    }
}

fn create(ctx: &Ctx<'_>, setting: &'static Setting, flags: u32) -> c_int {
    let itself = ptr::from_ref(setting).cast::<c_void>().cast_mut();
    // SAFETY: texts end in zero bytes and are copied, the setting lives for ever, the functions have the signatures asked for.
    unsafe {
        if let Some((least, most)) = setting.range {
            let memory = if setting.memory { raw::REDISMODULE_CONFIG_MEMORY } else { 0 };
            api!(RedisModule_RegisterNumericConfig(
                ctx.raw(),
                setting.name.as_ptr(),
                setting.get_integer(),
                (flags | memory) as std::ffi::c_uint,
                least,
                most,
                Some(get_number),
                Some(set_number),
                None,
                itself
            ))
        } else {
            let value = CString::new(setting.get_text()).unwrap_or_default();
            api!(RedisModule_RegisterStringConfig(
                ctx.raw(),
                setting.name.as_ptr(),
                value.as_ptr(),
                flags as std::ffi::c_uint,
                Some(get_string),
                Some(set_string),
                None,
                itself
            ))
        }
    }
}

// SAFETY of all that follows: the server hands back the setting that `create` gave it, and live strings.

extern "C" fn get_number(_: *const std::ffi::c_char, setting: *mut c_void) -> c_longlong {
    // SAFETY: as above.
    unsafe { &*setting.cast::<Setting>() }.get_integer()
}

extern "C" fn set_number(
    _: *const std::ffi::c_char,
    value: c_longlong,
    setting: *mut c_void,
    error: *mut *mut raw::RedisModuleString,
) -> c_int {
    // SAFETY: as above.
    let setting = unsafe { &*setting.cast::<Setting>() };
    told(error, || setting.set_integer(value))
}

/// The server copies the texts that it gets and leaves them to us; so each is kept until the next one.
static LAST: AtomicPtr<raw::RedisModuleString> = AtomicPtr::new(ptr::null_mut());

extern "C" fn get_string(_: *const std::ffi::c_char, setting: *mut c_void) -> *mut raw::RedisModuleString {
    // SAFETY: as above.
    let setting = unsafe { &*setting.cast::<Setting>() };
    let answer = text(&setting.get_text());
    let last = LAST.swap(answer, Ordering::Relaxed);
    if !last.is_null() {
        // SAFETY: it was made by `text`, and is nobody's any more.
        unsafe { api!(RedisModule_FreeString(ptr::null_mut(), last)) };
    }
    answer
}

extern "C" fn set_string(
    _: *const std::ffi::c_char,
    value: *mut raw::RedisModuleString,
    setting: *mut c_void,
    error: *mut *mut raw::RedisModuleString,
) -> c_int {
    // SAFETY: as above.
    let (setting, value) = unsafe { (&*setting.cast::<Setting>(), bytes_of(value)) };
    told(error, || setting.set_text(value))
}

/// The outcome as the server wants it: a status, and the reason as a string that it frees.
fn told(error: *mut *mut raw::RedisModuleString, set: impl FnOnce() -> Result<(), CommandError>) -> c_int {
    match guarded("a setting", set, || Err(CommandError::Refused("internal error"))) {
        Ok(()) => OK,
        Err(why) => {
            // SAFETY: the server gives a place for the reason.
            unsafe { error.write(text(&why.to_string())) };
            ERR
        }
    }
}

/// A string of the server's.
fn text(text: &str) -> *mut raw::RedisModuleString {
    // SAFETY: the buffer has the length that is said; without a context the string is nobody's but the caller's.
    unsafe { api!(RedisModule_CreateString(ptr::null_mut(), text.as_ptr().cast(), text.len())) }
}
