//! Access reviews: exactly one target, and no metadata.

use orch_runtime::{
    field_error::{FieldError, Rendered, Validation, json},
    path::Path,
};

use super::label_selector::{Operators, label_requirement, operator};
use crate::{
    authorization::v1::{
        FieldSelectorAttributes, LabelSelectorAttributes, LocalSubjectAccessReview, ResourceAttributes,
        SelfSubjectAccessReview, SubjectAccessReview,
    },
    meta::v1::{FieldSelectorRequirement, ObjectMeta},
};

/// The subject and the target are valid, and there is no metadata.
pub fn subject_access_review(value: &SubjectAccessReview, path: &Path<'_>, cx: &mut Validation<'_>) {
    selectors(value.spec.resource_attributes.as_ref(), &path.field("spec"), cx);
    no_metadata(&value.metadata, "must be empty", path, cx);
}

/// As [`subject_access_review`], but only about resources in the namespace of the request.
pub fn local_subject_access_review(
    value: &LocalSubjectAccessReview,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    let at = path.field("spec");
    selectors(value.spec.resource_attributes.as_ref(), &at, cx);
    let metadata = ObjectMeta { namespace: String::new(), ..value.metadata.clone() };
    no_metadata(&metadata, "must be empty except for namespace", path, cx);
    if let Some(resource) = &value.spec.resource_attributes
        && resource.namespace != value.metadata.namespace
    {
        let at = at.field("resourceAttributes");
        let detail = "must match metadata.namespace";
        cx.push(FieldError::invalid(&at.field("namespace"), &resource.namespace, detail));
    }
    if let Some(other) = &value.spec.non_resource_attributes {
        let detail = "disallowed on this kind of request";
        cx.push(FieldError::invalid(&at.field("nonResourceAttributes"), &Rendered(json(other)), detail));
    }
}

/// The target is valid, and there is no metadata.
pub fn self_subject_access_review(value: &SelfSubjectAccessReview, path: &Path<'_>, cx: &mut Validation<'_>) {
    let at = path.field("spec");
    let spec = &value.spec;
    selectors(spec.resource_attributes.as_ref(), &at, cx);
    no_metadata(&value.metadata, "must be empty", path, cx);
}

fn selectors(resource: Option<&ResourceAttributes>, path: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(resource) = resource else { return };
    let path = path.field("resourceAttributes");
    if let Some(FieldSelectorAttributes { requirements, .. }) = &resource.field_selector {
        let at = path.field("fieldSelector");
        let at = at.field("requirements");
        for (index, requirement) in requirements.iter().enumerate() {
            field_requirement(requirement, &at.index(index), cx);
        }
    }
    if let Some(LabelSelectorAttributes { requirements, .. }) = &resource.label_selector {
        let at = path.field("labelSelector");
        let at = at.field("requirements");
        for (index, requirement) in requirements.iter().enumerate() {
            label_requirement(requirement, Operators::Any, &at.index(index), cx);
        }
    }
}

fn field_requirement(value: &FieldSelectorRequirement, path: &Path<'_>, cx: &mut Validation<'_>) {
    operator(&value.operator, &value.values, Operators::Any, path, cx);
    if value.key.is_empty() {
        cx.push(FieldError::required(&path.field("key"), "must be specified"));
    }
}

/// A review is not stored, so it has no metadata.
fn no_metadata(metadata: &ObjectMeta, detail: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    let given = ObjectMeta { managed_fields: Vec::new(), ..metadata.clone() };
    if given != ObjectMeta::default() {
        cx.push(FieldError::invalid(&path.field("metadata"), &Rendered(json(&given)), detail));
    }
}
