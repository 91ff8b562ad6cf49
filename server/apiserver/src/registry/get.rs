//! GET of an item.

use std::sync::Arc;

use super::{
    Answer, Call, Reply, current,
    read_version::{Named, Shown},
};
use crate::error::{ApiError, Result};

/// The stored object, at least as new as the client asks.
///
/// # Errors
/// 400 for a version that is no number, 404, 500 for a damaged object, 504 for a version that is still to come.
pub async fn get(call: Call<'_>) -> Result<Reply> {
    let resource = call.target.resource;
    let snapshot = Shown::of(Named::parse(call.query)?, None, false).snapshot(call).await?;
    let object = snapshot
        .get(&call.target.namespace, &call.target.name)
        .ok_or_else(|| ApiError::not_found(resource, &call.target.name))?;
    current::bytes_of(resource, object)?;
    Ok(Answer::Object(Arc::clone(object)).into())
}
