//! The `Status` objects that clients read: what each error looks like on the wire.
//!
//! Messages, reasons and details are those of the reference. This is the only place that turns an
//! [`ApiError`] into HTTP.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, Uri, header};
use orch_meta::meta::v1::{Status, StatusCause, StatusDetails};
use orch_registry::error::{ApiError, ExistsDetail, Forbidden, ResourceName};
use orch_runtime::field_error::{FieldError, Shown as _};
use serde::Serialize;

/// The cause reason of a version that is not reached yet.
const RESOURCE_VERSION_TOO_LARGE: &str = "ResourceVersionTooLarge";
/// The cause reason of an eviction that a disruption budget forbids.
const DISRUPTION_BUDGET: &str = "DisruptionBudget";
const CONTINUE_EXPIRED: &str = "The provided continue parameter is too old to display a consistent list \
    result. Start a new list without the continue parameter, or use the continue token in this response to \
    get the remaining items as they are now: what changed since the first page may then be missing or be \
    listed twice.";

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

/// The Status of an error.
pub fn status_of(error: &ApiError) -> Status {
    match error {
        ApiError::NotFound { resource, name } => about(
            404,
            "NotFound",
            &format!("{} {} not found", resource.qualified(), name.shown()),
            resource,
            name,
        ),
        ApiError::UnknownResource | ApiError::UnknownPath => {
            generic(404, "NotFound", "the server could not find the requested resource")
        }
        ApiError::MethodNotAllowed(_) => generic(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        ),
        ApiError::AlreadyExists { resource, name, detail } => already_exists(resource, name, *detail),
        ApiError::Conflict { resource, name, cause } => about(
            409,
            "Conflict",
            &format!("Operation cannot be fulfilled on {} {}: {cause}", resource.qualified(), name.shown()),
            resource,
            name,
        ),
        ApiError::ApplyConflict(conflicts) => {
            let mut status = failure(409, "Conflict", &conflicts.to_string());
            let all = conflicts.0.iter().map(|conflict| StatusCause {
                reason: "FieldManagerConflict".to_owned(),
                message: conflict.message(),
                field: conflict.field.clone(),
            });
            causes(&mut status, all);
            status
        }
        ApiError::Invalid { group, kind, name, errors } => invalid(group, kind, name, errors),
        ApiError::Unprocessable(_) => {
            generic(422, "Invalid", "the server rejected our request due to an error in our request")
        }
        ApiError::BadRequest(message) => failure(400, "BadRequest", message),
        ApiError::Unauthorized => failure(401, "Unauthorized", "Unauthorized"),
        ApiError::Forbidden(forbidden) => {
            let Forbidden { resource, name, message, cause } = &**forbidden;
            let mut status = about(403, "Forbidden", message, resource, name);
            if let Some((reason, message, field)) = cause {
                let cause = StatusCause {
                    reason: (*reason).to_owned(),
                    message: message.clone(),
                    field: (*field).to_owned(),
                };
                causes(&mut status, [cause]);
            }
            status
        }
        ApiError::NotAcceptable(accepted) => failure(406, "NotAcceptable", &only(accepted)),
        ApiError::UnknownMediaType(known) => generic(406, "NotAcceptable", &available(known)),
        ApiError::NotOfThatForm(why) => failure(406, "NotAcceptable", why),
        ApiError::UnsupportedMediaType(accepted) => failure(
            415,
            "UnsupportedMediaType",
            &format!(
                "the body of the request was in an unknown format - accepted media types include: {}",
                accepted.join(", ")
            ),
        ),
        ApiError::UnsupportedPatchType => generic(415, "UnsupportedMediaType", "415: Unsupported Media Type"),
        ApiError::TooLarge(why) => {
            failure(413, "RequestEntityTooLarge", &format!("Request entity too large: {why}"))
        }
        ApiError::Expired(message) => failure(410, "Expired", message),
        ApiError::ExpiredContinue { token } => {
            let mut status = failure(410, "Expired", CONTINUE_EXPIRED);
            status.metadata.continue_.clone_from(token);
            status
        }
        ApiError::TooLargeResourceVersion { asked, current } => too_large_version(*asked, *current),
        ApiError::Timeout(why) => failure(504, "Timeout", &format!("Timeout: {why}")),
        ApiError::TooManyRequests { message, retry_after } => {
            retry(failure(429, "TooManyRequests", message), *retry_after)
        }
        ApiError::Disruption { cause, retry_after } => {
            let message = "Cannot evict pod as it would violate the pod's disruption budget.";
            let mut status = failure(429, "TooManyRequests", message);
            let cause = StatusCause {
                reason: DISRUPTION_BUDGET.to_owned(),
                message: cause.clone(),
                ..StatusCause::default()
            };
            causes(&mut status, [cause]);
            retry(status, *retry_after)
        }
        ApiError::Unavailable(message) => failure(503, "ServiceUnavailable", message),
        ApiError::InsufficientStorage(message) => failure(507, "InsufficientStorage", message),
        ApiError::Unclassified(message) => failure(500, "", message),
        ApiError::Internal { public, .. } => {
            let mut status = failure(500, "InternalError", &format!("Internal error occurred: {public}"));
            causes(&mut status, [StatusCause { message: public.clone(), ..StatusCause::default() }]);
            status
        }
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

fn only(accepted: &[String]) -> String {
    format!("only the following media types are accepted: {}", accepted.join(", "))
}

fn available(known: &[String]) -> String {
    format!("406: Not Acceptable\n\nAvailable representations: {}", known.join(", "))
}

fn plain_not_found() -> Response {
    let headers =
        [(header::CONTENT_TYPE, "text/plain; charset=utf-8"), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")];
    (StatusCode::NOT_FOUND, headers, "404 page not found\n").into_response()
}

fn failure(code: i32, reason: &str, message: &str) -> Status {
    Status {
        status: "Failure".to_owned(),
        message: message.to_owned(),
        reason: reason.to_owned(),
        code,
        ..Status::default()
    }
}

/// A failure without a resource: it has details, and they are empty.
fn generic(code: i32, reason: &str, message: &str) -> Status {
    Status { details: Some(StatusDetails::default()), ..failure(code, reason, message) }
}

fn about(code: i32, reason: &str, message: &str, resource: &ResourceName, name: &str) -> Status {
    Status {
        details: Some(StatusDetails {
            name: name.to_owned(),
            group: resource.group.clone(),
            kind: resource.resource.clone(),
            ..StatusDetails::default()
        }),
        ..failure(code, reason, message)
    }
}

fn already_exists(resource: &ResourceName, name: &str, detail: ExistsDetail) -> Status {
    let mut message = format!("{} {} already exists", resource.qualified(), name.shown());
    if detail.generated {
        message.push_str(", the server was not able to generate a unique name for the object");
    }
    if detail.deleting {
        message.insert_str(0, "object is being deleted: ");
    }
    let status = about(409, "AlreadyExists", &message, resource, name);
    if detail.generated { retry(status, 1) } else { status }
}

/// All violations of one object: one is printed bare, several in brackets, each once.
fn invalid(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> Status {
    let mut texts: Vec<String> = Vec::new();
    for text in errors.iter().map(ToString::to_string) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    let list = if texts.len() == 1 { texts.remove(0) } else { format!("[{}]", texts.join(", ")) };
    let group_kind = if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") };
    let mut status = failure(422, "Invalid", &format!("{group_kind} {} is invalid: {list}", name.shown()));
    status.details = Some(StatusDetails {
        name: name.to_owned(),
        group: group.to_owned(),
        kind: kind.to_owned(),
        ..StatusDetails::default()
    });
    let all = errors.iter().map(|error| StatusCause {
        reason: error.reason.as_str().to_owned(),
        message: error.body.clone(),
        field: error.field.clone(),
    });
    causes(&mut status, all);
    status
}

fn too_large_version(asked: u64, current: u64) -> Status {
    let mut status =
        failure(504, "Timeout", &format!("Timeout: Too large resource version: {asked}, current: {current}"));
    let cause = StatusCause {
        reason: RESOURCE_VERSION_TOO_LARGE.to_owned(),
        message: "Too large resource version".to_owned(),
        ..StatusCause::default()
    };
    causes(&mut status, [cause]);
    retry(status, 1)
}

fn causes(status: &mut Status, causes: impl IntoIterator<Item = StatusCause>) {
    status.details.get_or_insert_default().causes.extend(causes);
}

fn retry(mut status: Status, seconds: u32) -> Status {
    status.details.get_or_insert_default().retry_after_seconds = seconds.cast_signed();
    status
}
