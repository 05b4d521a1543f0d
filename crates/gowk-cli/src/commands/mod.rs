//! One file a command.

pub(crate) mod build;
pub(crate) mod info;
pub(crate) mod query;
