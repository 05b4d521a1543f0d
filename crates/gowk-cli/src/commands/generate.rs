//! `gowk man` and `gowk completions`: made from the same source as the help.

use super::help::TOPICS;
use crate::{args, exit::Found};
use anyhow::{Context, bail};
use clap_mangen::Man as Page;
use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
};

/// Print the man page, of gowk or of a command
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk man | man -l -
  gowk man --folder ~/.local/share/man/man1     gowk.1 and a page for each command")]
pub(crate) struct Man {
    /// The command
    about: Option<String>,
    /// Write all pages into this folder instead
    #[arg(long, value_name = "FOLDER", conflicts_with = "about")]
    folder: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        let gowk = args::command();
        if let Some(folder) = &self.folder {
            fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
            for (name, page) in pages(&gowk)? {
                let path = folder.join(format!("{name}.1"));
                fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
            }
            return Ok(Found::Something);
        }
        let wanted = self.about.as_ref().map_or("gowk".into(), |about| format!("gowk-{about}"));
        let Some((_, page)) = pages(&gowk)?.into_iter().find(|(name, _)| *name == wanted) else {
            bail!("there is no command {}; gowk --help lists them", self.about.unwrap_or_default());
        };
        io::stdout().lock().write_all(&page).context("cannot write the page")?;
        Ok(Found::Something)
    }
}

/// The page of the program and one for each command, by name.
fn pages(gowk: &clap::Command) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let mut first = Vec::new();
    Page::new(gowk.clone()).render(&mut first)?;
    for (_, text) in TOPICS {
        let (title, body) = text.split_once('\n').unwrap_or((text, ""));
        // A page of plain text, as it is: no line of it begins with a dot.
        write!(
            first,
            ".SH \"{title}\"\n.nf\n{}\n.fi\n",
            body.trim().replace('\\', "\\\\").replace('-', "\\-")
        )?;
    }
    let mut pages = vec![("gowk".to_owned(), first)];
    for command in gowk.get_subcommands().filter(|command| !command.is_hide_set()) {
        let name = format!("gowk-{}", command.get_name());
        let mut page = Vec::new();
        let named = command.clone().name(name.clone()).bin_name(format!("gowk {}", command.get_name()));
        Page::new(named).render(&mut page)?;
        pages.push((name, page));
    }
    Ok(pages)
}

/// Print the completions for a shell
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  gowk completions bash > ~/.local/share/bash-completion/completions/gowk
  gowk completions zsh > ~/.zfunc/_gowk
  gowk completions fish > ~/.config/fish/completions/gowk.fish")]
pub(crate) struct Completions {
    /// Which shell
    shell: clap_complete::Shell,
}

impl Completions {
    pub(crate) fn run(self) -> anyhow::Result<Found> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut args::command(), "gowk", &mut text);
        io::stdout().lock().write_all(&text).context("cannot write the completions")?;
        Ok(Found::Something)
    }
}
