//! Looking inside filters: files below the folder of the command line, and files that are dropped on the page.
//!
//! `open.rs` makes a filter of a file, `report.rs` tells what it is, `heat.rs` how full which part of it is, `ask.rs` asks it keys,
//! `compare.rs` holds two against each other. `shelf.rs` keeps what was opened; `folder.rs` sees to it that nothing above the folder
//! is read.

mod ask;
mod compare;
mod folder;
mod heat;
mod open;
mod report;
mod shelf;
mod upload;

pub(crate) use shelf::Shelf;

use crate::error::{ApiError, compute};
use axum::{
    Json, Router,
    body::Body,
    extract::{Path, Query, State},
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) fn routes(shelf: Arc<Shelf>) -> Router {
    Router::new()
        .route("/folder", get(list))
        .route("/filters", post(take_upload))
        .route("/filters/open", post(open_file))
        .route("/filters/{id}/ask", post(ask_keys))
        .route("/compare", get(compare_two))
        .with_state(shelf)
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct At {
    path: String,
}

async fn list(State(shelf): State<Arc<Shelf>>, Query(at): Query<At>) -> Result<Json<Value>, ApiError> {
    compute(move || {
        let most_upload = shelf.most_upload();
        match shelf.folder() {
            Some(folder) => {
                let entries = folder.list(&at.path)?;
                Ok(Json(json!({ "folder": folder.name(), "path": at.path, "most_upload": most_upload, "entries": entries })))
            }
            None => Ok(Json(json!({ "folder": null, "most_upload": most_upload, "entries": [] }))),
        }
    })
    .await
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    path: String,
    #[serde(default)]
    column: Option<String>,
}

async fn open_file(State(shelf): State<Arc<Shelf>>, Json(file): Json<File>) -> Result<Json<Value>, ApiError> {
    compute(move || {
        let folder = shelf.folder().ok_or_else(|| {
            ApiError::not_found("no folder was given; start gowk web with one, or drop the file on the page")
        })?;
        let path = folder.find(&file.path)?;
        let opened = open::file(&path, &file.path, file.column.as_deref(), shelf.most_upload())?;
        let report = report::tell(&opened);
        Ok(Json(shelf.keep(opened, report)))
    })
    .await
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Named {
    name: String,
    column: Option<String>,
}

async fn take_upload(
    State(shelf): State<Arc<Shelf>>,
    Query(named): Query<Named>,
    body: Body,
) -> Result<Json<Value>, ApiError> {
    let file = upload::receive(body, shelf.uploads(), shelf.most_upload()).await?;
    compute(move || {
        let name = if named.name.is_empty() { "dropped file" } else { &named.name };
        let opened = open::upload(file, name, named.column.as_deref(), shelf.most_upload())?;
        let report = report::tell(&opened);
        Ok(Json(shelf.keep(opened, report)))
    })
    .await
}

async fn ask_keys(
    State(shelf): State<Arc<Shelf>>,
    Path(id): Path<u64>,
    Json(question): Json<ask::Question>,
) -> Result<Json<Value>, ApiError> {
    compute(move || ask::ask(&*shelf.get(id)?, &question).map(Json)).await
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Two {
    a: u64,
    b: u64,
}

async fn compare_two(
    State(shelf): State<Arc<Shelf>>,
    Query(Two { a, b }): Query<Two>,
) -> Result<Json<Value>, ApiError> {
    compute(move || {
        let (a, b) = (shelf.get(a)?, shelf.get(b)?);
        compare::compare(&a, &b).map(Json)
    })
    .await
}
