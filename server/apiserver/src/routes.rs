//! All routes: which handler answers which path.
//!
//! Paths below a group and version go to the registry, by verb. The others are listed here.

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
use http::{HeaderName, Method, header, request::Parts};
use orch_auth::authenticator::Authenticated;
use orch_runtime::resource_def::Verb;

use crate::{
    app::App,
    error::{ApiError, Result},
    incoming::{Incomer, RequestBody},
    permission::Asker,
    query::Query,
    registry::{
        self, Call, Reply,
        body_format::{Body, BodyFormat},
    },
    request_info::Route,
    response,
};

/// Hands an authorized request to its handler.
pub async fn answer(
    app: &Arc<App>,
    caller: &Authenticated,
    incomer: Incomer<'_>,
    body: &mut RequestBody,
) -> Response {
    let Incomer { info, query, parts } = incomer;
    match &info.route {
        Route::Refused(error) => error.clone().into_response(),
        Route::NonResource => non_resource(app, parts, query),
        Route::Resource(target) => {
            let user_agent = text(parts, header::USER_AGENT);
            let asker = Some(Asker { caller, names: &info.names });
            let call = Call { app, target, query, user_agent, asker };
            let outcome = match response::Representation::negotiate(&parts.headers, call) {
                Ok(representation) => perform(call, parts, body)
                    .await
                    .and_then(|reply| response::respond(call, &representation, reply)),
                Err(error) => Err(error),
            };
            outcome.unwrap_or_else(IntoResponse::into_response)
        }
    }
}

/// The verbs of a resource. Boxed, because a future is as large as the largest thing that it may come to do: every read
/// would be moved about at the size of a patch.
fn perform<'a>(call: Call<'a>, parts: &'a Parts, body: &'a mut RequestBody) -> BoxFuture<'a, Result<Reply>> {
    let content_type = text(parts, header::CONTENT_TYPE);
    match call.target.verb {
        Verb::Get => Box::pin(registry::get::get(call)),
        Verb::List => Box::pin(registry::list::list(call)),
        Verb::Watch => Box::pin(registry::watch::watch(call)),
        Verb::Create if !call.target.resource.def.stored => {
            Box::pin(async move { registry::review::review(call, &read(content_type, body).await?).await })
        }
        Verb::Create if call.target.subresource.is_some() => {
            Box::pin(async move { registry::operate::operate(call, &read(content_type, body).await?).await })
        }
        Verb::Create => {
            Box::pin(async move { registry::create::create(call, &read(content_type, body).await?).await })
        }
        Verb::Update => {
            Box::pin(async move { registry::update::replace(call, &read(content_type, body).await?).await })
        }
        Verb::Patch => {
            Box::pin(async move { registry::patch::patch(call, content_type, &body.read().await?).await })
        }
        Verb::Delete => {
            Box::pin(
                async move { registry::delete::delete(call, &read_options(content_type, body).await?).await },
            )
        }
        Verb::DeleteCollection => Box::pin(async move {
            registry::delete_collection::delete_collection(call, &read_options(content_type, body).await?)
                .await
        }),
    }
}

/// A header as text; empty where it is absent or no text.
fn text(parts: &Parts, name: HeaderName) -> &str {
    parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// A body whose type is known; nothing is read of others.
async fn read(content_type: &str, body: &mut RequestBody) -> Result<Body> {
    let format = BodyFormat::of(content_type)?;
    Ok(Body { format, bytes: body.read().await? })
}

/// A body that may be absent; only then nothing needs to be said about its type.
async fn read_options(content_type: &str, body: &mut RequestBody) -> Result<Body> {
    let bytes = body.read().await?;
    let format = if bytes.is_empty() { BodyFormat::Json } else { BodyFormat::of(content_type)? };
    Ok(Body { format, bytes })
}

/// Everything that is no resource. The documents answer only to reads.
fn non_resource(app: &Arc<App>, parts: &Parts, query: &Query) -> Response {
    let path = parts.uri.path();
    if !matches!(parts.method, Method::GET | Method::HEAD) {
        return ApiError::MethodNotAllowed("GET, HEAD".to_owned()).into_response();
    }
    let first = path.split('/').nth(1).unwrap_or_default();
    let found = match first {
        "" if path == "/" => Some(app.root_paths.serve()),
        "api" | "apis" => app.discovery.serve(parts),
        "openapi" => app.openapi.serve(parts, query, app.now().as_unix_seconds()),
        "livez" | "readyz" | "healthz" => app.health.serve(path, query),
        "metrics" if path == "/metrics" => Some(app.metrics.serve()),
        "version" if path == "/version" || path == "/version/" => Some(app.version.serve()),
        _ => None,
    };
    found.unwrap_or_else(|| unknown(app, path).into_response())
}

/// Below a group that is served, what is missing is a resource.
fn unknown(app: &App, path: &str) -> ApiError {
    let mut segments = path.split('/').skip(1);
    let served = match (segments.next(), segments.next()) {
        (Some("api"), Some(_)) => true,
        (Some("apis"), Some(group)) => app.catalog.group_versions.iter().any(|served| served.group == group),
        _ => false,
    };
    if served { ApiError::UnknownResource } else { ApiError::UnknownPath }
}
