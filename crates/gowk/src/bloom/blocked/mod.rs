//! Blocked Bloom filter: all bits of a key in one cache line, or in a few neighbouring ones.
//!
//! A classic Bloom filter scatters the k bits of a key over the whole array: k cache misses. Here the digest first chooses
//! a block, then the bits inside it: one miss [Putze, Sanders, Singler 2007]. The price is that blocks fill unevenly. With
//! n keys in N blocks a block holds Poisson(n/N) of them, and the rate is the mean over that distribution, a little above
//! that of an even filling; so a little more space is needed, the more so the smaller the rate, until more lines pay.
//!
//! # A line
//!
//! 512 bits are eight lanes of 64. A key sets one bit in each of K lanes: a fixed pattern, rotated by what the digest says,
//! so that all lanes fill alike. That is nearly as good as K bits anywhere, and it is one SIMD operation.
//!
//! ```text
//!  digest.h1  63 ........ 32 31 ......... 0           dword of the line:   0  1  2  3  4  5  6  7 | 8 .. 15
//!             block: h1*N>>64   word w                lane:                0  1  2  3  4  5  6  7 | 0 ..  7
//!  lane j:  p = w * SALT[j] mod 2^32
//!           bit (p>>26) & 31 of dword j, or of dword j+8 if p >= 2^31
//!  lanes:   the pattern of K lanes, rotated by (w>>5) & 7
//! ```
//!
//! Below [`PAIR_BELOW`] a block is two neighbouring lines with K bits in each, below [`QUAD_BELOW`] four; the word of line
//! l > 0 is the high half of h2 * SPREAD^(l-1). Neighbouring lines come from memory almost as one. Two lines far apart would
//! take 2 % fewer bits, and a second miss.
//!
//! # The rate
//!
//! Let F(i) be the chance that a line which i keys have marked holds all K bits of a new key. With q = 63/64 and W_r the
//! pattern rotated by r, by inclusion and exclusion over sets T of the new key's lanes:
//!
//! ```text
//! F(i) = sum over T in W_0 of (-1)^|T| g(T)^i,   g(T) = (1/8) sum over r of q^|T and W_r|
//! fpp  = sum over i of P(i keys in a block) F(i)^L,   L = 1, 2 or 4 lines
//! ```
//!
//! exactly, with P binomial; no constant is fitted. [`BlockedParams`] searches the fewest blocks that keep a rate. Asserted
//! by `sizing::tests::doc_table_is_true`, at a million keys:
//!
//! | rate | lines | K | bits/key | classic Bloom |
//! |---|---|---|---|---|
//! | 10 % | 1 | 3 | 4.84 | 4.79 |
//! | 1 % | 1 | 6 | 9.93 | 9.59 |
//! | 0.3 % | 1 | 8 | 12.82 | 12.09 |
//! | 0.1 % | 2 | 5 | 14.99 | 14.38 |
//! | 2^-16 | 4 | 4 | 24.42 | 23.08 |
//! | 10^-9 | 4 | 6 | 52.07 | 43.13 |
//!
//! # Folding
//!
//! The block is the high part of h1 * N. So the filter of N/f blocks is, bit for bit, the one of N blocks with each f
//! neighbouring blocks or-ed together. [`BlockedBloom::fold`] does that; filters of different sizes merge by it, and
//! [`FoldingBuilder`] starts large and folds down to the keys that came.

mod atomic;
pub(crate) mod codec;
mod eight;
mod filter;
mod fold;
mod layout;
mod many;
mod places;
mod single;
mod sizing;

pub use atomic::AtomicBlockedBloom;
pub use filter::BlockedBloom;
pub(crate) use filter::{line_fpp, set};
pub use fold::FoldingBuilder;
pub(crate) use layout::{block_of, windows, words};
pub use sizing::{BlockedParams, PAIR_BELOW, QUAD_BELOW, Span};
pub(crate) use sizing::{Rate, best_lanes, by_span, fewest_blocks};
