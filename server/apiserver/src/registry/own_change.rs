//! Changes that the server makes by itself to parts of objects that are its own: no options, no rules of the kind, and
//! nobody comes to own a field.

use std::sync::Arc;

use orch_runtime::Tree;
use orch_storage::Object;

use super::{
    Call,
    current::{self, Current},
    store_error,
    turn::{MAX_ATTEMPTS, Turn},
    update::MODIFIED,
    write,
};
use crate::error::{ApiError, Result};

/// Stores what `change` makes of the object that the call names; asked again when another write comes between. The same
/// as before is not written.
///
/// # Errors
/// 404, what `change` refuses, 409 where others never stop writing, and what the store says.
pub async fn change(
    call: Call<'_>,
    change: impl Fn(&Current) -> Result<Tree> + Send + Sync,
) -> Result<Arc<Object>> {
    let key = current::key(call, &call.target.name);
    let mut turn = Turn::at(&key);
    for _ in 0..MAX_ATTEMPTS {
        turn.wait().await;
        let current = current::find(call, &call.target.name)?;
        let changed = change(&current)?;
        if changed == current.tree {
            return Ok(current.object);
        }
        let body = write::stored_form(call, &changed, false)?;
        let replaced = write::replacement(&current, &changed, key.clone(), body);
        match write::commit(call, replaced).await {
            Err(store_error::Refused::Race) => turn.lost(),
            Err(store_error::Refused::Error(error)) => return Err(error),
            Ok(object) => return Ok(object),
        }
    }
    Err(ApiError::conflict(call.target.resource, &call.target.name, MODIFIED))
}
