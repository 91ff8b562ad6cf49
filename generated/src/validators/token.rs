//! Tokens of service accounts: how long they are good.

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::authentication::v1::TokenRequestSpec;

/// Shorter than this a token is not worth asking for, in seconds.
const MIN_LIFE: i64 = 600;
/// Longer than this is never meant, in seconds.
const MAX_LIFE: i64 = 1 << 32;

/// A token is good for 10 minutes at least, and for some decades at most.
pub fn token_request_spec(value: &TokenRequestSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    if let Some(seconds) = value.expiration_seconds {
        token_life(seconds, &path.field("expirationSeconds"), cx);
    }
}

/// Not too short and not too long.
pub(super) fn token_life(seconds: i64, path: &Path<'_>, cx: &mut Validation<'_>) {
    if seconds < MIN_LIFE {
        cx.push(FieldError::invalid(path, &seconds, "may not specify a duration less than 10 minutes"));
    } else if seconds > MAX_LIFE {
        cx.push(FieldError::invalid(path, &seconds, "may not specify a duration larger than 2^32 seconds"));
    }
}
