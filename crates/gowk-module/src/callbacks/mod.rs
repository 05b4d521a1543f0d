//! All that talks to the server through raw pointers: the only `unsafe` of the module.
//!
//! The rest sees a [`Ctx`] to reply by, [`Args`] to read, a [`Key`] to open and values that implement
//! [`Value`](crate::types::Value). Every function that the server calls goes through [`guarded`]: a panic is logged and
//! becomes an error reply, it never crosses into the server.

mod alloc;
mod args;
mod command;
mod config;
mod context;
mod info;
mod key;
mod persist;
mod value;

pub(crate) use args::Args;
pub(crate) use command::register as register_command;
pub(crate) use config::register as register_config;
pub(crate) use context::{Ctx, Flags};
pub(crate) use info::{Section, register as register_info};
pub(crate) use key::{Key, Mode};
pub(crate) use persist::{AofOut, Digest, RdbIn, RdbOut};
pub(crate) use value::{Handle, register as register_type};

use redis_module::raw;
use std::{
    ffi::{CStr, CString, c_char, c_int},
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
};

/// Calls a function of the server that every supported version has.
macro_rules! api {
    ($name:ident($($arg:expr),* $(,)?)) => {
        raw::$name.expect(concat!(stringify!($name), " is in every server from 7.0 on"))($($arg),*)
    };
}
use api;

/// Runs what the server asks for. A panic is logged and answered by what `otherwise` gives.
fn guarded<T>(what: &str, run: impl FnOnce() -> T, otherwise: impl FnOnce() -> T) -> T {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(done) => done,
        Err(panic) => {
            let said = panic
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_default();
            log("warning", &format!("{what} failed inside gowk, please report it: {said}"));
            otherwise()
        }
    }
}

/// Writes a line into the server's log.
pub(crate) fn log(level: &str, message: &str) {
    let (Ok(level), Ok(message)) = (CString::new(level), CString::new(message)) else { return };
    // SAFETY: the format takes one string, which is given; a missing context is allowed.
    unsafe {
        if let Some(log) = raw::RedisModule_Log {
            log(ptr::null_mut(), level.as_ptr(), c"%s".as_ptr(), message.as_ptr());
        }
    }
}

/// The bytes of a string that the server owns.
///
/// # Safety
/// `string` must be a live string of the server, and stay so for `'a`.
#[inline(always)]
unsafe fn bytes_of<'a>(string: *const raw::RedisModuleString) -> &'a [u8] {
    let mut len = 0;
    // SAFETY: the caller vouches for the string; the server gives a pointer to `len` bytes that live as long as it.
    unsafe {
        let start = api!(RedisModule_StringPtrLen(string, &raw mut len));
        std::slice::from_raw_parts(start.cast(), len)
    }
}

const OK: c_int = raw::REDISMODULE_OK as c_int;
const ERR: c_int = raw::REDISMODULE_ERR as c_int;

/// The module's door, called by the server once when it loads the file.
#[unsafe(no_mangle)]
extern "C" fn RedisModule_OnLoad(
    ctx: *mut raw::RedisModuleCtx,
    argv: *mut *mut raw::RedisModuleString,
    argc: c_int,
) -> c_int {
    let name: &CStr = crate::NAME;
    // SAFETY: the server hands its own context; `Init` fills in the functions before anything else is called.
    let status = unsafe {
        raw::Export_RedisModule_Init(ctx, name.as_ptr().cast::<c_char>(), crate::REPORTED_VERSION, 1)
    };
    if status != OK {
        return ERR;
    }
    guarded(
        "loading",
        || {
            // SAFETY: the server gives `argc` strings, which live until this function returns.
            let (ctx, args) = unsafe { (Ctx::new(ctx), Args::new(argv, argc)) };
            // Errors of input and output are told to us instead of ending the server; and only what changes is signalled.
            let options = raw::REDISMODULE_OPTIONS_HANDLE_IO_ERRORS
                | raw::REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED;
            // SAFETY: a plain call with the context of this load.
            unsafe { api!(RedisModule_SetModuleOptions(ctx.raw(), options as c_int)) };
            match crate::load(&ctx, &args) {
                Ok(()) => OK,
                Err(why) => {
                    log("warning", &format!("gowk is not loaded: {why}"));
                    ERR
                }
            }
        },
        || ERR,
    )
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn a_panic_is_answered_and_goes_no_further() {
        assert_eq!(guarded("a test", || 1, || 2), 1);
        assert_eq!(guarded("a test", || panic!("of text"), || 2), 2);
        assert_eq!(guarded("a test", || panic!("of {} words", 3), || 2), 2);
        assert_eq!(guarded("a test", || [1][usize::from("word".len() > 1)], || 2), 2);
    }
}
