//! Count-Min: how often has this key come? [Cormode, Muthukrishnan 2005]
//!
//! A table of `depth` rows with `width` counters each. A key has one counter in every row, and adds to all of them. The
//! counters also get what other keys add, so each is at least the key's count; the smallest of them is the estimate.
//!
//! ```text
//!  digest.h1 ---- row 0:  h1 * width >> 64               counters of 32 bits that stop at the top, row after row
//!            ---- row r:  h1 * SPREAD^r * width >> 64
//! ```
//!
//! # How far off
//!
//! Of all other occurrences, N in sum, each falls upon a key's counter of a row with chance 1/width: N/width are expected
//! there. By Markov's inequality more than e N/width come with chance 1/e at most, and in every one of the rows with chance
//! e^-depth. So, for every key, whatever the others are:
//!
//! ```text
//! count <= estimate                        always
//! estimate <= count + e/width * N          except with chance e^-depth
//! ```
//!
//! Asserted by `sizing::tests::doc_table_is_true`:
//!
//! | error, part of all | chance to miss it | width | depth | memory |
//! |---|---|---|---|---|
//! | 1 % | 1 % | 272 | 5 | 5.4 kB |
//! | 0.1 % | 1 % | 2,719 | 5 | 54 kB |
//! | 0.01 % | 0.1 % | 27,183 | 7 | 761 kB |
//! | 1 in a million | 1 % | 2,718,282 | 5 | 54 MB |
//!
//! # Conservative update
//!
//! An estimate needs no counter above it: it is enough to raise those that are below the new estimate [Estan, Varghese 2002].
//! Counters are then never higher than the plain ones, so both lines above still hold, and on skewed data errors
//! shrink: of ten million Zipf(1) keys in 4 rows of 2^18 counters, where the bound is 103, the mean error falls from 3.0 to 1.2,
//! at Zipf(1.2) from 0.44 to 0.14. It is the default. The price is a read before the write (24 ns a key instead of 17 in bulk, in
//! 4 MB), and that the sum of two sketches is not the sketch of both streams: it keeps the bounds, and is a little higher.
//!
//! Rows are spread out: a key costs `depth` cache misses, in flight together. Gathering all of a key's counters in one line
//! would save the others, but then a single heavy key spoils all rows of its line at once; the bound above needs rows that fail
//! independently.

mod codec;
mod layout;
mod sizing;
mod table;
#[cfg(test)]
mod tests;

pub use sizing::CountMinParams;
pub use table::CountMin;
