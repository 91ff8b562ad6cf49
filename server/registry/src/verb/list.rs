//! GET of a collection, in pages where that is asked for.

use std::{sync::Arc, time::Instant};

use orch_storage::{Snapshot, StoreError};

use crate::{
    answer::{Answer, List},
    catalog::ServedResource,
    context::RequestContext,
    continue_token::{self, Position},
    error::{ApiError, Result},
    meter::{Listed, Waited},
    read::{
        selection::Selected,
        version::{RequestedVersion, Shown},
    },
    request::{ListRequest, ListStart},
    store_error,
};

/// Lists the selected objects.
///
/// # Errors
/// As of [`page`].
pub async fn list(cx: &RequestContext<'_>, request: &ListRequest<'_>) -> Result<Answer> {
    // A list at any version is whole, as in the reference, which answers it from memory.
    let is_whole = matches!(request.start, ListStart::First { version: RequestedVersion::Zero, .. });
    let limit = request.limit.filter(|_| !is_whole);
    Ok(Answer::List(page(cx, request, limit).await?))
}

/// The page of a list that has at most `limit` objects. A DELETE of a collection deletes such a page.
///
/// # Errors
/// 400 for a continue token of another list, 410 for an exact version that is gone, 500 for a damaged object
/// on the page, 504 for a version that is not reached yet.
pub async fn page(cx: &RequestContext<'_>, request: &ListRequest<'_>, limit: Option<u64>) -> Result<List> {
    match request.start {
        ListStart::First { version, version_match } => {
            let shown = Shown::of(version, version_match, limit.is_some());
            let snapshot = measured(cx, shown, request.target.resource).await?;
            cut(cx, request, &snapshot, None, limit).await
        }
        ListStart::Continued(token) => {
            let key = cx.core.continue_key();
            let Some(position) = with_binding(request, |binding| key.open(binding, token)) else {
                return Err(continue_token::of_another_list());
            };
            let snapshot = continued(cx, request, &position).await?;
            cut(cx, request, &snapshot, Some(&position), limit).await
        }
    }
}

/// The snapshot that a list shows. How long it is waited for is told.
async fn measured(cx: &RequestContext<'_>, shown: Shown, resource: &ServedResource) -> Result<Snapshot> {
    let began = Instant::now();
    let snapshot = shown.snapshot(cx.core.objects(), resource).await;
    if let Some(meter) = cx.core.meter() {
        let (took, is_there) = (began.elapsed(), snapshot.is_ok());
        meter.waited(resource, Waited { took, is_there, is_consistent_list: shown == Shown::Newest });
    }
    snapshot
}

/// The snapshot from which a list is continued.
async fn continued(
    cx: &RequestContext<'_>,
    request: &ListRequest<'_>,
    position: &Position,
) -> Result<Snapshot> {
    let resource = request.target.resource;
    let Some(revision) = position.revision else {
        return measured(cx, Shown::Newest, resource).await;
    };
    match cx.core.storage().snapshot_at_apart(&resource.storage_name, revision).await {
        Ok(snapshot) => Ok(snapshot),
        // A token with a future version is from before a backup was restored.
        Err(StoreError::Expired { .. } | StoreError::FutureRevision { .. }) => {
            let newest = Position { revision: None, ..position.clone() };
            let token = with_binding(request, |binding| cx.core.continue_key().seal(binding, &newest));
            Err(ApiError::ExpiredContinue { token })
        }
        Err(other) => Err(store_error::failure(cx.core.objects(), resource, other)),
    }
}

/// The objects behind `position`, at most `limit`, and where the rest begins. It costs what the page holds:
/// objects behind it are counted by the store.
///
/// # Errors
/// 500 for a damaged object on the page.
async fn cut(
    cx: &RequestContext<'_>,
    request: &ListRequest<'_>,
    snapshot: &Snapshot,
    position: Option<&Position>,
    limit: Option<u64>,
) -> Result<List> {
    let ListRequest { target, selection, .. } = request;
    let after = position.map(|position| (position.namespace.as_str(), position.name.as_str()));
    let scope = selection.scope(target.resource, &target.namespace);
    let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let Selected { objects, has_more, fetched, evaluated, index } =
        selection.select(target.resource, snapshot, &scope, after, limit).await?;
    if let Some(meter) = cx.core.meter() {
        let returned = objects.len();
        meter.listed(target.resource, Listed { fetched, evaluated, returned, index });
    }
    let mut page = List {
        resource: Arc::clone(target.resource),
        revision: snapshot.revision(),
        objects,
        continue_token: String::new(),
        remaining: None,
    };
    if !has_more {
        return Ok(page);
    }
    let listed = position.map_or(0, |position| position.listed) + page.objects.len() as u64;
    if selection.is_everything() {
        // An estimate where the list goes on at a newer version; at least the object that was just found.
        let all = snapshot.count(&scope) as u64;
        page.remaining = Some(all.saturating_sub(listed).max(1));
    }
    let last =
        page.objects.last().expect("a limit is at least 1, and there are more objects than that").key();
    let next = Position {
        revision: Some(page.revision),
        namespace: (*last.namespace).to_owned(),
        name: (*last.name).to_owned(),
        listed,
    };
    page.continue_token = with_binding(request, |binding| cx.core.continue_key().seal(binding, &next));
    Ok(page)
}

/// Calls `with` with the list that continue tokens of this request are for.
fn with_binding<T>(request: &ListRequest<'_>, with: impl FnOnce(continue_token::Binding<'_>) -> T) -> T {
    request.selection.with_binding(request.target.resource, &request.target.namespace, with)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use orch_auth::user::UserInfo;
    use orch_storage::{Body, Change};

    use super::*;
    use crate::{
        behaviour::Behaviours, core::Core, objects::key, read::selection::Selection, request::Target,
        test_core,
    };

    /// How many objects the two namespaces have.
    const FEW: usize = 100;
    const MANY: usize = 20_000;
    const LIMIT: u64 = 50;

    async fn fill(core: &Core, namespace: &str, count: usize) {
        let config_maps = core.catalog().resource("", "v1", "configmaps").unwrap();
        for number in 0..count {
            let key = key(config_maps, namespace, &format!("o{number:05}"));
            core.storage().commit(Change::Create { key, body: Body::new(Vec::new(), 0) }).await.unwrap();
        }
    }

    async fn first_page(cx: &RequestContext<'_>, namespace: &str) -> List {
        let config_maps = cx.core.catalog().resource("", "v1", "configmaps").unwrap();
        let request = ListRequest {
            target: Target::collection(config_maps, namespace),
            selection: Selection::everything(),
            start: ListStart::First { version: RequestedVersion::Unset, version_match: None },
            limit: Some(LIMIT),
        };
        page(cx, &request, request.limit).await.unwrap()
    }

    /// The time of the fastest of some first pages.
    async fn fastest(cx: &RequestContext<'_>, namespace: &str) -> Duration {
        let mut fastest = Duration::MAX;
        for _ in 0..30 {
            let began = Instant::now();
            drop(first_page(cx, namespace).await);
            fastest = fastest.min(began.elapsed());
        }
        fastest
    }

    /// Two hundred times the objects, and the page costs about the same: what follows it is not looked at.
    #[tokio::test]
    async fn a_page_costs_what_it_holds() {
        let (core, user) = (test_core::core(&Behaviours::default()), UserInfo::anonymous());
        let cx = RequestContext::new(&core, test_core::caller(&user), "test");
        fill(&core, "few", FEW).await;
        fill(&core, "many", MANY).await;
        for (namespace, count) in [("few", FEW), ("many", MANY), ("", FEW + MANY)] {
            let page = first_page(&cx, namespace).await;
            assert_eq!(page.objects.len() as u64, LIMIT);
            assert_eq!(page.remaining, Some(count as u64 - LIMIT), "{namespace:?}");
        }
        let (few, many) = (fastest(&cx, "few").await, fastest(&cx, "many").await);
        assert!(many < few * 5, "{many:?} against {few:?}");
    }
}
