//! The stage **admit**: plugins may refuse a valid object. Access control may too, where an update or an
//! apply creates the object.

use orch_auth::authorizer::{self, Attributes};
use orch_runtime::resource_def::Verb;

use super::{attempt::Attempt, draft::Draft, plugins};
use crate::{
    error::Result,
    meter::Step,
    refusal::{forbidden, resource_target},
};

/// Lets plugins refuse the object. An update or an apply that creates an object needs the permission to
/// create it. That is checked here, after validation, so that an invalid object is reported first.
///
/// # Errors
/// Of the plugin that refuses; 403 where the caller may not create.
pub async fn admit(attempt: Attempt<'_>, draft: &mut Draft<'_>) -> Result<()> {
    let mut request = plugins::request(attempt, draft);
    attempt.cx.core.admit(Step::Validate, &mut request).await?;
    let Attempt { cx, target, .. } = attempt;
    // POST to a collection, which has no name in its path, was authorized as a create.
    if draft.old.is_some() || target.name.is_empty() {
        return Ok(());
    }
    let decision = cx.caller.access.may(Verb::Create.as_str()).resolve().await;
    if decision.is_allowed() {
        return Ok(());
    }
    let target = authorizer::Target::Resource(resource_target(target));
    let attributes = Attributes { user: cx.caller.user, verb: Verb::Create.as_str(), target };
    Err(forbidden(&attributes, &decision))
}
