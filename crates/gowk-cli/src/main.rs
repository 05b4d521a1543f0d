//! `gowk`, the command line: is it in the set?
//!
//! One file a command, each of which reads its arguments and calls the library. Data goes to stdout, words to stderr.
#![forbid(unsafe_code)]

mod args;
mod commands;
mod exit;
mod filter_file;
mod foreign;
mod histogram;
mod in_place;
mod job;
mod numbers;
mod options;
mod progress;
mod table;

use clap::Parser;

fn main() -> std::process::ExitCode {
    exit::from(args::Args::parse().run())
}
