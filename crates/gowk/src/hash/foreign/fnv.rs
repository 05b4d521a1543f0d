//! FNV-1 of 64 bits [Fowler, Noll, Vo 1991], as DCSO's filter begins its walk.

use super::{Digest, KeyHash};

/// FNV-1 (not FNV-1a) modulo [`Fnv1::PRIME`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Fnv1;

impl Fnv1 {
    /// The largest prime below 2^64.
    pub const PRIME: u64 = 18_446_744_073_709_551_557;

    /// The remainder of a number by the prime, which is so close to 2^64 that it fits at most once.
    #[inline(always)]
    pub(crate) const fn reduce(x: u64) -> u64 {
        if x >= Self::PRIME { x - Self::PRIME } else { x }
    }
}

impl KeyHash for Fnv1 {
    #[inline]
    fn bytes(&self, bytes: &[u8]) -> Digest {
        let step = |h: u64, byte: &u8| h.wrapping_mul(0x0100_0000_01b3) ^ u64::from(*byte);
        Digest { h1: Self::reduce(bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)), h2: 0 }
    }

    #[inline(always)]
    fn word(&self, word: u64) -> Digest {
        self.bytes(&word.to_le_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test vectors of the FNV authors.
    #[test]
    fn the_hash_is_fnv_1() {
        assert_eq!(Fnv1.bytes(b"").h1, 0xcbf2_9ce4_8422_2325);
        assert_eq!(Fnv1.bytes(b"a").h1, 0xaf63_bd4c_8601_b7be);
        assert_eq!(Fnv1.bytes(b"foobar").h1, 0x340d_8765_a4dd_a9c2);
    }

    #[test]
    fn the_remainder_is_below_the_prime() {
        assert_eq!(Fnv1::reduce(Fnv1::PRIME), 0);
        assert_eq!(Fnv1::reduce(u64::MAX), 58);
        assert_eq!(Fnv1::reduce(Fnv1::PRIME - 1), Fnv1::PRIME - 1);
    }
}
