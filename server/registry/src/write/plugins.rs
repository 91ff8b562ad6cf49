//! What admission plugins are shown: the same request for every write, with the object where there is one to
//! look at.

use orch_runtime::{Tree, resource_def::Verb};
use orch_storage::Condition;

use super::{attempt::Attempt, draft::Draft, prepare::typed};
use crate::{
    admission::AdmissionRequest, context::RequestContext, error::Result, meter::Step, request::Target,
};

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

/// Asks the plugins about an operation on a sub-resource, which brings no new state of the object itself.
///
/// # Errors
/// Of the plugin that refuses.
pub async fn ask_about_operation(
    cx: &RequestContext<'_>,
    target: &Target<'_>,
    dry_run: bool,
    body: &Tree,
) -> Result<()> {
    let mut conditions = Vec::new();
    let mut request = AdmissionRequest {
        body: Some(body),
        ..without_object(cx, target, Verb::Create, dry_run, &mut conditions)
    };
    cx.core.admit(Step::Mutate, &mut request).await?;
    cx.core.admit(Step::Validate, &mut request).await
}

/// Lets mutating plugins refuse a deletion, before the object is looked up.
///
/// # Errors
/// Of the plugin that refuses.
pub async fn begin_deletion(cx: &RequestContext<'_>, target: &Target<'_>, dry_run: bool) -> Result<()> {
    let mut conditions = Vec::new();
    let mut request = without_object(cx, target, Verb::Delete, dry_run, &mut conditions);
    cx.core.admit(Step::Mutate, &mut request).await
}

/// Lets validating plugins refuse the deletion of an object as it is now.
///
/// # Errors
/// Of the plugin that refuses.
pub async fn validate_deletion(
    cx: &RequestContext<'_>,
    target: &Target<'_>,
    dry_run: bool,
    current: &Tree,
) -> Result<()> {
    let mut conditions = Vec::new();
    // An object that an older schema let in must remain deletable.
    let old = typed(target.resource, current.clone()).ok();
    let mut request = AdmissionRequest {
        old: old.as_deref(),
        ..without_object(cx, target, Verb::Delete, dry_run, &mut conditions)
    };
    cx.core.admit(Step::Validate, &mut request).await
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
        name_in_path: &target.name,
        user: cx.caller.user,
        dry_run,
        object: None,
        old: None,
        body: None,
        objects: cx.core.objects(),
        conditions,
    }
}
