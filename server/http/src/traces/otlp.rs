//! Spans as JSON: an `ExportTraceServiceRequest` of the OpenTelemetry protocol (OTLP 1.x, JSON encoding).

use orch_trace::{
    context::TraceContext,
    span::{Role, Span, Value},
};
use serde_json::{Value as Json, json};

/// A span that waits for its delivery, with its trace.
pub(super) struct Traced {
    pub(super) context: TraceContext,
    pub(super) state: Option<String>,
    pub(super) span: Span,
}

/// Who makes the spans.
pub(super) const NAME: &str = orch_config::PROGRAM;
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The attributes of the program that makes the spans.
pub(super) fn resource() -> [(&'static str, Value); 3] {
    [
        ("service.name", Value::Text(NAME.to_owned())),
        ("service.version", Value::Text(VERSION.to_owned())),
        ("process.pid", Value::Number(std::process::id().into())),
    ]
}

/// The message that delivers these spans.
pub(super) fn message(spans: &[Traced]) -> Vec<u8> {
    json!({
        "resourceSpans": [{
            "resource": {"attributes": attributes(&resource())},
            "scopeSpans": [{
                "scope": {"name": NAME, "version": VERSION},
                "spans": spans.iter().map(span).collect::<Vec<_>>(),
            }],
        }],
    })
    .to_string()
    .into_bytes()
}

fn span(traced: &Traced) -> Json {
    let Traced { context, state, span } = traced;
    let mut shown = json!({
        "traceId": format!("{:032x}", context.trace),
        "spanId": format!("{:016x}", span.id),
        "name": span.name,
        "kind": match span.role {
            Role::Internal => 1,
            Role::Server => 2,
            Role::Client => 3,
        },
        // 64-bit numbers are texts in the JSON form of protocol buffers.
        "startTimeUnixNano": span.began.as_nanos().to_string(),
        "endTimeUnixNano": (span.began + span.took).as_nanos().to_string(),
        "attributes": attributes(&span.attributes),
        "status": {},
    });
    if let Some(parent) = span.parent {
        shown["parentSpanId"] = format!("{parent:016x}").into();
    }
    if let Some(state) = state {
        shown["traceState"] = state.as_str().into();
    }
    if let Some(failure) = &span.failure {
        shown["status"] = json!({"code": 2, "message": failure});
    }
    shown
}

fn attributes(attributes: &[(&'static str, Value)]) -> Vec<Json> {
    let attribute = |(key, value): &(&'static str, Value)| match value {
        Value::Text(text) => json!({"key": key, "value": {"stringValue": text}}),
        Value::Number(number) => json!({"key": key, "value": {"intValue": number.to_string()}}),
    };
    attributes.iter().map(attribute).collect()
}
