//! Who may have an answer: limits, authentication, impersonation, the request's turn, authorization, memory.
//! The order is that of [`layers`](super).

use std::{
    pin::pin,
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use axum::response::Response;
use http::{HeaderValue, Version, header, request::Parts};
use orch_auth::{
    authenticator::{Authenticated, Credentials},
    impersonation::Impersonation,
};
use orch_listener::Connection;
use orch_registry::error::ApiError;
use orch_runtime::resource_def::Verb;

use super::browsers;
use crate::{
    access::{Refused, Unauthenticated},
    app::App,
    audit::RequestAudit,
    documents::health,
    fairness::Placed,
    limits::{Peer, Supply, until_handed_over},
    metrics::{Authentication, Authorization, Filter},
    other_servers,
    request::{
        RequestHead,
        body::RequestBody,
        framing,
        identity_headers::View,
        impersonation::{self, Meaningless},
        info::Route,
        websocket_token,
    },
    response::{
        self,
        status::{asked, nobody_to_impersonate, refusal, undecided},
        warning,
    },
    routes, shutdown,
    timeline::Stage,
    turns::{self, Pass},
};

/// A request on its way to its handler.
pub(super) struct Passage<'r> {
    pub(super) app: &'r Arc<App>,
    pub(super) connection: &'r Arc<Connection<Peer>>,
    pub(super) head: RequestHead<'r>,
    pub(super) body: &'r mut RequestBody,
}

/// Authenticates and authorizes the request before it is answered.
pub(super) async fn guarded(passage: Passage<'_>, audit: &RequestAudit<'_>) -> Response {
    let Passage { app, connection, head, .. } = passage;
    let parts = head.parts;
    if let Some(answer) = before_limits(app, connection, parts) {
        return answer;
    }
    let supply = supply(head);
    let enter = |supply| app.limits.enter(supply, counts_as(supply, parts), connection);
    let mut shares = match supply.map(enter).transpose() {
        Ok(shares) => shares,
        Err(error) => return refusal(error),
    };
    let authorization = parts.headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
    let headers = View(&parts.headers);
    let credentials =
        Credentials::new(&connection.peer().certificates, authorization, head.timeline.received())
            .at(parts.uri.path())
            .with_headers(&headers);
    let hint = credentials.warning();
    let mut response = match authenticated(app, head, &credentials).await {
        Ok(caller) => {
            if audit.is_on()
                && let Err(refused) = Box::pin(recorded(app, head, audit, &caller)).await
            {
                return refused;
            }
            if let (Some(supply), Some(shares)) = (supply, &mut shares)
                && !is_probe(head)
                && let Err(error) = app.limits.identify(shares, supply, connection, caller.user())
            {
                return refusal(error);
            }
            app.metrics.recognized(caller.user());
            let head = RequestHead { record: audit.record(), ..head };
            as_wanted(Passage { head, ..passage }, &caller).await
        }
        Err(unauthenticated) => {
            dismiss(app, connection, parts);
            refusal(unauthenticated.into())
        }
    };
    warning::warn(&mut response, hint.map(str::to_owned).as_slice());
    match shares {
        Some(shares) if supply == Some(Supply::Watches) && response::is_watch(response.status()) => response
            .map(|events| app.open_watches.guard(connection, parts, &app.identity_headers, events, shares)),
        Some(shares) => until_handed_over(response, shares),
        None => response,
    }
}

/// The answer to a request that concerns no caller: one that is framed wrong, comes too late, or is of a
/// browser that asks what pages may do.
fn before_limits(app: &App, connection: &Connection<Peer>, parts: &Parts) -> Option<Response> {
    if let Err(error) = framing::check(parts) {
        return Some(refusal(error));
    }
    if app.draining.load(Ordering::Relaxed)
        && let Some(refused) = shutdown::refusal(parts.uri.path(), connection)
    {
        return Some(refused);
    }
    browsers::permission(app, parts)
}

/// Who sends the request.
async fn authenticated(
    app: &App,
    head: RequestHead<'_>,
    credentials: &Credentials<'_>,
) -> Result<Authenticated, Unauthenticated> {
    let authenticated = match head.parts.extensions.get() {
        Some(websocket_token::Unreadable) => Err(Unauthenticated::BadCredentials),
        None => other_servers::authenticate(app, credentials).await,
    };
    let outcome = match &authenticated {
        Ok(_) => Authentication::Success,
        Err(Unauthenticated::BadCredentials) => Authentication::Failure,
        Err(Unauthenticated::Undecided) => Authentication::Error,
    };
    let known = head.timeline.end(Stage::Authentication);
    app.metrics.authenticated(outcome, known - head.timeline.started());
    authenticated
}

/// Begins the audit record of a request, which may be refused because it cannot be recorded.
async fn recorded(
    app: &App,
    head: RequestHead<'_>,
    audit: &RequestAudit<'_>,
    caller: &Authenticated,
) -> Result<(), Response> {
    let known = head.timeline.began(Stage::Audit);
    let recorded = audit.received(head, caller).await;
    app.metrics.passed(Filter::Audit, head.timeline.end(Stage::Audit) - known);
    recorded
}

/// Answers a request as the sender, or as who the sender wants to be.
async fn as_wanted(passage: Passage<'_>, sender: &Authenticated) -> Response {
    let (app, parts) = (passage.app, passage.head.parts);
    match impersonation::wanted(&parts.headers, || app.access.identity_group()) {
        Ok(None) => in_turn(passage, sender, sender).await,
        Ok(Some(wanted)) => Box::pin(impersonated(passage, sender, wanted)).await,
        Err(Meaningless::NoUser(problem)) => nobody_to_impersonate(&asked(&parts.uri), &problem),
        Err(Meaningless::Header(error)) => refusal(error),
    }
}

/// Answers a request as somebody else, where the sender may be that.
async fn impersonated(passage: Passage<'_>, sender: &Authenticated, wanted: Impersonation) -> Response {
    let Passage { app, head, .. } = passage;
    let began = head.timeline.began(Stage::Impersonation);
    let impersonated = other_servers::impersonate(app, sender, wanted).await;
    let took = head.timeline.end(Stage::Impersonation).saturating_duration_since(began);
    match impersonated {
        Ok(caller) => {
            if let Some(record) = head.record {
                record.impersonated(Arc::clone(caller.user()));
            }
            app.metrics.passed(Filter::Impersonation, took);
            in_turn(passage, sender, &caller).await
        }
        Err(error) => turned_away(&passage, sender, error),
    }
}

/// Answers a request of `caller`, which is the sender or who they impersonate, when it is its turn.
async fn in_turn(passage: Passage<'_>, sender: &Authenticated, caller: &Authenticated) -> Response {
    let Passage { app, connection, head, .. } = passage;
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
    let answer = pin!(permitted(Passage { head, ..passage }, sender, caller));
    let response = turns::in_sight(&mut kept, placed, caller, head, answer).await;
    turns::answered(kept, placed, head, response)
}

/// The turn of a request has come, or will not. Returns when that is.
fn ended_turn(app: &App, head: RequestHead<'_>) -> Instant {
    let now = head.timeline.end(Stage::Turn);
    let took = now.saturating_duration_since(head.timeline.began(Stage::Turn));
    app.metrics.passed(Filter::Fairness, took);
    now
}

/// Authorizes a request before it is answered.
async fn permitted(passage: Passage<'_>, sender: &Authenticated, caller: &Authenticated) -> Response {
    let Passage { app, head, .. } = passage;
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
        Ok(()) => admitted(passage, sender, caller).await,
        Err(Refused::Denied(error) | Refused::NoOpinion(error)) => turned_away(&passage, sender, error),
        Err(Refused::Undecided(problem)) => undecided(&asked(&head.parts.uri), &problem),
    }
}

/// The answer to somebody who may not do what they ask.
fn turned_away(passage: &Passage<'_>, sender: &Authenticated, error: ApiError) -> Response {
    if sender.is_anonymous() {
        dismiss(passage.app, passage.connection, passage.head.parts);
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
async fn admitted(passage: Passage<'_>, sender: &Authenticated, caller: &Authenticated) -> Response {
    let Passage { app, connection, head, body } = passage;
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

/// What a request is counted as. Probes are not counted, so that they tell of the server and not of its
/// clients; but those with a credential, which another server may have to judge, count for their address.
fn supply(head: RequestHead<'_>) -> Option<Supply> {
    match &head.info.route {
        Route::Resource(Verb::Watch, _) => Some(Supply::Watches),
        _ if is_probe(head) && !head.parts.headers.contains_key(header::AUTHORIZATION) => None,
        _ => Some(Supply::Requests),
    }
}

fn is_probe(head: RequestHead<'_>) -> bool {
    matches!(head.info.route, Route::NonResource) && health::is_probe(head.parts.uri.path())
}

/// As how many of a supply a request counts. A watch keeps its selectors: one for each begun KiB of its
/// query.
fn counts_as(supply: Supply, parts: &Parts) -> usize {
    match supply {
        Supply::Watches => 1 + parts.uri.query().map_or(0, str::len) / 1024,
        _ => 1,
    }
}

/// The message of a refusal repeats what the client sent, so browsers must not guess another content type.
fn forbidden(error: ApiError) -> Response {
    let mut response = refusal(error);
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
