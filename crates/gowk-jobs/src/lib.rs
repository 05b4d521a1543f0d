//! Set jobs on data larger than memory, for programs; the command line is a thin skin over this crate.
//!
//! [`input`] reads: files and pipes, plain or compressed, as blocks of whole records, and takes the key out of each.
//! Nothing in here prints or parses arguments.
#![forbid(unsafe_code)]

pub mod input;
