//! Events: where they may stand, and the stricter rules of those that say when they happened.

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::core::v1::Event;

/// The namespace of events about objects that are in none.
const DEFAULT_NAMESPACE: &str = "default";
/// Limits of texts, in bytes.
const MAX_WORD: usize = 128;
const MAX_MESSAGE: usize = 1024;

/// An event stands in the namespace of its object; one with a time says as well who told it, and what was done.
pub fn event(value: &Event, path: &Path<'_>, cx: &mut Validation<'_>) {
    let namespace = value.metadata.namespace.as_str();
    let of_object = value.involved_object.namespace.as_str();
    let is_told_strictly = value.event_time.is_some_and(|time| !time.is_zero());
    let agrees = match (of_object.is_empty(), is_told_strictly) {
        (true, false) => namespace.is_empty() || namespace == DEFAULT_NAMESPACE,
        (true, true) => namespace == DEFAULT_NAMESPACE || namespace == cx.vocabulary.namespace_system,
        (false, false) => namespace == of_object,
        (false, true) => true,
    };
    if !agrees {
        let at = path.field("involvedObject");
        cx.push(FieldError::invalid(&at.field("namespace"), of_object, "does not match event.namespace"));
    }
    if is_told_strictly {
        strict(value, path, cx);
    }
}

fn strict(value: &Event, path: &Path<'_>, cx: &mut Validation<'_>) {
    let (component, at) = (&value.reporting_component, path.field("reportingComponent"));
    if component.is_empty() {
        cx.push(FieldError::required(&at, ""));
    }
    cx.invalid_all(&at, component, &constraint::qualified_name(component));
    for (field, text) in [
        ("reportingInstance", &value.reporting_instance),
        ("action", &value.action),
        ("reason", &value.reason),
    ] {
        if text.is_empty() {
            cx.push(FieldError::required(&path.field(field), ""));
        }
        limited(text, MAX_WORD, &path.field(field), cx);
    }
    limited(&value.message, MAX_MESSAGE, &path.field("message"), cx);
}

/// A text that is too long; it is not repeated in the answer.
fn limited(text: &str, max: usize, path: &Path<'_>, cx: &mut Validation<'_>) {
    if text.len() > max {
        cx.push(FieldError::invalid(path, "", &format!("can have at most {max} characters")));
    }
}
