//! The framing of requests: which server a request is for.

use http::{HeaderValue, header, request::Parts};
use orch_registry::error::{ApiError, Result};

/// Refuses requests whose target a proxy in front could read differently (RFC 9112 section 3.2). Those whose
/// end it could see elsewhere do not get past the listener.
///
/// # Errors
/// 400 for a host that is missing, repeated, or none.
pub fn check(parts: &Parts) -> Result<()> {
    if parts.version != http::Version::HTTP_11 {
        return Ok(());
    }
    let mut hosts = parts.headers.get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) if is_host(host) => Ok(()),
        (Some(_), None) => Err(ApiError::BadRequest("malformed Host header".to_owned())),
        _ => Err(ApiError::BadRequest("the request must have one Host header".to_owned())),
    }
}

/// Whether there are only characters of hosts and ports (RFC 3986 section 3.2). A host may be empty: that is
/// how a client says that the URL has none.
fn is_host(value: &HeaderValue) -> bool {
    let is_sign = |byte: u8| {
        matches!(byte, b'-' | b'.' | b'_' | b'~' | b'%' | b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*')
            || matches!(byte, b'+' | b',' | b';' | b'=' | b':' | b'[' | b']')
    };
    value.as_bytes().iter().all(|byte| byte.is_ascii_alphanumeric() || is_sign(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_neither_a_path_nor_a_user() {
        for (value, good) in [
            ("example.com", true),
            ("example.com:6443", true),
            ("127.0.0.1:80", true),
            ("[::1]:6443", true),
            ("my_host", true),
            ("", true),
            ("a/b", false),
            ("a/b@c", false),
            ("user@host", false),
            ("a b", false),
            ("a?b", false),
            ("http://a", false),
        ] {
            assert_eq!(is_host(&HeaderValue::from_static(value)), good, "{value}");
        }
    }
}
