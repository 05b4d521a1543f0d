//! Counting Bloom filter: a blocked Bloom filter whose bits are 4-bit counters, so that keys can be taken out again and
//! one can ask how often a key has come.
//!
//! An insert adds one to each of a key's counters, a remove takes one off [Fan, Cao, Almeida, Broder 2000]. The least of
//! its counters is how often a key has come, or more, never less. 15 is the top, and a counter that is there stays there
//! for good: nobody knows any more how many keys it counts, and one taken off too many would deny a key that is inside.
//!
//! # A line
//!
//! 512 bits are eight lanes of 16 counters, and a lane is a word. A key has one counter in each of K lanes: the pattern of
//! the [blocked filter](crate::bloom::blocked), rotated alike. So its counters are all different, and taking it out is
//! just the reverse of putting it in.
//!
//! ```text
//!  digest.h1  63 ........ 32 31 ......... 0           word of the line = lane:   0 | 1 | 2 | 3 | 4 | 5 | 6 | 7
//!             block: h1*N>>64   word w                counter c of a lane:       bits 4c to 4c+3
//!  lane j:  c = (w * SALT[j] mod 2^32) >> 28
//!  lanes:   the pattern of K lanes, rotated by (w>>5) & 7
//! ```
//!
//! # The rate
//!
//! That of the blocked filter, with 16 places a lane instead of 64: exact, by the same sum. A line now holds a fourth as
//! many keys, and such small numbers are spread more widely around their mean; that is what a single cache miss costs
//! here. Below [`PAIR_BELOW`] a block is two neighbouring lines, below [`QUAD_BELOW`] four. Asserted by
//! `sizing::tests::doc_table_is_true`, at a million keys:
//!
//! | rate | lines | K | bits/key | 4 x classic Bloom |
//! |---|---|---|---|---|
//! | 10 % | 1 | 3 | 19.71 | 19.17 |
//! | 1 % | 1 | 6 | 43.72 | 38.34 |
//! | 0.3 % | 2 | 4 | 54.03 | 48.36 |
//! | 0.1 % | 2 | 4 | 67.22 | 57.51 |
//! | 2^-16 | 4 | 3 | 113.94 | 92.33 |
//!
//! The same rate bounds the counts: a key counts too high only if *all* its counters are shared with others, which
//! happens to just as many of the keys as a stranger's answer is "maybe".
//!
//! Where keys are only put in and taken out and never counted above a few, a cuckoo filter does it in a fourth of the
//! space.

mod codec;
mod counters;
mod filter;
mod places;
mod sizing;
#[cfg(test)]
mod tests;

pub use counters::TOP;
pub use filter::CountingBloom;
pub use sizing::{CountingParams, PAIR_BELOW, QUAD_BELOW};
