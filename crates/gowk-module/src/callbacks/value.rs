//! The methods that the server calls on a value.

use super::{AofOut, Ctx, Digest, RdbIn, RdbOut, api, guarded, log, persist::Io};
use crate::{error::CommandError, types::Value};
use redis_module::raw;
use std::{
    ffi::{c_int, c_void},
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

/// The type as the server knows it, once it is registered.
pub(crate) struct Handle(AtomicPtr<raw::RedisModuleType>);

impl Handle {
    pub(crate) const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    #[inline(always)]
    pub(super) fn get(&self) -> *mut raw::RedisModuleType {
        self.0.load(Ordering::Relaxed)
    }
}

/// Tells the server of a type.
pub(crate) fn register<T: Value>(ctx: &Ctx<'_>) -> Result<(), CommandError> {
    // SAFETY: zero is a null pointer for every method that is not named.
    let mut methods: raw::RedisModuleTypeMethods = unsafe { std::mem::zeroed() };
    // The newest that all servers from 7.0 on know.
    methods.version = 4;
    methods.rdb_load = Some(rdb_load::<T>);
    methods.rdb_save = Some(rdb_save::<T>);
    methods.aof_rewrite = Some(aof_rewrite::<T>);
    methods.free = Some(free::<T>);
    methods.mem_usage = Some(mem_usage::<T>);
    methods.digest = Some(digest::<T>);
    methods.free_effort = Some(free_effort::<T>);
    methods.copy = Some(copy::<T>);
    methods.defrag = Some(defrag::<T>);
    // SAFETY: the name ends in a zero byte, and the server copies the methods.
    let handle = unsafe {
        api!(RedisModule_CreateDataType(ctx.raw(), T::NAME.as_ptr(), T::ENCODING, &raw mut methods))
    };
    if handle.is_null() {
        let name = T::NAME.to_string_lossy();
        return Err(CommandError::Said(format!("the type {name} is there already, of another module")));
    }
    T::handle().0.store(handle, Ordering::Relaxed);
    Ok(())
}

// SAFETY of all that follows: the server calls them with values that `rdb_load`, `copy` or `Key::set` gave it, which are boxes of
// the type that they are registered for, and with live handles of its own.

extern "C" fn rdb_load<T: Value>(io: *mut raw::RedisModuleIO, encoding: c_int) -> *mut c_void {
    let load = || {
        // SAFETY: as above.
        let mut input = unsafe { RdbIn::new(Io::new(io)) };
        match T::load(&mut input, encoding) {
            Ok(value) => Box::into_raw(Box::new(value)).cast(),
            Err(why) => {
                // SAFETY: as above.
                let key = String::from_utf8_lossy(unsafe { Ctx::key_name(io) });
                log("warning", &format!("the value of key '{key}' is refused: {why}"));
                ptr::null_mut()
            }
        }
    };
    guarded("loading a value", load, ptr::null_mut)
}

extern "C" fn rdb_save<T: Value>(io: *mut raw::RedisModuleIO, value: *mut c_void) {
    // SAFETY: as above.
    let (value, mut output) = unsafe { (&*value.cast::<T>(), RdbOut::new(Io::new(io))) };
    guarded("saving a value", || value.save(&mut output), || ());
}

extern "C" fn aof_rewrite<T: Value>(
    io: *mut raw::RedisModuleIO,
    key: *mut raw::RedisModuleString,
    value: *mut c_void,
) {
    // SAFETY: as above.
    let (value, mut output) = unsafe { (&*value.cast::<T>(), AofOut::new(Io::new(io), key)) };
    guarded("rewriting a value", || value.rewrite(&mut output), || ());
}

extern "C" fn free<T: Value>(value: *mut c_void) {
    // SAFETY: as above; the server forgets the value.
    guarded("freeing a value", || drop(unsafe { Box::from_raw(value.cast::<T>()) }), || ());
}

extern "C" fn mem_usage<T: Value>(value: *const c_void) -> usize {
    // SAFETY: as above.
    let value = unsafe { &*value.cast::<T>() };
    guarded("measuring a value", || size_of::<T>() + value.memory(), || 0)
}

extern "C" fn digest<T: Value>(digest: *mut raw::RedisModuleDigest, value: *mut c_void) {
    // SAFETY: as above.
    let (value, mut digest) = unsafe { (&*value.cast::<T>(), Digest::new(digest)) };
    guarded("digesting a value", || value.digest(&mut digest), || ());
}

/// The server frees in the background what takes more than 64 steps; memory is given back by the page.
extern "C" fn free_effort<T: Value>(_: *mut raw::RedisModuleString, value: *const c_void) -> usize {
    const STEP: usize = 16 << 10;
    // SAFETY: as above.
    let value = unsafe { &*value.cast::<T>() };
    guarded("measuring a value", || value.memory() / STEP + 1, || 1)
}

extern "C" fn copy<T: Value>(
    _: *mut raw::RedisModuleString,
    _: *mut raw::RedisModuleString,
    value: *const c_void,
) -> *mut c_void {
    // SAFETY: as above.
    let value = unsafe { &*value.cast::<T>() };
    let copy = || match value.copy() {
        Ok(copy) => Box::into_raw(Box::new(copy)).cast(),
        Err(why) => {
            log("warning", &format!("a value is not copied: {why}"));
            ptr::null_mut()
        }
    };
    guarded("copying a value", copy, ptr::null_mut)
}

/// Moves the value itself. Its bits are large allocations, which lie on pages of their own and do not scatter.
extern "C" fn defrag<T: Value>(
    ctx: *mut raw::RedisModuleDefragCtx,
    _: *mut raw::RedisModuleString,
    value: *mut *mut c_void,
) -> c_int {
    // SAFETY: a value is a plain allocation of the server's allocator. The server copies its bytes and frees the old place; a Rust
    // value may be moved so.
    unsafe {
        if let Some(defrag) = raw::RedisModule_DefragAlloc {
            let moved = defrag(ctx, *value);
            if !moved.is_null() {
                *value = moved;
            }
        }
    }
    0
}
