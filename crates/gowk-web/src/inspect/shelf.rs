//! The filters that the page has open.

use super::{folder::Folder, open::Opened, servers::Remote};
use crate::error::ApiError;
use gowk_redis::Servers;
use serde_json::Value;
use std::{
    collections::VecDeque,
    io,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};
use tempfile::TempDir;

/// How many filters are kept open; the oldest goes, and with it the copy of a file that was dropped on the page.
const MOST_OPEN: usize = 8;

pub(crate) struct Shelf {
    folder: Option<Folder>,
    servers: Option<Servers>,
    uploads: TempDir,
    most_upload: u64,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    last: u64,
    filters: VecDeque<(u64, Held)>,
}

/// A filter that is open.
#[derive(Clone)]
pub(super) enum Held {
    File(Arc<Opened>),
    Server(Arc<Remote>),
}

impl Shelf {
    pub(crate) fn new(folder: Option<&Path>, servers: Option<Servers>, most_upload: u64) -> io::Result<Self> {
        Ok(Self {
            folder: folder.map(Folder::new).transpose()?,
            servers,
            uploads: tempfile::Builder::new().prefix("gowk-web-").tempdir()?,
            most_upload,
            open: Mutex::default(),
        })
    }

    pub(super) fn folder(&self) -> Option<&Folder> {
        self.folder.as_ref()
    }

    pub(super) fn servers(&self) -> Option<&Servers> {
        self.servers.as_ref()
    }

    /// Where dropped files are kept while they are open.
    pub(crate) fn uploads(&self) -> &Path {
        self.uploads.path()
    }

    pub(super) fn most_upload(&self) -> u64 {
        self.most_upload
    }

    /// Keeps a filter, and tells the number to ask it by along with the report.
    pub(super) fn keep(&self, held: Held, mut report: Value) -> Value {
        // What is behind the lock is whole at every moment, so a panic elsewhere does not matter.
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.last += 1;
        let id = open.last;
        open.filters.push_back((id, held));
        if open.filters.len() > MOST_OPEN {
            open.filters.pop_front();
        }
        report["id"] = id.into();
        report
    }

    pub(super) fn get(&self, id: u64) -> Result<Held, ApiError> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let found = open.filters.iter().find(|(number, _)| *number == id);
        found.map(|(_, held)| held.clone()).ok_or_else(|| {
            ApiError::not_found(format!(
                "this filter is no longer open, as {MOST_OPEN} others were opened since; open it again"
            ))
        })
    }

    /// A filter in a file.
    pub(super) fn file(&self, id: u64) -> Result<Arc<Opened>, ApiError> {
        match self.get(id)? {
            Held::File(opened) => Ok(opened),
            Held::Server(_) => Err(ApiError::bad(
                "a filter on servers is looked at where it is; gowk redis export makes a file of it, which can be compared",
            )),
        }
    }
}
