//! The lab: a small filter, and a story of keys put in, asked for and taken out. The page sends the story, the engine lives it, and the
//! answer is one frame for each event: what the key became, what was found, how the filter is now.
//!
//! Nothing is kept between questions. Back, reset and links are then the page's affair: a story is all there is to restore.

mod bits;
mod counters;
mod cuckoo;
mod fill;
mod provoke;
mod story;

use crate::error::{ApiError, compute};
use axum::{
    Json, Router,
    extract::Query,
    routing::{get, post},
};
use serde_json::{Value, json};
use story::Story;

pub(crate) fn routes() -> Router {
    Router::new()
        .route("/lab", post(live))
        .route("/lab/provoke", post(provoke_one))
        .route("/lab/fill", get(fill_up))
}

/// The frames of a story.
async fn live(Json(story): Json<Story>) -> Result<Json<Value>, ApiError> {
    compute(move || {
        let mut lab = story.checked()?.lab()?;
        let frames: Vec<Value> = story.events().map(|event| lab.frame(event)).collect();
        Ok(Json(json!({ "shape": lab.shape(), "frames": frames })))
    })
    .await
}

/// A word that is not in the filter at the end of the story, and that it takes for one that is.
async fn provoke_one(Json(story): Json<Story>) -> Result<Json<Value>, ApiError> {
    compute(move || provoke::find(&story).map(Json)).await
}

/// Tables of every shape, filled until they refuse a key.
async fn fill_up(Query(question): Query<fill::Question>) -> Result<Json<Value>, ApiError> {
    compute(move || fill::fill(question).map(Json)).await
}

#[cfg(test)]
mod tests;
