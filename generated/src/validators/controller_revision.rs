//! Controller revisions: their data.

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::apps::v1::ControllerRevision;

/// The data is required.
pub fn controller_revision(value: &ControllerRevision, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.data.is_none() {
        cx.push(FieldError::required(&path.field("data"), "data is mandatory"));
    }
}
