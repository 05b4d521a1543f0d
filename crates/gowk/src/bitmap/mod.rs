//! Exact sets of integers.
//!
//! TABLE
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
