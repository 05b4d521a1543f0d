//! The page of gowk: see the bits, plan the size, look inside a filter.
//!
//! ```text
//!  web/*.html *.css *.js  --embedded-->  assets.rs        the page draws
//!                                           |
//!  browser  --guard.rs: Host, Origin--> Router --/api/-->  plan.rs | lab/ | inspect/     the engine computes
//! ```
//!
//! Every number on the page comes from the library through a small JSON interface; the page only draws. The server has no state but
//! the filters that were opened: the lab sends its whole story with each question, so that a link restores it.
//!
//! No printing and no arguments here; `gowk web` is the command.
#![forbid(unsafe_code)]

mod assets;
mod error;
mod guard;
mod inspect;
mod lab;
mod plan;
mod server;

pub use server::{Options, Server};
