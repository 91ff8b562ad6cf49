//! The stage **mutate**: admission plugins change the object, or refuse the write.

use orch_runtime::resource_def::Verb;

use super::{Attempt, draft::Draft};
use crate::{admission::AdmissionRequest, error::Result};

/// Lets plugins change the object.
///
/// # Errors
/// Of the plugin that refuses.
pub async fn mutate(attempt: Attempt<'_>, draft: &mut Draft<'_>) -> Result<()> {
    let mut request = request(attempt, draft);
    attempt.cx.core.admission().mutate(&mut request).await
}

/// What plugins are shown of a write.
pub fn request<'a>(attempt: Attempt<'a>, draft: &'a mut Draft<'_>) -> AdmissionRequest<'a> {
    let Attempt { cx, target, options } = attempt;
    AdmissionRequest {
        operation: if draft.old.is_some() { Verb::Update } else { Verb::Create },
        resource: target.resource,
        subresource: target.subresource,
        namespace: &target.namespace,
        name: &draft.placed.name,
        user: cx.caller.user,
        dry_run: options.dry_run,
        object: Some(&mut *draft.object),
        old: draft.old.as_deref(),
        objects: cx.core.objects(),
        conditions: &mut draft.conditions,
    }
}
