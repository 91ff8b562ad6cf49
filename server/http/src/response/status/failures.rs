//! The `Status` of each error: its code and reason, its message, and its details.

use orch_machinery::apply::Conflict;
use orch_meta::meta::v1::{Status, StatusCause, StatusDetails};
use orch_registry::error::{ApiError, ExistsDetail, Forbidden, ResourceName};
use orch_runtime::field_error::{FieldError, Shown as _};

const UNKNOWN_PATH: &str = "the server could not find the requested resource";
const METHOD_NOT_ALLOWED: &str = "the server does not allow this method on the requested resource";
const UNPROCESSABLE: &str = "the server rejected our request due to an error in our request";
const UNKNOWN_FORMAT: &str = "the body of the request was in an unknown format";
const TOO_LARGE_VERSION: &str = "Too large resource version";
const DISRUPTION: &str = "Cannot evict pod as it would violate the pod's disruption budget.";
const CONTINUE_EXPIRED: &str = "The provided continue parameter is too old to display a consistent list \
    result. Start a new list without the continue parameter, or use the continue token in this response to \
    get the remaining items as they are now: what changed since the first page may then be missing or be \
    listed twice.";

/// The Status of an error.
pub fn status_of(error: &ApiError) -> Status {
    let (code, reason) = code_and_reason(error);
    let mut status = Status {
        status: "Failure".to_owned(),
        message: message(error),
        reason: reason.to_owned(),
        code,
        details: details(error),
        ..Status::default()
    };
    if let ApiError::ExpiredContinue { token } = error {
        status.metadata.continue_.clone_from(token);
    }
    status
}

fn code_and_reason(error: &ApiError) -> (i32, &'static str) {
    match error {
        ApiError::BadRequest(_) => (400, "BadRequest"),
        ApiError::Unauthorized => (401, "Unauthorized"),
        ApiError::Forbidden(_) => (403, "Forbidden"),
        ApiError::NotFound { .. } | ApiError::UnknownResource | ApiError::UnknownPath => (404, "NotFound"),
        ApiError::MethodNotAllowed(_) => (405, "MethodNotAllowed"),
        ApiError::NotAcceptable(_) | ApiError::UnknownMediaType(_) | ApiError::NotOfThatForm(_) => {
            (406, "NotAcceptable")
        }
        ApiError::AlreadyExists { .. } => (409, "AlreadyExists"),
        ApiError::Conflict { .. } | ApiError::ApplyConflict(_) => (409, "Conflict"),
        ApiError::Expired(_) | ApiError::ExpiredContinue { .. } => (410, "Expired"),
        ApiError::TooLarge(_) => (413, "RequestEntityTooLarge"),
        ApiError::UnsupportedMediaType(_) | ApiError::UnsupportedPatchType => (415, "UnsupportedMediaType"),
        ApiError::Invalid { .. } | ApiError::Unprocessable(_) => (422, "Invalid"),
        ApiError::TooManyRequests { .. } | ApiError::Disruption { .. } => (429, "TooManyRequests"),
        ApiError::Unclassified(_) => (500, ""),
        ApiError::Internal { .. } => (500, "InternalError"),
        ApiError::Unavailable(_) => (503, "ServiceUnavailable"),
        ApiError::TooLargeResourceVersion { .. } | ApiError::Timeout(_) => (504, "Timeout"),
        ApiError::InsufficientStorage(_) => (507, "InsufficientStorage"),
    }
}

fn message(error: &ApiError) -> String {
    match error {
        ApiError::BadRequest(message)
        | ApiError::NotOfThatForm(message)
        | ApiError::Expired(message)
        | ApiError::TooManyRequests { message, .. }
        | ApiError::Unavailable(message)
        | ApiError::InsufficientStorage(message)
        | ApiError::Unclassified(message) => message.clone(),
        ApiError::Forbidden(forbidden) => forbidden.message.clone(),
        ApiError::ApplyConflict(conflicts) => conflicts.to_string(),
        ApiError::Unauthorized => "Unauthorized".to_owned(),
        ApiError::UnknownResource | ApiError::UnknownPath => UNKNOWN_PATH.to_owned(),
        ApiError::MethodNotAllowed(_) => METHOD_NOT_ALLOWED.to_owned(),
        ApiError::UnsupportedPatchType => "415: Unsupported Media Type".to_owned(),
        ApiError::Unprocessable(_) => UNPROCESSABLE.to_owned(),
        ApiError::ExpiredContinue { .. } => CONTINUE_EXPIRED.to_owned(),
        ApiError::Disruption { .. } => DISRUPTION.to_owned(),
        ApiError::TooLarge(why) => format!("Request entity too large: {why}"),
        ApiError::Timeout(why) => format!("Timeout: {why}"),
        ApiError::TooLargeResourceVersion { asked, current } => {
            format!("Timeout: {TOO_LARGE_VERSION}: {asked}, current: {current}")
        }
        ApiError::Internal { public, .. } => format!("Internal error occurred: {public}"),
        ApiError::NotFound { resource, name } => {
            format!("{} {} not found", resource.qualified(), name.shown())
        }
        ApiError::AlreadyExists { resource, name, detail } => already_exists(resource, name, *detail),
        ApiError::Conflict { resource, name, cause } => {
            format!("Operation cannot be fulfilled on {} {}: {cause}", resource.qualified(), name.shown())
        }
        ApiError::Invalid { group, kind, name, errors } => invalid(group, kind, name, errors),
        ApiError::NotAcceptable(accepted) => {
            format!("only the following media types are accepted: {}", accepted.join(", "))
        }
        ApiError::UnknownMediaType(known) => {
            format!("406: Not Acceptable\n\nAvailable representations: {}", known.join(", "))
        }
        ApiError::UnsupportedMediaType(accepted) => {
            format!("{UNKNOWN_FORMAT} - accepted media types include: {}", accepted.join(", "))
        }
    }
}

fn already_exists(resource: &ResourceName, name: &str, detail: ExistsDetail) -> String {
    let mut message = format!("{} {} already exists", resource.qualified(), name.shown());
    if detail.generated {
        message.push_str(", the server was not able to generate a unique name for the object");
    }
    if detail.deleting {
        message.insert_str(0, "object is being deleted: ");
    }
    message
}

/// All violations of one object: one is printed bare, several in brackets, each once.
fn invalid(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> String {
    let mut texts: Vec<String> = Vec::new();
    for text in errors.iter().map(ToString::to_string) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    let list = if texts.len() == 1 { texts.remove(0) } else { format!("[{}]", texts.join(", ")) };
    let group_kind = if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") };
    format!("{group_kind} {} is invalid: {list}", name.shown())
}

/// Some errors have none, and some have details that are empty.
fn details(error: &ApiError) -> Option<StatusDetails> {
    Some(match error {
        ApiError::BadRequest(_)
        | ApiError::Unauthorized
        | ApiError::NotAcceptable(_)
        | ApiError::NotOfThatForm(_)
        | ApiError::Expired(_)
        | ApiError::ExpiredContinue { .. }
        | ApiError::TooLarge(_)
        | ApiError::UnsupportedMediaType(_)
        | ApiError::Unclassified(_)
        | ApiError::Unavailable(_)
        | ApiError::Timeout(_)
        | ApiError::InsufficientStorage(_) => return None,
        ApiError::UnknownResource
        | ApiError::UnknownPath
        | ApiError::MethodNotAllowed(_)
        | ApiError::UnknownMediaType(_)
        | ApiError::UnsupportedPatchType
        | ApiError::Unprocessable(_) => StatusDetails::default(),
        ApiError::NotFound { resource, name } | ApiError::Conflict { resource, name, .. } => {
            about(&resource.group, &resource.resource, name)
        }
        ApiError::AlreadyExists { resource, name, detail } => StatusDetails {
            retry_after_seconds: i32::from(detail.generated),
            ..about(&resource.group, &resource.resource, name)
        },
        ApiError::Forbidden(forbidden) => of_forbidden(forbidden),
        ApiError::Invalid { group, kind, name, errors } => {
            StatusDetails { causes: errors.iter().map(violation).collect(), ..about(group, kind, name) }
        }
        ApiError::ApplyConflict(conflicts) => StatusDetails {
            causes: conflicts.0.iter().map(apply_conflict).collect(),
            ..StatusDetails::default()
        },
        ApiError::TooManyRequests { retry_after, .. } => retry(*retry_after, Vec::new()),
        ApiError::TooLargeResourceVersion { .. } => {
            retry(1, vec![cause("ResourceVersionTooLarge", TOO_LARGE_VERSION)])
        }
        ApiError::Disruption { cause: why, retry_after } => {
            retry(*retry_after, vec![cause("DisruptionBudget", why)])
        }
        ApiError::Internal { public, .. } => {
            StatusDetails { causes: vec![cause("", public)], ..StatusDetails::default() }
        }
    })
}

/// Of an object of this resource or kind.
fn about(group: &str, kind: &str, name: &str) -> StatusDetails {
    StatusDetails {
        name: name.to_owned(),
        group: group.to_owned(),
        kind: kind.to_owned(),
        ..StatusDetails::default()
    }
}

/// When to ask again, and why not now.
fn retry(seconds: u32, causes: Vec<StatusCause>) -> StatusDetails {
    StatusDetails { retry_after_seconds: seconds.cast_signed(), causes, ..StatusDetails::default() }
}

fn of_forbidden(forbidden: &Forbidden) -> StatusDetails {
    let Forbidden { resource, name, cause: why, .. } = forbidden;
    let why = why
        .as_ref()
        .map(|(reason, message, field)| StatusCause { field: (*field).to_owned(), ..cause(reason, message) });
    StatusDetails { causes: why.into_iter().collect(), ..about(&resource.group, &resource.resource, name) }
}

fn violation(error: &FieldError) -> StatusCause {
    StatusCause { field: error.field.clone(), ..cause(error.reason.as_str(), &error.body) }
}

fn apply_conflict(conflict: &Conflict) -> StatusCause {
    StatusCause { field: conflict.field.clone(), ..cause("FieldManagerConflict", &conflict.message()) }
}

fn cause(reason: &str, message: &str) -> StatusCause {
    StatusCause { reason: reason.to_owned(), message: message.to_owned(), ..StatusCause::default() }
}
