//! Which handler answers which request.
//!
//! Resources go to the registry, by verb; a `match` is faster than a router here. All other paths go to the
//! router of `documents`.

use std::sync::Arc;

use axum::response::Response;
use futures_util::future::BoxFuture;
use http::{Request, header, request::Parts};
use orch_auth::{authenticator::Authenticated, user::UserInfo};
use orch_registry::{
    answer::Answer,
    context::{Caller, RequestContext},
    error::{ApiError, Result},
    request::{Body, DeleteCollectionRequest, DeleteRequest, GetRequest, Target},
    verb,
};
use orch_runtime::resource_def::Verb;
use tower_service::Service as _;

use crate::{
    app::App,
    metrics::RequestLabels,
    request::{RequestHead, body::RequestBody, deletion, info::Route, listing, writing},
    response::{Representation, respelled, respond, status::refusal, warning::warn},
};

/// Who makes a request: an extension of the requests that reach a program's own routes.
#[derive(Clone, Debug)]
pub struct RouteCaller(pub Arc<UserInfo>);

/// Hands an authorized request to its handler.
pub async fn answer(
    app: &Arc<App>,
    caller: &Authenticated,
    head: RequestHead<'_>,
    body: &mut RequestBody,
) -> Response {
    match &head.info.route {
        Route::Refused(error) => refusal(error.clone()),
        Route::NonResource => documents(app, caller, head.parts, body).await,
        Route::Resource(verb, target) => {
            let access = app.access.of_caller(caller, &head.info.names);
            let caller = Caller { user: caller.user(), access: &access };
            let cx = RequestContext::new(&app.core, caller, head.header(header::USER_AGENT));
            if let Some(spelling) = head.info.spelling {
                cx.spells(spelling);
            }
            let answered = resource(app, &cx, head, *verb, target, body).await;
            let response = answered.unwrap_or_else(refusal);
            match cx.spelling() {
                None => response,
                Some(spelling) => respelled(response, spelling),
            }
        }
    }
}

/// Answers a request for a resource. Warnings go with answers, not with refusals.
async fn resource(
    app: &Arc<App>,
    cx: &RequestContext<'_>,
    head: RequestHead<'_>,
    verb: Verb,
    target: &Target<'_>,
    body: &mut RequestBody,
) -> Result<Response> {
    let representation = Representation::negotiate(&head, verb, target, &app.media_types, &app.meta_groups)?;
    let answer = perform(app, cx, head, verb, target.clone(), body).await?;
    let open = || {
        let labels =
            RequestLabels::resource(target.resource.def, None, verb, &target.namespace, &target.name);
        app.metrics.long_running(&labels)
    };
    let mut response = respond(&app.core, target, &representation, answer, open)?;
    warn(&mut response, &cx.take_warnings());
    Ok(response)
}

/// The verbs of a resource. Each is boxed on its own: one future for all would have the size of the largest,
/// and every read would copy it.
fn perform<'a>(
    app: &'a App,
    cx: &'a RequestContext<'a>,
    head: RequestHead<'a>,
    verb: Verb,
    target: Target<'a>,
    body: &'a mut RequestBody,
) -> BoxFuture<'a, Result<Answer>> {
    match verb {
        Verb::Get => Box::pin(async move {
            let version = listing::version(head.query)?;
            verb::get::get(cx, &GetRequest { target, version }).await
        }),
        Verb::List => {
            Box::pin(async move { verb::list::list(cx, &listing::list(head.query, target)?).await })
        }
        Verb::Watch => {
            Box::pin(async move { verb::watch::watch(cx, listing::watch(head.query, target)?).await })
        }
        Verb::Create => Box::pin(create(app, cx, head, target, body)),
        Verb::Update => Box::pin(async move {
            let body = object(app, &head, &target, body).await?;
            verb::update::update(cx, writing::update(&head, target, body)?).await
        }),
        Verb::Patch => Box::pin(async move {
            let bytes = body.read().await?;
            verb::patch::patch(cx, writing::patch(&head, target, bytes)?).await
        }),
        Verb::Delete => Box::pin(async move {
            let body = optional_object(app, &head, &target, body).await?;
            let options = deletion::options(cx.core, head.query, &body)?;
            verb::delete::delete(cx, &DeleteRequest { target, options }).await
        }),
        Verb::DeleteCollection => Box::pin(async move {
            let body = optional_object(app, &head, &target, body).await?;
            let vocabulary = target.resource.vocabulary;
            let list = listing::list(head.query, target)?;
            let options = deletion::options(cx.core, head.query, &body)?.for_collection(vocabulary)?;
            verb::delete_collection::delete_collection(cx, &DeleteCollectionRequest { list, options }).await
        }),
    }
}

/// POST: a new object, an operation, or a question.
async fn create(
    app: &App,
    cx: &RequestContext<'_>,
    head: RequestHead<'_>,
    target: Target<'_>,
    body: &mut RequestBody,
) -> Result<Answer> {
    let body = object(app, &head, &target, body).await?;
    let def = target.resource.def;
    let not_here = || ApiError::MethodNotAllowed(String::new());
    let subresource = target.subresource;
    let request = writing::create(&head, target, body)?;
    match subresource {
        _ if !def.stored => {
            if let Some(operation) = app.operations.operation(def, "") {
                return verb::operate::operate(cx, request, operation).await;
            }
            let review = app.operations.review(def).ok_or_else(not_here)?;
            verb::review::review(cx, request, review).await
        }
        Some(subresource) => {
            let operation = app.operations.operation(def, subresource.name).ok_or_else(not_here)?;
            verb::operate::operate(cx, request, operation).await
        }
        None => verb::create::create(cx, request).await,
    }
}

async fn object(
    app: &App,
    head: &RequestHead<'_>,
    target: &Target<'_>,
    body: &mut RequestBody,
) -> Result<Body> {
    let content_type = head.header(header::CONTENT_TYPE);
    body.object(content_type, &app.media_types, target.resource.vocabulary).await
}

async fn optional_object(
    app: &App,
    head: &RequestHead<'_>,
    target: &Target<'_>,
    body: &mut RequestBody,
) -> Result<Body> {
    let content_type = head.header(header::CONTENT_TYPE);
    body.optional_object(content_type, &app.media_types, target.resource.vocabulary).await
}

/// Answers a path that is not a resource.
async fn documents(app: &App, caller: &Authenticated, parts: &Parts, body: &mut RequestBody) -> Response {
    let mut request = Request::from_parts(parts.clone(), body.hand_on());
    request.extensions_mut().insert(RouteCaller(Arc::clone(caller.user())));
    match app.documents.clone().call(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}
