//! Names of headers that the HTTP library does not know and several parts of the server use.

use http::HeaderName;

/// By what an answer is found in the log and in audit records.
pub const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");
