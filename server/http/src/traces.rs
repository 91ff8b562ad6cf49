//! Traces of requests: which go on, and what their spans say.
//!
//! A request that carries the context of a trace (W3C `traceparent`) belongs to that trace, and is delivered
//! where its sender wants that. Of all others a share is delivered, by chance. A request has a span of its
//! own, one for each [`Stage`](crate::timeline::Stage) and one for each call of another server; the span of
//! a watch ends where its events begin. Without `--tracing-config-file` nothing is looked at.

mod binary;
mod delivery;
mod file;
mod otlp;

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::response::Response;
use http::{HeaderMap, HeaderValue, Version};
use orch_config::start_error::StartError;
use orch_listener::Connection;
use orch_registry::request::Target;
use orch_runtime::vocabulary::Vocabulary;
use orch_trace::{
    context::{MAX_STATE, TRACEPARENT, TRACESTATE, TraceContext},
    request::RequestTrace,
    span::Value,
};

use self::delivery::Delivery;
use crate::{
    limits::Peer,
    request::{
        RequestHead,
        info::{NAMESPACES, Route},
    },
};

/// A share is given in millionths.
const MILLION: u128 = 1_000_000;

/// See the module.
pub struct Tracer {
    /// Traces whose last 63 bits are below this are delivered, as OpenTelemetry samples by trace id.
    sampled_below: u64,
    delivery: Delivery,
}

impl Tracer {
    /// A tracer that a file configures. It must be called inside of a runtime.
    pub fn of_file(path: &Path, vocabulary: &Vocabulary) -> Result<Self, StartError> {
        let settings = file::read(path, vocabulary)
            .map_err(|error| StartError::caused("--tracing-config-file", &error))?;
        let sampled_below = (u128::from(settings.per_million) << 63) / MILLION;
        Ok(Tracer { sampled_below: sampled_below as u64, delivery: Delivery::start(settings.collector) })
    }

    /// The trace of a request; `None` if it belongs to none and is not sampled.
    pub fn begin(&self, headers: &HeaderMap, started: Instant) -> Option<Arc<RequestTrace>> {
        match headers.get(TRACEPARENT).and_then(|header| TraceContext::parse(header.as_bytes())) {
            Some(parent) => Some(RequestTrace::of_parent(parent, state(headers), started)),
            None if self.sampled_below == 0 => None,
            None => {
                let trace = rand::random::<u128>().max(1);
                let is_sampled = trace as u64 >> 1 < self.sampled_below;
                is_sampled.then(|| RequestTrace::of_new(trace, started))
            }
        }
    }

    /// Delivers the spans of a request that is answered, where its trace wants that.
    pub fn answered(&self, trace: &RequestTrace, request: &Answered<'_>) {
        if !trace.context().is_sampled {
            return;
        }
        let code = request.response.status();
        let failure = code.is_server_error().then(|| code.to_string());
        let stages = request.head.timeline.stages().into_iter().map(|(stage, took)| (stage.name(), took));
        let spans = trace.finish(name(request.head), request.attributes(), failure, request.took, stages);
        self.delivery.push(trace, spans);
    }

    /// How many spans were lost, ever.
    pub fn lost(&self) -> impl Fn() -> u64 + Send + Sync + use<> {
        self.delivery.lost()
    }

    /// Delivers what waits, if that does not take longer.
    pub async fn flush(&self, at_most: Duration) {
        self.delivery.flush(at_most).await;
    }
}

/// A request and its answer.
pub struct Answered<'a> {
    /// The request.
    pub head: RequestHead<'a>,
    /// Who sent it.
    pub connection: &'a Connection<Peer>,
    /// Its id in the log and in audit.
    pub audit_id: &'a HeaderValue,
    /// The answer.
    pub response: &'a Response,
    /// From the request to the answer.
    pub took: Duration,
}

impl Answered<'_> {
    fn attributes(&self) -> Vec<(&'static str, Value)> {
        let parts = self.head.parts;
        let version = if parts.version == Version::HTTP_2 { "2" } else { "1.1" };
        vec![
            ("http.request.method", Value::text(parts.method.as_str())),
            ("http.response.status_code", Value::Number(self.response.status().as_u16().into())),
            // The query is left out: it can hold anything.
            ("url.path", Value::text(parts.uri.path())),
            ("user_agent.original", Value::text(&self.head.user_agent())),
            ("client.address", Value::text(&self.connection.peer_address().ip().to_string())),
            ("network.protocol.version", Value::text(version)),
            ("audit-id", Value::text(self.audit_id.to_str().unwrap_or_default())),
        ]
    }
}

/// The method and the form of the path, as the reference names spans. There are few of them, whatever clients
/// ask for.
fn name(head: RequestHead<'_>) -> String {
    let method = match head.parts.method.as_str() {
        method @ ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS") => method,
        _ => "_OTHER",
    };
    let Route::Resource(_, Target { resource, subresource, namespace, name, .. }) = &head.info.route else {
        return method.to_owned();
    };
    let root = if resource.def.group.is_empty() { "/api" } else { "/apis" };
    let of_namespace =
        if namespace.is_empty() { String::new() } else { format!("/{NAMESPACES}/{{:namespace}}") };
    let name = if name.is_empty() { "" } else { "/{:name}" };
    let subresource = subresource.map(|subresource| format!("/{}", subresource.name)).unwrap_or_default();
    let (version, plural) = (&resource.api_version, resource.def.plural);
    format!("{method} {root}/{version}{of_namespace}/{plural}{name}{subresource}")
}

/// The header `tracestate`, where it can be passed on.
fn state(headers: &HeaderMap) -> Option<String> {
    let state = headers.get(TRACESTATE)?.to_str().ok()?;
    (!state.is_empty() && state.len() <= MAX_STATE).then(|| state.to_owned())
}

#[cfg(test)]
mod tests;
