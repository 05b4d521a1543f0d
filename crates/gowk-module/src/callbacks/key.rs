//! A key of the database, and the value that it holds.

use super::{Args, Ctx, ERR, api};
use crate::{error::CommandError, types::Value};
use redis_module::raw;
use std::{ffi::c_int, marker::PhantomData};

/// A key that is open for as long as this lives.
pub(crate) struct Key<'a>(*mut raw::RedisModuleKey, PhantomData<&'a ()>);

/// What it is opened for.
#[derive(Clone, Copy)]
pub(crate) enum Mode {
    Read,
    Write,
}

impl<'a> Key<'a> {
    /// Opens the key that is word number `at` of the command.
    ///
    /// A key must not be open twice for writing: a command that names several opens one at a time.
    #[inline]
    pub(crate) fn open(ctx: &Ctx<'a>, args: &Args<'a>, at: usize, mode: Mode) -> Self {
        let mode = match mode {
            Mode::Read => raw::REDISMODULE_READ,
            Mode::Write => raw::REDISMODULE_READ | raw::REDISMODULE_WRITE,
        };
        // SAFETY: context and name are live. A key that is missing and open for reading is a null pointer.
        Self(unsafe { api!(RedisModule_OpenKey(ctx.raw(), args.string(at), mode as c_int)) }, PhantomData)
    }

    /// The value: none if there is no such key, an error if it is of another type.
    #[inline]
    pub(crate) fn value<T: Value>(&mut self) -> Result<Option<&mut T>, CommandError> {
        if self.0.is_null() {
            return Ok(None);
        }
        // SAFETY: the key is open. A key of our type holds what `set` or the loader put there: a `Box<T>` given away. Nobody else
        // has it: commands run one at a time, and the borrow of the key keeps this one from taking it twice.
        unsafe {
            if api!(RedisModule_KeyType(self.0)) == raw::REDISMODULE_KEYTYPE_EMPTY as c_int {
                return Ok(None);
            }
            if api!(RedisModule_ModuleTypeGetType(self.0)) != T::handle().get() {
                return Err(CommandError::WrongType);
            }
            Ok(api!(RedisModule_ModuleTypeGetValue(self.0)).cast::<T>().as_mut())
        }
    }

    /// The bytes of a string of the server's own: none if there is no such key, an error if it is of another type.
    pub(crate) fn bytes(&self) -> Result<Option<&[u8]>, CommandError> {
        let (start, len) = self.string(raw::REDISMODULE_READ as c_int)?;
        // SAFETY: the server gives its own bytes, which stay where they are while the key is open and nothing is written to it; a
        // writer would have to borrow the key for itself.
        Ok((!start.is_null()).then(|| unsafe { std::slice::from_raw_parts(start, len) }))
    }

    /// As [`bytes`](Self::bytes), of a key that is open for writing, to write.
    pub(crate) fn bytes_mut(&mut self) -> Result<Option<&mut [u8]>, CommandError> {
        let (start, len) = self.string((raw::REDISMODULE_READ | raw::REDISMODULE_WRITE) as c_int)?;
        // SAFETY: as above; asked for writing, the server gives bytes that nobody shares, and the key is borrowed for us alone.
        Ok((!start.is_null()).then(|| unsafe { std::slice::from_raw_parts_mut(start, len) }))
    }

    /// Where a string is, and its length; a null pointer if there is no such key.
    fn string(&self, mode: c_int) -> Result<(*mut u8, usize), CommandError> {
        if self.0.is_null() {
            return Ok((std::ptr::null_mut(), 0));
        }
        // SAFETY: the key is open, and `len` is ours.
        unsafe {
            match api!(RedisModule_KeyType(self.0)) {
                kind if kind == raw::REDISMODULE_KEYTYPE_EMPTY as c_int => Ok((std::ptr::null_mut(), 0)),
                kind if kind == raw::REDISMODULE_KEYTYPE_STRING as c_int => {
                    let mut len = 0;
                    let start = api!(RedisModule_StringDMA(self.0, &raw mut len, mode));
                    Ok((start.cast::<u8>(), len))
                }
                _ => Err(CommandError::WrongType),
            }
        }
    }

    /// Puts a value under the key, in place of what is there.
    pub(crate) fn set<T: Value>(&mut self, value: T) -> Result<&mut T, CommandError> {
        let value = Box::into_raw(Box::new(value));
        // SAFETY: the key is open for writing; the value is given to the server, which gives it to our `free` in the end. If the
        // server does not take it, it is ours again.
        unsafe {
            if api!(RedisModule_ModuleTypeSetValue(self.0, T::handle().get(), value.cast())) == ERR {
                drop(Box::from_raw(value));
                return Err(CommandError::Refused("ERR could not set the key"));
            }
            Ok(&mut *value)
        }
    }
}

impl Drop for Key<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: it is open, and closed once.
            unsafe { api!(RedisModule_CloseKey(self.0)) };
        }
    }
}
