//! The filters that the page has open.

use super::{folder::Folder, open::Opened};
use crate::error::ApiError;
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
    uploads: TempDir,
    most_upload: u64,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    last: u64,
    filters: VecDeque<(u64, Arc<Opened>)>,
}

impl Shelf {
    pub(crate) fn new(folder: Option<&Path>, most_upload: u64) -> io::Result<Self> {
        Ok(Self {
            folder: folder.map(Folder::new).transpose()?,
            uploads: tempfile::Builder::new().prefix("gowk-web-").tempdir()?,
            most_upload,
            open: Mutex::default(),
        })
    }

    pub(super) fn folder(&self) -> Option<&Folder> {
        self.folder.as_ref()
    }

    /// Where dropped files are kept while they are open.
    pub(crate) fn uploads(&self) -> &Path {
        self.uploads.path()
    }

    pub(super) fn most_upload(&self) -> u64 {
        self.most_upload
    }

    /// Keeps a filter, and tells the number to ask it by along with the report.
    pub(super) fn keep(&self, opened: Opened, mut report: Value) -> Value {
        // What is behind the lock is whole at every moment, so a panic elsewhere does not matter.
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.last += 1;
        let id = open.last;
        open.filters.push_back((id, Arc::new(opened)));
        if open.filters.len() > MOST_OPEN {
            open.filters.pop_front();
        }
        report["id"] = id.into();
        report
    }

    pub(super) fn get(&self, id: u64) -> Result<Arc<Opened>, ApiError> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let found = open.filters.iter().find(|(number, _)| *number == id);
        found.map(|(_, opened)| Arc::clone(opened)).ok_or_else(|| {
            ApiError::not_found(format!(
                "this filter is no longer open, as {MOST_OPEN} others were opened since; open it again"
            ))
        })
    }
}
