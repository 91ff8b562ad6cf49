//! `Event`: times that are always written, and its rules.

use crate::ask::{check, defaulted, errors, update_errors, with};
use orch_runtime::Tree;
use serde_json::json;

const KIND: &str = "Event";

/// The kind of the newer group.
const REPORTED: &str = "events.orch.io.v1.Event";

fn event(namespace: &str, of_object: &str) -> Tree {
    json!({"metadata": {"namespace": namespace}, "involvedObject": {"kind": "Pod", "namespace": of_object}})
}

fn strict() -> Tree {
    json!({
        "metadata": {"namespace": "n"}, "involvedObject": {"kind": "Pod", "namespace": "n"},
        "eventTime": "2026-11-20T15:14:00.000001Z", "reportingComponent": "example.com/c",
        "reportingInstance": "i",
        "action": "a", "reason": "r",
    })
}

pub fn times_are_always_written() {
    assert_eq!(
        defaulted(KIND, &event("default", "")),
        json!({
            "involvedObject": {"kind": "Pod"}, "source": {}, "firstTimestamp": null, "lastTimestamp": null,
            "eventTime": null, "reportingComponent": "", "reportingInstance": "",
        })
    );
}

pub fn an_event_stands_in_the_namespace_of_its_object() {
    let fault = |of_object: &str| {
        format!("involvedObject.namespace: Invalid value: \"{of_object}\": does not match event.namespace")
    };
    for (namespace, of_object, expected) in [
        ("n", "n", vec![]),
        ("default", "", vec![]),
        ("n", "", vec![fault("")]),
        ("n", "m", vec![fault("m")]),
    ] {
        assert_eq!(errors(KIND, &event(namespace, of_object)), expected, "{namespace} {of_object}");
    }
}

pub fn an_event_with_a_time_is_told_in_full() {
    assert_eq!(errors(KIND, &strict()), [""; 0]);
    for (pointer, value, expected) in [
        ("/reportingInstance", json!(""), vec!["reportingInstance: Required value"]),
        (
            "/action",
            json!("a".repeat(129)),
            vec![r#"action: Invalid value: "": can have at most 128 characters"#],
        ),
        ("/action", json!(""), vec!["action: Required value"]),
        ("/reason", json!(""), vec!["reason: Required value"]),
        (
            "/message",
            json!("m".repeat(1025)),
            vec![r#"message: Invalid value: "": can have at most 1024 characters"#],
        ),
        ("/involvedObject/namespace", json!("other"), vec![]),
        (
            "/involvedObject/namespace",
            json!(""),
            vec![r#"involvedObject.namespace: Invalid value: "": does not match event.namespace"#],
        ),
    ] {
        assert_eq!(errors(KIND, &with(&strict(), pointer, value)), expected, "{pointer}");
    }
    let mut system = with(&strict(), "/involvedObject/namespace", json!(""));
    system["metadata"]["namespace"] = json!("kube-system");
    assert_eq!(errors(KIND, &system), [""; 0]);
    assert_eq!(
        errors(KIND, &with(&strict(), "/reportingComponent", json!("")))[0],
        "reportingComponent: Required value"
    );
}

fn reported() -> Tree {
    json!({
        "metadata": {"namespace": "n"}, "regarding": {"kind": "Pod", "namespace": "n"},
        "eventTime": "2026-11-20T15:14:00.000001Z", "reportingController": "example.com/c",
        "reportingInstance": "i", "action": "a", "reason": "r", "type": "Normal", "note": "told",
    })
}

/// Fields are named as in the core group, as in the reference.
pub fn events_of_the_newer_group_are_new() {
    assert_eq!(
        defaulted(REPORTED, &reported()),
        json!({
            "regarding": {"kind": "Pod", "namespace": "n"}, "eventTime": "2026-11-20T15:14:00.000001Z",
            "reportingController": "example.com/c", "reportingInstance": "i", "action": "a", "reason": "r",
            "type": "Normal", "note": "told", "deprecatedSource": {}, "deprecatedFirstTimestamp": null,
            "deprecatedLastTimestamp": null,
        })
    );
    let long = "x".repeat(1025);
    check(
        REPORTED,
        &reported(),
        &[
            ("/eventTime", json!(null), &["eventTime: Required value"]),
            ("/type", json!("Other"), &[r#"type: Invalid value: "": has invalid value: Other"#]),
            ("/type", json!(null), &[r#"type: Invalid value: "": has invalid value: "#]),
            (
                "/deprecatedFirstTimestamp",
                json!("2026-11-20T15:14:00Z"),
                &[r#"firstTimestamp: Invalid value: "": needs to be unset"#],
            ),
            (
                "/deprecatedLastTimestamp",
                json!("2026-11-20T15:14:00Z"),
                &[r#"lastTimestamp: Invalid value: "": needs to be unset"#],
            ),
            ("/deprecatedCount", json!(1), &[r#"count: Invalid value: "": needs to be unset"#]),
            ("/deprecatedSource", json!({"host": "h"}), &[r#"source: Invalid value: "": needs to be unset"#]),
            (
                "/series",
                json!({"count": 1, "lastObservedTime": null}),
                &[
                    r#"series.count: Invalid value: "": should be at least 2"#,
                    "series.lastObservedTime: Required value",
                ],
            ),
            ("/series", json!({"count": 2, "lastObservedTime": "2026-11-20T15:14:00.000001Z"}), &[]),
            ("/action", json!(null), &["action: Required value"]),
            ("/reason", json!(null), &["reason: Required value"]),
            ("/reportingInstance", json!(null), &["reportingInstance: Required value"]),
            ("/note", json!(long), &[r#"message: Invalid value: "": can have at most 1024 characters"#]),
            (
                "/regarding/namespace",
                json!(null),
                &[r#"involvedObject.namespace: Invalid value: "": does not match event.namespace"#],
            ),
        ],
    );
    let unnamed = errors(REPORTED, &with(&reported(), "/reportingController", json!(null)));
    assert_eq!(unnamed[0], "reportingController: Required value");
}

pub fn only_the_series_of_a_newer_event_changes() {
    let series = json!({"count": 2, "lastObservedTime": "2026-11-20T15:15:00.000000Z"});
    for (pointer, value, expected) in [
        ("/series", series, vec![]),
        (
            "/series",
            json!({"count": 1, "lastObservedTime": "2026-11-20T15:15:00.000000Z"}),
            vec![r#"series.count: Invalid value: "": should be at least 2"#],
        ),
        ("/metadata/labels", json!({"a": "b"}), vec![]),
        ("/note", json!("else"), vec![r#"message: Invalid value: "else": field is immutable"#]),
        ("/type", json!("Warning"), vec![r#"type: Invalid value: "Warning": field is immutable"#]),
        ("/deprecatedCount", json!(3), vec!["count: Invalid value: 3: field is immutable"]),
        (
            "/eventTime",
            json!("2026-11-20T15:14:00.000002Z"),
            vec!["eventTime: Invalid value: 2026-11-20 15:14:00.000002 +0000 UTC: field is immutable"],
        ),
        (
            "/related",
            json!({"kind": "Node"}),
            vec![r#"related: Invalid value: {"kind":"Node"}: field is immutable"#],
        ),
        (
            "/reportingInstance",
            json!("other"),
            vec![r#"reportingInstance: Invalid value: "other": field is immutable"#],
        ),
        (
            "/regarding",
            json!({"kind": "Node"}),
            vec![
                r#"involvedObject.namespace: Invalid value: "": does not match event.namespace"#,
                r#"involvedObject: Invalid value: {"kind":"Node"}: field is immutable"#,
            ],
        ),
        (
            "/action",
            json!(null),
            vec!["action: Required value", r#"action: Invalid value: "": field is immutable"#],
        ),
    ] {
        let changed = with(&reported(), pointer, value.clone());
        assert_eq!(update_errors(REPORTED, &reported(), &changed), expected, "{pointer} {value}");
    }
}
