//! Headers for browsers: CORS (Fetch standard, section 3.3), so that pages of other origins may read answers,
//! and HSTS (RFC 6797).
//!
//! A preflight request comes with OPTIONS and without credentials. So it is answered before authentication,
//! and its answer says nothing of what is served.

use axum::{body::Body, response::Response};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header, request::Parts};

use crate::{app::App, request::websocket_handshake::origin};

/// What a page may send and read, as in the reference.
const ALLOWED: [(HeaderName, HeaderValue); 4] = [
    (
        header::ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("POST, GET, OPTIONS, PUT, DELETE, PATCH"),
    ),
    (
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static(
            "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, \
             If-Modified-Since",
        ),
    ),
    (header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("Date")),
    (header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true")),
];

/// The answer to a preflight request of an origin that is allowed; `None` for any other request.
pub(super) fn permission(app: &App, parts: &Parts) -> Option<Response> {
    if parts.method != Method::OPTIONS || allowed(app, parts).is_none() {
        return None;
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Some(response)
}

/// Adds the headers for browsers to an answer, whatever it is.
pub(super) fn tell(app: &App, parts: &Parts, headers: &mut HeaderMap) {
    if let Some(value) = &app.browsers.strict_transport {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, value.clone());
    }
    if app.browsers.origins.is_empty() {
        return;
    }
    // A cache must not give one page what was answered to another.
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = allowed(app, parts) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.extend(ALLOWED);
    }
}

/// The origin of the page that sends a request, where it may.
fn allowed<'p>(app: &App, parts: &'p Parts) -> Option<&'p HeaderValue> {
    origin(&parts.headers).filter(|origin| app.browsers.lets_in(origin))
}
