//! The words of a command.

use super::bytes_of;
use redis_module::raw;
use std::ffi::c_int;

/// The words of a command, its name first.
#[derive(Clone, Copy)]
pub(crate) struct Args<'a>(&'a [*mut raw::RedisModuleString]);

impl<'a> Args<'a> {
    /// # Safety
    /// `argv` must hold `argc` live strings, for as long as the result is used.
    pub(super) unsafe fn new(argv: *mut *mut raw::RedisModuleString, argc: c_int) -> Self {
        match usize::try_from(argc) {
            // SAFETY: the caller's.
            Ok(count) if count > 0 => Self(unsafe { std::slice::from_raw_parts(argv, count) }),
            _ => Self(&[]),
        }
    }

    /// How many there are, with the name.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Word number `at`.
    #[inline(always)]
    pub(crate) fn get(&self, at: usize) -> Option<&'a [u8]> {
        // SAFETY: `new` was given live strings.
        self.0.get(at).map(|string| unsafe { bytes_of(*string) })
    }

    /// The words from `at` on.
    #[inline(always)]
    pub(crate) fn from(&self, at: usize) -> impl ExactSizeIterator<Item = &'a [u8]> + use<'a> {
        let rest = self.0.get(at..).unwrap_or_default();
        // SAFETY: `new` was given live strings.
        rest.iter().map(|string| unsafe { bytes_of(*string) })
    }

    /// The string itself, for calls that hand it on to the server.
    pub(super) fn string(&self, at: usize) -> *mut raw::RedisModuleString {
        self.0[at]
    }
}
