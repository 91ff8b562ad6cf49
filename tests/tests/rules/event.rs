//! `Event`: times that are always written, and its rules.

use crate::ask::{defaulted, errors, with};
use orch_runtime::Tree;
use serde_json::json;

const KIND: &str = "Event";

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
