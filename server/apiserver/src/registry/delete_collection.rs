//! DELETE of a collection: each selected object in turn, as if deleted by itself. With a limit it is done in pages, as a
//! list is read; the answer tells how to go on.

use orch_api::meta::v1::{ListMeta, Status, StatusDetails};

use super::{
    Answer, Call, Reply,
    body_format::Body,
    delete,
    list::{self, ReadOptions},
    options::DeletionOptions,
};
use crate::error::{ApiError, Result};

/// Deletes what the selectors match. Objects that vanish meanwhile are nobody's problem; the first other failure ends
/// the request, and what was deleted by then stays deleted.
///
/// # Errors
/// 400 for bad selectors, and what a DELETE of an item may answer.
pub async fn delete_collection(call: Call<'_>, body: &Body) -> Result<Reply> {
    let selected = ReadOptions::parse(call, false)?;
    let options = DeletionOptions::parse_for_collection(call, body)?;
    let page = list::page(call, selected).await?;
    for object in &page.objects {
        match delete::delete_named(call, &object.key().name, &options).await {
            Ok(_) | Err(ApiError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let details = StatusDetails {
        group: call.target.resource.group.clone(),
        kind: call.target.resource.def.plural.to_owned(),
        ..StatusDetails::default()
    };
    let metadata = ListMeta {
        continue_: page.continue_token,
        remaining_item_count: page.remaining.map(u64::cast_signed),
        ..ListMeta::default()
    };
    let status =
        Status { metadata, status: "Success".to_owned(), details: Some(details), ..Status::default() };
    Ok(Answer::Status(Box::new(status)).into())
}
