//! Token requests: the lifetime of a token.

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::authentication::v1::TokenRequestSpec;

/// The shortest lifetime, in seconds.
const MIN_LIFE: i64 = 600;
/// The longest lifetime, in seconds.
const MAX_LIFE: i64 = 1 << 32;

/// The lifetime is at least 10 minutes, and at most 2^32 seconds.
pub fn token_request_spec(value: &TokenRequestSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    if let Some(seconds) = value.expiration_seconds {
        token_life(seconds, &path.field("expirationSeconds"), cx);
    }
}

/// A lifetime in seconds is in range.
pub(super) fn token_life(seconds: i64, path: &Path<'_>, cx: &mut Validation<'_>) {
    if seconds < MIN_LIFE {
        cx.push(FieldError::invalid(path, &seconds, "may not specify a duration less than 10 minutes"));
    } else if seconds > MAX_LIFE {
        cx.push(FieldError::invalid(path, &seconds, "may not specify a duration larger than 2^32 seconds"));
    }
}
