//! Which files hold which words.
//!
//! A word is a longest run of letters, marks, digits and underscores, by the Unicode properties that `\w` stands for in regular
//! expressions. [`Words`] looks for some words in many files; an [`Index`](crate::Index) knows all words.

mod list;
mod token;

pub use list::{Hit, Words};
pub(crate) use token::{Folding, each_word};
