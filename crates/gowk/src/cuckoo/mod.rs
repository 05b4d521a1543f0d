//! Cuckoo filter: fingerprints that can be taken out again.
//!
//! Each key leaves a fingerprint of 4 to 32 bits in one of two buckets of four slots. A key is looked for in both, which is two
//! cache misses that do not wait for each other, and removed by emptying a slot. Where both buckets are full, a fingerprint
//! moves to *its* other bucket, which the fingerprint itself tells: the key is not needed [Fan, Andersen, Kaminsky,
//! Mitzenmacher 2014].
//!
//! ```text
//!  digest.h1   63 ............................ 7 6 ..... 0
//!              place p = h1*G>>64                 print f           0 becomes 1: slot 0 is an empty one
//!                                                                   mirror place q = (shift(f) - p) mod G
//!  place       | bucket, log2(N) bits | spare |                     G = N * 2^spare places, any N
//!  slot                               | spare | print |             in bucket p>>spare, or in q>>spare with q's spare bits
//! ```
//!
//! `(shift(f) - p) mod G` is its own inverse for every G, so there may be any number of buckets; with `p xor shift(f)` it would have to
//! be a power of two, and half the memory might be air. Bucket, spare bits and print tell both places, in whichever of the
//! two buckets they are met.
//!
//! # The rate
//!
//! Two keys cannot be told apart if their prints are equal and their places are the same or mirror each other. Of G places
//! and F = 2^7 prints that happens to a pair of keys with a probability of 2 / (G F), twice that for print 1 which stands for 0 as well:
//!
//! ```text
//! fpp(n) = sum over prints f of P(f) (1 - (1 - 2 P(f) / G)^n),   P(1) = 2/F, else 1/F       about 2n / (G F) = 8 load / 2^width
//! ```
//!
//! exactly, for n different keys; the number of buckets has no part in it. [`CuckooParams`] searches the narrowest fingerprint that
//! keeps a rate. The width goes in whole bits, so the rate kept is up to half of the one asked for. Asserted by
//! `sizing::tests::doc_table_is_true`, at a million keys:
//!
//! | asked | width | bits/key | kept |
//! |---|---|---|---|
//! | 10 % | 7 | 7.31 | 5.98 % |
//! | 1 % | 10 | 10.45 | 0.76 % |
//! | 0.1 % | 13 | 13.58 | 0.095 % |
//! | 2^-16 | 19 | 19.85 | 1.48 * 10^-5 |
//! | 10^-8 | 30 | 31.33 | 7.2 * 10^-9 |
//!
//! # An insert succeeds or changes nothing
//!
//! A key goes into the emptier of its buckets. If both are full, the shortest chain of moves that ends in an empty slot is
//! searched, breadth first, in at most 2048 buckets; only when one is found is anything written. So there is no victim to
//! lose, [`len`](Cuckoo::len) is always right, and [`Full`](crate::Full) leaves the filter as it was. How far different shapes get before the first
//! refusal, at 2^20 slots of 16 bits (asserted by `filter::tests::doc_table_of_loads_is_true`):
//!
//! | candidates x slots | first refusal | folklore | in theory, for large tables and long searches |
//! |---|---|---|---|
//! | 2 x 4 (default) | 97.3 % | 95 % | 98.0 % |
//! | 2 x 2 | 88.3 % | 85 % | 89.7 % |
//! | 2 x 1 | 50 %, with 7-bit prints 20 to 35 % | 50 % | 50 % |
//! | 3 x 1 | 90 % | | 91.8 % |
//! | 4 x 1 | 96.3 % | | 97.7 % |
//! | 4 x 2 | 99.3 % | 99 % | 99.9 % |
//!
//! So folklore is a little low for 2 x 4 and 2 x 2: it comes from random walks that give up early; a search twice as long reaches
//! 97.6 %. It is right for 2 x 1 only where prints are long: with 7 bits a bucket has 127 partners, three keys that share the same two single
//! slots soon turn up, and the first refusal comes at a quarter. Buckets of four do not mind. 4 x 2 fills best and compares no more
//! slots than 2 x 4, so it takes 2 % less space; but it costs twice the cache misses. Filters are made for [`Shape::load`] of their slots, a
//! little below the refusal: the default for 96 %, less 2.5 times the root of the slots. An insert into 16 million slots costs the
//! same up to 75 % load, twice that at 90 %, six times at 95 %, ten at 96 % and twenty at 97 % (`gowk-bench -- load` prints it); over
//! all inserts up to 96 %, a fifth more than into an empty table.
//!
//! # The same key again
//!
//! A key that comes again must be removed as often, so it must be counted. Stacking its fingerprints, as cuckoo filters do, fills
//! both its buckets by the eighth time, and then it and its neighbours are refused. Here a class of keys that cannot
//! be told apart gets two slots (more where the rate is so high that different keys meet often), and the others are counted in a small exact
//! table beside the slots, 16 bytes a class, which lookups never touch. When the slots run short and many are taken by second copies,
//! those are moved out to the counts, all at once: so a filter for n different keys takes n different keys, however
//! often each comes.
//!
//! # Growing and shrinking without the keys
//!
//! The grid of places stays for ever; only how many places make a bucket changes. Doubling the table moves the top spare bit of
//! each slot into the number of the bucket: each bucket becomes two neighbours, in one pass, and no fingerprint is refused. Halving is the
//! reverse. Neither changes an answer, and fpp(n) stays the same function. It is n that raises the rate: a filter that holds
//! twice the keys that it was made for errs twice as often, and one bit of width in advance halves that.
//!
//! - [`CuckooParams::growing`] takes those bits in advance: made small, it doubles by itself and keeps its rate to the stated end.
//! - [`Cuckoo::grow`] doubles any filter that has a spare bit (three times at 1 %), and the promise says what rate that is.
//! - [`Cuckoo::shrink_to_fit`] halves as often as the keys fit; the filter doubles again by itself if they come back.
//!
//! A chain of ever larger tables, the other way to grow, would need more lookups, and it has a trap: a key may be found in the wrong
//! link, and removing it there takes away a fingerprint that some other key needs. In one grid keys that look alike are
//! alike in everything.
//!
//! # Removing what was never inserted
//!
//! is [`Removed::Absent`](crate::Removed) as a rule. But with the probability of a false positive, which [`Stats`](crate::Stats) tells, it takes away the
//! fingerprint of another key, and that key is denied from then on. No filter that forgets its keys can know the
//! difference: remove only what was inserted.

mod ask;
pub(crate) mod codec;
mod evict;
mod extras;
mod filter;
mod layout;
mod observe;
mod resize;
mod sizing;
mod slots;
mod task;

pub use filter::Cuckoo;
pub use observe::{Observer, Slot, Step};
pub use sizing::{CuckooParams, LEAST_WIDTH, MOST_WIDTH, Shape};
