//! Spans as protocol buffers: an `ExportTraceServiceRequest` of the OpenTelemetry protocol (OTLP 1.x), which
//! collectors take by gRPC.

use orch_trace::span::{Role, Value};

use super::otlp::{NAME, Traced, VERSION, resource};

/// The method of collectors that takes the message.
pub(super) const METHOD: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

/// The message that delivers these spans.
pub(super) fn message(spans: &[Traced]) -> Vec<u8> {
    let mut request = Message::default();
    request.message(1, |of_resource| {
        of_resource.message(1, |described| attributes(described, 1, &resource()));
        of_resource.message(2, |of_scope| {
            of_scope.message(1, |scope| {
                scope.bytes(1, NAME.as_bytes());
                scope.bytes(2, VERSION.as_bytes());
            });
            for traced in spans {
                of_scope.message(2, |span| fill(span, traced));
            }
        });
    });
    request.0
}

fn fill(message: &mut Message, Traced { context, state, span }: &Traced) {
    message.bytes(1, &context.trace.to_be_bytes());
    message.bytes(2, &span.id.to_be_bytes());
    message.bytes(3, state.as_deref().unwrap_or_default().as_bytes());
    if let Some(parent) = span.parent {
        message.bytes(4, &parent.to_be_bytes());
    }
    message.bytes(5, span.name.as_bytes());
    let kind = match span.role {
        Role::Internal => 1,
        Role::Server => 2,
        Role::Client => 3,
    };
    message.number(6, kind);
    message.nanoseconds(7, span.began.as_nanos());
    message.nanoseconds(8, (span.began + span.took).as_nanos());
    attributes(message, 9, &span.attributes);
    if let Some(failure) = &span.failure {
        message.message(15, |status| {
            status.bytes(2, failure.as_bytes());
            status.number(3, 2);
        });
    }
}

fn attributes(message: &mut Message, field: u32, attributes: &[(&'static str, Value)]) {
    for (key, value) in attributes {
        message.message(field, |pair| {
            pair.bytes(1, key.as_bytes());
            pair.message(2, |of_value| match value {
                Value::Text(text) => of_value.bytes(1, text.as_bytes()),
                Value::Number(number) => of_value.number(3, number.cast_unsigned()),
            });
        });
    }
}

/// A message that is being written (<https://protobuf.dev/programming-guides/encoding>).
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn number(&mut self, field: u32, number: u64) {
        self.varint(u64::from(field) << 3);
        self.varint(number);
    }

    /// A time of 64 bits, which lasts until the year 2554.
    fn nanoseconds(&mut self, field: u32, nanoseconds: u128) {
        self.varint(u64::from(field) << 3 | 1);
        self.0.extend_from_slice(&(nanoseconds as u64).to_le_bytes());
    }

    fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn message(&mut self, field: u32, fill: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        fill(&mut inner);
        self.bytes(field, &inner.0);
    }

    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }
}
