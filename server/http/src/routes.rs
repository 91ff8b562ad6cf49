//! Which handler answers which request.
//!
//! Resources go to the registry, by verb; a `match` is faster than a router here. All other paths go to the
//! router of `documents`. Large requests go on in `large_work`, writes once their bodies are read, and so do
//! questions whose answers may be long.

use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, header, request::Parts};
use orch_auth::{authenticator::Authenticated, user::UserInfo};
use orch_config::enablement::RELEASE;
use orch_machinery::body::read_json;
use orch_registry::{
    answer::Answer,
    catalog::ServedResource,
    context::{Caller, RequestContext},
    error::{ApiError, Result},
    feature_gates::WATCH_LIST,
    operation::AnyReview,
    request::{Body, DeleteCollectionRequest, DeleteRequest, GetRequest, Target},
    store_error, verb,
};
use orch_runtime::resource_def::{Replacement, ResourceDef, Verb};
use orch_trace::request::continued;
use tower_service::Service as _;

use crate::{
    app::App,
    audit,
    metrics::RequestLabels,
    request::{
        RequestHead,
        body::RequestBody,
        deletion,
        info::{RequestInfo, Route},
        listing,
        query::Query,
        websocket_handshake::Handshake,
        weight, writing,
    },
    response::{Representation, Style, respelled, respond, status::refusal, warning::warn},
    timeline::{Stage, Timeline},
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
        Route::Resource(Verb::Get, target) if is_long_to_write(app, &head, target) => {
            Box::pin(apart(app, caller.clone(), head, nothing())).await
        }
        Route::Resource(verb @ (Verb::Get | Verb::List | Verb::Watch), target) => {
            resource(app, caller, head, *verb, target, Ok(nothing())).await
        }
        Route::Resource(verb, target) => match Box::pin(read_body(app, &head, *verb, target, body)).await {
            Ok(sent) if is_large(app, &head, *verb, target, &sent) => {
                Box::pin(apart(app, caller.clone(), head, sent)).await
            }
            sent => resource(app, caller, head, *verb, target, sent).await,
        },
    }
}

/// The body of a request that has none.
fn nothing() -> Body {
    Body { reader: read_json, bytes: Bytes::new() }
}

/// Reads the body of a write, where the answer can be written as the client accepts it.
async fn read_body(
    app: &App,
    head: &RequestHead<'_>,
    verb: Verb,
    target: &Target<'_>,
    body: &mut RequestBody,
) -> Result<Body> {
    negotiate(app, head, verb, target)?;
    let sent = read_sent(app, head, verb, target, body).await;
    head.timeline.end(Stage::Body);
    sent
}

async fn read_sent(
    app: &App,
    head: &RequestHead<'_>,
    verb: Verb,
    target: &Target<'_>,
    body: &mut RequestBody,
) -> Result<Body> {
    let (content_type, vocabulary) = (head.header(header::CONTENT_TYPE), target.resource.vocabulary);
    match verb {
        Verb::Create | Verb::Update => body.object(content_type, &app.media_types, vocabulary).await,
        Verb::Delete | Verb::DeleteCollection => {
            body.optional_object(content_type, &app.media_types, vocabulary).await
        }
        // Patches have media types and readers of their own.
        Verb::Patch => Ok(Body { bytes: body.read().await?, ..nothing() }),
        Verb::Get | Verb::List | Verb::Watch => Ok(nothing()),
    }
}

fn negotiate(app: &App, head: &RequestHead<'_>, verb: Verb, target: &Target<'_>) -> Result<Representation> {
    let App { media_types, meta_groups, compresses, .. } = app;
    Representation::negotiate(head, verb, target, media_types, meta_groups, *compresses)
}

/// Whether a write takes long to compute: what was sent is large, or what it changes or reads, or the answer
/// to the question that it is.
fn is_large(app: &App, head: &RequestHead<'_>, verb: Verb, target: &Target<'_>, sent: &Body) -> bool {
    let is_stored_large = || match verb {
        Verb::DeleteCollection => {
            app.core.objects().has_larger(target.resource, &target.namespace, weight::LARGE)
        }
        _ => is_stored_large(app, target),
    };
    weight::is_large(&sent.bytes, head.header(header::CONTENT_TYPE))
        || is_stored_large()
        || reads_much(app, target)
        || (verb == Verb::Create && admission_reads_much(app, target))
        || review(app, target).is_some_and(AnyReview::may_be_long)
}

/// Whether an operation reads much of other objects.
fn reads_much(app: &App, target: &Target<'_>) -> bool {
    let operation =
        target.subresource.and_then(|named| app.operations.operation(target.resource.def, named.name));
    operation.is_some_and(|operation| operation.reads(&app.core, target) > weight::LARGE)
}

/// Whether admission of a new object may read a large one.
fn admission_reads_much(app: &App, target: &Target<'_>) -> bool {
    let objects = app.core.objects();
    let read = app.core.admission().reads(target.resource.def);
    read.filter_map(|def| objects.catalog().served(def))
        .any(|resource| objects.has_larger(resource, &target.namespace, weight::LARGE))
}

/// What answers a kind that is a question.
fn review<'a>(app: &'a App, target: &Target<'_>) -> Option<&'a dyn AnyReview> {
    let def = target.resource.def;
    if def.stored {
        return None;
    }
    let answered = target.resource.storage_version().map_or(def, |answered| answered.def);
    app.operations.review(answered)
}

/// Whether an answer takes long to write: the object is large, and is asked for in another form or version
/// than that in which it is stored.
fn is_long_to_write(app: &App, head: &RequestHead<'_>, target: &Target<'_>) -> bool {
    let is_as_stored = || {
        let representation = negotiate(app, head, Verb::Get, target);
        target.resource.stored_as.is_none()
            && representation.is_ok_and(|representation| representation.is_as_stored())
    };
    is_stored_large(app, target) && !is_as_stored()
}

fn is_stored_large(app: &App, target: &Target<'_>) -> bool {
    app.core.objects().size(target.resource, &target.namespace, &target.name) > weight::LARGE
}

/// Answers a large request on a thread of its own, from its head and its body.
async fn apart(app: &Arc<App>, caller: Authenticated, head: RequestHead<'_>, sent: Body) -> Response {
    let (of_request, parts, record) = (Arc::clone(app), head.parts.clone(), head.record.cloned());
    let (started, trace) = (head.timeline.started(), orch_trace::request::current());
    let work = app.large_work.of(caller.user());
    let answer = async move {
        let app = of_request;
        let query = Query::parse(parts.uri.query());
        let info = RequestInfo::parse(app.core.catalog(), &parts.method, parts.uri.path(), &query);
        let (timeline, record) = (Timeline::new(started), record.as_ref());
        let (info, query, parts, timeline) = (&info, &query, &parts, &timeline);
        let head = RequestHead { info, query, parts, timeline, record, headers: None };
        match &info.route {
            Route::Resource(verb, target) => resource(&app, &caller, head, *verb, target, Ok(sent)).await,
            Route::Refused(error) => refusal(error.clone()),
            Route::NonResource => unreachable!("the same request line is read the same way"),
        }
    };
    work.run(move || continued(trace, answer)).await
}

/// Answers a request for a resource, in the spelling that was asked.
async fn resource(
    app: &Arc<App>,
    caller: &Authenticated,
    head: RequestHead<'_>,
    verb: Verb,
    target: &Target<'_>,
    sent: Result<Body>,
) -> Response {
    let access = app.access.of_caller(caller, &head.info.names);
    let caller = Caller { user: caller.user(), access: &access };
    let user_agent = head.user_agent();
    let cx = RequestContext::new(&app.core, caller, &user_agent);
    if let Some(spelling) = head.info.spelling {
        cx.spells(spelling);
    }
    let mut response = performed(app, &cx, head, verb, target, sent).await.unwrap_or_else(refusal);
    warn(&mut response, &cx.take_warnings());
    if let (Some(record), Some(id)) = (head.record, cx.issued_credential()) {
        audit::issued(record, app.core.vocabulary(), id);
    }
    match cx.spelling() {
        None => response,
        Some(spelling) => respelled(response, spelling),
    }
}

/// Performs the verb and writes the answer.
async fn performed(
    app: &Arc<App>,
    cx: &RequestContext<'_>,
    head: RequestHead<'_>,
    verb: Verb,
    target: &Target<'_>,
    sent: Result<Body>,
) -> Result<Response> {
    // Clients of a deprecated version are told in refusals too.
    if let Some(warning) = deprecation(target.resource) {
        warn_of_deprecation(app, cx, head, target, warning);
    }
    let representation = negotiate(app, &head, verb, target)?;
    let websocket = if verb == Verb::Watch { Handshake::read(head.parts, &app.browsers)? } else { None };
    let sent = sent?;
    if let Some(record) = head.record {
        audit::sent(record, &head, verb, target, &sent);
    }
    if matches!(verb, Verb::Update | Verb::Patch | Verb::Delete | Verb::DeleteCollection | Verb::Create) {
        // What a write finds is what reads show: other servers may have written.
        let objects = app.core.objects();
        let failure = |error| store_error::failure(objects, target.resource, error);
        objects.storage().barrier().await.map_err(failure)?;
    }
    let answer = perform(app, cx, head, verb, target.clone(), sent).await?;
    let representation = match (head.info.spelling, cx.spelling()) {
        (None, Some(_)) => representation.for_other_spelling(&head.parts.headers),
        _ => representation,
    };
    let large_work = &app.large_work.of(cx.caller.user);
    if let Some(record) = head.record {
        let form = &representation.form;
        audit::answering(record, app, target, form, &answer, large_work).await;
    }
    let open = || {
        let labels =
            RequestLabels::resource(target.resource.def, None, verb, &target.namespace, &target.name);
        app.metrics.long_running(&labels, target.resource.def.kind, head.timeline.started())
    };
    let style = Style {
        representation: &representation,
        pace: app.pace,
        headers: head.headers,
        large_work,
        websocket: websocket.as_ref(),
    };
    respond(&app.core, target, style, answer, open)
}

fn warn_of_deprecation(
    app: &App,
    cx: &RequestContext<'_>,
    head: RequestHead<'_>,
    target: &Target<'_>,
    warning: String,
) {
    cx.warn(warning);
    app.metrics.asked_for_deprecated(target.resource.def, target.subresource);
    if let Some(record) = head.record {
        audit::deprecated(record, target.resource.def);
    }
}

/// What clients of a deprecated version are told (KEP-1693).
fn deprecation(resource: &ServedResource) -> Option<String> {
    let ResourceDef { kind, lifecycle, .. } = resource.def;
    let since = lifecycle.deprecated.filter(|_| lifecycle.is_deprecated(RELEASE))?;
    let until = lifecycle.removed.map(|release| format!(", unavailable in v{release}+"));
    let instead = lifecycle.replacement.map(|Replacement { group, version, kind }| {
        format!("; use {} {kind}", resource.vocabulary.api_version(group, version))
    });
    let [until, instead] = [until, instead].map(Option::unwrap_or_default);
    Some(format!("{} {kind} is deprecated in v{since}+{until}{instead}", resource.api_version))
}

/// The verbs of a resource. Each is boxed on its own: one future for all would have the size of the largest,
/// and every read would copy it.
fn perform<'a>(
    app: &'a App,
    cx: &'a RequestContext<'a>,
    head: RequestHead<'a>,
    verb: Verb,
    target: Target<'a>,
    sent: Body,
) -> BoxFuture<'a, Result<Answer>> {
    match verb {
        Verb::Get => Box::pin(async move {
            if head.query.flag("export") {
                let message = "the export parameter, deprecated since v1.14, is no longer supported";
                return Err(ApiError::BadRequest(message.to_owned()));
            }
            let version = listing::version(head.query)?;
            verb::get::get(cx, &GetRequest { target, version }).await
        }),
        Verb::List => {
            Box::pin(async move { verb::list::list(cx, &listing::list(head.query, target)?).await })
        }
        Verb::Watch => {
            let has_initial_events = cx.core.gates().is_on(&WATCH_LIST);
            Box::pin(async move {
                verb::watch::watch(cx, listing::watch(head.query, target, has_initial_events)?).await
            })
        }
        Verb::Create => Box::pin(create(app, cx, head, target, sent)),
        Verb::Update => {
            Box::pin(async move { verb::update::update(cx, writing::update(&head, target, sent)?).await })
        }
        Verb::Patch => {
            let request = writing::patch(&head, target, &app.media_types, sent.bytes);
            Box::pin(async move { verb::patch::patch(cx, request?).await })
        }
        Verb::Delete => Box::pin(async move {
            let options = deletion::options(cx.core, head.query, &sent)?;
            if let Some(record) = head.record.filter(|_| options.ignores_read_errors) {
                record.annotate("apiserver", "unsafe-delete-ignore-read-error", "");
            }
            verb::delete::delete(cx, &DeleteRequest { target, options }).await
        }),
        Verb::DeleteCollection => Box::pin(async move {
            let list = listing::list(head.query, target)?;
            let options = deletion::options_of_collection(cx.core, head.query, &sent)?;
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
    body: Body,
) -> Result<Answer> {
    let def = target.resource.def;
    let review = review(app, &target);
    let not_here = || ApiError::MethodNotAllowed(String::new());
    let subresource = target.subresource;
    let request = writing::create(&head, target, body)?;
    match subresource {
        _ if !def.stored => {
            if let Some(operation) = app.operations.operation(def, "") {
                return verb::operate::operate(cx, request, operation).await;
            }
            verb::review::review(cx, request, review.ok_or_else(not_here)?).await
        }
        Some(subresource) => {
            let operation = app.operations.operation(def, subresource.name).ok_or_else(not_here)?;
            verb::operate::operate(cx, request, operation).await
        }
        None => verb::create::create(cx, request).await,
    }
}

/// Answers a path that is not a resource.
async fn documents(app: &App, caller: &Authenticated, parts: &Parts, body: &mut RequestBody) -> Response {
    let mut parts = parts.clone();
    app.identity_headers.remove(&mut parts.headers);
    let mut request = Request::from_parts(parts, body.hand_on());
    request.extensions_mut().insert(RouteCaller(Arc::clone(caller.user())));
    match app.documents.clone().call(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

#[cfg(test)]
mod tests {
    use orch_registry::catalog::Catalog;
    use orch_runtime::{
        release::Release,
        resource_def::{GroupVersionDef, Lifecycle},
    };
    use orch_test_catalog::{KUBERNETES, OLD_WIDGETS, catalog};

    use super::*;

    #[test]
    fn clients_of_a_deprecated_version_are_told_what_to_use() {
        let catalog = catalog(&KUBERNETES);
        let warning = |version| {
            let resource = catalog.resource("things.example.com", version, "widgets");
            deprecation(resource.expect("the table has it"))
        };
        let expected = "things.example.com/v1beta1 Widget is deprecated in v1.30+, unavailable in v1.34+; \
                        use things.example.com/v1 Widget";
        assert_eq!(warning("v1beta1").as_deref(), Some(expected));
        assert_eq!(warning("v1"), None);
    }

    /// A schema file tells what is to come, and clients are warned when it has come.
    #[test]
    fn a_deprecation_begins_in_its_release() {
        for (deprecated, warns) in [(31, true), (32, true), (33, false)] {
            let lifecycle = Lifecycle {
                deprecated: Some(Release::new(1, deprecated)),
                removed: Some(Release::new(1, 36)),
                ..OLD_WIDGETS.lifecycle
            };
            let def: &'static ResourceDef = Box::leak(Box::new(ResourceDef { lifecycle, ..OLD_WIDGETS }));
            let resources: &'static [&'static ResourceDef] = Box::leak(Box::new([def]));
            let table: &'static GroupVersionDef = Box::leak(Box::new(GroupVersionDef {
                group: def.group,
                version: def.version,
                resources,
                feature_gates: &[],
                schemas: "{}",
            }));
            let catalog = Catalog::new(&KUBERNETES, [table]);
            let resource = catalog.resource(def.group, def.version, def.plural).expect("the table has it");
            assert_eq!(deprecation(resource).is_some(), warns, "1.{deprecated}");
        }
    }
}
