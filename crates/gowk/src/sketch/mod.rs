//! Counts in less memory than the keys take: how often did it come, and what came most often?
//!
//! | type | answers | off by |
//! |---|---|---|
//! | [`CountMin`](crate::CountMin) | how often any key came | too high by at most e/width of all that came, except with chance e^-depth; never too low |
//! | [`TopK`](crate::TopK) | which keys came most, with their bytes | at most 1/slots of all that came, always; each count with its own bound |
//!
//! Both count occurrences, and are merged by adding up. They are for streams too large for a table of exact counts; a second
//! pass over the data makes the answer of [`TopK`](crate::TopK) exact, by counting just the keys it names.

pub mod count_min;
pub mod top_k;
#[cfg(test)]
mod zipf;
