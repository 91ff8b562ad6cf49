//! GET of an item.

use std::sync::Arc;

use crate::{
    answer::Answer,
    context::RequestContext,
    error::{ApiError, Result},
    read::version::Shown,
    request::GetRequest,
    stored,
};

/// The stored object, at least as new as the client asks.
///
/// # Errors
/// 404, 500 for a damaged object, 504 for a version that is not reached yet.
pub async fn get(cx: &RequestContext<'_>, request: &GetRequest<'_>) -> Result<Answer> {
    let target = &request.target;
    let shown = Shown::of(request.version, None, false);
    let snapshot = shown.snapshot(cx.core.objects(), target.resource).await?;
    let object = snapshot
        .get(&target.namespace, &target.name)
        .ok_or_else(|| ApiError::not_found(target.resource, &target.name))?;
    stored::bytes_of(target.resource, object)?;
    Ok(Answer::Object(Arc::clone(object)))
}
