//! Events: time, object, source and count.

use orch_runtime::{
    Tree,
    age::age_text,
    resource_def::CellContext,
    scalar::{MicroTime, Time},
};

use super::text;

/// The age of the last occurrence.
pub fn event_last_seen(tree: &Tree, context: &CellContext<'_>) -> Tree {
    let last = match tree.get("series") {
        Some(series) if !series.is_null() => seconds(series, "/lastObservedTime"),
        _ => seconds(tree, "/lastTimestamp").or_else(|| first(tree)),
    };
    age(last, context)
}

/// The age of the first occurrence.
pub fn event_first_seen(tree: &Tree, context: &CellContext<'_>) -> Tree {
    age(first(tree), context)
}

/// The object that the event is about: `pod/web`.
pub fn event_object(tree: &Tree, _context: &CellContext<'_>) -> Tree {
    let kind = text(tree, "/involvedObject/kind").to_lowercase();
    format!("{kind}/{}", text(tree, "/involvedObject/name")).into()
}

/// The component that reported the event, and its instance if that is known.
pub fn event_source(tree: &Tree, _context: &CellContext<'_>) -> Tree {
    let either =
        |old, new| Some(text(tree, old)).filter(|text| !text.is_empty()).unwrap_or_else(|| text(tree, new));
    let component = either("/source/component", "/reportingComponent");
    match either("/source/host", "/reportingInstance") {
        "" => component.into(),
        instance => format!("{component}, {instance}").into(),
    }
}

/// The message without whitespace around it.
pub fn event_message(tree: &Tree, _context: &CellContext<'_>) -> Tree {
    text(tree, "/message").trim().into()
}

/// How often the event happened; 1 if there is no count.
pub fn event_count(tree: &Tree, _context: &CellContext<'_>) -> Tree {
    let count = |pointer| tree.pointer(pointer).and_then(Tree::as_i64).unwrap_or_default();
    match tree.get("series") {
        Some(series) if !series.is_null() => count("/series/count").into(),
        _ => count("/count").max(1).into(),
    }
}

fn first(tree: &Tree) -> Option<i64> {
    seconds(tree, "/firstTimestamp").or_else(|| seconds(tree, "/eventTime"))
}

/// The time at a JSON pointer, in seconds since 1970; none if it is absent or zero.
fn seconds(tree: &Tree, pointer: &str) -> Option<i64> {
    let text = text(tree, pointer);
    let whole = text.parse::<Time>().ok().filter(|time| !time.is_zero()).map(Time::as_unix_seconds);
    whole.or_else(|| text.parse::<MicroTime>().ok().map(|time| time.as_unix_micros().div_euclid(1_000_000)))
}

fn age(seconds: Option<i64>, context: &CellContext<'_>) -> Tree {
    match seconds {
        Some(seconds) => age_text(context.now.as_unix_seconds() - seconds).into(),
        None => "<unknown>".into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::KUBERNETES;

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
}
