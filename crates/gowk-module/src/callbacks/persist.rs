//! Snapshots, append-only files and digests, as the server reads and writes them.

use super::api;
use crate::error::LoadError;
use redis_module::raw;
use std::{
    ffi::{CStr, c_char, c_longlong},
    marker::PhantomData,
};

/// The stream of a snapshot or an append-only file.
#[derive(Clone, Copy)]
pub(super) struct Io<'a>(*mut raw::RedisModuleIO, PhantomData<&'a ()>);

impl Io<'_> {
    /// # Safety
    /// `io` must be live for as long as the result is used.
    pub(super) unsafe fn new(io: *mut raw::RedisModuleIO) -> Self {
        Self(io, PhantomData)
    }
}

/// A snapshot that is read. Nothing in it is believed.
pub(crate) struct RdbIn<'a>(Io<'a>);

impl<'a> RdbIn<'a> {
    /// # Safety
    /// The stream must be one that is read.
    pub(super) unsafe fn new(io: Io<'a>) -> Self {
        Self(io)
    }

    fn checked<T>(&self, value: T) -> Result<T, LoadError> {
        // SAFETY: the stream is live.
        match unsafe { api!(RedisModule_IsIOError(self.0.0)) } {
            0 => Ok(value),
            _ => Err(LoadError::Cut),
        }
    }

    pub(crate) fn u64(&mut self) -> Result<u64, LoadError> {
        // SAFETY: the stream is live and read.
        self.checked(unsafe { api!(RedisModule_LoadUnsigned(self.0.0)) })
    }

    pub(crate) fn f64(&mut self) -> Result<f64, LoadError> {
        // SAFETY: as above.
        self.checked(unsafe { api!(RedisModule_LoadDouble(self.0.0)) })
    }

    pub(crate) fn bytes(&mut self) -> Result<Vec<u8>, LoadError> {
        let mut len = 0;
        // SAFETY: as above. The server gives a buffer of `len` bytes of its own allocator, to be given back once.
        unsafe {
            let buffer = api!(RedisModule_LoadStringBuffer(self.0.0, &raw mut len));
            if buffer.is_null() {
                return Err(LoadError::Cut);
            }
            let bytes = std::slice::from_raw_parts(buffer.cast::<u8>(), len);
            let mut copy = Vec::new();
            let fits = copy.try_reserve_exact(len).is_ok();
            if fits {
                copy.extend_from_slice(bytes);
            }
            api!(RedisModule_Free(buffer.cast()));
            if fits { self.checked(copy) } else { Err(LoadError::Memory { bytes: len as u64 }) }
        }
    }
}

/// A snapshot that is written.
pub(crate) struct RdbOut<'a>(Io<'a>);

impl<'a> RdbOut<'a> {
    /// # Safety
    /// The stream must be one that is written.
    pub(super) unsafe fn new(io: Io<'a>) -> Self {
        Self(io)
    }

    pub(crate) fn u64(&mut self, value: u64) {
        // SAFETY: the stream is live and written.
        unsafe { api!(RedisModule_SaveUnsigned(self.0.0, value)) };
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        // SAFETY: as above; the buffer has the length that is said.
        unsafe { api!(RedisModule_SaveStringBuffer(self.0.0, bytes.as_ptr().cast(), bytes.len())) };
    }
}

/// An append-only file that is rewritten: the commands that make one key anew.
pub(crate) struct AofOut<'a> {
    io: Io<'a>,
    key: *mut raw::RedisModuleString,
}

impl<'a> AofOut<'a> {
    /// # Safety
    /// The stream must be that of a rewrite, and `key` a live string.
    pub(super) unsafe fn new(io: Io<'a>, key: *mut raw::RedisModuleString) -> Self {
        Self { io, key }
    }

    /// `command key number data`.
    pub(crate) fn chunk(&mut self, command: &CStr, number: u64, data: &[u8]) {
        // SAFETY: the stream and the key are live; the format names a string, a number and a buffer with its length.
        unsafe {
            api!(RedisModule_EmitAOF(
                self.io.0,
                command.as_ptr(),
                c"slb".as_ptr(),
                self.key,
                number as c_longlong,
                data.as_ptr().cast::<c_char>(),
                data.len()
            ));
        }
    }
}

/// A digest of values, by which `DEBUG DIGEST` compares servers.
pub(crate) struct Digest<'a>(*mut raw::RedisModuleDigest, PhantomData<&'a ()>);

impl Digest<'_> {
    /// # Safety
    /// `digest` must be live for as long as the result is used.
    pub(super) unsafe fn new(digest: *mut raw::RedisModuleDigest) -> Self {
        Self(digest, PhantomData)
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        // SAFETY: the digest is live, the buffer has the length that is said.
        unsafe { api!(RedisModule_DigestAddStringBuffer(self.0, bytes.as_ptr().cast(), bytes.len())) };
    }

    /// All so far belong together, in this order.
    pub(crate) fn end(&mut self) {
        // SAFETY: the digest is live.
        unsafe { api!(RedisModule_DigestEndSequence(self.0)) };
    }
}
