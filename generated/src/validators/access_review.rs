//! Access reviews have no metadata.

use orch_runtime::{
    field_error::{FieldError, Rendered, Validation, json},
    path::Path,
};

use crate::{
    authorization::v1::{LocalSubjectAccessReview, SelfSubjectAccessReview, SubjectAccessReview},
    meta::v1::ObjectMeta,
};

/// There is no metadata.
pub fn subject_access_review(value: &SubjectAccessReview, path: &Path<'_>, cx: &mut Validation<'_>) {
    no_metadata(&value.metadata, "must be empty", path, cx);
}

/// There is no metadata but the namespace of the request.
pub fn local_subject_access_review(
    value: &LocalSubjectAccessReview,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let metadata = ObjectMeta { namespace: String::new(), ..value.metadata.clone() };
    no_metadata(&metadata, "must be empty except for namespace", path, cx);
}

/// There is no metadata.
pub fn self_subject_access_review(value: &SelfSubjectAccessReview, path: &Path<'_>, cx: &mut Validation<'_>) {
    no_metadata(&value.metadata, "must be empty", path, cx);
}

/// A review is not stored, so it has no metadata. Rust, because all fields are shown but one.
fn no_metadata(metadata: &ObjectMeta, detail: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    let given = ObjectMeta { managed_fields: Vec::new(), ..metadata.clone() };
    if given != ObjectMeta::default() {
        cx.push(FieldError::invalid(&path.field("metadata"), &Rendered(json(&given)), detail));
    }
}
