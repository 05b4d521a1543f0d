//! From a digest to the positions of its bits. Pure; knows no memory.

use crate::hash::Digest;

/// The rule by which a digest names bits. A name, a number in files, never changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
#[repr(u8)]
pub enum Scheme {
    /// gowk's own: x = h1, y = h2; each probe at x * m / 2^64; then y += SPREAD, x += y.
    #[default]
    Enhanced = 0,
    /// Plain double hashing, as RedisBloom does it: probe i at (h1 + i h2) mod 2^64 mod m.
    Double = 1,
}

impl Scheme {
    /// The scheme of this number, if this version knows it.
    pub fn from_tag(tag: u8) -> Option<Self> {
        [Self::Enhanced, Self::Double].into_iter().find(|scheme| *scheme as u8 == tag)
    }

    /// The positions of a key's bits among `bits`.
    #[inline(always)]
    pub fn positions(self, digest: Digest, bits: u64, probes: u32) -> Positions {
        let step = match self {
            Self::Enhanced => Digest::SPREAD,
            Self::Double => 0,
        };
        Positions { scheme: self, x: digest.h1, y: digest.h2, step, bits, left: probes }
    }
}

/// The positions of a key's bits, one after another.
#[derive(Clone, Copy, Debug)]
pub struct Positions {
    scheme: Scheme,
    x: u64,
    y: u64,
    step: u64,
    bits: u64,
    left: u32,
}

impl Iterator for Positions {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        let position = match self.scheme {
            Scheme::Enhanced => ((u128::from(self.x) * u128::from(self.bits)) >> 64) as u64,
            Scheme::Double => self.x % self.bits,
        };
        self.y = self.y.wrapping_add(self.step);
        self.x = self.x.wrapping_add(self.y);
        Some(position)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Positions {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn degenerate_digests_still_spread() {
        for digest in [
            Digest { h1: 0, h2: 0 },
            Digest { h1: u64::MAX, h2: 0 },
            Digest { h1: 0, h2: u64::MAX },
            Digest::from(0),
        ] {
            let places: HashSet<u64> = Scheme::Enhanced.positions(digest, 1_000_003, 16).collect();
            assert_eq!(places.len(), 16, "{digest:?}");
        }
    }

    #[test]
    fn positions_stay_inside() {
        for bits in [1, 2, 63, 64, 65, 1 << 33, u64::MAX] {
            for scheme in [Scheme::Enhanced, Scheme::Double] {
                for h1 in [0, 1, u64::MAX, 1 << 63, 0x0123_4567_89ab_cdef] {
                    let digest = Digest { h1, h2: h1.rotate_left(17) };
                    assert!(scheme.positions(digest, bits, 32).all(|place| place < bits));
                    assert_eq!(scheme.positions(digest, bits, 32).count(), 32);
                }
            }
        }
    }

    #[test]
    fn double_hashing_is_the_sum_modulo_bits() {
        let digest = Digest { h1: u64::MAX - 5, h2: 1 << 40 };
        let places: Vec<u64> = Scheme::Double.positions(digest, 1000, 3).collect();
        let expected: Vec<u64> =
            (0..3u64).map(|i| digest.h1.wrapping_add(i.wrapping_mul(digest.h2)) % 1000).collect();
        assert_eq!(places, expected);
    }
}
