//! GET of an item.

use std::{sync::Arc, time::Instant};

use crate::{
    answer::Answer,
    context::RequestContext,
    error::{ApiError, Result},
    meter::Waited,
    read::version::Shown,
    request::GetRequest,
    scale::Scaling,
    stored,
};

/// The stored object, at least as new as the client asks.
///
/// # Errors
/// 404, 500 for a damaged object, 504 for a version that is not reached yet.
pub async fn get(cx: &RequestContext<'_>, request: &GetRequest<'_>) -> Result<Answer> {
    let target = &request.target;
    let shown = Shown::of(request.version, None, false);
    let began = cx.core.storage().is_shared().then(Instant::now);
    let snapshot = shown.snapshot(cx.core.objects(), target.resource).await;
    // Where nobody else writes, nothing is waited for, and the time is not even looked at.
    if let (Some(began), Some(meter)) = (began, cx.core.meter()) {
        let (took, is_there) = (began.elapsed(), snapshot.is_ok());
        meter.waited(target.resource, Waited { took, is_there, is_consistent_list: false });
    }
    let snapshot = snapshot?;
    let object = snapshot
        .get(&target.namespace, &target.name)
        .ok_or_else(|| ApiError::not_found(target.resource, &target.name))?;
    stored::bytes_of(target.resource, object)?;
    let answer = Answer::Object(Arc::clone(object));
    match Scaling::of(target) {
        Some(scaling) => scaling.shown(answer),
        None => Ok(answer),
    }
}
