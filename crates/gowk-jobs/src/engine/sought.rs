//! A key on its way to the table, with its first bytes in a register.
//!
//! Most keys are short. Their bytes travel with the record, so that the thread that looks for them in the table need not go back to
//! the block that they were read from, which is in another core's cache; and two short keys are compared like two numbers.

/// Keys of so many bytes are all head.
pub(crate) const SHORT: usize = 16;

/// The first bytes of a key, as a number; zeros behind its end.
pub(crate) type Head = u128;

/// What is left of a head of this length.
const MASKS: [Head; SHORT + 1] = {
    let mut masks = [0; SHORT + 1];
    let mut len = 1;
    while len <= SHORT {
        masks[len] = masks[len - 1] << 8 | 0xff;
        len += 1;
    }
    masks
};

/// The head of the key of `len` bytes that starts there.
#[inline(always)]
pub(crate) fn head_of(bytes: &[u8], start: usize, len: usize) -> Head {
    let bytes = &bytes[start..];
    let first = bytes.first_chunk().copied().unwrap_or_else(|| {
        let mut first = [0; SHORT];
        first[..bytes.len()].copy_from_slice(bytes);
        first
    });
    Head::from_le_bytes(first) & MASKS[len.min(SHORT)]
}

/// A key that is looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sought<'a> {
    pub(crate) head: Head,
    pub(crate) bytes: &'a [u8],
}

impl<'a> From<&'a [u8]> for Sought<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self { head: head_of(bytes, 0, bytes.len()), bytes }
    }
}

impl Sought<'_> {
    /// Whether the key of `len` bytes that starts there is this one.
    #[inline(always)]
    pub(crate) fn is_at(&self, arena: &[u8], start: usize, len: usize) -> bool {
        if len != self.bytes.len() {
            return false;
        }
        match len {
            0..=SHORT => head_of(arena, start, len) == self.head,
            _ => arena[start..start + len] == *self.bytes,
        }
    }

    /// Appends the key.
    #[inline(always)]
    pub(crate) fn put(&self, arena: &mut Vec<u8>) {
        match self.bytes.len() {
            // A store of one size and not of any.
            len @ 0..=SHORT => {
                let end = arena.len() + len;
                arena.extend_from_slice(&self.head.to_le_bytes());
                arena.truncate(end);
            }
            _ => arena.extend_from_slice(self.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_key_is_found_where_it_was_put_and_no_other(
            before in prop::collection::vec(any::<u8>(), 0..20),
            key in prop::collection::vec(any::<u8>(), 1..40),
            after in prop::collection::vec(any::<u8>(), 0..20),
            at: prop::sample::Index,
        ) {
            let mut arena = before.clone();
            Sought::from(&*key).put(&mut arena);
            prop_assert_eq!(&arena[before.len()..], &*key);
            arena.extend_from_slice(&after);
            prop_assert!(Sought::from(&*key).is_at(&arena, before.len(), key.len()));
            let mut other = key.clone();
            other[at.index(key.len())] ^= 1;
            prop_assert!(!Sought::from(&*other).is_at(&arena, before.len(), key.len()));
            prop_assert!(!Sought::from(&key[1..]).is_at(&arena, before.len(), key.len()));
        }
    }

    #[test]
    fn a_key_with_zeros_behind_it_is_another() {
        let arena = b"ab\0\0";
        assert!(Sought::from(&b"ab"[..]).is_at(arena, 0, 2));
        assert!(!Sought::from(&b"ab\0"[..]).is_at(arena, 0, 2));
        assert!(!Sought::from(&b"ab"[..]).is_at(arena, 0, 3));
        assert!(Sought::from(&b""[..]).is_at(arena, 4, 0));
    }
}
