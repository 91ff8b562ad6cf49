//! Events: the namespace, and the stricter rules for events with an `eventTime`.

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation},
    path::Path,
};

use crate::core::v1::Event;

/// The namespace of events about cluster-scoped objects.
const DEFAULT_NAMESPACE: &str = "default";
/// Limits of texts, in bytes.
const MAX_WORD: usize = 128;
const MAX_MESSAGE: usize = 1024;

/// An event is in the namespace of its object. An event with an `eventTime` also names the reporter and the
/// action.
pub fn event(value: &Event, path: &Path<'_>, cx: &mut Validation<'_>) {
    let namespace = value.metadata.namespace.as_str();
    let of_object = value.involved_object.namespace.as_str();
    let has_event_time = value.event_time.is_some_and(|time| !time.is_zero());
    let is_same_namespace = match (of_object.is_empty(), has_event_time) {
        (true, false) => namespace.is_empty() || namespace == DEFAULT_NAMESPACE,
        (true, true) => namespace == DEFAULT_NAMESPACE || namespace == cx.vocabulary.namespace_system,
        (false, false) => namespace == of_object,
        (false, true) => true,
    };
    if !is_same_namespace {
        let at = path.field("involvedObject");
        cx.push(FieldError::invalid(&at.field("namespace"), of_object, "does not match event.namespace"));
    }
    if has_event_time {
        event_with_time(value, path, cx);
    }
}

fn event_with_time(value: &Event, path: &Path<'_>, cx: &mut Validation<'_>) {
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
        max_length(text, MAX_WORD, &path.field(field), cx);
    }
    max_length(&value.message, MAX_MESSAGE, &path.field("message"), cx);
}

/// Limits the length of a text. The error does not repeat the text.
fn max_length(text: &str, max: usize, path: &Path<'_>, cx: &mut Validation<'_>) {
    if text.len() > max {
        cx.push(FieldError::invalid(path, "", &format!("can have at most {max} characters")));
    }
}
