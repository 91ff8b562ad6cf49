//! What happens to every request before and after its handler, in order. The order is semantics:
//!
//! 1. **panic**: outermost, so that nothing below can take the process or the connection down;
//! 2. **audit id and log**: every answer, errors too, can be found again in the log; a failure is logged once, here;
//! 3. **request info**: read once; authorization, metrics and dispatch use the same value;
//! 4. **metrics**: around everything that has a meaning to count;
//! 5. **deadline**: for everything but watches;
//! 6. **authenticate**, then **authorize**: before the body is read, so that strangers cost little;
//! 7. **body limit**: the body is read whole, up to a limit, by the handlers that need one;
//! 8. the handler of [`routes`](crate::routes).

use std::{
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use http::{HeaderName, HeaderValue, Method, Request, Uri, Version, header};
use hyper::body::Incoming;
use orch_auth::{
    authenticator::{Authenticated, Credentials},
    authorizer::{self, Attributes, Authorizer, Decision},
};
use orch_runtime::resource_def::Verb;
use uuid::Uuid;

use crate::{
    app::App,
    error::{ApiError, Forbidden, ResourceName, Result},
    incoming::Incomer,
    listener::Connection,
    metrics::{DryRun, RequestLabels},
    query::Query,
    request_info::{Names, RequestInfo, Route},
    routes,
    status::Fault,
    warning,
};

const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// Answers one request.
pub async fn handle(app: Arc<App>, connection: Arc<Connection>, request: Request<Incoming>) -> Response {
    let audit_id = audit_id(&request);
    let (started, line) = (Instant::now(), RequestLine::of(&request));
    let answered = AssertUnwindSafe(measured(&app, &connection, request)).catch_unwind().await;
    let mut response = answered.unwrap_or_else(|panic| {
        let detail = panic.downcast_ref::<&str>().map_or("a value that is no text", |text| *text).to_owned();
        ApiError::internal("the server has a bug", format_args!("panic: {detail}")).into_response()
    });
    line.log(&response, &audit_id, started.elapsed());
    let headers = response.headers_mut();
    headers.insert(AUDIT_ID, audit_id);
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    }
    response
}

/// What the log says of a request. The query is left out: it can hold anything.
struct RequestLine {
    method: Method,
    uri: Uri,
}

impl RequestLine {
    fn of(request: &Request<Incoming>) -> Self {
        RequestLine { method: request.method().clone(), uri: request.uri().clone() }
    }

    fn log(&self, response: &Response, audit_id: &HeaderValue, elapsed: Duration) {
        let (method, path, code) = (&self.method, self.uri.path(), response.status().as_u16());
        if let Some(Fault { public, detail }) = response.extensions().get() {
            tracing::error!(?audit_id, %method, path, code, %detail, "{public}");
        } else {
            tracing::debug!(?audit_id, %method, path, code, ?elapsed, "answered");
        }
    }
}

/// Reads the request line and counts the answer.
async fn measured(app: &Arc<App>, connection: &Connection, request: Request<Incoming>) -> Response {
    let started = Instant::now();
    let (parts, body) = request.into_parts();
    let query = Query::parse(parts.uri.query());
    let info = RequestInfo::parse(&app.catalog, &parts.method, parts.uri.path(), &query);
    let labels = labels(&info, &parts, &query);
    let is_watch = info.names.is_resource && info.names.verb == Verb::Watch.as_str();
    let in_flight = app.metrics.in_flight(!matches!(parts.method.as_str(), "GET" | "HEAD" | "OPTIONS"));
    let incomer = Incomer { info, query, parts, body };
    let response = if is_watch {
        guarded(app, connection, incomer).await
    } else {
        match tokio::time::timeout(app.request_timeout, guarded(app, connection, incomer)).await {
            Ok(response) => response,
            Err(_) => ApiError::Timeout("request did not complete within the allotted timeout".to_owned())
                .into_response(),
        }
    };
    drop(in_flight);
    app.metrics.answered(&labels, response.status(), started.elapsed());
    response
}

/// Lets only those through who may.
async fn guarded(app: &Arc<App>, connection: &Connection, incomer: Incomer<'_>) -> Response {
    let authorization = incomer.parts.headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
    let credentials = Credentials::new(connection.peer_certificates(), authorization, SystemTime::now());
    let hint = credentials.warning();
    let mut response = match authenticate(app, &credentials).await {
        Ok(caller) => match authorize(app, &caller, &incomer.info.names, incomer.parts.uri.path()).await {
            Ok(()) => routes::answer(app, incomer).await,
            Err(error) => error.into_response(),
        },
        Err(error) => {
            // Strangers get no long HTTP/2 connections: opening and dropping streams is cheaper than answering.
            if incomer.parts.version == Version::HTTP_2 {
                connection.close_when_answered();
            }
            error.into_response()
        }
    };
    warning::warn(&mut response, hint.map(str::to_owned).as_slice());
    response
}

async fn authenticate(app: &App, credentials: &Credentials<'_>) -> Result<Authenticated> {
    app.authentication.authenticate(credentials).resolve().await.map_err(|error| {
        tracing::debug!(%error, "not authenticated");
        ApiError::Unauthorized
    })
}

async fn authorize(app: &App, caller: &Authenticated, names: &Names, path: &str) -> Result<()> {
    let target = if names.is_resource {
        authorizer::Target::Resource(authorizer::ResourceTarget {
            group: &names.group,
            version: &names.version,
            resource: &names.resource,
            subresource: &names.subresource,
            namespace: &names.namespace,
            name: &names.name,
        })
    } else {
        authorizer::Target::Path(path)
    };
    let attributes = Attributes { user: caller.user(), verb: &names.verb, target };
    let decision = app.authorization.authorize(&attributes).resolve().await;
    if decision.is_allowed() { Ok(()) } else { Err(forbidden(caller, names, path, &decision)) }
}

/// Who may not do what, in the words that clients know. What the client sent is escaped as in HTML.
fn forbidden(caller: &Authenticated, names: &Names, path: &str, decision: &Decision) -> ApiError {
    let user = &caller.user().name;
    let resource = ResourceName { group: names.group.clone(), resource: names.resource.clone() };
    let mut message = if names.is_resource {
        let subject = match names.name.as_str() {
            "" => resource.qualified(),
            name => format!("{} \"{name}\"", resource.qualified()),
        };
        let what = match names.subresource.as_str() {
            "" => names.resource.clone(),
            subresource => format!("{}/{subresource}", names.resource),
        };
        let place = match names.namespace.as_str() {
            "" => "at the cluster scope".to_owned(),
            namespace => format!("in the namespace \"{namespace}\""),
        };
        let (verb, group) = (&names.verb, &names.group);
        format!(
            "{subject} is forbidden: User \"{user}\" cannot {verb} resource \"{what}\" in API group \"{group}\" {place}"
        )
    } else {
        format!("forbidden: User \"{user}\" cannot {} path \"{path}\"", names.verb)
    };
    if !decision.reason().is_empty() {
        message = format!("{message}: {}", decision.reason());
    }
    let message = message.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    ApiError::Forbidden(Box::new(Forbidden { resource, name: names.name.clone(), message, cause: None }))
}

fn audit_id(request: &Request<Incoming>) -> HeaderValue {
    match request.headers().get(AUDIT_ID) {
        Some(given) if !given.is_empty() => given.clone(),
        _ => HeaderValue::from_str(&Uuid::new_v4().to_string()).expect("a uuid is printable"),
    }
}

/// The series that a request is counted in, from the route table alone.
fn labels(info: &RequestInfo<'_>, parts: &http::request::Parts, query: &Query) -> RequestLabels {
    let labels = match &info.route {
        Route::Resource(target) => RequestLabels::resource(
            target.resource.def,
            target.subresource,
            target.verb,
            &target.namespace,
            &target.name,
        ),
        Route::NonResource => RequestLabels::path(&parts.method, parts.uri.path()),
        Route::Refused(_) => RequestLabels::unserved(&parts.method),
    };
    match query.get("dryRun") {
        None | Some("") => labels,
        Some("All") => labels.with_dry_run(DryRun::All),
        Some(_) => labels.with_dry_run(DryRun::Invalid),
    }
}
