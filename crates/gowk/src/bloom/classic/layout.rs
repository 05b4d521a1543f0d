//! From a digest to the positions of its bits. Pure; knows no memory.

use super::clustered::{self, Rounds};
use crate::{hash::Digest, store::Line};

/// The rule by which a digest names bits. A name, a number in files, never changed.
///
/// The first two walk: x and y begin as the two words of the digest, and after each probe y += step, x += y.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
#[repr(u8)]
pub enum Scheme {
    /// Enhanced double hashing: among W words of 64 bits, bit x mod 64 of word x W / 2^64. Steps by SPREAD.
    Enhanced = 0,
    /// Plain double hashing, as RedisBloom does it: bit x mod m, so that probe i is at h1 + i h2. Steps by 0.
    Double = 1,
    /// gowk's own, once: bits by twos and threes in lines near each other, up to eight bits in three lines.
    Clustered = 2,
    /// gowk's own, later: as [`Clustered`](Self::Clustered), but two lines where it would be five bits or fewer in three.
    Paired = 3,
    /// gowk's own: as few lines as can be at the space of a classic filter, three or four bits in each. Two lines a key where others have
    /// seven misses, three where they have ten.
    #[default]
    Fewest = 4,
}

impl Scheme {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Enhanced, Self::Double, Self::Clustered, Self::Paired, Self::Fewest];

    /// The scheme of this number, if this version knows it.
    pub fn from_tag(tag: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| *scheme as u8 == tag)
    }

    /// What the step itself steps by, where the scheme walks.
    pub(super) const fn step(self) -> u64 {
        match self {
            Self::Enhanced => Digest::SPREAD,
            Self::Double | Self::Clustered | Self::Paired | Self::Fewest => 0,
        }
    }

    /// The sizes that the scheme can use: multiples of this many bits.
    pub(super) const fn granule(self) -> u64 {
        match self {
            Self::Enhanced => 64,
            Self::Double => 1,
            Self::Clustered | Self::Paired | Self::Fewest => Line::BITS,
        }
    }

    /// Whether it is one of gowk's own, whose bits share lines.
    pub(super) const fn shares_lines(self) -> bool {
        matches!(self, Self::Clustered | Self::Paired | Self::Fewest)
    }

    /// The positions of a key's bits among `bits`, one after another.
    pub fn positions(self, digest: Digest, bits: u64, probes: u32) -> impl ExactSizeIterator<Item = u64> {
        let mut walk = Walk::new(digest);
        (0..probes).map(move |probe| {
            let x = walk.next(self.step());
            match self {
                Self::Enhanced => 64 * ((u128::from(x) * u128::from(bits / 64)) >> 64) as u64 + x % 64,
                Self::Double => x % bits,
                Self::Clustered | Self::Paired | Self::Fewest => {
                    clustered::position(digest, bits / Line::BITS, Rounds::new(self, probes), probe)
                }
            }
        })
    }
}

/// The walk that schemes of bits anywhere take.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Walk {
    x: u64,
    y: u64,
}

impl Walk {
    #[inline(always)]
    pub(super) fn new(digest: Digest) -> Self {
        Self { x: digest.h1, y: digest.h2 }
    }

    /// Where it is; it is then at the next place.
    #[inline(always)]
    pub(super) fn next(&mut self, step: u64) -> u64 {
        let x = self.x;
        self.y = self.y.wrapping_add(step);
        self.x = self.x.wrapping_add(self.y);
        x
    }
}

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
            let places: HashSet<u64> = Scheme::Enhanced.positions(digest, 1_000_000, 16).collect();
            assert_eq!(places.len(), 16, "{digest:?}");
        }
    }

    #[test]
    fn positions_stay_inside() {
        for bits in [1, 2, 63, 64, 65, 1 << 33, u64::MAX - 511] {
            for scheme in Scheme::ALL {
                for h1 in [0, 1, u64::MAX, 1 << 63, 0x0123_4567_89ab_cdef] {
                    let digest = Digest { h1, h2: h1.rotate_left(17) };
                    let bits = bits.next_multiple_of(scheme.granule());
                    assert!(scheme.positions(digest, bits, 32).all(|place| place < bits));
                    assert_eq!(scheme.positions(digest, bits, 32).len(), 32);
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
