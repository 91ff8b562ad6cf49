//! Daemon sets and their history.

use orch_runtime::{
    Tree,
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::apps::v1::DaemonSetSpec;

/// The selector matches the labels of the template: Rust, because it runs the selector.
pub fn daemon_set_spec(value: &DaemonSetSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let labels = &value.template.metadata.labels;
    let selects = value.selector.as_ref().is_some_and(|selector| selector.selects(labels));
    if !selects && !cx.has_error_at(&path.field("selector")) {
        let template = path.field("template");
        let metadata = template.field("metadata");
        let detail = "`selector` does not match template `labels`";
        cx.push(FieldError::invalid(&metadata.field("labels"), labels, detail));
    }
}

/// The state of a workload is an object. Without a value another rule tells that it is missing: Rust, because
/// no expression looks at any JSON.
pub fn revision_data(value: &Tree, path: &Path<'_>, cx: &mut Validation<'_>) {
    if !value.is_object() && !value.is_null() {
        cx.push(FieldError::required(path, "data must be a valid JSON object"));
    }
}
