//! Who may ask. The server listens on the loopback alone; but a browser on this machine runs scripts of strangers, and these can send
//! requests here.
//!
//! - A name that someone else owns can be pointed at 127.0.0.1 (DNS rebinding), and then a stranger's page is of the same origin as
//!   ours. Its requests bear that name in `Host`: only our own names are answered.
//! - A page elsewhere can send simple requests without reading the answers. They bear its `Origin`, or `Sec-Fetch-Site`: only
//!   our own page may ask the interface.
//!
//! The headers of every answer keep the page from loading or sending anything elsewhere, from being framed, and from running any
//! script that is not one of its files: the bytes of a hostile filter could at worst become words on it.

use crate::error::ApiError;
use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use std::sync::Arc;

/// The names under which the server is asked by its own page.
#[derive(Clone, Debug)]
pub(crate) struct Names(Arc<[String]>);

impl Names {
    pub(crate) fn new(port: u16) -> Self {
        let hosts = ["127.0.0.1", "localhost"];
        let with_port = hosts.map(|host| format!("{host}:{port}"));
        // Browsers leave the port of the scheme out.
        let bare = if port == 80 { hosts.map(String::from).to_vec() } else { Vec::new() };
        Self(with_port.into_iter().chain(bare).collect())
    }

    fn has(&self, host: &str) -> bool {
        self.0.iter().any(|name| name.eq_ignore_ascii_case(host))
    }
}

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const HEADERS: [(header::HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Answers requests to our own names, from our own page or from no page at all.
pub(crate) async fn only_here(State(names): State<Names>, request: Request, next: Next) -> Response {
    let mut response = match check(&names, request.headers()) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

fn check(names: &Names, headers: &HeaderMap) -> Result<(), ApiError> {
    let text = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if !text(header::HOST).is_some_and(|host| names.has(host)) {
        return Err(ApiError::forbidden(
            "this server answers to 127.0.0.1 and localhost only; open the address that gowk web printed",
        ));
    }
    let foreign = |origin: &str| !origin.strip_prefix("http://").is_some_and(|host| names.has(host));
    if text(header::ORIGIN).is_some_and(foreign) {
        return Err(ApiError::forbidden("this server answers its own page only, not pages of other sites"));
    }
    Ok(())
}

/// The interface is for our own page: a browser says where a request comes from, and anything but here is refused.
pub(crate) async fn same_origin(request: Request, next: Next) -> Response {
    let from = request.headers().get("sec-fetch-site").map(HeaderValue::as_bytes);
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    match from {
        Some(b"same-origin") | None => next.run(request).await,
        // Someone typed the address.
        Some(b"none") if reads => next.run(request).await,
        Some(_) => ApiError::forbidden("this server answers its own page only, not pages of other sites")
            .into_response(),
    }
}
