//! What happens to every request before and after its handler, in order. The order matters:
//!
//! 1. **audit id, trace and log**: every answer, also an error, can be found in the log; a failure is logged
//!    once, here; calls of other servers carry the trace; **what browsers are told** stands in every answer;
//! 2. **request info**: read once; authorization, metrics and dispatch use the same value;
//! 3. **metrics**: count the request and its answer;
//! 4. **media type of a Status**: whichever layer below refuses, the Status is written as the client accepts
//!    it;
//! 5. **end of the audit record**: of every answer, also of those that the layers below refuse;
//! 6. **deadline**: for everything but watches, earlier where the client says so;
//! 7. **panic**: becomes an answer of 500, so that it ends neither the process nor the connection;
//! 8. **framing**: requests that a proxy in front could read differently are refused; **shutdown**: so are
//!    those that come too late; a **browser that asks whether a page may send a request** is answered
//!    (`layers/browsers.rs`);
//! 9. **limits** of the address and of all clients, **authenticate**, beginning of the audit record, which
//!    names the user of what is refused from here on, limits of the user, **impersonate**, its **turn**,
//!    **authorize**, memory: before the body is read, so that what is refused or waits costs little; requests
//!    that are not allowed wait for their turn too, because finding that out is work. Limits count for the
//!    user who was authenticated, whoever the request is made as; its turn is that of who it is made as
//!    (framing and all of this are in `layers/guard.rs`);
//! 10. **body limit**: handlers that need the body read it whole, up to a limit; what they leave is read and
//!     dropped, so that the client gets its answer;
//! 11. the handler of [`routes`](crate::routes).
//!
//! What answers a WebSocket's handshake goes the same way. Only at the end its events are taken off, and sent
//! when the connection is handed over ([`websocket`](crate::websocket)).

mod browsers;
mod guard;

use std::{
    panic::AssertUnwindSafe,
    pin::{Pin, pin},
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{body::Body, response::Response};
use futures_util::FutureExt;
use http::{HeaderValue, Method, Request, StatusCode, Version, header, request::Parts};
use hyper::body::{Body as _, Incoming};
use orch_config::{CHANCES, REQUESTS};
use orch_listener::Connection;
use orch_machinery::media_type::{PatchKind, patch_type};
use orch_registry::{
    error::{ApiError, Result},
    request::Target,
};
use orch_runtime::resource_def::Verb;
use orch_trace::request::within;
use uuid::Uuid;

use self::guard::{Passage, guarded};
use crate::{
    app::App,
    audit::RequestAudit,
    header_names::AUDIT_ID,
    limits::Peer,
    metrics::{self, DryRun, RequestLabels},
    request::{
        RequestHead,
        body::RequestBody,
        info::{RequestInfo, Route},
        query::Query,
        websocket_handshake, websocket_token,
    },
    response::{
        self,
        status::{Fault, Terminated, refusal},
    },
    timeline::{Stage, Timeline, in_words},
    traces::Answered,
    turns, websocket,
};

/// Answers one request.
pub async fn handle(
    app: Arc<App>,
    connection: Arc<Connection<Peer>>,
    request: Request<Incoming>,
) -> Response {
    let started = Instant::now();
    let (mut parts, body) = request.into_parts();
    websocket_token::take(&mut parts, app.core.vocabulary());
    if leaves(&app, &parts) {
        connection.close_when_answered();
    }
    let audit_id = audit_id(&parts);
    let audit = RequestAudit::new(&app, &connection, &audit_id);
    let trace = app.tracer.as_ref().and_then(|tracer| tracer.begin(&parts.headers, started));
    let mut response = match trace {
        // Pinned where it is made, so that it is not copied.
        None => pin!(measured(&app, &connection, &parts, body, &audit, started)).await,
        Some(trace) => {
            Box::pin(within(trace, measured(&app, &connection, &parts, body, &audit, started))).await
        }
    };
    drop(audit);
    websocket::take_over(&connection, &mut response);
    log(&parts, &response, &audit_id, started);
    let headers = response.headers_mut();
    headers.insert(AUDIT_ID, audit_id);
    browsers::tell(&app, &parts, headers);
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    }
    response
}

/// Whether the client of a request is told to open another connection.
fn leaves(app: &App, parts: &Parts) -> bool {
    app.goaway_chance > 0
        && parts.version == Version::HTTP_2
        && rand::random_range(0..CHANCES) < app.goaway_chance
}

/// What the log says of a request. The query is left out: it can hold anything.
fn log(parts: &Parts, response: &Response, audit_id: &HeaderValue, started: Instant) {
    let (method, path, code) = (&parts.method, parts.uri.path(), response.status().as_u16());
    if let Some(Fault { public, detail }) = response.extensions().get() {
        tracing::error!(?audit_id, %method, path, code, %detail, "{public}");
    } else {
        tracing::debug!(
            target: REQUESTS,
            ?audit_id, %method, path, code, elapsed = ?started.elapsed(), "answered"
        );
    }
}

/// Reads the request line and counts the answer.
async fn measured(
    app: &Arc<App>,
    connection: &Arc<Connection<Peer>>,
    parts: &Parts,
    body: Incoming,
    audit: &RequestAudit<'_>,
    started: Instant,
) -> Response {
    let query = Query::parse(parts.uri.query());
    let info = RequestInfo::parse(app.core.catalog(), &parts.method, parts.uri.path(), &query);
    let is_watch = info.names.is_resource && info.names.verb == Verb::Watch.as_str();
    let mut body = RequestBody::new(&parts.headers, body);
    let timeline = Timeline::new(started);
    let head =
        RequestHead { info: &info, query: &query, parts, timeline: &timeline, record: None, headers: None };
    let in_flight = app.metrics.in_flight(turns::is_mutating(head));
    let labels = labels(head);
    let deadline = if is_watch { Ok(None) } else { deadline(app, &query).map(Some) };
    let mut response = {
        // Pinned where it is made: this future is the largest, and passing it on by value would copy it.
        let answer = pin!(guarded(Passage { app, connection, head, body: &mut body }, audit));
        in_time(deadline, unpanicked(answer, || app.metrics.aborted(&labels), audit)).await
    };
    let elapsed = timeline.until(Stage::Handler);
    if audit.is_on() {
        response = Box::pin(audit.answered(head, response, is_watch, elapsed)).await;
    }
    response::rewrite_status(&mut response, &app.media_types, &parts.headers, &query);
    if !body.discard().await && parts.version < Version::HTTP_2 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    if is_watch && websocket_handshake::is_asked(parts) && !response::is_watch(response.status()) {
        websocket_handshake::mark_refused(parts, response.headers_mut());
    }
    if parts.method == Method::HEAD {
        without_body(&mut response);
    }
    drop(in_flight);
    count(app, head, &labels, &response, elapsed);
    if let Some(tracer) = &app.tracer
        && let Some(trace) = orch_trace::request::current()
    {
        let audit_id = audit.id();
        tracer.answered(&trace, &Answered { head, connection, audit_id, response: &response, took: elapsed });
    }
    if !is_watch {
        log_if_slow(head, &response, elapsed);
    }
    response
}

/// Says where the time of a request went that took long.
fn log_if_slow(head: RequestHead<'_>, response: &Response, elapsed: Duration) {
    if let Some(stages) = head.timeline.slow(elapsed) {
        let (method, path, stages) = (&head.parts.method, head.parts.uri.path(), in_words(&stages));
        tracing::info!(%method, path, code = response.status().as_u16(), ?elapsed, stages, "a slow request");
    }
}

/// Counts an answer.
fn count(app: &App, head: RequestHead<'_>, labels: &RequestLabels, response: &Response, elapsed: Duration) {
    let code = response.status();
    let is_terminated = matches!(code, StatusCode::TOO_MANY_REQUESTS | StatusCode::GATEWAY_TIMEOUT)
        && response.extensions().get::<Terminated>().is_some();
    let bytes = response.body().size_hint().exact();
    app.metrics.answered(labels, metrics::Answered { code, elapsed, bytes, is_terminated });
    if let Route::Resource(Verb::Create | Verb::Update | Verb::Patch, _) = &head.info.route {
        app.metrics.validated_fields(head.query.text("fieldValidation"), elapsed);
    }
}

/// How long an answer may take: less than the server allows where the client says so.
fn deadline(app: &App, query: &Query) -> Result<Duration> {
    Ok(query.timeout()?.map_or(app.request_timeout, |asked| asked.min(app.request_timeout)))
}

/// An answer that takes longer than it may is 504.
async fn in_time(deadline: Result<Option<Duration>>, answer: impl Future<Output = Response>) -> Response {
    let deadline = match deadline {
        Ok(Some(deadline)) => deadline,
        Ok(None) => return answer.await,
        Err(error) => return refusal(error),
    };
    tokio::time::timeout(deadline, answer).await.unwrap_or_else(|_| {
        refusal(ApiError::Timeout("request did not complete within the allotted timeout".to_owned()))
    })
}

/// A panic becomes the answer of its request and affects no other.
async fn unpanicked(
    answer: Pin<&mut impl Future<Output = Response>>,
    count: impl FnOnce(),
    audit: &RequestAudit<'_>,
) -> Response {
    let panic = match AssertUnwindSafe(answer).catch_unwind().await {
        Ok(response) => return response,
        Err(panic) => panic,
    };
    let text = panic.downcast_ref::<&str>().copied();
    let detail = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or_default();
    count();
    Box::pin(audit.panicked(detail)).await;
    refusal(ApiError::internal("the server has a bug", format_args!("panic: {detail}")))
}

/// An answer to HEAD has the length of the body but no body (RFC 9110 section 9.3.2). The HTTP library does
/// that for HTTP/1 only.
fn without_body(response: &mut Response) {
    if let Some(length) = response.body().size_hint().exact() {
        response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    *response.body_mut() = Body::empty();
}

fn audit_id(parts: &Parts) -> HeaderValue {
    match parts.headers.get(AUDIT_ID) {
        Some(given) if is_audit_id(given.as_bytes()) => given.clone(),
        _ => {
            let mut text = Uuid::encode_buffer();
            let text = random_id().hyphenated().encode_lower(&mut text);
            HeaderValue::from_str(text).expect("a uuid is printable")
        }
    }
}

/// A random UUID. It must be unique but not secret, so it needs no system call for each request.
fn random_id() -> Uuid {
    uuid::Builder::from_random_bytes(rand::random()).into_uuid()
}

/// A client may set the audit id, to at most 64 printable ASCII characters.
fn is_audit_id(given: &[u8]) -> bool {
    const MAX: usize = 64;
    !given.is_empty() && given.len() <= MAX && given.iter().all(u8::is_ascii_graphic)
}

/// The series that a request is counted in.
fn labels(head: RequestHead<'_>) -> RequestLabels {
    let RequestHead { info, query, parts, .. } = head;
    let labels = match &info.route {
        Route::Resource(verb, target) => {
            let Target { resource, subresource, namespace, name, .. } = target;
            let labels = RequestLabels::resource(resource.def, *subresource, *verb, namespace, name);
            let is_apply = *verb == Verb::Patch
                && patch_type(head.header(header::CONTENT_TYPE))
                    .is_some_and(|patch| patch.kind == PatchKind::Apply);
            if is_apply { labels.as_apply() } else { labels }
        }
        Route::NonResource => RequestLabels::path(&parts.method, parts.uri.path()),
        Route::Refused(_) => RequestLabels::unserved(&parts.method),
    };
    match query.get("dryRun") {
        None | Some("") => labels,
        Some("All") => labels.with_dry_run(DryRun::All),
        Some(_) => labels.with_dry_run(DryRun::Invalid),
    }
}
