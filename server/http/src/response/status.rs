//! The `Status` objects that clients read: what each error looks like on the wire.
//!
//! Messages, reasons and details are those of the reference. This is the only place that turns an
//! [`ApiError`] into HTTP.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, Uri, header};
use orch_meta::meta::v1::Status;
use orch_registry::error::ApiError;
use serde::Serialize;

mod failures;

pub use failures::status_of;

/// An extension of an answer of 500, for the layer that logs it. It is not sent to the client.
#[derive(Clone, Debug)]
pub struct Fault {
    /// What the client reads.
    pub public: String,
    /// What only the log may hold.
    pub detail: String,
}

/// An extension of answers to requests that the server ended to protect itself.
#[derive(Clone, Copy, Debug)]
pub struct Terminated;

/// The answer to a request that fails.
pub fn refusal(error: ApiError) -> Response {
    if error == ApiError::UnknownPath {
        return plain_not_found();
    }
    let mut response = respond(&status_of(&error));
    if let ApiError::MethodNotAllowed(methods) = &error
        && let Ok(methods) = HeaderValue::from_str(methods)
    {
        response.headers_mut().insert(header::ALLOW, methods);
    }
    if let ApiError::TooManyRequests { .. } | ApiError::Timeout(_) = &error {
        response.extensions_mut().insert(Terminated);
    }
    if let ApiError::Internal { public, detail } = error {
        response.extensions_mut().insert(Fault { public, detail });
    }
    response
}

/// The answer where an authorizer failed, which is no Status.
pub fn undecided(uri: &str, problem: &str) -> Response {
    internal_text(uri, problem, "an authorizer failed")
}

/// The answer to a request of which no record could be made, which is no Status.
pub fn unrecorded(uri: &str) -> Response {
    internal_text(uri, "failed to store audit event", "a backend in the mode blocking-strict failed")
}

/// The answer to an impersonation without a user name, which is no Status, as in the reference. The client is
/// at fault, so the log says nothing.
pub fn nobody_to_impersonate(uri: &str, problem: &str) -> Response {
    plain_internal(uri, problem)
}

/// 500 as text. `why` is what the log says besides the problem.
fn internal_text(uri: &str, problem: &str, why: &str) -> Response {
    let mut response = plain_internal(uri, problem);
    response.extensions_mut().insert(Fault { public: why.to_owned(), detail: problem.to_owned() });
    response
}

/// What was asked for as refusals name it: path and query. Over HTTP/2 a request names the whole address.
pub fn asked(uri: &Uri) -> String {
    uri.path_and_query().map_or_else(|| uri.path().to_owned(), ToString::to_string)
}

fn plain_internal(uri: &str, problem: &str) -> Response {
    let public = format!("Internal Server Error: {uri:?}: {problem}");
    let headers =
        [(header::CONTENT_TYPE, "text/plain; charset=utf-8"), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")];
    (StatusCode::INTERNAL_SERVER_ERROR, headers, format!("{public}\n")).into_response()
}

/// An error as the log and the operator read it: with what is kept from clients.
pub fn text_for_operator(error: &ApiError) -> String {
    match error {
        ApiError::Internal { public, detail } => format!("{public}: {detail}"),
        other => status_of(other).message,
    }
}

/// Sends a Status under the code that it carries; a Status without one is a success.
pub fn respond(status: &Status) -> Response {
    let code = u16::try_from(status.code).ok().filter(|code| *code >= 100).unwrap_or(200);
    let mut response = Response::new(Body::from(json(status)));
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let seconds = status.details.as_ref().map_or(0, |details| details.retry_after_seconds);
    if seconds > 0 {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    // For the layer that rewrites a Status in another media type.
    response.extensions_mut().insert(status.clone());
    response
}

/// The JSON text of a Status, with a newline at the end.
pub fn json(status: &Status) -> Vec<u8> {
    #[derive(Serialize)]
    struct Document<'a> {
        kind: &'static str,
        #[serde(rename = "apiVersion")]
        api_version: &'static str,
        #[serde(flatten)]
        status: &'a Status,
    }
    let mut text = serde_json::to_vec(&Document { kind: "Status", api_version: "v1", status })
        .expect("strings, numbers and lists have a JSON form");
    text.push(b'\n');
    text
}

fn plain_not_found() -> Response {
    let headers =
        [(header::CONTENT_TYPE, "text/plain; charset=utf-8"), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")];
    (StatusCode::NOT_FOUND, headers, "404 page not found\n").into_response()
}
