//! Exact sets of integers: check-ins by user number, answered questions, values that occur once.
//!
//! A filter is for keys of any kind, and is sometimes wrong. Where keys are integers of a known range, a set can be exact
//! and take less.
//!
//! | type | for | a read | memory |
//! |---|---|---|---|
//! | [`Bitmap`] | ids that lie close: one in a hundred of the range, or more | one load | range / 8 bytes: 100 million users in 12.5 MB |
//! | [`RoaringSet`] | ids far apart, or in runs | two searches and a load | 2 to 4 bytes an id, if spread evenly |
//! | [`IdSet`] | either, chosen by [`Form::for_range`] | | |
//! | [`TwoBitMap`] | never, once, more often | one load | range / 4 bytes: 2^32 values in 1 GiB |
//!
//! They share [`IntegerSet`] and [`IntegerSetMut`]: contains, rank, select, count in a range, iterate; and the algebra: and
//! (`intersect`), or (`union`), xor, and-not (`subtract`). They have no hash and no seed.
//!
//! ```text
//!  id 5_000_000_007 ---- range 5_000_000_000..5_100_000_000
//!                        line  id / 512 - 5_000_000_000 / 512      lines before the range are left out;
//!                        word  id / 64 % 8                         inside a line an id has one place,
//!                        bit   id % 64                             whatever the range is
//! ```
//!
//! # Flat or Roaring?
//!
//! Roaring keeps each stretch of 65,536 ids as a sorted array of 2-byte numbers, as a bitmap of 8 KiB, or as runs
//! [Lemire et al. 2016]. From 4,096 ids in a stretch on (1 in 16) it is a bitmap as well, and saves nothing more. Below that an
//! array is smaller than a flat bitmap, and has to be searched. Measured with ids spread evenly, half of those asked in the set
//! (`roaring` 0.12, one by one, best of five; bytes an id as allocated after a sorted build, ns a read):
//!
//! | range | one id in | flat bytes | Roaring bytes | flat ns | Roaring ns | |
//! |---|---|---|---|---|---|---|
//! | 2^20 | 2 | 0.3 | 0.3 | 0.8 | 5.6 | 7x |
//! | 2^20 | 100 | 12.6 | 3.2 | 0.7 | 21 | 28x |
//! | 2^26 | 7 | 0.9 | 0.9 | 6.3 | 62 | 10x |
//! | 2^26 | 16 | 2.1 | 2.1 | 4.2 | 424 | 100x |
//! | 2^26 | 25 | 3.2 | 3.2 | 7.1 | 370 | 52x |
//! | 2^26 | 50 | 6.3 | 3.2 | 5.7 | 161 | 28x |
//! | 2^26 | 100 | 12.6 | 3.2 | 5.8 | 79 | 14x |
//! | 2^26 | 1,000 | 125 | 3.6 | 7.2 | 45 | 6x |
//! | 2^26 | 10,000 | 1250 | 8.9 | 5.4 | 29 | 5x |
//! | 2^30 | 100 | 12.6 | 3.2 | 8.5 | 491 | 58x |
//! | 2^30 | 1,000 | 125 | 3.6 | 9.2 | 181 | 20x |
//!
//! Down to one id in 25 flat takes no more memory and is faster: there is nothing to choose. Down to one in 100
//! ([`FLAT_FROM_ONE_IN`]) it takes up to four times the memory for reads 14 to 58 times as fast, and bulk inserts six times. From there
//! on the memory grows in proportion and the advantage of the reads shrinks, so that is where the rule turns to Roaring. Ranges
//! up to [`FLAT_UP_TO`] ids are flat in any case. And, or, xor, and-not of flat sets run at the speed of memory (100 million ids:
//! 1.1 ms); of Roaring sets in proportion to the ids.
//!
//! The rule knows how many ids, not how they lie. Ids in clusters or runs take less in Roaring than the table says; who knows
//! that of theirs makes an [`IdSet::Roaring`] at any count.
//!
//! # Papers
//!
//! Lemire, Ssi-Yan-Kai, Kaser: *Consistently faster and smaller compressed bitmaps with Roaring*, 2016.

mod algebra;
mod choice;
mod codec;
mod flat;
mod layout;
mod ranks;
#[cfg(feature = "roaring")]
mod roaring;
mod set;
#[cfg(test)]
mod tests;
mod two_bit;

pub use choice::{FLAT_FROM_ONE_IN, FLAT_UP_TO, Form, IdSet};
pub use flat::Bitmap;
pub use ranks::Ranks;
#[cfg(feature = "roaring")]
pub use roaring::RoaringSet;
pub use set::{IntegerSet, IntegerSetMut};
pub use two_bit::{Seen, SeenCounts, TwoBitMap};
