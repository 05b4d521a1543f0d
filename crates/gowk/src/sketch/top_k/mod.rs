//! PAGE
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
