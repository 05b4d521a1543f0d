//! rapidhash v3, its seed and secrets expanded from ours.

use super::{Digest, KeyHash, Seed};
use crate::simd::Bmi2;
use core::{hint::select_unpredictable, ops::RangeInclusive};
use rapidhash::v3::{RapidSecrets, rapidhash_v3_inline};

/// The default hash under one seed.
#[derive(Clone, Copy)]
pub(crate) struct Rapid {
    secrets: RapidSecrets,
    /// `secrets` as an 8-byte key meets them, so that the commonest key needs no more than two multiplications.
    word: WordSecrets,
}

/// What an 8-byte key meets.
#[derive(Clone, Copy)]
pub struct WordSecrets {
    pub(crate) left: u64,
    /// What makes the right one of the left one: were both at hand, the compiler would take a key to a vector register for them.
    pub(crate) right_of_left: u64,
    pub(crate) finish_left: u64,
    pub(crate) finish_right: u64,
}

impl WordSecrets {
    /// The hash of the 8 bytes of a word.
    #[inline(always)]
    pub(crate) fn hash(&self, word: u64) -> u64 {
        let left = word ^ self.left;
        let (low, high) = widening_mul(left, left ^ self.right_of_left);
        let (low, high) = widening_mul(low ^ self.finish_left, high ^ self.finish_right);
        low ^ high
    }
}

/// What text of 16 to 32 bytes meets.
#[derive(Clone, Copy)]
pub struct TextSecrets {
    pub(crate) seed: u64,
    pub(crate) head: u64,
    pub(crate) tail: u64,
}

impl TextSecrets {
    /// How many bytes it has.
    pub(crate) const LENGTHS: RangeInclusive<usize> = 16..=32;

    /// What the last multiplication meets besides a secret.
    pub(crate) const FINISH: u64 = 0xaaaa_aaaa_aaaa_aaaa;

    /// The hash of such text, without the questions for longer keys. Just 16 bytes are hashed as shorter keys are; that is chosen, not jumped to:
    /// among keys of different lengths nobody foresees which are the shortest.
    #[inline(always)]
    fn hash(self, bytes: &[u8]) -> u64 {
        // Not a closure, which may be compiled as a function that is called.
        #[inline(always)]
        fn word_at(bytes: &[u8], at: usize) -> u64 {
            u64::from_le_bytes(*bytes[at..].first_chunk().expect("8 of at least 16 bytes"))
        }
        let Self { seed, head, tail } = self;
        let (len, more) = (bytes.len(), bytes.len() > 16);
        let (low, high) = widening_mul(word_at(bytes, 0) ^ head, word_at(bytes, 8) ^ seed);
        let a = word_at(bytes, len - 16) ^ select_unpredictable(more, len as u64, 0) ^ tail;
        let b = word_at(bytes, len - 8) ^ select_unpredictable(more, low ^ high, seed ^ 16);
        let (low, high) = widening_mul(a, b);
        let (low, high) = widening_mul(low ^ Self::FINISH, high ^ tail ^ len as u64);
        low ^ high
    }
}

impl Rapid {
    pub(super) fn new(seed: Seed) -> Self {
        let secrets =
            RapidSecrets { seed: seed.word(0), secrets: core::array::from_fn(|i| seed.word(i as u64 + 1)) };
        let word = WordSecrets {
            left: secrets.secrets[1],
            right_of_left: secrets.secrets[1] ^ secrets.seed ^ 8,
            finish_left: TextSecrets::FINISH,
            finish_right: secrets.secrets[1] ^ 8,
        };
        Self { secrets, word }
    }

    /// `secrets` as text meets them.
    #[inline(always)]
    fn texts(&self) -> TextSecrets {
        let RapidSecrets { seed, secrets } = self.secrets;
        TextSecrets { seed, head: secrets[2], tail: secrets[1] }
    }
}

impl KeyHash for Rapid {
    const IS_ONE_WORD: bool = true;

    #[inline(always)]
    fn bytes(&self, bytes: &[u8]) -> Digest {
        Digest::from(match bytes.len() {
            16..=32 => self.texts().hash(bytes),
            _ => rapidhash_v3_inline::<true, false, false>(bytes, &self.secrets),
        })
    }

    #[inline(always)]
    fn word(&self, word: u64) -> Digest {
        Digest::from(self.word.hash(word))
    }

    #[inline(always)]
    fn word_secrets(&self) -> Option<&WordSecrets> {
        Some(&self.word)
    }

    #[inline(always)]
    fn text_secrets(&self) -> Option<TextSecrets> {
        Some(self.texts())
    }
}

/// The same hash, its multiplications as this processor does them.
pub(crate) struct RapidBy<'a> {
    pub(crate) rapid: &'a Rapid,
    pub(crate) by: Bmi2,
}

impl KeyHash for RapidBy<'_> {
    const IS_ONE_WORD: bool = true;

    #[inline(always)]
    fn bytes(&self, bytes: &[u8]) -> Digest {
        self.rapid.bytes(bytes)
    }

    #[inline(always)]
    fn word(&self, word: u64) -> Digest {
        let secrets = &self.rapid.word;
        let left = word ^ secrets.left;
        let (low, high) = self.by.widening_mul(left, left ^ secrets.right_of_left);
        let (low, high) = self.by.widening_mul(high ^ secrets.finish_right, low ^ secrets.finish_left);
        Digest::from(low ^ high)
    }
}

#[inline(always)]
fn widening_mul(a: u64, b: u64) -> (u64, u64) {
    let product = u128::from(a) * u128::from(b);
    (product as u64, (product >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Isa;

    #[test]
    fn the_short_ways_are_the_long_way() {
        let rapid = Rapid::new(Seed::from(1));
        let text = b"The gowk, the gowk, the titlin follows the gowk all day".repeat(5);
        for len in 0..text.len() {
            let bytes = &text[..len];
            assert_eq!(
                rapid.bytes(bytes).h1,
                rapidhash_v3_inline::<true, false, false>(bytes, &rapid.secrets),
                "{len} bytes"
            );
        }
        assert_eq!(rapid.word(77), rapid.bytes(&77u64.to_le_bytes()));
        if let Some(by) = Isa::best().bmi2() {
            let hash = RapidBy { rapid: &rapid, by };
            assert_eq!((hash.word(77), hash.bytes(&text)), (rapid.word(77), rapid.bytes(&text)));
        }
    }
}
