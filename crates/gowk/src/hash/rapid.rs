//! rapidhash v3, its seed and secrets expanded from ours.

use super::{Digest, KeyHash, Seed};
use rapidhash::v3::{RapidSecrets, rapidhash_v3_inline};

/// The default hash under one seed.
#[derive(Clone, Copy)]
pub(crate) struct Rapid {
    secrets: RapidSecrets,
    /// `secrets` as an 8-byte key meets them, so that the commonest key needs no more than two multiplications.
    word: WordSecrets,
}

#[derive(Clone, Copy)]
struct WordSecrets {
    left: u64,
    right: u64,
    finish_left: u64,
    finish_right: u64,
}

impl Rapid {
    pub(super) fn new(seed: Seed) -> Self {
        let secrets =
            RapidSecrets { seed: seed.word(0), secrets: core::array::from_fn(|i| seed.word(i as u64 + 1)) };
        let word = WordSecrets {
            left: secrets.secrets[1],
            right: secrets.seed ^ 8,
            finish_left: 0xaaaa_aaaa_aaaa_aaaa,
            finish_right: secrets.secrets[1] ^ 8,
        };
        Self { secrets, word }
    }
}

impl KeyHash for Rapid {
    #[inline(always)]
    fn bytes(&self, bytes: &[u8]) -> Digest {
        Digest::from(rapidhash_v3_inline::<true, false, false>(bytes, &self.secrets))
    }

    #[inline(always)]
    fn word(&self, word: u64) -> Digest {
        let (low, high) = widening_mul(word ^ self.word.left, word ^ self.word.right);
        let (low, high) = widening_mul(low ^ self.word.finish_left, high ^ self.word.finish_right);
        Digest::from(low ^ high)
    }
}

#[inline(always)]
fn widening_mul(a: u64, b: u64) -> (u64, u64) {
    let product = u128::from(a) * u128::from(b);
    (product as u64, (product >> 64) as u64)
}
