//! A set that forgets: "seen in the last hour?", "among the last million?"
//!
//! A [`Window`] is G generations of a [blocked Bloom filter](crate::bloom::blocked). Keys go into the youngest; a key is
//! in the window if any generation has it; from time to time the oldest is cleared whole and becomes the youngest. A
//! generation lasts a (G-1)th of the window, so that the G-1 that are complete always span it:
//!
//! - a key that came within the window is found, always;
//! - a key is forgotten once it is older than the window and one generation more, 1/7 of a window with G = 8;
//! - in between it may be either.
//!
//! Time is the number of inserts, or ticks of a clock that the caller drives by [`Window::advance`].
//!
//! # Side by side
//!
//! A block is the lines of all generations, one after another: 512 bytes with G = 8. A lookup reads neighbouring lines,
//! which memory gives almost as one; an insert writes one of them.
//!
//! ```text
//!  block 0                          block 1                                block N-1
//!  | gen 0 | gen 1 | ... | gen 7 |  | gen 0 | gen 1 | ... | gen 7 |  ...   | gen 0 | gen 1 | ... | gen 7 |
//!                    ^ written         ^ turned already: written in the next generation
//! ```
//!
//! # Turning
//!
//! The blocks do not turn all at once but one after another, evenly over the life of a generation: by the time the last
//! one has turned, the first turns again. Each block has its own generations, begun a little later than those of its
//! neighbour, and what is promised holds for each. Two things come of it. There is never a pause: clearing is one line every
//! 35 inserts or so (at 1 %), not a gigabyte once an hour. And the rate is the same at all times, where generations that
//! turn together would start at 7/8 of it and be sized for the end: 2 % fewer bits.
//!
//! # The rate
//!
//! With f(n) the rate of N blocks of one generation that has n keys, exactly as in the blocked filter, and q = window/(G-1):
//!
//! ```text
//! fpp = 1 - (1 - f(q))^(G-1) (1 - p),   p = the mean of f over fillings from 0 to q
//! ```
//!
//! More generations make the youngest ones' slack smaller and the rate of each smaller, too. Bits per key of the window are
//! least at G = 6 to 12, and almost the same from 5 to 12; eight lines lie in one page. Asserted by
//! `sizing::tests::doc_table_is_true`, at a million keys:
//!
//! | rate | lines a generation | K | bits/key | bytes read by a lookup |
//! |---|---|---|---|---|
//! | 10 % | 1 | 6 | 10.36 | 512 |
//! | 1 % | 1 | 8 | 16.89 | 512 |
//! | 0.1 % | 2 | 6 | 22.61 | 1024 |
//! | 2^-16 | 2 | 8 | 36.04 | 1024 |
//!
//! A window by time is sized for the keys that come in one window, spread evenly. Where they come in bursts, the
//! generation that takes the burst has a higher rate and the promise may be missed while it is inside;
//! [`stats`](crate::Filter::stats) tells what the rate is.

mod clock;
mod codec;
mod filter;
mod sizing;
#[cfg(test)]
mod tests;

pub use clock::Pace;
pub use filter::Window;
pub use sizing::{GENERATIONS, PAIR_BELOW, QUAD_BELOW, WindowParams};
