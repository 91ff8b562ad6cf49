//! GET of a collection, in pages where that is asked for.

use std::sync::Arc;

use orch_storage::{Object, Snapshot, StoreError};

use crate::{
    answer::{Answer, List},
    context::RequestContext,
    continue_token::Position,
    error::{ApiError, Result},
    read::version::{Named, Shown},
    request::{ListRequest, ListStart},
    store_error,
};

/// Lists the selected objects.
///
/// # Errors
/// As of [`page`].
pub async fn list(cx: &RequestContext<'_>, request: &ListRequest<'_>) -> Result<Answer> {
    Ok(Answer::List(page(cx, request).await?))
}

/// The page that a request asks for. A DELETE of a collection deletes such a page.
///
/// # Errors
/// 400 for a continue token of another list, 410 for an exact version that is gone, 504 for one that is not
/// reached yet.
pub async fn page(cx: &RequestContext<'_>, request: &ListRequest<'_>) -> Result<List> {
    match request.start {
        ListStart::First { version, version_match } => {
            let shown = Shown::of(version, version_match, request.limit.is_some());
            let snapshot = shown.snapshot(cx.core.objects(), request.target.resource).await?;
            let limit = request.limit.filter(|_| version != Named::Zero);
            Ok(cut(cx, request, &snapshot, None, limit))
        }
        ListStart::Continued(token) => {
            let key = cx.core.continue_key();
            let Some(position) = with_binding(request, |binding| key.open(binding, token)) else {
                let message =
                    "invalid continue token: continue key is not valid: it was not given out for this list";
                return Err(ApiError::BadRequest(message.to_owned()));
            };
            let snapshot = continued(cx, request, &position).await?;
            Ok(cut(cx, request, &snapshot, Some(&position), request.limit))
        }
    }
}

/// The snapshot from which a list is continued.
async fn continued(
    cx: &RequestContext<'_>,
    request: &ListRequest<'_>,
    position: &Position,
) -> Result<Snapshot> {
    let resource = request.target.resource;
    let Some(revision) = position.revision else {
        return Shown::Newest.snapshot(cx.core.objects(), resource).await;
    };
    match cx.core.storage().snapshot_at(&resource.storage_name, revision) {
        Ok(snapshot) => Ok(snapshot),
        // A token with a future version is from before a backup was restored.
        Err(StoreError::Expired { .. } | StoreError::FutureRevision { .. }) => {
            let newest = Position { revision: None, remaining: None, ..position.clone() };
            let token = with_binding(request, |binding| cx.core.continue_key().seal(binding, &newest));
            Err(ApiError::ExpiredContinue { token })
        }
        Err(other) => Err(store_error::failure(resource, other)),
    }
}

/// The objects behind `position`, at most `limit`, and where the rest begins.
fn cut(
    cx: &RequestContext<'_>,
    request: &ListRequest<'_>,
    snapshot: &Snapshot,
    position: Option<&Position>,
    limit: Option<u64>,
) -> List {
    let ListRequest { target, selection, .. } = request;
    let after = position.map(|position| (position.namespace.as_str(), position.name.as_str()));
    let scope = selection.scope(target.resource, &target.namespace);
    let mut wanted = selection.select(target.resource, snapshot, &scope, after);
    let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let objects: Vec<Arc<Object>> = wanted.by_ref().take(limit).cloned().collect();
    let mut page = List {
        resource: Arc::clone(target.resource),
        revision: snapshot.revision(),
        objects,
        continue_token: String::new(),
        remaining: None,
    };
    if page.objects.len() < limit || wanted.next().is_none() {
        return page;
    }
    if selection.is_everything() {
        page.remaining = Some(match position.and_then(|position| position.remaining) {
            Some(counted) => counted.saturating_sub(page.objects.len() as u64),
            None => 1 + wanted.count() as u64,
        });
    }
    let last =
        page.objects.last().expect("a limit is at least 1, and there are more objects than that").key();
    let next = Position {
        revision: Some(page.revision),
        namespace: (*last.namespace).to_owned(),
        name: (*last.name).to_owned(),
        remaining: page.remaining,
    };
    page.continue_token = with_binding(request, |binding| cx.core.continue_key().seal(binding, &next));
    page
}

/// Calls `with` with the list that continue tokens of this request are for.
fn with_binding<T>(
    request: &ListRequest<'_>,
    with: impl FnOnce(crate::continue_token::Binding<'_>) -> T,
) -> T {
    request.selection.with_binding(request.target.resource, &request.target.namespace, with)
}
