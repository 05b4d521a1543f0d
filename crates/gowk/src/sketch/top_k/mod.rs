//! The keys that came most often: Space-Saving, behind a filter.
//!
//! Some slots hold a key, its count, and by how much that count may be over. A key that is in a slot is counted there. For one that
//! is not, plain Space-Saving [Metwally, Agrawal, El Abbadi 2005] gives up the slot with the smallest count, min, to it: it may have
//! come min times before, so it gets count min + 1 and error min. But most keys of a long tail come once or twice, and each of them
//! pushes out another. So there is a row of cells in front [Homem, Carvalho 2010]:
//!
//! ```text
//!  key ---- in a slot?  yes: count += 1
//!                       no:  cell[h2 * cells >> 64] + 1  <= min:  the cell takes it, nothing else changes
//!                                                         > min:  the key takes the slot of min with that count, error = cell;
//!                                                                 the cell of the one that goes is raised to its count
//! ```
//!
//! # What always holds
//!
//! A cell is no lower than the count of any key that falls upon it and has no slot; so `count` is never too low, `count - error`
//! never too high. A cell only takes what keeps it at or below min, and the counts in the slots add up to N, all occurrences,
//! at most; so with m slots
//!
//! ```text
//! cell <= min <= N/m,    error <= N/m,    and a key that came more than N/m times is in a slot.
//! ```
//!
//! There is no chance in it: the hash only decides how much better it gets. Merging adds up what both know of a key, and the
//! cells. A cell can then be above min, but if every key that only one side keeps is thought to have the other's min instead of
//! its cell, counts still add up to N at most, and the same argument goes on with those; the bounds hold for merged summaries and
//! for what is added to them later. [`TopK::candidates`] names the keys that can still be among the first k, so that a second
//! pass which counts just those is exact.
//!
//! # What it was chosen over
//!
//! Ten million occurrences of a million keys, at equal memory (keys of 8 bytes, `slots` of ours with 16 cells each at 208 bytes):
//! the part of the true top k that is named, the mean error of the named counts, ns for each occurrence. `HeavyKeeper` [Yang et
//! al. 2019] has two rows of fingerprints and decaying counts.
//!
//! | skew | k | memory | `HeavyKeeper` | plain Space-Saving | ours |
//! |---|---|---|---|---|---|
//! | 0.6 | 10 | 5.8 kB | 0.80, 90 %, 25 ns | 0.00, useless, 93 ns | 0.20, useless, 29 ns |
//! | 0.6 | 10 | 46 kB | 1.00, 0.2 %, 24 ns | 0.40, useless, 104 ns | 1.00, 0.02 %, 23 ns |
//! | 0.6 | 100 | 115 kB | 0.98, 1.3 %, 25 ns | 0.15, useless, 123 ns | 0.84, 13 %, 22 ns |
//! | 0.6 | 100 | 230 kB | 1.00, 0.4 %, 31 ns | 0.33, useless, 149 ns | 1.00, 0.1 %, 25 ns |
//! | 0.6 | 1,000 | 2.3 MB | 1.00, 0.3 %, 89 ns | 0.83, 53 %, 240 ns | 1.00, 0.04 %, 61 ns |
//! | 0.8 | 10 | 5.8 kB | 1.00, 0.05 %, 30 ns | 0.40, useless, 96 ns | 1.00, 3.4 %, 29 ns |
//! | 0.8 | 100 | 58 kB | 1.00, 0.15 %, 28 ns | 0.42, useless, 110 ns | 1.00, < 0.05 %, 22 ns |
//! | 0.8 | 1,000 | 576 kB | 1.00, 0.3 %, 46 ns | 0.56, useless, 149 ns | 1.00, 0.1 %, 33 ns |
//! | 1.0 | 10 | 5.8 kB | 1.00, < 0.01 %, 32 ns | 0.80, 28 %, 71 ns | 1.00, < 0.05 %, 22 ns |
//!
//! Plain Space-Saving, here ours with but eight cells, which keep close to min, is out. `HeavyKeeper` finds more where memory is far too small for the data; where it suffices both
//! find all, and ours counts more exactly. But the counts of `HeavyKeeper` have no bound in either direction that holds for sure, and
//! no merge keeps what two of them say. A summary that knows how wrong it may be is worth the memory: [`TopKParams::for_k`] takes
//! 16 slots for each key, and 1,024 (about 200 kB) at least.
//!
//! # Time
//!
//! A kept key costs a look into an index and its count. The smallest slot is found by a heap of old counts that is
//! brought up to date only at the top and only when a cell reaches it.

mod arena;
mod codec;
mod index;
mod merge;
mod queue;
mod sizing;
mod summary;
#[cfg(test)]
mod tests;

pub use sizing::TopKParams;
pub use summary::{Candidates, Estimate, Heavy, TopK};
