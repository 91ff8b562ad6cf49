//! Daemon sets: the selector matches the template.

use orch_runtime::{
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
