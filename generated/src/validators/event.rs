//! Events: the namespace, and the stricter rules for events with an `eventTime`.
//!
//! Events are read and written in two groups. The core group takes what old programs send. The newer group
//! wants new events in full, and lets only their series change. As in the reference, its errors name fields
//! as the core group does, except for the reporter.

use orch_runtime::{
    constraint,
    field_error::{FieldError, Validation, json},
    path::Path,
    rule::immutable_shown,
    scalar::MicroTime,
};
use serde::Serialize;

use crate::{
    core::v1::{Event, EventSource},
    events::v1::Event as ReportedEvent,
};

/// The namespace of events about cluster-scoped objects.
const DEFAULT_NAMESPACE: &str = "default";
/// Limits of texts, in bytes.
const MAX_WORD: usize = 128;
const MAX_MESSAGE: usize = 1024;
/// What `type` says in new events of the newer group.
const TYPES: [&str; 2] = ["Normal", "Warning"];

/// What both groups look at.
struct Told<'e> {
    namespace: &'e str,
    of_object: &'e str,
    event_time: Option<MicroTime>,
    /// The reporter, and the field that it stands in.
    reporter: (&'static str, &'e str),
    instance: &'e str,
    action: &'e str,
    reason: &'e str,
    message: &'e str,
}

/// An event of the core group: it is in the namespace of its object. An event with an `eventTime` also names
/// the reporter and the action.
pub fn event(value: &Event, path: &Path<'_>, cx: &mut Validation<'_>) {
    let told = Told {
        namespace: &value.metadata.namespace,
        of_object: &value.involved_object.namespace,
        event_time: value.event_time,
        reporter: ("reportingComponent", &value.reporting_component),
        instance: &value.reporting_instance,
        action: &value.action,
        reason: &value.reason,
        message: &value.message,
    };
    told_in_full(&told, path, cx);
}

/// A new event of the newer group: the same, and it has a time, a known type, and nothing of old events.
pub fn reported_event(value: &ReportedEvent, path: &Path<'_>, cx: &mut Validation<'_>) {
    told_in_full(&told_of(value), path, cx);
    series(value, path, cx);
    if !has_time(value.event_time) {
        cx.push(FieldError::required(&path.field("eventTime"), ""));
    }
    if !TYPES.contains(&value.type_.as_str()) {
        let detail = format!("has invalid value: {}", value.type_);
        cx.push(FieldError::invalid(&path.field("type"), "", &detail));
    }
    for (field, is_set) in [
        ("firstTimestamp", value.deprecated_first_timestamp.is_some_and(|time| !time.is_zero())),
        ("lastTimestamp", value.deprecated_last_timestamp.is_some_and(|time| !time.is_zero())),
        ("count", value.deprecated_count != 0),
        ("source", value.deprecated_source != EventSource::default()),
    ] {
        if is_set {
            cx.push(FieldError::invalid(&path.field(field), "", "needs to be unset"));
        }
    }
}

/// A changed event of the newer group: only its series may be another one.
pub fn reported_event_update(
    new: &ReportedEvent,
    old: &ReportedEvent,
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    told_in_full(&told_of(new), path, cx);
    if new.series != old.series {
        series(new, path, cx);
    }
    let mut same = Same { path, cx };
    same.check("involvedObject", &new.regarding, &old.regarding);
    same.check("reason", &new.reason, &old.reason);
    same.check("message", &new.note, &old.note);
    same.check("source", &new.deprecated_source, &old.deprecated_source);
    same.check("firstTimestamp", &new.deprecated_first_timestamp, &old.deprecated_first_timestamp);
    same.check("lastTimestamp", &new.deprecated_last_timestamp, &old.deprecated_last_timestamp);
    same.check("count", &new.deprecated_count, &old.deprecated_count);
    same.check("type", &new.type_, &old.type_);
    same.check("eventTime", &new.event_time, &old.event_time);
    same.check("action", &new.action, &old.action);
    same.check("related", &new.related, &old.related);
    same.check("reportingController", &new.reporting_controller, &old.reporting_controller);
    same.check("reportingInstance", &new.reporting_instance, &old.reporting_instance);
}

/// Reports fields that have changed.
struct Same<'s, 'p, 'v> {
    path: &'s Path<'p>,
    cx: &'s mut Validation<'v>,
}

impl Same<'_, '_, '_> {
    fn check<T: PartialEq + Serialize>(&mut self, field: &'static str, new: &T, old: &T) {
        immutable_shown(new != old, || json(new), &self.path.field(field), self.cx);
    }
}

fn told_of(value: &ReportedEvent) -> Told<'_> {
    Told {
        namespace: &value.metadata.namespace,
        of_object: &value.regarding.namespace,
        event_time: value.event_time,
        reporter: ("reportingController", &value.reporting_controller),
        instance: &value.reporting_instance,
        action: &value.action,
        reason: &value.reason,
        message: &value.note,
    }
}

fn has_time(time: Option<MicroTime>) -> bool {
    time.is_some_and(|time| !time.is_zero())
}

fn series(value: &ReportedEvent, path: &Path<'_>, cx: &mut Validation<'_>) {
    let Some(series) = &value.series else { return };
    let at = path.field("series");
    if series.count < 2 {
        cx.push(FieldError::invalid(&at.field("count"), "", "should be at least 2"));
    }
    if !has_time(series.last_observed_time) {
        cx.push(FieldError::required(&at.field("lastObservedTime"), ""));
    }
}

fn told_in_full(told: &Told<'_>, path: &Path<'_>, cx: &mut Validation<'_>) {
    let (namespace, of_object) = (told.namespace, told.of_object);
    let has_event_time = has_time(told.event_time);
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
    if !has_event_time {
        return;
    }
    let (field, reporter) = told.reporter;
    let at = path.field(field);
    if reporter.is_empty() {
        cx.push(FieldError::required(&at, ""));
    }
    cx.invalid_all(&at, reporter, &constraint::qualified_name(reporter));
    for (field, text) in
        [("reportingInstance", told.instance), ("action", told.action), ("reason", told.reason)]
    {
        if text.is_empty() {
            cx.push(FieldError::required(&path.field(field), ""));
        }
        max_length(text, MAX_WORD, &path.field(field), cx);
    }
    max_length(told.message, MAX_MESSAGE, &path.field("message"), cx);
}

/// Limits the length of a text. The error does not repeat the text.
fn max_length(text: &str, max: usize, path: &Path<'_>, cx: &mut Validation<'_>) {
    if text.len() > max {
        cx.push(FieldError::invalid(path, "", &format!("can have at most {max} characters")));
    }
}
