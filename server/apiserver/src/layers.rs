//! What happens to every request before and after its handler, in order. The order matters:
//!
//! 1. **audit id, trace and log**: every answer, also an error, can be found in the log; a failure is logged
//!    once, here; calls of other servers carry the trace;
//! 2. **request info**: read once; authorization, metrics and dispatch use the same value;
//! 3. **metrics**: count the request and its answer;
//! 4. **media type of a Status**: whichever layer below refuses, the Status is written as the client accepts
//!    it;
//! 5. **end of the audit record**: of every answer, also of those that the layers below refuse;
//! 6. **deadline**: for everything but watches, earlier where the client says so;
//! 7. **panic**: becomes an answer of 500, so that it ends neither the process nor the connection;
//! 8. **framing**: requests that a proxy in front could read differently are refused;
//! 9. **limits** of the address and of all clients, **authenticate**, beginning of the audit record, which
//!    names the user of what is refused from here on, limits of the user, **impersonate**, its **turn**,
//!    **authorize**, memory: before the body is read, so that what is refused or waits costs little; requests
//!    that are not allowed wait for their turn too, because finding that out is work. Limits count for the
//!    user who was authenticated, whoever the request is made as; its turn is that of who it is made as;
//! 10. **body limit**: handlers that need the body read it whole, up to a limit; what they leave is read and
//!     dropped, so that the client gets its answer;
//! 11. the handler of [`routes`](crate::routes).

use std::{
    panic::AssertUnwindSafe,
    pin::{Pin, pin},
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant, SystemTime},
};

use axum::{body::Body, response::Response};
use futures_util::FutureExt;
use http::{HeaderValue, Method, Request, StatusCode, Version, header, request::Parts};
use hyper::body::{Body as _, Incoming};
use orch_auth::{
    authenticator::{Authenticated, Credentials},
    impersonation::Impersonation,
};
use orch_listener::Connection;
use orch_machinery::media_type::{PatchKind, patch_type};
use orch_registry::{
    error::{ApiError, Result},
    request::Target,
};
use orch_runtime::resource_def::Verb;
use orch_trace::request::within;
use uuid::Uuid;

use crate::{
    access::{Refused, Stranger},
    app::App,
    audit::{RequestAudit, recorded_user},
    config::REQUESTS,
    documents::health,
    fairness::Placed,
    header_names::AUDIT_ID,
    limits::{Peer, Supply, until_handed_over},
    metrics::{self, Authentication, Authorization, DryRun, Filter, RequestLabels},
    other_servers,
    request::{
        RequestHead,
        body::RequestBody,
        framing,
        identity_headers::View,
        impersonation::{self, Meaningless},
        info::{RequestInfo, Route},
        query::Query,
        websocket_token,
    },
    response::{
        self,
        status::{Fault, Terminated, asked, nobody_to_impersonate, refusal, undecided},
        warning,
    },
    routes, shutdown,
    timeline::{Stage, Timeline, in_words},
    traces::Answered,
    turns::{self, Pass},
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
    let audit_id = audit_id(&parts);
    let audit = RequestAudit::new(&app, &connection, &audit_id, started);
    let trace = app.tracer.as_ref().and_then(|tracer| tracer.begin(&parts.headers, started));
    let mut response = match trace {
        None => measured(&app, &connection, &parts, body, &audit, started).await,
        Some(trace) => {
            Box::pin(within(trace, measured(&app, &connection, &parts, body, &audit, started))).await
        }
    };
    drop(audit);
    log(&parts, &response, &audit_id, started);
    let headers = response.headers_mut();
    headers.insert(AUDIT_ID, audit_id);
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    }
    response
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
        let answer = pin!(guarded(app, connection, head, &mut body, audit));
        in_time(deadline, unpanicked(answer, || app.metrics.aborted(&labels), audit)).await
    };
    let elapsed = timeline.until(Stage::Handler);
    if audit.is_on() {
        response = Box::pin(audit.answered(head, response, is_watch)).await;
    }
    response::rewrite_status(&mut response, &app.media_types, &parts.headers, &query);
    if !body.discard().await && parts.version < Version::HTTP_2 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
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
    if !is_watch && let Some(stages) = timeline.slow(elapsed) {
        let (method, path, stages) = (&parts.method, parts.uri.path(), in_words(&stages));
        tracing::info!(%method, path, code = response.status().as_u16(), ?elapsed, stages, "a slow request");
    }
    response
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

/// Authenticates and authorizes the request before it is answered.
async fn guarded(
    app: &Arc<App>,
    connection: &Arc<Connection<Peer>>,
    head: RequestHead<'_>,
    body: &mut RequestBody,
    audit: &RequestAudit<'_>,
) -> Response {
    let parts = head.parts;
    if let Err(error) = framing::check(parts) {
        return refusal(error);
    }
    if app.draining.load(Ordering::Relaxed)
        && let Some(refused) = shutdown::refusal(parts.uri.path(), connection)
    {
        return refused;
    }
    let supply = supply(head);
    let mut shares = match supply.map(|supply| app.limits.enter(supply, connection)).transpose() {
        Ok(shares) => shares,
        Err(error) => return refusal(error),
    };
    let authorization = parts.headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
    let headers = View(&parts.headers);
    let credentials = Credentials::new(&connection.peer().certificates, authorization, SystemTime::now())
        .at(parts.uri.path())
        .with_headers(&headers);
    let hint = credentials.warning();
    let authenticated = match parts.extensions.get() {
        Some(websocket_token::Unreadable) => Err(Stranger::Wrong),
        None => other_servers::authenticate(app, &credentials).await,
    };
    let outcome = match &authenticated {
        Ok(_) => Authentication::Success,
        Err(Stranger::Wrong) => Authentication::Failure,
        Err(Stranger::Unjudged) => Authentication::Error,
    };
    let known = head.timeline.end(Stage::Authentication);
    app.metrics.authenticated(outcome, known - head.timeline.started());
    let mut response = match authenticated {
        Ok(caller) => {
            if audit.is_on() {
                if let Err(refused) = Box::pin(audit.received(head, &caller)).await {
                    return refused;
                }
                // It may have waited for somebody else, which is no waiting for a turn.
                app.metrics.passed(Filter::Audit, head.timeline.end(Stage::Authentication) - known);
            }
            if let (Some(supply), Some(shares)) = (supply, &mut shares)
                && let Err(error) = app.limits.identify(shares, supply, connection, caller.user())
            {
                return refusal(error);
            }
            let head = RequestHead { record: audit.record(), ..head };
            app.metrics.recognized(caller.user());
            match impersonation::wanted(&parts.headers, || app.access.identity_group()) {
                Ok(None) => in_turn(app, connection, &caller, &caller, head, body).await,
                Ok(Some(wanted)) => {
                    Box::pin(impersonated(app, connection, &caller, wanted, head, body)).await
                }
                Err(Meaningless::NoUser(problem)) => nobody_to_impersonate(&asked(&parts.uri), &problem),
                Err(Meaningless::Header(error)) => refusal(error),
            }
        }
        Err(stranger) => {
            dismiss(app, connection, parts);
            refusal(stranger.into())
        }
    };
    warning::warn(&mut response, hint.map(str::to_owned).as_slice());
    match shares {
        Some(shares) if supply == Some(Supply::Watches) && response.status() == StatusCode::OK => response
            .map(|events| app.open_watches.guard(connection, parts, &app.identity_headers, events, shares)),
        Some(shares) => until_handed_over(response, shares),
        None => response,
    }
}

/// Answers a request as somebody else, where the sender may be that.
async fn impersonated(
    app: &Arc<App>,
    connection: &Arc<Connection<Peer>>,
    sender: &Authenticated,
    wanted: Impersonation,
    head: RequestHead<'_>,
    body: &mut RequestBody,
) -> Response {
    let began = head.timeline.at(Stage::Authentication);
    match other_servers::impersonate(app, sender, wanted).await {
        Ok(caller) => {
            if let Some(record) = head.record {
                record.impersonated(recorded_user(caller.user()));
            }
            let took = head.timeline.end(Stage::Authentication).saturating_duration_since(began);
            app.metrics.passed(Filter::Impersonation, took);
            in_turn(app, connection, sender, &caller, head, body).await
        }
        Err(error) => turned_away(app, connection, head.parts, sender, error),
    }
}

/// Answers a request of `caller`, which is the sender or who they impersonate, when it is its turn.
async fn in_turn(
    app: &Arc<App>,
    connection: &Arc<Connection<Peer>>,
    sender: &Authenticated,
    caller: &Authenticated,
    head: RequestHead<'_>,
    body: &mut RequestBody,
) -> Response {
    let Pass { mut kept, placed } = match turns::take(app, connection, caller, head).await {
        Ok(pass) => pass,
        Err(refused) => {
            ended_turn(app, head);
            return *refused;
        }
    };
    let placed = placed.as_ref();
    let head = RequestHead { headers: placed.map(Placed::headers), ..head };
    // Pinned where it is made, as in `measured`.
    let answer = pin!(permitted(app, connection, sender, caller, head, body));
    let response = turns::in_sight(&mut kept, placed, caller, head, answer).await;
    turns::answered(kept, placed, head, response)
}

/// The turn of a request has come, or will not. Returns when that is.
fn ended_turn(app: &App, head: RequestHead<'_>) -> Instant {
    let now = head.timeline.end(Stage::Turn);
    let took = now.saturating_duration_since(head.timeline.at(Stage::Authentication));
    app.metrics.passed(Filter::Fairness, took);
    now
}

/// Authorizes a request before it is answered.
async fn permitted(
    app: &Arc<App>,
    connection: &Arc<Connection<Peer>>,
    sender: &Authenticated,
    caller: &Authenticated,
    head: RequestHead<'_>,
    body: &mut RequestBody,
) -> Response {
    let parts = head.parts;
    let began = ended_turn(app, head);
    let decided = other_servers::authorize(app, caller, head).await;
    let outcome = match &decided {
        Ok(()) => Authorization::Allowed,
        Err(Refused::Denied(_)) => Authorization::Denied,
        Err(Refused::NoOpinion(_)) => Authorization::NoOpinion,
        Err(Refused::Undecided(_)) => Authorization::Error,
    };
    app.metrics.authorized(outcome, head.timeline.end(Stage::Authorization) - began);
    match decided {
        Ok(()) => admitted(app, connection, sender, caller, head, body).await,
        Err(Refused::Denied(error) | Refused::NoOpinion(error)) => {
            turned_away(app, connection, parts, sender, error)
        }
        Err(Refused::Undecided(problem)) => undecided(&asked(&parts.uri), &problem),
    }
}

/// The answer to somebody who may not do what they ask.
fn turned_away(
    app: &App,
    connection: &Connection<Peer>,
    parts: &Parts,
    sender: &Authenticated,
    error: ApiError,
) -> Response {
    if sender.is_anonymous() {
        dismiss(app, connection, parts);
    }
    forbidden(error)
}

/// Clients that are refused and have no credential do not keep an HTTP/2 connection: opening and resetting
/// streams costs them less than answering costs the server (rapid reset, CVE-2023-44487).
fn dismiss(app: &App, connection: &Connection<Peer>, parts: &Parts) {
    if app.closes_unauthenticated && parts.version == Version::HTTP_2 {
        connection.close_when_answered();
    }
}

/// Answers an authorized request, where there is memory for it.
async fn admitted(
    app: &Arc<App>,
    connection: &Arc<Connection<Peer>>,
    sender: &Authenticated,
    caller: &Authenticated,
    head: RequestHead<'_>,
    body: &mut RequestBody,
) -> Response {
    if let Route::Resource(verb, target) = &head.info.route
        && target.resource.def.stored
        && let Err(error) = app.memory.check(*verb)
    {
        return refusal(error);
    }
    if !body.is_empty() {
        match app.limits.body(connection, sender.user()) {
            Ok(shares) => body.count_in(shares),
            Err(error) => return refusal(error),
        }
    }
    routes::answer(app, caller, head, body).await
}

/// What a request is counted as; probes are not counted.
fn supply(head: RequestHead<'_>) -> Option<Supply> {
    match &head.info.route {
        Route::Resource(Verb::Watch, _) => Some(Supply::Watches),
        Route::NonResource if health::is_probe(head.parts.uri.path()) => None,
        _ => Some(Supply::Requests),
    }
}

/// The message of a refusal repeats what the client sent, so browsers must not guess another content type.
fn forbidden(error: ApiError) -> Response {
    let mut response = refusal(error);
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
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
