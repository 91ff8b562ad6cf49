//! DELETE of a collection: deletes each selected object in turn. With a limit it works in pages, like a list,
//! and the answer has the continue token.

use orch_meta::meta::v1::{ListMeta, Status, StatusDetails};
use tokio::task::yield_now;

use super::{delete, list};
use crate::{
    answer::Answer,
    context::RequestContext,
    error::{ApiError, Result},
    request::DeleteCollectionRequest,
};

/// After so many objects, and after so many bytes of them, others have their turn. A deletion that writes
/// nothing never waits: a dry run, or one of objects that are terminating already.
const SLICE: usize = 32;
const SLICE_BYTES: usize = 256 * 1024;

/// Deletes what the selectors match. Objects that are gone by then are skipped. The first other failure ends
/// the request; what was deleted before stays deleted.
///
/// # Errors
/// What a list and a DELETE of an item may answer.
pub async fn delete_collection(
    cx: &RequestContext<'_>,
    request: &DeleteCollectionRequest<'_>,
) -> Result<Answer> {
    // The list has a limit in any case, as in the reference: so a version, but 0, is exactly that one.
    // Whatever the version, no more than asked for: what is deleted does not come back.
    let limit = request.list.limit.unwrap_or(u64::MAX);
    let page = list::page(cx, &request.list, Some(limit)).await?;
    let target = &request.list.target;
    let (mut count, mut bytes) = (0, 0);
    for object in &page.objects {
        if count >= SLICE || bytes >= SLICE_BYTES {
            (count, bytes) = (0, 0);
            yield_now().await;
        }
        (count, bytes) = (count + 1, bytes + object.size());
        let mut item = target.clone();
        item.name = (*object.key().name).into();
        match delete::delete_object(cx, &item, &request.options).await {
            Ok(_) | Err(ApiError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let details = StatusDetails {
        group: target.resource.group.clone(),
        kind: target.resource.def.plural.to_owned(),
        ..StatusDetails::default()
    };
    let metadata = ListMeta {
        continue_: page.continue_token,
        remaining_item_count: page.remaining.map(u64::cast_signed),
        ..ListMeta::default()
    };
    let status =
        Status { metadata, status: "Success".to_owned(), details: Some(details), ..Status::default() };
    Ok(Answer::Status(Box::new(status)))
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, pin::pin};

    use orch_api::core::v1::ConfigMap;
    use orch_auth::user::UserInfo;
    use orch_runtime::object::Kind as _;
    use serde_json::json;

    use super::*;
    use crate::{
        behaviour::Behaviours,
        client::Client,
        options::DeletionOptions,
        read::{selection::Selection, version::RequestedVersion},
        request::{ListRequest, ListStart, Target},
        test_core,
    };

    #[tokio::test]
    async fn others_have_their_turn_while_nothing_is_written() {
        let client = Client::new(test_core::core(&Behaviours::default()), "test");
        let maps = client.core().catalog().served(ConfigMap::RESOURCE).unwrap();
        for number in 0..4 * SLICE {
            let text = if number % SLICE == 0 { "x".repeat(SLICE_BYTES) } else { String::new() };
            let map = json!({
                "apiVersion": "v1", "kind": "ConfigMap", "data": {"k": text},
                "metadata": {"name": format!("m{number}"), "namespace": "n", "finalizers": ["example.com/f"]},
            });
            client.create(maps, "n", map).await.unwrap();
        }
        let user = UserInfo::anonymous();
        let cx = RequestContext::new(client.core(), test_core::caller(&user), "test");
        for (dry_run, expected) in [(true, 8), (false, 8), (false, 8)] {
            let request = DeleteCollectionRequest {
                list: ListRequest {
                    target: Target::item(maps, "n", ""),
                    selection: Selection::everything(),
                    start: ListStart::First { version: RequestedVersion::Unset, version_match: None },
                    limit: None,
                },
                options: DeletionOptions { dry_run, ..DeletionOptions::default() },
            };
            let (mut deletion, mut turns) = (pin!(delete_collection(&cx, &request)), 0);
            let deleted = poll_fn(|context| {
                turns += 1;
                deletion.as_mut().poll(context)
            });
            deleted.await.unwrap();
            assert!(turns >= expected, "{turns} turns, dry run: {dry_run}");
        }
    }
}
