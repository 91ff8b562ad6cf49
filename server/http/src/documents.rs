//! All paths that are not resources: probes, metrics, discovery, OpenAPI, the version, the list of paths, and
//! the routes that a program adds.
//!
//! They are an axum router behind the same layers as resources, so callers are authenticated and authorized.
//! [`ROUTES`] lists the server's own paths; they answer GET and HEAD. A program's routes get all other paths.

pub mod discovery;
pub mod health;
pub mod issuer;
pub mod openapi;
pub(crate) mod profiling;
pub mod root_paths;
pub(crate) mod static_document;
pub mod version;

use std::{sync::Arc, time::SystemTime};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    response::{IntoResponse, Response},
    routing::any,
};
use http::{HeaderValue, Method, header, request::Parts};
use orch_registry::{catalog::Catalog, core::Core, error::ApiError};

use self::{
    discovery::Discovery, health::Checks, issuer::IssuerDocuments, openapi::OpenApi, root_paths::RootPaths,
    version::Version,
};
use crate::{
    fairness::{Fairness, dump},
    metrics::Metrics,
    request::query::Query,
    response::status::refusal,
};

/// The parts that answer, with the paths that they serve.
pub struct Documents {
    /// For the time.
    pub core: Arc<Core>,
    /// `/api`, `/apis` and below.
    pub discovery: Discovery,
    /// `/openapi/v2`, `/openapi/v3` and below.
    pub openapi: OpenApi,
    /// `/livez`, `/readyz`, `/healthz`.
    pub health: Checks,
    /// `/.well-known/openid-configuration` and `/openid/v1/jwks`, where others can use them.
    pub issuer: Option<IssuerDocuments>,
    /// `/metrics`.
    pub metrics: Metrics,
    /// `/debug/api_priority_and_fairness`; `None` where priority and fairness is off.
    pub fairness: Option<Arc<Fairness>>,
    /// Whether there is `/debug/pprof`.
    pub profiles: bool,
    /// `/version`.
    pub version: Version,
    /// `/`.
    pub root_paths: RootPaths,
}

/// Answers GET of a path; `None` where nothing is there.
type Handler = fn(&Documents, &Parts) -> Option<Response>;

/// All routes of the server's own documents. Where the reference answers with a slash at the end too, the
/// path stands here twice.
const ROUTES: &[(&str, Handler)] = &[
    ("/", |documents, _| Some(documents.root_paths.serve())),
    ("/version", |documents, _| Some(documents.version.serve())),
    ("/version/", |documents, _| Some(documents.version.serve())),
    ("/metrics", |documents, _| Some(metrics(documents.metrics.text()))),
    ("/metrics/slis", |documents, _| Some(metrics(documents.health.outcomes()))),
    ("/api", |documents, parts| documents.discovery.serve(parts)),
    ("/api/{*below}", |documents, parts| documents.discovery.serve(parts)),
    ("/api/", |documents, parts| documents.discovery.serve(parts)),
    ("/apis", |documents, parts| documents.discovery.serve(parts)),
    ("/apis/", |documents, parts| documents.discovery.serve(parts)),
    ("/apis/{*below}", |documents, parts| documents.discovery.serve(parts)),
    (issuer::CONFIGURATION, |documents, _| Some(documents.issuer.as_ref()?.configuration())),
    ("/.well-known/openid-configuration/", |documents, _| Some(documents.issuer.as_ref()?.configuration())),
    (issuer::KEYS, |documents, _| Some(documents.issuer.as_ref()?.keys())),
    ("/openid/v1/jwks/", |documents, _| Some(documents.issuer.as_ref()?.keys())),
    ("/openapi/v2", openapi),
    ("/openapi/v2/", openapi),
    ("/openapi/v3", openapi),
    ("/openapi/v3/", openapi),
    ("/openapi/v3/{*below}", openapi),
    ("/livez", health),
    ("/livez/{*check}", health),
    ("/readyz", health),
    ("/readyz/{*check}", health),
    ("/healthz", health),
    ("/healthz/{*check}", health),
    ("/debug/api_priority_and_fairness/dump_priority_levels", |documents, _| {
        Some(text(dump::priority_levels(documents.fairness.as_ref()?)))
    }),
    ("/debug/api_priority_and_fairness/dump_queues", |documents, _| {
        Some(text(dump::queues(documents.fairness.as_ref()?)))
    }),
    ("/debug/api_priority_and_fairness/dump_requests", |documents, parts| {
        let with_details = Query::parse(parts.uri.query()).flag("includeRequestDetails");
        Some(text(dump::requests(documents.fairness.as_ref()?, SystemTime::now(), with_details)))
    }),
    ("/debug/pprof", |documents, _| documents.profiles.then(|| text(profiling::index()))),
    ("/debug/pprof/", |documents, _| documents.profiles.then(|| text(profiling::index()))),
    ("/debug/pprof/{*below}", |documents, parts| {
        profiling::profile(parts.uri.path()).filter(|_| documents.profiles).map(|make| text(make()))
    }),
];

/// Paths other than discovery and health, for the list at `/`.
pub const LISTED: &[&str] = &["/metrics", "/metrics/slis", "/openapi/v2", "/openapi/v3", "/version"];

/// The router of the documents; `own` answers all other paths.
pub fn router(documents: Documents, own: Router) -> Router {
    let documents = Arc::new(documents);
    let unknown = {
        let documents = Arc::clone(&documents);
        move |request: Request| std::future::ready(not_found(&documents, request.uri().path()))
    };
    let mut router = Router::new();
    for (path, handler) in ROUTES {
        let handler = *handler;
        let serve = move |State(documents): State<Arc<Documents>>, request: Request| async move {
            let (parts, _) = request.into_parts();
            read_only(&documents, &parts, handler)
        };
        router = router.route(path, any(serve));
    }
    router.with_state(documents).fallback_service(own.fallback(unknown))
}

/// The answer of a handler, which runs for GET and HEAD only. What is not there is not found by other methods
/// either.
fn read_only(documents: &Documents, parts: &Parts, handler: Handler) -> Response {
    if is_read(&parts.method) {
        return handler(documents, parts).unwrap_or_else(|| not_found(documents, parts.uri.path()));
    }
    if is_discovery(parts.uri.path()) && documents.discovery.serve(parts).is_none() {
        return not_found(documents, parts.uri.path());
    }
    refuse_method()
}

fn is_discovery(path: &str) -> bool {
    matches!(path.split('/').nth(1), Some("api" | "apis"))
}

fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

fn refuse_method() -> Response {
    refusal(ApiError::MethodNotAllowed("GET, HEAD".to_owned()))
}

fn not_found(documents: &Documents, path: &str) -> Response {
    refusal(unknown(documents.core.catalog(), path))
}

/// The error of an unknown path: below a group that is served, a resource is missing.
fn unknown(catalog: &Catalog, path: &str) -> ApiError {
    let mut segments = path.split('/').skip(1);
    let served = match (segments.next(), segments.next()) {
        (Some("api"), Some(_)) => true,
        (Some("apis"), Some(group)) => catalog.group_versions.iter().any(|served| served.group == group),
        _ => false,
    };
    if served { ApiError::UnknownResource } else { ApiError::UnknownPath }
}

fn openapi(documents: &Documents, parts: &Parts) -> Option<Response> {
    let query = Query::parse(parts.uri.query());
    documents.openapi.serve(parts, &query, documents.core.now().as_unix_seconds())
}

fn health(documents: &Documents, parts: &Parts) -> Option<Response> {
    documents.health.serve(parts.uri.path(), &Query::parse(parts.uri.query()))
}

fn text(text: String) -> Response {
    let headers =
        [(header::CONTENT_TYPE, "text/plain; charset=utf-8"), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")];
    (headers, text).into_response()
}

fn metrics(text: prometheus::Result<String>) -> Response {
    match text {
        Ok(text) => {
            let content_type = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
            ([(header::CONTENT_TYPE, content_type)], Body::from(text)).into_response()
        }
        Err(error) => refusal(ApiError::internal("metrics cannot be written", error)),
    }
}
