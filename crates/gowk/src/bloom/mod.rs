//! The Bloom family: bits that keys set, and a key is in the set, maybe, if all of its bits are.
//!
//! | type | a key's bits | bits/key at 1 % / 0.1 % / 2^-16 | for |
//! |---|---|---|---|
//! | [`blocked`] | in one, two or four neighbouring lines | 9.93 / 14.99 / 24.42 | everything; the default |
//! | [`classic`] | by threes and fours in one to three lines, or anywhere | 9.64 / 14.45 / 23.14 | the least space; other systems' filters |
//! | [`split_block`] | in 32 bytes, one in each word | 10.53 / 16.89 / 37.8 | Parquet |
//! | [`scalable`] | in a chain of blocked filters | | keys whose number nobody knows |

pub mod blocked;
pub mod classic;
pub mod counting;
mod eight;
mod mixture;
pub mod scalable;
pub mod split_block;
