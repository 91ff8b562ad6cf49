//! POST below an object: something is done to it, or made for it, as a body of another kind says.

use orch_machinery::gated::GatedFields;
use orch_runtime::resource_def::Verb;

use crate::{
    admission::AdmissionRequest,
    answer::Answer,
    context::RequestContext,
    error::Result,
    operation::{AnyOperation, OperationContext},
    request::CreateRequest,
    write::{body, place},
};

/// Does what the body asks for.
///
/// # Errors
/// 400, 403, 404 (namespace or object), and what the operation says.
pub async fn operate(
    cx: &RequestContext<'_>,
    request: CreateRequest<'_>,
    operation: &dyn AnyOperation,
) -> Result<Answer> {
    let CreateRequest { target, body, options } = request;
    let mut tree = body::decode(cx, &target, &body, options.field_validation)?;
    place::put_into_namespace(&target, &mut tree)?;
    if let Some(body) = target.subresource.and_then(|subresource| subresource.body) {
        let gated = GatedFields::of(body.type_def, |gate| cx.core.gates().is_on(gate));
        gated.drop_from(&mut tree, None, body.type_def);
    }
    let mut conditions = Vec::new();
    let mut admission = AdmissionRequest {
        operation: Verb::Create,
        resource: target.resource,
        subresource: target.subresource,
        namespace: &target.namespace,
        name: &target.name,
        user: cx.caller.user,
        dry_run: options.dry_run,
        object: None,
        old: None,
        objects: cx.core.objects(),
        // What the operation writes has conditions of its own.
        conditions: &mut conditions,
    };
    cx.core.admission().mutate(&mut admission).await?;
    cx.core.admission().validate(&mut admission).await?;
    operation.perform(OperationContext { cx, target: &target, options: &options }, tree).await
}
