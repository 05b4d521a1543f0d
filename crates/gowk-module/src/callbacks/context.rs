//! Where a command came from, and the way back: replies, replication, notifications.

use super::{Args, api, bytes_of};
use redis_module::raw;
use std::{
    ffi::{CStr, CString, c_char, c_int, c_long},
    marker::PhantomData,
};

/// The call that is being served.
pub(crate) struct Ctx<'a>(*mut raw::RedisModuleCtx, PhantomData<&'a ()>);

/// What is true of the call.
#[derive(Clone, Copy)]
pub(crate) struct Flags(c_int);

impl Flags {
    /// Whether the client speaks RESP3.
    pub(crate) fn resp3(self) -> bool {
        self.has(raw::REDISMODULE_CTX_FLAGS_RESP3)
    }

    /// Whether the command comes from a master or an append-only file: it has been decided on, and must be obeyed.
    pub(crate) fn obeys(self) -> bool {
        self.has(raw::REDISMODULE_CTX_FLAGS_REPLICATED) || self.has(raw::REDISMODULE_CTX_FLAGS_LOADING)
    }

    fn has(self, flag: u32) -> bool {
        self.0 & flag as c_int != 0
    }
}

impl Ctx<'_> {
    /// # Safety
    /// `ctx` must be live for as long as the result is used.
    pub(super) unsafe fn new(ctx: *mut raw::RedisModuleCtx) -> Self {
        Self(ctx, PhantomData)
    }

    pub(super) fn raw(&self) -> *mut raw::RedisModuleCtx {
        self.0
    }

    /// What is true of the call.
    pub(crate) fn flags(&self) -> Flags {
        // SAFETY: the context is live.
        Flags(unsafe { api!(RedisModule_GetContextFlags(self.0)) })
    }

    /// The time in milliseconds since 1970.
    #[expect(clippy::unused_self, reason = "the time is the server's, so it is asked for by its context")]
    pub(crate) fn now(&self) -> u64 {
        // SAFETY: a call without arguments.
        unsafe { api!(RedisModule_Milliseconds()) }.unsigned_abs()
    }

    // Replies. SAFETY of all: the context is live, texts end in a zero byte, buffers have the length that is said; what the calls
    // return is only ever OK.

    #[inline(always)]
    pub(crate) fn reply_integer(&self, n: i64) {
        // SAFETY: as above.
        unsafe { api!(RedisModule_ReplyWithLongLong(self.0, n)) };
    }

    /// A boolean in RESP3, 0 or 1 in RESP2.
    #[inline(always)]
    pub(crate) fn reply_bool(&self, yes: bool) {
        // SAFETY: as above.
        unsafe { api!(RedisModule_ReplyWithBool(self.0, c_int::from(yes))) };
    }

    pub(crate) fn reply_double(&self, n: f64) {
        // SAFETY: as above.
        unsafe { api!(RedisModule_ReplyWithDouble(self.0, n)) };
    }

    pub(crate) fn reply_null(&self) {
        // SAFETY: as above.
        unsafe { api!(RedisModule_ReplyWithNull(self.0)) };
    }

    pub(crate) fn reply_bulk(&self, bytes: &[u8]) {
        // SAFETY: as above.
        unsafe { api!(RedisModule_ReplyWithStringBuffer(self.0, bytes.as_ptr().cast(), bytes.len())) };
    }

    pub(crate) fn reply_simple(&self, text: &CStr) {
        // SAFETY: as above.
        unsafe { api!(RedisModule_ReplyWithSimpleString(self.0, text.as_ptr())) };
    }

    /// A status, of a text without line breaks and zero bytes.
    pub(crate) fn reply_simple_text(&self, text: &str) {
        self.reply_simple(&CString::new(text).unwrap_or_default());
    }

    pub(crate) fn reply_ok(&self) {
        self.reply_simple(c"OK");
    }

    pub(crate) fn reply_error(&self, text: &str) {
        let text = CString::new(text).unwrap_or_else(|_| c"ERR".to_owned());
        // SAFETY: as above.
        unsafe { api!(RedisModule_ReplyWithError(self.0, text.as_ptr())) };
    }

    pub(super) fn reply_wrong_arity(&self) {
        // SAFETY: as above.
        unsafe { api!(RedisModule_WrongArity(self.0)) };
    }

    #[inline(always)]
    pub(crate) fn reply_array(&self, len: usize) {
        // SAFETY: as above.
        unsafe { api!(RedisModule_ReplyWithArray(self.0, len as c_long)) };
    }

    /// A map in RESP3, a flat array of twice the length in RESP2.
    pub(crate) fn reply_map(&self, len: usize) {
        // SAFETY: as above.
        unsafe { api!(RedisModule_ReplyWithMap(self.0, len as c_long)) };
    }

    // What others are told.

    /// Hands the command on to replicas and the append-only file as it came.
    pub(crate) fn replicate_verbatim(&self) {
        // SAFETY: the context is live.
        unsafe { api!(RedisModule_ReplicateVerbatim(self.0)) };
    }

    /// Hands another command on to replicas and the append-only file.
    pub(crate) fn replicate(&self, command: &CStr, words: &[&[u8]]) {
        // SAFETY: the context is live; the strings are made from buffers of their length and freed after the call, which copies them.
        unsafe {
            let make = |word: &&[u8]| {
                api!(RedisModule_CreateString(self.0, word.as_ptr().cast::<c_char>(), word.len()))
            };
            let mut strings: Vec<_> = words.iter().map(make).collect();
            api!(RedisModule_Replicate(
                self.0,
                command.as_ptr(),
                c"v".as_ptr(),
                strings.as_mut_ptr(),
                strings.len()
            ));
            for string in strings {
                api!(RedisModule_FreeString(self.0, string));
            }
        }
    }

    /// Tells those who watch that the key, word number `at`, has changed, and which event that was.
    pub(crate) fn changed(&self, args: &Args<'_>, at: usize, event: &CStr) {
        let key = args.string(at);
        // SAFETY: the context and the string are live.
        unsafe {
            api!(RedisModule_SignalModifiedKey(self.0, key));
            let class = raw::REDISMODULE_NOTIFY_MODULE as c_int;
            api!(RedisModule_NotifyKeyspaceEvent(self.0, class, event.as_ptr(), key));
        }
    }

    /// The name of the user's key that a value is loaded for or saved under, where the server knows it.
    pub(super) unsafe fn key_name<'io>(io: *mut raw::RedisModuleIO) -> &'io [u8] {
        // SAFETY: the caller has a live `io`; its key lives as long.
        unsafe {
            let name = api!(RedisModule_GetKeyNameFromIO(io));
            if name.is_null() { b"" } else { bytes_of(name) }
        }
    }
}
