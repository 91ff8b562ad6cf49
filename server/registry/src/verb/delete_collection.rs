//! DELETE of a collection: deletes each selected object in turn. With a limit it works in pages, like a list,
//! and the answer has the continue token.

use orch_meta::meta::v1::{ListMeta, Status, StatusDetails};

use super::{delete, list};
use crate::{
    answer::Answer,
    context::RequestContext,
    error::{ApiError, Result},
    request::DeleteCollectionRequest,
};

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
    for object in &page.objects {
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
