//! Changes that the server makes to parts of objects that only it writes: without options and validation, and
//! without an owner for the fields.

use std::sync::Arc;

use orch_runtime::Tree;
use orch_storage::Object;

use super::{commit::commit, encode::replacement, races::Races};
use crate::{
    context::RequestContext,
    error::Result,
    objects::{Current, key},
    request::Target,
    store_error::Refused,
    stored,
};

/// Stores the result of `change` for an object. `change` runs again when another write came first. An
/// unchanged object is not written.
///
/// # Errors
/// 404, the errors of `change`, 409 after too many lost races, and errors of the store.
pub async fn change(
    cx: &RequestContext<'_>,
    target: &Target<'_>,
    change: impl Fn(&Current) -> Result<Tree> + Send + Sync,
) -> Result<Arc<Object>> {
    let resource = target.resource;
    let mut races = Races::at(target);
    loop {
        let current = cx.core.objects().find(resource, &target.namespace, &target.name)?;
        let changed = change(&current)?;
        if changed == current.tree {
            return Ok(current.object);
        }
        let body = stored::encode_body(resource, &changed, None, true)?;
        let key = key(resource, &target.namespace, &target.name);
        match commit(cx, resource, replacement(&current, &changed, key, body)).await {
            Err(Refused::Race | Refused::Exists) => races.lost().await?,
            Err(Refused::Error(error)) => return Err(error),
            Ok(object) => return Ok(object),
        }
    }
}
