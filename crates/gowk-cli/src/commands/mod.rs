//! One file a command.

pub(crate) mod add;
pub(crate) mod bench;
pub(crate) mod build;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod distinct;
pub(crate) mod generate;
pub(crate) mod help;
pub(crate) mod index;
pub(crate) mod info;
pub(crate) mod merge;
pub(crate) mod once;
pub(crate) mod plan;
pub(crate) mod query;
pub(crate) mod redis;
pub(crate) mod remove;
pub(crate) mod topk;
pub(crate) mod union;
#[cfg(feature = "web")]
pub(crate) mod web;
pub(crate) mod words;
