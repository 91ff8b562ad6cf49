//! Storage version migrations: their conditions.

use orch_runtime::{
    field_error::{FieldError, Rendered, Validation, json},
    path::Path,
};

use crate::storagemigration::v1alpha1::StorageVersionMigrationStatus;

/// A migration cannot both succeed and fail, and cannot run after either.
pub fn migration_status(value: &StorageVersionMigrationStatus, path: &Path<'_>, cx: &mut Validation<'_>) {
    let holds = |kind: &str| {
        value.conditions.iter().any(|condition| condition.type_ == kind && condition.status == "True")
    };
    let (succeeded, failed) = (holds("Succeeded"), holds("Failed"));
    let mut refuse = |detail: &str| {
        let shown = Rendered(json(&value.conditions));
        cx.push(FieldError::invalid(&path.field("conditions"), &shown, detail));
    };
    if succeeded && failed {
        refuse("Both success and failed conditions cannot be true at the same time");
    }
    if holds("Running") && (succeeded || failed) {
        refuse("Running condition cannot be true when success condition is true or failed condition is true");
    }
}
