//! CSI drivers: their names, and the tokens that they ask for.

use std::collections::HashSet;

use orch_runtime::{
    field_error::{FieldError, Order, Validation},
    path::Path,
};

use crate::{
    storage::v1::{CSIDriver, TokenRequest},
    validators::volume_source::csi_driver_name,
};

/// The shortest and the longest lifetime of a token, in seconds.
const TOKEN_LIFE: (i64, i64) = (600, 1 << 32);

/// The name comes first, which this module checks after all else.
const ORDER: &[Order] = &[Order::with("metadata", &[Order::of("name"), Order::of("*")]), Order::of("*")];

/// The name of the object is the name of the driver.
pub fn csi_driver(value: &CSIDriver, path: &Path<'_>, cx: &mut Validation<'_>) {
    // A missing name is reported by the rules for metadata.
    if !value.metadata.name.is_empty() {
        csi_driver_name(&value.metadata.name, &path.field("metadata").field("name"), cx);
    }
    cx.arrange(path, ORDER);
}

/// Audiences are unique, and the lifetimes of tokens are in range. The lifetime of a repeated audience is not
/// judged.
pub fn csi_driver_token_requests(value: &[TokenRequest], path: &Path<'_>, cx: &mut Validation<'_>) {
    let (shortest, longest) = TOKEN_LIFE;
    let mut audiences = HashSet::new();
    for (index, request) in value.iter().enumerate() {
        let at = path.index(index);
        if !audiences.insert(&request.audience) {
            cx.push(FieldError::duplicate(&at.field("audience"), &request.audience));
            continue;
        }
        let fault = match request.expiration_seconds {
            Some(seconds) if seconds < shortest => "may not specify a duration less than 10 minutes",
            Some(seconds) if seconds > longest => "may not specify a duration larger than 2^32 seconds",
            _ => continue,
        };
        cx.push(FieldError::invalid(&at.field("expirationSeconds"), &request.expiration_seconds, fault));
    }
}
