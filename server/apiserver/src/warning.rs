//! `Warning` headers: what a client should know about a request that succeeded.

use axum::response::Response;
use http::{HeaderValue, header};

/// A header of `Warning` for each text that can be one; texts with control characters cannot.
pub fn warn(response: &mut Response, warnings: &[String]) {
    for (index, warning) in warnings.iter().enumerate() {
        if warnings[..index].contains(warning) || warning.chars().any(char::is_control) {
            continue;
        }
        let text = warning.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{text}\"")) {
            response.headers_mut().append(header::WARNING, value);
        }
    }
}
