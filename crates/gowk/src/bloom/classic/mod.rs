//! The classic Bloom filter: m bits, k of them for each key, anywhere.
//!
//! A key is in the set, maybe, if all its k bits are set. With n keys inside, the part of bits that are set is
//! 1 - (1 - 1/m)^(kn), about 1 - e^(-kn/m), and a key that is not in the set finds them all set with probability
//!
//! ```text
//! f = (1 - e^(-kn/m))^k          least at k = (m/n) ln 2, where half of the bits are set:
//! m = -n ln f / (ln 2)^2         1.44 bits for each bit of information           [Bloom 1970]
//! ```
//!
//! The formula takes the set bits to be as many as expected and k a real number. [`BloomParams::exact_fpp_at`] takes
//! account of their spread: the mean of (X/m)^k over the number X of set bits, by its first two moments. The two differ by
//! more than a percent only below some hundred keys.
//!
//! Asserted by `sizing::tests::doc_table_is_true`:
//!
//! | keys | rate | bits | bits/key | probes |
//! |---|---|---|---|---|
//! | 1,000,000 | 0.01 | 9,637,376 | 9.64 | 7 |
//! | 1,000,000 | 0.001 | 14,447,616 | 14.45 | 10 |
//! | 1,000,000 | 2^-16 | 23,138,816 | 23.14 | 16 |
//!
//! # Where the bits are
//!
//! A [`Scheme`] is the rule by which a digest names bits; it is a value, kept in the file.
//!
//! Bits anywhere need k hashes. Two are enough: probe i at h1 + i h2 [Kirsch, Mitzenmacher 2008]. But keys whose h2 are equal
//! then share whole progressions, and an h2 of 0 has one probe for k; so the step itself steps [enhanced double hashing,
//! Dillinger, Manolios 2004]. These are the schemes of other systems, and of filters that gowk made first. Each probe is a
//! cache miss of its own. A lookup of a key that is not there ends with the first two, three times in four; in bulk those are
//! fetched ahead for all keys, the others for the keys that are still in question.
//!
//! gowk's own, [`Scheme::Fewest`], has three or four of the bits in each line: two misses for seven bits, three for ten, and
//! for half a percent more bits the same rate but for one percent of it. From there on it is
//! [a blocked filter](crate::bloom::blocked) that trades space for time: one line, 3.5 % more bits.

mod clustered;
mod codec;
mod eight;
mod filter;
mod layout;
mod rounds;
mod sizing;

#[cfg(test)]
pub(crate) use clustered::shares;
pub use filter::Bloom;
pub use layout::Scheme;
pub use sizing::BloomParams;
pub(crate) use sizing::MOST_PROBES;
