//! What may be a key: bytes, text, integers. Each has one stable byte form, written down here.

use super::{Digest, KeyHash};
use crate::store::prefetch_beyond;
use alloc::{boxed::Box, string::String, vec::Vec};

/// A key with a stable byte form.
///
/// | type | its bytes |
/// |---|---|
/// | `[u8]`, `[u8; N]`, `Vec<u8>` | themselves |
/// | `str`, `String` | UTF-8 |
/// | integers up to 64 bits | 8 bytes, little-endian, sign-extended: `5u8`, `5i32` and `5u64` are one key |
/// | `u128`, `i128` | 16 bytes, little-endian |
/// | [`Digest`] | none: it is taken as it is, for callers who hash themselves |
///
/// `std::hash::Hash` is left out on purpose: its bytes may differ between platforms and releases. A type of your own
/// writes down its bytes and hands them to [`KeyHash::bytes`]:
///
/// ```
/// use gowk::{Digest, Key, KeyHash};
///
/// struct Pair(u32, u32);
///
/// impl Key for Pair {
///     fn digest<H: KeyHash>(&self, hash: &H) -> Digest {
///         hash.word(u64::from(self.0) << 32 | u64::from(self.1))
///     }
/// }
/// ```
pub trait Key {
    /// Whether digests of this type are always what the hash gave, unchanged. To say no where it is so costs a little speed; to say yes where it is
    /// not makes a filter deny keys.
    const IS_HASHED: bool = false;

    /// Whether it is an integer of up to 64 bits: digests are always what [`KeyHash::word`] gave, unchanged.
    #[doc(hidden)]
    const IS_WORD: bool = false;

    /// Whether it is bytes: digests are always what [`KeyHash::bytes`] gave of [`text`](Self::text), unchanged.
    #[doc(hidden)]
    const IS_TEXT: bool = false;

    /// Its bytes, if that is what it is.
    #[doc(hidden)]
    #[inline(always)]
    fn text(&self) -> &[u8] {
        &[]
    }

    /// The digest of this key under that hash.
    fn digest<H: KeyHash>(&self, hash: &H) -> Digest;

    /// Asks for the bytes of this key, where they lie elsewhere: bulk calls do that some keys before its turn. A hint that need not be
    /// taken.
    #[inline(always)]
    fn prefetch(&self) {}
}

macro_rules! bytes_key {
    ($($type:ty => $bytes:ident),*) => { $(
        impl Key for $type {
            const IS_HASHED: bool = true;
            const IS_TEXT: bool = true;

            #[inline(always)]
            fn text(&self) -> &[u8] {
                self.$bytes()
            }

            #[inline(always)]
            fn digest<H: KeyHash>(&self, hash: &H) -> Digest {
                hash.bytes(self.$bytes())
            }

            #[inline(always)]
            fn prefetch(&self) {
                prefetch_beyond(self.$bytes().as_ptr(), 0);
            }
        }
    )* };
}

bytes_key!(str => as_bytes, String => as_bytes, Vec<u8> => as_slice);

impl Key for [u8] {
    const IS_HASHED: bool = true;
    const IS_TEXT: bool = true;

    #[inline(always)]
    fn text(&self) -> &[u8] {
        self
    }

    #[inline(always)]
    fn digest<H: KeyHash>(&self, hash: &H) -> Digest {
        hash.bytes(self)
    }
}

impl<const N: usize> Key for [u8; N] {
    const IS_HASHED: bool = true;
    const IS_TEXT: bool = true;

    #[inline(always)]
    fn text(&self) -> &[u8] {
        self
    }

    #[inline(always)]
    fn digest<H: KeyHash>(&self, hash: &H) -> Digest {
        hash.bytes(self)
    }
}

macro_rules! word_key {
    ($($type:ty),*) => { $(
        impl Key for $type {
            const IS_HASHED: bool = true;
            const IS_WORD: bool = true;

            #[inline(always)]
            fn digest<H: KeyHash>(&self, hash: &H) -> Digest {
                hash.word(*self as u64)
            }
        }
    )* };
}

word_key!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);

macro_rules! wide_key {
    ($($type:ty),*) => { $(
        impl Key for $type {
            const IS_HASHED: bool = true;

            #[inline(always)]
            fn digest<H: KeyHash>(&self, hash: &H) -> Digest {
                hash.bytes(&self.to_le_bytes())
            }
        }
    )* };
}

wide_key!(u128, i128);

impl Key for Digest {
    #[inline(always)]
    fn digest<H: KeyHash>(&self, _: &H) -> Digest {
        *self
    }
}

macro_rules! pointer_key {
    ($($type:ty),*) => { $(
        impl<K: Key + ?Sized> Key for $type {
            const IS_HASHED: bool = K::IS_HASHED;
            const IS_WORD: bool = K::IS_WORD;
            const IS_TEXT: bool = K::IS_TEXT;

            #[inline(always)]
            fn text(&self) -> &[u8] {
                (**self).text()
            }

            #[inline(always)]
            fn digest<H: KeyHash>(&self, hash: &H) -> Digest {
                (**self).digest(hash)
            }

            #[inline(always)]
            fn prefetch(&self) {
                prefetch_beyond(core::ptr::from_ref(&**self).cast::<u8>(), 0);
            }
        }
    )* };
}

pointer_key!(&K, &mut K, Box<K>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Hasher;

    #[test]
    fn integers_of_every_width_are_one_key() {
        let hasher = Hasher::new(1);
        let five = hasher.digest(&5u64);
        assert_eq!(hasher.digest(&5u8), five);
        assert_eq!(hasher.digest(&5i32), five);
        assert_eq!(hasher.digest(&5usize), five);
        assert_eq!(hasher.digest(&-1i8), hasher.digest(&u64::MAX));
    }

    #[test]
    fn text_is_its_bytes() {
        let hasher = Hasher::new(1);
        assert_eq!(hasher.digest("gowk"), hasher.digest(b"gowk"));
        assert_eq!(hasher.digest(&String::from("gowk")), hasher.digest(&b"gowk"[..]));
        assert_ne!(hasher.digest("gowk"), hasher.digest("gowk\0"));
    }
}
