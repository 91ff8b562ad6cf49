//! All routes: which handler answers which path.
//!
//! Paths below a group and version go to the registry, by verb. The others are listed here.

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use http::{Method, header};
use orch_runtime::resource_def::Verb;

use crate::{
    app::App,
    error::{ApiError, Result},
    layers::{self, Incomer},
    query::Query,
    registry::{self, Call, Reply},
    request_info::Route,
    response,
};

/// Hands an authorized request to its handler.
pub async fn answer(app: &Arc<App>, incomer: Incomer<'_>) -> Response {
    let Incomer { info, query, parts, body } = incomer;
    match info.route {
        Route::Refused(error) => error.into_response(),
        Route::NonResource => non_resource(app, &parts, &query),
        Route::Resource(target) => {
            let call = Call { app, target: &target, query: &query };
            let outcome = match response::Representation::negotiate(&parts.headers, call) {
                Ok(representation) => {
                    perform(call, &parts, body).await.and_then(|reply| response::respond(call, &representation, reply))
                }
                Err(error) => Err(error),
            };
            outcome.unwrap_or_else(IntoResponse::into_response)
        }
    }
}

/// The verbs of a resource.
async fn perform(call: Call<'_>, parts: &http::request::Parts, body: hyper::body::Incoming) -> Result<Reply> {
    let content_type = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match call.target.verb {
        Verb::Get => registry::get::get(call).await,
        Verb::List => registry::list::list(call).await,
        Verb::Watch => registry::watch::watch(call).await,
        Verb::Create => {
            check_content_type(content_type)?;
            registry::create::create(call, &layers::read_body(body).await?).await
        }
        Verb::Update => {
            check_content_type(content_type)?;
            registry::update::replace(call, &layers::read_body(body).await?).await
        }
        Verb::Patch => registry::patch::patch(call, content_type, &layers::read_body(body).await?).await,
        Verb::Delete | Verb::DeleteCollection => {
            let body = layers::read_body(body).await?;
            if !body.is_empty() {
                check_content_type(content_type)?;
            }
            if call.target.verb == Verb::Delete {
                registry::delete::delete(call, &body).await
            } else {
                registry::delete_collection::delete_collection(call, &body).await
            }
        }
    }
}

/// Objects are read as JSON; a body without a media type is taken for it.
fn check_content_type(content_type: &str) -> Result<()> {
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    if media_type.is_empty() || media_type == "application/json" {
        return Ok(());
    }
    Err(ApiError::UnsupportedMediaType(vec!["application/json".to_owned()]))
}

/// Everything that is no resource. The documents answer only to reads.
fn non_resource(app: &Arc<App>, parts: &http::request::Parts, query: &Query) -> Response {
    let path = parts.uri.path();
    if !matches!(parts.method, Method::GET | Method::HEAD) {
        return ApiError::MethodNotAllowed.into_response();
    }
    let first = path.split('/').nth(1).unwrap_or_default();
    let found = match first {
        "" => Some(app.root_paths.serve()),
        "api" | "apis" => app.discovery.serve(parts),
        "openapi" => app.openapi.serve(parts, query, app.now().as_unix_seconds()),
        "livez" | "readyz" | "healthz" => app.health.serve(path, query),
        "metrics" if path == "/metrics" => Some(app.metrics.serve()),
        "version" if path.trim_end_matches('/') == "/version" => Some(app.version.serve()),
        _ => None,
    };
    found.unwrap_or_else(|| ApiError::UnknownPath.into_response())
}
