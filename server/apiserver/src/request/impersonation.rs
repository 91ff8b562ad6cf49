//! Requests on behalf of somebody else (`Impersonate-*`). The server cannot do that yet, so it refuses them:
//! to answer them as requests of the caller would give a caller who wants fewer rights all of their own.

use http::HeaderMap;
use orch_registry::error::{ApiError, Forbidden, ResourceName};

/// What the names of all such headers begin with.
const PREFIX: &str = "impersonate-";

/// Whether a request is to be made as somebody else.
pub fn is_asked_for(headers: &HeaderMap) -> bool {
    headers.keys().any(|name| name.as_str().starts_with(PREFIX))
}

/// 403.
pub fn refusal() -> ApiError {
    ApiError::Forbidden(Box::new(Forbidden {
        resource: ResourceName { group: String::new(), resource: String::new() },
        name: String::new(),
        message: "impersonation is not supported".to_owned(),
        cause: None,
    }))
}
