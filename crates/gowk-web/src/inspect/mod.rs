//! Looking inside filters: files below the folder of the command line, and files that are dropped on the page.
//!
//! `open.rs` makes a filter of a file, `report.rs` tells what it is, `heat.rs` how full which part of it is, `ask.rs` asks it keys,
//! `compare.rs` holds two against each other. `shelf.rs` keeps what was opened; `folder.rs` sees to it that nothing above the folder
//! is read. `servers.rs` does all of it for filters that live on Redis.

mod ask;
mod compare;
mod folder;
mod heat;
mod open;
mod report;
mod servers;
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
use shelf::Held;
use std::sync::Arc;

pub(crate) fn routes(shelf: Arc<Shelf>) -> Router {
    Router::new()
        .route("/folder", get(list))
        .route("/filters", post(take_upload))
        .route("/filters/open", post(open_file))
        .route("/filters/{id}/ask", post(ask_keys))
        .route("/filters/{id}/column", post(choose_column))
        .route("/servers", get(list_servers))
        .route("/servers/open", post(open_on_servers))
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
        Ok(Json(shelf.keep(Held::File(Arc::new(opened)), report)))
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
        Ok(Json(shelf.keep(Held::File(Arc::new(opened)), report)))
    })
    .await
}

async fn ask_keys(
    State(shelf): State<Arc<Shelf>>,
    Path(id): Path<u64>,
    Json(question): Json<ask::Question>,
) -> Result<Json<Value>, ApiError> {
    match shelf.get(id)? {
        Held::File(opened) => compute(move || ask::ask(&opened, &question).map(Json)).await,
        Held::Server(remote) => remote.ask(&question).await.map(Json),
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Column {
    column: String,
}

/// Another column of a Parquet file that is open.
async fn choose_column(
    State(shelf): State<Arc<Shelf>>,
    Path(id): Path<u64>,
    Json(Column { column }): Json<Column>,
) -> Result<Json<Value>, ApiError> {
    let opened = shelf.file(id)?;
    compute(move || {
        let opened = open::column(&opened, &column, shelf.most_upload())?;
        let report = report::tell(&opened);
        Ok(Json(shelf.keep(Held::File(Arc::new(opened)), report)))
    })
    .await
}

async fn list_servers(State(shelf): State<Arc<Shelf>>) -> Result<Json<Value>, ApiError> {
    servers::list(shelf.servers()).await.map(Json)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OnServers {
    name: String,
    keeper: String,
}

async fn open_on_servers(
    State(shelf): State<Arc<Shelf>>,
    Json(OnServers { name, keeper }): Json<OnServers>,
) -> Result<Json<Value>, ApiError> {
    let servers = shelf.servers().ok_or_else(|| {
        ApiError::not_found("no servers were given; start gowk web with --redis redis://HOST:6379")
    })?;
    let (remote, report) = servers::open(servers, &name, &keeper).await?;
    Ok(Json(shelf.keep(Held::Server(Arc::new(remote)), report)))
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
        let (a, b) = (shelf.file(a)?, shelf.file(b)?);
        compare::compare(&a, &b).map(Json)
    })
    .await
}
