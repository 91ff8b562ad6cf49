//! Cells of events, in both forms.

use orch_api::{
    KUBERNETES,
    columns::{
        event_count, event_first_seen, event_last_seen, event_message, event_object, event_source,
        reported_event_count, reported_event_first_seen, reported_event_last_seen, reported_event_message,
        reported_event_object, reported_event_source,
    },
};
use orch_runtime::{resource_def::CellContext, scalar::Time};
use serde_json::json;

#[test]
fn cells() {
    let now: Time = "2026-11-20T15:14:30Z".parse().unwrap();
    let context = CellContext { vocabulary: &KUBERNETES, now };
    let old = json!({
        "involvedObject": {"kind": "Pod", "name": "web"},
        "source": {"component": "scheduler", "host": "h"},
        "firstTimestamp": "2026-11-20T15:14:00Z", "lastTimestamp": "2026-11-20T15:14:20Z",
        "message": " m\n",
        "count": 3,
    });
    let new = json!({
        "eventTime": "2026-11-20T15:14:10.500000Z", "firstTimestamp": null, "lastTimestamp": null,
        "reportingComponent": "c",
    });
    let mut series = new.clone();
    series["series"] = json!({"count": 7, "lastObservedTime": "2026-11-20T15:14:29.000000Z"});
    let seen = |event| [event_last_seen(event, &context), event_first_seen(event, &context)];
    assert_eq!(seen(&old), ["10s", "30s"]);
    assert_eq!(seen(&new), ["20s", "20s"]);
    assert_eq!(seen(&series), ["1s", "20s"]);
    assert_eq!(seen(&json!({})), ["<unknown>", "<unknown>"]);
    assert_eq!(event_object(&old, &context), "pod/web");
    assert_eq!([&old, &new].map(|event| event_source(event, &context)), ["scheduler, h", "c"]);
    assert_eq!(event_message(&old, &context), "m");
    assert_eq!([&old, &new, &series].map(|event| event_count(event, &context)), [3, 1, 7]);
}

#[test]
fn cells_of_the_newer_form() {
    let now: Time = "2026-11-20T15:14:30Z".parse().unwrap();
    let context = CellContext { vocabulary: &KUBERNETES, now };
    let event = json!({
        "regarding": {"kind": "Pod", "name": "web"}, "note": "m ", "deprecatedCount": 3,
        "deprecatedSource": {"component": "scheduler"}, "reportingInstance": "i",
        "deprecatedFirstTimestamp": "2026-11-20T15:14:00Z",
        "deprecatedLastTimestamp": "2026-11-20T15:14:20Z",
    });
    let cells = [
        reported_event_last_seen,
        reported_event_first_seen,
        reported_event_object,
        reported_event_source,
        reported_event_message,
        reported_event_count,
    ];
    let expected =
        [json!("10s"), json!("30s"), json!("pod/web"), json!("scheduler, i"), json!("m"), json!(3)];
    assert_eq!(cells.map(|cell| cell(&event, &context)), expected);
}
