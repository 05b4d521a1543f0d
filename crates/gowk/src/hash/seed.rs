//! The secret of a filter: 128 bits, drawn at random unless the caller fixes them.

use core::hash::Hasher as _;
use siphasher::sip::SipHasher13;

/// 128 secret bits under which a filter hashes its keys.
///
/// Random by default. Fix it to build the same bytes twice, or to build two filters that can be merged:
///
/// ```
/// use gowk::Seed;
/// assert_eq!(Seed::from(7), Seed::from(7));
/// assert_ne!(Seed::random(), Seed::random());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seed(u128);

impl Seed {
    /// 128 bits from the operating system.
    ///
    /// # Panics
    /// If the system has no randomness to give, which leaves nothing sensible to do.
    #[cfg(feature = "std")]
    pub fn random() -> Self {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
        Self::from_bytes(bytes)
    }

    /// The seed as a file header holds it.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    /// The seed from a file header.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_le_bytes(bytes))
    }

    /// Word number `index` of the endless secret that this seed stands for: SipHash-1-3 of the number, keyed by the seed.
    pub(super) fn word(self, index: u64) -> u64 {
        let mut sip = SipHasher13::new_with_key(&self.to_bytes());
        sip.write(&index.to_le_bytes());
        sip.finish()
    }
}

impl From<u64> for Seed {
    fn from(seed: u64) -> Self {
        Self(u128::from(seed))
    }
}

/// A seed is a secret and stays out of logs.
impl core::fmt::Debug for Seed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Seed(hidden)")
    }
}
