//! The framing of requests: which server a request is for.

use http::{header, request::Parts};
use orch_registry::error::{ApiError, Result};

/// Refuses requests whose target a proxy in front could read differently (RFC 9112 section 3.2). Those whose
/// end it could see elsewhere do not get past the listener.
///
/// # Errors
/// 400 for a missing or repeated host.
pub fn check(parts: &Parts) -> Result<()> {
    if parts.version != http::Version::HTTP_11 {
        return Ok(());
    }
    let hosts = parts.headers.get_all(header::HOST).iter().count();
    if hosts != 1 {
        return Err(ApiError::BadRequest("the request must have one Host header".to_owned()));
    }
    Ok(())
}
