//! Rules that no schema can state; schema files call them by name (`x-orch-validator: config_map`).
//!
//! A function checks one value and reports each fault at its field, in the words that clients match on. Rules about
//! a change have names that end in `_update`.

mod config_map;
mod lease;
mod metadata;
mod namespace;
mod secret;

pub use self::{
    config_map::{config_map, config_map_update},
    lease::lease_spec,
    metadata::{finalizer_name, object_meta, object_meta_update},
    namespace::namespace_finalizers,
    secret::{secret, secret_update},
};

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation},
    path::Path,
};

/// The most that all values of a config map or secret may hold, in bytes.
pub const MAX_DATA_BYTES: usize = 1024 * 1024;

/// A key of a config map or secret.
fn config_key(key: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    cx.invalid_all(path, key, &constraint::config_key(key));
}

/// What stays as it is once `immutable` is true, under a field's own path.
fn fixed(field: &str, changed: bool, path: &Path<'_>, cx: &mut Validation<'_>) {
    if changed {
        cx.push(FieldError::forbidden(&path.field(field), "field is immutable when `immutable` is set"));
    }
}
