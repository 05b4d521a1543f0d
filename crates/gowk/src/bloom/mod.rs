//! The Bloom family.

pub mod blocked;
pub mod counting;
