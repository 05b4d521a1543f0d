//! The files of the page, inside the program.

use crate::error::ApiError;
use axum::{
    http::{Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// A file of the page: its path, its type, its text.
macro_rules! files {
    ($($path:literal: $kind:expr,)*) => {
        &[$(($path, $kind, include_str!(concat!("../page/", $path))),)*]
    };
}

const FILES: &[(&str, &str, &str)] = files! {
    "index.html": HTML,
    "icon.svg": SVG,
    "style/base.css": CSS,
    "style/parts.css": CSS,
    "style/lab.css": CSS,
    "style/inspect.css": CSS,
    "script/main.js": SCRIPT,
    "script/theme.js": SCRIPT,
    "script/api.js": SCRIPT,
    "script/dom.js": SCRIPT,
    "script/numbers.js": SCRIPT,
    "script/chart.js": SCRIPT,
    "script/plan.js": SCRIPT,
    "script/lab/view.js": SCRIPT,
    "script/lab/story.js": SCRIPT,
    "script/lab/words.js": SCRIPT,
    "script/lab/bits.js": SCRIPT,
    "script/lab/nests.js": SCRIPT,
    "script/lab/fill.js": SCRIPT,
    "script/inspect/view.js": SCRIPT,
    "script/inspect/heat.js": SCRIPT,
    "script/inspect/compare.js": SCRIPT,
};

pub(crate) async fn serve(method: Method, uri: Uri) -> Response {
    let path = match uri.path().trim_start_matches('/') {
        "" => "index.html",
        path => path,
    };
    match FILES.iter().find(|(name, ..)| *name == path) {
        Some(_) if !matches!(method, Method::GET | Method::HEAD) => {
            (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD")]).into_response()
        }
        // Asked for each time: it comes from this machine's memory, and an upgrade is seen at once.
        Some((_, kind, text)) => {
            ([(header::CONTENT_TYPE, *kind), (header::CACHE_CONTROL, "no-cache")], *text).into_response()
        }
        None => ApiError::not_found("there is no such page; the page is at /").into_response(),
    }
}
