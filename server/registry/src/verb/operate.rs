//! POST to a sub-resource that is an operation: its body, of another kind, says what to do.

use orch_machinery::gated::GatedFields;

use crate::{
    answer::Answer,
    context::RequestContext,
    error::Result,
    operation::{AnyOperation, OperationContext},
    request::CreateRequest,
    write::{body, place, plugins},
};

/// Does what the body asks for.
///
/// # Errors
/// 400, 403, 404 (namespace or object), and the errors of the operation.
pub async fn operate(
    cx: &RequestContext<'_>,
    request: CreateRequest<'_>,
    operation: &dyn AnyOperation,
) -> Result<Answer> {
    let CreateRequest { target, body, options } = request;
    let mut tree =
        body::decode_older(cx, &target, &body, options.field_validation, operation.older_versions())?;
    place::put_into_namespace(&target, &mut tree)?;
    if let Some(body) = target.subresource.and_then(|subresource| subresource.body) {
        let gated = GatedFields::of(body.type_def, |gate| cx.core.gates().is_on(gate));
        gated.drop_from(&mut tree, None, body.type_def);
    }
    plugins::ask_about_operation(cx, &target, options.dry_run, &tree).await?;
    operation.perform(OperationContext { cx, target: &target, options: &options }, tree).await
}
