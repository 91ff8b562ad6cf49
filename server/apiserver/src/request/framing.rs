//! The framing of requests: where one ends and the next begins.

use http::{header, request::Parts};
use orch_registry::error::{ApiError, Result};

/// Refuses requests whose end or target a proxy in front could read differently, which allows request
/// smuggling (RFC 9112 sections 3.2 and 6.3).
///
/// # Errors
/// 400 for a missing or repeated host, and for a length together with a transfer encoding.
pub fn check(parts: &Parts) -> Result<()> {
    if parts.version != http::Version::HTTP_11 {
        return Ok(());
    }
    let hosts = parts.headers.get_all(header::HOST).iter().count();
    if hosts != 1 {
        return Err(ApiError::BadRequest("the request must have one Host header".to_owned()));
    }
    if parts.headers.contains_key(header::TRANSFER_ENCODING)
        && parts.headers.contains_key(header::CONTENT_LENGTH)
    {
        let message = "the request must not have both Content-Length and Transfer-Encoding";
        return Err(ApiError::BadRequest(message.to_owned()));
    }
    Ok(())
}
