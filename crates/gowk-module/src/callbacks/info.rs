//! The module's part of `INFO`.

use super::{Ctx, api, guarded};
use redis_module::raw;
use std::{
    ffi::{CStr, c_int},
    marker::PhantomData,
};

/// A section of `INFO` that is being written.
pub(crate) struct Section<'a>(*mut raw::RedisModuleInfoCtx, PhantomData<&'a ()>);

impl Section<'_> {
    pub(crate) fn field(&mut self, name: &CStr, value: u64) {
        // SAFETY: the context is live while the section is.
        unsafe { api!(RedisModule_InfoAddFieldULongLong(self.0, name.as_ptr(), value)) };
    }
}

extern "C" fn info(ctx: *mut raw::RedisModuleInfoCtx, _for_crash_report: c_int) {
    let write = || {
        // SAFETY: the server gives a live context.
        let begun = unsafe { api!(RedisModule_InfoAddSection(ctx, c"stats".as_ptr())) };
        // It is not begun if another section was asked for.
        if begun == super::OK {
            crate::counters::write(&mut Section(ctx, PhantomData));
        }
    };
    guarded("INFO", write, || ());
}

/// Tells the server that there is something to say.
pub(crate) fn register(ctx: &Ctx<'_>) {
    // SAFETY: the context is live, the function has the signature that the server asks for.
    unsafe { api!(RedisModule_RegisterInfoFunc(ctx.raw(), Some(info))) };
}
