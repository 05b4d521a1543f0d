//! Set jobs on data larger than memory, for programs; the command line is a thin skin over this crate.
//!
//! [`input`] reads: files and pipes, plain or compressed, as blocks of whole records, and takes the key out of each.
//! [`member`] holds keys in memory against those that stream by.
//! A job works on [`Records`] under [`Options`], hands its answer to an [`Output`], and gives [`Stats`]:
//!
//! | job | answers |
//! |---|---|
//! | [`Distinct`] | each record once; with counts; only duplicates; only what came once |
//! | [`Top`] | the keys that came most often |
//! | [`OnceInts`] | integers that came exactly once, by two bits a value |
//! | [`Words`] | which files hold which of some words |
//! | [`IndexBuilder`], [`Index`] | which files hold a word, from an index |
//! | [`Compare`] | intersection and difference of two inputs; semi-join and anti-join |
//!
//! All are exact, inside a memory limit, and independent of the number of threads. Nothing in here prints or parses
//! arguments.
#![forbid(unsafe_code)]

mod distinct;
mod engine;
mod error;
mod index;
pub mod input;
mod ints;
pub mod member;
mod options;
mod output;
mod plan;
mod records;
mod sets;
mod stats;
mod top;
mod words;

pub use distinct::{Distinct, Order, Which};
pub use error::JobError;
pub use index::{Index, IndexBuilder, IndexError, IndexStats};
pub use ints::OnceInts;
pub use options::Options;
pub use output::{Output, Row};
pub use plan::Plan;
pub use records::Records;
pub use sets::{Approximate, Compare, Operation};
pub use stats::{Stage, Stats};
pub use top::{Top, TopError};
pub use words::{Hit, Words};
