//! Binary fuse filter: built once from all its keys, and then smaller than a Bloom filter of the same rate, and as quick.
//!
//! The filter is an array of slots of w bits. A key has a fingerprint of w bits and three slots, and the slots are filled so
//! that for each key of the set they xor to its fingerprint; for another key they do so by chance, once in 2^w
//! [Graf, Lemire 2022]. A lookup reads three places that do not depend on each other, and has no branch.
//!
//! # A chain
//!
//! The slots are a chain of segments, and the three slots of a key lie in three neighbouring ones.
//!
//! ```text
//!  digest.h1        63 ................. 0        p = h1 * range >> 64            its segments grow with h1
//!                   place      fingerprint        r = h1 * multiplier mod 2^64
//!
//!  segments of 2^s    |   ...   | p ^ low(r>>36) | p+2^s ^ low(r>>16) | p+2*2^s |   ...   |      low: the low s bits
//! ```
//!
//! Such a chain can be filled to 0.918 keys a slot, where three slots anywhere allow 0.818 [Walzer 2021]: at its ends slots
//! have fewer keys, so filling can begin there, and go on inwards segment by segment. With four slots (a third product chooses
//! one more) it is 0.977. Short segments fill unevenly and the ends are lost, so smaller sets need more slots a key. Below some
//! thousand keys the chain is just one or two segments, an xor filter in unequal parts. Asserted by
//! `sizing::tests::doc_table_is_true`; times w, it is the bits a key:
//!
//! | keys | three slots | four slots |
//! |---|---|---|
//! | 100 | 1.46 | 1.50 |
//! | 1,000 | 1.33 | 1.39 |
//! | 10,000 | 1.25 | 1.20 |
//! | 100,000 | 1.17 | 1.11 |
//! | 1,000,000 | 1.128 | 1.070 |
//! | 10,000,000 | 1.114 | 1.048 |
//! | 100,000,000 | 1.103 | 1.037 |
//!
//! There are no steps in it: the range may end anywhere, so the sizes near which other implementations need many attempts are
//! like all others. The *rate* has steps, since a fingerprint has whole bits: 1 % gets seven, and 1/128.
//!
//! # Building
//!
//! Digests are ordered by their first segment. Then a front moves along the chain and peels them (see the source of `peel`): it
//! needs only sixteen segments of the chain in work, and writes the keys that it has peeled over those that it has read. So a
//! build takes 64 bits a key for the digests and a small part more ([`FuseParams::build_bytes`]: 86 in all for a million keys,
//! 83 or less for more), and works in the cache. From some seven million keys on there are two fronts, one from each end, for
//! two threads. An attempt that gets stuck, one in six at most, leaves all keys where they
//! were; the next has another multiplier, and after three also more room. After 24 the build gives up with an error, which
//! well-mixed digests do not see.
//!
//! Repeated keys get every attempt stuck, which is how they are noticed: then they are sorted out, and the filter is sized by
//! the keys that are left.

mod build;
mod builder;
mod codec;
mod filter;
mod layout;
mod peel;
mod sizing;
#[cfg(test)]
mod tests;

pub use builder::FuseBuilder;
pub use filter::BinaryFuse;
pub use sizing::{Arity, FuseParams, MOST_WIDTH};
