//! The folder of the command line: what is in it, and nothing above it.

use crate::error::ApiError;
use serde::Serialize;
use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

/// The most entries of a folder that are listed.
const MOST_ENTRIES: usize = 1_000;

pub(super) struct Folder {
    /// Its one true path: no links in it.
    root: PathBuf,
}

#[derive(Debug, Serialize)]
pub(super) struct Entry {
    name: String,
    path: String,
    is_folder: bool,
    bytes: u64,
}

impl Folder {
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        let root = fs::canonicalize(path)?;
        match root.is_dir() {
            true => Ok(Self { root }),
            false => Err(io::Error::new(io::ErrorKind::NotADirectory, "it is not a folder")),
        }
    }

    /// The last part of its path: the rest is nobody's business.
    pub(super) fn name(&self) -> String {
        self.root.file_name().map_or("/".into(), |name| name.to_string_lossy().into_owned())
    }

    /// The true path of what the page names. Refuses what lies outside, by `..`, by a path from the root, or by a link; and tells
    /// nothing of what is there.
    fn inside(&self, path: &str) -> Result<PathBuf, ApiError> {
        let outside = || ApiError::not_found(format!("there is no {path} in the folder"));
        let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        if !plain || path.contains('\0') {
            return Err(outside());
        }
        let found = fs::canonicalize(self.root.join(path)).map_err(|_| outside())?;
        if found.starts_with(&self.root) { Ok(found) } else { Err(outside()) }
    }

    /// The file of this name.
    pub(super) fn find(&self, path: &str) -> Result<PathBuf, ApiError> {
        let found = self.inside(path)?;
        // Not a pipe, which would keep us waiting, nor a device.
        match found.is_file() {
            true => Ok(found),
            false => Err(ApiError::bad(format!("{path} is not a file"))),
        }
    }

    /// Folders and files, in the order of their names.
    pub(super) fn list(&self, path: &str) -> Result<Vec<Entry>, ApiError> {
        let at = self.inside(path)?;
        let entries =
            fs::read_dir(&at).map_err(|error| ApiError::bad(format!("cannot list {path}: {error}")))?;
        let mut list: Vec<Entry> = entries
            .filter_map(|entry| {
                // A name that is no text cannot be asked for.
                let name =
                    entry.ok()?.file_name().into_string().ok().filter(|name| !name.starts_with('.'))?;
                let path = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
                let meta = fs::metadata(self.inside(&path).ok()?).ok()?;
                let is_folder = meta.is_dir();
                (is_folder || meta.is_file()).then_some(Entry { name, path, is_folder, bytes: meta.len() })
            })
            .take(MOST_ENTRIES)
            .collect();
        list.sort_by(|a, b| (!a.is_folder, &a.name).cmp(&(!b.is_folder, &b.name)));
        Ok(list)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_outside_the_folder_is_found() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("given");
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(outer.path().join("secret.gowk"), "secret").unwrap();
        fs::write(root.join("mine.gowk"), "mine").unwrap();
        symlink(outer.path().join("secret.gowk"), root.join("link.gowk")).unwrap();
        symlink(outer.path(), root.join("up")).unwrap();
        symlink(root.join("mine.gowk"), root.join("sub/inner.gowk")).unwrap();
        let folder = Folder::new(&root).unwrap();
        let absolute = outer.path().join("secret.gowk").to_string_lossy().into_owned();
        for path in [
            "../secret.gowk",
            "sub/../../secret.gowk",
            "./mine.gowk",
            "link.gowk",
            "up/secret.gowk",
            "up",
            "/etc/passwd",
            &absolute,
            "a\0b",
        ] {
            assert!(folder.find(path).is_err(), "{path}");
        }
        assert!(folder.list("..").is_err() && folder.list("up").is_err());
        assert_eq!(folder.find("mine.gowk").unwrap(), folder.find("sub/inner.gowk").unwrap());
        let names: Vec<String> = folder.list("").unwrap().into_iter().map(|entry| entry.name).collect();
        assert_eq!(names, ["sub", "mine.gowk"]);
    }

    #[test]
    fn a_pipe_is_not_a_file() {
        let root = tempfile::tempdir().unwrap();
        let made = std::process::Command::new("mkfifo").arg(root.path().join("pipe")).status().unwrap();
        assert!(made.success());
        let folder = Folder::new(root.path()).unwrap();
        assert!(folder.find("pipe").is_err());
        assert!(folder.list("").unwrap().is_empty());
    }
}
