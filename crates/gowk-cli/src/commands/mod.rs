//! One file a command.

pub(crate) mod add;
pub(crate) mod bench;
pub(crate) mod build;
pub(crate) mod convert;
pub(crate) mod generate;
pub(crate) mod help;
pub(crate) mod info;
pub(crate) mod merge;
pub(crate) mod plan;
pub(crate) mod query;
pub(crate) mod remove;
