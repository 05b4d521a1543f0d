//! The Bloom family.

pub mod blocked;
