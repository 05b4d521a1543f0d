//! What the page is told when something cannot be done: a status, and a sentence.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::json;
use std::fmt;

/// A question that has no answer.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    text: String,
}

impl ApiError {
    /// The question makes no sense; the error says why.
    pub(crate) fn bad(error: impl fmt::Display) -> Self {
        Self { status: StatusCode::BAD_REQUEST, text: error.to_string() }
    }

    pub(crate) fn not_found(text: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_FOUND, text: text.into() }
    }

    pub(crate) fn too_large(text: impl Into<String>) -> Self {
        Self { status: StatusCode::PAYLOAD_TOO_LARGE, text: text.into() }
    }

    /// Something of ours has failed.
    pub(crate) fn failed(error: impl fmt::Display) -> Self {
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, text: error.to_string() }
    }

    /// Somebody whom we asked has failed.
    pub(crate) fn elsewhere(error: impl fmt::Display) -> Self {
        Self { status: StatusCode::BAD_GATEWAY, text: error.to_string() }
    }

    pub(crate) fn forbidden(text: impl Into<String>) -> Self {
        Self { status: StatusCode::FORBIDDEN, text: text.into() }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.text }))).into_response()
    }
}

/// Work that takes the processor, away from the threads that answer.
pub(crate) async fn compute<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        // A bug of ours; the page is told, and the server lives on.
        Err(_) => Err(ApiError::failed("this could not be computed; the server's terminal says more")),
    }
}
