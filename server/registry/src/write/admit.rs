//! The stage **admit**: plugins refuse writes of objects that are correct in themselves, and so does access control
//! where a write makes an object that it was not sent to make.

use orch_runtime::resource_def::Verb;

use super::{Attempt, draft::Draft, mutate::request};
use crate::error::{ApiError, Result};

/// Lets plugins refuse the object. An update or an apply that makes an object needs the right to create it; it is asked
/// for here, so that a client that sends a wrong object is told that first.
///
/// # Errors
/// Of the plugin that refuses; 403 where the caller may not create.
pub async fn admit(attempt: Attempt<'_>, draft: &mut Draft<'_>) -> Result<()> {
    let mut request = request(attempt, draft);
    attempt.cx.core.admission().validate(&mut request).await?;
    let Attempt { cx, target, .. } = attempt;
    // A request to create has no name in its path.
    if draft.old.is_some() || target.name.is_empty() {
        return Ok(());
    }
    let decision = cx.caller.access.may(Verb::Create.as_str()).resolve().await;
    if decision.is_allowed() {
        return Ok(());
    }
    Err(ApiError::not_admitted(target.resource, &target.name, decision.reason()))
}
