//! `gowk help`: of commands, and pages on what they share.

use crate::{args, exit::Found};
use anyhow::{Context, bail};
use std::io::{self, Write};

/// Explain a command, or a topic: keys, numbers, families, exit
#[derive(clap::Args)]
pub(crate) struct Help {
    /// A command, or a topic: keys, numbers, families, exit
    about: Option<String>,
}

/// The pages.
pub(crate) const TOPICS: [(&str, &str); 4] = [
    ("keys", include_str!("../topics/keys.txt")),
    ("numbers", include_str!("../topics/numbers.txt")),
    ("families", include_str!("../topics/families.txt")),
    ("exit", include_str!("../topics/exit.txt")),
];

impl Help {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        let mut gowk = args::command();
        let text = match self.about.as_deref() {
            None => gowk.render_long_help().to_string(),
            Some(about) => match TOPICS.iter().find(|(name, _)| *name == about) {
                Some((_, page)) => (*page).to_owned(),
                None => match gowk.find_subcommand_mut(about) {
                    Some(command) => command.render_long_help().to_string(),
                    None => bail!(
                        "there is no command and no topic {about}; the topics are {}, and gowk --help lists the commands",
                        TOPICS.map(|(name, _)| name).join(", ")
                    ),
                },
            },
        };
        io::stdout().lock().write_all(text.as_bytes()).context("cannot write the help")?;
        Ok(Found::Something)
    }
}
