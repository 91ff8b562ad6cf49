//! What admission plugins are shown: the same request for every write, with the object where there is one to
//! look at.

use orch_runtime::resource_def::Verb;
use orch_storage::Condition;

use super::{attempt::Attempt, draft::Draft};
use crate::{admission::AdmissionRequest, context::RequestContext, error::Result, request::Target};

/// A create or an update, with the object as it is now in the draft.
pub fn request<'a>(attempt: Attempt<'a>, draft: &'a mut Draft<'_>) -> AdmissionRequest<'a> {
    let Attempt { cx, target, options } = attempt;
    let operation = if draft.old.is_some() { Verb::Update } else { Verb::Create };
    AdmissionRequest {
        name: &draft.placed.name,
        object: Some(&mut *draft.object),
        old: draft.old.as_deref(),
        ..without_object(cx, target, operation, options.dry_run, &mut draft.conditions)
    }
}

/// Asks the plugins about a request that changes an object, but not by a new state of it: a deletion, or an
/// operation on a sub-resource.
///
/// Conditions that plugins set are dropped: the write that follows sets its own.
///
/// # Errors
/// Of the plugin that refuses.
pub async fn ask(cx: &RequestContext<'_>, target: &Target<'_>, operation: Verb, dry_run: bool) -> Result<()> {
    let mut conditions = Vec::new();
    let mut request = without_object(cx, target, operation, dry_run, &mut conditions);
    cx.core.admission().mutate(&mut request).await?;
    cx.core.admission().validate(&mut request).await
}

fn without_object<'a>(
    cx: &'a RequestContext<'_>,
    target: &'a Target<'_>,
    operation: Verb,
    dry_run: bool,
    conditions: &'a mut Vec<Condition>,
) -> AdmissionRequest<'a> {
    AdmissionRequest {
        operation,
        resource: target.resource,
        subresource: target.subresource,
        namespace: &target.namespace,
        name: &target.name,
        user: cx.caller.user,
        dry_run,
        object: None,
        old: None,
        objects: cx.core.objects(),
        conditions,
    }
}
